//! The files of a data folder for a backup, while others write there.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Folders with something that lasts. The database is not among it, nor what is being written.
pub(super) const PARTS: [&str; 5] = ["collections", "demo", "drafts", "scores", "studies"];

/// How often a folder that changes under our hands is looked at again, and after what time.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(100);

/// Deeper than the program makes folders.
const MAX_DEPTH: usize = 8;

/// Shows every file: its name below the data folder, its length, itself.
pub(super) fn each(
    root: &Path,
    mut take: impl FnMut(&str, u64, File) -> io::Result<()>,
) -> io::Result<()> {
    for part in PARTS {
        match part {
            // What one of these holds belongs together, and is replaced together.
            "collections" | "studies" => {
                for unit in units(root, part)? {
                    for (listed, file) in together(root, &unit)? {
                        take(&listed.name, listed.n_bytes, file)?;
                    }
                }
            }
            // These appear whole, each for itself. A draft may be gone by now.
            _ => {
                for listed in list(root, part)? {
                    match File::open(root.join(&listed.name)) {
                        Ok(file) => take(&listed.name, listed.n_bytes, file)?,
                        Err(error) if error.kind() == ErrorKind::NotFound => {}
                        Err(error) => return Err(of(&listed.name, error)),
                    }
                }
            }
        }
    }
    Ok(())
}

/// A file as it was found.
#[derive(Debug, PartialEq)]
struct Listed {
    name: String,
    n_bytes: u64,
    modified: Option<SystemTime>,
}

/// The folders in a part.
fn units(root: &Path, part: &str) -> io::Result<Vec<String>> {
    let mut units = Vec::new();
    for name in names(root, part)? {
        if root.join(&name).is_dir() {
            units.push(name);
        }
    }
    Ok(units)
}

/// The files of a folder, all of them open before one of them is read, and as they were together:
/// a file that is replaced or removed now stays what it was for who has it open.
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

/// All files below a folder, by name.
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

/// What lies in a folder, in order, without what is being written; nothing where there is none.
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
        // As `tempfile` names them.
        if !name.starts_with(".tmp") {
            names.push(format!("{folder}/{name}"));
        }
    }
    names.sort();
    Ok(names)
}

/// Says of which file an error is.
fn of(name: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{name}: {error}"))
}
