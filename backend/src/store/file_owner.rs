//! The owner of files that root makes in the data folder of a service.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

/// Gives files and folders of root to the owner of the data folder, if this process is root and
/// the owner is not: a service that runs as the owner could not read them.
///
/// The owner may change the folder meanwhile, so this is left to the system's `chown`, which
/// follows no link on its way.
pub(crate) fn give_files_of_root_to_folder_owner(folder: &Path) -> io::Result<()> {
    let owner_of = |path: &Path| fs::metadata(path).map(|it| it.uid());
    // Only systems with this folder have services that need it.
    let is_root = owner_of(Path::new("/proc/self")).is_ok_and(|it| it == 0);
    if !is_root || !folder.is_dir() || owner_of(folder)? == 0 {
        return Ok(());
    }
    let folder = fs::canonicalize(folder)?;
    let owner = fs::metadata(&folder)?;
    let owner = format!("{}:{}", owner.uid(), owner.gid());
    let changed = Command::new("chown")
        .args(["-R", "-P", "-h", "--from=0", &owner, "--"])
        .arg(&folder)
        .output()?;
    match changed.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(
            String::from_utf8_lossy(&changed.stderr).into_owned(),
        )),
    }
}
