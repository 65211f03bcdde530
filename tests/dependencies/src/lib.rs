//! What tests need beside the program and a machine may lack, and the one decision about it: is a
//! test that lacks something skipped, or does it fail?
#![allow(clippy::unwrap_used, reason = "all of it is for tests")]

use std::fs::OpenOptions;
use std::io::Write;

/// What tests need beside the program, and a machine may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestDependency {
    /// Chromium, its driver, axe-core and the built front end.
    Browser,
    /// WebKit with its driver and a display.
    WebKit,
    /// A server of PostgreSQL.
    Postgres,
    /// The program nginx, as a proxy before a server.
    Proxy,
    /// The default neural model.
    Model,
    /// The public collections.
    Collections,
    /// A server that responds as S3 does.
    S3,
    /// A program of the machine, or `cargo xtask` itself.
    SystemProgram,
}

impl TestDependency {
    const ALL: [TestDependency; 8] = [
        TestDependency::Browser,
        TestDependency::WebKit,
        TestDependency::Postgres,
        TestDependency::Proxy,
        TestDependency::Model,
        TestDependency::Collections,
        TestDependency::S3,
        TestDependency::SystemProgram,
    ];

    fn name(self) -> &'static str {
        match self {
            TestDependency::Browser => "browser",
            TestDependency::WebKit => "webkit",
            TestDependency::Postgres => "postgres",
            TestDependency::Proxy => "proxy",
            TestDependency::Model => "model",
            TestDependency::Collections => "data",
            TestDependency::S3 => "s3",
            TestDependency::SystemProgram => "system",
        }
    }
}

/// Returns `found`. Where it is none, this test is skipped, as a whole or in part, which is
/// recorded with the reason in the file `AXIOSCOPE_SKIPPED`.
///
/// # Panics
///
/// If `found` is none and `AXIOSCOPE_REQUIRE` lists the dependency, as in `browser,data`: what is
/// required may not be missing.
pub fn or_skip<T>(found: Option<T>, dependency: TestDependency, reason: &str) -> Option<T> {
    if found.is_none() {
        let required = std::env::var("AXIOSCOPE_REQUIRE").unwrap_or_default();
        assert!(
            !is_required(&required, dependency),
            "AXIOSCOPE_REQUIRE lists {}: {reason}",
            dependency.name()
        );
        record_skip(dependency, reason);
    }
    found
}

/// Whether a list like `browser,data` has a dependency.
///
/// # Panics
///
/// If the list has another word: a requirement that is misspelled would be none.
fn is_required(list: &str, dependency: TestDependency) -> bool {
    let names = list.split(',').map(str::trim).filter(|it| !it.is_empty());
    let required: Vec<_> = names
        .map(|name| {
            let known = TestDependency::ALL.into_iter().find(|it| it.name() == name);
            known.unwrap_or_else(|| panic!("AXIOSCOPE_REQUIRE: there is no dependency {name:?}"))
        })
        .collect();
    required.contains(&dependency)
}

fn record_skip(dependency: TestDependency, reason: &str) {
    let thread = std::thread::current();
    // The only test of a process may run on its main thread.
    let of_process = std::env::var("NEXTEST_TEST_NAME").ok();
    let named = thread.name().filter(|it| *it != "main");
    let test = named.or(of_process.as_deref()).unwrap_or("a test");
    let line = format!("{test}: {reason} ({})\n", dependency.name());
    eprint!("skipped: {line}");
    if let Some(file) = std::env::var_os("AXIOSCOPE_SKIPPED").filter(|it| !it.is_empty()) {
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(file)
            .unwrap();
        // One write, since tests run side by side.
        file.write_all(line.as_bytes()).unwrap();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_environment_lists_may_not_be_skipped() {
        let list = "browser, data";
        assert!(is_required(list, TestDependency::Browser));
        assert!(is_required(list, TestDependency::Collections));
        assert!(!is_required(list, TestDependency::Postgres));
        assert!(!is_required("", TestDependency::Model));
    }

    #[test]
    #[should_panic(expected = "there is no dependency \"postgresql\"")]
    fn a_requirement_that_nobody_knows_is_an_error() {
        is_required("postgresql", TestDependency::Postgres);
    }
}
