//! The choice of database: an SQLite file in the data folder, or a PostgreSQL server.
//!
//! The rest of `store` uses the same SQL for both, with the driver of sqlx for any database.
//! Differences are in `sqlite.rs` and `postgres.rs` and are selected here.

use std::env::{self, VarError};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use shared::error::Error as InputError;
use sqlx::AnyConnection;
use sqlx::any::AnyConnectOptions;
use sqlx::migrate::Migrator;

use crate::error::{DatabaseDisplayName, Error};
use crate::remedy;
use crate::store::postgres::{PostgresAddress, VARIABLE};
use crate::store::{DataFolder, postgres, sqlite, write_atomically};

/// Which database is used: an SQLite file or a PostgreSQL server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DatabaseConfig {
    /// The path of an SQLite file.
    Sqlite(PathBuf),
    /// The address of a PostgreSQL database.
    Postgres(PostgresAddress),
}

impl DatabaseConfig {
    /// Returns the database in the environment variable `DATABASE_URL`, or else the file in the
    /// data folder. Returns an error if that folder was used with a PostgreSQL server, since a
    /// command without its address would begin with an empty database.
    pub(crate) fn from_environment(folder: &DataFolder) -> Result<DatabaseConfig, Error> {
        match env::var(VARIABLE) {
            Ok(url) if !url.is_empty() => Ok(DatabaseConfig::Postgres(url.parse()?)),
            Ok(_) | Err(VarError::NotPresent) => {
                let path = folder.database_server_path();
                match std::fs::read_to_string(&path) {
                    Ok(server) => Err(Error::DatabaseAddressMissing {
                        path,
                        server: server.trim_end().to_owned(),
                    }),
                    Err(error) if error.kind() == ErrorKind::NotFound => {
                        Ok(DatabaseConfig::Sqlite(folder.database_path()))
                    }
                    Err(error) => Err(Error::io_error_converter(
                        &path,
                        "check the permissions of the file",
                    )(error)),
                }
            }
            Err(VarError::NotUnicode(_)) => {
                let reason = "is not UTF-8; other characters are written as %XX";
                Err(InputError::malformed_value(VARIABLE, reason).into())
            }
        }
    }

    /// Notes in the data folder that its rows are on a PostgreSQL server; nothing for SQLite.
    pub(super) fn note_server(&self, folder: &DataFolder) -> Result<(), Error> {
        let DatabaseConfig::Postgres(address) = self else {
            return Ok(());
        };
        let path = folder.database_server_path();
        let server = format!("{}\n", address.display_name());
        if std::fs::read_to_string(&path).is_ok_and(|noted| noted == server) {
            return Ok(());
        }
        write_atomically(&path, remedy::ANOTHER_DATA_FOLDER, |mut file| {
            file.write_all(server.as_bytes())
        })
    }

    /// Returns the name of the database in messages.
    pub(super) fn display_name(&self) -> DatabaseDisplayName {
        match self {
            DatabaseConfig::Sqlite(file) => DatabaseDisplayName::File(file.clone()),
            DatabaseConfig::Postgres(address) => address.display_name(),
        }
    }

    /// Returns the connection options for sqlx.
    pub(super) fn connection_options(&self) -> Result<AnyConnectOptions, Error> {
        match self {
            DatabaseConfig::Sqlite(file) => sqlite::sqlite_connection_options(file),
            DatabaseConfig::Postgres(address) => address.connection_options(),
        }
        .map_err(|it| self.convert_sqlx_error(it))
    }

    /// Opens one connection. Unlike a connection pool, reports errors at once.
    pub(super) async fn open_connection(&self) -> Result<AnyConnection, Error> {
        let options = self.connection_options()?;
        match self {
            DatabaseConfig::Sqlite(_) => {
                let connection = sqlite::open_sqlite_connection(&options).await;
                connection.map_err(|it| self.convert_sqlx_error(it))
            }
            DatabaseConfig::Postgres(address) => {
                postgres::open_postgres_connection(address, &options).await
            }
        }
    }

    /// Applies the settings of the database to a new connection.
    pub(super) async fn configure_connection(
        &self,
        connection: &mut AnyConnection,
    ) -> sqlx::Result<()> {
        match self {
            DatabaseConfig::Sqlite(_) => sqlite::configure_sqlite_connection(connection).await,
            DatabaseConfig::Postgres(_) => Ok(()),
        }
    }

    /// Returns the migrations. The same number means the same tables in both databases.
    pub(super) fn migrations(&self) -> &'static Migrator {
        match self {
            DatabaseConfig::Sqlite(_) => &sqlite::MIGRATIONS,
            DatabaseConfig::Postgres(_) => &postgres::MIGRATIONS,
        }
    }

    /// Returns the number of the last migration.
    pub(super) fn latest_schema_version(&self) -> i64 {
        let versions = self.migrations().iter().map(|it| it.version);
        versions.max().unwrap_or(0)
    }

    /// Returns the SQL that begins a transaction with writes.
    pub(super) fn begin_write_sql(&self) -> &'static str {
        match self {
            DatabaseConfig::Sqlite(_) => sqlite::BEGIN,
            DatabaseConfig::Postgres(_) => postgres::BEGIN,
        }
    }

    /// Returns the SQL that begins a transaction that reads a snapshot.
    pub(super) fn begin_snapshot_sql(&self) -> &'static str {
        match self {
            DatabaseConfig::Sqlite(_) => sqlite::SNAPSHOT,
            DatabaseConfig::Postgres(_) => postgres::SNAPSHOT,
        }
    }

    /// Returns the SQL of the present time of the database, in milliseconds since 1970.
    pub(super) fn unix_time_ms_sql(&self) -> &'static str {
        match self {
            DatabaseConfig::Sqlite(_) => sqlite::UNIX_TIME_MS,
            DatabaseConfig::Postgres(_) => postgres::UNIX_TIME_MS,
        }
    }

    /// Converts an error of sqlx, with advice where possible.
    pub(super) fn convert_sqlx_error(&self, source: sqlx::Error) -> Error {
        match self {
            DatabaseConfig::Sqlite(file) => sqlite::convert_sqlite_error(file, source),
            DatabaseConfig::Postgres(address) => postgres::convert_postgres_error(address, source),
        }
    }
}
