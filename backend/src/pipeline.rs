//! The stages of the pipeline: each function loads data, computes on all cores, stores the result
//! and reports progress.
//!
//! Work is divided by query. The parts are computed in any order and combined in the order of the
//! queries, so that the number of threads does not change any bit.

mod shards;
mod parallel;
mod expand;
mod inputs;
mod score;
mod study;
mod late_interaction;
mod word_vectors;

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;
use shared::collection::{Collection, Document, Run, RunEntry};
use shared::index::{DocNo, Index, IndexBuilder};
use shared::probe::pool::CandidatePoolSelector;
use shared::probe::{AxiomVariant, CandidatePoolSpec, Probe};
use shared::rank::LexicalRanker;
use shared::rank::max_score::TopKSearcher;
use shared::study::Study;
use shared::study::instance_list::{InstanceListOptions, InstancePage};
use shared::study::preparation::{self, run_never_waiting_future};
use shared::text::Analyzer;

use crate::collection_files;
use crate::error::Error;
use crate::models::NeuralRanker;
use crate::progress::ProgressBar;
use crate::store::DataFolder;
use crate::store::studies::files;
use crate::store::studies::instance_orders::InstanceOrders;
pub(crate) use expand::{
    DocumentExpansionSettings, DocumentExpansionSummary, write_expanded_collection,
};
pub(crate) use inputs::read_run_and_word_vectors;
pub(crate) use late_interaction::{LateInteractionAnalysisInput, analyze_late_interaction};
pub(crate) use parallel::ParallelExecutor;
pub(crate) use score::{
    PairScoringInput, read_score_file, remote_scoring_volume, score_all_pairs_with_ranker,
    score_with_model, score_with_remote_ranker,
};
pub use shards::{
    EngineOpener, ShardEngine, ShardInputs, ShardOutput, ShardSizes, ShardWork, ShardWorker,
    StudyCluster, StudyJob, StudyShard, StudyStage,
};
pub(crate) use study::{
    NewStudy, StudyReplacementPolicy, compute_missing_or_outdated_scores,
    compute_scores_of_trained_rankers, create_or_resume_study, create_study_with_lexical_rankers,
    hash_remined_instances, load_study_if_intact, mine_study_from_definition,
    name_and_validate_upload, store_uploaded_study,
};
pub(crate) use word_vectors::{prepare_glove_trainer, train_all_glove_rounds, write_word_vectors};

/// Analyzes and indexes a collection.
pub(crate) fn build_index(collection: &Collection, analyzer: &Analyzer) -> Result<Index, Error> {
    build_index_with_executor(collection, analyzer, ParallelExecutor::default())
}

/// Same as [`build_index`], with an executor that can have column storage.
pub(crate) fn build_index_with_executor(
    collection: &Collection,
    analyzer: &Analyzer,
    executor: ParallelExecutor,
) -> Result<Index, Error> {
    let builder = IndexBuilder::with_analyzer(analyzer.clone());
    index_with(collection, builder, executor)
}

/// Same as [`build_index`], with the token sequences that word vectors are trained on.
pub(crate) fn build_index_with_tokens(
    collection: &Collection,
    analyzer: &Analyzer,
    executor: ParallelExecutor,
) -> Result<Index, Error> {
    let builder = IndexBuilder::with_analyzer(analyzer.clone());
    index_with(collection, builder.with_stored_tokens(), executor)
}

fn index_with(
    collection: &Collection,
    builder: IndexBuilder,
    mut executor: ParallelExecutor,
) -> Result<Index, Error> {
    run_never_waiting_future(preparation::index_documents_in_shards(
        &collection.docs,
        builder,
        &mut executor,
    ))
}

/// Returns the candidate pool of each query. Warnings about run files are printed when instances
/// are mined, not here.
pub(crate) fn compute_candidate_pools(
    pool: &CandidatePoolSpec,
    collection: &Collection,
    index: &Index,
    folder: &Path,
) -> Result<Vec<Vec<DocNo>>, Error> {
    pool.validate_for_collection(collection)?;
    let run = match pool {
        CandidatePoolSpec::Run { file, .. } => {
            Some(collection_files::resolve_and_read_run(file, folder)?.0)
        }
        CandidatePoolSpec::LexicalRanker { .. }
        | CandidatePoolSpec::Group
        | CandidatePoolSpec::Judged
        | CandidatePoolSpec::All => None,
    };
    let pools = CandidatePoolSelector::from_pool_spec(pool, run.as_ref(), collection, index)?;
    let queries = (0..collection.queries.len()).into_par_iter();
    Ok(queries
        .map(|query| pools.pool_and_missing_doc_count(query).0)
        .collect())
}

/// The numbers of the instances on which annotators have decided.
pub(crate) type ReviewedInstances = BTreeMap<(Probe, AxiomVariant), ReviewedInstanceNumbers>;

/// The numbers of the instances of a probe and variant on which annotators have decided, in any
/// order.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReviewedInstanceNumbers {
    pub by_people: Vec<u64>,
    pub by_simulated_annotators: Vec<u64>,
}

/// Returns one page of the instances of a cell, from sorted instances if there are any. Otherwise
/// all instances are looked at, on all cores.
pub(crate) fn list_instance_page(
    study: &Study,
    orders: &InstanceOrders,
    reviewed: &ReviewedInstances,
    listing: &InstanceListOptions,
) -> Result<InstancePage, shared::error::Error> {
    let lister = study.instance_lister(listing)?;
    let instances = lister.instances();
    let numbers = reviewed.get(&(instances.probe, instances.variant));
    let numbers = numbers.cloned().unwrap_or_default();
    let lister = lister.with_reviewed_instances(numbers.by_people, numbers.by_simulated_annotators);
    let row = study.parse_ranker_row_index(&listing.ranker)?;
    let order = orders.get(row, lister.instances());
    if let Some(page) = order.and_then(|it| lister.page_from_order(it)) {
        return Ok(page);
    }
    let parts = lister.split_queries_into_balanced_parts(rayon::current_num_threads());
    let counted: Vec<_> = parts
        .into_par_iter()
        .map(|it| lister.build_margin_histogram(it))
        .collect();
    let plan = lister.plan_page_selection(&counted);
    let picked = plan
        .parts
        .par_iter()
        .map(|it| lister.select_page_instances(it))
        .collect();
    Ok(lister.merge_selections_into_page(&plan, picked))
}

/// Returns the top `k` documents of each query.
pub(crate) fn retrieve_top_k(
    collection: &Collection,
    index: &Index,
    ranker: &LexicalRanker,
    k: usize,
) -> Run {
    let searcher = TopKSearcher::for_lexical_ranker(index, *ranker);
    let ranked = |query: &shared::collection::Query| {
        let hits = searcher.search(index, &index.query_term_statistics(&query.text), k);
        let rows = hits.iter().enumerate().map(|(at, hit)| RunEntry {
            doc: collection.docs[hit.doc as usize].id().to_owned(),
            rank: at as i64 + 1,
            score: hit.score,
        });
        (query.id.clone(), rows.collect())
    };
    Run(collection.queries.par_iter().map(ranked).collect())
}

/// Ranks the documents of a collection with a doc2query ranker, which expands all of them, and
/// returns the top `k` of each query.
pub(crate) fn rank_expanded_documents(
    collection: &Collection,
    index: &Index,
    ranker: &NeuralRanker,
    k: usize,
) -> Result<Run, Error> {
    let queries = collection.queries.iter().map(|it| it.text.as_str());
    let queries: Vec<&str> = queries.collect();
    let documents = collection.docs.iter().map(Document::text_with_title);
    let documents: Vec<&str> = documents.collect();
    let bar = ProgressBar::with_unit("expand", documents.len() as u64, "documents");
    let ranked = ranker
        .with_statistics_of_index(index, queries.iter().copied())
        .rank_expanded_documents(&documents, &queries, k, |n| bar.set_position(n as u64))?;
    let entry = |(at, (doc, score)): (usize, (usize, f64))| RunEntry {
        doc: collection.docs[doc].id().to_owned(),
        rank: at as i64 + 1,
        score,
    };
    let each = collection.queries.iter().zip(ranked);
    let each = each.map(|(query, ranked)| {
        let rows = ranked.into_iter().enumerate().map(entry);
        (query.id.clone(), rows.collect())
    });
    Ok(Run(each.collect()))
}

/// Loads a study from the data folder; returns an error if there is none of this name or if its
/// files cannot be read.
pub(crate) fn load_study(folder: &DataFolder, name: &str) -> Result<Study, Error> {
    files::load_and_verify_study(folder, name)
}

/// Opens the sorted instances of a study.
pub(crate) fn load_instance_orders(
    folder: &DataFolder,
    study: &Study,
) -> Result<InstanceOrders, Error> {
    files::load_instance_orders(folder, study)
}

/// Returns the current date in UTC, as in `2026-11-20`.
pub(crate) fn current_utc_date() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let days = since.map_or(0, |it| it.as_secs() / 86_400);
    jiff::civil::date(1970, 1, 1)
        .checked_add(jiff::Span::new().days(days as i64))
        .map_or_else(|_| "1970-01-01".to_owned(), |it| it.to_string())
}
