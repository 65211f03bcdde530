//! The whole product at one address, with the demo study: what most tests look at.

use std::sync::LazyLock;

use super::background_process::SharedServer;
use crate::harness::TestHome;

/// `http://127.0.0.1:PORT` of a server with the demo study, by two formulas. All tests share it,
/// and none changes what it has.
pub(crate) fn origin() -> &'static str {
    &SITE.origin
}

static SITE: LazyLock<SharedServer> =
    LazyLock::new(|| SharedServer::start(TestHome::new(), &["--demo"]));
