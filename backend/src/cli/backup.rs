//! `backup` and `restore`: everything that lasts as one file.

use std::path::{Path, PathBuf};

use shared::error::{Error as InputError, Field};

use super::Exit;
use crate::error::Error;
use crate::runtime::{runtime, with_store};
use crate::store::{DataFolder, Database, backup};

#[derive(clap::Args)]
pub(crate) struct Backup {
    /// The file to be written, as backup.tar.gz; what has this name is replaced
    file: PathBuf,
}

impl Backup {
    pub(super) fn run(self, data: &Path) -> Result<Exit, Error> {
        if !data.is_dir() {
            let reason = "is no folder, so there is nothing to back up; name the one by `--data`";
            return Err(InputError::missing(Field::shown("data", data.display()), reason).into());
        }
        let folder = DataFolder::open(data)?;
        let beside = match self.file.parent() {
            Some(it) if !it.as_os_str().is_empty() => it,
            _ => Path::new("."),
        };
        let rows = with_store(&folder, async |store| store.rows(beside).await)?;
        let size = backup::write(&folder, rows, &self.file)?;
        println!(
            "{} holds {} files and {} rows",
            self.file.display(),
            size.n_files,
            size.n_rows
        );
        Ok(Exit::Done)
    }
}

#[derive(clap::Args)]
pub(crate) struct Restore {
    /// What `axioscope backup` has written
    file: PathBuf,
}

impl Restore {
    pub(super) fn run(self, data: &Path) -> Result<Exit, Error> {
        let folder = DataFolder::at(data);
        let database = Database::chosen(&folder)?;
        let size = runtime()?.block_on(backup::restore(&folder, &database, &self.file))?;
        println!(
            "{} holds {} files and {} rows again",
            data.display(),
            size.n_files,
            size.n_rows
        );
        Ok(Exit::Done)
    }
}
