//! What is SQLite's own: settings of a connection, the layout it knows, its result codes.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use sqlx::any::AnyConnectOptions;
use sqlx::migrate::Migrator;
use sqlx::{AnyConnection, AnyPool, Connection, Executor};

use crate::error::{DatabaseName, Error};

pub(super) static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    migrator!(
        "sqlite": "0001_start" "0002_certificates" "0003_people" "0004_review"
        "0005_operator_session"
    )
});

/// Holds the right to write from the beginning, so that it cannot be refused in the middle.
pub(super) const BEGIN: &str = "BEGIN IMMEDIATE";

/// In WAL mode a reader sees what was there at its first query.
pub(super) const SNAPSHOT: &str = "BEGIN";

/// The first is for the others, which may meet another process that writes. WAL: readers and the
/// writer do not wait for each other; FULL: what was committed survives a loss of power.
const SETTINGS: &str = "PRAGMA busy_timeout = 10000;
                        PRAGMA journal_mode = WAL;
                        PRAGMA synchronous = FULL;
                        PRAGMA foreign_keys = ON";

/// The address of a file, which is made if it is not there. Every byte of the path is spelled,
/// so that none has a meaning in an address.
pub(super) fn options(file: &Path) -> sqlx::Result<AnyConnectOptions> {
    let bytes = file.as_os_str().as_encoded_bytes();
    let spelled: String = bytes.iter().map(|it| format!("%{it:02X}")).collect();
    format!("sqlite:{spelled}?mode=rwc").parse()
}

/// Refuses a file that has lost all it held, and keeps one from everybody but its owner: it holds
/// names and what tokens and passwords are compared with.
pub(super) fn check(file: &Path) -> Result<(), Error> {
    let metadata = fs::metadata(file).map_err(Error::file(file, RIGHTS))?;
    if metadata.len() == 0 && has_studies(file.parent().unwrap_or(Path::new("."))) {
        return Err(Error::CorruptData {
            what: file.display().to_string(),
            reason: "it is empty, and studies lie beside it that it should list; bring a backup \
                     into another folder by `axioscope restore`, or remove this file and list \
                     each study again by `axioscope study run` with the file `study.toml` of it"
                .to_owned(),
        });
    }
    make_private(file);
    Ok(())
}

const RIGHTS: &str = "check the rights of the file and its folder, or take another data folder by \
                      `--data`";

fn has_studies(folder: &Path) -> bool {
    let studies = fs::read_dir(folder.join("studies"));
    let mut studies = studies.into_iter().flatten().flatten();
    studies.any(|it| it.path().join("study.json").exists())
}

/// Keeps the file of a database from everybody but its owner, and what SQLite has written beside
/// it. Files that it writes there later have the rights of the first.
#[cfg(unix)]
pub(super) fn make_private(file: &Path) {
    use std::os::unix::fs::PermissionsExt;

    for ending in ["", "-wal", "-shm"] {
        let mut name = file.as_os_str().to_owned();
        name.push(ending);
        let path = Path::new(&name);
        let Ok(metadata) = fs::metadata(path) else {
            continue;
        };
        // A file of somebody else stays as it is.
        if metadata.permissions().mode() & 0o077 != 0
            && let Err(error) = fs::set_permissions(path, fs::Permissions::from_mode(0o600))
        {
            tracing::warn!("{}: {error}: others may read it", path.display());
        }
    }
}

/// Leaves the rights to the folder, where files have no modes.
#[cfg(not(unix))]
pub(super) fn make_private(_file: &Path) {}

pub(super) async fn connect(options: &AnyConnectOptions) -> sqlx::Result<AnyConnection> {
    let mut connection = AnyConnection::connect_with(options).await?;
    set_up(&mut connection).await?;
    Ok(connection)
}

pub(super) async fn set_up(connection: &mut AnyConnection) -> sqlx::Result<()> {
    connection.execute(SETTINGS).await?;
    Ok(())
}

/// The layout that the file says it has; 0 in one that is new.
pub(super) async fn layout(pool: &AnyPool) -> sqlx::Result<i64> {
    sqlx::query_scalar("PRAGMA user_version")
        .fetch_one(pool)
        .await
}

/// Writes the layout into the file, for versions and programs that look there.
pub(super) async fn set_layout(pool: &AnyPool, layout: i64) -> sqlx::Result<()> {
    // A PRAGMA takes no parameters; the version is a number of ours.
    let set = sqlx::AssertSqlSafe(format!("PRAGMA user_version = {layout}"));
    sqlx::query(set).execute(pool).await?;
    Ok(())
}

/// Result codes that a person can do something about (sqlite.org/rescode.html).
pub(super) fn error(file: &Path, source: sqlx::Error) -> Error {
    const READONLY: u32 = 8;
    const CORRUPT: u32 = 11;
    const FULL: u32 = 13;
    const CANTOPEN: u32 = 14;
    const NOTADB: u32 = 26;

    let at = DatabaseName::File(file.to_owned());
    let code = match &source {
        sqlx::Error::Database(error) => error.code().and_then(|it| it.parse::<u32>().ok()),
        _ => None,
    };
    match code.map(|it| it & 0xff) {
        Some(FULL) => Error::DiskFull { at },
        Some(READONLY | CANTOPEN) => Error::DatabaseReadOnly { at },
        Some(CORRUPT | NOTADB) => Error::CorruptData {
            what: file.display().to_string(),
            reason: "it is no database; restore it from a copy, or take another folder by \
                     `--data`"
                .to_owned(),
        },
        _ => Error::Database { at, source },
    }
}
