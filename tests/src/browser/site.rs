//! The whole product at one address, with the demo study: what most tests look at.

use std::process::Command;
use std::sync::LazyLock;

use super::lasting::Lasting;
use crate::harness::Home;

/// `http://127.0.0.1:PORT` of a server with the demo study, by two formulas. All tests share it,
/// and none changes what it has.
pub(crate) fn origin() -> &'static str {
    &SITE.origin
}

struct Site {
    origin: String,
    _home: Home,
    _program: Lasting,
}

static SITE: LazyLock<Site> = LazyLock::new(|| {
    let home = Home::new();
    let mut server: Command = home.program();
    server.args([
        "--data",
        "data",
        "serve",
        "--demo",
        "--listen",
        "127.0.0.1:0",
    ]);
    let scratch = home.path("");
    let program = Lasting::start(&server, &scratch, "Axioscope is at ");
    let origin = program
        .said
        .split("Axioscope is at ")
        .nth(1)
        .unwrap_or_default();
    Site {
        _home: home,
        origin: origin.trim_end_matches('/').to_owned(),
        _program: program,
    }
});
