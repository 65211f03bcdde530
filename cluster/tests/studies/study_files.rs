//! The files of stored studies.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Compares a study of two data folders. Data files have their SHA-256 in their names and in
/// `study.json`, which differ only in the date.
pub(crate) fn ensure_equal_studies(expected: &Path, found: &Path, name: &str) {
    let read = |data: &Path| {
        let path = data.join("studies").join(name).join("study.json");
        let mut json: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let object = json.as_object_mut().unwrap();
        // The checksum of this file covers the date.
        object.retain(|key, _| key != "sha256");
        object["study"]
            .as_object_mut()
            .unwrap()
            .remove("created")
            .unwrap();
        json
    };
    let (expected, found) = (read(expected), read(found));
    for part in ["instances", "scores", "files", "certificates"] {
        assert_eq!(expected[part], found[part], "{part} of {name}");
    }
    assert!(expected == found, "study.json of {name} differs");
}

/// Returns how many files below a folder have an ending.
pub(crate) fn count_files(folder: &Path, ending: &str) -> u64 {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let count = |path: &Path| match path.is_dir() {
        true => count_files(path, ending),
        false => u64::from(path.to_string_lossy().ends_with(ending)),
    };
    entries.map(|it| count(&it)).sum()
}
