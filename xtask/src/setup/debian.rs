//! Installs packages on Debian and its derivatives, if permitted.

use super::say;
use crate::process;
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::{Command, Stdio};

/// Returns whether this is a Debian-like system and the user is root.
pub(super) fn is_available() -> bool {
    process::find("apt-get", &process::search_path()).is_some()
        && process::output_of(Command::new("id").arg("-u")).as_deref() == Some("0")
}

/// Finds programs, or installs the packages that have them. `main` returns the program that is
/// named, and `missing` says what to do where neither is possible.
pub(super) fn find_or_install<T>(
    find: impl Fn() -> Option<T>,
    main: impl Fn(&T) -> &Path,
    packages: &[&str],
    missing: &str,
) -> Result<T> {
    if let Some(found) = find() {
        say(&format!("{}: found", main(&found).display()));
        return Ok(found);
    }
    if is_available() {
        say(&format!("apt-get install {}", packages.join(" ")));
        install(packages)?;
    }
    find().with_context(|| missing.to_owned())
}

/// Installs packages. The package lists are updated only if the first attempt fails.
pub(super) fn install(packages: &[&str]) -> Result<()> {
    if !is_available() {
        bail!("packages are installed by the administrator of a Debian-like system only");
    }
    if try_install(packages).is_ok() {
        return Ok(());
    }
    process::run(apt().args(["-qq", "update"]))?;
    try_install(packages)
}

fn try_install(packages: &[&str]) -> Result<()> {
    let mut install = apt();
    install
        .args(["-qq", "install", "-y", "--no-install-recommends"])
        .args(packages);
    // dpkg prints several lines for each package; errors go to standard error.
    process::run(install.stdout(Stdio::null()))
}

fn apt() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}
