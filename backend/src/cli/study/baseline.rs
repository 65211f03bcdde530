//! The commands `study check` and `study diff`: whether a study has changed, and which verdicts
//! differ.

use std::io::Write;
use std::path::{Path, PathBuf};

use shared::error::Error as InputError;
use shared::report;
use shared::study::Study;
use shared::study::baseline::StudyBaseline;
use shared::study::controls::StudyPageControls;
use shared::study::verdict_diff::diff_verdicts_of_two_rankers;

use super::super::CommandOutcome;
use crate::error::Error;
use crate::pipeline;
use crate::store::{DataFolder, write_atomically};

/// Holds the command-line arguments of `axioscope study check`.
#[derive(clap::Args)]
pub(crate) struct VerifyStoredStudyArgs {
    /// Name of the study
    name: String,
    /// Compare cells with this baseline file instead of mining the instances again
    #[arg(long, value_name = "FILE.json")]
    baseline: Option<PathBuf>,
    /// Write a baseline file from the study
    #[arg(long, value_name = "FILE.json", conflicts_with = "baseline")]
    write_baseline: Option<PathBuf>,
    /// Largest allowed drop of a fraction, 0 to 1
    #[arg(long, value_name = "X", default_value_t = 0.0, requires = "baseline")]
    tolerance: f64,
    /// Write the comparison as JUnit XML
    #[arg(long, value_name = "FILE.xml", requires = "baseline")]
    junit: Option<PathBuf>,
    /// Write the comparison as a Markdown table
    #[arg(long, value_name = "FILE.md", requires = "baseline")]
    markdown: Option<PathBuf>,
}

impl VerifyStoredStudyArgs {
    pub(super) fn run(self, folder: &DataFolder, data: &Path) -> Result<CommandOutcome, Error> {
        if let Some(path) = &self.write_baseline {
            let study = pipeline::load_study(folder, &self.name)?;
            let json = serde_json::to_string_pretty(&baseline_of(&study)?);
            let json = json.expect("a baseline has finite numbers") + "\n";
            write(path, &json)?;
            return Ok(CommandOutcome::Done);
        }
        match &self.baseline {
            Some(path) => self.compare(path, folder),
            None => super::check(&self.name, folder, data),
        }
    }

    fn compare(&self, path: &Path, folder: &DataFolder) -> Result<CommandOutcome, Error> {
        if !(0.0..=1.0).contains(&self.tolerance) {
            return Err(InputError::out_of_range("tolerance", "must be from 0 to 1").into());
        }
        let way_out = "write one with `study check NAME --write-baseline FILE`";
        let text =
            std::fs::read_to_string(path).map_err(Error::io_error_converter(path, way_out))?;
        let before: StudyBaseline = serde_json::from_str(&text).map_err(|it| {
            InputError::unreadable_file(&path.display().to_string(), format!("{it}; {way_out}"))
        })?;
        let study = pipeline::load_study(folder, &self.name)?;
        let compared = before.compare_with_later_run(&baseline_of(&study)?, self.tolerance)?;
        let table = report::tables_to_markdown(&[report::study_baseline_comparison_table(
            &self.name, &compared,
        )]);
        if let Some(path) = &self.junit {
            write(
                path,
                &report::baseline_comparison_to_junit(&self.name, &compared),
            )?;
        }
        match &self.markdown {
            Some(path) => write(path, &table)?,
            None => print!("{table}"),
        }
        match compared.iter().all(|it| it.passes) {
            true => Ok(CommandOutcome::Done),
            false => Ok(CommandOutcome::DifferenceFound),
        }
    }
}

fn baseline_of(study: &Study) -> Result<StudyBaseline, Error> {
    let modes = study.definition.variants.iter();
    let overviews = modes.map(|&mode| {
        study.overview(&StudyPageControls {
            variant: Some(mode),
            ..StudyPageControls::default()
        })
    });
    let overviews = overviews.collect::<Result<Vec<_>, InputError>>()?;
    let nothing = || InputError::missing_field("study", "it has no axiom variant");
    Ok(StudyBaseline::from_overviews(&overviews).ok_or_else(nothing)?)
}

/// Holds the command-line arguments of `axioscope study diff`.
#[derive(clap::Args)]
pub(crate) struct DiffRankerVerdictsArgs {
    /// Name of the study
    name: String,
    /// First ranker: its spec, label, slug or row (from 0)
    #[arg(long)]
    from: String,
    /// Second ranker: its spec, label, slug or row (from 0)
    #[arg(long)]
    to: String,
    /// Study of the second ranker, if it is another study; it must have the same instances
    #[arg(long, value_name = "NAME")]
    other_study: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl DiffRankerVerdictsArgs {
    pub(super) fn run(self, folder: &DataFolder) -> Result<CommandOutcome, Error> {
        let first = pipeline::load_study(folder, &self.name)?;
        let second = match &self.other_study {
            Some(name) => pipeline::load_study(folder, name)?,
            None => first.clone(),
        };
        let from = &first.scores[first.find_ranker(&self.from)?];
        let to = &second.scores[second.find_ranker(&self.to)?];
        let tables = report::ranker_pair_verdict_change_tables(&diff_verdicts_of_two_rankers(
            (&first, from),
            (&second, to),
        )?);
        match self.json {
            true => print!("{}", report::tables_to_json(&tables)),
            false => print!("{}", report::tables_to_markdown(&tables)),
        }
        Ok(CommandOutcome::Done)
    }
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    write_atomically(path, "choose another file", |mut file| {
        file.write_all(text.as_bytes())
    })
}
