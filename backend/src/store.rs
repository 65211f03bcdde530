//! What lasts: the data folder and its database.
//!
//! ```text
//! axioscope.db        studies, jobs, rankers, what the score store holds
//! collections/NAME/   imported collections
//! studies/NAME/       what a study holds
//! scores/RANKER/      score store: columns of query hash, text hash, score
//! drafts/             what services have scored for commands that did not end
//! ```
//!
//! Files come first and appear whole (written beside, then renamed), rows come second in one
//! transaction. So a row never names a file that is not there.

pub(crate) mod columns;
pub(crate) mod instances;
pub(crate) mod dataset;
pub(crate) mod studies;
pub(crate) mod scores;
pub(crate) mod draft;
pub(crate) mod jobs;
pub(crate) mod operator;

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use shared::study::check_name;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
    SqliteTransaction,
};
use sqlx::{Connection, SqlitePool};

use crate::error::Error;

static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

/// Where everything lies.
#[derive(Debug, Clone)]
pub(crate) struct DataFolder {
    root: PathBuf,
}

impl DataFolder {
    /// Opens the folder; makes it with its parts where they are missing.
    pub(crate) fn open(root: impl Into<PathBuf>) -> Result<DataFolder, Error> {
        let folder = DataFolder { root: root.into() };
        for part in ["collections", "studies", "scores"] {
            let path = folder.root.join(part);
            fs::create_dir_all(&path).map_err(Error::file(
                &path,
                "the data folder must be one that can be written; take another by `--data`",
            ))?;
        }
        Ok(folder)
    }

    /// The database.
    pub(crate) fn database(&self) -> PathBuf {
        self.root.join("axioscope.db")
    }

    /// The folder of an imported collection.
    pub(crate) fn collection(&self, name: &str) -> Result<PathBuf, Error> {
        check_name(name)?;
        Ok(self.root.join("collections").join(name))
    }

    /// The folder of a study.
    pub(crate) fn study(&self, name: &str) -> Result<PathBuf, Error> {
        check_name(name)?;
        Ok(self.root.join("studies").join(name))
    }

    /// Where files of the demo collection lie that a study names.
    pub(crate) fn demo(&self) -> Result<PathBuf, Error> {
        let path = self.root.join("demo");
        let way_out = "the data folder must be one that can be written";
        fs::create_dir_all(&path).map_err(Error::file(&path, way_out))?;
        Ok(path)
    }

    /// Where the scores of services lie until the command that asked for them has ended.
    pub(crate) fn drafts(&self) -> Result<PathBuf, Error> {
        let path = self.root.join("drafts");
        let way_out = "the data folder must be one that can be written";
        fs::create_dir_all(&path).map_err(Error::file(&path, way_out))?;
        Ok(path)
    }

    /// A file of the score store.
    pub(crate) fn scores(&self, fingerprint: &str, name: &str) -> Result<PathBuf, Error> {
        check_name(fingerprint)?;
        check_name(name)?;
        Ok(self
            .root
            .join("scores")
            .join(fingerprint)
            .join(format!("{name}.parquet")))
    }

    /// Takes the jobs of this folder for this process, until the lock is dropped or the
    /// process ends, however it ends: so whoever gets it may take up what another left.
    pub(crate) fn lock(&self) -> Result<Lock, Error> {
        let path = self.root.join("axioscope.lock");
        let way_out = "the data folder must be one that can be written";
        let file = File::create(&path).map_err(Error::file(&path, way_out))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::InUse {
                    path: self.root.clone(),
                });
            }
            Err(TryLockError::Error(error)) => {
                tracing::warn!("{}: {error}: start no second server here", path.display());
            }
        }
        Ok(Lock { _file: file })
    }
}

/// Writes a file beside its place and moves it there, so that it appears whole or not at all.
/// What is there and no file, as a pipe, is written as it comes.
pub(crate) fn write_whole<E>(
    path: &Path,
    way_out: &'static str,
    write: impl FnOnce(&File) -> Result<(), E>,
) -> Result<(), Error>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let failed = || Error::file(path, way_out);
    if fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir()) {
        let pipe = File::create(path).map_err(failed())?;
        return write(&pipe).map_err(|it| failed()(io::Error::other(it)));
    }
    let folder = match path.parent() {
        Some(it) if !it.as_os_str().is_empty() => it,
        _ => Path::new("."),
    };
    let mut beside = tempfile::Builder::new();
    // As any other new file, where a temporary one is for its owner alone.
    #[cfg(unix)]
    beside.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = beside.tempfile_in(folder).map_err(failed())?;
    write(file.as_file()).map_err(|it| failed()(io::Error::other(it)))?;
    file.as_file().sync_all().map_err(failed())?;
    file.persist(path).map_err(|it| failed()(it.error))?;
    Ok(())
}

/// The right to work on the jobs of a data folder.
pub(crate) struct Lock {
    _file: File,
}

/// The database of a data folder.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    pool: SqlitePool,
    file: PathBuf,
}

impl Store {
    /// Opens the database, makes it if it is not there, and brings it to the layout of this
    /// version. One of a later version is left as it is.
    pub(crate) async fn open(folder: &DataFolder) -> Result<Store, Error> {
        Store::open_with(&folder.database(), SqliteConnectOptions::new()).await
    }

    async fn open_with(file: &Path, options: SqliteConnectOptions) -> Result<Store, Error> {
        let options = options
            .filename(file)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(10));
        let failed = |error| database_error(file, error);
        let pool = SqlitePoolOptions::new()
            .max_connections(4)
            // On a full disk SQLite ends a transaction by itself, sqlx cannot end it once more
            // and takes the connection for one inside of a transaction from then on.
            .before_acquire(|it, _| Box::pin(async move { Ok(!it.is_in_transaction()) }))
            .connect_with(options)
            .await
            .map_err(failed)?;

        let known = MIGRATIONS.iter().map(|it| it.version).max().unwrap_or(0);
        let newer = |found| Error::Newer {
            file: file.to_owned(),
            found,
            known,
        };
        let found: i64 = sqlx::query_scalar("PRAGMA user_version")
            .fetch_one(&pool)
            .await
            .map_err(failed)?;
        if found > known {
            return Err(newer(found));
        }
        MIGRATIONS.run(&pool).await.map_err(|error| match error {
            MigrateError::VersionMissing(found) => newer(found),
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => {
                failed(error)
            }
            source => Error::Migration {
                file: file.to_owned(),
                source,
            },
        })?;
        if found < known {
            // A PRAGMA takes no parameters; the version is a number of ours.
            let set = sqlx::AssertSqlSafe(format!("PRAGMA user_version = {known}"));
            sqlx::query(set).execute(&pool).await.map_err(failed)?;
        }
        Ok(Store {
            pool,
            file: file.to_owned(),
        })
    }

    /// Whether the database answers.
    pub(crate) async fn answers(&self) -> Result<(), Error> {
        sqlx::query("SELECT 1 FROM studies LIMIT 1")
            .fetch_optional(&self.pool)
            .await
            .map_err(|it| self.failed(it))?;
        Ok(())
    }

    /// Writes out and closes; to be called once at the end.
    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }

    /// A transaction that holds the right to write from its beginning, so that it cannot be
    /// refused in its middle.
    async fn begin(&self) -> Result<SqliteTransaction<'static>, Error> {
        self.pool
            .begin_with("BEGIN IMMEDIATE")
            .await
            .map_err(|it| self.failed(it))
    }

    fn failed(&self, error: sqlx::Error) -> Error {
        database_error(&self.file, error)
    }
}

/// Result codes of SQLite that a person can do something about (sqlite.org/rescode.html).
fn database_error(file: &Path, source: sqlx::Error) -> Error {
    const READONLY: u32 = 8;
    const FULL: u32 = 13;
    const CANTOPEN: u32 = 14;
    const CORRUPT: u32 = 11;
    const NOTADB: u32 = 26;

    let file = file.to_owned();
    let code = match &source {
        sqlx::Error::Database(error) => error.code().and_then(|it| it.parse::<u32>().ok()),
        _ => None,
    };
    match code.map(|it| it & 0xff) {
        Some(FULL) => Error::DiskFull { file },
        Some(READONLY | CANTOPEN) => Error::ReadOnly { file },
        Some(CORRUPT | NOTADB) => Error::Damaged {
            what: file.display().to_string(),
            reason: "it is no database; restore it from a copy, or take another folder by \
                     `--data`"
                .to_owned(),
        },
        _ => Error::Database { file, source },
    }
}

#[cfg(test)]
mod tests;
