//! Finds the programs of PostgreSQL for the tests, not a running server.

use super::{debian, first_number};
use crate::process;
use anyhow::Result;
use std::path::PathBuf;
use std::process::Command;

/// The oldest version that Axioscope supports.
const OLDEST: u32 = 15;

/// The programs that create and run a server.
pub(crate) struct PostgresPrograms {
    pub(crate) initdb: PathBuf,
    pub(crate) postgres: PathBuf,
}

/// Finds the programs, or installs them.
pub(crate) fn get() -> Result<PostgresPrograms> {
    debian::find_or_install(
        find,
        |programs| &programs.postgres,
        &["postgresql"],
        &format!(
            "PostgreSQL {OLDEST} or later is missing. Install it with the system's package manager \
             (Debian: postgresql), or put `initdb` and `postgres` on PATH"
        ),
    )
}

/// Finds the first version that is new enough: on `PATH`, then in the folders of Debian's versions.
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

/// Returns the folders `/usr/lib/postgresql/VERSION/bin`, the latest version first.
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
