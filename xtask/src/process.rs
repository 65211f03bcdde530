//! Runs other programs. Error messages contain the command line.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

/// Variable that says whether cargo writes what an incremental build of a package needs.
const INCREMENTAL: &str = "CARGO_INCREMENTAL";
/// Whether programs are started with that variable set to zero, unless it is set.
static BUILDS_ONCE: AtomicBool = AtomicBool::new(false);

/// Lets cargo, in all programs that are started from now on, write no files for incremental builds,
/// unless the environment says otherwise. A first build is then faster and smaller.
pub(crate) fn build_once() {
    BUILDS_ONCE.store(true, Ordering::Relaxed);
}

/// Removes the variables that `cargo run` sets for this package. Build scripts that depend on them,
/// such as ring's, would otherwise run again whenever cargo is called from here and from a shell in
/// turn.
fn set_environment(command: &mut Command) -> &mut Command {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    if BUILDS_ONCE.load(Ordering::Relaxed) && std::env::var_os(INCREMENTAL).is_none() {
        command.env(INCREMENTAL, "0");
    }
    command
}

/// Runs a program to its end, with the terminal shared. Returns an error unless it succeeds.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = set_environment(command)
        .status()
        .with_context(|| format!("could not start `{}`", command_line(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", command_line(command));
    }
    Ok(())
}

/// Returns the trimmed standard output of a program; its standard error is discarded. `None` if the
/// program cannot be started or fails.
pub(crate) fn output_of(command: &mut Command) -> Option<String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs a program to its end and passes each line of its standard output to `listen`.
pub(crate) fn listen(command: &mut Command, mut listen: impl FnMut(&str)) -> Result<ExitStatus> {
    let mut child = set_environment(command)
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not start `{}`", command_line(command)))?;
    let stdout = child
        .stdout
        .take()
        .expect("standard output was piped above");
    for text in BufReader::new(stdout).split(b'\n') {
        let text = text.context("reading the program's output")?;
        let text = String::from_utf8_lossy(&text);
        listen(&text);
    }
    child
        .wait()
        .with_context(|| format!("waiting for `{}`", command_line(command)))
}

/// Returns the path of a program in the first folder that contains it.
pub(crate) fn find(program: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    folders
        .iter()
        .map(|folder| folder.join(program))
        .find(|file| is_program(file))
}

/// Returns the folders of the environment variable `PATH`, in order; none if it is not set.
pub(crate) fn search_path() -> Vec<PathBuf> {
    std::env::var_os("PATH")
        .map(|path| std::env::split_paths(&path).collect())
        .unwrap_or_default()
}

/// Formats a command for messages, as it could be typed.
pub(crate) fn command_line(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|arg| quoted(&arg.to_string_lossy())));
    words.join(" ")
}

fn quoted(word: &str) -> String {
    match word.contains(|c: char| c.is_whitespace() || "\"'$".contains(c)) {
        true => format!("'{word}'"),
        false => word.to_owned(),
    }
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata()
        .is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_can_be_typed_again() {
        let mut command = Command::new("cargo");
        command.args(["doc", "--message", "two words"]);
        assert_eq!(command_line(&command), "cargo doc --message 'two words'");
    }

    #[test]
    fn a_failure_names_the_command() {
        let error = run(Command::new("cargo")
            .arg("--no-such-flag")
            .stderr(Stdio::null()));
        let message = error.unwrap_err().to_string();
        assert!(
            message.starts_with("`cargo --no-such-flag` failed"),
            "{message}"
        );
    }

    #[test]
    fn lines_are_heard_one_by_one() {
        let mut heard = Vec::new();
        let status = listen(Command::new("cargo").arg("--version"), |it| {
            heard.push(it.to_owned())
        });
        assert!(status.unwrap().success());
        assert_eq!(heard.len(), 1);
        assert!(heard[0].starts_with("cargo "));
    }
}
