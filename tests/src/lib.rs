//! What the end-to-end tests share with the tests beside the backend's code: databases of their
//! own, and a word about what could not be run. The end-to-end tests are in `main.rs`.
#![allow(clippy::unwrap_used, reason = "all of it is tests")]

pub mod postgres;

use std::fs::OpenOptions;
use std::io::Write;

/// Says that a test found nothing to run on, or only a part of what it runs on.
pub fn skip(test: &str, reason: &str) {
    eprintln!("skipped: {test}: {reason}");
    if let Some(file) = std::env::var_os("AXIOSCOPE_SKIPPED").filter(|it| !it.is_empty()) {
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(file)
            .unwrap();
        // One write, since tests run side by side.
        file.write_all(format!("{test}: {reason}\n").as_bytes())
            .unwrap();
    }
}
