//! The paths of the project: the checkout, cargo's target folder, and the user's cache.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The packages that are compiled for this machine, including the front end, whose logic has unit
/// tests; without the cluster, which alone compiles DataFusion.
pub(crate) const NATIVE: [&str; 3] = ["--workspace", "--exclude", "cluster"];

/// The folders that all commands use.
pub(crate) struct ProjectPaths {
    /// The root of the checkout.
    pub(crate) root: PathBuf,
    /// Cargo's target folder: `CARGO_TARGET_DIR`, or else `target/` in the checkout.
    pub(crate) target: PathBuf,
    /// Folder for tools and models, shared by all checkouts: `AXIOSCOPE_CACHE`, or else `axioscope`
    /// in the user's cache folder.
    pub(crate) cache: PathBuf,
}

impl ProjectPaths {
    /// Finds the folders of the checkout whose `cargo xtask` is running, and enters its root.
    pub(crate) fn find() -> Result<ProjectPaths> {
        let package = std::env::var_os("CARGO_MANIFEST_DIR")
            .context("run this as `cargo xtask`, which says where the checkout is")?;
        let root = Path::new(&package)
            .parent()
            .context("xtask lies in no folder")?
            .to_owned();
        std::env::set_current_dir(&root)
            .with_context(|| format!("cannot enter {}", root.display()))?;
        let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        let target = root.join(target.unwrap_or_else(|| "target".into()));
        Ok(ProjectPaths {
            target,
            cache: cache()?,
            root,
        })
    }

    /// Returns the folder in the cache in which setup installs programs.
    pub(crate) fn tools(&self) -> PathBuf {
        self.cache.join("tools")
    }

    /// Returns the path of the program in the build folder of a profile, `debug` or `release`.
    pub(crate) fn program(&self, profile: &str) -> PathBuf {
        let name = format!("axioscope{}", std::env::consts::EXE_SUFFIX);
        self.target.join(profile).join(name)
    }

    /// Returns the folder of the built front end, which the backend embeds.
    pub(crate) fn dist(&self) -> PathBuf {
        self.root.join("dist")
    }
}

fn cache() -> Result<PathBuf> {
    let set = |name| {
        std::env::var_os(name)
            .filter(|it| !it.is_empty())
            .map(PathBuf::from)
    };
    if let Some(folder) = set("AXIOSCOPE_CACHE") {
        return Ok(std::path::absolute(folder)?);
    }
    let user = set("XDG_CACHE_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".cache")))
        .or_else(|| set("LOCALAPPDATA"))
        .context("no home folder is known: set AXIOSCOPE_CACHE to a folder for tools and models")?;
    Ok(user.join("axioscope"))
}
