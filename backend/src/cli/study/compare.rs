//! The command `study compare`: which fractions of two studies differ.

use shared::probe::{AxiomDefinitionPaper, AxiomVariant};
use shared::report;
use shared::study::controls::StudyPageControls;
use shared::study::study_comparison::{StudyComparison, StudyToCompare};

use crate::cli::CommandOutcome;
use crate::error::Error;
use crate::pipeline;
use crate::store::DataFolder;

/// Holds the command-line arguments of `axioscope study compare`.
#[derive(clap::Args)]
pub(crate) struct CompareStudiesArgs {
    /// Name of the first study
    first: String,
    /// Name of the second study
    second: String,
    /// Variant of the axioms: fixed, paper or code [default: the first of the first study]
    #[arg(long)]
    variant: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl CompareStudiesArgs {
    pub(super) fn run(self, folder: &DataFolder) -> Result<CommandOutcome, Error> {
        let studies = [&self.first, &self.second].map(|it| pipeline::load_study(folder, it));
        let [first, second] = studies;
        let [first, second] = [first?, second?];
        let source = AxiomDefinitionPaper::Camara2020;
        let variant = match &self.variant {
            Some(word) => AxiomVariant::parse_for_paper("variant", word, source)?,
            None => first.definition.variants[0],
        };
        let controls = StudyPageControls {
            variant: Some(variant),
            ..StudyPageControls::default()
        };
        let overviews = [first.overview(&controls)?, second.overview(&controls)?];
        let counts = [
            first.verdict_counts(Some(variant))?,
            second.verdict_counts(Some(variant))?,
        ];
        let found = StudyComparison::compute([0, 1].map(|at| StudyToCompare {
            overview: &overviews[at],
            counts: &counts[at],
        }))?;
        let tables = report::study_comparison_tables(&found);
        match self.json {
            true => print!("{}", report::tables_to_json(&tables)),
            false => {
                println!("{}\n", report::study_comparison_finding(&found));
                print!("{}", report::tables_to_markdown(&tables));
            }
        }
        Ok(CommandOutcome::Done)
    }
}
