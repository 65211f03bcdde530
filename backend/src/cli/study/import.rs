//! The command `study import`: stores a study that was made elsewhere.

use std::fs;
use std::path::PathBuf;

use shared::study::Study;

use crate::cli::CommandOutcome;
use crate::error::Error;
use crate::pipeline::{self, StudyReplacementPolicy};
use crate::runtime::run_with_database;
use crate::store::DataFolder;

/// Holds the command-line arguments of `axioscope study import`.
#[derive(clap::Args)]
pub(super) struct ImportStudyArgs {
    /// Study file, for example study.json
    file: PathBuf,
    /// Name of the study [default: that of the file]
    #[arg(long)]
    name: Option<String>,
    /// Replace a study that has the same name
    #[arg(long)]
    replace: bool,
}

impl ImportStudyArgs {
    pub(super) fn run(self, folder: &DataFolder) -> Result<CommandOutcome, Error> {
        let ImportStudyArgs {
            file,
            name,
            replace,
        } = self;
        let text = fs::read_to_string(&file).map_err(Error::io_error_converter(
            &file,
            "give the path of a study's JSON file",
        ))?;
        let mut study = Study::from_json(&file.display().to_string(), &text)?;
        drop(text);
        let name = name.unwrap_or_else(|| study.definition.name.clone());
        pipeline::name_and_validate_upload(&mut study, &name)?;
        let finished = match replace {
            true => StudyReplacementPolicy::Replace,
            false => StudyReplacementPolicy::Keep,
        };
        run_with_database(folder, async |store| {
            pipeline::store_uploaded_study(store, folder, study, finished).await
        })?;
        println!("study `{name}` is stored; `axioscope study publish {name}` shows it to visitors");
        Ok(CommandOutcome::Done)
    }
}
