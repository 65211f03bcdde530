//! Collects the files of a data folder for a backup while other processes may write there.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The folders to back up. The database is handled separately; temporary files are left out.
pub(super) const PARTS: [&str; 6] = [
    "collections",
    "demo",
    "drafts",
    "scores",
    "studies",
    "trainings",
];

/// Maximum number of attempts to read a folder that is being changed, and the pause between them.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(100);

/// Maximum depth of folders, more than the program creates.
const MAX_DEPTH: usize = 8;

/// Calls `take` for every file with its name below the data folder, its length and the open file.
pub(super) fn for_each_data_folder_file(
    root: &Path,
    mut take: impl FnMut(&str, u64, File) -> io::Result<()>,
) -> io::Result<()> {
    for part in PARTS {
        match part {
            // The files of each of these folders belong together and are replaced together.
            "collections" | "studies" => {
                for unit in units(root, part)? {
                    for (listed, file) in together(root, &unit)? {
                        take(&listed.name, listed.n_bytes, file)?;
                    }
                }
            }
            // These files are written independently. A draft may be gone by now. Of a training
            // the checkpoint comes first, by its name, so that weights and learning curve are not
            // older; what is newer in them is computed again.
            _ => {
                for listed in list(root, part)? {
                    match File::open(root.join(&listed.name)) {
                        Ok(file) => take(&listed.name, file.metadata()?.len(), file)?,
                        Err(error) if error.kind() == ErrorKind::NotFound => {}
                        Err(error) => return Err(of(&listed.name, error)),
                    }
                }
            }
        }
    }
    Ok(())
}

/// A file with its state when it was listed.
#[derive(Debug, PartialEq)]
struct Listed {
    name: String,
    n_bytes: u64,
    modified: Option<SystemTime>,
}

/// Returns the folders in a part of the data folder.
fn units(root: &Path, part: &str) -> io::Result<Vec<String>> {
    let mut units = Vec::new();
    for name in names(root, part)? {
        if root.join(&name).is_dir() {
            units.push(name);
        }
    }
    Ok(units)
}

/// Opens all files of a folder in a consistent state before any of them is read. Open files keep
/// their content even if they are replaced or removed later.
fn together(root: &Path, unit: &str) -> io::Result<Vec<(Listed, File)>> {
    for _ in 0..TRIES {
        let before = list(root, unit)?;
        let opened: io::Result<Vec<File>> = before
            .iter()
            .map(|it| File::open(root.join(&it.name)).map_err(|error| of(&it.name, error)))
            .collect();
        match opened {
            Ok(files) if list(root, unit)? == before => {
                return Ok(before.into_iter().zip(files).collect());
            }
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Ok(_) | Err(_) => std::thread::sleep(PAUSE),
        }
    }
    let reason = format!("{unit} is being made again; wait until that has ended");
    Err(io::Error::other(reason))
}

/// Lists all files below a folder, sorted by name.
fn list(root: &Path, folder: &str) -> io::Result<Vec<Listed>> {
    let mut found = Vec::new();
    for name in names(root, folder)? {
        let metadata = match fs::metadata(root.join(&name)) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(of(&name, error)),
        };
        if metadata.is_dir() {
            if name.split('/').count() > MAX_DEPTH {
                let reason = format!("{name}: folders lie in folders without end");
                return Err(io::Error::other(reason));
            }
            found.extend(list(root, &name)?);
        } else if metadata.is_file() {
            found.push(Listed {
                name,
                n_bytes: metadata.len(),
                modified: metadata.modified().ok(),
            });
        }
    }
    Ok(found)
}

/// Lists the entries of a folder in order, without temporary files; none if the folder does not
/// exist.
fn names(root: &Path, folder: &str) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(root.join(folder)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(of(folder, error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(|it| of(folder, it))?.file_name();
        let Some(name) = name.to_str() else {
            let reason = format!("{folder}/{} is not UTF-8: rename it", name.display());
            return Err(io::Error::other(reason));
        };
        // The prefix that `tempfile` uses.
        if !name.starts_with(".tmp") {
            names.push(format!("{folder}/{name}"));
        }
    }
    names.sort();
    Ok(names)
}

/// Adds the name of the file to an error.
fn of(name: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{name}: {error}"))
}
