//! Verifies the files of published studies, some studies in each round.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use super::CheckProblem;
use crate::error::Error;
use crate::store::DataFolder;
use crate::store::studies::files::reread_study_files;

/// Bytes that are read per second, so that visitors do not wait for the disk.
const BYTES_PER_SECOND: u64 = 64 << 20;

/// Bytes of a round after which the next study is left to the next round.
const BYTES_PER_ROUND: u64 = 2 << 30;

/// Where the next round continues. Damaged studies are verified in every round, so that a check
/// that failed passes only once they are whole.
#[derive(Debug, Default)]
pub(crate) struct StudyFileRotation {
    /// The study that was verified last.
    last: Option<String>,
    damaged: BTreeSet<String>,
}

/// The bytes that a round has read, and whether it goes on.
struct RoundBudget<F> {
    since: Instant,
    n_bytes: u64,
    is_stopping: F,
}

impl<F: Fn() -> bool> RoundBudget<F> {
    /// Counts bytes and waits until the rate allows more. Returns whether to go on.
    fn spend(&mut self, n_bytes: usize) -> bool {
        self.n_bytes += n_bytes as u64;
        let earliest = Duration::from_secs_f64(self.n_bytes as f64 / BYTES_PER_SECOND as f64);
        std::thread::sleep(earliest.saturating_sub(self.since.elapsed()));
        !(self.is_stopping)()
    }
}

impl StudyFileRotation {
    /// Verifies the damaged studies of earlier rounds and the next ones of the rotation. `names`
    /// are the studies in order. Returns an error that names every damaged study.
    pub(super) fn check_next(
        &mut self,
        folder: &DataFolder,
        names: &[String],
        is_stopping: impl Fn() -> bool,
    ) -> Result<(), CheckProblem> {
        self.damaged.retain(|it| names.contains(it));
        let mut budget = RoundBudget {
            since: Instant::now(),
            n_bytes: 0,
            is_stopping,
        };
        let mut problems = Vec::new();
        for name in self.next_studies(names) {
            let is_suspect = self.damaged.contains(&name);
            if budget.n_bytes >= BYTES_PER_ROUND && !is_suspect {
                break;
            }
            match reread_study_files(folder, &name, |n| budget.spend(n)) {
                Ok(()) => self.damaged.remove(&name),
                Err(error) => {
                    problems.push(study_problem(&name, &error));
                    self.damaged.insert(name.clone())
                }
            };
            if (budget.is_stopping)() {
                break;
            }
            if !is_suspect {
                self.last = Some(name);
            }
        }
        join_problems(problems)
    }

    /// Returns the damaged studies, followed by the others, beginning after the last one.
    fn next_studies(&self, names: &[String]) -> Vec<String> {
        let others = names.iter().filter(|it| !self.damaged.contains(*it));
        let (before, after): (Vec<&String>, Vec<&String>) =
            others.partition(|&it| self.last.as_ref().is_some_and(|last| it <= last));
        let damaged = self.damaged.iter();
        damaged.chain(after).chain(before).cloned().collect()
    }
}

fn study_problem(name: &str, error: &Error) -> CheckProblem {
    let file_name = |path: &Path| match path.file_name() {
        Some(it) => it.to_string_lossy().into_owned(),
        None => "a file".to_owned(),
    };
    // What to do is for operators.
    let message = match error {
        Error::CorruptData { what, .. } => format!("{} is damaged", file_name(Path::new(what))),
        Error::File { path, .. } => format!("{} cannot be read", file_name(path)),
        other => other.public_message(),
    };
    CheckProblem {
        message: format!("study {name}: {message}"),
        detail: format!("study {name}: {error}"),
    }
}

fn join_problems(problems: Vec<CheckProblem>) -> Result<(), CheckProblem> {
    if problems.is_empty() {
        return Ok(());
    }
    let (messages, details): (Vec<_>, Vec<_>) = problems
        .into_iter()
        .map(|it| (it.message, it.detail))
        .unzip();
    Err(CheckProblem {
        message: messages.join("; "),
        detail: details.join("; "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_has_its_turn_and_damaged_ones_come_first() {
        let names = ["a", "b", "c", "d"].map(str::to_owned);
        let rotation = |last: Option<&str>, damaged: &[&str]| {
            let rotation = StudyFileRotation {
                last: last.map(str::to_owned),
                damaged: damaged.iter().map(|it| (*it).to_owned()).collect(),
            };
            rotation.next_studies(&names).concat()
        };
        assert_eq!(rotation(None, &[]), "abcd");
        assert_eq!(rotation(Some("b"), &[]), "cdab");
        assert_eq!(rotation(Some("d"), &[]), "abcd");
        // A study that is not there any more.
        assert_eq!(rotation(Some("bb"), &[]), "cdab");
        assert_eq!(rotation(Some("b"), &["d"]), "dcab");
    }

    #[test]
    fn a_round_reads_no_faster_than_its_rate() {
        let mut budget = RoundBudget {
            since: Instant::now(),
            n_bytes: 0,
            is_stopping: || false,
        };
        assert!(budget.spend((BYTES_PER_SECOND / 20) as usize));
        assert!(budget.since.elapsed() >= Duration::from_millis(50));
    }

    #[test]
    fn visitors_are_told_no_path() {
        let error = Error::CorruptData {
            what: "/srv/somebody/studies/demo/scores-1.parquet".to_owned(),
            reason: "its checksum is another; make it again".to_owned(),
        };
        let problem = study_problem("demo", &error);
        assert_eq!(problem.message, "study demo: scores-1.parquet is damaged");
        assert!(problem.detail.contains("/srv/somebody") && problem.detail.contains("make it"));
    }
}
