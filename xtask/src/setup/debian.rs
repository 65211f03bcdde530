//! Packages of Debian and its derivatives, for users who may install them.

use crate::process;
use anyhow::{Result, bail};
use std::process::{Command, Stdio};

/// Whether this is such a system and we are its administrator.
pub(super) fn is_available() -> bool {
    process::find("apt-get", &process::search_path()).is_some()
        && process::output_of(Command::new("id").arg("-u")).as_deref() == Some("0")
}

/// Installs packages; the lists of what there is are fetched only when the first try fails.
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
    // dpkg has several lines for each package; complaints come on the other channel.
    process::run(install.stdout(Stdio::null()))
}

fn apt() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}
