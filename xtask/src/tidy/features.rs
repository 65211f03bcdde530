//! Checks that every selection of packages compiles the dependencies with the same features.
//!
//! Otherwise `cargo build -p backend` after `cargo build --workspace` compiles dozens of crates
//! again. `xtask/unified-features/Cargo.toml` enables the union of features; this rule reports what
//! is missing there.

use super::Finding;
use crate::paths::NATIVE;
use crate::process;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::process::Command;

const MANIFEST: &str = "xtask/unified-features/Cargo.toml";
/// The members that are built for this machine, alone or together.
const PACKAGES: [&str; 5] = ["shared", "neural", "backend", "frontend", "tests"];

/// Compares the features of each selection with those of the workspace. On other systems, which
/// have other dependencies, findings are only warnings.
pub(super) fn check() -> Result<Vec<Finding>> {
    let workspace = tree(&NATIVE)?;
    let mut findings = Vec::new();
    for package in PACKAGES {
        let selected = tree(&["--package", package])?;
        findings.extend(missing(package, &selected, &workspace));
    }
    if !cfg!(target_os = "linux") {
        findings = findings.into_iter().map(Finding::warning).collect();
    }
    Ok(findings)
}

/// Returns each dependency of a selection with its features, one per line.
fn tree(selection: &[&str]) -> Result<String> {
    let mut tree = Command::new("cargo");
    tree.args(["tree", "--locked", "--prefix", "none", "--no-dedupe"])
        .args(["--format", "{p} {f}"])
        .args(selection);
    process::output_of(&mut tree)
        .with_context(|| format!("`{}` failed", process::command_line(&tree)))
}

fn missing(package: &str, selected: &str, workspace: &str) -> Vec<Finding> {
    let known: BTreeSet<&str> = workspace.lines().map(str::trim_end).collect();
    let selected: BTreeSet<&str> = selected.lines().map(str::trim_end).collect();
    let others = selected.difference(&known);
    let finding = |line: &&str| {
        let what = format!(
            "`-p {package}` compiles `{line}`, the workspace has it with other features: \
             `cargo tree --workspace --invert` tells which; add them here"
        );
        Finding::at(MANIFEST, what)
    };
    others.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::shown;
    use super::*;

    #[test]
    fn a_dependency_with_other_features_is_found() {
        let workspace = "shared v0.1.0 \nserde v1.0.1 derive,rc,std\nlibm v0.2.1\n";
        assert_eq!(shown(&missing("shared", workspace, workspace)), "");
        let selected = "shared v0.1.0\nserde v1.0.1 derive,std\n";
        assert_eq!(
            shown(&missing("shared", selected, workspace)),
            "xtask/unified-features/Cargo.toml: `-p shared` compiles `serde v1.0.1 derive,std`, \
             the workspace has it with other features: `cargo tree --workspace --invert` tells \
             which; add them here\n",
        );
    }
}
