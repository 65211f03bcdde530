//! The files of a study: `study.toml` (what it was made from), `instances-….parquet`,
//! `instances-….columns` (the same, to be mapped), `scores-….parquet`, and `study.json`, which
//! names these three and holds the rest.
//!
//! Columns go into files of new names, `study.json` is put in its place last and in one step:
//! so a study is what it was or what it has become, whenever the program is stopped.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use shared::probe::{Instances, InstancesHead, Mined};
use shared::score::certificate::Certificate;
use shared::score::{RankerAbout, Scores};
use shared::study::Study;

use super::mapped;
use crate::error::Error;
use crate::store::DataFolder;
use crate::store::instances::{self, Ids, Origin};
use crate::store::scores::StudyScores;

pub(super) const WAY_OUT: &str = "make room, or take another data folder by `--data`";

/// The file that makes the others a study.
const HEAD: &str = "study.json";

/// What `study.json` holds.
#[derive(Serialize, Deserialize)]
struct Head {
    /// Without the columns.
    study: Study,
    rankers: Vec<RankerAbout>,
    /// One for each ranker; empty in studies of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    certificates: Vec<Option<Certificate>>,
    instances: String,
    scores: String,
    /// The instances once more, to be mapped; none in studies of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    columns: Option<Columns>,
}

/// A file of [`mapped`] columns.
#[derive(Serialize, Deserialize)]
struct Columns {
    file: String,
    /// SHA-256, in hex.
    hash: String,
    heads: Vec<InstancesHead>,
}

/// Writes a study.
pub(crate) fn save(data: &DataFolder, study: &Study) -> Result<(), Error> {
    let folder = data.study(&study.definition.name)?;
    fs::create_dir_all(&folder).map_err(Error::file(&folder, WAY_OUT))?;
    let saved = save_in(&folder, study);
    if saved.is_err() && !folder.join(HEAD).exists() {
        // What was written before the error is no study; that error is the one to tell.
        let _ = fs::remove_dir_all(&folder);
    }
    saved
}

fn save_in(folder: &Path, study: &Study) -> Result<(), Error> {
    let mined = Mined {
        texts: study.texts.clone(),
        pools: Vec::new(),
        instances: study.instances.clone(),
    };
    let instances = format!("instances-{:.16}.parquet", study.instances_hash);
    instances::write(
        &folder.join(&instances),
        &mined,
        &ids(study),
        &origin(study),
    )?;
    let file = format!("instances-{:.16}.columns", study.instances_hash);
    let columns = Columns {
        hash: mapped::write(&folder.join(&file), &study.instances)?,
        heads: study.instances.iter().map(Instances::head).collect(),
        file,
    };
    let scores = format!("scores-{:.16}.parquet", scores_hash(study));
    StudyScores::of(study).write(&folder.join(&scores))?;
    write(folder, "study.toml", study.definition.to_toml().as_bytes())?;
    let mut rest = study.clone();
    let scored = rest.scores.drain(..);
    let (rankers, certificates) = scored.map(|it| (it.ranker, it.certificate)).unzip();
    rest.instances.clear();
    let head = Head {
        study: rest,
        rankers,
        certificates,
        instances,
        scores,
        columns: Some(columns),
    };
    let json = serde_json::to_vec(&head).map_err(|it| Error::Damaged {
        what: format!("study {}", study.definition.name),
        reason: it.to_string(),
    })?;
    write(folder, HEAD, &json)?;
    remove_others(folder, &head)
}

/// Columns that no `study.json` names any more.
fn remove_others(folder: &Path, head: &Head) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(Error::file(folder, WAY_OUT))? {
        let path = entry.map_err(Error::file(folder, WAY_OUT))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let named = |it: &Columns| name == it.file;
        let old = (name.ends_with(".parquet") && name != head.instances && name != head.scores)
            || (name.ends_with(".columns") && !head.columns.as_ref().is_some_and(named));
        if old {
            fs::remove_file(&path).map_err(Error::file(&path, WAY_OUT))?;
        }
    }
    Ok(())
}

/// Reads a study.
pub(crate) fn load(data: &DataFolder, name: &str) -> Result<Study, Error> {
    let folder = data.study(name)?;
    let path = folder.join(HEAD);
    if !path.is_file() {
        return Err(shared::error::Error::unknown("study", name).into());
    }
    let json = fs::read(&path).map_err(Error::file(&path, "make the study again"))?;
    let damaged = |reason: String| Error::Damaged {
        what: format!("study {name}"),
        reason,
    };
    let Head {
        mut study,
        rankers,
        certificates,
        instances,
        scores,
        columns,
    } = serde_json::from_slice(&json).map_err(|it| damaged(it.to_string()))?;
    if study.format != 1 {
        let reason = format!("layout {} is later than this version's 1", study.format);
        return Err(damaged(reason));
    }
    let mapped = columns.and_then(|it| mapped::open(&folder.join(it.file), &it.hash, it.heads));
    study.instances = match mapped {
        Some(instances) => instances,
        None => read_instances(&study, &folder.join(instances))?,
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
    let columns = StudyScores::read(&folder.join(scores))?;
    for (at, ranker) in rankers.into_iter().enumerate() {
        let (values, truncated) = columns.of_ranker(at as u32, study.pairs.len());
        let mut scores = Scores::new(ranker, values, &study.pairs)?;
        scores.truncated = truncated;
        let certificate = certificates.get(at).cloned().flatten();
        scores.certificate = certificate.filter(|it| it.fits(study.pairs.len()));
        study.scores.push(scores);
    }
    Ok(study)
}

/// The instances of a study, from the file that others read too.
fn read_instances(study: &Study, path: &Path) -> Result<Vec<Instances>, Error> {
    let (mined, origin) = instances::read(path, &ids(study))?;
    let damaged = |reason: &str| Error::Damaged {
        what: format!("study {}", study.definition.name),
        reason: reason.to_owned(),
    };
    if origin.hash != study.instances_hash {
        return Err(damaged("its instances are not its own; make it again"));
    }
    // The file numbers only texts of instances; the study also has those of its pools.
    let place = |text| study.texts.binary_search(text).ok().map(|it| it as u32);
    let places: Option<Vec<u32>> = mined.texts.iter().map(place).collect();
    let places = places.ok_or_else(|| damaged("an instance has a text of its own"))?;
    let numbered = mined.instances.iter().map(|it| it.renumbered(&places));
    Ok(numbered.collect())
}

pub(crate) fn ids(study: &Study) -> Ids<'_> {
    Ids {
        queries: study.queries.iter().map(|it| it.id.as_str()).collect(),
        docs: study.docs.iter().map(|it| it.id.as_str()).collect(),
    }
}

pub(crate) fn origin(study: &Study) -> Origin {
    Origin {
        format: 1,
        software: study.software.clone(),
        collection_hash: study.collection_hash.clone(),
        hash: study.instances_hash.clone(),
        analyzer: study.definition.analyzer.clone(),
        pool: study.definition.pool.clone(),
        limits: study.definition.limits,
        vectors: study.words.as_ref().map(|it| it.about.clone()),
        n_queries: study.queries.len(),
        found: study
            .instances
            .iter()
            .map(|it| (it.probe, it.mode, it.found.clone()))
            .collect(),
    }
}

/// SHA-256 over the rankers and the bits of their scores, in hex.
fn scores_hash(study: &Study) -> String {
    let mut hasher = Sha256::new();
    for it in &study.scores {
        hasher.update(&it.ranker.fingerprint);
        for score in it.values() {
            hasher.update(score.map_or([0xff; 8], |it| it.to_bits().to_le_bytes()));
        }
    }
    shared::collection::hex(&hasher.finalize())
}

/// Writes a file that appears whole or not at all.
fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), Error> {
    let path = folder.join(name);
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(Error::file(folder, WAY_OUT))?;
    file.write_all(bytes).map_err(Error::file(&path, WAY_OUT))?;
    file.as_file()
        .sync_all()
        .map_err(Error::file(&path, WAY_OUT))?;
    file.persist(&path)
        .map_err(|it| Error::file(&path, WAY_OUT)(it.error))?;
    Ok(())
}
