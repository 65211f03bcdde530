//! Tests of the data folder: its parts, its lock and its files.

use super::*;
use crate::store::scores::RankerScoresByTextHash;

#[test]
fn parts_of_a_folder_have_their_places() {
    let place = TestFolder::sqlite();
    let collection = place.folder.collection_folder("demo").unwrap();
    assert!(collection.ends_with("collections/demo"));
}

#[test]
fn a_name_that_leads_elsewhere_is_no_name() {
    let home = tempfile::tempdir().unwrap();
    let folder = DataFolder::open(home.path()).unwrap();
    for name in ["..", "../x", "a/b", "", "A", "a\0b"] {
        assert!(
            matches!(folder.study_folder(name), Err(Error::Input(_))),
            "{name:?}"
        );
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    let error = DataFolder::open(file.join("data")).unwrap_err().to_string();
    assert!(error.contains("file/data/collections"), "{error}");
    assert!(error.contains("--data"), "{error}");
}

#[test]
fn two_servers_do_not_share_a_folder() {
    let home = tempfile::tempdir().unwrap();
    let folder = DataFolder::open(home.path()).unwrap();
    let lock = folder.lock().unwrap();
    assert!(matches!(folder.lock(), Err(Error::DataFolderInUse { .. })));
    drop(lock);
    assert!(folder.lock().is_ok());
}

#[test]
fn a_file_of_scores_can_be_read_by_others() {
    use parquet::file::reader::{FileReader, SerializedFileReader};

    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("ranker").join("job.parquet");
    let columns = RankerScoresByTextHash {
        query_hashes: vec!["a1".to_owned(), "a1".to_owned()],
        text_hashes: vec!["b2".to_owned(), "c3".to_owned()],
        scores: vec![0.1 + 0.2, -1e-300],
        truncated: vec![false, true],
    };
    columns.write_parquet_file(&path).unwrap();
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    let rows: Vec<String> = reader
        .get_row_iter(None)
        .unwrap()
        .map(|it| it.unwrap().to_string())
        .collect();
    assert_eq!(
        rows,
        [
            r#"{query_hash: "a1", text_hash: "b2", score: 0.30000000000000004, truncated: false}"#,
            r#"{query_hash: "a1", text_hash: "c3", score: -1E-300, truncated: true}"#,
        ]
    );
    let left: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing half-written stays");
}
