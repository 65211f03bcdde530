//! Checks to run before every commit: format, style, lints, and the unit tests of the packages that
//! changed and of those that depend on them.

use super::report::TestReport;
use super::{Step, TestContext};
use crate::paths::ProjectPaths;
use crate::{process, setup};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, ExitCode};

/// Packages that run in the browser.
const WASM: [&str; 2] = ["frontend", "worker"];

/// Checks the named packages, or those that changed since the branch left `main`.
pub(crate) fn run(place: &ProjectPaths, named: &[String]) -> Result<ExitCode> {
    let packages = packages(place)?;
    let selected = match named {
        [] => {
            let base = base();
            let files = changed_files(&base)?;
            let changed = packages_of(&files, &packages);
            println!("changed since {base}: {}", joined(&changed));
            with_dependents(&changed, &packages)
        }
        named => {
            if let Some(unknown) = named.iter().find(|it| !packages.contains_key(*it)) {
                bail!(
                    "there is no package `{unknown}`: take some of {}",
                    joined(&packages.into_keys().collect())
                );
            }
            named.iter().cloned().collect()
        }
    };

    let mut bench = TestContext::new(place)?;
    let mut report = TestReport::default();
    let mut steps = vec![Step::Fmt, Step::Tidy, Step::Clippy];
    if WASM.iter().any(|it| selected.contains(*it)) {
        match setup::has_wasm() {
            true => steps.push(Step::ClippyWasm),
            false => println!("no lints of what runs in the browser: run `cargo xtask setup` once"),
        }
    }
    for step in steps {
        report.run(step, || bench.run(step));
    }
    if !selected.is_empty() {
        report.run(Step::Unit, || bench.unit(Some(&selected)));
    }
    println!("\nunit tests ran of: {}", joined(&selected));
    Ok(report.finish())
}

fn joined(names: &BTreeSet<String>) -> String {
    match names.is_empty() {
        true => "none".to_owned(),
        false => names
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// A member of the workspace.
struct Package {
    /// The folder relative to the root of the checkout, ending with `/`.
    folder: String,
    /// The names of its dependencies of any kind.
    depends_on: BTreeSet<String>,
}

/// The members of the workspace by name.
type Packages = BTreeMap<String, Package>;

fn packages(place: &ProjectPaths) -> Result<Packages> {
    let mut metadata = Command::new("cargo");
    metadata.args([
        "metadata",
        "--format-version",
        "1",
        "--no-deps",
        "--offline",
    ]);
    let json = process::output_of(&mut metadata)
        .with_context(|| format!("`{}` failed", process::command_line(&metadata)))?;
    let root = format!("{}/", place.root.display());
    read_packages(&serde_json::from_str(&json)?, &root).context("cargo's metadata has another form")
}

fn read_packages(metadata: &Value, root: &str) -> Option<Packages> {
    let read = |package: &Value| -> Option<(String, Package)> {
        let manifest = package["manifest_path"].as_str()?;
        let dependencies = package["dependencies"].as_array()?.iter();
        let depends_on = dependencies
            .filter(|it| it["path"].is_string())
            .filter_map(|it| Some(it["name"].as_str()?.to_owned()))
            .collect();
        let folder = manifest
            .strip_prefix(root)?
            .strip_suffix("Cargo.toml")?
            .to_owned();
        Some((
            package["name"].as_str()?.to_owned(),
            Package { folder, depends_on },
        ))
    };
    metadata["packages"].as_array()?.iter().map(read).collect()
}

/// Returns the commit where the branch left `main`, or `HEAD` in a clone without `origin/main`.
fn base() -> String {
    process::output_of(Command::new("git").args(["merge-base", "HEAD", "origin/main"]))
        .map(|it| it.chars().take(10).collect())
        .unwrap_or_else(|| "HEAD".to_owned())
}

/// Returns the paths of files that differ from a commit, including untracked ones.
fn changed_files(base: &str) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for args in [
        ["diff", "--name-only", "--no-renames", "-z", base].as_slice(),
        &["ls-files", "--others", "--exclude-standard", "-z"],
    ] {
        let mut git = Command::new("git");
        let list = process::output_of(git.args(args))
            .with_context(|| format!("`{}` failed", process::command_line(&git)))?;
        files.extend(
            list.split('\0')
                .filter(|it| !it.is_empty())
                .map(str::to_owned),
        );
    }
    Ok(files)
}

/// Returns the packages to which files belong. Files outside of all packages, such as `Cargo.lock`
/// and the demo collection, count for all packages, unless they are documentation.
fn packages_of(files: &[String], packages: &Packages) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for file in files {
        let owner = packages
            .iter()
            .filter(|(_, package)| file.starts_with(&package.folder))
            .max_by_key(|(_, package)| package.folder.len());
        match owner {
            Some((name, _)) => {
                found.insert(name.clone());
            }
            None if file.ends_with(".md") || file.starts_with("docs/") => (),
            None => return packages.keys().cloned().collect(),
        }
    }
    found
}

/// Returns the packages with all packages that depend on them, directly or indirectly.
fn with_dependents(changed: &BTreeSet<String>, packages: &Packages) -> BTreeSet<String> {
    let mut found = changed.clone();
    loop {
        let more: Vec<String> = packages
            .iter()
            .filter(|(name, it)| !found.contains(*name) && !it.depends_on.is_disjoint(&found))
            .map(|(name, _)| name.clone())
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// `worker` is in the folder of `frontend`, and `tests` uses `backend` only in its own tests.
    fn workspace() -> Packages {
        let package = |name: &str, folder: &str, depends_on: &[&str]| {
            let dependencies: Vec<Value> = depends_on
                .iter()
                .map(|it| json!({"name": it, "path": format!("/c/{it}"), "kind": "dev"}))
                .chain([json!({"name": "serde"})])
                .collect();
            json!({
                "name": name,
                "manifest_path": format!("/c/{folder}/Cargo.toml"),
                "dependencies": dependencies,
            })
        };
        let metadata = json!({"packages": [
            package("shared", "shared", &[]),
            package("neural", "neural", &[]),
            package("backend", "backend", &["shared", "neural"]),
            package("frontend", "frontend", &["shared"]),
            package("worker", "frontend/worker", &["shared"]),
            package("tests", "tests", &["backend"]),
        ]});
        read_packages(&metadata, "/c/").unwrap()
    }

    fn selected(files: &[&str]) -> String {
        let files: Vec<String> = files.iter().map(|it| (*it).to_owned()).collect();
        let packages = workspace();
        joined(&with_dependents(&packages_of(&files, &packages), &packages))
    }

    #[test]
    fn a_change_selects_its_package_and_all_dependents() {
        assert_eq!(selected(&["neural/src/lib.rs"]), "backend, neural, tests");
        assert_eq!(selected(&["tests/src/cli.rs"]), "tests");
        assert_eq!(
            selected(&["shared/src/probe.rs"]),
            "backend, frontend, shared, tests, worker"
        );
    }

    #[test]
    fn a_file_belongs_to_the_innermost_package() {
        assert_eq!(selected(&["frontend/worker/src/main.rs"]), "worker");
        assert_eq!(selected(&["frontend/style/pages.css"]), "frontend");
    }

    #[test]
    fn a_file_outside_of_all_packages_selects_all_unless_it_is_documentation() {
        let all = "backend, frontend, neural, shared, tests, worker";
        assert_eq!(selected(&["Cargo.lock"]), all);
        assert_eq!(selected(&["demo/corpus.jsonl"]), all);
        assert_eq!(selected(&["README.md", "docs/images/study.png"]), "none");
        assert_eq!(selected(&[]), "none");
    }
}
