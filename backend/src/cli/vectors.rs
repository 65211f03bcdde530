//! The command `vectors`: trains word vectors on a collection, for the axioms that need them.

use std::path::{Path, PathBuf};

use shared::word_vectors::glove::GloveSettings;

use super::{CommandOutcome, load, print_json};
use crate::config::{AnalyzerArgs, IndexStorageArgs, parse_number_setting};
use crate::error::Error;
use crate::pipeline;
use crate::progress::ProgressBar;

/// Holds the command-line arguments of `axioscope vectors`.
#[derive(clap::Args)]
pub(crate) struct TrainWordVectorsArgs {
    /// Folder or name of an imported collection
    #[arg(long, value_name = "DIR|NAME")]
    collection: String,
    /// Output file: one word and its vector per line, in GloVe's format
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Number of dimensions, 1 to 1000
    #[arg(long, value_name = "N", default_value = "50")]
    dims: String,
    /// Context window: words on each side, 1 to 100
    #[arg(long, value_name = "N", default_value = "10")]
    window: String,
    /// Minimum number of occurrences of a word
    #[arg(long, value_name = "N", default_value = "5")]
    min_count: String,
    /// Number of training epochs
    #[arg(long, value_name = "N", default_value = "25")]
    epochs: String,
    /// Random seed of the initialization and the training order
    #[arg(long, default_value_t = GloveSettings::default().seed)]
    seed: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    analyzer: AnalyzerArgs,
    #[command(flatten)]
    index: IndexStorageArgs,
}

/// The output of `vectors --json`.
#[derive(serde::Serialize)]
struct VectorsOutput {
    n_words: usize,
    n_dims: usize,
    n_pairs: usize,
    /// The training cost of the first epoch and of the last.
    cost: [f64; 2],
}

impl TrainWordVectorsArgs {
    pub(super) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        let whole = "a whole number, 1 or more";
        let settings = GloveSettings {
            n_dims: parse_number_setting("dims", &self.dims, whole)?,
            window: parse_number_setting("window", &self.window, whole)?,
            min_count: parse_number_setting("min-count", &self.min_count, whole)?,
            n_epochs: parse_number_setting("epochs", &self.epochs, whole)?,
            seed: self.seed,
            ..GloveSettings::default()
        };
        settings.validate()?;
        let loaded = load(&self.collection, data, None)?;
        let analyzer = self.analyzer.build_analyzer(None)?;
        let executor = self.index.executor(data);
        let index = pipeline::build_index_with_tokens(&loaded.collection, &analyzer, executor)?;
        let mut trainer = pipeline::prepare_glove_trainer(&index, settings)?;
        let n_pairs = trainer.n_cooccurring_pairs();
        let (_, n_rounds) = trainer.finished_and_total_rounds();
        let bar = ProgressBar::with_unit("train", n_rounds.into(), "rounds");
        pipeline::train_all_glove_rounds(&mut trainer, || bar.increment());
        let costs = trainer.mean_cost_of_each_pass();
        let cost = [costs[0], costs[costs.len() - 1]];
        let vectors = trainer.into_word_vectors();
        pipeline::write_word_vectors(&self.out, &vectors)?;
        let told = VectorsOutput {
            n_words: vectors.len(),
            n_dims: vectors.n_dims(),
            n_pairs,
            cost,
        };
        if self.json {
            print_json(&told);
        } else {
            println!(
                "{} words of {} dimensions from {} pairs of neighbours; cost {:.4} to {:.4}",
                told.n_words, told.n_dims, told.n_pairs, told.cost[0], told.cost[1]
            );
        }
        Ok(CommandOutcome::Done)
    }
}
