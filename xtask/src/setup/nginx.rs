//! Finds nginx for the tests that run it in front of a server.

use super::debian;
use crate::process;
use anyhow::Result;
use std::path::PathBuf;

/// Finds nginx, or installs it.
pub(crate) fn get() -> Result<PathBuf> {
    debian::find_or_install(
        find,
        |program| program,
        &["nginx"],
        "nginx is missing. Install it with the system's package manager (Debian: nginx), or put \
         `nginx` on PATH",
    )
}

/// Searches `PATH`, and the folder where Debian installs it, which is only in root's `PATH`.
fn find() -> Option<PathBuf> {
    let mut folders = process::search_path();
    folders.push("/usr/sbin".into());
    process::find("nginx", &folders)
}
