//! The programs of PostgreSQL for the tests, which start their own server.

use super::{debian, first_number, say};
use crate::process;
use anyhow::{Result, bail};
use std::path::PathBuf;
use std::process::Command;

/// The oldest version that axioscope works with.
const OLDEST: u32 = 15;

/// What makes and runs a server.
pub(crate) struct PostgresPrograms {
    pub(crate) initdb: PathBuf,
    pub(crate) postgres: PathBuf,
}

/// Finds the programs, or installs them.
pub(crate) fn get() -> Result<PostgresPrograms> {
    if let Some(programs) = find() {
        say(&format!("{}: found", programs.postgres.display()));
        return Ok(programs);
    }
    if debian::is_available() {
        say("apt-get install postgresql");
        debian::install(&["postgresql"])?;
    }
    match find() {
        Some(programs) => Ok(programs),
        None => bail!(
            "PostgreSQL {OLDEST} or later is missing. Install it with the system's package manager \
             (Debian: postgresql), or put `initdb` and `postgres` on PATH"
        ),
    }
}

/// Of those that are new enough the first: on `PATH`, then where Debian has them beside each other.
fn find() -> Option<PostgresPrograms> {
    let mut folders = process::search_path();
    folders.extend(installed_versions());
    folders.into_iter().find_map(|folder| {
        let folder = [folder];
        let postgres = process::find("postgres", &folder)?;
        let initdb = process::find("initdb", &folder)?;
        let version = first_number(&process::output_of(
            Command::new(&postgres).arg("--version"),
        )?)?;
        (version >= OLDEST).then_some(PostgresPrograms { initdb, postgres })
    })
}

/// `/usr/lib/postgresql/VERSION/bin`, the latest first.
fn installed_versions() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/usr/lib/postgresql");
    let mut versions: Vec<(u32, PathBuf)> = entries
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|it| {
            let version = it.file_name().to_string_lossy().parse().ok()?;
            Some((version, it.path().join("bin")))
        })
        .collect();
    versions.sort();
    versions.into_iter().rev().map(|it| it.1).collect()
}
