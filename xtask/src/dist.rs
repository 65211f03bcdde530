//! One release binary with the front end inside.

use crate::place::Place;
use crate::{digest, process, setup, web};
use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Builds `dist/axioscope` in the target folder and says what it is.
pub(crate) fn run(place: &Place) -> Result<()> {
    let tools = setup::web(place)?;
    web::build(place, &tools)?;
    let program = release_binary(place)?;
    let folder = place.target.join("dist");
    fs::create_dir_all(&folder)?;
    let copy = folder.join(program.file_name().context("the program has a name")?);
    fs::copy(&program, &copy).with_context(|| format!("writing {}", copy.display()))?;
    let size_mb = fs::metadata(&copy)?.len() as f64 / 1e6;
    println!("{}", copy.display());
    println!("{size_mb:.1} MB, SHA-256 {}", digest::file(&copy)?);
    Ok(())
}

/// The optimised program with the front end of `dist/` inside.
pub(crate) fn release_binary(place: &Place) -> Result<PathBuf> {
    println!("build: cargo build --release --package backend");
    process::run(Command::new("cargo").args([
        "build",
        "--locked",
        "--release",
        "--package",
        "backend",
        "--bin",
        "axioscope",
    ]))?;
    let name = format!("axioscope{}", std::env::consts::EXE_SUFFIX);
    Ok(place.target.join("release").join(name))
}
