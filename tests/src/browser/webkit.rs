//! A tab of WebKit, for what has to work in a second browser engine.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use thirtyfour::prelude::*;
use tokio::runtime::Runtime;

use super::background_process::BackgroundProcess;
use crate::harness::{TestDependency, or_skip, path_from_environment};

const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(100);

/// A running WebKit with one tab.
pub(super) struct WebKitTab {
    driver: Option<WebDriver>,
    runtime: Runtime,
    origin: String,
    program: std::process::Child,
    _display: BackgroundProcess,
}

impl WebKitTab {
    /// Starts WebKit with a tab for the pages of a site; none if the machine has no WebKit.
    pub(super) fn start(origin: &str) -> Option<WebKitTab> {
        let found = ["WEBKITDRIVER", "WEBKIT", "XVFB"].map(path_from_environment);
        let [Some(driver), Some(browser), Some(xvfb)] = found else {
            or_skip(None::<()>, TestDependency::WebKit, "no WebKit");
            return None;
        };
        let scratch = tempfile::tempdir().unwrap().keep();
        let mut display = Command::new(xvfb);
        display.args(["-displayfd", "1", "-screen", "0", "1440x900x24"]);
        let display = BackgroundProcess::start(&display, &scratch, "");
        let port = free_port();
        let program = Command::new(driver)
            .arg(format!("--port={port}"))
            .env("DISPLAY", format!(":{}", display.ready_line.trim()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_for(|| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.unwrap();
        let options = json!({"binary": browser, "args": ["--automation"]});
        let mut capabilities = Capabilities::new();
        capabilities
            .set("webkitgtk:browserOptions", options)
            .unwrap();
        let session = WebDriver::new(format!("http://127.0.0.1:{port}"), capabilities);
        let driver = runtime.block_on(session).expect("WebKit starts");
        Some(WebKitTab {
            driver: Some(driver),
            runtime,
            origin: origin.to_owned(),
            program,
            _display: display,
        })
    }

    /// Opens a page of the site.
    pub(super) fn open(&self, path: &str) {
        let url = format!("{}{path}", self.origin);
        self.runtime.block_on(self.driver().goto(url)).unwrap();
    }

    /// Runs a script in the page and returns its value.
    pub(super) fn js(&self, script: &str) -> Value {
        let value = self
            .runtime
            .block_on(self.driver().execute(script, Vec::new()));
        value.unwrap().json().clone()
    }

    /// Waits until a script returns true.
    pub(super) fn wait_until(&self, what: &str, script: &str) {
        let start = Instant::now();
        while self.js(script) != Value::Bool(true) {
            let text = || self.js("return document.body.innerText.slice(0, 1000)");
            assert!(
                start.elapsed() < PATIENCE,
                "waited in vain: {what}\n{}",
                text()
            );
            std::thread::sleep(PAUSE);
        }
    }

    fn driver(&self) -> &WebDriver {
        self.driver
            .as_ref()
            .expect("the browser runs until it is dropped")
    }
}

impl Drop for WebKitTab {
    fn drop(&mut self) {
        if let Some(driver) = self.driver.take()
            && let Err(error) = self.runtime.block_on(driver.quit())
        {
            eprintln!("WebKit did not end: {error}");
        }
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

fn wait_for(is_ready: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_ready() {
        assert!(
            start.elapsed() < PATIENCE,
            "the driver of WebKit does not answer"
        );
        std::thread::sleep(PAUSE);
    }
}
