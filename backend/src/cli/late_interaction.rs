//! The command `late-interaction`: the analysis of a late-interaction ranker.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use shared::late_interaction::LateInteractionAnalysisMetadata;
use shared::probe::CandidatePoolSpec;
use shared::report;

use super::compute::DeviceAndPrecisionArgs;
use super::{CommandOutcome, called, load};
use crate::config::AnalyzerArgs;
use crate::error::Error;
use crate::models::ModelRegistry;
use crate::pipeline::{self, LateInteractionAnalysisInput};
use crate::remedy;
use crate::store::studies::late_interaction;
use crate::store::{DataFolder, write_atomically};

/// Analyze a late-interaction ranker: term importance, exact and soft matches, and vector spectra
#[derive(clap::Args)]
pub(crate) struct LateInteractionArgs {
    /// Study that will show the analysis
    #[arg(long, value_name = "NAME", conflicts_with = "collection")]
    study: Option<String>,
    /// Folder or name of an imported collection
    #[arg(long, value_name = "DIR|NAME", required_unless_present = "study")]
    collection: Option<String>,
    /// Late-interaction model: folder or Hugging Face Hub name with :late or :colbert
    #[arg(long, value_name = "MODEL")]
    ranker: String,
    /// Encoder before fine-tuning with :late, which is analyzed in the same way for comparison
    #[arg(long, value_name = "MODEL")]
    base_model: Option<String>,
    /// Candidate pool: run:FILE:K, rank:bm25:K, group, judged or all
    #[arg(long, value_name = "POOL", default_value = "rank:bm25:1000")]
    pool: CandidatePoolSpec,
    /// Use only the first N queries [default: all]
    #[arg(long, value_name = "N")]
    queries: Option<usize>,
    /// Minimum number of vectors that a token needs for a spectrum
    #[arg(long, value_name = "N", default_value_t = 10)]
    min_vectors: u64,
    /// Title of the analysis [default: ranker and collection]
    #[arg(long)]
    title: Option<String>,
    /// Write the complete analysis as JSON
    #[arg(long, value_name = "FILE.json")]
    out: Option<PathBuf>,
    /// Print the tables as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    analyzer: AnalyzerArgs,
    #[command(flatten)]
    computing: DeviceAndPrecisionArgs,
}

impl LateInteractionArgs {
    pub(super) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        let computing = self.computing.compute_target()?;
        let ranker = ModelRegistry::load_ranker_from_cli_spec(&self.ranker, computing)?;
        ranker.ensure_late_interaction_without_passages()?;
        let before = self.base_model.as_deref();
        let before = before
            .map(|it| ModelRegistry::load_ranker_from_cli_spec(it, computing))
            .transpose()?;
        let (folder, study) = match &self.study {
            None => (None, None),
            Some(name) => {
                let folder = DataFolder::open(data)?;
                let study = pipeline::load_study(&folder, name)?;
                (Some(folder), Some(study.definition))
            }
        };
        let of_study = study.as_ref().map(|it| it.collection.clone());
        let collection = self.collection.clone().or(of_study).unwrap_or_default();
        let n_queries = self.queries.or(study.as_ref().and_then(|it| it.n_queries));
        let loaded = load(&collection, data, n_queries)?;
        let analyzer = match &study {
            Some(study) => study.analyzer.clone(),
            None => self.analyzer.build_analyzer(None)?,
        };
        let index = pipeline::build_index(&loaded.collection, &analyzer)?;
        let about = ranker.about.clone();
        let collection = called(&collection).into_owned();
        let usual = format!("{} on {collection}", about.label);
        let of_study = study.as_ref().map(|it| it.title.clone());
        let title = self.title.clone().or(of_study).unwrap_or(usual);
        let name = study.map_or_else(|| "late-interaction".to_owned(), |it| it.name);
        let began = Instant::now();
        let found = pipeline::analyze_late_interaction(LateInteractionAnalysisInput {
            collection: &loaded.collection,
            index: &index,
            pool: &self.pool,
            folder: &loaded.folder,
            ranker: &ranker,
            base_model: before.as_deref(),
            head: LateInteractionAnalysisMetadata {
                name: name.clone(),
                title,
                collection,
                pool: self.pool.to_string(),
                ranker: about,
                created: pipeline::current_utc_date(),
                queries: Vec::new(),
                n_pairs: 0,
                n_docs: 0,
                min_occurrences: self.min_vectors,
            },
        })?;
        eprintln!(
            "{} pairs of {} queries in {:.1} s",
            found.header.n_pairs,
            found.header.queries.len(),
            began.elapsed().as_secs_f64()
        );
        if let Some(file) = &self.out {
            let way_out = remedy::ANOTHER_FILE;
            let json = serde_json::to_vec(&found).expect("finite numbers and string keys");
            write_atomically(file, way_out, |mut to| to.write_all(&json))?;
        }
        if let Some(folder) = &folder {
            late_interaction::save_late_interaction_analysis(folder, &name, &found)?;
        }
        let [correlations, terms, tokens] = report::late_interaction_tables(&found);
        let mut tables = vec![correlations];
        tables.extend(report::fine_tuning_table(&found));
        tables.push(terms);
        match self.json {
            true => {
                tables.push(tokens);
                print!("{}", report::tables_to_json(&tables));
            }
            false => print!("{}", report::tables_to_markdown(&tables)),
        }
        Ok(CommandOutcome::Done)
    }
}
