//! Prepares and mines a collection: index, derived documents, rows of word vectors, candidate
//! pools, instances.
//!
//! The command `mine`, the backend's studies and the browser's worker all use this module. They
//! differ only in their [`ShardExecutor`]: the backend computes the shards of a stage on all
//! cores, the worker computes one after the other and handles other messages in between. The
//! result is the same to the bit.

use std::ops::Range;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use serde::{Deserialize, Serialize};

use super::StudyDefinition;
use super::analyzer_audit::{AnalyzerChangeRetentionCounter, InstanceRetentionUnderAnalyzer};
use crate::collection::{Collection, Document, Run};
use crate::error::Error;
use crate::index::column_storage::ColumnStorage;
use crate::index::{Index, IndexBuilder};
use crate::probe::additions::{
    AddedSamplesByQuery, DerivedDocumentBuilder, LinguisticAnalysisCache,
    PendingCollectionAdditions,
};
use crate::probe::manipulation::ManipulationWordLists;
use crate::probe::mining::{InstanceMiner, MiningResultBuilder, PooledQuery, QueryMiningResult};
use crate::probe::pool::CandidatePoolSelector;
use crate::probe::transfer::TransferPairSet;
use crate::probe::{AxiomVariant, CandidatePoolSpec, MiningResult, MiningThresholds, Probe};
use crate::rank::LexicalRanker;
use crate::score::lexical::score_lexically_for_query;
use crate::text::Analyzer;
use crate::word_vectors::{IndexedWordVectors, SynonymFinder, WordVectorNo, WordVectors};

/// The number of documents that are indexed between two progress reports.
const DOCS_AT_ONCE: usize = 500;

/// A stage of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StudyPreparationStage {
    /// Indexing; counted in documents.
    Index,
    /// Deriving documents for manipulations; counted in queries.
    DeriveDocuments,
    /// Mining; counted in queries.
    Mine,
    /// Indexing for each analyzer of the audit; counted in documents.
    AuditIndex,
    /// Mining for each analyzer of the audit; counted in queries.
    Audit,
    /// Scoring, one ranker after the other; counted in rankings, one for each ranker and query.
    Score,
}

/// The progress of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StudyPreparationProgress {
    /// The current stage.
    pub stage: StudyPreparationStage,
    /// What is done, in the unit of the stage.
    pub done: u64,
    /// The total, in the same unit.
    pub total: u64,
    /// Instances that [`StudyPreparationStage::Mine`] has found so far.
    pub n_found: u64,
}

/// Computes the shards of each stage and receives progress reports.
pub trait ShardExecutor {
    /// An error that ends the work early.
    type Error: From<Error>;

    /// Returns how many shards of a stage are computed before progress is reported: one, or as
    /// many as may have their results in memory together.
    fn shards_at_once(&self, _: StudyPreparationStage) -> usize {
        1
    }

    /// Returns the results of some shards in the order of their numbers. They may be computed in
    /// any order or in parallel.
    fn compute<T: Send>(&self, shards: Range<usize>, shard: impl Fn(usize) -> T + Sync) -> Vec<T> {
        shards.map(shard).collect()
    }

    /// Returns the place for the large columns of indexes; `None` if they are in memory.
    fn column_storage(&self) -> Option<Arc<dyn ColumnStorage>> {
        None
    }

    /// Passes on the mining results of all queries, in the order of queries, if the executor has
    /// them from elsewhere. Returns `None` if the queries are to be mined here.
    fn mine_queries_elsewhere(
        &mut self,
        _n_queries: usize,
        _: &mut dyn FnMut(Vec<MinedQuery>) -> Result<(), Self::Error>,
    ) -> Option<Result<(), Self::Error>> {
        None
    }

    /// Returns the scores of the pairs of all queries with the lexical ranker at an index of those
    /// of the study, if the executor has them from elsewhere.
    fn take_lexical_scores(&mut self, _ranker: usize) -> Option<Vec<Vec<f64>>> {
        None
    }

    /// Receives the progress at the beginning of each stage and repeatedly during it. It may wait,
    /// and it may end the work by returning an error.
    fn report(
        &mut self,
        progress: StudyPreparationProgress,
    ) -> impl Future<Output = Result<(), Self::Error>>;
}

/// Computes one shard after the other, and never waits.
pub struct SequentialShardExecutor;

impl ShardExecutor for SequentialShardExecutor {
    /// The error of the core; this executor adds none of its own.
    type Error = Error;

    async fn report(&mut self, _: StudyPreparationProgress) -> Result<(), Error> {
        Ok(())
    }
}

/// Runs a future to its end; its executor must never wait.
pub fn run_never_waiting_future<T>(work: impl Future<Output = T>) -> T {
    match std::pin::pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(it) => it,
        Poll::Pending => unreachable!("an executor that waits needs a runtime"),
    }
}

/// A stage of the preparation that is in progress.
pub(super) struct RunningStage<'a, E> {
    executor: &'a mut E,
    progress: StudyPreparationProgress,
}

impl<'a, E: ShardExecutor> RunningStage<'a, E> {
    /// Begins a stage of `of` documents or queries, or resumes it where `done` are done.
    pub(super) async fn begin_or_resume(
        executor: &'a mut E,
        stage: StudyPreparationStage,
        done: usize,
        of: usize,
    ) -> Result<RunningStage<'a, E>, E::Error> {
        let progress = StudyPreparationProgress {
            stage,
            done: done as u64,
            total: of as u64,
            n_found: 0,
        };
        executor.report(progress).await?;
        Ok(RunningStage { executor, progress })
    }

    async fn build_index(
        &mut self,
        docs: &[Document],
        mut builder: IndexBuilder,
    ) -> Result<Index, E::Error> {
        if let Some(storage) = self.executor.column_storage() {
            builder = builder.with_column_storage(storage);
        }
        for some in docs.chunks(DOCS_AT_ONCE) {
            some.iter()
                .for_each(|it| builder.add_document(it.text_with_title()));
            builder.move_documents_to_storage()?;
            self.advance(some.len()).await?;
        }
        Ok(builder.finish()?)
    }

    /// Computes `n` shards, some at a time, and hands their results on in order. `take` receives
    /// each result together with the progress, to which it adds the number of instances that it
    /// finds.
    pub(super) async fn compute_shards_in_order<T: Send>(
        &mut self,
        n: usize,
        shard: impl Fn(usize) -> T + Sync,
        mut take: impl FnMut(Vec<T>, &mut StudyPreparationProgress) -> Result<(), E::Error>,
    ) -> Result<(), E::Error> {
        let at_once = self.executor.shards_at_once(self.progress.stage);
        for from in (0..n).step_by(at_once) {
            let to = n.min(from.saturating_add(at_once));
            let results = self.executor.compute(from..to, &shard);
            take(results, &mut self.progress)?;
            self.advance(to - from).await?;
        }
        Ok(())
    }

    /// Computes `n` shards and returns all their results.
    pub(super) async fn compute_and_collect_shards<T: Send>(
        &mut self,
        n: usize,
        shard: impl Fn(usize) -> T + Sync,
    ) -> Result<Vec<T>, E::Error> {
        let mut all = Vec::with_capacity(n);
        let take = |results, _: &mut StudyPreparationProgress| {
            all.extend::<Vec<T>>(results);
            Ok(())
        };
        self.compute_shards_in_order(n, shard, take).await?;
        Ok(all)
    }

    /// Returns the scores of a lexical ranker that the executor has from elsewhere.
    pub(super) fn take_lexical_scores(&mut self, ranker: usize) -> Option<Vec<Vec<f64>>> {
        self.executor.take_lexical_scores(ranker)
    }

    /// Counts `n` more shards as done and reports it.
    pub(super) async fn advance(&mut self, n: usize) -> Result<(), E::Error> {
        self.progress.done += n as u64;
        self.executor.report(self.progress).await
    }
}

/// Indexes documents in shards on the executor, which reports the progress; returns the executor's
/// errors.
pub async fn index_documents_in_shards<E: ShardExecutor>(
    docs: &[Document],
    builder: IndexBuilder,
    executor: &mut E,
) -> Result<Index, E::Error> {
    let mut step =
        RunningStage::begin_or_resume(executor, StudyPreparationStage::Index, 0, docs.len())
            .await?;
    step.build_index(docs, builder).await
}

/// The settings with which the instances of a collection are mined.
#[derive(Debug, Clone)]
pub struct MiningSettings {
    /// The analyzer, which turns text into terms.
    pub analyzer: Analyzer,
    /// The candidate pool: the documents of a query that are compared.
    pub pool: CandidatePoolSpec,
    /// The probes with their variants.
    pub probes: Vec<(Probe, AxiomVariant)>,
    /// The limits of the probes.
    pub limits: MiningThresholds,
}

impl MiningSettings {
    /// Returns the settings of a study: every axiom in every variant, ordered by variant first;
    /// then its behavioral tests, which have one variant.
    pub fn from_definition(definition: &StudyDefinition) -> MiningSettings {
        let modes = definition.variants.iter();
        let axioms = modes.flat_map(|&mode| definition.axioms().map(move |it| (it, mode)));
        let behaviours = definition
            .behavioral_tests()
            .map(|it| (it, AxiomVariant::Fixed));
        MiningSettings {
            analyzer: definition.analyzer.clone(),
            pool: definition.pool.clone(),
            probes: axioms.chain(behaviours).collect(),
            limits: definition.limits,
        }
    }
}

/// The contents of the files that settings or a definition name.
#[derive(Default)]
pub struct ParsedInputFiles {
    /// The run, for a pool that names one.
    pub run: Option<Run>,
    /// The word vectors.
    pub vectors: Option<Arc<WordVectors>>,
    /// The lookup tables of the manipulations.
    pub lookup_tables: ManipulationWordLists,
    /// The pairs of each transfer set.
    pub transfer_sets: Vec<TransferPairSet>,
}

/// A collection that is ready to be mined.
pub struct PreparedCollection {
    /// The collection, then its derived documents and the pairs and queries of transfer sets.
    pub collection: Collection,
    /// The index of all its documents.
    pub index: Index,
    /// What was added to the collection.
    pub added_samples: AddedSamplesByQuery,
    settings: MiningSettings,
    run: Option<Run>,
    vectors: Option<TokenVectors>,
}

/// Word vectors, with the row of each token of an index.
struct TokenVectors {
    vectors: Arc<WordVectors>,
    rows: Vec<Option<WordVectorNo>>,
}

impl TokenVectors {
    fn of(vectors: &Arc<WordVectors>, index: &Index) -> TokenVectors {
        TokenVectors {
            rows: vectors.token_rows_of_index(index),
            vectors: Arc::clone(vectors),
        }
    }

    fn known<'a>(&'a self, index: &'a Index) -> IndexedWordVectors<'a> {
        IndexedWordVectors::new(&self.vectors, index, &self.rows)
    }
}

impl PreparedCollection {
    /// Prepares a collection: indexes it, adds derived documents and transfer sets to it, and
    /// looks up the vectors of its words.
    pub async fn prepare<E: ShardExecutor>(
        mut collection: Collection,
        settings: MiningSettings,
        files: ParsedInputFiles,
        executor: &mut E,
    ) -> Result<PreparedCollection, E::Error> {
        let ParsedInputFiles {
            run,
            vectors,
            lookup_tables: mut tools,
            transfer_sets: sets,
        } = files;
        settings.analyzer.validate()?;
        settings.limits.validate()?;
        settings.pool.validate_for_collection(&collection)?;
        let builder = index_builder(&settings.analyzer, vectors.as_ref());
        let mut index = index_documents_in_shards(&collection.docs, builder, executor).await?;
        let mut made = Vec::new();
        let mut probes = settings.probes.iter();
        if probes.any(|it| matches!(it.0, Probe::Manipulation(_))) {
            if let Some(vectors) = &vectors {
                let analyzer = settings.analyzer.clone();
                tools.set_synonym_finder(SynonymFinder::new(Arc::clone(vectors), analyzer));
            }
            let bodies = LinguisticAnalysisCache::for_collection(&collection);
            let workshop = DerivedDocumentBuilder {
                collection: &collection,
                index: &index,
                documents: &bodies,
                probes: &settings.probes,
                lookup_tables: &tools,
                limits: &settings.limits,
            };
            let pools = CandidatePoolSelector::from_pool_spec(
                &settings.pool,
                run.as_ref(),
                &collection,
                &index,
            )?;
            let n_queries = collection.queries.len();
            let mut step = RunningStage::begin_or_resume(
                executor,
                StudyPreparationStage::DeriveDocuments,
                0,
                n_queries,
            )
            .await?;
            let derive = |query| {
                workshop
                    .build_documents_for_query(query, &pools.pool_and_missing_doc_count(query).0)
            };
            made = step.compute_and_collect_shards(n_queries, derive).await?;
        }
        let additions = PendingCollectionAdditions {
            derived_docs: made,
            transfer_sets: &sets,
            seed: settings.limits.seed,
        };
        let beside = AddedSamplesByQuery::extend_collection_and_index(
            &mut collection,
            &mut index,
            &settings.probes,
            additions,
        );
        let vectors = vectors.map(|it| TokenVectors::of(&it, &index));
        Ok(PreparedCollection {
            collection,
            index,
            added_samples: beside,
            settings,
            run,
            vectors,
        })
    }

    /// Prepares the collection of a study. It must already contain only the queries of the study.
    pub async fn prepare_for_study<E: ShardExecutor>(
        definition: &StudyDefinition,
        collection: Collection,
        files: ParsedInputFiles,
        executor: &mut E,
    ) -> Result<PreparedCollection, E::Error> {
        definition.validate()?;
        definition.audit.iter().try_for_each(Analyzer::validate)?;
        definition.validate_collection(&collection)?;
        if let (Some(file), None) = (&definition.vectors, &files.vectors) {
            return Err(Error::name_not_found("word vectors", file).into());
        }
        for file in &definition.transfers {
            let of = file.dataset_transfer_test()?;
            if files.transfer_sets.iter().all(|it| it.transfer != of) {
                return Err(Error::name_not_found("transfer set", &file.name).into());
            }
        }
        let settings = MiningSettings::from_definition(definition);
        PreparedCollection::prepare(collection, settings, files, executor).await
    }

    /// Returns the word vectors of its documents and queries, if there are any.
    pub fn word_vectors(&self) -> Option<IndexedWordVectors<'_>> {
        self.vectors.as_ref().map(|it| it.known(&self.index))
    }

    /// Prepares the candidate pools, so that queries can be mined one by one.
    pub fn query_miner(&self) -> Result<QueryMiner<'_>, Error> {
        let pools = CandidatePoolSelector::from_pool_spec(
            &self.settings.pool,
            self.run.as_ref(),
            &self.collection,
            &self.index,
        )?;
        Ok(QueryMiner {
            prepared: self,
            pools,
            word_vectors: self.word_vectors(),
        })
    }

    /// Mines some queries at a time and passes on their instances, in the order of queries.
    /// Returns how many documents of the pools the collection lacks.
    pub async fn mine_in_batches<E: ShardExecutor>(
        &self,
        executor: &mut E,
        mut take: impl FnMut(Vec<QueryMiningResult>) -> Result<(), E::Error>,
    ) -> Result<u64, E::Error> {
        let mut n_without_text = 0;
        let mut count = |shards: Vec<MinedQuery>| {
            n_without_text += shards.iter().map(|it| it.n_docs_without_text).sum::<u64>();
            take(shards.into_iter().map(|it| it.mined).collect())
        };
        let n_queries = self.collection.queries.len();
        if let Some(mined) = executor.mine_queries_elsewhere(n_queries, &mut count) {
            mined?;
            return Ok(n_without_text);
        }
        let miner = self.query_miner()?;
        let probes = &self.settings.probes;
        let take = |shards: Vec<MinedQuery>, progress: &mut StudyPreparationProgress| {
            let found = shards.iter().map(|it| it.mined.n_instances(probes));
            progress.n_found += found.sum::<u64>();
            count(shards)
        };
        let mut step =
            RunningStage::begin_or_resume(executor, StudyPreparationStage::Mine, 0, n_queries)
                .await?;
        let shard = |query| miner.mine_query(query);
        step.compute_shards_in_order(n_queries, shard, take).await?;
        Ok(n_without_text)
    }

    /// Mines all queries. Returns the instances and how many documents of the pools the collection
    /// lacks.
    pub async fn mine_all_queries<E: ShardExecutor>(
        &self,
        executor: &mut E,
    ) -> Result<(MiningResult, u64), E::Error> {
        let probes = &self.settings.probes;
        let mut mined = MiningResultBuilder::with_probes_and_variants(probes);
        let take = |shards: Vec<QueryMiningResult>| {
            shards.into_iter().for_each(|it| mined.add_query(it));
            Ok(())
        };
        let n_without_text = self.mine_in_batches(executor, take).await?;
        Ok((mined.finish(), n_without_text))
    }

    /// Counts, for each of some analyzers, how many of the instances are instances under it as
    /// well.
    pub async fn count_instances_retained_by_analyzers<E: ShardExecutor>(
        &self,
        analyzers: &[Analyzer],
        mined: &MiningResult,
        executor: &mut E,
    ) -> Result<Vec<InstanceRetentionUnderAnalyzer>, E::Error> {
        let collection = &self.collection;
        let n_queries = collection.queries.len();
        let docs = &collection.docs[..self.index.n_docs()];
        let limits = MiningThresholds {
            max_per_query: None,
            ..self.settings.limits
        };
        let vectors = self.vectors.as_ref().map(|it| &it.vectors);
        let mut audits = Vec::new();
        for (at, analyzer) in analyzers.iter().enumerate() {
            let (stage, of) = (
                StudyPreparationStage::AuditIndex,
                analyzers.len() * docs.len(),
            );
            let mut step =
                RunningStage::begin_or_resume(executor, stage, at * docs.len(), of).await?;
            let builder = index_builder(analyzer, vectors);
            let index = step.build_index(docs, builder).await?;
            let vectors = vectors.map(|it| TokenVectors::of(it, &index));
            let known = vectors.as_ref().map(|it| it.known(&index));
            let auditor = AnalyzerChangeRetentionCounter {
                miner: InstanceMiner {
                    index: &index,
                    word_vectors: known.as_ref(),
                    probes: &self.settings.probes,
                    limits: &limits,
                },
                mining_result: mined,
                collection,
            };
            let (stage, of) = (StudyPreparationStage::Audit, analyzers.len() * n_queries);
            let mut step =
                RunningStage::begin_or_resume(executor, stage, at * n_queries, of).await?;
            let queries = step
                .compute_and_collect_shards(n_queries, |it| auditor.count_retained_per_probe(it))
                .await?;
            audits.push(auditor.sum_retained_over_queries(analyzer.describe(), &queries));
        }
        Ok(audits)
    }
}

/// The result of mining one query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MinedQuery {
    /// The instances, with the pool and the derived documents.
    pub mined: QueryMiningResult,
    /// How many documents of the pool the collection lacks.
    pub n_docs_without_text: u64,
}

/// Mines the queries of a prepared collection one by one, in any order.
pub struct QueryMiner<'a> {
    prepared: &'a PreparedCollection,
    pools: CandidatePoolSelector<'a>,
    word_vectors: Option<IndexedWordVectors<'a>>,
}

impl QueryMiner<'_> {
    /// Mines the query at an index.
    pub fn mine_query(&self, query: usize) -> MinedQuery {
        let PreparedCollection {
            collection,
            index,
            added_samples,
            settings,
            ..
        } = self.prepared;
        let n_added = added_samples.addition_counts.n_queries as usize;
        let (docs, n_docs_without_text) = match query < collection.queries.len() - n_added {
            true => self.pools.pool_and_missing_doc_count(query),
            false => (Vec::new(), 0),
        };
        let miner = InstanceMiner {
            index,
            word_vectors: self.word_vectors.as_ref(),
            probes: &settings.probes,
            limits: &settings.limits,
        };
        let mined = miner.mine_pooled_query(&PooledQuery {
            query: &collection.queries[query].text,
            docs: &docs,
            grades: &collection.grades_of_documents(query, &docs),
            added_samples: added_samples.samples_of_query(query),
        });
        MinedQuery {
            mined,
            n_docs_without_text,
        }
    }

    /// Scores the documents of a mined query that have to be scored, in their order, with a
    /// lexical ranker.
    pub fn score_lexically(
        &self,
        query: usize,
        mined: &MinedQuery,
        ranker: &LexicalRanker,
    ) -> Vec<f64> {
        let PreparedCollection {
            collection, index, ..
        } = self.prepared;
        let text = &collection.queries[query].text;
        score_lexically_for_query(index, ranker, text, mined.mined.docs_to_score())
    }
}

/// Creates an index builder for an analyzer. Tokens are stored if word vectors are looked up by
/// them.
fn index_builder(analyzer: &Analyzer, vectors: Option<&Arc<WordVectors>>) -> IndexBuilder {
    let builder = IndexBuilder::with_analyzer(analyzer.clone());
    match vectors {
        Some(_) => builder.with_stored_tokens(),
        None => builder,
    }
}
