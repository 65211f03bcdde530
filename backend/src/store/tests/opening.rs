//! Tests of opening databases, of full disks and of errors from a server.

use super::*;

#[tokio::test]
async fn a_database_is_made_with_its_tables_and_found_again() {
    for place in TestFolder::each() {
        let store = place.store().await;
        store.add_job_with_batches(&job(4)).await.unwrap();
        store.close().await;
        let store = place.store().await;
        let job = store.job(&"0".repeat(32)).await.unwrap();
        assert_eq!((job.n_pairs, job.n_scored, job.ranker), (4, 0, ranker()));
        let created: jiff::Timestamp = job.created_at.parse().unwrap();
        assert!(
            job.created_at.ends_with('Z') && job.created_at.len() == 20,
            "{created}"
        );
        assert!(store.check_connection().await.is_ok());
        for name in ["none", "a\0b", "é"] {
            let study = store
                .study_entry_by_name(name)
                .await
                .unwrap_err()
                .to_string();
            assert_eq!(study, format!("there is no study named `{name}`"));
            let job = store.job(name).await.unwrap_err().to_string();
            assert_eq!(job, format!("there is no job named `{name}`"));
        }
    }
}

#[tokio::test]
async fn a_file_that_is_no_database_is_named() {
    let place = TestFolder::sqlite();
    fs::write(
        place.folder.database_path(),
        "neither SQLite nor anything else".repeat(50),
    )
    .unwrap();
    let error = Database::open_and_migrate(&place.database)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("axioscope.db"), "{error}");
}

#[tokio::test]
async fn an_empty_database_beside_studies_is_refused() {
    let place = TestFolder::sqlite();
    let file = place.folder.database_path();
    fs::write(&file, "").unwrap();
    // An empty database is no loss in a folder without studies.
    place.store().await.close().await;
    assert!(fs::metadata(&file).unwrap().len() > 0);

    let study = place.folder.study_folder("s").unwrap();
    fs::create_dir_all(&study).unwrap();
    fs::write(study.join("study.json"), "{}").unwrap();
    place.store().await.close().await;
    fs::write(&file, "").unwrap();
    let error = Database::open_and_migrate(&place.database)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("axioscope.db is damaged: it is empty"),
        "{error}"
    );
    assert!(error.contains("axioscope restore"), "{error}");
    assert_eq!(fs::metadata(&file).unwrap().len(), 0, "it is left as it is");
    // Studies may exist before there is a database.
    fs::remove_file(&file).unwrap();
    place.store().await.close().await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_database_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let place = TestFolder::sqlite();
    let modes = || {
        let entries = fs::read_dir(&place.folder.root).unwrap();
        let paths = entries.map(|it| it.unwrap().path());
        let files = paths.filter(|it| it.is_file());
        files.map(|it| mode(&it)).collect::<Vec<_>>()
    };
    let store = place.store().await;
    store.add_job_with_batches(&job(4)).await.unwrap();
    // Including the files that SQLite creates.
    assert_eq!(modes(), [0o600; 3]);
    store.close().await;
    // A database of an earlier version.
    let file = place.folder.database_path();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let store = place.store().await;
    store.replace_operator_token().await.unwrap();
    assert_eq!(modes(), [0o600; 3]);
}

#[tokio::test]
async fn a_path_is_taken_as_it_is() {
    let home = tempfile::tempdir().unwrap();
    let folder = DataFolder::open(home.path().join("a b/?mode=ro#%20/é")).unwrap();
    let database = DatabaseConfig::Sqlite(folder.database_path());
    Database::open_and_migrate(&database)
        .await
        .unwrap()
        .close()
        .await;
    assert!(folder.database_path().is_file());
}

#[tokio::test]
async fn a_full_disk_leaves_no_half_of_a_job() {
    let place = TestFolder::sqlite();
    let store = place.store().await;
    let n_pages: i64 = sqlx::query_scalar("PRAGMA page_count")
        .fetch_one(&store.pool)
        .await
        .unwrap();
    let sql = format!("PRAGMA max_page_count = {}", n_pages + 4);
    tell(&store, sql.leak()).await;
    let error = store.add_job_with_batches(&job(2_000)).await.unwrap_err();
    assert!(matches!(error, Error::DiskFull { .. }), "{error}");
    assert!(error.to_string().contains("make room"), "{error}");
    assert_eq!(store.list_jobs().await.unwrap(), []);
    store.add_job_with_batches(&job(2)).await.unwrap();
}

#[tokio::test]
async fn a_database_that_cannot_be_written_says_so() {
    let place = TestFolder::sqlite();
    let store = place.store().await;
    tell(&store, "PRAGMA query_only = 1").await;
    let error = store.add_job_with_batches(&job(2)).await.unwrap_err();
    assert!(matches!(error, Error::DatabaseReadOnly { .. }), "{error}");
    assert!(error.to_string().contains("axioscope.db"), "{error}");

    let Some(place) = TestFolder::postgres() else {
        return;
    };
    place.store().await.close().await;
    let server = place.server.as_ref().unwrap();
    server.execute(&format!(
        "ALTER DATABASE {} SET default_transaction_read_only = on",
        server.name()
    ));
    let error = Database::open_and_migrate(&place.database)
        .await
        .unwrap_err();
    assert!(matches!(error, Error::DatabaseReadOnly { .. }), "{error}");
    assert!(error.to_string().contains("standby"), "{error}");
}

#[tokio::test]
async fn what_a_server_refuses_is_said_with_the_way_out_and_without_the_password() {
    let Some(place) = TestFolder::postgres() else {
        return;
    };
    let server = place.server.as_ref().unwrap();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = nobody.local_addr().unwrap().to_string();
    drop(nobody);
    let wrong = format!("{}x", server.password());
    // The part of the password before the first escaped character.
    let secret = server.password().split('%').next().unwrap();
    for (url, reason) in [
        (server.url_with(server.host(), &closed), "start the server"),
        (
            server.url_with(server.password(), &wrong),
            "check user and password",
        ),
        (server.url_with(server.name(), "nowhere"), "by `createdb`"),
    ] {
        let database = DatabaseConfig::Postgres(url.parse().unwrap());
        let error = Database::open_and_migrate(&database).await.unwrap_err();
        let told = format!("{error} {error:?} {}", error.public_message());
        assert!(told.contains(reason), "{told}");
        assert!(told.contains("DATABASE_URL"), "{told}");
        assert!(!told.contains(secret), "{told}");
        assert!(!error.public_message().contains("127.0.0.1"), "{told}");
    }
    // Errors of the server, raised by their codes.
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
    let error = store.add_job_with_batches(&nul).await.unwrap_err();
    assert!(matches!(error, Error::Input(_)), "{error}");
    assert!(error.to_string().contains("NUL"), "{error}");
    assert_eq!(store.list_jobs().await.unwrap(), []);
    assert!(!format!("{store:?}").contains(secret));
}
