//! Persistent data: the data folder and the database.
//!
//! ```text
//! axioscope.db        studies, jobs, rankers, people, annotations and the list of score files,
//!                     unless a PostgreSQL server is used
//! database-server.txt names that server, if one is used
//! collections/NAME/   imported collections
//! studies/NAME/       files of a study
//! scores/RANKER/      score store: columns of query hash, text hash, score
//! trainings/NAME/     files of a training that the server runs, and its state
//! drafts/             scores of remote rankers for commands that have not finished
//! ```
//!
//! Files are written first, next to their final place, and then renamed, so that they appear
//! complete or not at all. Database rows follow in one transaction. A row therefore never names a
//! missing file. Incomplete files of killed processes are removed when the folder is next opened by
//! a single process.

/// Defines a row whose columns have the names of its fields. `derive(FromRow)` does the same, but
/// compiles sqlx and SQLite a second time for the compiler.
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

/// Lists the migrations in order, with the files of a database. File names start with a number of
/// four digits.
macro_rules! migrator {
    ($folder:literal) => {
        migrator!(
            $folder: "0001_start" "0002_certificates" "0003_people" "0004_review"
            "0005_operator_session" "0006_leases" "0007_own_data_and_canary"
            "0008_simulated_annotators" "0009_cluster_jobs"
        )
    };
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
pub(crate) mod server_place;
pub(crate) mod checksum;
#[cfg(unix)]
pub(crate) mod file_owner;
pub(crate) mod cleanup;
mod mapped_file;
pub(crate) mod index_columns;
mod parquet_columns;
pub(crate) mod instances;
pub(crate) mod dataset;
pub(crate) mod studies;
pub(crate) mod scores;
pub(crate) mod partial_scores;
pub(crate) mod jobs;
pub(crate) mod cluster_jobs;
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
use sqlx::any::{Any, AnyArguments, AnyPoolOptions, AnyRow};
use sqlx::migrate::{MigrateError, Migration, MigrationType};
use sqlx::query::{Query, QueryAs};
use sqlx::{AnyPool, Connection, FromRow, SqlSafeStr, Transaction};

use crate::error::Error;
use crate::remedy;

pub(crate) use database::DatabaseConfig;

/// Maximum number of database connections.
const CONNECTIONS: u32 = 4;

/// Creates the migration of a file such as `0001_start.sql`.
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
    /// A lock that is held while incomplete files may exist in the folder; `None` if the folder was
    /// not opened.
    _in_use: Option<Arc<File>>,
}

impl DataFolder {
    /// Returns a data folder that may not exist, without opening it.
    pub(crate) fn without_opening(root: impl Into<PathBuf>) -> DataFolder {
        DataFolder {
            root: root.into(),
            _in_use: None,
        }
    }

    /// Opens the folder, creates missing parts, and removes incomplete files of killed processes.
    pub(crate) fn open(root: impl Into<PathBuf>) -> Result<DataFolder, Error> {
        let mut folder = DataFolder::without_opening(root);
        for part in ["collections", "studies", "scores"] {
            let path = folder.root.join(part);
            fs::create_dir_all(&path).map_err(Error::io_error_converter(
                &path,
                "the data folder must be one that can be written; choose another with `--data`",
            ))?;
        }
        folder._in_use = cleanup::clean_and_lock_folder(&folder.root).map(Arc::new);
        Ok(folder)
    }

    /// Returns the path of the SQLite database.
    pub(crate) fn database_path(&self) -> PathBuf {
        self.root.join("axioscope.db")
    }

    /// Returns the path of the file that names the PostgreSQL database in use.
    fn database_server_path(&self) -> PathBuf {
        self.root.join("database-server.txt")
    }

    /// Returns the folder of an imported collection. Returns an error if the name is invalid.
    pub(crate) fn collection_folder(&self, name: &str) -> Result<PathBuf, Error> {
        validate_study_name(name)?;
        Ok(self.root.join("collections").join(name))
    }

    /// Returns the folder of a study. Returns an error if the name is invalid.
    pub(crate) fn study_folder(&self, name: &str) -> Result<PathBuf, Error> {
        validate_study_name(name)?;
        Ok(self.root.join("studies").join(name))
    }

    /// Returns the folder of a training. Returns an error if the name is invalid.
    pub(crate) fn training_folder(&self, name: &str) -> Result<PathBuf, Error> {
        validate_study_name(name)?;
        Ok(self.root.join("trainings").join(name))
    }

    /// Returns the names of the imported collections, in order.
    pub(crate) fn collection_names(&self) -> Result<Vec<String>, Error> {
        self.named_folders("collections")
    }

    /// Returns the names of the folders of trainings, in order.
    pub(crate) fn training_names(&self) -> Result<Vec<String>, Error> {
        self.named_folders("trainings")
    }

    /// Lists the folders with a valid name in a part of the data folder; none if the part does not
    /// exist.
    fn named_folders(&self, part: &str) -> Result<Vec<String>, Error> {
        let path = self.root.join(part);
        let failed = || Error::io_error_converter(&path, "check the permissions of the folder");
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed()(error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed())?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if validate_study_name(&name).is_ok() && entry.path().is_dir() {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// Returns the folder for files of the demo study, and creates it if necessary.
    pub(crate) fn create_demo_files_folder_if_missing(&self) -> Result<PathBuf, Error> {
        let path = self.root.join("demo");
        let way_out = "the data folder must be one that can be written";
        fs::create_dir_all(&path).map_err(Error::io_error_converter(&path, way_out))?;
        Ok(path)
    }

    /// Returns the folder for the partial scores of remote rankers, and creates it if necessary.
    pub(crate) fn ensure_remote_partial_scores_folder(&self) -> Result<PathBuf, Error> {
        let path = self.root.join("drafts");
        let way_out = "the data folder must be one that can be written";
        fs::create_dir_all(&path).map_err(Error::io_error_converter(&path, way_out))?;
        Ok(path)
    }

    /// Returns the path of a file of the score store.
    pub(crate) fn score_file_path(&self, fingerprint: &str, name: &str) -> Result<PathBuf, Error> {
        validate_study_name(fingerprint)?;
        validate_study_name(name)?;
        Ok(self
            .root
            .join("scores")
            .join(fingerprint)
            .join(format!("{name}.parquet")))
    }

    /// Locks the folder for this process until the lock is dropped or the process ends. The process
    /// that gets the lock may take over what another one has left.
    pub(crate) fn lock(&self) -> Result<DataFolderLock, Error> {
        let path = self.root.join("axioscope.lock");
        let way_out = "the data folder must be one that can be written";
        let file = File::create(&path).map_err(Error::io_error_converter(&path, way_out))?;
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

/// Writes a file next to its final place and renames it, so that it appears complete or not at all.
/// An existing path that is not a regular file, such as a pipe, is written directly.
pub(crate) fn write_atomically<E>(
    path: &Path,
    way_out: &'static str,
    write: impl FnOnce(&File) -> Result<(), E>,
) -> Result<(), Error>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    // The mode of other new files.
    write_atomically_with_mode(path, 0o666, way_out, write)
}

/// File mode of files that only their owner may read and write.
pub(crate) const OWNER_ALONE: u32 = 0o600;

/// Same as [`write_atomically`], with a Unix file mode.
pub(crate) fn write_atomically_with_mode<E>(
    path: &Path,
    #[cfg_attr(not(unix), expect(unused_variables))] mode: u32,
    way_out: &'static str,
    write: impl FnOnce(&File) -> Result<(), E>,
) -> Result<(), Error>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let failed = || Error::io_error_converter(path, way_out);
    if fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir()) {
        let pipe = File::create(path).map_err(failed())?;
        return write(&pipe).map_err(|it| failed()(io::Error::other(it)));
    }
    let folder = match path.parent() {
        Some(it) if !it.as_os_str().is_empty() => it,
        _ => Path::new("."),
    };
    // The error of a temporary file would name that file.
    fs::metadata(folder).map_err(failed())?;
    let mut beside = tempfile::Builder::new();
    #[cfg(unix)]
    beside.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    let file = beside.tempfile_in(folder).map_err(failed())?;
    write(file.as_file()).map_err(|it| failed()(io::Error::other(it)))?;
    file.as_file().sync_all().map_err(failed())?;
    file.persist(path).map_err(|it| failed()(it.error))?;
    Ok(())
}

/// The lock of a data folder, held by one process.
pub(crate) struct DataFolderLock {
    _file: File,
}

/// Access to the database of a data folder.
#[derive(Debug, Clone)]
pub(crate) struct Database {
    pool: AnyPool,
    database: DatabaseConfig,
}

impl Database {
    /// Opens the database of a data folder: the one in the environment variable `DATABASE_URL`, or
    /// else the SQLite file in the folder.
    pub(crate) async fn open_for_folder(folder: &DataFolder) -> Result<Database, Error> {
        let database = DatabaseConfig::from_environment(folder)?;
        let store = Database::open_and_migrate(&database).await?;
        database.note_server(folder)?;
        Ok(store)
    }

    /// Opens the database, creates an SQLite file if it does not exist, and applies missing
    /// migrations. Returns an error if a later version has created it.
    pub(crate) async fn open_and_migrate(database: &DatabaseConfig) -> Result<Database, Error> {
        if let DatabaseConfig::Sqlite(file) = database {
            match file.exists() {
                true => sqlite::check_and_protect_database_file(file)?,
                false => Database::make(file).await?,
            }
        }
        let store = Database::connect(database).await?;
        store.migrate(database.latest_schema_version()).await?;
        Ok(store)
    }

    /// Creates the SQLite file of a new database. It appears with its tables or not at all. An
    /// empty file has therefore lost its contents.
    async fn make(file: &Path) -> Result<(), Error> {
        let folder = file.parent().unwrap_or(Path::new("."));
        let scratch = cleanup::create_temporary_folder(folder, cleanup::NEW);
        let scratch = scratch.map_err(Error::io_error_converter(
            folder,
            remedy::ANOTHER_DATA_FOLDER,
        ))?;
        let beside = scratch.path().join("axioscope.db");
        let store = Database {
            // Error messages name the final path.
            database: DatabaseConfig::Sqlite(file.to_owned()),
            ..Database::connect(&DatabaseConfig::Sqlite(beside.clone())).await?
        };
        let made = store.migrate(store.database.latest_schema_version()).await;
        store.close().await;
        made?;
        sqlite::restrict_sqlite_files_to_owner(&beside);
        let beside = tempfile::TempPath::try_from_path(beside);
        let beside =
            beside.map_err(Error::io_error_converter(file, remedy::ANOTHER_DATA_FOLDER))?;
        match beside.persist_noclobber(file) {
            // Another process has created the file in the meantime.
            Err(it) if it.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(it) => Err(Error::io_error_converter(file, remedy::ANOTHER_DATA_FOLDER)(it.error)),
            Ok(()) => Ok(()),
        }
    }

    /// Opens the database without migrating it.
    async fn connect(database: &DatabaseConfig) -> Result<Database, Error> {
        sqlx::any::install_default_drivers();
        // The pool would retry for half a minute before it reports an error.
        let first = database.open_connection().await?;
        first
            .close()
            .await
            .map_err(|it| database.convert_sqlx_error(it))?;
        let set_up = database.clone();
        let pool = AnyPoolOptions::new()
            .max_connections(CONNECTIONS)
            .after_connect(move |connection, _| {
                let database = set_up.clone();
                Box::pin(async move { database.configure_connection(connection).await })
            })
            // On a full disk, SQLite ends a transaction by itself. sqlx cannot end it again and
            // treats the connection as inside a transaction from then on.
            .before_acquire(|it, _| Box::pin(async move { Ok(!it.is_in_transaction()) }))
            .connect_lazy_with(database.connection_options()?);
        Ok(Database {
            pool,
            database: database.clone(),
        })
    }

    /// Migrates the database forward to a layout.
    async fn migrate(&self, layout: i64) -> Result<(), Error> {
        let at = &self.database;
        let known = at.latest_schema_version();
        let newer = |found| Error::DatabaseTooNew {
            at: at.display_name(),
            found,
            known,
        };
        let found = match at {
            DatabaseConfig::Sqlite(_) => sqlite::read_sqlite_user_version(&self.pool).await,
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
                at: at.display_name(),
                source,
            },
        })?;
        match at {
            DatabaseConfig::Sqlite(_) if found < layout => {
                let set = sqlite::write_sqlite_user_version(&self.pool, layout).await;
                set.map_err(|it| self.failed(it))
            }
            DatabaseConfig::Sqlite(_) | DatabaseConfig::Postgres(_) => Ok(()),
        }
    }

    /// Checks that the database answers a query; returns an error if it does not.
    pub(crate) async fn check_connection(&self) -> Result<(), Error> {
        sqlx::query("SELECT 1 FROM studies LIMIT 1")
            .fetch_optional(&self.pool)
            .await
            .map_err(|it| self.failed(it))?;
        Ok(())
    }

    /// Writes pending data and closes the database; called once at the end.
    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }

    /// Begins a transaction that writes.
    async fn begin(&self) -> Result<Transaction<'static, Any>, Error> {
        let begun = self.pool.begin_with(self.database.begin_write_sql()).await;
        begun.map_err(|it| self.failed(it))
    }

    /// Executes a statement outside transactions and returns the number of affected rows.
    async fn execute(&self, statement: Query<'_, Any, AnyArguments>) -> Result<u64, Error> {
        let executed = statement.execute(&self.pool).await;
        executed
            .map(|it| it.rows_affected())
            .map_err(|it| self.failed(it))
    }

    /// Executes a statement in a transaction and returns the number of affected rows.
    async fn execute_in(
        &self,
        transaction: &mut Transaction<'_, Any>,
        statement: Query<'_, Any, AnyArguments>,
    ) -> Result<u64, Error> {
        let executed = statement.execute(&mut **transaction).await;
        executed
            .map(|it| it.rows_affected())
            .map_err(|it| self.failed(it))
    }

    /// Returns the first row of a query, if there is one.
    async fn find_row<R>(
        &self,
        query: QueryAs<'_, Any, R, AnyArguments>,
    ) -> Result<Option<R>, Error>
    where
        R: Send + Unpin + for<'r> FromRow<'r, AnyRow>,
    {
        let row = query.fetch_optional(&self.pool).await;
        row.map_err(|it| self.failed(it))
    }

    fn failed(&self, error: sqlx::Error) -> Error {
        self.database.convert_sqlx_error(error)
    }
}

/// Formats SQL placeholders, for example `($1, $2), ($3, $4)` for two rows of two columns. The
/// query builder of sqlx for any database writes `?`, which PostgreSQL does not support.
fn places(n_rows: usize, n_columns: usize) -> String {
    let row = |row: usize| {
        let places = (1..=n_columns).map(|it| format!("${}", row * n_columns + it));
        format!("({})", places.collect::<Vec<_>>().join(", "))
    };
    (0..n_rows).map(row).collect::<Vec<_>>().join(", ")
}

/// Returns whether a name can occur in the database. PostgreSQL rejects queries with NUL.
fn may_be_stored(name: &str) -> bool {
    !name.contains('\0')
}

#[cfg(test)]
pub(crate) mod tests;
