//! The late-interaction analyses of a study: one file `whitebox-….json` per ranker in its folder.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::SystemTime;

use shared::late_interaction::LateInteractionRankerAnalysis;

use crate::error::Error;
use crate::remedy;
use crate::store::{DataFolder, checksum, write_atomically};

const PREFIX: &str = "whitebox-";

/// The first bytes of a file without a checksum, of an earlier version.
const UNSEALED: &str = "{\"head\":";

/// What to do about a damaged file.
const REMEDY: &str = "analyze the ranker again by `axioscope late-interaction --study NAME`, or \
                      remove the file";

/// Writes an analysis. It replaces an earlier one of the same ranker.
pub(crate) fn save_late_interaction_analysis(
    data: &DataFolder,
    study: &str,
    found: &LateInteractionRankerAnalysis,
) -> Result<(), Error> {
    let path = place(data, study, &found.header.ranker.fingerprint)?;
    let json = serde_json::to_vec(found).expect("finite numbers and string keys");
    write_atomically(&path, remedy::ANOTHER_DATA_FOLDER, |mut to| {
        to.write_all(&checksum::add_json_checksum(&json))
    })
}

/// Gives the analyses that have the title of their study its new one. Others were titled by hand.
pub(crate) fn rename_late_interaction_analyses(
    data: &DataFolder,
    study: &str,
    before: &str,
    title: &str,
) -> Result<(), Error> {
    let analyses = load_late_interaction_analyses(data, study)?.into_iter();
    for mut it in analyses.filter(|it| it.header.title == before) {
        title.clone_into(&mut it.header.title);
        save_late_interaction_analysis(data, study, &it)?;
    }
    Ok(())
}

/// Removes the analyses of a study, which has been replaced by another one.
pub(crate) fn remove_late_interaction_analyses(
    data: &DataFolder,
    study: &str,
) -> Result<(), Error> {
    for it in list_analysis_files(data, study)? {
        fs::remove_file(&it.path).map_err(Error::io_error_converter(
            &it.path,
            remedy::ANOTHER_DATA_FOLDER,
        ))?;
    }
    Ok(())
}

/// A file with an analysis, and what shows that it was written again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AnalysisFileVersion {
    path: PathBuf,
    modified: SystemTime,
    n_bytes: u64,
}

/// Returns the files with the analyses of a study, sorted by path, without reading them.
pub(crate) fn list_analysis_files(
    data: &DataFolder,
    study: &str,
) -> Result<Vec<AnalysisFileVersion>, Error> {
    let folder = data.study_folder(study)?;
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).map_err(Error::io_error_converter(
        &folder,
        remedy::ANOTHER_DATA_FOLDER,
    ))? {
        let entry = entry.map_err(Error::io_error_converter(
            &folder,
            remedy::ANOTHER_DATA_FOLDER,
        ))?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !(name.starts_with(PREFIX) && name.ends_with(".json")) {
            continue;
        }
        let path = entry.path();
        let metadata = fs::metadata(&path).map_err(Error::io_error_converter(
            &path,
            remedy::ANOTHER_DATA_FOLDER,
        ))?;
        let modified = metadata.modified();
        files.push(AnalysisFileVersion {
            modified: modified.map_err(Error::io_error_converter(
                &path,
                remedy::ANOTHER_DATA_FOLDER,
            ))?,
            n_bytes: metadata.len(),
            path,
        });
    }
    files.sort();
    Ok(files)
}

/// Reads all analyses of a study, those that also have the state before fine-tuning first, then
/// sorted by the spec of the ranker.
pub(crate) fn load_late_interaction_analyses(
    data: &DataFolder,
    study: &str,
) -> Result<Vec<LateInteractionRankerAnalysis>, Error> {
    let mut all = Vec::new();
    for AnalysisFileVersion { path, .. } in list_analysis_files(data, study)? {
        let bytes = checksum::read_checksummed_json_bytes(&path, UNSEALED, REMEDY)?;
        let found: LateInteractionRankerAnalysis =
            serde_json::from_slice(&bytes).map_err(|it| Error::CorruptData {
                what: path.display().to_string(),
                reason: format!("{it}; {REMEDY}"),
            })?;
        all.push(found);
    }
    all.sort_by_cached_key(|it| {
        let is_without = it.before_fine_tuning.is_none();
        (is_without, it.header.ranker.spec.clone())
    });
    Ok(all)
}

/// Verifies the checksums of all analyses of a study without parsing them. `keep_on` is called with
/// the bytes that were read; where it returns false, the rest is not read.
pub(super) fn verify_late_interaction_analyses(
    data: &DataFolder,
    study: &str,
    mut keep_on: impl FnMut(usize) -> bool,
) -> Result<(), Error> {
    for AnalysisFileVersion { path, .. } in list_analysis_files(data, study)? {
        let bytes = checksum::read_checksummed_json_bytes(&path, UNSEALED, REMEDY)?;
        if !keep_on(bytes.len()) {
            break;
        }
    }
    Ok(())
}

fn place(data: &DataFolder, study: &str, fingerprint: &str) -> Result<PathBuf, Error> {
    let short: String = fingerprint.chars().take(16).collect();
    Ok(data
        .study_folder(study)?
        .join(format!("{PREFIX}{short}.json")))
}
