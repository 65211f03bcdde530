//! The commands `mine`, `pairs`, `score` and `judge`: from candidate pools to verdicts.

mod judge;
mod pairs;

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use shared::collection::Collection;
use shared::error::{Error as InputError, ErrorFieldName};
use shared::index::Index;
use shared::probe::mining::{InstanceHasher, OriginalOrDerivedDocument, QueryMiningResult};
use shared::probe::{AxiomVariant, MiningResult, Probe};
use shared::score::{QueryDocumentPairs, RankerQueryDocumentScores};
use shared::study::preparation::{PreparedCollection, run_never_waiting_future};

pub(crate) use judge::JudgeRankersByAxiomsArgs;
pub(crate) use pairs::ListPairsToScoreArgs;

use super::compute::DeviceAndPrecisionArgs;
use super::{CommandOutcome, print_json, tell_left_out, tell_reading};
use crate::collection_files::{self, CollectionWithReadReport};
use crate::config::{AnalyzerArgs, IndexStorageArgs, MiningArgs, RankerSpec};
use crate::error::Error;
use crate::models::ModelRegistry;
use crate::pipeline::{self, PairScoringInput};
use crate::remedy;
use crate::store::instances::{self, CollectionExternalIds, InstanceFileMetadata};
use crate::store::partial_scores::PartialScores;
use crate::store::{DataFolder, write_atomically};

/// Holds the command-line arguments of `axioscope mine`.
#[derive(clap::Args)]
pub(crate) struct MineArgs {
    /// Folder or name of an imported collection
    #[arg(long, value_name = "DIR|NAME")]
    collection: String,
    /// Use only the first N queries [default: all]
    #[arg(long, value_name = "N")]
    queries: Option<usize>,
    /// Output file with one instance per row
    #[arg(long, value_name = "FILE.parquet")]
    out: PathBuf,
    /// Print counts and hash as one JSON object
    #[arg(long)]
    json: bool,
    /// Add the duration of each stage in seconds to the JSON
    #[arg(long, requires = "json")]
    times: bool,
    #[command(flatten)]
    probes: MiningArgs,
    #[command(flatten)]
    index: IndexStorageArgs,
}

impl MineArgs {
    pub(super) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        let input = self.probes.resolve_with_preset()?;
        tell_left_out(&input.skipped, "--vectors FILE");
        let began = Instant::now();
        let mut loaded = collection_files::load_named_collection(&self.collection, data)?;
        tell_reading(&loaded);
        loaded
            .collection
            .queries
            .truncate(self.queries.unwrap_or(usize::MAX));
        let CollectionWithReadReport {
            collection, folder, ..
        } = loaded;
        let vectors = input.vectors.as_deref();
        let files = pipeline::read_run_and_word_vectors(
            &input.settings.pool,
            vectors,
            &collection,
            &folder,
        )?;
        let mut cores = self.index.executor(data);
        let settings = input.settings.clone();
        let prepared = PreparedCollection::prepare(collection, settings, files, &mut cores);
        let prepared = run_never_waiting_future(prepared)?;
        let known = prepared.word_vectors();
        let about = known
            .zip(vectors)
            .map(|(known, file)| known.vectors_info(file));
        if let Some(about) = &about {
            eprintln!("{about}");
        }
        let analysed = began.elapsed();
        let ids = ids(&prepared.collection);
        let probes = &input.settings.probes;
        // A few queries are mined at a time, since all instances may not fit into memory.
        let mut writer =
            instances::InstanceFileWriter::with_temporary_parts(&self.out, probes.iter().copied())?;
        let mut hashing = InstanceHasher::with_probes_and_variants(probes.iter().copied());
        let mut found: Vec<(Probe, AxiomVariant, Vec<u32>)> = Vec::new();
        found.extend(probes.iter().map(|it| (it.0, it.1, Vec::new())));
        let mut kept: BTreeMap<Probe, u64> = probes.iter().map(|it| (it.0, 0)).collect();
        let mut left = ids.queries.as_slice();
        let take = |shards: Vec<QueryMiningResult>| {
            let (queries, others) = left.split_at(shards.len());
            left = others;
            let part = MiningResult::from_query_results(probes, shards);
            writer.add_instances_of_queries(&part, queries, &ids.docs)?;
            hashing.add_query_instances(&part, queries, |doc| ids.docs[doc as usize].to_owned());
            for (all, part) in found.iter_mut().zip(&part.instances) {
                all.2.extend(&part.n_found);
                *kept.entry(part.probe).or_default() += part.len() as u64;
            }
            Ok(())
        };
        let n_without_text = run_never_waiting_future(prepared.mine_in_batches(&mut cores, take))?;
        if n_without_text > 0 {
            eprintln!("documents of the pools without a text, left out: {n_without_text}");
        }
        let hash = hashing.finish();
        let origin = InstanceFileMetadata {
            format: 1,
            software: env!("CARGO_PKG_VERSION").to_owned(),
            collection_hash: prepared.collection.content_hash(),
            hash: hash.clone(),
            analyzer: input.settings.analyzer,
            pool: input.settings.pool,
            limits: input.settings.limits,
            vectors: about,
            n_queries: ids.queries.len(),
            n_before_cap: found,
        };
        writer.write_file_from_parts(&self.out, &origin)?;
        let share = |it: &(Probe, AxiomVariant, Vec<u32>)| {
            let all: u64 = it.2.iter().map(|&it| u64::from(it)).sum();
            let kept = kept.get(&it.0).copied().unwrap_or(0);
            let share = if all == 0 {
                1.0
            } else {
                kept as f64 / all as f64
            };
            (it.0, share)
        };
        let told = MineOutput {
            sampled: origin.n_before_cap.iter().map(share).collect(),
            instances: kept,
            hash,
            without_text: n_without_text,
            seconds: self.times.then(|| Seconds {
                index: analysed.as_secs_f64(),
                mine: (began.elapsed() - analysed).as_secs_f64(),
            }),
        };
        if self.json {
            print_json(&told);
        } else {
            for (probe, n) in told.instances {
                let share = told.sampled[&probe];
                let note = if share < 1.0 {
                    format!("\tsampled {share:.4}")
                } else {
                    String::new()
                };
                println!("{}\t{n}{note}", probe.slug());
            }
            println!("hash\t{}", told.hash);
        }
        Ok(CommandOutcome::Done)
    }
}

/// The output of `mine --json`.
#[derive(serde::Serialize)]
struct MineOutput {
    instances: BTreeMap<Probe, u64>,
    hash: String,
    sampled: BTreeMap<Probe, f64>,
    without_text: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<Seconds>,
}

/// The durations of the stages of `mine`, in seconds.
#[derive(serde::Serialize)]
struct Seconds {
    /// Reading and analyzing the collection.
    index: f64,
    /// Choosing the candidate pools, mining and writing.
    mine: f64,
}

/// Holds the command-line arguments of `axioscope score`.
#[derive(clap::Args)]
pub(crate) struct ScoreArgs {
    /// Folder or name of an imported collection
    #[arg(long, value_name = "DIR|NAME")]
    collection: String,
    /// Instance file from `mine`; its pairs are scored
    #[arg(long, value_name = "FILE.parquet")]
    instances: Option<PathBuf>,
    /// Pair file from `pairs`: JSON lines with query_id and text_id, or TSV with a header row and
    /// these as the first two columns
    #[arg(long, value_name = "FILE.jsonl|FILE.tsv", conflicts_with = "instances")]
    pairs: Option<PathBuf>,
    /// Ranker: bm25…, ql…, scores:FILE, http(s)://HOST/rerank or /v1/rerank, or a model folder or
    /// Hugging Face Hub name
    #[arg(long)]
    ranker: String,
    /// Output file: query id, document id, score
    #[arg(long, value_name = "FILE.tsv", required_unless_present = "dry_run")]
    out: Option<PathBuf>,
    /// Print the requests to a remote ranker as JSON without sending them
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    computing: DeviceAndPrecisionArgs,
    #[command(flatten)]
    analyzer: AnalyzerArgs,
    #[command(flatten)]
    version: CollectionVersionArgs,
}

impl ScoreArgs {
    pub(super) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        let ranker: RankerSpec = self.ranker.parse()?;
        let computing = self.computing.compute_target()?;
        let work = match (&self.instances, &self.pairs) {
            (Some(_), _) if self.analyzer.is_any_arg_given() => {
                let reason = "instances are scored with the analyzer they were mined with; \
                              give --tokenizer, --stopwords and --stemmer with --pairs";
                return Err(InputError::conflicting_value("score", reason).into());
            }
            (Some(instances), _) => {
                ScoringWork::from_instances(&self.collection, instances, data, &self.version)?
            }
            (None, Some(pairs)) => {
                let analyzer = self.analyzer.build_analyzer(None)?;
                ScoringWork::from_pairs(&self.collection, pairs, data, analyzer)?
            }
            (None, None) => {
                let reason = "give --instances or --pairs";
                return Err(InputError::missing_field("score", reason).into());
            }
        };
        let out = match (self.out, &ranker) {
            (_, RankerSpec::Remote(service)) if self.dry_run => {
                let index = Index::build(&work.analyzer, [])?;
                // The folder is not created if it does not exist.
                let folder = Some(data.join("drafts")).filter(|it| it.is_dir());
                let scoring = work.scoring(&index, folder.as_deref());
                print_json(&pipeline::remote_scoring_volume(&scoring, service)?);
                return Ok(CommandOutcome::Done);
            }
            (Some(out), _) if !self.dry_run => out,
            (_, _) => {
                let reason = "sends nothing anyway with a ranker of this machine; it is for \
                              addresses";
                return Err(InputError::unsupported_value("dry-run", reason).into());
            }
        };
        let (mut scores, drafts) = work.score(&[ranker], data, computing)?;
        let scores = scores.remove(0);
        let collection = &work.loaded.collection;
        write_atomically(&out, remedy::ANOTHER_FILE, |file| {
            let mut out = BufWriter::new(file);
            for (place, (query, text)) in work.pairs.iter().enumerate() {
                let Some(score) = scores.score_at_position(place) else {
                    continue;
                };
                let text = work.mined.study_docs[text as usize];
                let id = text.id(collection.docs[text.source_doc() as usize].id());
                writeln!(out, "{}\t{id}\t{score:.16e}", collection.queries[query].id)?;
            }
            out.flush()
        })?;
        if scores.n_missing() > 0 {
            eprintln!("{} pairs have no score", scores.n_missing());
        }
        if !scores.truncated.is_empty() {
            eprintln!("{} pairs were seen only in part", scores.truncated.len());
        }
        drafts
            .into_iter()
            .try_for_each(PartialScores::delete_file)?;
        Ok(CommandOutcome::Done)
    }
}

/// What to do with instances that were mined from another version of the collection.
#[derive(Debug, clap::Args)]
struct CollectionVersionArgs {
    /// Accept instances mined from another version of the collection
    #[arg(long)]
    force: bool,
}

impl CollectionVersionArgs {
    /// Restricts the collection to the queries that a file was mined from. If the collection has
    /// another hash than the file, returns an error, or prints a warning with `--force`.
    fn check(
        &self,
        loaded: &mut CollectionWithReadReport,
        file: &Path,
        origin: &InstanceFileMetadata,
    ) -> Result<(), Error> {
        loaded.collection.queries.truncate(origin.n_queries);
        let hash = loaded.collection.content_hash();
        if hash == origin.collection_hash {
            return Ok(());
        }
        let reason = format!(
            "was mined from another version of the collection (hash {:.12}, this one has \
             {hash:.12})",
            origin.collection_hash
        );
        if self.force {
            eprintln!("warning: {} {reason}", file.display());
            return Ok(());
        }
        let reason = format!("{reason}; mine it again, or take it all the same by --force");
        let field = ErrorFieldName::with_display_name("instances", file.display());
        Err(InputError::conflicting_value(field, reason).into())
    }
}

/// Returns an error if a file has instances of manipulations: `mine` derives their documents only
/// to count them, and they are in no collection.
fn refuse_manipulations(file: &Path, origin: &InstanceFileMetadata) -> Result<(), Error> {
    let is_derived = |(probe, _, found): &&(Probe, AxiomVariant, Vec<u32>)| {
        matches!(probe, Probe::Manipulation(_)) && found.iter().any(|&it| it > 0)
    };
    let Some((probe, ..)) = origin.n_before_cap.iter().find(is_derived) else {
        return Ok(());
    };
    let reason = format!(
        "has instances of the manipulation `{}`, whose documents are derived and stand in no \
         collection; name the manipulations in `probes` of a study file, whose pairs are listed \
         by `pairs --study` and scored by `study run`, or mine again without them",
        probe.slug()
    );
    let field = ErrorFieldName::with_display_name("instances", file.display());
    Err(InputError::unsupported_value(field, reason).into())
}

/// The instances or pairs to score, with their collection.
struct ScoringWork {
    loaded: CollectionWithReadReport,
    mined: MiningResult,
    pairs: QueryDocumentPairs,
    analyzer: shared::text::Analyzer,
}

impl ScoringWork {
    fn from_study(file: &Path, data: &Path) -> Result<ScoringWork, Error> {
        let definition = super::study::read_study_definition(file)?;
        let mut loaded = collection_files::load_named_collection(&definition.collection, data)?;
        tell_reading(&loaded);
        let analyzer = definition.analyzer.clone();
        let (mined, collection) =
            pipeline::mine_study_from_definition(definition, loaded.collection, &loaded.folder)?;
        loaded.collection = collection;
        Ok(ScoringWork {
            pairs: QueryDocumentPairs::from_mining_result(&mined),
            loaded,
            mined,
            analyzer,
        })
    }

    fn from_instances(
        named: &str,
        file: &Path,
        data: &Path,
        version: &CollectionVersionArgs,
    ) -> Result<ScoringWork, Error> {
        let mut loaded = collection_files::load_named_collection(named, data)?;
        let reader = instances::InstanceFileReader::open(file, &ids(&loaded.collection))?;
        refuse_manipulations(file, &reader.origin)?;
        let (mined, origin) = reader.read_mining_result(&ids(&loaded.collection))?;
        version.check(&mut loaded, file, &origin)?;
        let pairs = QueryDocumentPairs::from_mining_result(&mined);
        Ok(ScoringWork {
            loaded,
            mined,
            pairs,
            analyzer: origin.analyzer,
        })
    }

    fn from_pairs(
        named: &str,
        file: &Path,
        data: &Path,
        analyzer: shared::text::Analyzer,
    ) -> Result<ScoringWork, Error> {
        let loaded = collection_files::load_named_collection(named, data)?;
        let collection = &loaded.collection;
        let query_of: BTreeMap<&str, usize> = collection
            .queries
            .iter()
            .enumerate()
            .map(|(at, it)| (it.id.as_str(), at))
            .collect();
        let numbers = collection.doc_numbers_by_id();
        let mut found: Vec<(usize, OriginalOrDerivedDocument)> = Vec::new();
        pairs::for_each_pair_in_file(file, |row| {
            let query = query_of.get(row.query_id.as_str()).copied();
            let query = query.ok_or_else(|| pairs::unknown_id_message("query", &row.query_id))?;
            let text =
                OriginalOrDerivedDocument::parse_id(&row.text_id, |id| numbers.get(id).copied());
            let text = text.ok_or_else(|| pairs::unknown_id_message("text", &row.text_id))?;
            found.push((query, text));
            Ok(())
        })?;
        let mut texts: Vec<OriginalOrDerivedDocument> = found.iter().map(|it| it.1).collect();
        texts.sort_unstable();
        texts.dedup();
        let mut by_query = vec![Vec::new(); collection.queries.len()];
        for (query, text) in &found {
            by_query[*query].push(texts.partition_point(|it| it < text) as u32);
        }
        let pairs = QueryDocumentPairs::from_documents_by_query(by_query);
        let mined = MiningResult {
            study_docs: texts,
            ..MiningResult::default()
        };
        Ok(ScoringWork {
            loaded,
            mined,
            pairs,
            analyzer,
        })
    }

    /// Returns the scores of each ranker, and the partial scores of remote rankers, which should be
    /// discarded after the scores have been stored.
    fn score(
        &self,
        rankers: &[RankerSpec],
        data: &Path,
        computing: neural::DeviceAndPrecision,
    ) -> Result<(Vec<RankerQueryDocumentScores>, Vec<PartialScores>), Error> {
        let collection = &self.loaded.collection;
        let index = match rankers.iter().any(RankerSpec::needs_term_statistics) {
            true => pipeline::build_index(collection, &self.analyzer)?,
            false => Index::build(&self.analyzer, [])?,
        };
        let (mut all, mut drafts) = (Vec::new(), Vec::new());
        for ranker in rankers {
            all.push(match ranker {
                RankerSpec::Model(spec) => {
                    let model = ModelRegistry::load_ranker_from_cli_spec(spec, computing)?;
                    pipeline::score_with_model(&self.scoring(&index, None), &model)?.0
                }
                RankerSpec::Remote(service) => {
                    // Responses of a paid service are stored as they arrive, so that they survive a
                    // crash.
                    let folder = DataFolder::open(data)?.ensure_remote_partial_scores_folder()?;
                    let scoring = self.scoring(&index, Some(&folder));
                    let (scores, draft) = pipeline::score_with_remote_ranker(&scoring, service)?;
                    drafts.push(draft);
                    scores
                }
                RankerSpec::Lexical(_) | RankerSpec::Scores(_) => {
                    let models = ModelRegistry::with_models_or_default(&[], computing)?;
                    pipeline::score_all_pairs_with_ranker(
                        &self.scoring(&index, None),
                        ranker,
                        &models,
                    )?
                    .0
                }
            });
        }
        Ok((all, drafts))
    }

    fn scoring<'a>(&'a self, index: &'a Index, drafts: Option<&'a Path>) -> PairScoringInput<'a> {
        PairScoringInput {
            collection: &self.loaded.collection,
            index,
            texts: &self.mined.study_docs,
            pairs: &self.pairs,
            // These commands do not report a score stability check.
            stability_sample: Vec::new(),
            folder: &self.loaded.folder,
            partial_scores: drafts,
            distributed: None,
        }
    }
}

fn ids(collection: &Collection) -> CollectionExternalIds<'_> {
    CollectionExternalIds {
        queries: collection.queries.iter().map(|it| it.id.as_str()).collect(),
        docs: collection.docs.iter().map(|it| it.id()).collect(),
    }
}
