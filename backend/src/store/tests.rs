//! A data folder with all that can be wrong with it.

use shared::api::JobState;
use shared::score::certificate::Certificate;
use shared::score::{RankerAbout, RankerKind};

use super::*;
use crate::models::PairScore;
use crate::store::jobs::{Committed, NewJob};
use crate::store::scores::Columns;

fn ranker() -> RankerAbout {
    RankerAbout {
        spec: "tiny:bi".to_owned(),
        label: "Tiny".to_owned(),
        detail: String::new(),
        kind: RankerKind::Neural,
        fingerprint: "f".repeat(64),
        note: None,
    }
}

fn job(n_texts: u32) -> NewJob {
    NewJob {
        id: "0".repeat(32),
        title: "A job".to_owned(),
        ranker: ranker(),
        token_budget: 100,
        n_threads: 1,
        queries: vec!["river".to_owned()],
        texts: (0..n_texts)
            .map(|it| format!("{it} rivers and their banks"))
            .collect(),
        pairs: (0..n_texts).map(|it| (0, it)).collect(),
        batches: vec![(0..n_texts / 2).collect(), (n_texts / 2..n_texts).collect()],
    }
}

async fn open() -> (tempfile::TempDir, DataFolder, Store) {
    let home = tempfile::tempdir().unwrap();
    let folder = DataFolder::open(home.path().join("data")).unwrap();
    let store = Store::open(&folder).await.unwrap();
    (home, folder, store)
}

#[tokio::test]
async fn a_folder_is_made_with_its_parts_and_found_again() {
    let (_home, folder, store) = open().await;
    store.add_job(&job(4)).await.unwrap();
    store.close().await;
    let store = Store::open(&folder).await.unwrap();
    let job = store.job(&"0".repeat(32)).await.unwrap();
    assert_eq!((job.n_pairs, job.n_done, job.ranker), (4, 0, ranker()));
    assert!(
        folder
            .collection("demo")
            .unwrap()
            .ends_with("collections/demo")
    );
}

#[test]
fn a_name_that_leads_elsewhere_is_no_name() {
    let home = tempfile::tempdir().unwrap();
    let folder = DataFolder::open(home.path()).unwrap();
    for name in ["..", "../x", "a/b", "", "A", "a\0b"] {
        assert!(
            matches!(folder.study(name), Err(Error::Input(_))),
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
    assert!(matches!(folder.lock(), Err(Error::InUse { .. })));
    drop(lock);
    assert!(folder.lock().is_ok());
}

#[tokio::test]
async fn a_database_from_the_future_is_left_as_it_is() {
    for sign in [
        "PRAGMA user_version = 999",
        "INSERT INTO _sqlx_migrations VALUES (999, 'later', '2030-01-01', 1, x'00', 0)",
    ] {
        let (_home, folder, store) = open().await;
        sqlx::query(sign).execute(&store.pool).await.unwrap();
        store.close().await;
        let before = fs::read(folder.database()).unwrap();
        let error = Store::open(&folder).await.unwrap_err();
        assert!(
            matches!(
                error,
                Error::Newer {
                    found: 999,
                    known: 2,
                    ..
                }
            ),
            "{error}"
        );
        assert!(error.to_string().contains("update axioscope"), "{error}");
        assert_eq!(fs::read(folder.database()).unwrap(), before);
    }
}

#[tokio::test]
async fn a_file_that_is_no_database_is_named() {
    let home = tempfile::tempdir().unwrap();
    let folder = DataFolder::open(home.path()).unwrap();
    fs::write(
        folder.database(),
        "neither SQLite nor anything else".repeat(50),
    )
    .unwrap();
    let error = Store::open(&folder).await.unwrap_err();
    assert!(error.to_string().contains("axioscope.db"), "{error}");
}

#[tokio::test]
async fn a_full_disk_leaves_no_half_of_a_job() {
    let (_home, folder, store) = open().await;
    let n_pages: i64 = sqlx::query_scalar("PRAGMA page_count")
        .fetch_one(&store.pool)
        .await
        .unwrap();
    store.close().await;
    let options = SqliteConnectOptions::new().pragma("max_page_count", (n_pages + 4).to_string());
    let store = Store::open_with(&folder.database(), options).await.unwrap();
    let error = store.add_job(&job(2_000)).await.unwrap_err();
    assert!(matches!(error, Error::DiskFull { .. }), "{error}");
    assert!(error.to_string().contains("make room"), "{error}");
    assert_eq!(store.jobs().await.unwrap(), []);
    store.add_job(&job(2)).await.unwrap();
}

#[tokio::test]
async fn a_database_that_cannot_be_written_says_so() {
    let (_home, folder, store) = open().await;
    store.close().await;
    let options = SqliteConnectOptions::new().pragma("query_only", "1");
    let store = Store::open_with(&folder.database(), options).await.unwrap();
    let error = store.add_job(&job(2)).await.unwrap_err();
    assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
    assert!(error.to_string().contains("axioscope.db"), "{error}");
}

#[tokio::test]
async fn a_batch_is_committed_once() {
    let (_home, _folder, store) = open().await;
    let job = job(4);
    store.add_job(&job).await.unwrap();
    let batch = store.next_batch(&job.id, None).await.unwrap().unwrap();
    let places: Vec<u32> = batch.texts.iter().map(|it| it.0).collect();
    assert_eq!(places, [0, 1]);
    let scores = |score| {
        [0, 1].map(|pair| PairScore {
            pair,
            score,
            truncated: pair == 1,
        })
    };

    let first = store
        .commit_batch(&job.id, batch.number, &scores(0.1))
        .await
        .unwrap();
    let again = store
        .commit_batch(&job.id, batch.number, &scores(0.2))
        .await
        .unwrap();
    assert_eq!((first, again), (Committed::Now, Committed::Before));
    assert_eq!(store.job_scores(&job.id).await.unwrap(), scores(0.1));
    assert_eq!(store.job(&job.id).await.unwrap().n_done, 2);

    // A pair that another batch has brought already takes its whole batch back.
    let next = store.next_batch(&job.id, None).await.unwrap().unwrap();
    assert!(
        store
            .commit_batch(&job.id, next.number, &scores(0.3))
            .await
            .is_err()
    );
    assert_eq!(
        store
            .next_batch(&job.id, None)
            .await
            .unwrap()
            .unwrap()
            .number,
        next.number
    );
    assert_eq!(store.job(&job.id).await.unwrap().n_done, 2);
}

#[tokio::test]
async fn a_job_that_is_done_has_its_scores_and_no_texts() {
    let (_home, _folder, store) = open().await;
    let job = job(2);
    store.add_job(&job).await.unwrap();
    let scores = [0, 1].map(|pair| PairScore {
        pair,
        score: f64::from(pair),
        truncated: false,
    });
    store.commit_batch(&job.id, 0, &scores[..1]).await.unwrap();
    store.commit_batch(&job.id, 1, &scores[1..]).await.unwrap();
    let columns = store.job_columns(&job.id).await.unwrap();
    assert_eq!(columns.scores, [0.0, 1.0]);
    let river = shared::collection::text_hash("river");
    assert_eq!(columns.query_hashes, [river.clone(), river]);
    let certificate = Certificate {
        device: "cpu".to_owned(),
        precision: "f32".to_owned(),
        activation: None,
        again: Vec::new(),
    };
    store.finish_job(&job.id, Some(&certificate)).await.unwrap();
    let state = store.job(&job.id).await.unwrap().state;
    assert_eq!(state, JobState::Queued, "only a running job ends");
    assert_eq!(store.job_certificate(&job.id).await.unwrap(), None);
    store.start_job(&job.id).await.unwrap();
    store.finish_job(&job.id, Some(&certificate)).await.unwrap();
    let kept = store.job_certificate(&job.id).await.unwrap();
    assert_eq!(kept, Some(certificate));
    let n_texts: i64 = sqlx::query_scalar("SELECT count(*) FROM job_texts")
        .fetch_one(&store.pool)
        .await
        .unwrap();
    assert_eq!(n_texts, 0);
    assert_eq!(store.job_scores(&job.id).await.unwrap(), scores);
    assert_eq!(store.unfinished_jobs().await.unwrap(), Vec::<String>::new());
}

#[test]
fn a_file_of_scores_can_be_read_by_others() {
    use parquet::file::reader::{FileReader, SerializedFileReader};

    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("ranker").join("job.parquet");
    let columns = Columns {
        query_hashes: vec!["a1".to_owned(), "a1".to_owned()],
        text_hashes: vec!["b2".to_owned(), "c3".to_owned()],
        scores: vec![0.1 + 0.2, -1e-300],
        truncated: vec![false, true],
    };
    columns.write(&path).unwrap();
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
