//! What lasts: the data folder and its database.
//!
//! ```text
//! axioscope.db        studies, jobs, rankers, people, reviews, what the score store holds, unless
//!                     a server of PostgreSQL has them
//! collections/NAME/   imported collections
//! studies/NAME/       what a study holds
//! scores/RANKER/      score store: columns of query hash, text hash, score
//! drafts/             what services have scored for commands that did not end
//! ```
//!
//! Files come first and appear whole (written beside, then renamed), rows come second in one
//! transaction. So a row never names a file that is not there. What a process that was killed has
//! left half-written is removed when the folder is next opened by one alone.

/// A row whose columns have the names of its fields. `derive(FromRow)` does the same, but has sqlx
/// and SQLite compiled a second time, for the compiler.
macro_rules! row {
    ($(#[$about:meta])* struct $row:ident { $($column:ident: $value:ty,)* }) => {
        $(#[$about])*
        struct $row {
            $($column: $value,)*
        }

        impl<'r> sqlx::FromRow<'r, sqlx::any::AnyRow> for $row {
            fn from_row(row: &'r sqlx::any::AnyRow) -> sqlx::Result<Self> {
                Ok($row { $($column: sqlx::Row::try_get(row, stringify!($column))?,)* })
            }
        }
    };
}

/// The migrations of a database, in order: files named by four digits and what they are about.
macro_rules! migrator {
    ($folder:literal: $($file:literal)*) => {
        sqlx::migrate::Migrator::with_migrations(vec![$(
            $crate::store::migration(
                $file,
                include_str!(concat!("../../migrations/", $folder, "/", $file, ".sql")),
            )
        ),*])
    };
}

mod sqlite;
mod postgres;
pub(crate) mod database;
pub(crate) mod checksum;
pub(crate) mod cleanup;
mod parquet_columns;
pub(crate) mod instances;
pub(crate) mod dataset;
pub(crate) mod studies;
pub(crate) mod scores;
pub(crate) mod partial_scores;
pub(crate) mod jobs;
pub(crate) mod secret_token;
pub(crate) mod operator;
pub(crate) mod people;
pub(crate) mod annotation_tasks;
pub(crate) mod backup;

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use shared::study::validate_study_name;
use sqlx::any::{Any, AnyPoolOptions};
use sqlx::migrate::{MigrateError, Migration, MigrationType};
use sqlx::{AnyPool, Connection, SqlSafeStr, Transaction};

use crate::error::Error;
use crate::store::postgres::JobsAdvisoryLock;

pub(crate) use database::DatabaseConfig;

/// Connections that are open at once, at most.
const CONNECTIONS: u32 = 4;

/// The migration of a file `0001_start.sql`.
fn migration(name: &str, sql: &'static str) -> Migration {
    let (version, about) = name.split_once('_').expect("a number and a word");
    let version = version.parse().expect("a number");
    let about = about.replace('_', " ").into();
    Migration::new(
        version,
        about,
        MigrationType::Simple,
        sql.into_sql_str(),
        false,
    )
}

/// The data folder: collections, studies, scores and the database file.
#[derive(Debug, Clone)]
pub(crate) struct DataFolder {
    root: PathBuf,
    /// Locked as long as something may be half-written here; none in a folder that is not open.
    _in_use: Option<Arc<File>>,
}

impl DataFolder {
    /// One that may not be there.
    pub(crate) fn at(root: impl Into<PathBuf>) -> DataFolder {
        DataFolder {
            root: root.into(),
            _in_use: None,
        }
    }

    /// Opens the folder; makes it with its parts where they are missing, and removes what
    /// processes that were killed have left half-written.
    pub(crate) fn open(root: impl Into<PathBuf>) -> Result<DataFolder, Error> {
        let mut folder = DataFolder::at(root);
        for part in ["collections", "studies", "scores"] {
            let path = folder.root.join(part);
            fs::create_dir_all(&path).map_err(Error::file(
                &path,
                "the data folder must be one that can be written; take another by `--data`",
            ))?;
        }
        folder._in_use = cleanup::clean_up(&folder.root).map(Arc::new);
        Ok(folder)
    }

    /// Where the database lies if no server has it.
    pub(crate) fn database(&self) -> PathBuf {
        self.root.join("axioscope.db")
    }

    /// The folder of an imported collection.
    pub(crate) fn collection(&self, name: &str) -> Result<PathBuf, Error> {
        validate_study_name(name)?;
        Ok(self.root.join("collections").join(name))
    }

    /// The folder of a study.
    pub(crate) fn study(&self, name: &str) -> Result<PathBuf, Error> {
        validate_study_name(name)?;
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
    pub(crate) fn partial_scores(&self) -> Result<PathBuf, Error> {
        let path = self.root.join("drafts");
        let way_out = "the data folder must be one that can be written";
        fs::create_dir_all(&path).map_err(Error::file(&path, way_out))?;
        Ok(path)
    }

    /// A file of the score store.
    pub(crate) fn scores(&self, fingerprint: &str, name: &str) -> Result<PathBuf, Error> {
        validate_study_name(fingerprint)?;
        validate_study_name(name)?;
        Ok(self
            .root
            .join("scores")
            .join(fingerprint)
            .join(format!("{name}.parquet")))
    }

    /// Keeps other processes that work from this folder, until the lock is dropped or the process
    /// ends, however it ends: so whoever gets it may take up what another left.
    pub(crate) fn lock(&self) -> Result<DataFolderLock, Error> {
        let path = self.root.join("axioscope.lock");
        let way_out = "the data folder must be one that can be written";
        let file = File::create(&path).map_err(Error::file(&path, way_out))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::DataFolderInUse {
                    path: self.root.clone(),
                });
            }
            Err(TryLockError::Error(error)) => {
                tracing::warn!("{}: {error}: start no second server here", path.display());
            }
        }
        Ok(DataFolderLock { _file: file })
    }
}

/// Writes a file beside its place and moves it there, so that it appears whole or not at all.
/// What is there and no file, as a pipe, is written as it comes.
pub(crate) fn write_atomically<E>(
    path: &Path,
    way_out: &'static str,
    write: impl FnOnce(&File) -> Result<(), E>,
) -> Result<(), Error>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    // As any other new file.
    write_with_mode(path, 0o666, way_out, write)
}

/// The mode of a file that its owner alone reads and writes.
pub(crate) const OWNER_ALONE: u32 = 0o600;

/// Writes a file as [`write_atomically`] does, with a mode of Unix.
pub(crate) fn write_with_mode<E>(
    path: &Path,
    #[cfg_attr(not(unix), expect(unused_variables))] mode: u32,
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
    #[cfg(unix)]
    beside.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    let file = beside.tempfile_in(folder).map_err(failed())?;
    write(file.as_file()).map_err(|it| failed()(io::Error::other(it)))?;
    file.as_file().sync_all().map_err(failed())?;
    file.persist(path).map_err(|it| failed()(it.error))?;
    Ok(())
}

/// A data folder that no other process works in.
pub(crate) struct DataFolderLock {
    _file: File,
}

/// The right to work on the jobs of a data folder and of a database.
pub(crate) struct JobsLock {
    _folder: DataFolderLock,
    /// The file of SQLite lies in the folder; a server may have several folders.
    session: Option<JobsAdvisoryLock>,
}

impl JobsLock {
    /// Makes sure that nobody else may work on the jobs; to be asked again and again.
    pub(crate) async fn renew(&mut self) -> Result<(), Error> {
        match &mut self.session {
            Some(session) => session.renew().await,
            None => Ok(()),
        }
    }
}

/// The database of a data folder.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    pool: AnyPool,
    database: DatabaseConfig,
}

impl Store {
    /// Opens the database, makes a file that is not there, and brings it to the layout of this
    /// version. One of a later version is left as it is.
    pub(crate) async fn open(database: &DatabaseConfig) -> Result<Store, Error> {
        if let DatabaseConfig::Sqlite(file) = database {
            match file.exists() {
                true => sqlite::check(file)?,
                false => Store::make(file).await?,
            }
        }
        let store = Store::connect(database).await?;
        store.migrate(database.latest_layout()).await?;
        Ok(store)
    }

    /// Makes the file of a new database. It appears with its tables or not at all, so that a file
    /// with nothing in it is one that has lost them.
    async fn make(file: &Path) -> Result<(), Error> {
        const WAY_OUT: &str = "make room, or take another data folder by `--data`";

        let folder = file.parent().unwrap_or(Path::new("."));
        let scratch = cleanup::temporary_folder(folder, cleanup::NEW);
        let scratch = scratch.map_err(Error::file(folder, WAY_OUT))?;
        let beside = scratch.path().join("axioscope.db");
        let store = Store {
            // Errors name the place that it is for.
            database: DatabaseConfig::Sqlite(file.to_owned()),
            ..Store::connect(&DatabaseConfig::Sqlite(beside.clone())).await?
        };
        let made = store.migrate(store.database.latest_layout()).await;
        store.close().await;
        made?;
        sqlite::make_private(&beside);
        let beside = tempfile::TempPath::try_from_path(beside);
        let beside = beside.map_err(Error::file(file, WAY_OUT))?;
        match beside.persist_noclobber(file) {
            // Another process was faster.
            Err(it) if it.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(it) => Err(Error::file(file, WAY_OUT)(it.error)),
            Ok(()) => Ok(()),
        }
    }

    /// Opens the database, whatever its layout.
    async fn connect(database: &DatabaseConfig) -> Result<Store, Error> {
        sqlx::any::install_default_drivers();
        // A pool tries for half a minute before it says that it was in vain.
        let first = database.connect().await?;
        first.close().await.map_err(|it| database.error(it))?;
        let set_up = database.clone();
        let pool = AnyPoolOptions::new()
            .max_connections(CONNECTIONS)
            .after_connect(move |connection, _| {
                let database = set_up.clone();
                Box::pin(async move { database.set_up(connection).await })
            })
            // On a full disk SQLite ends a transaction by itself, sqlx cannot end it once more
            // and takes the connection for one inside of a transaction from then on.
            .before_acquire(|it, _| Box::pin(async move { Ok(!it.is_in_transaction()) }))
            .connect_lazy_with(database.options()?);
        Ok(Store {
            pool,
            database: database.clone(),
        })
    }

    /// Brings the database to a layout, forward only.
    async fn migrate(&self, layout: i64) -> Result<(), Error> {
        let at = &self.database;
        let known = at.latest_layout();
        let newer = |found| Error::DatabaseTooNew {
            at: at.name(),
            found,
            known,
        };
        let found = match at {
            DatabaseConfig::Sqlite(_) => sqlite::layout(&self.pool).await,
            DatabaseConfig::Postgres(_) => Ok(0),
        };
        let found = found.map_err(|it| self.failed(it))?;
        if found > known {
            return Err(newer(found));
        }
        let migrated = at.migrations().run_to(layout, &self.pool).await;
        migrated.map_err(|error| match error {
            MigrateError::VersionMissing(found) => newer(found),
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => {
                self.failed(error)
            }
            source => Error::Migration {
                at: at.name(),
                source,
            },
        })?;
        match at {
            DatabaseConfig::Sqlite(_) if found < layout => {
                let set = sqlite::set_layout(&self.pool, layout).await;
                set.map_err(|it| self.failed(it))
            }
            DatabaseConfig::Sqlite(_) | DatabaseConfig::Postgres(_) => Ok(()),
        }
    }

    /// Takes the jobs for this process, beside a data folder that is its own.
    pub(crate) async fn lock_jobs(&self, folder: DataFolderLock) -> Result<JobsLock, Error> {
        let session = match &self.database {
            DatabaseConfig::Sqlite(_) => None,
            DatabaseConfig::Postgres(address) => Some(JobsAdvisoryLock::acquire(address).await?),
        };
        Ok(JobsLock {
            _folder: folder,
            session,
        })
    }

    /// Checks that the database answers a query; returns an error if it does not.
    pub(crate) async fn is_reachable(&self) -> Result<(), Error> {
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

    /// A transaction that writes.
    async fn begin(&self) -> Result<Transaction<'static, Any>, Error> {
        let begun = self.pool.begin_with(self.database.begin()).await;
        begun.map_err(|it| self.failed(it))
    }

    fn failed(&self, error: sqlx::Error) -> Error {
        self.database.error(error)
    }
}

/// Places of values in SQL, `($1, $2), ($3, $4)` for two rows of two columns. sqlx's builder of
/// queries for any database writes `?`, which PostgreSQL does not know.
fn places(n_rows: usize, n_columns: usize) -> String {
    let row = |row: usize| {
        let places = (1..=n_columns).map(|it| format!("${}", row * n_columns + it));
        format!("({})", places.collect::<Vec<_>>().join(", "))
    };
    (0..n_rows).map(row).collect::<Vec<_>>().join(", ")
}

/// Whether a name can be one of a row. PostgreSQL does not even look for one with NUL.
fn may_be_stored(name: &str) -> bool {
    !name.contains('\0')
}

#[cfg(test)]
pub(crate) mod tests;
