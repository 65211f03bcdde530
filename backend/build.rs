//! Makes the folder of the front end, so that the backend also builds before trunk has run, and
//! finds out which commit is built.

use std::path::Path;
use std::process::Command;

fn main() {
    let dist = Path::new("../dist");
    if let Err(error) = std::fs::create_dir_all(dist) {
        println!("cargo::error=cannot make the folder dist: {error}");
    }
    // A debug program reads the pages when it is asked for them; any other holds them.
    if std::env::var("PROFILE").is_ok_and(|it| it == "release") {
        println!("cargo::rerun-if-changed=../dist");
    }
    println!("cargo::rerun-if-changed=build.rs");

    let commit = commit().unwrap_or_else(|| "unknown commit".to_owned());
    println!("cargo::rustc-env=AXIOSCOPE_COMMIT={commit}");
}

/// The commit that is checked out; none outside a checkout of this repository.
fn commit() -> Option<String> {
    // Sources without a history may lie inside the repository of something else.
    if git(&["rev-parse", "--show-prefix"])? != "backend/" {
        return None;
    }
    // Git adds a line to this file with each commit and each checkout.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).is_file() {
        println!("cargo::rerun-if-changed={log}");
    }
    git(&["rev-parse", "--short=10", "HEAD"])
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
