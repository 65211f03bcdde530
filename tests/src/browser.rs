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
mod documentation;
mod static_host;
mod static_site;
mod webkit;
mod operator;
mod tour;
mod trainings;
mod rebinding;
mod readability;
mod first_paint;
mod first_screen;
mod long_tasks;
mod annotation;
mod trial;
mod account;
mod live_reload;

use std::path::PathBuf;

use crate::harness::{TestDependency, TestHome, TestServer, or_skip, path_from_environment};
use tab::{BrowserTab, with_tab};

/// Returns the folder of the built front end; without it, the test is skipped.
pub(crate) fn front_end() -> Option<PathBuf> {
    let built =
        path_from_environment("AXIOSCOPE_DIST").filter(|it| it.join("index.html").is_file());
    or_skip(built, TestDependency::Browser, "no front end")
}

/// Serves a home with access control on loopback, and opens the server in a browser. `act` takes
/// also the home, the server and the path that signs in the operator; without a front end, the test
/// is skipped.
pub(crate) fn with_operator_path(
    make_home: impl FnOnce() -> TestHome,
    act: impl FnOnce(&BrowserTab, &TestHome, &TestServer, &str),
) {
    if front_end().is_none() {
        return;
    }
    let home = make_home();
    let server = home.serve_with_auth(home.program(), &[]);
    let path = server.operator_path();
    with_tab(&server.address, |tab| act(tab, &home, &server, path));
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
