//! Tests of the data folder and the database.

mod folder;
mod opening;
mod layout;
mod job_rows;
mod cluster_rows;

use shared::score::{RankerInfo, RankerKind};

use ::tests::postgres;

use super::*;
use crate::store::jobs::NewScoringJob;

fn ranker() -> RankerInfo {
    RankerInfo {
        spec: "tiny:bi".to_owned(),
        label: "Tiny".to_owned(),
        detail: String::new(),
        kind: RankerKind::Neural,
        fingerprint: "f".repeat(64),
        note: None,
    }
}

pub(crate) fn job(n_texts: u32) -> NewScoringJob {
    NewScoringJob {
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

/// A data folder with its own database.
pub(crate) struct TestFolder {
    pub folder: DataFolder,
    pub database: DatabaseConfig,
    /// The database on the server, which is dropped with the test.
    pub server: Option<postgres::TestDatabase>,
    _home: tempfile::TempDir,
}

impl TestFolder {
    pub(crate) fn sqlite() -> TestFolder {
        let home = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(home.path().join("data")).unwrap();
        TestFolder {
            database: DatabaseConfig::Sqlite(folder.database_path()),
            folder,
            server: None,
            _home: home,
        }
    }

    /// Returns a folder with a PostgreSQL database; `None` if there is no server.
    pub(crate) fn postgres() -> Option<TestFolder> {
        postgres::TestDatabase::new().map(|it| TestFolder {
            database: DatabaseConfig::Postgres(it.url.parse().unwrap()),
            server: Some(it),
            ..TestFolder::sqlite()
        })
    }

    /// Returns one folder for each kind of database that is available.
    pub(crate) fn each() -> impl Iterator<Item = TestFolder> {
        [Some(TestFolder::sqlite()), TestFolder::postgres()]
            .into_iter()
            .flatten()
    }

    pub(crate) async fn store(&self) -> Database {
        Database::open_and_migrate(&self.database).await.unwrap()
    }
}

/// Runs a statement on every connection of the pool.
pub(crate) async fn tell(store: &Database, sql: &'static str) {
    let mut all = Vec::new();
    for _ in 0..CONNECTIONS {
        all.push(store.pool.acquire().await.unwrap());
    }
    for it in &mut all {
        sqlx::query(sql).execute(&mut **it).await.unwrap();
    }
}
