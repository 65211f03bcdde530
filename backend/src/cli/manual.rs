//! The command `manual`: man pages and shell completions, for packages.

use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, CommandOutcome};
use crate::error::Error;

const REMEDY: &str = "choose a folder that can be written";

/// Holds the command-line arguments of `axioscope manual`.
#[derive(clap::Args)]
pub(crate) struct WriteManualArgs {
    /// Folder for `man/`, one page for each command, and `completions/`, one file for each shell
    folder: PathBuf,
}

impl WriteManualArgs {
    pub(super) fn run(self) -> Result<CommandOutcome, Error> {
        let folder = |name: &str| {
            let folder = self.folder.join(name);
            let created = fs::create_dir_all(&folder);
            created.map_err(Error::io_error_converter(&folder, REMEDY))?;
            Ok::<PathBuf, Error>(folder)
        };
        write_man_pages(&folder("man")?)?;
        write_completions(&folder("completions")?)?;
        Ok(CommandOutcome::Done)
    }
}

fn write_man_pages(folder: &Path) -> Result<(), Error> {
    let written = clap_mangen::generate_to(Cli::command(), folder);
    written.map_err(Error::io_error_converter(folder, REMEDY))
}

fn write_completions(folder: &Path) -> Result<(), Error> {
    for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
        let written = clap_complete::generate_to(shell, &mut Cli::command(), "axioscope", folder);
        written.map_err(Error::io_error_converter(folder, REMEDY))?;
    }
    Ok(())
}
