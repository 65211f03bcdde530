//! A server with the demo study, which most tests use.

use std::sync::LazyLock;

use super::background_process::SharedServer;
use crate::harness::TestHome;

/// Returns the address `http://127.0.0.1:PORT` of a server with the demo study, which has two
/// lexical rankers. All tests share it, and none changes its data.
pub(crate) fn origin() -> &'static str {
    &SITE.origin
}

static SITE: LazyLock<SharedServer> =
    LazyLock::new(|| SharedServer::start(TestHome::new(), &["--demo=lexical"]));
