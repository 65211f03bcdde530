//! A browser and its driver for the browser tests.

use super::{debian, first_number, programs, say};
use crate::paths::ProjectPaths;
use crate::process;
use anyhow::Result;
use std::path::PathBuf;
use std::process::Command;

/// The programs that browser tests use, and the script that they inject.
pub(crate) struct BrowserTools {
    pub(crate) chromium: PathBuf,
    pub(crate) chromedriver: PathBuf,
    /// `axe.min.js`, which checks the accessibility of a page.
    pub(crate) axe: PathBuf,
}

const CHROMIUMS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// Finds or installs the browser, its driver and the accessibility checker.
pub(crate) fn find_or_install(place: &ProjectPaths) -> Result<BrowserTools> {
    let axe = programs::axe(place)?;
    let (chromium, chromedriver) = debian::find_or_install(
        find,
        |(chromium, _)| chromium,
        &["chromium", "chromium-driver"],
        "chromium and a chromedriver of the same version are missing. Either install them with \
         the system's package manager (Debian: chromium, chromium-driver), or set CHROMIUM and \
         CHROMEDRIVER to their files",
    )?;
    Ok(BrowserTools {
        chromium,
        chromedriver,
        axe,
    })
}

/// Finds a browser and a driver of the same version.
fn find() -> Option<(PathBuf, PathBuf)> {
    let chromium = set("CHROMIUM").or_else(|| CHROMIUMS.iter().find_map(|it| on_path(it)))?;
    let chromedriver = set("CHROMEDRIVER").or_else(|| on_path("chromedriver"))?;
    let (browser, driver) = (major_version(&chromium)?, major_version(&chromedriver)?);
    if browser != driver {
        say(&format!(
            "chromium is of version {browser}, chromedriver of {driver}"
        ));
        return None;
    }
    Some((chromium, chromedriver))
}

fn set(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable)
        .filter(|it| !it.is_empty())
        .map(PathBuf::from)
}

fn on_path(program: &str) -> Option<PathBuf> {
    process::find(program, &process::search_path())
}

fn major_version(program: &PathBuf) -> Option<u32> {
    first_number(&process::output_of(Command::new(program).arg("--version"))?)
}
