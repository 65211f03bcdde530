//! The commands `backup` and `restore`: all data in one file.

use std::path::{Path, PathBuf};

use shared::error::{Error as InputError, ErrorFieldName};

use super::CommandOutcome;
use crate::error::Error;
use crate::runtime::{build_async_runtime, run_with_database};
use crate::store::studies::files::reread_study_files;
use crate::store::{DataFolder, DatabaseConfig, backup};

/// Holds the command-line arguments of `axioscope backup`.
#[derive(clap::Args)]
pub(crate) struct BackupArgs {
    /// Backup file to write, for example backup.tar.gz; an existing file is replaced. Exit code 3
    /// if a study is damaged: the backup has its files as they are
    file: PathBuf,
}

impl BackupArgs {
    pub(super) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        if !data.is_dir() {
            let reason = "is no folder, so there is nothing to back up; name the one by `--data`";
            return Err(InputError::missing_field(
                ErrorFieldName::with_display_name("data", data.display()),
                reason,
            )
            .into());
        }
        let folder = DataFolder::open(data)?;
        let beside = match self.file.parent() {
            Some(it) if !it.as_os_str().is_empty() => it,
            _ => Path::new("."),
        };
        let (rows, studies) = run_with_database(&folder, async |store| {
            let studies = store.list_studies().await?;
            Ok((store.snapshot_tables_into_files(beside).await?, studies))
        })?;
        let size = backup::write_backup(&folder, rows, &self.file)?;
        println!(
            "{} holds {} files and {} rows",
            self.file.display(),
            size.n_files,
            size.n_rows
        );
        let mut outcome = CommandOutcome::Done;
        for study in studies {
            if let Err(error) = reread_study_files(&folder, &study.name, |_| true) {
                eprintln!("warning: study {}: {error}", study.name);
                outcome = CommandOutcome::DifferenceFound;
            }
        }
        if outcome == CommandOutcome::DifferenceFound {
            eprintln!("warning: the backup has these files as they are; keep an earlier one");
        }
        Ok(outcome)
    }
}

/// Holds the command-line arguments of `axioscope restore`.
#[derive(clap::Args)]
pub(crate) struct RestoreArgs {
    /// Backup file written by `axioscope backup`
    file: PathBuf,
}

impl RestoreArgs {
    pub(super) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        let folder = DataFolder::without_opening(data);
        let database = DatabaseConfig::from_environment(&folder)?;
        let size = build_async_runtime()?
            .block_on(backup::restore_backup(&folder, &database, &self.file))?;
        println!(
            "{} holds {} files and {} rows again",
            data.display(),
            size.n_files,
            size.n_rows
        );
        Ok(CommandOutcome::Done)
    }
}
