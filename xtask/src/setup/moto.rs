//! Finds moto, a server that responds as S3 does, for the tests of object storage.

use super::say;
use crate::paths::ProjectPaths;
use crate::process;
use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The package on PyPI, with the version that tests use.
const PACKAGE: &str = "moto[server]==5.2.5";

/// Returns the folder of Python packages in which moto is, and fetches them if they are missing.
/// Tests run it by `python3 -m moto.server` with this folder in `PYTHONPATH`.
pub(crate) fn get(place: &ProjectPaths) -> Result<PathBuf> {
    let folder = place.cache.join("moto-5.2.5");
    if folder.is_dir() {
        say("moto: found");
        return Ok(folder);
    }
    say(&format!("moto: pip install {PACKAGE}"));
    // An interrupted installation is never used.
    let work = place.cache.join(format!(".moto-{}", std::process::id()));
    let mut install = Command::new("python3");
    install
        .args(["-m", "pip", "--quiet", "install", PACKAGE, "--target"])
        .arg(&work);
    process::run(&mut install).context(
        "moto is missing. Install Python with pip, and let this command fetch it from PyPI",
    )?;
    fs::rename(&work, &folder).with_context(|| format!("making {}", folder.display()))?;
    Ok(folder)
}
