//! The choice of database: an SQLite file in the data folder, or a PostgreSQL server.
//!
//! The rest of `store` uses the same SQL for both, with the driver of sqlx for any database.
//! Differences are in `sqlite.rs` and `postgres.rs` and are selected here.

use std::env::{self, VarError};
use std::path::PathBuf;

use shared::error::Error as InputError;
use sqlx::AnyConnection;
use sqlx::any::AnyConnectOptions;
use sqlx::migrate::Migrator;

use crate::error::{DatabaseName, Error};
use crate::store::postgres::{PostgresAddress, VARIABLE};
use crate::store::{DataFolder, postgres, sqlite};

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
    /// data folder.
    pub(crate) fn from_environment(folder: &DataFolder) -> Result<DatabaseConfig, Error> {
        match env::var(VARIABLE) {
            Ok(url) if !url.is_empty() => Ok(DatabaseConfig::Postgres(url.parse()?)),
            Ok(_) | Err(VarError::NotPresent) => Ok(DatabaseConfig::Sqlite(folder.database())),
            Err(VarError::NotUnicode(_)) => {
                let reason = "is not UTF-8; other characters are written as %XX";
                Err(InputError::malformed(VARIABLE, reason).into())
            }
        }
    }

    /// Returns the name of the database in messages.
    pub(super) fn name(&self) -> DatabaseName {
        match self {
            DatabaseConfig::Sqlite(file) => DatabaseName::File(file.clone()),
            DatabaseConfig::Postgres(address) => address.name(),
        }
    }

    /// Returns the connection options for sqlx.
    pub(super) fn options(&self) -> Result<AnyConnectOptions, Error> {
        match self {
            DatabaseConfig::Sqlite(file) => sqlite::options(file),
            DatabaseConfig::Postgres(address) => address.options(),
        }
        .map_err(|it| self.error(it))
    }

    /// Opens one connection. Unlike a connection pool, reports errors at once.
    pub(super) async fn connect(&self) -> Result<AnyConnection, Error> {
        let options = self.options()?;
        match self {
            DatabaseConfig::Sqlite(_) => {
                let connection = sqlite::connect(&options).await;
                connection.map_err(|it| self.error(it))
            }
            DatabaseConfig::Postgres(address) => postgres::connect(address, &options).await,
        }
    }

    /// Applies the settings of the database to a new connection.
    pub(super) async fn set_up(&self, connection: &mut AnyConnection) -> sqlx::Result<()> {
        match self {
            DatabaseConfig::Sqlite(_) => sqlite::set_up(connection).await,
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
    pub(super) fn latest_layout(&self) -> i64 {
        let versions = self.migrations().iter().map(|it| it.version);
        versions.max().unwrap_or(0)
    }

    /// Returns the SQL that begins a transaction with writes.
    pub(super) fn begin(&self) -> &'static str {
        match self {
            DatabaseConfig::Sqlite(_) => sqlite::BEGIN,
            DatabaseConfig::Postgres(_) => postgres::BEGIN,
        }
    }

    /// Returns the SQL that begins a transaction that reads a snapshot.
    pub(super) fn snapshot(&self) -> &'static str {
        match self {
            DatabaseConfig::Sqlite(_) => sqlite::SNAPSHOT,
            DatabaseConfig::Postgres(_) => postgres::SNAPSHOT,
        }
    }

    /// Converts an error of sqlx, with advice where possible.
    pub(super) fn error(&self, source: sqlx::Error) -> Error {
        match self {
            DatabaseConfig::Sqlite(file) => sqlite::error(file, source),
            DatabaseConfig::Postgres(address) => postgres::error(address, source),
        }
    }
}
