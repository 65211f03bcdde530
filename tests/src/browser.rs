//! The pages in a real browser, used as by a person.
//!
//! `CHROMIUM` and `CHROMEDRIVER` name the browser and its driver, `AXIOSCOPE_AXE` the accessibility
//! checker, `AXIOSCOPE_DIST` the built front end; tests that need an absent one are skipped. With
//! `AXIOSCOPE_SHOTS` screenshots of all pages are saved in that folder.

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
mod trainings;
mod rebinding;
mod readability;
mod first_screen;
mod long_tasks;
mod annotation;
mod live_reload;

use std::path::PathBuf;

use crate::harness::{TestDependency, or_skip, path_from_environment};

/// Returns the folder of the built front end; without it, the test is skipped.
pub(crate) fn front_end() -> Option<PathBuf> {
    let built =
        path_from_environment("AXIOSCOPE_DIST").filter(|it| it.join("index.html").is_file());
    or_skip(built, TestDependency::Browser, "no front end")
}

/// Returns the script of the accessibility checker; without it, the test is skipped.
pub(crate) fn axe() -> Option<String> {
    let file = or_skip(
        path_from_environment("AXIOSCOPE_AXE"),
        TestDependency::Browser,
        "no axe-core",
    )?;
    Some(std::fs::read_to_string(file).unwrap())
}
