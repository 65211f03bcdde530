//! Counts passed, failed and skipped checks.

use serde::Deserialize;
use std::collections::BTreeSet;

/// An event of one test, in the JSON format of Rust's test runner as written by nextest.
#[derive(Debug, Deserialize)]
pub(super) struct TestEvent {
    #[serde(rename = "type")]
    kind: String,
    event: String,
    name: Option<String>,
    exec_time: Option<f64>,
}

impl TestEvent {
    /// Parses the event of a test that has ended; `None` for all other lines.
    pub(super) fn of_ended_test(line: &str) -> Option<TestEvent> {
        let event: TestEvent = serde_json::from_str(line).ok()?;
        (event.kind == "test" && event.event != "started").then_some(event)
    }

    /// Returns the duration in seconds and the name of the test.
    pub(super) fn time_s(&self) -> Option<(f64, &str)> {
        Some((self.exec_time?, self.name.as_deref()?))
    }
}

/// The sum of the results of test runners.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TestCounts {
    pub(crate) n_passed: usize,
    pub(crate) n_failed: usize,
    /// The reason of each skipped test.
    pub(crate) skipped: Vec<String>,
}

impl TestCounts {
    pub(crate) fn passed(n_passed: usize) -> TestCounts {
        TestCounts {
            n_passed,
            ..TestCounts::default()
        }
    }

    pub(crate) fn add(&mut self, other: TestCounts) {
        self.n_passed += other.n_passed;
        self.n_failed += other.n_failed;
        self.skipped.extend(other.skipped);
    }

    /// Reads a line of `cargo test`. Only the summary lines of the runners count.
    pub(super) fn add_line(&mut self, line: &str) {
        let Some(counts) = line.strip_prefix("test result: ") else {
            return;
        };
        let count = |what: &str| {
            let part = counts
                .split([';', '.'])
                .find_map(|part| part.trim().strip_suffix(what));
            part.and_then(|number| number.trim().parse().ok())
                .unwrap_or(0)
        };
        self.n_passed += count("passed");
        self.n_failed += count("failed");
        for _ in 0..count("ignored") {
            self.skipped.push("a test marked to be ignored".to_owned());
        }
    }

    /// Counts an event of nextest.
    pub(super) fn add_event(&mut self, event: &TestEvent) {
        match event.event.as_str() {
            "ok" => self.n_passed += 1,
            "ignored" => self.skipped.push("a test marked to be ignored".to_owned()),
            _ => self.n_failed += 1,
        }
    }

    /// Counts tests that have recorded that they were skipped. Their runner has counted them as
    /// passed. A test that is recorded twice counts once.
    pub(super) fn skip<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        for name in names.collect::<BTreeSet<_>>() {
            self.n_passed = self.n_passed.saturating_sub(1);
            self.skipped.push(name.to_owned());
        }
    }

    /// Returns the summary line of a run.
    pub(super) fn line(&self) -> String {
        let n_skipped = self.skipped.len();
        format!(
            "{} passed, {} failed, {n_skipped} skipped",
            self.n_passed, self.n_failed
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_lines_of_all_runners_are_added_up() {
        let mut tally = TestCounts::passed(1);
        for line in [
            "running 14 tests",
            "test result: ok. 12 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; \
             finished in 0.01s",
            "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 7 filtered out",
        ] {
            tally.add_line(line);
        }
        assert_eq!(tally.line(), "16 passed, 1 failed, 2 skipped");
    }

    #[test]
    fn each_test_that_nextest_has_run_counts_once() {
        let mut tally = TestCounts::default();
        let mut times = Vec::new();
        for line in [
            r#"{"type":"suite","event":"started","test_count":3}"#,
            r#"{"type":"test","event":"started","name":"shared::shared$a"}"#,
            r#"{"type":"test","event":"ok","name":"shared::shared$a","exec_time":0.5}"#,
            r#"{"type":"test","event":"failed","name":"shared::shared$b","exec_time":1.5,"stdout":"x"}"#,
            r#"{"type":"test","event":"ignored","name":"shared::shared$c"}"#,
            r#"{"type":"suite","event":"failed","passed":1,"failed":1,"ignored":1}"#,
            "a line of a test that prints past its runner",
        ] {
            if let Some(event) = TestEvent::of_ended_test(line) {
                tally.add_event(&event);
                times.extend(
                    event
                        .time_s()
                        .map(|(time_s, name)| format!("{name} {time_s}")),
                );
            }
        }
        assert_eq!(tally.line(), "1 passed, 1 failed, 1 skipped");
        assert_eq!(times, ["shared::shared$a 0.5", "shared::shared$b 1.5"]);
    }

    #[test]
    fn a_test_that_skipped_itself_did_not_pass() {
        let mut tally = TestCounts::passed(5);
        let told = "browser::study: no browser\nnumbers::dl19: no data\nnumbers::dl19: no data";
        tally.skip(told.lines());
        assert_eq!(tally.line(), "3 passed, 0 failed, 2 skipped");
        assert_eq!(tally.skipped[0], "browser::study: no browser");
    }
}
