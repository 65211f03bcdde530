//! How many checks passed, failed and were skipped.

use std::collections::BTreeSet;

/// What the test runners reported, added up.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) n_passed: usize,
    pub(crate) n_failed: usize,
    /// Each with its reason.
    pub(crate) skipped: Vec<String>,
}

impl Tally {
    pub(crate) fn passed(n_passed: usize) -> Tally {
        Tally {
            n_passed,
            ..Tally::default()
        }
    }

    pub(crate) fn add(&mut self, other: Tally) {
        self.n_passed += other.n_passed;
        self.n_failed += other.n_failed;
        self.skipped.extend(other.skipped);
    }

    /// Takes a line of `cargo test`: only the closing lines of the runners count.
    pub(super) fn hear(&mut self, line: &str) {
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

    /// Takes what tests said about themselves: a test that found nothing to run on has ended
    /// without failing, which its runner counts as passed.
    /// Whoever says so twice skipped once.
    pub(super) fn skip<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        for name in names.collect::<BTreeSet<_>>() {
            self.n_passed = self.n_passed.saturating_sub(1);
            self.skipped.push(name.to_owned());
        }
    }

    /// The closing line of a run.
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
        let mut tally = Tally::passed(1);
        for line in [
            "running 14 tests",
            "test result: ok. 12 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; \
             finished in 0.01s",
            "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 7 filtered out",
        ] {
            tally.hear(line);
        }
        assert_eq!(tally.line(), "16 passed, 1 failed, 2 skipped");
    }

    #[test]
    fn a_test_that_skipped_itself_did_not_pass() {
        let mut tally = Tally::passed(5);
        let told = "browser::study: no browser\nnumbers::dl19: no data\nnumbers::dl19: no data";
        tally.skip(told.lines());
        assert_eq!(tally.line(), "3 passed, 0 failed, 2 skipped");
        assert_eq!(tally.skipped[0], "browser::study: no browser");
    }
}
