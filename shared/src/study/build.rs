//! Makes a study: prepares and mines its collection, audits the analyzer, scores the pairs with
//! lexical rankers and assembles the parts.

use std::collections::{BTreeMap, BTreeSet};

use super::analyzer_audit::InstanceRetentionUnderAnalyzer;
use super::preparation::{
    ParsedInputFiles, PreparedCollection, RunningStage, ShardExecutor, StudyPreparationStage,
};
use super::{Study, StudyDefinition, StudyWordVectors, TermStatistics};
use crate::collection::{Collection, Qrels, Query};
use crate::error::Error;
use crate::index::{DocNo, Index};
use crate::probe::MiningResult;
use crate::probe::mining::OriginalOrDerivedDocument;
use crate::rank::LexicalRanker;
use crate::score::{QueryDocumentPairs, RankerQueryDocumentScores, lexical};

/// The inputs from which a study is made.
pub struct StudyInputs {
    /// The definition, as written.
    pub definition: StudyDefinition,
    /// The whole collection.
    pub collection: Collection,
    /// The other files that the definition names.
    pub files: ParsedInputFiles,
    /// The lexical rankers. Scores of other rankers are added later.
    pub rankers: Vec<LexicalRanker>,
    /// The date of today: `2026-11-20`.
    pub created: String,
}

/// Makes a study: prepares and mines the collection, audits the analyzer and scores the pairs with
/// the lexical rankers. Returns an error if an input is invalid or the executor fails.
pub async fn make_study<E: ShardExecutor>(
    inputs: StudyInputs,
    executor: &mut E,
) -> Result<Study, E::Error> {
    let StudyInputs {
        definition,
        mut collection,
        files,
        rankers,
        created: made,
    } = inputs;
    definition.remove_unused_collection_queries(&mut collection);
    let collection_hash = collection.content_hash();
    let prepared =
        PreparedCollection::prepare_for_study(&definition, collection, files, executor).await?;
    let (mined, n_without_text) = prepared.mine_all_queries(executor).await?;
    let audits = prepared
        .count_instances_retained_by_analyzers(&definition.audit, &mined, executor)
        .await?;
    let pairs = QueryDocumentPairs::from_mining_result(&mined);
    let scoring = LexicalPairScorer {
        collection: &prepared.collection,
        index: &prepared.index,
        study_docs: &mined.study_docs,
        pairs: &pairs,
    };
    let scores = scoring.score_all_pairs(&rankers, executor).await?;
    let parts = StudyParts {
        definition,
        collection_hash,
        prepared,
        mined,
        pairs,
        scores,
        audits,
        n_without_text,
        made,
    };
    Ok(assemble(parts))
}

/// The pairs of queries and documents that lexical rankers score.
pub struct LexicalPairScorer<'a> {
    /// The collection with the queries and documents.
    pub collection: &'a Collection,
    /// The index of the collection.
    pub index: &'a Index,
    /// The documents, by their number.
    pub study_docs: &'a [OriginalOrDerivedDocument],
    /// The unique pairs.
    pub pairs: &'a QueryDocumentPairs,
}

impl LexicalPairScorer<'_> {
    /// Returns the scores of each ranker.
    pub async fn score_all_pairs<E: ShardExecutor>(
        &self,
        rankers: &[LexicalRanker],
        executor: &mut E,
    ) -> Result<Vec<RankerQueryDocumentScores>, E::Error> {
        let LexicalPairScorer {
            collection,
            index,
            study_docs: texts,
            pairs,
        } = self;
        let n_queries = pairs.n_queries();
        let of = n_queries * rankers.len();
        let mut step =
            RunningStage::begin_or_resume(executor, StudyPreparationStage::Score, 0, of).await?;
        let mut scores = Vec::new();
        for (place, ranker) in rankers.iter().enumerate() {
            if let Some(shards) = step.take_lexical_scores(place) {
                scores.push(lexical::concatenate_lexical_score_shards(
                    ranker, shards, pairs,
                )?);
                step.advance(n_queries).await?;
                continue;
            }
            let shard = |query: usize| {
                let text = &collection.queries[query].text;
                lexical::score_lexically_for_query(
                    index,
                    ranker,
                    text,
                    lexical::iter_document_refs_of_query(pairs, texts, query),
                )
            };
            let shards = step.compute_and_collect_shards(n_queries, shard).await?;
            scores.push(lexical::concatenate_lexical_score_shards(
                ranker, shards, pairs,
            )?);
        }
        Ok(scores)
    }
}

impl StudyDefinition {
    /// Removes the queries of a collection that this study does not use.
    pub fn remove_unused_collection_queries(&self, collection: &mut Collection) {
        collection
            .queries
            .truncate(self.n_queries.unwrap_or(usize::MAX));
    }

    /// Checks a collection; returns an error if this study cannot be made from it.
    pub fn validate_collection(&self, collection: &Collection) -> Result<(), Error> {
        let refuse = |reason: &str| Err(Error::missing_field("collection", reason));
        if collection.docs.is_empty() {
            return refuse("it has no documents; add a corpus with at least two");
        }
        if collection.queries.is_empty() {
            return refuse("it has no queries; add at least one");
        }
        self.pool.validate_for_collection(collection)
    }
}

/// The parts from which a study is assembled.
struct StudyParts {
    definition: StudyDefinition,
    collection_hash: String,
    prepared: PreparedCollection,
    /// The instances, over document numbers of the collection.
    mined: MiningResult,
    pairs: QueryDocumentPairs,
    scores: Vec<RankerQueryDocumentScores>,
    audits: Vec<InstanceRetentionUnderAnalyzer>,
    n_without_text: u64,
    made: String,
}

/// Assembles a study from its parts. From here on only its own documents are needed.
fn assemble(parts: StudyParts) -> Study {
    let StudyParts {
        definition,
        collection_hash,
        prepared,
        mut mined,
        pairs,
        scores,
        audits,
        n_without_text,
        made,
    } = parts;
    let PreparedCollection {
        collection,
        index,
        added_samples: beside,
        ..
    } = &prepared;
    let query_ids: Vec<&str> = collection.queries.iter().map(|it| it.id.as_str()).collect();
    let instances_hash = mined.digest_instances(&query_ids, |doc| {
        collection.docs[doc as usize].id().to_owned()
    });

    let pooled: BTreeSet<DocNo> = mined.study_docs.iter().map(|it| it.source_doc()).collect();
    let place: BTreeMap<DocNo, DocNo> = pooled
        .iter()
        .enumerate()
        .map(|(place, &doc)| (doc, place as DocNo))
        .collect();
    // Documents keep their order, so study documents stay sorted.
    mined
        .study_docs
        .iter_mut()
        .for_each(|it| *it = it.with_source_doc(place[&it.source_doc()]));

    let vocabulary = index.vocabulary();
    let mut terms: BTreeMap<String, TermStatistics> = BTreeMap::new();
    let in_docs = pooled.iter().flat_map(|&it| index.term_sequence_of_doc(it));
    let in_queries = collection
        .queries
        .iter()
        .flat_map(|it| index.query_term_statistics(&it.text));
    let in_queries = in_queries.filter_map(|it| it.term_no);
    let numbers: BTreeSet<u32> = in_docs.chain(in_queries).collect();
    for number in numbers {
        let stats = TermStatistics {
            df: index.df(number),
            cf: index.cf(number),
        };
        terms.insert(vocabulary.term(number).to_owned(), stats);
    }

    let overlap = overlaps(collection, index);
    let words = prepared.word_vectors().map(|it| StudyWordVectors {
        info: it.vectors_info(definition.vectors.as_deref().unwrap_or_default()),
        vectors: it.subset_for_docs_and_queries(pooled.iter().copied(), &collection.queries),
    });
    let asked_for = |id: &&str| {
        collection
            .qrels
            .0
            .get(*id)
            .map(|it| ((*id).to_owned(), it.clone()))
    };
    let qrels = Qrels(query_ids.iter().filter_map(asked_for).collect());
    Study {
        format: 1,
        definition,
        created: made,
        software: env!("CARGO_PKG_VERSION").to_owned(),
        collection_hash,
        instances_hash,
        totals: index.collection_totals(),
        terms,
        docs: pooled
            .iter()
            .map(|&it| collection.docs[it as usize].clone())
            .collect(),
        queries: collection.queries.clone(),
        qrels,
        study_docs: mined.study_docs,
        pools: mined.pools,
        instances: mined.instances,
        pairs,
        scores,
        n_docs_without_text: n_without_text,
        word_vectors: words,
        query_overlap: overlap,
        audits,
        withheld_texts: None,
        addition_counts: beside.addition_counts,
        input_checksums: BTreeMap::new(),
        transfer_pair_counts: beside.transfer_pair_counts.clone(),
        trainings: Vec::new(),
        lengths: super::controls::CachedDocumentLengths::default(),
    }
}

/// Computes [`Study::query_overlap`].
fn overlaps(collection: &Collection, index: &Index) -> Vec<Option<f64>> {
    let numbers = collection.doc_numbers_by_id();
    let overlap = |query: &Query| {
        let terms = index.query_term_statistics(&query.text);
        let grades = collection.qrels.0.get(&query.id)?.iter();
        let relevant = grades.filter(|it| *it.1 >= 1);
        let shares = relevant.filter_map(|(doc, _)| {
            let held = index.term_sequence_of_doc(*numbers.get(doc.as_str())?);
            let n_held = terms
                .iter()
                .filter(|it| it.term_no.is_some_and(|it| held.contains(&it)));
            Some(n_held.count() as f64 / terms.len() as f64)
        });
        let shares: Vec<f64> = shares.collect();
        let known = !shares.is_empty() && !terms.is_empty();
        known.then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    };
    collection.queries.iter().map(overlap).collect()
}
