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
use crate::store::postgres::{Address, VARIABLE};
use crate::store::{DataFolder, postgres, sqlite};

/// Where rows lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Database {
    /// A file.
    Sqlite(PathBuf),
    /// A server.
    Postgres(Address),
}

impl Database {
    /// The one that the environment names, else the file of the data folder.
    pub(crate) fn chosen(folder: &DataFolder) -> Result<Database, Error> {
        match env::var(VARIABLE) {
            Ok(url) if !url.is_empty() => Ok(Database::Postgres(url.parse()?)),
            Ok(_) | Err(VarError::NotPresent) => Ok(Database::Sqlite(folder.database())),
            Err(VarError::NotUnicode(_)) => {
                let reason = "is not UTF-8; other characters are written as %XX";
                Err(InputError::malformed(VARIABLE, reason).into())
            }
        }
    }

    /// Returns the name of the database in messages.
    pub(super) fn name(&self) -> DatabaseName {
        match self {
            Database::Sqlite(file) => DatabaseName::File(file.clone()),
            Database::Postgres(address) => address.name(),
        }
    }

    /// The address in the words of sqlx.
    pub(super) fn options(&self) -> Result<AnyConnectOptions, Error> {
        match self {
            Database::Sqlite(file) => sqlite::options(file),
            Database::Postgres(address) => address.options(),
        }
        .map_err(|it| self.error(it))
    }

    /// One connection, and at once what is wrong if there is none.
    pub(super) async fn connect(&self) -> Result<AnyConnection, Error> {
        let options = self.options()?;
        match self {
            Database::Sqlite(_) => {
                let connection = sqlite::connect(&options).await;
                connection.map_err(|it| self.error(it))
            }
            Database::Postgres(address) => postgres::connect(address, &options).await,
        }
    }

    /// Tells a new connection how it is to work.
    pub(super) async fn set_up(&self, connection: &mut AnyConnection) -> sqlx::Result<()> {
        match self {
            Database::Sqlite(_) => sqlite::set_up(connection).await,
            Database::Postgres(_) => Ok(()),
        }
    }

    /// The tables, step by step; the same number stands for the same tables in both.
    pub(super) fn migrations(&self) -> &'static Migrator {
        match self {
            Database::Sqlite(_) => &sqlite::MIGRATIONS,
            Database::Postgres(_) => &postgres::MIGRATIONS,
        }
    }

    /// The number of the last migration.
    pub(super) fn known_layout(&self) -> i64 {
        let versions = self.migrations().iter().map(|it| it.version);
        versions.max().unwrap_or(0)
    }

    /// Begins a transaction that writes.
    pub(super) fn begin(&self) -> &'static str {
        match self {
            Database::Sqlite(_) => sqlite::BEGIN,
            Database::Postgres(_) => postgres::BEGIN,
        }
    }

    /// Begins a transaction that reads what is there at one moment, whatever is written meanwhile.
    pub(super) fn snapshot(&self) -> &'static str {
        match self {
            Database::Sqlite(_) => sqlite::SNAPSHOT,
            Database::Postgres(_) => postgres::SNAPSHOT,
        }
    }

    /// What a failure means for a person.
    pub(super) fn error(&self, source: sqlx::Error) -> Error {
        match self {
            Database::Sqlite(file) => sqlite::error(file, source),
            Database::Postgres(address) => postgres::error(address, source),
        }
    }
}
