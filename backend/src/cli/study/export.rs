//! The command `study export`: a study for a static host.

use std::path::PathBuf;

use crate::cli::CommandOutcome;
use crate::error::Error;
use crate::static_site::{ExportLayout, StudyExportOptions, export_study};
use crate::store::DataFolder;

/// Holds the command-line arguments of `axioscope study export`.
#[derive(clap::Args)]
pub(super) struct ExportStudyArgs {
    /// Name of the study
    name: String,
    /// The folder `studies/` of the static host
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Export only ids, counts and scores, for collections that may not be redistributed;
    /// readers can add the texts from their own copy in the browser
    #[arg(long)]
    without_texts: bool,
    /// How a browser reads the study: as one file, in slices by range requests, or in slices from
    /// many small files, for hosts without range requests [default: whole up to 4 MiB, else ranges]
    #[arg(long, value_enum)]
    layout: Option<ExportLayout>,
}

impl ExportStudyArgs {
    pub(super) fn run(self, folder: &DataFolder) -> Result<CommandOutcome, Error> {
        let options = StudyExportOptions {
            without_texts: self.without_texts,
            layout: self.layout,
        };
        let study = export_study(folder, &self.name, &self.out, options)?;
        let name = study.definition.name;
        println!("{} holds study `{name}`", self.out.display());
        Ok(CommandOutcome::Done)
    }
}
