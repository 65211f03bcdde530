//! The command `judge`: verdicts of rankers on a file of instances, which is read one row group at
//! a time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use shared::probe::mining::{InstanceHasher, OriginalOrDerivedDocument};
use shared::probe::{AxiomVariant, MiningResult, Probe};
use shared::score::{QueryDocumentPairs, RankerQueryDocumentScores};
use shared::study::overview;
use shared::verdict;

use super::{CollectionVersionArgs, ScoringWork, ids, refuse_manipulations};
use crate::cli::compute::DeviceAndPrecisionArgs;
use crate::cli::{CommandOutcome, print_json};
use crate::collection_files;
use crate::config::{RankerSpec, parse_tie_threshold};
use crate::error::Error;
use crate::store::instances;
use crate::store::partial_scores::PartialScores;

/// Holds the command-line arguments of `axioscope judge`.
#[derive(clap::Args)]
pub(crate) struct JudgeRankersByAxiomsArgs {
    /// Folder or name of an imported collection
    #[arg(long, value_name = "DIR|NAME")]
    collection: String,
    /// Instance file from `mine`
    #[arg(long, value_name = "FILE.parquet")]
    instances: PathBuf,
    /// Ranker: bm25…, ql…, scores:FILE, http(s)://HOST/rerank or /v1/rerank, or a model folder or
    /// Hugging Face Hub name; may be repeated
    #[arg(long, required = true)]
    ranker: Vec<String>,
    /// Tie threshold ε: scores that differ by at most X are tied [default: 1e-9 for lexical
    /// rankers, 0 for others]
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    delta_score: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    computing: DeviceAndPrecisionArgs,
    #[command(flatten)]
    version: CollectionVersionArgs,
}

impl JudgeRankersByAxiomsArgs {
    pub(in crate::cli) fn run(self, data: &Path) -> Result<CommandOutcome, Error> {
        let rankers = self.ranker.iter().map(|it| it.parse());
        let rankers = rankers.collect::<Result<Vec<RankerSpec>, Error>>()?;
        let width = self
            .delta_score
            .as_deref()
            .map(parse_tie_threshold)
            .transpose()?;
        let mut loaded = collection_files::load_named_collection(&self.collection, data)?;
        let file = instances::InstanceFileReader::open(&self.instances, &ids(&loaded.collection))?;
        refuse_manipulations(&self.instances, &file.origin)?;
        self.version
            .check(&mut loaded, &self.instances, &file.origin)?;
        let (texts, pairs) = unique(&file)?;
        let work = ScoringWork {
            loaded,
            mined: MiningResult {
                study_docs: texts,
                ..MiningResult::default()
            },
            pairs,
            analyzer: file.origin.analyzer.clone(),
        };
        let (scores, drafts) = work.score(&rankers, data, self.computing.compute_target()?)?;
        let widths: Vec<f64> = scores
            .iter()
            .map(|it| width.unwrap_or(it.ranker.kind.default_tie_threshold()))
            .collect();
        let tallies = tally(&file, &work, &scores, &widths)?;
        let all: Vec<(String, BTreeMap<Probe, JudgeOutput>)> = scores
            .iter()
            .zip(tallies)
            .map(|(scores, by_probe)| {
                let found = file.origin.n_before_cap.iter().zip(by_probe);
                let rows =
                    found.map(|(it, tallies)| (it.0, JudgeOutput::of((it.0, it.1), &tallies)));
                (scores.ranker.spec.clone(), rows.collect())
            })
            .collect();
        if self.json {
            // A single ranker is printed without its name.
            match all.as_slice() {
                [(_, one)] => print_json(one),
                _ => print_json(&all.into_iter().collect::<BTreeMap<_, _>>()),
            }
            drafts
                .into_iter()
                .try_for_each(PartialScores::delete_file)?;
            return Ok(CommandOutcome::Done);
        }
        let several = all.len() > 1;
        for (ranker, rows) in all {
            if several {
                println!("# {ranker}");
            }
            println!("axiom\tsatisfied\ttied\tviolated\tunscored\tfraction\t95 % interval");
            for (probe, row) in rows {
                let number = |it: Option<f64>| it.map_or("–".into(), |it| format!("{it:.4}"));
                println!(
                    "{}\t{}\t{}\t{}\t{}\t{}\t[{}, {}]",
                    probe.slug(),
                    row.satisfied,
                    row.tied,
                    row.violated,
                    row.unscored,
                    number(row.fraction),
                    number(row.interval.map(|it| it[0])),
                    number(row.interval.map(|it| it[1])),
                );
            }
        }
        drafts
            .into_iter()
            .try_for_each(PartialScores::delete_file)?;
        Ok(CommandOutcome::Done)
    }
}

/// Returns the documents of a file in ascending order, and the query-document pairs to score.
fn unique(
    file: &instances::InstanceFileReader,
) -> Result<(Vec<OriginalOrDerivedDocument>, QueryDocumentPairs), Error> {
    let mut by_query: Vec<Vec<OriginalOrDerivedDocument>> = vec![Vec::new(); file.origin.n_queries];
    file.for_each_row_group(|group| {
        // The rows of a query are adjacent, so that comparing with the last query of each document
        // removes most repetitions.
        let arity = group.claim.arity();
        let mut seen: Vec<u32> = vec![u32::MAX; group.texts.len()];
        for (rows, &query) in group.rows.chunks(arity).zip(&group.queries) {
            for &text in rows {
                if seen[text as usize] != query {
                    seen[text as usize] = query;
                    by_query[query as usize].push(group.texts[text as usize]);
                }
            }
        }
        Ok(())
    })?;
    let mut texts: Vec<OriginalOrDerivedDocument> = by_query.iter().flatten().copied().collect();
    texts.sort_unstable();
    texts.dedup();
    let number = |text: &OriginalOrDerivedDocument| texts.partition_point(|it| it < text) as u32;
    let numbered = by_query
        .iter()
        .map(|of_query| of_query.iter().map(number).collect());
    let pairs = QueryDocumentPairs::from_documents_by_query(numbered);
    Ok((texts, pairs))
}

/// Returns the outcome counts of each query, by ranker and by axiom variant.
fn tally(
    file: &instances::InstanceFileReader,
    work: &ScoringWork,
    scores: &[RankerQueryDocumentScores],
    widths: &[f64],
) -> Result<Vec<Vec<Vec<verdict::ClaimOutcomeCounts>>>, Error> {
    let none = vec![verdict::ClaimOutcomeCounts::default(); file.origin.n_queries];
    let mut all = vec![vec![none; file.origin.n_before_cap.len()]; scores.len()];
    let mut hashing = InstanceHasher::with_probes_and_variants(
        file.origin.n_before_cap.iter().map(|it| (it.0, it.1)),
    );
    file.for_each_row_group(|group| {
        let numbers: Vec<u32> = group
            .texts
            .iter()
            .map(|text| work.mined.study_docs.partition_point(|it| it < text) as u32)
            .collect();
        let arity = group.claim.arity();
        let mut places = [0; 3];
        for (rows, &query) in group.rows.chunks(arity).zip(&group.queries) {
            for (place, &text) in places.iter_mut().zip(rows) {
                let found = work
                    .pairs
                    .position_of_pair(query as usize, numbers[text as usize]);
                *place = found.expect("every text of the file is among the pairs");
            }
            let claim = group.claim.build_score_claim(&places[..arity]);
            for ((all, scores), &width) in all.iter_mut().zip(scores).zip(widths) {
                let scored =
                    claim.replace_docs_with_scores(|place| scores.score_at_position(place));
                let verdict = scored.map(|it| it.verdict(width));
                all[group.probe][query as usize].count_verdict(verdict);
            }
        }
        let docs = &work.loaded.collection.docs;
        let names: Vec<String> = group
            .texts
            .iter()
            .map(|it| it.id(docs[it.source_doc() as usize].id()))
            .collect();
        for (rows, &query) in group.rows.chunks(arity).zip(&group.queries) {
            let query_id = &work.loaded.collection.queries[query as usize].id;
            let texts = rows.iter().map(|&it| names[it as usize].as_str());
            hashing.add_instance(group.probe, query_id, texts);
        }
        Ok(())
    })?;
    file.verify_instance_hash(hashing)?;
    Ok(all)
}

/// The output of `judge --json` for an axiom. Fractions are `None` if no instance has scores.
#[derive(serde::Serialize)]
struct JudgeOutput {
    satisfied: u64,
    tied: u64,
    violated: u64,
    unscored: u64,
    fraction: Option<f64>,
    interval: Option<[f64; 2]>,
    over_queries: Option<f64>,
    over_queries_interval: Option<[f64; 2]>,
    p: Option<f64>,
    n_queries: u64,
    mode: AxiomVariant,
}

impl JudgeOutput {
    /// Computes the output for an axiom and variant from the outcome counts of each query.
    fn of(
        (probe, mode): (Probe, AxiomVariant),
        tallies: &[verdict::ClaimOutcomeCounts],
    ) -> JudgeOutput {
        let mut sum = verdict::ClaimOutcomeCounts::default();
        tallies.iter().for_each(|&it| sum += it);
        let cell = overview::ranker_axiom_result_from_counts(
            tallies,
            probe.claim_kind(mode).tie_agreement_with_claim(),
        );
        let cell = cell.as_ref();
        JudgeOutput {
            satisfied: sum.satisfied,
            tied: sum.tied,
            violated: sum.violated,
            unscored: sum.unscored,
            fraction: cell.map(|it| it.micro_average.value),
            interval: cell.map(|it| it.micro_average.interval),
            over_queries: cell.map(|it| it.macro_average.value),
            over_queries_interval: cell.map(|it| it.macro_average.interval),
            p: cell.map(|it| it.p),
            n_queries: cell.map_or(0, |it| it.n_queries),
            mode,
        }
    }
}
