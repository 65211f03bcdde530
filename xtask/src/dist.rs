//! Builds the packages: one program with the front end inside, an archive, a Debian package
//! and the file tree of a container image.

mod files;
mod image;

use crate::paths::ProjectPaths;
use crate::{digest, process, setup, web};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A package that `cargo xtask dist` makes besides the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DistPackage {
    /// A `.tar.gz` with program, manual and completions.
    Archive,
    /// A Debian package, by cargo-deb; `backend/Cargo.toml` says what is in it.
    Debian,
    /// The file tree of a container image, which `packaging/Containerfile` copies.
    Image,
}

impl DistPackage {
    const ALL: [DistPackage; 3] = [
        DistPackage::Archive,
        DistPackage::Debian,
        DistPackage::Image,
    ];

    fn name(self) -> &'static str {
        match self {
            DistPackage::Archive => "archive",
            DistPackage::Debian => "deb",
            DistPackage::Image => "image",
        }
    }

    fn named(name: &str) -> Result<DistPackage> {
        let package = DistPackage::ALL.into_iter().find(|it| it.name() == name);
        package.with_context(|| {
            let all = DistPackage::ALL.map(DistPackage::name).join(", ");
            format!("`dist` makes no `{name}` but {all}")
        })
    }
}

/// Builds `dist/axioscope` in the target folder and the named packages, or all that this system can
/// make. Prints path, size and SHA-256 of each file.
pub(crate) fn run(place: &ProjectPaths, args: &[String]) -> Result<()> {
    let mut packages = args
        .iter()
        .map(|name| DistPackage::named(name))
        .collect::<Result<Vec<_>>>()?;
    if packages.is_empty() {
        packages.push(DistPackage::Archive);
        if cfg!(target_os = "linux") {
            packages.extend([DistPackage::Debian, DistPackage::Image]);
        }
    }
    let tools = setup::web(place)?;
    web::build(place, &tools, web::WebProfile::Release)?;
    let program = build_auditable_program(place)?;
    let files = files::write(place, &program)?;
    print_file(&program)?;
    for package in packages {
        match package {
            DistPackage::Archive => print_file(&write_archive(place, &files)?)?,
            DistPackage::Debian => print_file(&write_debian_package(place)?)?,
            DistPackage::Image => println!("{}", image::write(place, &files)?.display()),
        }
    }
    Ok(())
}

/// Cargo's profile for the program of the packages.
const PROFILE: &str = "dist";

/// Returns the folder of the packages, which is that of their program, too.
pub(crate) fn folder(place: &ProjectPaths) -> PathBuf {
    place.target.join(PROFILE)
}

/// Builds the server and command line with additional flags for `cargo build`.
pub(crate) fn build_program(flags: &[&str]) -> Result<()> {
    let mut build = Command::new("cargo");
    build.arg("build").args(PROGRAM).args(flags);
    println!("build: {}", process::command_line(&build));
    process::run(&mut build)
}

/// Builds the optimized program with the pages inside, and returns its path.
pub(crate) fn build_program_with_pages(place: &ProjectPaths) -> Result<PathBuf> {
    web::build(place, &setup::web(place)?, web::WebProfile::Release)?;
    build_program(&["--release"])?;
    Ok(place.program("release"))
}

/// What cargo builds.
const PROGRAM: [&str; 5] = ["--locked", "--package", "backend", "--bin", "axioscope"];

/// Builds the program of the packages, with the list of its dependencies inside.
fn build_auditable_program(place: &ProjectPaths) -> Result<PathBuf> {
    let mut build = Command::new(setup::auditable(place)?);
    build
        .args(["auditable", "build", "--profile", PROFILE])
        .args(PROGRAM);
    println!("build: {}", process::command_line(&build));
    process::run(&mut build)?;
    Ok(place.program(PROFILE))
}

/// Packs the files into a `.tar.gz` that is the same for the same files.
fn write_archive(place: &ProjectPaths, files: &Path) -> Result<PathBuf> {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let name = format!("axioscope-{}-{arch}-{os}", env!("CARGO_PKG_VERSION"));
    let archive = folder(place).join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
        .arg(format!("--mtime=@{}", commit_time()))
        .arg(format!("--transform=s,^\\.,{name},"))
        .args(["--create", "--gzip", "--file"])
        .arg(&archive)
        .arg("--directory")
        .args([files.as_os_str(), ".".as_ref()]);
    process::run(&mut tar)?;
    Ok(archive)
}

fn write_debian_package(place: &ProjectPaths) -> Result<PathBuf> {
    let folder = folder(place).join("debian");
    recreate(&folder)?;
    let mut deb = Command::new(setup::deb(place)?);
    deb.args(["deb", "--package", "backend", "--no-build", "--no-strip"])
        .args(["--profile", PROFILE])
        .env("SOURCE_DATE_EPOCH", commit_time())
        .arg("--output")
        .arg(&folder);
    process::run(&mut deb)?;
    let mut entries = fs::read_dir(&folder)?;
    let entry = entries.next().context("cargo-deb has written no file")?;
    Ok(entry?.path())
}

/// Returns the time of the commit that is checked out, in seconds since 1970; 0 without one.
fn commit_time() -> String {
    let mut git = Command::new("git");
    let time = process::output_of(git.args(["log", "-1", "--format=%ct"]));
    time.unwrap_or_else(|| "0".to_owned())
}

/// Creates an empty folder; what was in it is removed.
fn recreate(folder: &Path) -> Result<()> {
    if folder.exists() {
        let removed = fs::remove_dir_all(folder);
        removed.with_context(|| format!("removing {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))
}

/// Copies a file to a path, whose folder is created.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    }
    let copied = fs::copy(from, to);
    copied.with_context(|| format!("copying {} to {}", from.display(), to.display()))?;
    Ok(())
}

fn print_file(file: &Path) -> Result<()> {
    let size_mb = fs::metadata(file)?.len() as f64 / 1e6;
    let hash = digest::file(file)?;
    println!("{}\n{size_mb:.1} MB, SHA-256 {hash}", file.display());
    Ok(())
}
