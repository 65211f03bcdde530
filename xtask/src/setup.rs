//! Finds the tools that other commands need, installs them if possible, and otherwise says what is
//! missing.
//!
//! Tools are installed into the user's cache (see [`ProjectPaths`]), so that other checkouts find
//! them. Only the wasm target and the browser are installed for the whole machine.

pub(crate) mod wasm;
mod programs;
mod debian;
pub(crate) mod browser;
pub(crate) mod webkit;
pub(crate) mod model;
pub(crate) mod moto;
pub(crate) mod nginx;
pub(crate) mod postgres;

use crate::paths::ProjectPaths;
use crate::process;
use anyhow::Result;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use wasm::WasmToolchain;

/// The programs that build the front end.
pub(crate) struct WebTools {
    folders: Vec<PathBuf>,
    compiler: WasmToolchain,
}

impl WebTools {
    /// Returns a command that finds the pinned tools before any others, and uses the compiler for
    /// wasm.
    pub(crate) fn command(&self, program: &str) -> Command {
        let program = process::find(program, &self.folders).unwrap_or_else(|| program.into());
        let mut command = Command::new(program);
        command.env("PATH", self.search_path());
        if let WasmToolchain::Toolchain(name) = &self.compiler {
            command.env("RUSTUP_TOOLCHAIN", name);
        }
        command
    }

    /// Returns the value of `PATH` with the folder of the pinned tools first.
    pub(crate) fn search_path(&self) -> OsString {
        std::env::join_paths(&self.folders).expect("these folders came out of a PATH")
    }
}

/// Finds or installs all tools of the project; reports optional ones that are missing and returns
/// an error for required ones.
pub(crate) fn run(place: &ProjectPaths) -> Result<()> {
    web(place)?;
    nextest(place)?;
    deny(place)?;
    if let Err(error) = browser::find_or_install(place) {
        say(&format!("no browser, so no browser tests: {error:#}"));
    }
    if let Err(error) = postgres::get() {
        say(&format!(
            "no PostgreSQL, so tests run on SQLite alone: {error:#}"
        ));
    }
    if let Err(error) = nginx::get() {
        say(&format!("no nginx, so no tests behind it: {error:#}"));
    }
    if let Err(error) = model::get(place) {
        say(&format!("no default neural model: {error:#}"));
    }
    Ok(())
}

/// Finds or installs the tools that build the front end.
pub(crate) fn web(place: &ProjectPaths) -> Result<WebTools> {
    let compiler = wasm::get()?;
    programs::trunk(place)?;
    programs::wasm_bindgen(place)?;
    programs::wasm_opt(place)?;
    let folders = programs::folders(place);
    Ok(WebTools { folders, compiler })
}

/// Returns whether a compiler for wasm is installed.
pub(crate) fn has_wasm() -> bool {
    wasm::find().is_some()
}

/// Finds or installs the program that runs unit tests.
pub(crate) fn nextest(place: &ProjectPaths) -> Result<PathBuf> {
    programs::nextest(place)
}

/// Finds or installs oha, the load generator of the benchmarks.
pub(crate) fn load_generator(place: &ProjectPaths) -> Result<PathBuf> {
    programs::oha(place)
}

/// Finds or installs the program that checks licenses and sources of dependencies.
pub(crate) fn deny(place: &ProjectPaths) -> Result<PathBuf> {
    programs::deny(place)
}

/// Finds or installs the program that builds another with the list of its dependencies inside.
pub(crate) fn auditable(place: &ProjectPaths) -> Result<PathBuf> {
    programs::auditable(place)
}

/// Finds or installs the program that writes bills of materials.
pub(crate) fn cyclonedx(place: &ProjectPaths) -> Result<PathBuf> {
    programs::cyclonedx(place)
}

/// Finds or installs the program that makes Debian packages.
pub(crate) fn deb(place: &ProjectPaths) -> Result<PathBuf> {
    programs::deb(place)
}

/// Prints one line of progress.
fn say(what: &str) {
    println!("setup: {what}");
}

/// Returns the major version from the output of `--version`.
fn first_number(answer: &str) -> Option<u32> {
    answer
        .split_whitespace()
        .find_map(|word| word.split('.').next()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_the_first_number() {
        for (answer, version) in [
            ("Chromium 156.0.7 built on Debian GNU/Linux 12", Some(156)),
            ("ChromeDriver 156.0.7 (abc-refs/x@{#1})", Some(156)),
            ("postgres (PostgreSQL) 15.18 (Debian 15.18-0)", Some(15)),
            ("no version", None),
        ] {
            assert_eq!(first_number(answer), version, "{answer}");
        }
    }
}
