//! A data folder with all that can be wrong with it.

use shared::api::JobState;
use shared::score::certificate::{Certificate, Computation};
use shared::score::{RankerAbout, RankerKind};

use ::tests::postgres;

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

pub(crate) fn job(n_texts: u32) -> NewJob {
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

/// A data folder with a database of its own.
pub(crate) struct Place {
    pub folder: DataFolder,
    pub database: Database,
    /// Goes with the test.
    pub server: Option<postgres::Database>,
    _home: tempfile::TempDir,
}

impl Place {
    pub(crate) fn sqlite() -> Place {
        let home = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(home.path().join("data")).unwrap();
        Place {
            database: Database::Sqlite(folder.database()),
            folder,
            server: None,
            _home: home,
        }
    }

    /// None where there is no server.
    pub(crate) fn postgres() -> Option<Place> {
        postgres::Database::new().map(|it| Place {
            database: Database::Postgres(it.url.parse().unwrap()),
            server: Some(it),
            ..Place::sqlite()
        })
    }

    /// One for each kind of database that there is.
    pub(crate) fn each() -> impl Iterator<Item = Place> {
        [Some(Place::sqlite()), Place::postgres()]
            .into_iter()
            .flatten()
    }

    pub(crate) async fn store(&self) -> Store {
        Store::open(&self.database).await.unwrap()
    }
}

/// Runs a statement on every connection that there can be.
pub(crate) async fn tell(store: &Store, sql: &'static str) {
    let mut all = Vec::new();
    for _ in 0..CONNECTIONS {
        all.push(store.pool.acquire().await.unwrap());
    }
    for it in &mut all {
        sqlx::query(sql).execute(&mut **it).await.unwrap();
    }
}

#[tokio::test]
async fn a_database_is_made_with_its_tables_and_found_again() {
    for place in Place::each() {
        let store = place.store().await;
        store.add_job(&job(4)).await.unwrap();
        store.close().await;
        let store = place.store().await;
        let job = store.job(&"0".repeat(32)).await.unwrap();
        assert_eq!((job.n_pairs, job.n_done, job.ranker), (4, 0, ranker()));
        let created: jiff::Timestamp = job.created.parse().unwrap();
        assert!(
            job.created.ends_with('Z') && job.created.len() == 20,
            "{created}"
        );
        assert!(store.answers().await.is_ok());
        for name in ["none", "a\0b", "é"] {
            let study = store.study(name).await.unwrap_err().to_string();
            assert_eq!(study, format!("there is no study named `{name}`"));
            let job = store.job(name).await.unwrap_err().to_string();
            assert_eq!(job, format!("there is no job named `{name}`"));
        }
    }
}

#[test]
fn parts_of_a_folder_have_their_places() {
    let place = Place::sqlite();
    let collection = place.folder.collection("demo").unwrap();
    assert!(collection.ends_with("collections/demo"));
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
        let place = Place::sqlite();
        let store = place.store().await;
        sqlx::query(sign).execute(&store.pool).await.unwrap();
        store.close().await;
        let before = fs::read(place.folder.database()).unwrap();
        let error = Store::open(&place.database).await.unwrap_err();
        let Error::Newer { found, known, .. } = error else {
            panic!("{error}")
        };
        assert_eq!((found, known), (999, 5));
        assert!(error.to_string().contains("update axioscope"), "{error}");
        assert_eq!(fs::read(place.folder.database()).unwrap(), before);
    }
    if let Some(place) = Place::postgres() {
        place.store().await.close().await;
        place
            .server
            .as_ref()
            .unwrap()
            .tell("INSERT INTO _sqlx_migrations VALUES (999, 'later', '2030-01-01', true, '', 0)");
        let error = Store::open(&place.database).await.unwrap_err().to_string();
        assert!(error.contains("layout 999, this one knows 5"), "{error}");
        assert!(
            error.contains("another database by `DATABASE_URL`"),
            "{error}"
        );
    }
}

/// What is released stays as it is: sqlx compares these with what a database was made by.
#[test]
fn released_migrations_stay_as_they_are() {
    let sums = |migrator: &sqlx::migrate::Migrator| {
        let sum = |it: &sqlx::migrate::Migration| {
            format!(
                "{} {:.16}",
                it.version,
                shared::collection::hex(&it.checksum)
            )
        };
        migrator.iter().map(sum).collect::<Vec<_>>()
    };
    assert_eq!(
        sums(&sqlite::MIGRATIONS),
        [
            "1 c071c82253fd3afb",
            "2 762e0309cf089e6c",
            "3 32d32cd3e9b468e6",
            "4 9d59c5e24195d282",
            "5 e4932c55415b5ac9"
        ]
    );
    assert_eq!(
        sums(&super::postgres::MIGRATIONS),
        [
            "1 b22122618fe24e18",
            "2 762e0309cf089e6c",
            "3 60951067af38ee64",
            "4 6ddc3ca6e2139237",
            "5 3fca5364d217e5d2"
        ]
    );
}

#[tokio::test]
async fn a_database_of_every_released_layout_is_brought_forward() {
    for place in Place::each() {
        for layout in 1..=place.database.known_layout() {
            let place = match place.database {
                Database::Sqlite(_) => Place::sqlite(),
                Database::Postgres(_) => Place::postgres().unwrap(),
            };
            let early = Store::connect(&place.database).await.unwrap();
            early.migrate(layout).await.unwrap();
            // What every layout has.
            early.add_job(&job(4)).await.unwrap();
            early.new_operator_token().await.unwrap();
            early.close().await;

            let store = place.store().await;
            assert_eq!(store.job(&"0".repeat(32)).await.unwrap().n_pairs, 4);
            let certificate = store.job_certificate(&"0".repeat(32)).await.unwrap();
            assert_eq!(certificate, None, "layout {layout}");
            assert!(store.operator().await.unwrap().is_some());
        }
    }
}

#[tokio::test]
async fn a_file_that_is_no_database_is_named() {
    let place = Place::sqlite();
    fs::write(
        place.folder.database(),
        "neither SQLite nor anything else".repeat(50),
    )
    .unwrap();
    let error = Store::open(&place.database).await.unwrap_err();
    assert!(error.to_string().contains("axioscope.db"), "{error}");
}

#[tokio::test]
async fn an_empty_database_beside_studies_is_refused() {
    let place = Place::sqlite();
    let file = place.folder.database();
    fs::write(&file, "").unwrap();
    // Nothing is lost in a folder without studies.
    place.store().await.close().await;
    assert!(fs::metadata(&file).unwrap().len() > 0);

    let study = place.folder.study("s").unwrap();
    fs::create_dir_all(&study).unwrap();
    fs::write(study.join("study.json"), "{}").unwrap();
    place.store().await.close().await;
    fs::write(&file, "").unwrap();
    let error = Store::open(&place.database).await.unwrap_err().to_string();
    assert!(
        error.contains("axioscope.db is damaged: it is empty"),
        "{error}"
    );
    assert!(error.contains("axioscope restore"), "{error}");
    assert_eq!(fs::metadata(&file).unwrap().len(), 0, "it is left as it is");
    // A study may be there before any database is.
    fs::remove_file(&file).unwrap();
    place.store().await.close().await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_database_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let place = Place::sqlite();
    let modes = || {
        let entries = fs::read_dir(&place.folder.root).unwrap();
        let paths = entries.map(|it| it.unwrap().path());
        let files = paths.filter(|it| it.is_file());
        files.map(|it| mode(&it)).collect::<Vec<_>>()
    };
    let store = place.store().await;
    store.add_job(&job(4)).await.unwrap();
    // With what SQLite writes beside it.
    assert_eq!(modes(), [0o600; 3]);
    store.close().await;
    // One of an earlier version.
    let file = place.folder.database();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let store = place.store().await;
    store.new_operator_token().await.unwrap();
    assert_eq!(modes(), [0o600; 3]);
}

#[tokio::test]
async fn a_path_is_taken_as_it_is() {
    let home = tempfile::tempdir().unwrap();
    let folder = DataFolder::open(home.path().join("a b/?mode=ro#%20/é")).unwrap();
    let database = Database::Sqlite(folder.database());
    Store::open(&database).await.unwrap().close().await;
    assert!(folder.database().is_file());
}

#[tokio::test]
async fn a_full_disk_leaves_no_half_of_a_job() {
    let place = Place::sqlite();
    let store = place.store().await;
    let n_pages: i64 = sqlx::query_scalar("PRAGMA page_count")
        .fetch_one(&store.pool)
        .await
        .unwrap();
    let sql = format!("PRAGMA max_page_count = {}", n_pages + 4);
    tell(&store, sql.leak()).await;
    let error = store.add_job(&job(2_000)).await.unwrap_err();
    assert!(matches!(error, Error::DiskFull { .. }), "{error}");
    assert!(error.to_string().contains("make room"), "{error}");
    assert_eq!(store.jobs().await.unwrap(), []);
    store.add_job(&job(2)).await.unwrap();
}

#[tokio::test]
async fn a_database_that_cannot_be_written_says_so() {
    let place = Place::sqlite();
    let store = place.store().await;
    tell(&store, "PRAGMA query_only = 1").await;
    let error = store.add_job(&job(2)).await.unwrap_err();
    assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
    assert!(error.to_string().contains("axioscope.db"), "{error}");

    let Some(place) = Place::postgres() else {
        return;
    };
    place.store().await.close().await;
    let server = place.server.as_ref().unwrap();
    server.tell(&format!(
        "ALTER DATABASE {} SET default_transaction_read_only = on",
        server.name()
    ));
    let error = Store::open(&place.database).await.unwrap_err();
    assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
    assert!(error.to_string().contains("standby"), "{error}");
}

#[tokio::test]
async fn what_a_server_refuses_is_said_with_the_way_out_and_without_the_password() {
    let Some(place) = Place::postgres() else {
        return;
    };
    let server = place.server.as_ref().unwrap();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = nobody.local_addr().unwrap().to_string();
    drop(nobody);
    let wrong = format!("{}x", server.password());
    // Up to what is spelled otherwise in an address.
    let secret = server.password().split('%').next().unwrap();
    for (url, reason) in [
        (server.url_with(server.host(), &closed), "start the server"),
        (
            server.url_with(server.password(), &wrong),
            "check user and password",
        ),
        (server.url_with(server.name(), "nowhere"), "by `createdb`"),
    ] {
        let database = Database::Postgres(url.parse().unwrap());
        let error = Store::open(&database).await.unwrap_err();
        let told = format!("{error} {error:?} {}", error.public());
        assert!(told.contains(reason), "{told}");
        assert!(told.contains("DATABASE_URL"), "{told}");
        assert!(!told.contains(secret), "{told}");
        assert!(!error.public().contains("127.0.0.1"), "{told}");
    }
    // A user who may make no tables, and errors as the server raises them.
    let store = place.store().await;
    for (code, reason) in [
        ("53100", "the disk is full; make room"),
        ("25006", "cannot be written"),
        ("42501", "own the database"),
        ("57P03", "start the server"),
    ] {
        let raise = format!("DO $$ BEGIN RAISE EXCEPTION 'so' USING ERRCODE = '{code}'; END $$");
        let raised = sqlx::raw_sql(sqlx::AssertSqlSafe(raise)).execute(&store.pool);
        let error = store.failed(raised.await.unwrap_err()).to_string();
        assert!(error.contains(reason), "{error}");
    }
    let mut nul = job(2);
    nul.texts[1] = "a\0b".to_owned();
    let error = store.add_job(&nul).await.unwrap_err();
    assert!(matches!(error, Error::Input(_)), "{error}");
    assert!(error.to_string().contains("NUL"), "{error}");
    assert_eq!(store.jobs().await.unwrap(), []);
    assert!(!format!("{store:?}").contains(secret));
}

#[tokio::test]
async fn jobs_of_one_database_are_worked_on_from_one_folder() {
    let Some(place) = Place::postgres() else {
        return;
    };
    let beside = Place::sqlite();
    let (store, other) = (place.store().await, place.store().await);
    let mut lock = store.lock_jobs(place.folder.lock().unwrap()).await.unwrap();
    let refused = other.lock_jobs(beside.folder.lock().unwrap()).await;
    let Err(error) = refused else {
        panic!("two work on the same jobs")
    };
    assert!(matches!(error, Error::JobsInUse { .. }), "{error}");
    // A connection that the server ends is made again.
    lock.keep().await.unwrap();
    place.server.as_ref().unwrap().tell(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks
         WHERE locktype = 'advisory' AND database = (
             SELECT oid FROM pg_database WHERE datname = current_database())",
    );
    lock.keep().await.unwrap();
    drop(lock);
    assert!(other.lock_jobs(beside.folder.lock().unwrap()).await.is_ok());
}

#[tokio::test]
async fn a_batch_is_committed_once() {
    for place in Place::each() {
        let store = place.store().await;
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
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_commit_a_batch_at_once_one_does() {
    for place in Place::each() {
        let stores = [place.store().await, place.store().await];
        stores[0].add_job(&job(100)).await.unwrap();
        let commit = |at: usize| {
            let store = stores[at % 2].clone();
            let scores = [0.1, 1e-300, -0.0, f64::MIN_POSITIVE / 2.0];
            let scores: Vec<PairScore> = (0..50)
                .map(|pair| PairScore {
                    pair,
                    score: scores[pair as usize % 4],
                    truncated: false,
                })
                .collect();
            let committed = async move {
                let id = "0".repeat(32);
                store.commit_batch(&id, 0, &scores).await.unwrap()
            };
            tokio::spawn(committed)
        };
        let all: Vec<_> = (0..8).map(commit).collect();
        let mut n_now = 0;
        for it in all {
            n_now += usize::from(it.await.unwrap() == Committed::Now);
        }
        assert_eq!(n_now, 1);
        let id = "0".repeat(32);
        assert_eq!(stores[0].job(&id).await.unwrap().n_done, 50);
        let found = stores[1].job_scores(&id).await.unwrap();
        let bits = |it: &PairScore| it.score.to_bits();
        assert_eq!(bits(&found[1]), 1e-300_f64.to_bits());
        assert_eq!(bits(&found[2]), 0.0_f64.to_bits());
        assert_eq!(bits(&found[3]), (f64::MIN_POSITIVE / 2.0).to_bits());
    }
}

#[tokio::test]
async fn a_job_that_is_done_has_its_scores_and_no_texts() {
    for place in Place::each() {
        let store = place.store().await;
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
            computation: Computation::new("cpu", "f32"),
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
}

#[tokio::test]
async fn a_job_waits_runs_stops_and_goes_on() {
    for place in Place::each() {
        let store = place.store().await;
        let id = "0".repeat(32);
        store.add_job(&job(2)).await.unwrap();
        let state = async || {
            let job = store.job(&id).await.unwrap();
            (job.state, job.problem)
        };
        store.start_job(&id).await.unwrap();
        assert_eq!(state().await, (JobState::Running, None));
        store.requeue_jobs().await.unwrap();
        assert_eq!(state().await, (JobState::Queued, None));
        store.fail_job(&id, "it broke").await.unwrap();
        let problem = Some("it broke".to_owned());
        assert_eq!(state().await, (JobState::Failed, problem));
        store.resume_job(&id).await.unwrap();
        assert_eq!(state().await, (JobState::Queued, None));
        store.cancel_job(&id).await.unwrap();
        assert_eq!(state().await, (JobState::Cancelled, None));
        assert_eq!(store.jobs().await.unwrap().len(), 1);
        assert_eq!(
            store.job_texts(&id, &[1]).await.unwrap(),
            ["1 rivers and their banks"]
        );
        assert_eq!(store.work(&id).await.unwrap().pairs, [(0, 0), (0, 1)]);
    }
}

#[tokio::test]
async fn a_new_token_takes_the_place_of_the_one_before() {
    for place in Place::each() {
        let store = place.store().await;
        assert_eq!(store.operator().await.unwrap(), None);
        let first = store.new_operator_token().await.unwrap();
        let second = store.new_operator_token().await.unwrap();
        let kept = store.operator().await.unwrap().unwrap();
        assert!(kept.matches(&second) && !kept.matches(&first));
    }
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
