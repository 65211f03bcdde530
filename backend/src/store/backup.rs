//! Backup of all data into one file, and restore into an empty folder and database.
//!
//! A backup is a `.tar.gz` file that other programs can open:
//!
//! ```text
//! backup.json          version of the format, layout of the tables
//! database/TABLE.jsonl the rows, in the same format for both databases
//! files/…              the data folder
//! SHA256SUMS           checksums of all files above, for `sha256sum -c`; missing if truncated
//! ```
//!
//! A server may be running meanwhile. The rows are a snapshot, and the files are read afterwards.
//! Files are written before the rows that name them, so none is missing, and later files do no
//! harm. Each collection and study is copied in a consistent state of its own. One that is being
//! replaced may have its new files and its old row, as if the program had been stopped in between.

mod archive;
mod files;
mod table_loader;
mod tables;

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use shared::error::{Error as InputError, ErrorFieldName};

use crate::error::Error;
use crate::remedy;
use crate::store::{
    DataFolder, DataFolderLock, Database, DatabaseConfig, OWNER_ALONE, cleanup, sqlite,
    write_atomically_with_mode,
};

use archive::ArchiveWriter;
use table_loader::BackupTableLoader;
use tables::TABLES;

pub(crate) use tables::DatabaseSnapshot;

const HEAD: &str = "backup.json";

/// Prefix of the folder into which a backup is unpacked.
const SCRATCH: &str = ".axioscope-restore-";

/// The content of `backup.json`.
#[derive(Debug, Serialize, Deserialize)]
struct BackupManifest {
    /// The version of the format, 1.
    format: u32,
    /// The version of Axioscope that wrote the backup.
    software: String,
    /// The [`DatabaseConfig::latest_schema_version`] of the tables.
    layout: i64,
    /// The time of the backup, in the format of RFC 3339.
    made: String,
}

/// The number of files and rows in a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct BackupCounts {
    pub n_files: u64,
    pub n_rows: u64,
}

/// Writes a backup of the given rows and of the current files. It appears complete or not at all.
/// Only its owner can read it, since it contains names and the hashes of tokens and passwords.
pub(crate) fn write_backup(
    folder: &DataFolder,
    rows: DatabaseSnapshot,
    path: &Path,
) -> Result<BackupCounts, Error> {
    let head = BackupManifest {
        format: 1,
        software: env!("CARGO_PKG_VERSION").to_owned(),
        layout: rows.layout,
        made: format!("{:.0}", jiff::Timestamp::now()),
    };
    let head = serde_json::to_vec(&head).expect("a head has no maps");
    let mut size = BackupCounts::default();
    write_atomically_with_mode(path, OWNER_ALONE, remedy::ANOTHER_FILE, |file| {
        let mut out = ArchiveWriter::from_writer(BufWriter::new(file));
        out.add_member(HEAD, head.len() as u64, &*head)?;
        for mut table in rows.tables {
            let n_bytes = table.file.stream_position()?;
            table.file.rewind()?;
            out.add_member(
                &tables::table_archive_member_name(table.name),
                n_bytes,
                table.file,
            )?;
            size.n_rows += table.n_rows;
        }
        files::for_each_data_folder_file(&folder.root, |name, n_bytes, file| {
            size.n_files += 1;
            out.add_member(&format!("files/{name}"), n_bytes, file)
        })?;
        out.write_checksums_and_finish()?.flush()
    })?;
    Ok(size)
}

/// Restores a backup into an empty data folder and an empty database.
pub(crate) async fn restore_backup(
    folder: &DataFolder,
    database: &DatabaseConfig,
    from: &Path,
) -> Result<BackupCounts, Error> {
    let root = &folder.root;
    must_be_empty(root)?;
    fs::create_dir_all(root)
        .map_err(Error::io_error_converter(root, remedy::ANOTHER_DATA_FOLDER))?;
    let lock = folder.lock()?;
    // Left by a restore that was killed; this process now holds the lock.
    cleanup::remove_folder_entries_with_prefix(root, SCRATCH)
        .map_err(Error::io_error_converter(root, remedy::ANOTHER_DATA_FOLDER))?;
    let scratch = cleanup::create_temporary_folder(root, SCRATCH);
    let scratch = scratch.map_err(Error::io_error_converter(root, remedy::ANOTHER_DATA_FOLDER))?;
    let packed =
        File::open(from).map_err(Error::io_error_converter(from, "give the path of a backup"))?;
    let mut head = None;
    archive::unpack_archive(packed, from, scratch.path(), |json| {
        head = Some(accept(from, json, database.latest_schema_version())?);
        Ok(())
    })?;
    let head = head.ok_or_else(|| archive::damaged_backup_error(from, "it is empty"))?;

    // An SQLite file is filled next to its final place and renamed last, since rows must follow
    // files.
    let beside = scratch.path().join("axioscope.db");
    let store = match database {
        DatabaseConfig::Sqlite(_) => {
            Database::connect(&DatabaseConfig::Sqlite(beside.clone())).await?
        }
        DatabaseConfig::Postgres(_) => Database::connect(database).await?,
    };
    let unpacked = Unpacked {
        backup: from,
        at: scratch.path(),
        layout: head.layout,
    };
    let filled = unpacked.put(&store, folder, lock).await;
    store.close().await;
    let mut size = filled?;
    if let DatabaseConfig::Sqlite(file) = database {
        size.n_files = move_all(&unpacked.files(), root)?;
        sqlite::restrict_sqlite_files_to_owner(&beside);
        fs::rename(&beside, file)
            .map_err(Error::io_error_converter(file, remedy::ANOTHER_DATA_FOLDER))?;
    }
    DataFolder::open(root)?;
    Database::open_and_migrate(database).await?.close().await;
    database.note_server(folder)?;
    Ok(size)
}

/// An unpacked backup with valid checksums.
struct Unpacked<'a> {
    backup: &'a Path,
    at: &'a Path,
    layout: i64,
}

impl Unpacked<'_> {
    fn files(&self) -> PathBuf {
        self.at.join("files")
    }

    /// Fills an empty database. For PostgreSQL also moves the files, before the rows become
    /// visible.
    async fn put(
        &self,
        store: &Database,
        folder: &DataFolder,
        lock: DataFolderLock,
    ) -> Result<BackupCounts, Error> {
        store.migrate(self.layout).await?;
        let _lock = store.lock_for_process(lock).await?;
        let mut transaction = store.begin().await?;
        let mut size = BackupCounts::default();
        for table in TABLES.iter().filter(|it| it.since_layout <= self.layout) {
            if tables::count_table_rows(store, &mut transaction, table).await? > 0 {
                let reason = "holds something already; restore into an empty database";
                return Err(InputError::conflicting_value(
                    ErrorFieldName::with_display_name("database", store.database.display_name()),
                    reason,
                )
                .into());
            }
            let member = tables::table_archive_member_name(table.name);
            let missing =
                |_| archive::damaged_backup_error(self.backup, &format!("it has no {member}"));
            let lines = File::open(self.at.join(&member)).map_err(missing)?;
            let fill = BackupTableLoader {
                store,
                table,
                backup: self.backup,
            };
            size.n_rows += fill
                .insert_json_lines(BufReader::new(lines), &mut transaction)
                .await?;
        }
        tables::reset_id_sequences(store, self.layout, &mut transaction).await?;
        match &store.database {
            DatabaseConfig::Sqlite(_) => {
                transaction.commit().await.map_err(|it| store.failed(it))?;
            }
            DatabaseConfig::Postgres(_) => {
                size.n_files = move_all(&self.files(), &folder.root)?;
                if let Err(error) = transaction.commit().await {
                    // Restores the empty folder. The error of the commit is reported, not one from
                    // here.
                    let _ = move_all(&folder.root, &self.at.join("back"));
                    return Err(store.failed(error));
                }
            }
        }
        Ok(size)
    }
}

/// Parses `backup.json`. Returns an error if a later version has written the backup.
fn accept(from: &Path, json: &[u8], known_layout: i64) -> Result<BackupManifest, Error> {
    let head: BackupManifest = serde_json::from_slice(json)
        .map_err(|it| archive::damaged_backup_error(from, &format!("{HEAD}: {it}")))?;
    if head.format > 1 || head.layout > known_layout {
        let BackupManifest { software, .. } = head;
        let reason = format!("was made by a later version of axioscope, {software}; update it");
        return Err(InputError::unsupported_value(
            ErrorFieldName::with_display_name("file", from.display()),
            reason,
        )
        .into());
    }
    if head.format < 1 || head.layout < 1 {
        return Err(archive::damaged_backup_error(
            from,
            &format!("{HEAD} names no layout"),
        ));
    }
    Ok(head)
}

fn must_be_empty(root: &Path) -> Result<(), Error> {
    let failed = || Error::io_error_converter(root, "choose another folder with `--data`");
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed()(error)),
    };
    for entry in entries {
        let name = entry.map_err(failed())?.file_name();
        // A rejected restore leaves its lock file, a killed one its folder.
        let is_left = name == "axioscope.lock" || name.to_string_lossy().starts_with(SCRATCH);
        if !is_left {
            let name = Path::new(&name).display();
            let reason = format!(
                "is not empty, `{name}` lies there; a backup is restored into a folder with \
                 nothing in it, named by `--data`"
            );
            return Err(InputError::conflicting_value(
                ErrorFieldName::with_display_name("data", root.display()),
                reason,
            )
            .into());
        }
    }
    Ok(())
}

/// Moves the parts of a data folder into another folder, without the scratch folder and the lock.
/// Returns the number of files.
fn move_all(from: &Path, to: &Path) -> Result<u64, Error> {
    const REMEDY: &str = "empty the data folder and restore again";

    if !from.is_dir() {
        return Ok(0);
    }
    fs::create_dir_all(to).map_err(Error::io_error_converter(to, REMEDY))?;
    let mut n_files = 0;
    for part in files::PARTS {
        let (part, target) = (from.join(part), to.join(part));
        if part.is_dir() {
            n_files += n_files_below(&part).map_err(Error::io_error_converter(&part, REMEDY))?;
            fs::rename(&part, &target).map_err(Error::io_error_converter(&target, REMEDY))?;
        }
    }
    Ok(n_files)
}

fn n_files_below(folder: &Path) -> io::Result<u64> {
    let mut n_files = 0;
    for entry in fs::read_dir(folder)? {
        let path: PathBuf = entry?.path();
        n_files += match path.is_dir() {
            true => n_files_below(&path)?,
            false => 1,
        };
    }
    Ok(n_files)
}

#[cfg(test)]
pub(crate) mod tests;
