//! The results of the steps of a run, and its summary.

use super::{Step, TestCounts};
use anyhow::{Error, Result};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The results of the steps so far.
pub(super) struct TestReport {
    tally: TestCounts,
    took: Vec<(Step, Duration)>,
    has_failed: bool,
    since: Instant,
}

impl Default for TestReport {
    fn default() -> TestReport {
        TestReport {
            tally: TestCounts::default(),
            took: Vec::new(),
            has_failed: false,
            since: Instant::now(),
        }
    }
}

impl TestReport {
    /// Runs a step, unless an earlier one has failed.
    pub(super) fn run(&mut self, step: Step, work: impl FnOnce() -> Result<TestCounts>) {
        if self.has_failed {
            return;
        }
        println!("\n{}: {}", step.name(), step.name_and_description().1);
        let start = Instant::now();
        let outcome = work();
        self.took.push((step, start.elapsed()));
        match outcome {
            Ok(part) => {
                self.has_failed = part.n_failed > 0;
                self.tally.add(part);
            }
            Err(error) => self.fail(&error),
        }
    }

    /// Counts an error as a failed check.
    pub(super) fn fail(&mut self, error: &Error) {
        eprintln!("error: {error:#}");
        self.tally.n_failed += 1;
        self.has_failed = true;
    }

    /// Prints the duration of each step, the skipped tests and, alone on the last line, the counts.
    pub(super) fn finish(self) -> ExitCode {
        println!();
        let n_steps = self.took.len();
        for (index, (step, time)) in self.took.iter().enumerate() {
            let verdict = match self.has_failed && index + 1 == n_steps {
                true => "FAILED",
                false => "ok",
            };
            println!(
                "{:12} {:>7.1} s  {verdict}",
                step.name(),
                time.as_secs_f64()
            );
        }
        println!("{:12} {:>7.1} s", "all", self.since.elapsed().as_secs_f64());
        if let Some((step, _)) = self.took.last().filter(|_| self.has_failed) {
            println!("\nto repeat: cargo xtask test {}", step.name());
        }
        if !self.tally.skipped.is_empty() {
            println!("\nskipped:");
            for what in &self.tally.skipped {
                println!("  {what}");
            }
        }
        println!("\n{}", self.tally.line());
        match self.has_failed {
            true => ExitCode::FAILURE,
            false => ExitCode::SUCCESS,
        }
    }
}
