//! Builds one release binary with the front end inside.

use crate::paths::ProjectPaths;
use crate::{digest, process, setup, web};
use anyhow::{Context, Result};
use std::fs;
use std::process::Command;

/// Builds `dist/axioscope` in the target folder, and prints its path, size and SHA-256.
pub(crate) fn run(place: &ProjectPaths) -> Result<()> {
    let tools = setup::web(place)?;
    web::build(place, &tools, web::WebProfile::Release)?;
    build_program(&["--release"])?;
    let program = place.program("release");
    let folder = place.target.join("dist");
    fs::create_dir_all(&folder)?;
    let copy = folder.join(program.file_name().context("the program has a name")?);
    fs::copy(&program, &copy).with_context(|| format!("writing {}", copy.display()))?;
    let size_mb = fs::metadata(&copy)?.len() as f64 / 1e6;
    println!("{}", copy.display());
    println!("{size_mb:.1} MB, SHA-256 {}", digest::file(&copy)?);
    Ok(())
}

/// Builds the server and command line with additional flags for `cargo build`.
pub(crate) fn build_program(flags: &[&str]) -> Result<()> {
    let mut build = Command::new("cargo");
    build.args([
        "build",
        "--locked",
        "--package",
        "backend",
        "--bin",
        "axioscope",
    ]);
    build.args(flags);
    println!("build: {}", process::command_line(&build));
    process::run(&mut build)
}
