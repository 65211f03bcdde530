//! nginx for the tests that run it in front of a server.

use super::{debian, say};
use crate::process;
use anyhow::{Result, bail};
use std::path::PathBuf;

/// Finds the program, or installs it.
pub(crate) fn get() -> Result<PathBuf> {
    if let Some(program) = find() {
        say(&format!("{}: found", program.display()));
        return Ok(program);
    }
    if debian::is_available() {
        say("apt-get install nginx");
        debian::install(&["nginx"])?;
    }
    match find() {
        Some(program) => Ok(program),
        None => bail!(
            "nginx is missing. Install it with the system's package manager (Debian: nginx), or \
             put `nginx` on PATH"
        ),
    }
}

/// On `PATH`, or where Debian has it and only the administrator's `PATH` leads.
fn find() -> Option<PathBuf> {
    let mut folders = process::search_path();
    folders.push("/usr/sbin".into());
    process::find("nginx", &folders)
}
