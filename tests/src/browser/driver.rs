//! The chromedriver that all tests share, and how it starts browsers.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use thirtyfour::LoggingPrefsLogLevel;
use thirtyfour::prelude::*;

use super::background_process::BackgroundProcess;
use crate::harness::path_from_environment;

/// A running chromedriver, which all tests share.
pub(super) struct ChromeDriver {
    /// `http://127.0.0.1:PORT`
    pub(super) origin: String,
    /// The folder for files of the browsers, which is removed with the driver.
    pub(super) scratch: PathBuf,
    _program: BackgroundProcess,
}

/// The driver, which is started by the first test that needs it.
pub(super) static DRIVER: LazyLock<ChromeDriver> = LazyLock::new(|| {
    let scratch = tempfile::tempdir().unwrap().keep();
    let mut chromedriver = Command::new(path_from_environment("CHROMEDRIVER").unwrap());
    chromedriver.arg("--port=0").env("TMPDIR", &scratch);
    let program = BackgroundProcess::start(&chromedriver, &scratch, "started successfully on port");
    let port: String = program
        .ready_line
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    ChromeDriver {
        origin: format!("http://127.0.0.1:{port}"),
        scratch,
        _program: program,
    }
});

/// Returns the capabilities of a headless browser with its own profile. Hosts below `.example`
/// resolve to this machine.
pub(super) fn capabilities(profile: &Path) -> WebDriverResult<Capabilities> {
    const FLAGS: [&str; 14] = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--lang=en",
        "--window-size=1440,900",
        "--host-resolver-rules=MAP *.example 127.0.0.1",
        "--no-proxy-server",
    ];
    let mut asked = DesiredCapabilities::chrome();
    let chromium = path_from_environment("CHROMIUM").unwrap();
    asked.set_binary(&chromium.display().to_string())?;
    for flag in FLAGS {
        asked.add_arg(flag)?;
    }
    asked.add_arg(&format!("--user-data-dir={}", profile.display()))?;
    asked.set_browser_log_level(LoggingPrefsLogLevel::All)?;
    Ok(asked.into())
}
