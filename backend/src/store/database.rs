//! Which database: a file of SQLite in the data folder, or a server of PostgreSQL.
//!
//! The rest of `store` speaks to both in the same words of SQL, by sqlx's driver for any
//! database. What is one's own stands in `sqlite.rs` and `postgres.rs`, and is chosen here.

use std::env::{self, VarError};
use std::path::PathBuf;

use shared::error::Error as InputError;
use sqlx::AnyConnection;
use sqlx::any::AnyConnectOptions;
use sqlx::migrate::Migrator;

use crate::error::{DatabaseName, Error};
use crate::store::postgres::{PostgresAddress, VARIABLE};
use crate::store::{DataFolder, postgres, sqlite};

/// Which database is used: a SQLite file or a PostgreSQL server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DatabaseConfig {
    /// A file.
    Sqlite(PathBuf),
    /// A server.
    Postgres(PostgresAddress),
}

impl DatabaseConfig {
    /// The one that the environment names, else the file of the data folder.
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

    /// The address in the words of sqlx.
    pub(super) fn options(&self) -> Result<AnyConnectOptions, Error> {
        match self {
            DatabaseConfig::Sqlite(file) => sqlite::options(file),
            DatabaseConfig::Postgres(address) => address.options(),
        }
        .map_err(|it| self.error(it))
    }

    /// One connection, and at once what is wrong if there is none.
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

    /// Tells a new connection how it is to work.
    pub(super) async fn set_up(&self, connection: &mut AnyConnection) -> sqlx::Result<()> {
        match self {
            DatabaseConfig::Sqlite(_) => sqlite::set_up(connection).await,
            DatabaseConfig::Postgres(_) => Ok(()),
        }
    }

    /// The tables, step by step; the same number stands for the same tables in both.
    pub(super) fn migrations(&self) -> &'static Migrator {
        match self {
            DatabaseConfig::Sqlite(_) => &sqlite::MIGRATIONS,
            DatabaseConfig::Postgres(_) => &postgres::MIGRATIONS,
        }
    }

    /// The number of the last migration.
    pub(super) fn latest_layout(&self) -> i64 {
        let versions = self.migrations().iter().map(|it| it.version);
        versions.max().unwrap_or(0)
    }

    /// Begins a transaction that writes.
    pub(super) fn begin(&self) -> &'static str {
        match self {
            DatabaseConfig::Sqlite(_) => sqlite::BEGIN,
            DatabaseConfig::Postgres(_) => postgres::BEGIN,
        }
    }

    /// Begins a transaction that reads what is there at one moment, whatever is written meanwhile.
    pub(super) fn snapshot(&self) -> &'static str {
        match self {
            DatabaseConfig::Sqlite(_) => sqlite::SNAPSHOT,
            DatabaseConfig::Postgres(_) => postgres::SNAPSHOT,
        }
    }

    /// What a failure means for a person.
    pub(super) fn error(&self, source: sqlx::Error) -> Error {
        match self {
            DatabaseConfig::Sqlite(file) => sqlite::error(file, source),
            DatabaseConfig::Postgres(address) => postgres::error(address, source),
        }
    }
}
