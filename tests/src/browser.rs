//! The pages in a real browser, as a person uses them.
//!
//! `CHROMIUM` and `CHROMEDRIVER` name the browser and its driver, `AXIOSCOPE_AXE` the checker
//! of accessibility, `AXIOSCOPE_DIST` the built front end; what needs an absent one is
//! skipped. With `AXIOSCOPE_SHOTS` pictures of all pages are left in that folder.

mod background_process;
mod driver;
pub(crate) mod tab;
pub(crate) mod static_server;
mod demo_site;
mod network;

mod studies;
mod study;
mod playground;
mod workbench;
mod behavioral_tests;
mod figures;
mod compare;
mod late_interaction;
mod about;
mod static_host;
mod operator;
mod rebinding;
mod readability;
mod long_tasks;
mod annotation;
mod live_reload;

use std::path::PathBuf;

use crate::harness::{TestDependency, or_skip, path_from_environment};

/// The built front end. Without it this test is skipped.
pub(crate) fn front_end() -> Option<PathBuf> {
    let built =
        path_from_environment("AXIOSCOPE_DIST").filter(|it| it.join("index.html").is_file());
    or_skip(built, TestDependency::Browser, "no front end")
}

/// The script of the checker of accessibility. Without it this test is skipped.
pub(crate) fn axe() -> Option<String> {
    let file = or_skip(
        path_from_environment("AXIOSCOPE_AXE"),
        TestDependency::Browser,
        "no axe-core",
    )?;
    Some(std::fs::read_to_string(file).unwrap())
}
