//! Installs the peers from package registries into `target/bench/`.

use super::{BenchContext, text};
use crate::process;
use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Packages from PyPI for lexical peers. PyStemmer gives ir_axioms the same stems as ours.
const LEXICAL: [&str; 5] = [
    "bm25s==0.3.16",
    "numba",
    "ir_axioms==1.2.5",
    "PyStemmer",
    "gensim==4.4.0",
];
/// Packages from PyPI for neural peers. ir_axioms in the same environment requires numpy 1.
const NEURAL: [&str; 6] = [
    "torch",
    "transformers",
    "onnx",
    "onnxscript",
    "onnxruntime",
    "numpy==1.26.4",
];

/// Returns a Python environment with the packages for lexical peers.
pub(super) fn lexical_python(bench: &BenchContext<'_>) -> Result<PathBuf> {
    python(
        bench,
        &LEXICAL,
        "import bm25s, numba, ir_axioms, Stemmer, gensim",
    )
}

/// Returns a Python environment with PyTorch and onnxruntime.
pub(super) fn neural_python(bench: &BenchContext<'_>) -> Result<PathBuf> {
    python(
        bench,
        &NEURAL,
        "import torch, transformers, onnx, onnxscript, onnxruntime",
    )
}

fn python(bench: &BenchContext<'_>, packages: &[&str], works: &str) -> Result<PathBuf> {
    let venv = bench.folder.join("venv");
    let python = venv.join("bin/python");
    if process::output_of(Command::new(&python).args(["-c", works])).is_some() {
        return Ok(python);
    }
    println!("bench: pip install {}", packages.join(" "));
    if !python.is_file() {
        process::run(Command::new("python3").args(["-m", "venv", &text(&venv)]))?;
    }
    process::run(
        Command::new(&python)
            .args(["-m", "pip", "install", "-q"])
            .args(packages),
    )?;
    Ok(python)
}

/// Returns the version of an installed Python package.
pub(super) fn version(python: &PathBuf, package: &str) -> String {
    let code = format!("import importlib.metadata as m; print(m.version('{package}'))");
    process::output_of(Command::new(python).args(["-c", &code])).unwrap_or_default()
}

/// Builds the peer tantivy in its own workspace and returns its path.
pub(super) fn tantivy(bench: &BenchContext<'_>) -> Result<PathBuf> {
    let folder = bench.folder.join("tantivy");
    fs::create_dir_all(folder.join("src"))?;
    for (from, to) in [
        ("tantivy.toml", "Cargo.toml"),
        ("tantivy.rs", "src/main.rs"),
        ("clock.rs", "src/clock.rs"),
    ] {
        let new = fs::read_to_string(bench.script(from))?;
        // Unchanged files are not written, so that they are not built again.
        if fs::read_to_string(folder.join(to)).ok().as_deref() != Some(new.as_str()) {
            fs::write(folder.join(to), new)?;
        }
    }
    let target = folder.join("target");
    let mut build = Command::new("cargo");
    build
        .args(["build", "--release", "--quiet"])
        .current_dir(&folder);
    process::run(build.env("CARGO_TARGET_DIR", &target)).context("building the peer tantivy")?;
    Ok(target
        .join("release")
        .join(format!("tantivy-peer{}", std::env::consts::EXE_SUFFIX)))
}
