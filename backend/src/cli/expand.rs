//! The command `expand`: extends documents with queries that a model generates for them.

use std::path::{Path, PathBuf};

use neural::QueryGenerationConfig;
use shared::probe::MiningThresholds;

use super::{CommandOutcome, load, print_json};
use crate::config::parse_number_setting;
use crate::error::Error;
use crate::models::load_doc2query;
use crate::pipeline::{self, DocumentExpansionSettings, DocumentExpansionSummary};

/// Runs on the CPU. An interrupted run leaves no output folder and resumes when the same command is
/// started again.
#[derive(clap::Args)]
pub(crate) struct ExpandDocumentsArgs {
    /// Folder or name of an imported collection
    #[arg(long, value_name = "DIR|NAME")]
    collection: String,
    /// Folder or Hugging Face Hub name of a T5 model trained for query generation
    #[arg(long, value_name = "FOLDER|NAME")]
    model: String,
    /// New folder: the expanded collection, the generated queries (expansions.jsonl) and the
    /// settings (expansion.json)
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Number of queries per document
    #[arg(long, value_name = "N", default_value = "10")]
    queries: String,
    /// Sample each token from the K most likely tokens
    #[arg(long, value_name = "K", default_value = "10")]
    top_k: String,
    /// Maximum number of tokens per query
    #[arg(long, value_name = "N", default_value = "64")]
    max_query_tokens: String,
    /// Random seed
    #[arg(long, default_value_t = MiningThresholds::STANDARD.seed)]
    seed: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The output of `expand --json`.
#[derive(serde::Serialize)]
struct ExpandOutput {
    docs: usize,
    /// Number of generated queries, without empty ones.
    queries: usize,
    /// Number of documents of which the model did not read the end.
    n_truncated_documents: usize,
    model: String,
    fingerprint: String,
}

impl ExpandDocumentsArgs {
    pub(super) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        let whole = "a whole number, 1 or more";
        let sampling = QueryGenerationConfig {
            seed: self.seed,
            top_k: parse_number_setting("top-k", &self.top_k, whole)?,
            n_queries: parse_number_setting("queries", &self.queries, whole)?,
            max_new_tokens: parse_number_setting(
                "max-query-tokens",
                &self.max_query_tokens,
                whole,
            )?,
        };
        let (name, model) = load_doc2query(&self.model)?;
        // Invalid sampling settings are reported before the collection is read.
        model
            .generate_queries_per_document(&[], &sampling)
            .map_err(Error::model_error_converter(&name))?;
        let loaded = load(&self.collection, data, None)?;
        let docs = loaded.collection.docs.len();
        let wanted = DocumentExpansionSettings {
            model: &model,
            name: &name,
            sampling,
            out: &self.out,
        };
        let DocumentExpansionSummary {
            n_queries: queries,
            n_truncated,
        } = pipeline::write_expanded_collection(loaded, &wanted)?;
        let told = ExpandOutput {
            docs,
            queries,
            n_truncated_documents: n_truncated,
            fingerprint: model.fingerprint().to_owned(),
            model: name,
        };
        if n_truncated > 0 {
            eprintln!("{n_truncated} documents were read only in part");
        }
        if self.json {
            print_json(&told);
        } else {
            let out = self.out.display();
            println!("{queries} queries were added to {docs} documents, in {out}");
        }
        Ok(CommandOutcome::Done)
    }
}
