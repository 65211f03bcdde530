//! What is specific to SQLite: connection settings, the layout in the file, and result codes.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use sqlx::any::AnyConnectOptions;
use sqlx::migrate::Migrator;
use sqlx::{AnyConnection, AnyPool, Connection, Executor};

use crate::error::{DatabaseDisplayName, Error};

pub(super) static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| migrator!("sqlite"));

/// Takes the write lock at the beginning, so that the transaction cannot fail later because of
/// another writer.
/// The present time, in milliseconds since 1970.
pub(super) const UNIX_TIME_MS: &str =
    "CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER)";

pub(super) const BEGIN: &str = "BEGIN IMMEDIATE";

/// In WAL mode a transaction reads the state at its first query.
pub(super) const SNAPSHOT: &str = "BEGIN";

/// `busy_timeout` comes first, since the other settings may have to wait for another process. WAL:
/// readers and the writer do not block each other. FULL: commits survive a loss of power.
const SETTINGS: &str = "PRAGMA busy_timeout = 10000;
                        PRAGMA journal_mode = WAL;
                        PRAGMA synchronous = FULL;
                        PRAGMA foreign_keys = ON";

/// Returns the connection options of a file, which is created if it does not exist. Every byte of
/// the path is percent-encoded, so that none is special.
pub(super) fn sqlite_connection_options(file: &Path) -> sqlx::Result<AnyConnectOptions> {
    let bytes = file.as_os_str().as_encoded_bytes();
    let spelled: String = bytes.iter().map(|it| format!("%{it:02X}")).collect();
    format!("sqlite:{spelled}?mode=rwc").parse()
}

/// Returns an error if the file has lost its contents, and restricts access to its owner: it
/// contains names and the hashes of tokens and passwords.
pub(super) fn check_and_protect_database_file(file: &Path) -> Result<(), Error> {
    let metadata = fs::metadata(file).map_err(Error::io_error_converter(file, RIGHTS))?;
    if metadata.len() == 0 && has_studies(file.parent().unwrap_or(Path::new("."))) {
        return Err(Error::CorruptData {
            what: file.display().to_string(),
            reason: "it is empty, and studies lie beside it that it should list; bring a backup \
                     into another folder by `axioscope restore`, or remove this file and list \
                     each study again by `axioscope study run` with the file `study.toml` of it"
                .to_owned(),
        });
    }
    restrict_sqlite_files_to_owner(file);
    Ok(())
}

const RIGHTS: &str = "check the permissions of the file and its folder, or choose another data \
                      folder with `--data`";

fn has_studies(folder: &Path) -> bool {
    let studies = fs::read_dir(folder.join("studies"));
    let mut studies = studies.into_iter().flatten().flatten();
    studies.any(|it| it.path().join("study.json").exists())
}

/// Restricts access to the database file and the files that SQLite has created next to it to their
/// owner. SQLite creates later files with the permissions of the first.
#[cfg(unix)]
pub(super) fn restrict_sqlite_files_to_owner(file: &Path) {
    use std::os::unix::fs::PermissionsExt;

    for ending in ["", "-wal", "-shm"] {
        let mut name = file.as_os_str().to_owned();
        name.push(ending);
        let path = Path::new(&name);
        let Ok(metadata) = fs::metadata(path) else {
            continue;
        };
        // Only the owner can change the permissions of a file.
        if metadata.permissions().mode() & 0o077 != 0
            && let Err(error) = fs::set_permissions(path, fs::Permissions::from_mode(0o600))
        {
            tracing::warn!("{}: {error}: others may read it", path.display());
        }
    }
}

/// Does nothing on systems without file modes; the permissions of the folder apply.
#[cfg(not(unix))]
pub(super) fn restrict_sqlite_files_to_owner(_file: &Path) {}

pub(super) async fn open_sqlite_connection(
    options: &AnyConnectOptions,
) -> sqlx::Result<AnyConnection> {
    let mut connection = AnyConnection::connect_with(options).await?;
    configure_sqlite_connection(&mut connection).await?;
    Ok(connection)
}

pub(super) async fn configure_sqlite_connection(
    connection: &mut AnyConnection,
) -> sqlx::Result<()> {
    connection.execute(SETTINGS).await?;
    Ok(())
}

/// Returns the layout number in the file; 0 for a new file.
pub(super) async fn read_sqlite_user_version(pool: &AnyPool) -> sqlx::Result<i64> {
    sqlx::query_scalar("PRAGMA user_version")
        .fetch_one(pool)
        .await
}

/// Writes the layout number into the file, for other versions and programs.
pub(super) async fn write_sqlite_user_version(pool: &AnyPool, layout: i64) -> sqlx::Result<()> {
    // A PRAGMA takes no parameters. The number comes from this program.
    let set = sqlx::AssertSqlSafe(format!("PRAGMA user_version = {layout}"));
    sqlx::query(set).execute(pool).await?;
    Ok(())
}

/// Converts errors that a user can fix, by their result code (sqlite.org/rescode.html).
pub(super) fn convert_sqlite_error(file: &Path, source: sqlx::Error) -> Error {
    const READONLY: u32 = 8;
    const CORRUPT: u32 = 11;
    const FULL: u32 = 13;
    const CANTOPEN: u32 = 14;
    const NOTADB: u32 = 26;

    let at = DatabaseDisplayName::File(file.to_owned());
    let code = match &source {
        sqlx::Error::Database(error) => error.code().and_then(|it| it.parse::<u32>().ok()),
        _ => None,
    };
    match code.map(|it| it & 0xff) {
        Some(FULL) => Error::DiskFull { at },
        Some(READONLY | CANTOPEN) => Error::DatabaseReadOnly { at },
        Some(CORRUPT | NOTADB) => Error::CorruptData {
            what: file.display().to_string(),
            reason: "it is no database; restore it from a copy, or choose another folder with \
                     `--data`"
                .to_owned(),
        },
        _ => Error::Database { at, source },
    }
}
