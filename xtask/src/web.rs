//! Builds the front end and its worker into `dist/`, unless they are up to date.

use crate::paths::ProjectPaths;
use crate::setup::WebTools;
use crate::{digest, process};
use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;

/// The sources of the front end, relative to the checkout. `shared` includes no other files.
const INPUTS: [&str; 7] = [
    "demo",
    "frontend",
    "shared",
    "Cargo.toml",
    "Cargo.lock",
    "Trunk.toml",
    ".cargo/config.toml",
];

/// The profile with which the front end is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WebProfile {
    /// A fast build, for tests, the demo and development.
    Development,
    /// A small and fast program for releases; the build takes minutes.
    Release,
}

impl WebProfile {
    fn trunk_arguments(self) -> &'static [&'static str] {
        match self {
            WebProfile::Development => &["build", "--release=false", "--cargo-profile=dev"],
            WebProfile::Release => &["build"],
        }
    }

    /// Returns the quality of Brotli, and the extension of files that are kept compressed only.
    /// Without a compressed version, each server compresses each file when it is first requested,
    /// which takes a program of the development profile longer than everything else that it does.
    fn compression_arguments(self) -> &'static [&'static str] {
        match self {
            WebProfile::Development => &["1"],
            WebProfile::Release => &["11", ".wasm"],
        }
    }
}

/// Makes sure that `dist/` was built from the current state of the checkout.
pub(crate) fn build(place: &ProjectPaths, tools: &WebTools, profile: WebProfile) -> Result<()> {
    let inputs: Vec<PathBuf> = INPUTS.iter().map(|it| place.root.join(it)).collect();
    let inputs = digest::files_below(&inputs)?;
    let file = place.target.join("web.stamp");
    let stamp = fs::read_to_string(&file).unwrap_or_default();
    if stamp == stamp_of(place, &inputs, profile)? && place.dist().join("index.html").is_file() {
        println!("web: dist/ is current");
        return Ok(());
    }
    println!("web: trunk {}", profile.trunk_arguments().join(" "));
    // Trunk rejects `NO_COLOR=1`, the usual value, as an invalid flag.
    let mut trunk = tools.command("trunk");
    process::run(trunk.args(profile.trunk_arguments()).env_remove("NO_COLOR"))?;
    compress(place, tools, profile)?;
    fs::write(&file, stamp_of(place, &inputs, profile)?)
        .with_context(|| format!("writing {}", file.display()))
}

/// Writes a Brotli-compressed version next to each file, or in its place. At the best level this
/// takes seconds, too long for a server on request.
fn compress(place: &ProjectPaths, tools: &WebTools, profile: WebProfile) -> Result<()> {
    let script = place.root.join("xtask/web/compress.mjs");
    let mut node = tools.command("node");
    process::run(
        node.args([script, place.dist()])
            .args(profile.compression_arguments()),
    )
}

/// Returns a text that identifies the sources, the profile and the output of a build, since each
/// may change.
fn stamp_of(place: &ProjectPaths, inputs: &str, profile: WebProfile) -> Result<String> {
    Ok(format!(
        "{profile:?} {inputs} {}",
        digest::files_below(&[place.dist()])?
    ))
}
