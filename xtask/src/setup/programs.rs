//! The programs that build the front end, each with a pinned version, and the Node packages.

use super::say;
use crate::paths::ProjectPaths;
use crate::process;
use anyhow::{Context, Result, bail};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Pinned version of trunk. 0.22 requires a newer Rust than the workspace.
const TRUNK: &str = "0.21.14";
/// Pinned version of binaryen. Older ones, such as Debian's 108, mix up externref tables, and the
/// page stays empty without an error message.
const BINARYEN: &str = "132";
const NEXTEST: &str = "0.9.140";
const DENY: &str = "0.20.2";
const AUDITABLE: &str = "0.7.7";
const CYCLONEDX: &str = "0.5.9";
const DEB: &str = "3.8.0";
const OHA: &str = "1.16.0";
/// Pinned Node packages. They are installed together, since npm removes packages that are not
/// named.
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

/// Installs wasm-bindgen, which writes the interface between wasm and JavaScript, in the version
/// that the front end is linked to.
pub(super) fn wasm_bindgen(place: &ProjectPaths) -> Result<()> {
    let lock = fs::read_to_string(place.root.join("Cargo.lock")).context("reading Cargo.lock")?;
    let version = locked_version(&lock, "wasm-bindgen")
        .context("Cargo.lock names no wasm-bindgen: is the front end still in the workspace?")?;
    // It processes megabytes in each build of the front end.
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

/// Installs wasm-opt, which reduces the size of the wasm: binaryen's JavaScript build, called by a
/// short script.
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

/// Installs the accessibility checker that the browser tests inject.
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

/// Finds or installs nextest, which runs each test in its own process.
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

/// Finds or installs cargo-deny, which checks licenses and sources of dependencies.
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

/// Finds or installs cargo-auditable, which puts the list of its dependencies into a program.
pub(super) fn auditable(place: &ProjectPaths) -> Result<PathBuf> {
    packager(place, "cargo-auditable", AUDITABLE)
}

/// Finds or installs cargo-cyclonedx, which writes bills of materials.
pub(super) fn cyclonedx(place: &ProjectPaths) -> Result<PathBuf> {
    packager(place, "cargo-cyclonedx", CYCLONEDX)
}

/// Finds or installs cargo-deb, which makes Debian packages. It compresses with the system's `xz`.
pub(super) fn deb(place: &ProjectPaths) -> Result<PathBuf> {
    packager(place, "cargo-deb", DEB)
}

/// Finds or installs oha, the load generator of the benchmarks.
pub(super) fn oha(place: &ProjectPaths) -> Result<PathBuf> {
    let oha = CargoProgram {
        program: "oha",
        package: "oha",
        version: OHA,
        features: "rustls",
        // It shares the cores with what it measures.
        optimized: &["oha", "hyper", "tokio", "http", "h2", "bytes"],
    };
    oha.install(place)?;
    drop_build(place)?;
    process::find("oha", &folders(place)).context("oha was built and is not there")
}

/// Returns the path of a program that makes packages, in exactly this version. Not all of them
/// print their version, but cargo records what it has installed.
fn packager(place: &ProjectPaths, program: &str, version: &str) -> Result<PathBuf> {
    let installed = place.tools().join(".crates.toml");
    let installed = fs::read_to_string(installed).unwrap_or_default();
    if !installed.contains(&format!("\"{program} {version} (")) {
        let packager = CargoProgram {
            program,
            package: program,
            version,
            features: "",
            optimized: &[],
        };
        packager.build(place)?;
        drop_build(place)?;
    }
    Ok(place.tools().join("bin").join(program))
}

/// Finds a subcommand of cargo in this version or a later one, or builds it. A later version is
/// acceptable since its output is not stored.
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

/// Returns the numbers of a version for comparison.
fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map_while(|it| it.parse().ok()).collect()
}

/// A program that is built from source from crates.io. The registries of the other tools have no
/// binary of it.
struct CargoProgram<'a> {
    program: &'a str,
    package: &'a str,
    version: &'a str,
    /// The features to enable; default features are disabled.
    features: &'a str,
    /// The dependencies to optimize. Compiling the others with optimization would take longer than
    /// it saves.
    optimized: &'a [&'a str],
}

/// Returns the build folder of the programs, which share their dependencies. Each checkout has its
/// own, so that none removes what another is building.
fn build_folder(place: &ProjectPaths) -> PathBuf {
    place.target.join("tools")
}

/// Removes the build folder of the programs.
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
    /// Uses the program in the cache or on `PATH` if it has the right version, and otherwise
    /// builds that version.
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

/// Returns whether the cache or `PATH` has the program in this version.
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

/// Returns the folders where programs are looked up, the cache first.
pub(super) fn folders(place: &ProjectPaths) -> Vec<PathBuf> {
    let mut folders = vec![place.tools().join("bin")];
    folders.extend(process::search_path());
    folders
}

/// Returns the version of a package in a `Cargo.lock`.
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
