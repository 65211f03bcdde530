//! Removes incomplete files of killed processes from a data folder.
//!
//! Every process that has opened the folder holds a shared lock. A process that gets the exclusive
//! lock is the only one, so that nobody is writing the files that it removes. Where folders cannot
//! be locked, as on Windows, nothing is removed.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Prefix of temporary names, as `tempfile` uses it.
const TEMPORARY: &str = ".tmp";

/// Prefix of the folders in which new databases are created. They are in the data folder itself,
/// where other programs may have temporary files.
pub(super) const NEW: &str = ".axioscope-new-";

/// Prefix of a folder that is being replaced by a new one of the same name.
const REPLACED: &str = ".tmp-replaced-";

/// Removes incomplete files if no other process has the folder open. Returns the shared lock, or
/// `None` if folders cannot be locked.
pub(super) fn clean_and_lock_folder(root: &Path) -> Option<File> {
    let lock = File::open(root).ok()?;
    if lock.try_lock().is_ok() {
        if let Err(error) = clean(root) {
            tracing::warn!("{}: {error}: what is half-written stays", root.display());
        }
        // Some systems do not allow to lock a locked file again.
        lock.unlock().ok()?;
    }
    lock.lock_shared().ok()?;
    Some(lock)
}

/// Creates a temporary folder that only its owner can access. It is removed when it is dropped.
pub(super) fn create_temporary_folder(folder: &Path, prefix: &str) -> io::Result<TempDir> {
    let mut scratch = tempfile::Builder::new();
    #[cfg(unix)]
    scratch.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    scratch.prefix(prefix).tempdir_in(folder)
}

/// Removes all entries of a folder whose names start with a prefix.
pub(super) fn remove_folder_entries_with_prefix(root: &Path, prefix: &str) -> io::Result<()> {
    let mut all = entries(root)?.into_iter();
    all.try_for_each(|it| match name(&it).starts_with(prefix) {
        true => remove(&it),
        false => Ok(()),
    })
}

fn clean(root: &Path) -> io::Result<()> {
    remove_folder_entries_with_prefix(root, NEW)?;
    let parts = [
        "collections",
        "studies",
        "scores",
        "drafts",
        "demo",
        "trainings",
    ];
    for part in parts {
        for path in entries(&root.join(part))? {
            if let Some(of) = name(&path).strip_prefix(REPLACED) {
                settle(&path, &root.join(part).join(of))?;
            } else if name(&path).starts_with(TEMPORARY) {
                remove(&path)?;
            } else if path.is_dir() {
                remove_folder_entries_with_prefix(&path, TEMPORARY)?;
            }
        }
    }
    Ok(())
}

/// Replaces a folder. The old one is kept until the new one is in place.
pub(crate) fn replace_folder(new: &Path, target: &Path) -> io::Result<()> {
    let aside = target.with_file_name(format!("{REPLACED}{}", name(target)));
    if target.exists() {
        // Left by a process that was killed after it had replaced the folder.
        remove(&aside)?;
        fs::rename(target, &aside)?;
    }
    let placed = fs::rename(new, target);
    if aside.exists() {
        settle(&aside, target)?;
    }
    placed
}

/// Removes a replaced folder, or moves it back if there is no new one.
fn settle(aside: &Path, target: &Path) -> io::Result<()> {
    match target.exists() {
        true => remove(aside),
        false => fs::rename(aside, target),
    }
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Lists the entries of a folder; none if it does not exist.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|it| Ok(it?.path())).collect(),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Removes a file or folder. Of a symbolic link only the link is removed.
fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::DataFolder;

    fn put(root: &Path, name: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }

    #[test]
    fn what_a_killed_process_left_goes_when_nobody_has_the_folder_open() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("data");
        let left = [
            "collections/.tmpAb12Cd/corpus.jsonl",
            "studies/s/.tmpAb12Cd",
            "scores/f/.tmpAb12Cd",
            "trainings/.tmpAb12Cd/job.json",
            "trainings/t/.tmpAb12Cd",
            ".axioscope-new-Ab12Cd/axioscope.db",
        ];
        let lasting = [
            "collections/c/corpus.jsonl",
            "studies/s/study.json",
            "trainings/t/job.json",
            // A file of another program.
            ".tmpAb12Cd",
        ];
        let first = DataFolder::open(&root).unwrap();
        left.iter().chain(&lasting).for_each(|it| put(&root, it));
        let second = DataFolder::open(&root).unwrap();
        drop(second);
        assert!(
            left.iter().all(|it| root.join(it).exists()),
            "they are in use"
        );
        let copy = first.clone();
        drop(first);
        DataFolder::open(&root).unwrap();
        assert!(
            left.iter().all(|it| root.join(it).exists()),
            "a copy has it open"
        );
        drop(copy);
        DataFolder::open(&root).unwrap();
        for it in left {
            assert!(!root.join(it).exists(), "{it}");
        }
        assert!(lasting.iter().all(|it| root.join(it).exists()));
    }

    #[test]
    fn a_folder_is_replaced_or_stays() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path();
        let (new, target) = (root.join("new"), root.join("c"));
        put(root, "new/first");
        replace_folder(&new, &target).unwrap();
        assert!(target.join("first").exists());
        put(root, "new/second");
        replace_folder(&new, &target).unwrap();
        assert!(!target.join("first").exists() && target.join("second").exists());
        // The new folder does not exist.
        replace_folder(&new, &target).unwrap_err();
        assert!(target.join("second").exists());
        assert_eq!(entries(root).unwrap(), [target]);
    }

    #[test]
    fn a_collection_that_was_put_aside_by_a_killed_process_comes_back() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path();
        put(root, "collections/.tmp-replaced-c/corpus.jsonl");
        DataFolder::open(root).unwrap();
        assert!(root.join("collections/c/corpus.jsonl").exists());
        put(root, "collections/.tmp-replaced-c/earlier");
        DataFolder::open(root).unwrap();
        assert_eq!(
            entries(&root.join("collections")).unwrap(),
            [root.join("collections/c")]
        );
        assert!(!root.join("collections/c/earlier").exists());
    }
}
