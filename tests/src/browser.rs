//! The pages in a real browser, as a person uses them.
//!
//! `CHROMIUM` and `CHROMEDRIVER` name the browser and its driver, `AXIOSCOPE_AXE` the checker
//! of accessibility, `AXIOSCOPE_DIST` the built front end; what needs an absent one is
//! skipped. With `AXIOSCOPE_SHOTS` pictures of all pages are left in that folder.

mod lasting;
mod driver;
pub(crate) mod tab;
pub(crate) mod host;
mod site;
mod network;

mod studies;
mod study;
mod playground;
mod workbench;
mod behaviours;
mod figures;
mod differ;
mod inside;
mod about;
mod files_only;
mod operator;
mod looks;
mod tasks;
mod review;
mod development;

use std::path::PathBuf;

use crate::harness;

/// A file or folder that the environment names.
pub(crate) fn named(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable)
        .filter(|it| !it.is_empty())
        .map(PathBuf::from)
}

/// Says that this test found nothing to run on.
pub(crate) fn skip(reason: &str) {
    let test = std::thread::current();
    harness::skip(test.name().unwrap_or("a browser test"), reason);
}
