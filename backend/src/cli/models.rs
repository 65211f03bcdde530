//! The command `models`: lists, downloads, inspects and evaluates neural models.

use std::path::Path;

use clap::Subcommand;
use shared::report::tables_to_markdown;

use super::CommandOutcome;
use super::compute::DeviceAndPrecisionArgs;
use crate::error::Error;
use crate::models::{ModelRegistry, NeuralRanker};
use crate::training::{EvaluationRequest, evaluate_model};

/// Holds the command-line arguments of `axioscope models`.
#[derive(clap::Args)]
pub(crate) struct ManageModelsArgs {
    #[command(subcommand)]
    command: ModelsCommand,
}

#[derive(Subcommand)]
enum ModelsCommand {
    /// List the rankers that the models provide
    List {
        /// Model folders or Hugging Face Hub names instead of the default model
        model: Vec<String>,
    },
    /// Download a model from the Hugging Face Hub into the local cache
    Get {
        /// Hugging Face Hub name, for example sentence-transformers/all-MiniLM-L6-v2, optionally
        /// with @REVISION
        name: String,
    },
    /// Load a model and print its properties
    Inspect {
        /// Model folder or Hugging Face Hub name, optionally with :bi, :late, :splade, :cross,
        /// :colbert, :epic, :monot5 or :doc2query
        model: String,
        #[command(flatten)]
        computing: DeviceAndPrecisionArgs,
    },
    /// Evaluate a model beside controls: BM25, the model with the text of another query, the
    /// longest and the shortest document first, and one score for all documents
    Evaluate {
        /// Model folder or Hugging Face Hub name, optionally with :bi, :late, :cross, …
        model: String,
        /// Folder or name of an imported collection with qrels
        #[arg(long, value_name = "DIR|NAME")]
        collection: String,
        /// Split of the queries [default: all queries]
        #[arg(long)]
        split: Option<String>,
        /// Split of the queries that the model was trained on, to count texts that it has seen
        #[arg(long, value_name = "SPLIT")]
        trained_on: Option<String>,
        /// Candidates of a query besides its judged documents, with grade 0, as for `train`
        #[arg(long, value_name = "POOL", default_value = "judged")]
        pool: String,
        /// Seed of the choice of another query
        #[arg(long, default_value_t = 1)]
        seed: u64,
        #[command(flatten)]
        computing: DeviceAndPrecisionArgs,
    },
}

impl ManageModelsArgs {
    pub(super) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        match self.command {
            ModelsCommand::List { model } => {
                for spec in ModelRegistry::with_models_or_default(&model, neural::Device::Cpu)?
                    .ranker_specs()
                {
                    println!("{spec}");
                }
            }
            ModelsCommand::Get { name } => tell(&*ModelRegistry::load_ranker_from_cli_spec(
                &name,
                neural::Device::Cpu,
            )?),
            ModelsCommand::Inspect { model, computing } => {
                tell(&*ModelRegistry::load_ranker_from_cli_spec(
                    &model,
                    computing.compute_target()?,
                )?);
            }
            ModelsCommand::Evaluate {
                model,
                collection,
                split,
                trained_on,
                pool,
                seed,
                computing,
            } => {
                let ranker =
                    ModelRegistry::load_ranker_from_cli_spec(&model, computing.compute_target()?)?;
                let request = EvaluationRequest {
                    split,
                    training_split: trained_on,
                    pool: pool.parse()?,
                    seed,
                };
                let loaded = super::load(&collection, data, None)?;
                let found = evaluate_model(&ranker, loaded, &request)?;
                for it in found.warnings {
                    println!("**{it}**\n");
                }
                print!("{}", tables_to_markdown(&[found.table]));
            }
        }
        Ok(CommandOutcome::Done)
    }
}

/// Prints the properties of a model, one per line.
fn tell(ranker: &NeuralRanker) {
    let about = &ranker.about;
    println!("spec\t{}", about.spec);
    println!("label\t{}", about.label);
    println!("detail\t{}", about.detail);
    if let Some(note) = &about.note {
        println!("note\t{note}");
    }
    println!("fingerprint\t{}", about.fingerprint);
    println!("weights sha256\t{}", ranker.weights_sha256);
}
