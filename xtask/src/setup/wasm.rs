//! A compiler for `wasm32-unknown-unknown`.
//!
//! Usually `rustup target add` installs it. Where rustup's servers cannot be reached, the
//! distribution's compiler is used: Debian packages rustc with the source of its standard library,
//! from which the library for wasm is built once (half a minute) and linked into rustup as the
//! toolchain `web`.

use super::{debian, say};
use crate::process;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TARGET: &str = "wasm32-unknown-unknown";
/// The name under which rustup knows the distribution's compiler.
const LINKED: &str = "web";
/// The compiler's version, left beside the standard library that was built with it.
const STAMP: &str = ".built-by";

/// Who compiles the front end.
pub(crate) enum WasmToolchain {
    /// The toolchain that compiles everything else.
    Default,
    /// Another toolchain of rustup, by name.
    Toolchain(&'static str),
}

/// Finds a compiler that has the target.
pub(super) fn find() -> Option<WasmToolchain> {
    if has_target(&mut Command::new("rustc")) {
        say(&format!("{TARGET}: found"));
        return Some(WasmToolchain::Default);
    }
    if linked_is_current() {
        say(&format!("{TARGET}: found in the toolchain `{LINKED}`"));
        return Some(WasmToolchain::Toolchain(LINKED));
    }
    None
}

/// Finds a compiler that has the target, or gets one.
pub(super) fn get() -> Result<WasmToolchain> {
    if let Some(compiler) = find() {
        return Ok(compiler);
    }
    say(&format!("{TARGET}: rustup target add"));
    if process::run(Command::new("rustup").args(["target", "add", TARGET])).is_ok()
        && has_target(&mut Command::new("rustc"))
    {
        return Ok(WasmToolchain::Default);
    }
    if debian::is_available() {
        say(&format!(
            "{TARGET}: not to be had from rustup, building it from Debian's source"
        ));
        build_linked().with_context(missing)?;
        return Ok(WasmToolchain::Toolchain(LINKED));
    }
    bail!(missing())
}

fn missing() -> String {
    format!(
        "the Rust standard library for {TARGET} is missing. Either run `rustup target add \
         {TARGET}` where rustup's servers can be reached, or run this command as root on Debian \
         or Ubuntu, where it is built from the packages rustc-web, cargo-web, rust-web-src and lld"
    )
}

/// Whether the compiler has a standard library for the target.
fn has_target(rustc: &mut Command) -> bool {
    let folder = process::output_of(rustc.args(["--print", "target-libdir", "--target", TARGET]));
    folder.is_some_and(|it| has_core(Path::new(&it)))
}

fn has_core(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    entries
        .flatten()
        .any(|it| it.file_name().to_string_lossy().starts_with("libcore-"))
}

/// Whether the toolchain is linked, and its library was built with the compiler it has now.
fn linked_is_current() -> bool {
    let rustc = || {
        let mut command = Command::new("rustup");
        command.args(["run", LINKED, "rustc"]);
        command
    };
    let libdir = process::output_of(rustc().args(["--print", "target-libdir", "--target", TARGET]));
    let (Some(libdir), Some(version)) = (libdir, process::output_of(rustc().arg("-V"))) else {
        return false;
    };
    let stamp = fs::read_to_string(Path::new(&libdir).join(STAMP)).unwrap_or_default();
    has_core(Path::new(&libdir)) && stamp.trim() == version
}

/// Installs Debian's compiler, builds the target's standard library from its source package
/// and links the result as a toolchain of rustup.
fn build_linked() -> Result<()> {
    debian::install(&["rustc-web", "cargo-web", "rust-web-src", "rust-web-clippy"])?;
    let about = ask("-vV")?;
    let field = |name: &str| {
        let line = about.lines().find_map(|line| line.strip_prefix(name));
        line.map(str::trim)
            .with_context(|| format!("`rustc -vV` names no `{name}`"))
    };
    let llvm = field("LLVM version:")?
        .split('.')
        .next()
        .unwrap_or_default()
        .to_owned();
    debian::install(&[&format!("lld-{llvm}")])?;

    let sysroot = PathBuf::from(
        process::output_of(rustc().args(["--print", "sysroot"]))
            .context("the packaged rustc does not say where its libraries are")?,
    );
    let libraries = sysroot.join("lib/rustlib");
    // rustc calls `rust-lld -flavor wasm` and looks for it here first.
    let linkers = libraries.join(field("host:")?).join("bin");
    fs::create_dir_all(&linkers)?;
    let lld = format!("/usr/bin/lld-{llvm}");
    process::run(
        Command::new("ln")
            .args(["-sf", &lld])
            .arg(linkers.join("rust-lld")),
    )?;

    let version = ask("-V")?;
    let folder = libraries.join(TARGET).join("lib");
    if fs::read_to_string(folder.join(STAMP))
        .unwrap_or_default()
        .trim()
        != version
    {
        build_std(&libraries, &folder)?;
        fs::write(folder.join(STAMP), format!("{version}\n"))?;
    }
    // Already linked: the link still points to the same place.
    let link = Command::new("rustup")
        .args(["toolchain", "link", LINKED])
        .arg(&sysroot)
        .stderr(Stdio::null())
        .status();
    link.context("rustup is needed to choose between two compilers")?;
    if !linked_is_current() {
        bail!("the toolchain `{LINKED}` was built but does not work");
    }
    Ok(())
}

/// Builds core, alloc, std and their dependencies for the target into `folder`.
fn build_std(libraries: &Path, folder: &Path) -> Result<()> {
    let work = std::env::temp_dir().join(format!("axioscope-std-{}", std::process::id()));
    fs::create_dir_all(work.join(".cargo"))?;
    let source = work.join("library");
    process::run(
        Command::new("cp")
            .arg("-rL")
            .arg(libraries.join("src/rust/library"))
            .arg(&source),
    )?;
    // The package brings the crates that std depends on, without those of its tests.
    fs::write(
        work.join(".cargo/config.toml"),
        format!(
            "[source.crates-io]\nreplace-with = \"vendored\"\n\
             [source.vendored]\ndirectory = \"{}\"\n",
            source.join("vendor").display()
        ),
    )?;
    process::run(
        Command::new("/usr/bin/cargo")
            .current_dir(&source)
            .args(["build", "--offline", "-Z", "avoid-dev-deps", "--release"])
            .args([
                "--manifest-path",
                "sysroot/Cargo.toml",
                "--target",
                TARGET,
                "--target-dir",
            ])
            .arg(work.join("target"))
            .env_remove("RUSTUP_TOOLCHAIN")
            .env_remove("RUSTC_WRAPPER")
            .env_remove("CARGO_TARGET_DIR")
            .env("RUSTC", "/usr/bin/rustc")
            .env("RUSTC_BOOTSTRAP", "1")
            // Unlike the default, so that hashes of std's crates never meet those of ours.
            .env("__CARGO_DEFAULT_LIB_METADATA", "wasmstd")
            // Bitcode, so that `lto = true` works.
            .env(
                "RUSTFLAGS",
                "-Zforce-unstable-if-unmarked -Cembed-bitcode=yes",
            ),
    )?;
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    for entry in fs::read_dir(work.join("target").join(TARGET).join("release/deps"))? {
        let file = entry?.path();
        let name = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.ends_with(".rlib") && !name.starts_with("libsysroot-") {
            fs::copy(&file, folder.join(name))?;
        }
    }
    fs::remove_dir_all(&work)?;
    Ok(())
}

fn ask(flag: &str) -> Result<String> {
    process::output_of(rustc().arg(flag)).with_context(|| format!("/usr/bin/rustc {flag} failed"))
}

/// The packaged compiler, not rustup's.
fn rustc() -> Command {
    let mut command = Command::new("/usr/bin/rustc");
    command.env_remove("RUSTUP_TOOLCHAIN");
    command
}
