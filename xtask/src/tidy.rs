//! The style rules that a program can check.
//!
//! A rule is a function from its input to findings, so that a bad snippet tests it.

mod code;
mod rust;
mod modules;
mod names;
mod files;
mod manifest;
mod features;
mod demo;

use crate::process;
use crate::test::TestCounts;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Of one file, that many findings are shown.
const MAX_SHOWN_FINDINGS: usize = 20;

/// What is wrong, and where.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    /// A path from the root of the checkout, with `:line` where there is one.
    place: String,
    what: String,
    weight: Severity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Severity {
    /// Must go.
    Error,
    /// Deserves a second look.
    Warning,
}

impl Finding {
    fn at(path: &str, what: impl Into<String>) -> Finding {
        Finding {
            place: path.to_owned(),
            what: what.into(),
            weight: Severity::Error,
        }
    }

    fn at_line(path: &str, line: usize, what: impl Into<String>) -> Finding {
        Finding::at(&format!("{path}:{line}"), what)
    }

    fn warning(self) -> Finding {
        Finding {
            weight: Severity::Warning,
            ..self
        }
    }
}

/// A file of the checkout that is committed, or would be.
struct File {
    /// From the root, with `/`.
    path: String,
    n_bytes: u64,
    /// Empty when the file is not text.
    text: String,
    /// In Rust, the index of the line from which on everything is tests.
    first_test_line: usize,
}

/// Prints the findings and says whether there was an error among them.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let tally = check(root)?;
    Ok(if tally.n_failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The whole checkout against all rules, as one check that passed or failed.
pub(crate) fn check(root: &Path) -> Result<TestCounts> {
    let files = files(root)?;
    let mut findings = findings(root, &files);
    findings.extend(features::check()?);
    print(&findings);
    let n_errors = findings
        .iter()
        .filter(|it| it.weight == Severity::Error)
        .count();
    println!("tidy: {} files, {n_errors} errors", files.len());
    Ok(match n_errors {
        0 => TestCounts::passed(1),
        _ => TestCounts {
            n_failed: 1,
            ..TestCounts::default()
        },
    })
}

fn print(findings: &[Finding]) {
    let mut n_told: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in findings {
        let weight = match finding.weight {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let file = finding.place.split(':').next().unwrap_or_default();
        let n_told = n_told.entry(file).or_default();
        *n_told += 1;
        if *n_told <= MAX_SHOWN_FINDINGS {
            println!("{weight}: {}: {}", finding.place, finding.what);
        }
    }
    for (file, n_found) in n_told
        .iter()
        .filter(|(_, n_told)| **n_told > MAX_SHOWN_FINDINGS)
    {
        println!("{file}: {} more", n_found - MAX_SHOWN_FINDINGS);
    }
}

fn findings(root: &Path, files: &[File]) -> Vec<Finding> {
    let mut findings = files::check(files, &files::machine_folders(root));
    for file in files.iter().filter(|it| it.path.ends_with(".rs")) {
        findings.extend(rust::check(file));
        findings.extend(names::check_docstrings(file));
    }
    findings.extend(names::check_types(files));
    findings.extend(modules::check(files));
    let text_of = |path: &str| files.iter().find(|it| it.path == path).map(|it| &*it.text);
    for file in files.iter().filter(|it| it.path.ends_with("Cargo.toml")) {
        findings.extend(manifest::check_lints(&file.path, &file.text));
    }
    if let Some(text) = text_of("Cargo.toml") {
        findings.extend(manifest::check("Cargo.toml", text));
    }
    findings.extend(
        match (
            text_of(demo::CORPUS),
            text_of(demo::QUERIES),
            text_of(demo::QRELS),
        ) {
            (Some(corpus), Some(queries), Some(qrels)) => demo::check(corpus, queries, qrels),
            _ => vec![Finding::at("demo", "the demo collection is not complete")],
        },
    );
    for file in demo::TRANSFERS {
        findings.extend(match text_of(file) {
            Some(text) => demo::check_pairs(file, text),
            None => vec![Finding::at(file, "is missing")],
        });
    }
    findings
}

/// Everything git knows or would add.
fn files(root: &Path) -> Result<Vec<File>> {
    let mut git = Command::new("git");
    git.current_dir(root).args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    let list =
        process::output_of(&mut git).context("`git ls-files` failed: is this a checkout?")?;
    let mut paths: Vec<&str> = list.split('\0').filter(|it| !it.is_empty()).collect();
    paths.sort();
    paths.dedup();
    let mut files = Vec::new();
    for path in paths {
        let full: PathBuf = root.join(path);
        // A file that was deleted and is not yet committed as such.
        if !full.is_file() {
            continue;
        }
        let bytes = std::fs::read(&full).with_context(|| format!("reading {path}"))?;
        files.push(File {
            path: path.to_owned(),
            n_bytes: bytes.len() as u64,
            text: String::from_utf8(bytes).unwrap_or_default(),
            first_test_line: usize::MAX,
        });
    }
    rust::find_tests(&mut files);
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings as `place: what`, one a line, for the rules' tests.
    pub(super) fn shown(findings: &[Finding]) -> String {
        findings
            .iter()
            .map(|it| format!("{}: {}\n", it.place, it.what))
            .collect()
    }

    pub(super) fn file(path: &str, text: &str) -> File {
        File {
            path: path.to_owned(),
            n_bytes: text.len() as u64,
            text: text.to_owned(),
            first_test_line: usize::MAX,
        }
    }
}
