//! The programs that build the front end, each at one version, and the packages of node.

use super::say;
use crate::place::Place;
use crate::process;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// 0.22 asks for a newer Rust than the workspace does.
const TRUNK: &str = "0.21.14";
/// Older ones (Debian's 108) mix up externref tables: the page stays empty and says nothing.
const BINARYEN: &str = "132";
/// Installed together, because npm removes what it was not asked for.
const NODE_PACKAGES: [&str; 2] = ["binaryen@132.0.0", "axe-core@4.14.1"];

/// Builds the front end.
pub(super) fn trunk(place: &Place) -> Result<()> {
    // It moves files about: compiling it well takes longer than it ever runs.
    let trunk = CargoProgram {
        program: "trunk",
        package: "trunk",
        version: TRUNK,
        opt_level: "0",
    };
    trunk.install(place)
}

/// Writes the glue between wasm and JavaScript; of the very version the front end links.
pub(super) fn wasm_bindgen(place: &Place) -> Result<()> {
    let lock = fs::read_to_string(place.root.join("Cargo.lock")).context("reading Cargo.lock")?;
    let version = locked_version(&lock, "wasm-bindgen")
        .context("Cargo.lock names no wasm-bindgen: is the front end still in the workspace?")?;
    // It reads and writes megabytes at each build of the front end.
    let wasm_bindgen = CargoProgram {
        program: "wasm-bindgen",
        package: "wasm-bindgen-cli",
        version: &version,
        opt_level: "1",
    };
    wasm_bindgen.install(place)
}

/// Makes the wasm smaller. binaryen's own build, in JavaScript, behind a script of two lines.
pub(super) fn wasm_opt(place: &Place) -> Result<()> {
    if found(place, "wasm-opt", BINARYEN) {
        return Ok(());
    }
    node_packages(place)?;
    let script = place.tools().join("bin/wasm-opt");
    write_script(
        &script,
        "#!/bin/sh\nexec node \"$(dirname \"$0\")/../node_modules/binaryen/bin/wasm-opt\" \"$@\"\n",
    )?;
    if !found(place, "wasm-opt", BINARYEN) {
        bail!("{} does not run: is node on PATH?", script.display());
    }
    Ok(())
}

/// The accessibility checker that the browser tests inject.
pub(super) fn axe(place: &Place) -> Result<PathBuf> {
    let file = place.tools().join("node_modules/axe-core/axe.min.js");
    if !file.is_file() {
        node_packages(place)?;
    }
    Ok(file)
}

fn node_packages(place: &Place) -> Result<()> {
    say(&format!("npm install {}", NODE_PACKAGES.join(" ")));
    let tools = place.tools();
    fs::create_dir_all(&tools)?;
    process::run(
        Command::new("npm")
            .args([
                "install",
                "--silent",
                "--no-save",
                "--no-audit",
                "--no-fund",
                "--prefix",
            ])
            .arg(&tools)
            .args(NODE_PACKAGES),
    )
    .with_context(|| {
        format!(
            "the node packages {} are missing. Either install Node.js with npm and let this \
             command fetch them, or unpack them into {}/node_modules by hand",
            NODE_PACKAGES.join(" and "),
            tools.display()
        )
    })
}

/// A program that comes from crates.io as source. No registry that the other tools come from has
/// a binary of it.
struct CargoProgram<'a> {
    program: &'a str,
    package: &'a str,
    version: &'a str,
    /// Built to run a few times: a quick build beats a quick program.
    opt_level: &'a str,
}

impl CargoProgram<'_> {
    /// Takes the program from the cache or from `PATH` if the version is right, else builds it.
    fn install(&self, place: &Place) -> Result<()> {
        let CargoProgram {
            program,
            package,
            version,
            opt_level,
        } = self;
        if found(place, program, version) {
            return Ok(());
        }
        say(&format!(
            "{program} {version}: building it, which takes minutes, once"
        ));
        process::run(
            Command::new("cargo")
                .args(["install", "--locked", package, "--version", version])
                .args(["--no-default-features", "--force", "--root"])
                .arg(place.tools())
                .env("CARGO_PROFILE_RELEASE_LTO", "false")
                .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", opt_level)
                .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
                .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
                .env_remove("CARGO_TARGET_DIR"),
        )
        .with_context(|| {
            format!(
                "{program} {version} is missing. Either run `cargo install --locked {package} \
                 --version {version}` where crates.io can be reached, or put a ready-made {program} \
                 of that version on PATH"
            )
        })
    }
}

/// Whether the cache or `PATH` has the program at this version; the cache comes first.
fn found(place: &Place, program: &str, version: &str) -> bool {
    let mut folders = vec![place.tools().join("bin")];
    folders.extend(process::search_path());
    let Some(file) = process::find(program, &folders) else {
        return false;
    };
    let answer = process::answer(Command::new(&file).arg("--version")).unwrap_or_default();
    let same = answer.split_whitespace().any(|word| word == version);
    match same {
        true => say(&format!("{program} {version}: found")),
        false => say(&format!(
            "{} is not {version} but `{answer}`",
            file.display()
        )),
    }
    same
}

/// The version of a package in a `Cargo.lock`.
fn locked_version(lock: &str, package: &str) -> Option<String> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name).skip(1);
    Some(
        lines
            .next()?
            .strip_prefix("version = \"")?
            .strip_suffix('"')?
            .to_owned(),
    )
}

fn write_script(file: &Path, text: &str) -> Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, text).with_context(|| format!("writing {}", file.display()))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(file, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locked_version_is_that_of_the_very_package() {
        let lock = "[[package]]\nname = \"wasm-bindgen-cli\"\nversion = \"0.2.1\"\n\n\
                    [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.129\"\n";
        assert_eq!(
            locked_version(lock, "wasm-bindgen").as_deref(),
            Some("0.2.129")
        );
        assert_eq!(locked_version(lock, "wasm"), None);
    }
}
