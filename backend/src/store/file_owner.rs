//! The owner of files that root makes in the data folder of a service.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, lchown};
use std::path::Path;

/// Gives files and folders of root to the owner of the data folder, if this process is root and
/// the owner is not: a service that runs as the owner could not read them. Links are not followed.
pub(crate) fn give_files_of_root_to_folder_owner(folder: &Path) -> io::Result<()> {
    let is_root = |path: &Path| fs::metadata(path).is_ok_and(|it| it.uid() == 0);
    // Only systems with this folder have services that need it.
    if !is_root(Path::new("/proc/self")) || is_root(folder) || !folder.is_dir() {
        return Ok(());
    }
    let owner = fs::metadata(folder)?;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            // A running server may remove temporary files at any time.
            let Ok(found) = entry.path().symlink_metadata() else {
                continue;
            };
            if found.uid() == 0 {
                match lchown(entry.path(), Some(owner.uid()), Some(owner.gid())) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
            if found.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(())
}
