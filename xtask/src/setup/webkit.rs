//! WebKit with its driver, and a display for it, for the tests that need a second browser engine.

use super::debian;
use crate::process;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// The programs that tests in WebKit use.
pub(crate) struct WebKitTools {
    pub(crate) driver: PathBuf,
    pub(crate) browser: PathBuf,
    /// WebKit has no mode without a display.
    pub(crate) display: PathBuf,
}

/// Where distributions keep the browser that belongs to the driver.
const BROWSERS: [&str; 4] = [
    "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser",
    "/usr/lib/aarch64-linux-gnu/webkit2gtk-4.1/MiniBrowser",
    "/usr/libexec/webkit2gtk-4.1/MiniBrowser",
    "/usr/lib/webkit2gtk-4.1/MiniBrowser",
];

/// Finds WebKit and its driver, or installs them.
pub(crate) fn find_or_install() -> Result<WebKitTools> {
    debian::find_or_install(
        find,
        |tools| &tools.driver,
        &["webkit2gtk-driver", "xvfb"],
        "WebKitWebDriver or Xvfb is missing. Install them with the system's package manager \
         (Debian: webkit2gtk-driver, xvfb)",
    )
}

fn find() -> Option<WebKitTools> {
    let on_path = |program| process::find(program, &process::search_path());
    let browser = BROWSERS.iter().map(Path::new).find(|it| it.exists())?;
    Some(WebKitTools {
        driver: on_path("WebKitWebDriver")?,
        browser: browser.to_owned(),
        display: on_path("Xvfb")?,
    })
}
