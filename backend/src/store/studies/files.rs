//! The files of a study: `study.toml` (its definition), `instances-….parquet`,
//! `instances-….columns` (the same instances for memory mapping), `scores-….parquet`,
//! `order-….columns` for each ranker of a large study (its instances sorted by margin), and
//! `study.json`. The latter names the data files and contains everything else, including the
//! checksums of all files and its own.
//!
//! Data files are named by their checksums, and `study.json` is replaced last, in one step. A study
//! is therefore always in its old or in its new state, whenever the program is stopped. Files are
//! verified when they are opened.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use shared::probe::{InstancesHeader, MiningResult, ProbeInstances};
use shared::score::rescoring::ScoreStabilityRecord;
use shared::score::{RankerInfo, RankerQueryDocumentScores};
use shared::study::Study;

use super::instance_orders::{self, InstanceOrderFile, InstanceOrders, SourceHasher};
use super::{late_interaction, mapped_columns};
use crate::error::Error;
use crate::remedy;
use crate::store::instances::{self, CollectionExternalIds, InstanceFileMetadata};
use crate::store::scores::StudyScoreColumns;
use crate::store::{DataFolder, OWNER_ALONE, checksum, write_atomically_with_mode};

/// What to do about a file that is damaged or missing.
const REMEDY: &str = "make the study again by `axioscope study run` with the file `study.toml` \
                      beside it, or take the file from a backup";

/// The manifest, which names the other files.
const HEAD: &str = "study.json";

/// The definition from which the study was created.
const DEFINITION: &str = "study.toml";

/// The definition that belongs to the next `study.json`, until that is written.
const NEXT_DEFINITION: &str = "study.toml.next";

/// The content of `study.json`.
#[derive(Serialize, Deserialize)]
struct StudyManifest {
    /// The study without instances and scores.
    study: Study,
    rankers: Vec<RankerInfo>,
    /// The score stability check of each ranker; empty in studies of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    certificates: Vec<Option<ScoreStabilityRecord>>,
    instances: String,
    scores: String,
    /// The file with the instances for memory mapping; `None` in studies of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    columns: Option<MappedColumnsFile>,
    /// The files with the instances sorted by margin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    orders: Vec<InstanceOrderFile>,
    /// SHA-256 of every other file of the study, in hex, by name; empty in studies of earlier
    /// versions. The checksum of this file is added by [`checksum::add_json_checksum`].
    #[serde(default)]
    files: BTreeMap<String, String>,
}

/// A file in the format of [`mapped_columns`].
#[derive(Serialize, Deserialize)]
struct MappedColumnsFile {
    file: String,
    heads: Vec<InstancesHeader>,
}

/// The part of `study.json` that names the files with sorted instances, and all checksums.
#[derive(Default, Deserialize)]
struct StoredOrders {
    #[serde(default)]
    orders: Vec<InstanceOrderFile>,
    #[serde(default)]
    files: BTreeMap<String, String>,
}

/// The part of `study.json` with the texts that operators change on the page of the study.
#[derive(Deserialize)]
struct StoredTitle {
    study: StudyWithTitle,
}

#[derive(Deserialize)]
struct StudyWithTitle {
    definition: DefinitionWithTitle,
}

#[derive(Deserialize)]
struct DefinitionWithTitle {
    title: String,
    #[serde(default)]
    description: String,
}

/// Locks the folder of a study against other writers until the result is dropped. Returns `None`
/// where folders cannot be locked.
fn lock_against_writers(folder: &Path) -> Option<File> {
    let lock = File::open(folder).ok()?;
    lock.lock().ok()?;
    Some(lock)
}

/// Writes a study to its folder in the data folder, and removes the folder again if the first write
/// of a study fails.
pub(crate) fn save_study_files(data: &DataFolder, study: &Study) -> Result<(), Error> {
    let folder = data.study_folder(&study.definition.name)?;
    fs::create_dir_all(&folder).map_err(Error::io_error_converter(
        &folder,
        remedy::ANOTHER_DATA_FOLDER,
    ))?;
    let _lock = lock_against_writers(&folder);
    save_locked(&folder, study)
}

/// Writes a study that has new scores. If its title or description was changed since it was
/// loaded, it takes those that are stored.
pub(crate) fn save_study_with_stored_title(
    data: &DataFolder,
    study: &mut Study,
) -> Result<(), Error> {
    let folder = data.study_folder(&study.definition.name)?;
    fs::create_dir_all(&folder).map_err(Error::io_error_converter(
        &folder,
        remedy::ANOTHER_DATA_FOLDER,
    ))?;
    let _lock = lock_against_writers(&folder);
    // A study that is damaged is written whole.
    if let Ok(stored) = read_manifest::<StoredTitle>(&folder, &study.definition.name) {
        study.definition.title = stored.study.definition.title;
        study.definition.description = stored.study.definition.description;
    }
    save_locked(&folder, study)
}

/// Changes the title and the description of a stored study; `None` keeps one as it is. Returns the
/// title. Data files and hashes stay.
pub(crate) fn update_title_and_description(
    data: &DataFolder,
    name: &str,
    title: Option<String>,
    description: Option<String>,
) -> Result<String, Error> {
    let folder = data.study_folder(name)?;
    let _lock = lock_against_writers(&folder);
    let mut head: StudyManifest = read_manifest(&folder, name)?;
    let definition = &mut head.study.definition;
    let before = definition.title.clone();
    definition.title = title.unwrap_or(before.clone());
    if let Some(description) = description {
        definition.description = description;
    }
    let title = definition.title.clone();
    let sum = write_next_definition(&folder, &head.study)?;
    // Studies of earlier versions have no checksums.
    if !head.files.is_empty() {
        head.files.insert(DEFINITION.to_owned(), sum);
    }
    write_manifest(&folder, &head)?;
    let renamed = late_interaction::rename_late_interaction_analyses(data, name, &before, &title);
    if let Err(error) = renamed {
        tracing::warn!("study {name}: its late-interaction analyses keep their title: {error}");
    }
    Ok(title)
}

fn save_locked(folder: &Path, study: &Study) -> Result<(), Error> {
    let saved = save_in(folder, study, instance_orders::MIN_INSTANCES);
    if saved.is_err() && !folder.join(HEAD).exists() {
        // Removes the incomplete study. The error of the save is reported, not one from here.
        let _ = fs::remove_dir_all(folder);
    }
    saved
}

/// Writes a study to a temporary folder and loads it again. Returns an error about the field
/// `study` if the result is another study, which no study that was made by this program is.
pub(crate) fn ensure_study_can_be_stored(data: &DataFolder, study: &Study) -> Result<(), Error> {
    let folder = data.study_folder(&study.definition.name)?;
    let studies = folder.parent().expect("the folder of a study has a parent");
    fs::create_dir_all(studies).map_err(Error::io_error_converter(
        studies,
        remedy::ANOTHER_DATA_FOLDER,
    ))?;
    let scratch = tempfile::tempdir_in(studies).map_err(Error::io_error_converter(
        studies,
        remedy::ANOTHER_DATA_FOLDER,
    ))?;
    save_in(scratch.path(), study, instance_orders::MIN_INSTANCES)?;
    match load_from(scratch.path(), &study.definition.name) {
        Ok(loaded) if loaded == *study => Ok(()),
        Ok(_) | Err(Error::CorruptData { .. } | Error::Input(_)) => {
            let reason = "cannot be stored: its parts contradict each other; make it again";
            Err(shared::error::Error::malformed_value("study", reason).into())
        }
        Err(error) => Err(error),
    }
}

/// Writes a study to a folder. Instances are sorted for probes with at least
/// `min_instances_to_sort`.
fn save_in(folder: &Path, study: &Study, min_instances_to_sort: usize) -> Result<(), Error> {
    let mined = MiningResult {
        study_docs: study.study_docs.clone(),
        pools: Vec::new(),
        instances: study.instances.clone(),
    };
    let scratch = tempfile::tempdir_in(folder).map_err(Error::io_error_converter(
        folder,
        remedy::ANOTHER_DATA_FOLDER,
    ))?;
    // Returns the name and checksum of the file. A file that an earlier `study.json` names is
    // replaced only by an identical one.
    let put = |stem: &str, ending: &str, write: &dyn Fn(&Path) -> Result<(), Error>| {
        let beside = scratch.path().join(format!("{stem}.{ending}"));
        write(&beside)?;
        let sum = checksum::file_checksum(&beside).map_err(Error::io_error_converter(
            &beside,
            remedy::ANOTHER_DATA_FOLDER,
        ))?;
        let name = format!("{stem}-{sum:.16}.{ending}");
        let path = folder.join(&name);
        fs::rename(&beside, &path).map_err(Error::io_error_converter(
            &path,
            remedy::ANOTHER_DATA_FOLDER,
        ))?;
        Ok::<(String, String), Error>((name, sum))
    };
    let instances = put("instances", "parquet", &|path| {
        instances::write_instance_file(
            path,
            &mined,
            &collection_external_ids(study),
            &instance_file_metadata_of_study(study),
        )
    })?;
    let columns = put("instances", "columns", &|path| {
        mapped_columns::write_raw_document_columns(path, &study.instances)
    })?;
    let scores = put("scores", "parquet", &|path| {
        StudyScoreColumns::from_study(study).write_parquet_file(path)
    })?;
    let mut files = BTreeMap::from([instances.clone(), columns.clone(), scores.clone()]);
    let [instances, columns, scores] = [instances, columns, scores].map(|it| it.0);
    let mut orders = Vec::new();
    if instance_orders::ordered_instances(study, min_instances_to_sort)
        .next()
        .is_some()
    {
        let stored = read_stored_orders(folder);
        let hasher = SourceHasher::for_study(study).map_err(|it| not_json(study, &it))?;
        for scores in &study.scores {
            let source = hasher
                .hash_with_scores(scores)
                .map_err(|it| not_json(study, &it))?;
            let (file, sum) = match stored.intact_file(folder, &source) {
                Some(file) => file,
                None => put("order", "columns", &|path| {
                    let min_instances = min_instances_to_sort;
                    instance_orders::write_instance_orders(path, study, scores, min_instances)
                })?,
            };
            files.insert(file.clone(), sum);
            orders.push(InstanceOrderFile { source, file });
        }
    }
    files.insert(DEFINITION.to_owned(), write_next_definition(folder, study)?);

    let mut rest = study.clone();
    let scored = rest.scores.drain(..);
    let (rankers, certificates) = scored.map(|it| (it.ranker, it.rescoring)).unzip();
    rest.instances.clear();
    let head = StudyManifest {
        study: rest,
        rankers,
        certificates,
        instances,
        scores,
        columns: Some(MappedColumnsFile {
            file: columns,
            heads: study.instances.iter().map(ProbeInstances::header).collect(),
        }),
        orders,
        files,
    };
    write_manifest(folder, &head)?;
    remove_others(folder, &head)
}

/// Writes the definition of a study beside the current one, and returns the checksum of the file.
/// [`write_manifest`] puts it in its place.
fn write_next_definition(folder: &Path, study: &Study) -> Result<String, Error> {
    let path = folder.join(NEXT_DEFINITION);
    write(&path, study.definition.to_toml().as_bytes())?;
    checksum::file_checksum(&path).map_err(Error::io_error_converter(
        &path,
        remedy::ANOTHER_DATA_FOLDER,
    ))
}

fn write_manifest(folder: &Path, head: &StudyManifest) -> Result<(), Error> {
    let json = serde_json::to_vec(head).map_err(|it| not_json(&head.study, &it))?;
    write(&folder.join(HEAD), &checksum::add_json_checksum(&json))?;
    replace_definition(folder, &head.files)
}

/// Puts the next definition in the place of the current one, if `study.json` has its checksum.
/// Reading a study does so too, since the program may be stopped between the two.
fn replace_definition(folder: &Path, files: &BTreeMap<String, String>) -> Result<(), Error> {
    let next = folder.join(NEXT_DEFINITION);
    let is_next = |sum: &String| checksum::file_checksum(&next).is_ok_and(|it| it == *sum);
    if !next.exists() || !files.get(DEFINITION).is_none_or(is_next) {
        return Ok(());
    }
    let path = folder.join(DEFINITION);
    match fs::rename(&next, &path) {
        // Another process was faster.
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io_error_converter(
            &path,
            remedy::ANOTHER_DATA_FOLDER,
        )(error)),
        _ => Ok(()),
    }
}

fn not_json(study: &Study, error: &serde_json::Error) -> Error {
    Error::CorruptData {
        what: format!("study {}", study.definition.name),
        reason: error.to_string(),
    }
}

/// Returns the files with sorted instances that a stored study names; none if they are not to be
/// known, since they can be made again.
fn read_stored_orders(folder: &Path) -> StoredOrders {
    let json = checksum::read_checksummed_json_bytes(&folder.join(HEAD), "{\"study\":", REMEDY);
    let stored = json.ok().and_then(|it| serde_json::from_slice(&it).ok());
    stored.unwrap_or_default()
}

impl StoredOrders {
    /// Returns the name and checksum of the file that was made from a source, if it is as written.
    fn intact_file(&self, folder: &Path, source: &str) -> Option<(String, String)> {
        let file = self.orders.iter().find(|it| it.source == source)?;
        open(folder, &self.files, &file.file).ok()?;
        Some((file.file.clone(), self.files.get(&file.file)?.clone()))
    }
}

/// Removes data files that `study.json` does not name.
fn remove_others(folder: &Path, head: &StudyManifest) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(Error::io_error_converter(
        folder,
        remedy::ANOTHER_DATA_FOLDER,
    ))? {
        let path = entry
            .map_err(Error::io_error_converter(
                folder,
                remedy::ANOTHER_DATA_FOLDER,
            ))?
            .path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_data = name.ends_with(".parquet") || name.ends_with(".columns");
        if is_data && !head.files.contains_key(&*name) {
            fs::remove_file(&path).map_err(Error::io_error_converter(
                &path,
                remedy::ANOTHER_DATA_FOLDER,
            ))?;
        }
    }
    Ok(())
}

/// Loads a study. All files that it reads are verified.
pub(crate) fn load_and_verify_study(data: &DataFolder, name: &str) -> Result<Study, Error> {
    load_from(&data.study_folder(name)?, name)
}

fn load_from(folder: &Path, name: &str) -> Result<Study, Error> {
    let damaged = |reason: String| Error::CorruptData {
        what: format!("study {name}"),
        reason,
    };
    let StudyManifest {
        mut study,
        rankers,
        certificates,
        instances,
        scores,
        columns,
        orders: _,
        files,
    } = read_head(folder, name)?;
    if study.format != 1 {
        let reason = format!("layout {} is later than this version's 1", study.format);
        return Err(damaged(reason));
    }
    let mapped = columns.and_then(|it| {
        let path = folder.join(&it.file);
        let mapped =
            mapped_columns::open_memory_mapped_instances(&path, files.get(&it.file)?, it.heads);
        if mapped.is_none() {
            tracing::warn!(
                "{} cannot be used, so the instances are read from {instances}; `axioscope study \
                 check {name}` says more",
                path.display()
            );
        }
        mapped
    });
    study.instances = match mapped {
        Some(instances) => instances,
        None => {
            open(folder, &files, &instances)?;
            read_instances(&study, &folder.join(instances))?
        }
    };
    if study
        .instances
        .iter()
        .any(|it| it.n_queries() != study.queries.len())
    {
        return Err(damaged(
            "its instances are of other queries; make it again".to_owned(),
        ));
    }
    let columns =
        StudyScoreColumns::read_parquet_file(open(folder, &files, &scores)?, &folder.join(scores))?;
    for (at, ranker) in rankers.into_iter().enumerate() {
        let (values, truncated) =
            columns.ranker_scores_and_truncated_pairs(at as u32, study.pairs.len());
        let mut scores = RankerQueryDocumentScores::new(ranker, values, &study.pairs)?;
        scores.truncated = truncated;
        let certificate = certificates.get(at).cloned().flatten();
        scores.rescoring = certificate.filter(|it| it.is_valid_for_pair_count(study.pairs.len()));
        study.scores.push(scores);
    }
    Ok(study)
}

/// Whether a stored study has the sorted instances of all its rankers; earlier versions wrote none.
pub(crate) fn has_sorted_instances(data: &DataFolder, study: &Study) -> Result<bool, Error> {
    let folder = data.study_folder(&study.definition.name)?;
    let mut sorted = instance_orders::ordered_instances(study, instance_orders::MIN_INSTANCES);
    Ok(sorted.next().is_none() || read_stored_orders(&folder).orders.len() == study.scores.len())
}

/// Opens the sorted instances of a study that has been loaded. What cannot be used is left out with
/// a warning, since lists of instances can do without.
pub(crate) fn load_instance_orders(
    data: &DataFolder,
    study: &Study,
) -> Result<InstanceOrders, Error> {
    let name = &study.definition.name;
    let folder = data.study_folder(name)?;
    let stored = read_stored_orders(&folder);
    let mut orders = InstanceOrders::default();
    if stored.orders.is_empty() {
        return Ok(orders);
    }
    let hasher = SourceHasher::for_study(study).map_err(|it| not_json(study, &it))?;
    for (row, scores) in study.scores.iter().enumerate() {
        let source = hasher
            .hash_with_scores(scores)
            .map_err(|it| not_json(study, &it))?;
        // The study may have been written again since it was loaded.
        let Some(it) = stored.orders.iter().find(|it| it.source == source) else {
            continue;
        };
        let path = folder.join(&it.file);
        let opened = stored.files.get(&it.file).and_then(|hash| {
            instance_orders::open_instance_orders(&path, hash, study, row, &mut orders)
        });
        if opened.is_none() {
            tracing::warn!(
                "{} cannot be used, so lists of instances are slower; `axioscope study check \
                 {name}` says more",
                path.display()
            );
        }
    }
    Ok(orders)
}

/// Verifies every file of a study, including those that [`load_and_verify_study`] does not read.
/// Returns the number of files with a checksum, 0 for a study of an earlier version.
pub(crate) fn verify_study_files(data: &DataFolder, name: &str) -> Result<usize, Error> {
    let folder = data.study_folder(name)?;
    let files = read_head(&folder, name)?.files;
    for file in files.keys() {
        open(&folder, &files, file)?;
    }
    late_interaction::load_late_interaction_analyses(data, name)?;
    Ok(match files.len() {
        0 => 0,
        n_files => n_files + 1,
    })
}

/// Reads every file of a study again and verifies its checksum, as [`verify_study_files`] does for
/// files that look unchanged. `keep_on` is called with the bytes that were read; where it returns
/// false, the rest is not read.
pub(crate) fn reread_study_files(
    data: &DataFolder,
    name: &str,
    mut keep_on: impl FnMut(usize) -> bool,
) -> Result<(), Error> {
    // A study that is created again meanwhile has other files at the second look.
    reread_study_files_once(data, name, &mut keep_on)
        .or_else(|_| reread_study_files_once(data, name, &mut keep_on))
}

fn reread_study_files_once(
    data: &DataFolder,
    name: &str,
    mut keep_on: impl FnMut(usize) -> bool,
) -> Result<(), Error> {
    let folder = data.study_folder(name)?;
    let head: StoredOrders = read_manifest(&folder, name)?;
    let n_bytes = fs::metadata(folder.join(HEAD)).map_or(0, |it| it.len());
    if !keep_on(n_bytes as usize) {
        return Ok(());
    }
    for (file, sum) in &head.files {
        let path = folder.join(file);
        checksum::reread_and_verify_checksum(&path, sum, REMEDY, &mut keep_on)?;
    }
    late_interaction::verify_late_interaction_analyses(data, name, keep_on)
}

fn read_head(folder: &Path, name: &str) -> Result<StudyManifest, Error> {
    read_manifest(folder, name)
}

/// Reads `study.json` and verifies its own checksum.
fn read_manifest<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<T, Error> {
    let path = folder.join(HEAD);
    if !path.is_file() {
        return Err(shared::error::Error::name_not_found("study", name).into());
    }
    let json = checksum::read_checksummed_json_bytes(&path, "{\"study\":", REMEDY)?;
    let corrupt = |it: serde_json::Error| Error::CorruptData {
        what: path.display().to_string(),
        reason: format!("{it}; {REMEDY}"),
    };
    if folder.join(NEXT_DEFINITION).exists() {
        let stored: StoredOrders = serde_json::from_slice(&json).map_err(corrupt)?;
        replace_definition(folder, &stored.files)?;
    }
    serde_json::from_slice(&json).map_err(corrupt)
}

/// Opens a file of a study. Files of earlier versions have no checksum and are not verified.
fn open(folder: &Path, files: &BTreeMap<String, String>, name: &str) -> Result<File, Error> {
    let path = folder.join(name);
    match files.get(name) {
        Some(sum) => checksum::open_and_verify_checksum(&path, sum, REMEDY),
        None => File::open(&path).map_err(Error::io_error_converter(&path, REMEDY)),
    }
}

/// Reads the instances of a study from the Parquet file.
fn read_instances(study: &Study, path: &Path) -> Result<Vec<ProbeInstances>, Error> {
    let (mut mined, origin) = instances::read_instance_file(path, &collection_external_ids(study))?;
    let damaged = |reason: &str| Error::CorruptData {
        what: format!("study {}", study.definition.name),
        reason: reason.to_owned(),
    };
    if origin.hash != study.instances_hash {
        return Err(damaged("its instances are not its own; make it again"));
    }
    // The file has only documents of instances; the study also has those of its candidate pools.
    let place = |text| {
        study
            .study_docs
            .binary_search(text)
            .ok()
            .map(|it| it as u32)
    };
    let places: Option<Vec<u32>> = mined.study_docs.iter().map(place).collect();
    let places = places.ok_or_else(|| damaged("an instance has a text of its own"))?;
    let each = mined.instances.iter_mut();
    each.for_each(|it| it.renumber_docs(&places));
    Ok(mined.instances)
}

pub(crate) fn collection_external_ids(study: &Study) -> CollectionExternalIds<'_> {
    CollectionExternalIds {
        queries: study.queries.iter().map(|it| it.id.as_str()).collect(),
        docs: study.docs.iter().map(|it| it.id()).collect(),
    }
}

pub(crate) fn instance_file_metadata_of_study(study: &Study) -> InstanceFileMetadata {
    InstanceFileMetadata {
        format: 1,
        software: study.software.clone(),
        collection_hash: study.collection_hash.clone(),
        hash: study.instances_hash.clone(),
        analyzer: study.definition.analyzer.clone(),
        pool: study.definition.pool.clone(),
        limits: study.definition.limits,
        vectors: study.word_vectors.as_ref().map(|it| it.info.clone()),
        n_queries: study.queries.len(),
        n_before_cap: study
            .instances
            .iter()
            .map(|it| (it.probe, it.variant, it.n_found.clone()))
            .collect(),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_atomically_with_mode(
        path,
        OWNER_ALONE,
        remedy::ANOTHER_DATA_FOLDER,
        |mut file| file.write_all(bytes),
    )
}

#[cfg(test)]
pub(crate) mod tests;
