//! The commands `import`, `rank` and `eval`.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use neural::Device;
use shared::collection::trec::{METADATA_END, METADATA_START};
use shared::collection::{Collection, Run, trec};
use shared::effectiveness::{self, EffectivenessMeasure, RunEvaluation};
use shared::error::Error as InputError;
use shared::rank::LexicalRanker;
use shared::score::RankerInfo;
use shared::score::lexical::lexical_ranker_info;
use shared::text::Analyzer;

use super::{CommandOutcome, called, load, print_json, tell_reading};
use crate::collection_files::{self, CollectionFileOverrideArgs};
use crate::config::{AnalyzerArgs, IndexStorageArgs, RankerSpec};
use crate::error::Error;
use crate::models::{ModelRegistry, NeuralRanker};
use crate::pipeline;
use crate::remedy;
use crate::store::{DataFolder, write_atomically};

/// Holds the command-line arguments of `axioscope import`.
#[derive(clap::Args)]
pub(crate) struct ImportArgs {
    /// Folder with corpus.jsonl, queries.jsonl and optionally qrels.tsv; each may be compressed
    /// (.gz, .zst)
    src: PathBuf,
    /// Name of the imported collection; replaces an existing one of this name
    #[arg(long, value_name = "NAME")]
    to: String,
    /// Print a summary as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    files: CollectionFileOverrideArgs,
}

/// The output of `import --json`.
#[derive(serde::Serialize)]
struct ImportOutput {
    name: String,
    docs: usize,
    queries: usize,
    hash: String,
    refused: u64,
    warned: u64,
}

impl ImportArgs {
    pub(super) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        shared::study::validate_study_name(&self.to)?;
        let loaded = collection_files::load_collection_folder(&self.src, &self.files)?;
        tell_reading(&loaded);
        let target =
            collection_files::import_collection(&loaded, &self.to, &DataFolder::open(data)?)?;
        let (docs, queries) = (
            loaded.collection.docs.len(),
            loaded.collection.queries.len(),
        );
        if self.json {
            print_json(&ImportOutput {
                name: self.to,
                docs,
                queries,
                hash: loaded.collection.content_hash(),
                refused: loaded.report.n_refused,
                warned: loaded.report.n_warned,
            });
        } else {
            let qrels = loaded.collection.qrels.0.values();
            let judgments: usize = qrels.map(|it| it.len()).sum();
            println!(
                "{docs} documents, {queries} queries and {judgments} relevance judgments are in {}",
                target.display()
            );
        }
        Ok(CommandOutcome::Done)
    }
}

/// Holds the command-line arguments of `axioscope rank`.
#[derive(clap::Args)]
pub(crate) struct RankArgs {
    /// Folder or name of an imported collection
    #[arg(long, value_name = "DIR|NAME")]
    collection: String,
    /// Lexical ranker: bm25[:k1=…,b=…,k3=…,idf=…] or ql[:mu=…|lambda=…]; or MODEL:doc2query, which
    /// expands every document first
    #[arg(long)]
    ranker: String,
    /// Number of documents per query
    #[arg(long, value_name = "K", default_value = "1000")]
    top: String,
    /// Use only the first N queries [default: all]
    #[arg(long, value_name = "N")]
    queries: Option<usize>,
    /// Output file: a TREC run with six columns
    #[arg(long, value_name = "FILE.run")]
    out: PathBuf,
    /// Write an ir_metadata header; trec_eval and ir_measures cannot read a run with it
    #[arg(long)]
    metadata: bool,
    /// No effect; kept for existing scripts
    #[arg(long, hide = true)]
    plain: bool,
    #[command(flatten)]
    analyzer: AnalyzerArgs,
    #[command(flatten)]
    index: IndexStorageArgs,
}

impl RankArgs {
    pub(super) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        let ranker = CollectionRanker::load(&self.ranker)?;
        let k = crate::config::parse_number_setting(
            "top",
            &self.top,
            "a number of documents, 1 or more",
        )?;
        if k == 0 {
            return Err(InputError::out_of_range("top", "must be at least 1").into());
        }
        let loaded = load(&self.collection, data, self.queries)?;
        let analyzer = self.analyzer.build_analyzer(None)?;
        let executor = self.index.executor(data);
        let index = pipeline::build_index_with_executor(&loaded.collection, &analyzer, executor)?;
        let collection = &loaded.collection;
        let run = match &ranker {
            CollectionRanker::Lexical(it) => pipeline::retrieve_top_k(collection, &index, it, k),
            CollectionRanker::Doc2Query(it) => {
                pipeline::rank_expanded_documents(collection, &index, it, k)?
            }
        };
        let about = ranker.ranker_info();
        let said = match self.metadata && !self.plain {
            true => metadata(&self.collection, collection, &about, &analyzer),
            false => String::new(),
        };
        write_run(&self.out, &said, &run, &about.spec)?;
        Ok(CommandOutcome::Done)
    }
}

/// A ranker that ranks a whole collection.
enum CollectionRanker {
    Lexical(LexicalRanker),
    /// Expands every document first.
    Doc2Query(Arc<NeuralRanker>),
}

impl CollectionRanker {
    fn load(spec: &str) -> Result<CollectionRanker, Error> {
        let ranker: RankerSpec = spec.parse()?;
        let is_possible = ranker.needs_term_statistics();
        match ranker {
            RankerSpec::Lexical(it) => Ok(CollectionRanker::Lexical(it)),
            RankerSpec::Model(spec) if is_possible => {
                let model = ModelRegistry::load_ranker_from_cli_spec(&spec, Device::Cpu)?;
                Ok(CollectionRanker::Doc2Query(model))
            }
            RankerSpec::Scores(_) | RankerSpec::Model(_) | RankerSpec::Remote(_) => {
                Err(InputError::unsupported_value(
                    "ranker",
                    "a whole collection is ranked with bm25, ql or a doc2query model; re-rank \
                     with `score`",
                )
                .into())
            }
        }
    }

    fn ranker_info(&self) -> RankerInfo {
        match self {
            CollectionRanker::Lexical(it) => lexical_ranker_info(it),
            CollectionRanker::Doc2Query(it) => it.about.clone(),
        }
    }
}

/// Returns the header of a run in the format of `ir_metadata` (Breuer, Keller & Schaer, SIGIR
/// 2022): the fields that are known here, in YAML.
fn metadata(
    named: &str,
    collection: &Collection,
    ranker: &RankerInfo,
    analyzer: &Analyzer,
) -> String {
    let quoted = |text: &str| serde_json::to_string(text).expect("a text is JSON");
    let named = called(named);
    let lines = [
        "platform:".to_owned(),
        "  software:".to_owned(),
        format!("    axioscope: {}", quoted(env!("CARGO_PKG_VERSION"))),
        "implementation:".to_owned(),
        "  source:".to_owned(),
        "    lang: [\"rust\"]".to_owned(),
        "method:".to_owned(),
        "  automatic: true".to_owned(),
        "  indexing:".to_owned(),
        format!("    analyzer: {}", quoted(&analyzer.describe())),
        "  retrieval:".to_owned(),
        format!("    - name: {}", quoted(&ranker.label)),
        format!("      parameters: {}", quoted(&ranker.detail)),
        format!("      spec: {}", quoted(&ranker.spec)),
        "data:".to_owned(),
        "  test_collection:".to_owned(),
        format!("    name: {}", quoted(&named)),
        format!("    sha256: {}", quoted(&collection.content_hash())),
        format!("    documents: {}", collection.docs.len()),
        format!("    queries: {}", collection.queries.len()),
    ];
    let mut out = format!("{METADATA_START}\n");
    for line in lines {
        out += &format!("# {line}\n");
    }
    out + METADATA_END + "\n"
}

/// Writes a run file: the metadata header, if any, then six columns, with scores that parse back to
/// the same value.
fn write_run(path: &Path, said: &str, run: &Run, tag: &str) -> Result<(), Error> {
    let way_out = remedy::ANOTHER_FILE;
    write_atomically(path, way_out, |file| {
        let mut out = BufWriter::new(file);
        out.write_all(said.as_bytes())?;
        for (query, rows) in &run.0 {
            for row in rows {
                writeln!(
                    out,
                    "{query} Q0 {} {} {:e} {tag}",
                    row.doc, row.rank, row.score
                )?;
            }
        }
        out.flush()
    })
}

/// Holds the command-line arguments of `axioscope eval`.
#[derive(clap::Args)]
pub(crate) struct EvalArgs {
    /// Qrels file and run file, or only the run file with --labels-in-run
    #[arg(required = true, num_args = 1..=2, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Measures: nDCG@10, AP, AP(rel=2), RR, P@5, R@100, … or trec_eval names such as ndcg_cut_10,
    /// map, recip_rank; comma-separated or repeated
    #[arg(short, long = "measure", value_name = "MEASURE", required = true, value_delimiter = ',')]
    measures: Vec<String>,
    /// Read grades from the seventh column of the run
    #[arg(long)]
    labels_in_run: bool,
    /// Print the value of each query instead of the mean
    #[arg(long)]
    per_query: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl EvalArgs {
    pub(super) fn run(self) -> Result<CommandOutcome, Error> {
        let measures = self.measures.iter().map(|it| it.parse());
        let measures =
            measures.collect::<Result<Vec<EffectivenessMeasure>, shared::error::Error>>()?;
        let (qrels, run, reading) = match (self.labels_in_run, self.files.as_slice()) {
            (true, [run]) => {
                let (run, qrels, reading) =
                    collection_files::read_with_progress(run, trec::read_graded_run)?;
                (qrels, run, reading)
            }
            (false, [qrels, run]) => {
                let (judgments, mut reading) = collection_files::read_qrels(qrels)?;
                let expected = "a file of relevance judgments, and after it a TREC run";
                collection_files::ensure_some_row_is_read(qrels, &reading, expected)?;
                if judgments.0.is_empty() {
                    let file = qrels.display().to_string();
                    let reason = "it has no relevance judgments; give QRELS first, and then RUN";
                    return Err(InputError::unreadable_file(&file, reason).into());
                }
                let (rows, of_run) = collection_files::read_with_progress(run, trec::read_run)?;
                collection_files::ensure_some_row_is_read(run, &of_run, "a TREC run")?;
                reading.merge(of_run);
                (judgments, rows, reading)
            }
            _ => {
                return Err(InputError::missing_field(
                    "eval",
                    "give QRELS and RUN, or RUN alone with --labels-in-run",
                )
                .into());
            }
        };
        collection_files::print_reader_warnings(&reading);
        let evaluation = effectiveness::evaluate_run(&qrels, &run, &measures).ok_or_else(|| {
            InputError::missing_field("eval", "no query of the run has a judgment")
        })?;
        self.print(&evaluation);
        Ok(CommandOutcome::Done)
    }

    fn print(&self, evaluation: &RunEvaluation) {
        let names = || self.measures.iter().map(String::as_str);
        let by_query = |measure: usize| {
            let each = evaluation.per_query.iter();
            each.map(|(query, values)| (query.as_str(), values[measure]))
                .collect::<BTreeMap<&str, f64>>()
        };
        match (self.json, self.per_query) {
            (true, false) => {
                print_json(
                    &names()
                        .zip(&evaluation.mean)
                        .collect::<BTreeMap<&str, &f64>>(),
                );
            }
            (true, true) => {
                let each = names().enumerate().map(|(at, name)| (name, by_query(at)));
                print_json(&each.collect::<BTreeMap<_, _>>());
            }
            (false, false) => {
                for (name, value) in names().zip(&evaluation.mean) {
                    println!("{name}\t{value:.4}");
                }
            }
            (false, true) => {
                for (at, name) in names().enumerate() {
                    for (query, value) in by_query(at) {
                        println!("{name}\t{query}\t{value:.4}");
                    }
                }
            }
        }
    }
}
