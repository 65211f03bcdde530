//! The files of a package: program, manual, completions, service, licenses and bills of materials.

use super::{commit_time, copy, folder, recreate};
use crate::paths::ProjectPaths;
use crate::{process, setup};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of the checkout that every package has.
const DOCUMENTS: [&str; 6] = [
    "README.md",
    "CHANGELOG.md",
    "LICENSE-MIT",
    "packaging/axioscope.service",
    "packaging/axioscope.default",
    "packaging/axioscope-backup",
];

/// The packages whose dependencies are in the program, with the target that they are compiled for
/// and the name of their bill of materials.
const BILLS: [(&str, Option<&str>, &str); 2] = [
    ("backend", None, "axioscope.cdx.json"),
    (
        "frontend",
        Some("wasm32-unknown-unknown"),
        "axioscope-pages.cdx.json",
    ),
];

/// Writes the files of all packages into `dist/package/` in the target folder, where cargo-deb
/// finds them, and returns that folder.
pub(super) fn write(place: &ProjectPaths, program: &Path) -> Result<PathBuf> {
    let files = folder(place).join("package");
    recreate(&files)?;
    copy(
        program,
        &files.join(program.file_name().context("the program has a name")?),
    )?;
    process::run(Command::new(program).arg("manual").arg(&files))?;
    for document in DOCUMENTS {
        let name = Path::new(document).file_name().unwrap_or_default();
        copy(&place.root.join(document), &files.join(name))?;
    }
    for (package, target, name) in BILLS {
        let bill = bill_of_materials(place, package, target)?;
        fs::write(files.join(name), bill)?;
    }
    Ok(files)
}

/// Returns the dependencies of a package with versions and licenses, in CycloneDX's JSON.
/// Paths begin at the root of the checkout.
fn bill_of_materials(place: &ProjectPaths, package: &str, target: Option<&str>) -> Result<String> {
    const NAME: &str = "bill-of-materials";

    let mut cyclonedx = Command::new(setup::cyclonedx(place)?);
    cyclonedx
        .args(["cyclonedx", "--quiet", "--format", "json"])
        .args(["--spec-version", "1.5", "--no-build-deps"])
        .args(["--override-filename", NAME])
        .env("SOURCE_DATE_EPOCH", commit_time());
    if let Some(target) = target {
        cyclonedx.args(["--target", target]);
    }
    process::run(&mut cyclonedx)?;
    // It writes one file for each package of the workspace, beside its manifest.
    let mut bill = None;
    for folder in package_folders()? {
        let file = folder.join(format!("{NAME}.json"));
        if folder == place.root.join(package) {
            let text = fs::read_to_string(&file);
            let text = text.with_context(|| format!("reading {}", file.display()))?;
            bill = Some(text.replace(&place.root.display().to_string(), ""));
        }
        fs::remove_file(&file).with_context(|| format!("removing {}", file.display()))?;
    }
    bill.with_context(|| format!("the workspace has no package in {package}/"))
}

/// Returns the folders of the packages of the workspace.
fn package_folders() -> Result<Vec<PathBuf>> {
    let mut metadata = Command::new("cargo");
    metadata.args(["metadata", "--locked", "--no-deps", "--format-version", "1"]);
    let printed = process::output_of(&mut metadata);
    let printed = printed.context("`cargo metadata` failed")?;
    let read: CargoMetadata = serde_json::from_str(&printed)?;
    let folders = read.packages.into_iter();
    Ok(folders
        .filter_map(|it| Some(it.manifest_path.parent()?.to_owned()))
        .collect())
}

/// What `cargo metadata` prints about a workspace, as far as it is read.
#[derive(serde::Deserialize)]
struct CargoMetadata {
    packages: Vec<PackageManifest>,
}

/// Where the manifest of a package is.
#[derive(serde::Deserialize)]
struct PackageManifest {
    manifest_path: PathBuf,
}
