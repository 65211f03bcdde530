//! The files of stored studies.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};
use shared::collection::encode_hex;

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

/// Returns how many shards below a folder have a manifest. The output that it names must be there,
/// with the hash that it names.
pub(crate) fn count_committed_shards(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let count = |path: PathBuf| {
        if path.is_dir() {
            return count_committed_shards(&path);
        }
        if path.extension().is_none_or(|it| it != "json") {
            return 0;
        }
        let manifest: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let outputs = path
            .display()
            .to_string()
            .replace("/manifests/", "/outputs/");
        let output = Path::new(&outputs)
            .with_extension("")
            .join(manifest["attempt"].as_str().unwrap());
        let hash = encode_hex(&Sha256::digest(fs::read(output).unwrap()));
        assert_eq!(manifest["sha256"], hash, "{}", path.display());
        1
    };
    entries.map(count).sum()
}
