//! Builds the front end and its worker into `dist/`, unless they are up to date.

use crate::paths::ProjectPaths;
use crate::setup::WebTools;
use crate::{digest, process};
use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;

/// What the front end is made of, below the checkout. `shared` includes nothing but itself.
const INPUTS: [&str; 7] = [
    "demo",
    "frontend",
    "shared",
    "Cargo.toml",
    "Cargo.lock",
    "Trunk.toml",
    ".cargo/config.toml",
];

/// How the front end is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WebProfile {
    /// Quickly, for tests, the demo and work on the pages.
    Development,
    /// Small and fast, as it is shipped; takes minutes.
    Release,
}

impl WebProfile {
    fn trunk_arguments(self) -> &'static [&'static str] {
        match self {
            WebProfile::Development => &["build", "--release=false", "--cargo-profile=dev"],
            WebProfile::Release => &["build"],
        }
    }
}

/// Leaves a `dist/` that was built from exactly what is in the checkout now.
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
    // Trunk takes `NO_COLOR=1`, as everyone else sets it, for a malformed flag.
    let mut trunk = tools.command("trunk");
    process::run(trunk.args(profile.trunk_arguments()).env_remove("NO_COLOR"))?;
    if profile == WebProfile::Release {
        compress(place, tools)?;
    }
    fs::write(&file, stamp_of(place, &inputs, profile)?)
        .with_context(|| format!("writing {}", file.display()))
}

/// Lays beside each file what is sent of it, as small as Brotli makes it: that takes seconds,
/// too long for a server to do when it is asked.
fn compress(place: &ProjectPaths, tools: &WebTools) -> Result<()> {
    let script = place.root.join("xtask/web/compress.mjs");
    process::run(tools.command("node").args([script, place.dist()]))
}

/// What was built from, how, and what came out: each may change behind our back.
fn stamp_of(place: &ProjectPaths, inputs: &str, profile: WebProfile) -> Result<String> {
    Ok(format!(
        "{profile:?} {inputs} {}",
        digest::files_below(&[place.dist()])?
    ))
}
