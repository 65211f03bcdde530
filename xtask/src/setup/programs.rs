//! The programs that build the front end, each at a fixed version, and the packages of Node.

use super::say;
use crate::paths::ProjectPaths;
use crate::process;
use anyhow::{Context, Result, bail};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

/// 0.22 asks for a newer Rust than the workspace does.
const TRUNK: &str = "0.21.14";
/// Older ones (Debian's 108) mix up externref tables: the page stays empty and says nothing.
const BINARYEN: &str = "132";
const NEXTEST: &str = "0.9.140";
const DENY: &str = "0.20.2";
/// Installed together, because npm removes what it was not asked for.
const NODE_PACKAGES: [&str; 2] = ["binaryen@132.0.0", "axe-core@4.14.1"];

/// Installs the pinned version of trunk, which builds the front end, unless it is already
/// installed.
pub(super) fn trunk(place: &ProjectPaths) -> Result<()> {
    let trunk = CargoProgram {
        program: "trunk",
        package: "trunk",
        version: TRUNK,
        features: "",
        optimized: &["sha2"],
    };
    trunk.install(place)
}

/// Writes the glue between wasm and JavaScript; of the very version the front end links.
pub(super) fn wasm_bindgen(place: &ProjectPaths) -> Result<()> {
    let lock = fs::read_to_string(place.root.join("Cargo.lock")).context("reading Cargo.lock")?;
    let version = locked_version(&lock, "wasm-bindgen")
        .context("Cargo.lock names no wasm-bindgen: is the front end still in the workspace?")?;
    // It reads and writes megabytes at each build of the front end.
    let wasm_bindgen = CargoProgram {
        program: "wasm-bindgen",
        package: "wasm-bindgen-cli",
        version: &version,
        features: "",
        optimized: &[
            "walrus",
            "wasm-bindgen-cli-support",
            "wasmparser",
            "wasm-encoder",
        ],
    };
    wasm_bindgen.install(place)?;
    drop_build(place)
}

/// Makes the wasm smaller. binaryen's own build, in JavaScript, behind a script of two lines.
pub(super) fn wasm_opt(place: &ProjectPaths) -> Result<()> {
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
pub(super) fn axe(place: &ProjectPaths) -> Result<PathBuf> {
    let file = place.tools().join("node_modules/axe-core/axe.min.js");
    if !file.is_file() {
        node_packages(place)?;
    }
    Ok(file)
}

fn node_packages(place: &ProjectPaths) -> Result<()> {
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

/// Runs tests, each in a process of its own.
pub(super) fn nextest(place: &ProjectPaths) -> Result<PathBuf> {
    subcommand(
        place,
        CargoProgram {
            program: "cargo-nextest",
            package: "cargo-nextest",
            version: NEXTEST,
            features: "default-no-update",
            optimized: &[],
        },
    )
}

/// Checks licenses and sources of dependencies.
pub(super) fn deny(place: &ProjectPaths) -> Result<PathBuf> {
    subcommand(
        place,
        CargoProgram {
            program: "cargo-deny",
            package: "cargo-deny",
            version: DENY,
            features: "",
            optimized: &[],
        },
    )
}

/// A subcommand of cargo, of this version or a later one: nothing that it writes is kept.
fn subcommand(place: &ProjectPaths, it: CargoProgram<'_>) -> Result<PathBuf> {
    let installed = || process::find(it.program, &folders(place));
    let is_current = |file: &PathBuf| {
        let answer = process::output_of(Command::new(file).arg("--version")).unwrap_or_default();
        let version = answer.split_whitespace().nth(1).unwrap_or_default();
        numbers(version) >= numbers(it.version)
    };
    if let Some(file) = installed().filter(is_current) {
        say(&format!("{}: found", file.display()));
        return Ok(file);
    }
    it.build(place)?;
    drop_build(place)?;
    installed().with_context(|| format!("{} was built and is not there", it.program))
}

/// The numbers of a version, to compare.
fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map_while(|it| it.parse().ok()).collect()
}

/// A program that comes from crates.io as source. No registry that the other tools come from has
/// a binary of it.
struct CargoProgram<'a> {
    program: &'a str,
    package: &'a str,
    version: &'a str,
    /// Those that it needs beside none.
    features: &'a str,
    /// Those of its packages that compute. The rest moves files about, and compiling that well
    /// takes longer than it ever runs.
    optimized: &'a [&'a str],
}

/// Where programs are compiled: what two of them need is compiled once. Each checkout has its own,
/// so that none removes what another is compiling.
fn build_folder(place: &ProjectPaths) -> PathBuf {
    place.target.join("tools")
}

/// Removes what the programs were made from.
fn drop_build(place: &ProjectPaths) -> Result<()> {
    let folder = build_folder(place);
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("removing {}", folder.display()))
        }
        _ => Ok(()),
    }
}

impl CargoProgram<'_> {
    /// Takes the program from the cache or from `PATH` if the version is right, else builds it.
    fn install(&self, place: &ProjectPaths) -> Result<()> {
        match found(place, self.program, self.version) {
            true => Ok(()),
            false => self.build(place),
        }
    }

    fn build(&self, place: &ProjectPaths) -> Result<()> {
        let CargoProgram {
            program,
            package,
            version,
            features,
            optimized,
        } = self;
        say(&format!(
            "{program} {version}: building it, which takes minutes, once"
        ));
        let mut install = Command::new("cargo");
        install
            .args(["install", "--locked", package, "--version", version])
            .args(["--no-default-features", "--features", features])
            .args(["--force", "--root"])
            .arg(place.tools())
            .env("CARGO_PROFILE_RELEASE_LTO", "false")
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
            .env("CARGO_TARGET_DIR", build_folder(place));
        for package in *optimized {
            let level = format!("profile.release.package.{package}.opt-level=2");
            install.args(["--config", &level]);
        }
        process::run(&mut install)
        .with_context(|| {
            format!(
                "{program} {version} is missing. Either run `cargo install --locked {package} \
                 --version {version}` where crates.io can be reached, or put a ready-made {program} \
                 of that version on PATH"
            )
        })
    }
}

/// Whether the cache or `PATH` has the program at this version.
fn found(place: &ProjectPaths, program: &str, version: &str) -> bool {
    let Some(file) = process::find(program, &folders(place)) else {
        return false;
    };
    let answer = process::output_of(Command::new(&file).arg("--version")).unwrap_or_default();
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

/// Where programs are looked for: the cache comes first.
pub(super) fn folders(place: &ProjectPaths) -> Vec<PathBuf> {
    let mut folders = vec![place.tools().join("bin")];
    folders.extend(process::search_path());
    folders
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

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(numbers("0.9.143") > numbers("0.9.99"));
        assert!(numbers("1.0") > numbers("0.20.2"));
        assert!(numbers("") < numbers("0.1"));
    }
}
