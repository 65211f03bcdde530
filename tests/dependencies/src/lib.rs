//! What tests need beside the program and a machine may lack, and the one decision about it: is a
//! test that lacks something skipped, or does it fail?
#![allow(clippy::unwrap_used, reason = "all of it is for tests")]

use std::fs::OpenOptions;
use std::io::Write;

/// Variable with the names of required dependencies, separated by commas.
pub const REQUIRED: &str = "AXIOSCOPE_REQUIRE";

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

    /// Returns the name of the dependency in the variable [`REQUIRED`].
    pub fn name(self) -> &'static str {
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

/// Returns the dependencies that the environment requires; an error if it names another.
pub fn required() -> Result<Vec<TestDependency>, String> {
    parse(&std::env::var(REQUIRED).unwrap_or_default())
}

fn parse(names: &str) -> Result<Vec<TestDependency>, String> {
    let names = names.split(',').map(str::trim).filter(|it| !it.is_empty());
    let find = |name| {
        let known = TestDependency::ALL.into_iter().find(|it| it.name() == name);
        known.ok_or_else(|| {
            let all = TestDependency::ALL.map(TestDependency::name).join(", ");
            format!("{REQUIRED} names `{name}`, which is none of {all}")
        })
    };
    names.map(find).collect()
}

/// Returns `found`. Where it is none, this test is skipped, as a whole or in part, which is
/// recorded with the reason in the file `AXIOSCOPE_SKIPPED`.
///
/// # Panics
///
/// If `found` is none and the environment requires the dependency, or names an unknown one: a
/// requirement that is misspelled would be none.
pub fn or_skip<T>(found: Option<T>, dependency: TestDependency, reason: &str) -> Option<T> {
    if found.is_none() {
        assert!(
            !required().unwrap().contains(&dependency),
            "{REQUIRED} lists {}: {reason}",
            dependency.name()
        );
        record_skip(dependency, reason);
    }
    found
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
    fn required_dependencies_are_named_with_commas() {
        assert_eq!(parse("").unwrap(), []);
        assert_eq!(
            parse("browser, data,").unwrap(),
            [TestDependency::Browser, TestDependency::Collections]
        );
        let error = parse("postgres,modell").unwrap_err();
        assert!(error.contains("`modell`"), "{error}");
    }
}
