//! Which database: a file of SQLite in the data folder, or a server of PostgreSQL.
//!
//! The rest of `store` speaks to both in the same words of SQL, by sqlx's driver for any
//! database. What is one's own stands in `sqlite.rs` and `postgres.rs`, and is chosen here.

use std::env::{self, VarError};
use std::fmt;
use std::path::PathBuf;

use shared::error::Error as Wrong;
use sqlx::AnyConnection;
use sqlx::any::AnyConnectOptions;
use sqlx::migrate::Migrator;

use crate::error::Error;
use crate::store::postgres::Address;
use crate::store::{DataFolder, postgres, sqlite};

/// The variable of the environment that names a server. There is no flag for it: an address
/// holds a password, and what is typed on a command line is seen by everybody on the machine.
pub(crate) const VARIABLE: &str = "DATABASE_URL";

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
                Err(Wrong::setting(VARIABLE, reason).into())
            }
        }
    }

    /// Its name without the folders and machines that are nobody's business.
    pub(crate) fn public(&self) -> String {
        match self {
            Database::Sqlite(file) => {
                let name = file.file_name().unwrap_or_default();
                name.to_string_lossy().into_owned()
            }
            Database::Postgres(_) => "the database".to_owned(),
        }
    }

    /// What somebody may do who cannot use this one.
    pub(crate) fn another(&self) -> &'static str {
        match self {
            Database::Sqlite(_) => "take another folder by `--data`",
            Database::Postgres(_) => "name another database by `DATABASE_URL`",
        }
    }

    /// What somebody does who cannot write.
    pub(crate) fn rights(&self) -> &'static str {
        match self {
            Database::Sqlite(_) => {
                "check the rights of the file and its folder, or take another folder by `--data`"
            }
            Database::Postgres(_) => {
                "it is a standby or told to be read only; name another by `DATABASE_URL`"
            }
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

impl fmt::Display for Database {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Database::Sqlite(file) => file.display().fmt(out),
            Database::Postgres(address) => address.fmt(out),
        }
    }
}
