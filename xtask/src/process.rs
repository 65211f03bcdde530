//! Finds and runs other programs and reads their output; a failure names the command line.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// Takes away what `cargo run` says of this package. Build scripts that look at these variables
/// (ring's does) would run again whenever cargo is called from here and from a shell in turn.
fn without_cargo_environment(command: &mut Command) -> &mut Command {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs to the end, with the terminal shared; anything but success is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = without_cargo_environment(command)
        .status()
        .with_context(|| format!("could not start `{}`", command_line(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", command_line(command));
    }
    Ok(())
}

/// What the program writes to standard output, trimmed; its complaints are dropped.
/// `None` when it cannot be started or fails.
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

/// Runs to the end and gives each line of standard output to `listen`, which may print it.
pub(crate) fn listen(command: &mut Command, mut listen: impl FnMut(&str)) -> Result<ExitStatus> {
    let mut child = without_cargo_environment(command)
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

/// The program's file in the first of the folders that has it.
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

/// The command as one would type it, for messages.
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
