//! doc2query as a ranker: a T5 generates queries for a document, and BM25 scores the document with
//! these queries appended, as the `DT5Q` of ABNIRML (MacAvaney et al., TACL 2022).
//!
//! Documents are expanded as by `axioscope expand`: a document gets the same queries alone and
//! among others, and derived documents are expanded like any other. BM25 uses the term statistics
//! of the documents *without* generated queries: those of the collection in a study or on the
//! command line, or of the documents of a request to the server. So no document has to be expanded
//! that is not scored, and scores do not depend on which documents are scored.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use hashlink::LruCache;
use neural::{
    Doc2Query, GeneratedQueries, QueryGenerationConfig, QueryOrDocumentRole, TokenizedText,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use shared::index::term_statistics::{DistinctQueryTerms, distinct_query_terms_with_statistics};
use shared::index::{DocumentAndTermTotals, Index};
use shared::probe::MiningThresholds;
use shared::rank::{Bm25, LexicalQueryScorer, LexicalRanker};
use shared::text::Analyzer;

use crate::error::Error;
use crate::models::NeuralRanker;
use crate::models::architecture::SeparateOrJointInputModel;
use crate::models::spec::{NeuralRankerKind, ParsedModelSpec};

/// The number of queries per document unless the spec has another, as in ABNIRML.
pub(super) const DEFAULT_QUERIES: usize = 4;

/// Maximum total length of the cached queries, in bytes.
const MAX_CACHED_BYTES: usize = 64 << 20;

/// Documents per thread between two reports of progress.
const DOCUMENTS_PER_THREAD: usize = 8;

/// The ranker of the expanded documents.
const BM25: LexicalRanker = LexicalRanker::Bm25(Bm25::DEFAULT);

/// Returns whether a spec is that of a doc2query ranker, whose scores depend on the statistics of a
/// collection.
pub(crate) fn is_doc2query_spec(spec: &str) -> bool {
    ParsedModelSpec::parse(spec).model_use == Some(NeuralRankerKind::Doc2Query)
}

/// Returns how the queries of a document are sampled, as by `axioscope expand` without options.
fn query_generation_config(n_queries: usize) -> QueryGenerationConfig {
    QueryGenerationConfig::doctttttquery_defaults(n_queries, MiningThresholds::STANDARD.seed)
}

/// A T5 that expands documents for BM25.
pub(super) struct DocumentExpander {
    model: Doc2Query,
    fingerprint: String,
}

impl DocumentExpander {
    /// Creates the expander of a model that generates queries.
    pub(super) fn with_model(model: Doc2Query) -> DocumentExpander {
        let sampling = query_generation_config(DEFAULT_QUERIES);
        let decisive = format!("{} {sampling:?} {BM25}", model.fingerprint());
        DocumentExpander {
            fingerprint: shared::collection::text_hash(&decisive),
            model,
        }
    }

    /// Returns the fingerprint of the ranker: SHA-256 in hex over the model's fingerprint, the
    /// sampling and the parameters of BM25.
    pub(super) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns the tokens of a document that the model reads. A query has none, since the model
    /// reads no query.
    pub(super) fn tokenize(
        &self,
        side: QueryOrDocumentRole,
        text: &str,
    ) -> Result<TokenizedText, neural::Error> {
        match side {
            QueryOrDocumentRole::Document => self.model.tokenize_document(text),
            QueryOrDocumentRole::Query => Ok(TokenizedText {
                role: side,
                ids: Vec::new(),
                spans: Vec::new(),
                truncated: false,
            }),
        }
    }
}

/// The statistics of a collection that BM25 needs for some queries.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct QueryTermFrequencies {
    pub(crate) analyzer: Analyzer,
    totals: DocumentAndTermTotals,
    /// The number of documents with each term of the queries.
    document_frequencies: BTreeMap<String, u32>,
}

/// A query with its scorer.
pub(super) struct ExpansionQuery {
    terms: DistinctQueryTerms,
    scorer: LexicalQueryScorer,
}

/// The counts of all terms of an expanded document.
pub(super) struct ExpandedDocumentTerms {
    counts: BTreeMap<String, u32>,
    n_terms: u32,
}

impl QueryTermFrequencies {
    fn from_index<'a>(
        index: &Index,
        queries: impl IntoIterator<Item = &'a str>,
    ) -> QueryTermFrequencies {
        let terms = queries
            .into_iter()
            .flat_map(|it| index.query_term_statistics(it));
        QueryTermFrequencies {
            analyzer: index.vocabulary().analyzer().clone(),
            totals: index.collection_totals(),
            document_frequencies: terms.map(|it| (it.term, it.df)).collect(),
        }
    }

    /// Returns a query with its scorer.
    pub(super) fn prepare_query(&self, query: &str) -> ExpansionQuery {
        let df = |term: &str| self.document_frequencies.get(term).copied().unwrap_or(0);
        // BM25 does not use the number of occurrences in the collection.
        let look_up = |term: &str| (None, df(term), 0);
        let terms = distinct_query_terms_with_statistics(&self.analyzer, query, look_up);
        ExpansionQuery {
            scorer: BM25.prepare_query_scorer(&terms, &self.totals),
            terms,
        }
    }

    fn count_terms(&self, text: &str) -> ExpandedDocumentTerms {
        let terms = self.analyzer.terms_with_positions(text);
        let n_terms = terms.len() as u32;
        let mut counts = BTreeMap::new();
        for (term, _) in terms {
            *counts.entry(term).or_insert(0) += 1;
        }
        ExpandedDocumentTerms { counts, n_terms }
    }
}

impl ExpansionQuery {
    /// Returns the score of an expanded document.
    pub(super) fn score(&self, document: &ExpandedDocumentTerms) -> f64 {
        let count = |term: &String| document.counts.get(term).copied().unwrap_or(0);
        let counts: Vec<u32> = self.terms.iter().map(|it| count(&it.term)).collect();
        self.scorer.score(&counts, document.n_terms)
    }
}

/// How a doc2query ranker expands documents, and the queries that it has generated, which clones
/// of it share.
#[derive(Clone)]
pub(super) struct ExpansionState {
    pub(super) n_queries: usize,
    /// `None` until a collection or a request is given.
    pub(super) statistics: Option<Arc<QueryTermFrequencies>>,
    cache: Arc<Mutex<GeneratedQueryCache>>,
}

impl Default for ExpansionState {
    fn default() -> ExpansionState {
        ExpansionState {
            n_queries: DEFAULT_QUERIES,
            statistics: None,
            cache: Arc::default(),
        }
    }
}

/// The number of generated queries, and the SHA-256 of the text of a document.
type ExpansionKey = (usize, [u8; 32]);

/// The generated queries of documents; the least recently used are dropped first.
struct GeneratedQueryCache {
    queries: LruCache<ExpansionKey, Arc<str>>,
    n_bytes: usize,
}

impl Default for GeneratedQueryCache {
    fn default() -> GeneratedQueryCache {
        GeneratedQueryCache {
            queries: LruCache::new_unbounded(),
            n_bytes: 0,
        }
    }
}

impl GeneratedQueryCache {
    fn insert(&mut self, key: ExpansionKey, queries: Arc<str>) {
        self.n_bytes += cached_bytes(&queries);
        if let Some(replaced) = self.queries.insert(key, queries) {
            self.n_bytes -= cached_bytes(&replaced);
        }
        while self.n_bytes > MAX_CACHED_BYTES
            && let Some((_, oldest)) = self.queries.remove_lru()
        {
            self.n_bytes -= cached_bytes(&oldest);
        }
    }
}

/// Returns the memory of an entry with its key and the pointers of the cache, in bytes.
fn cached_bytes(queries: &str) -> usize {
    const ENTRY: usize = size_of::<ExpansionKey>() + 64;
    queries.len() + ENTRY
}

impl NeuralRanker {
    /// Returns whether the ranker needs the term statistics of a collection.
    pub(crate) fn needs_term_statistics(&self) -> bool {
        matches!(&*self.reader, SeparateOrJointInputModel::Expanded(_))
    }

    /// Returns a doc2query ranker with the term statistics of a collection for some queries; any
    /// other ranker is returned as it is.
    pub(crate) fn with_statistics_of_index<'a>(
        &self,
        index: &Index,
        queries: impl IntoIterator<Item = &'a str>,
    ) -> NeuralRanker {
        let mut ranker = self.clone();
        if self.needs_term_statistics() {
            let statistics = QueryTermFrequencies::from_index(index, queries);
            ranker.expansion.statistics = Some(Arc::new(statistics));
        }
        ranker
    }

    /// Returns a doc2query ranker with term statistics that [`NeuralRanker::term_frequencies`] of
    /// another process has returned; any other ranker is returned as it is.
    pub(crate) fn with_term_frequencies(&self, statistics: QueryTermFrequencies) -> NeuralRanker {
        let mut ranker = self.clone();
        ranker.expansion.statistics = Some(Arc::new(statistics));
        ranker
    }

    /// Returns the term statistics of a doc2query ranker that has some.
    pub(crate) fn term_frequencies(&self) -> Option<&QueryTermFrequencies> {
        self.expansion.statistics.as_deref()
    }

    /// Returns a doc2query ranker with the term statistics of some documents, analyzed by default;
    /// any other ranker is returned as it is.
    pub(crate) fn with_statistics_of_documents<'a>(
        &self,
        documents: impl IntoIterator<Item = &'a str>,
        queries: impl IntoIterator<Item = &'a str>,
    ) -> Result<NeuralRanker, Error> {
        if !self.needs_term_statistics() {
            return Ok(self.clone());
        }
        let index = Index::build(&Analyzer::default(), documents)?;
        Ok(self.with_statistics_of_index(&index, queries))
    }

    /// Returns the ranker without generated queries in memory, to compute them again.
    pub(super) fn without_cached_queries(&self) -> NeuralRanker {
        let mut ranker = self.clone();
        ranker.expansion.cache = Arc::default();
        ranker
    }

    /// Returns a doc2query ranker with another number of queries per document.
    pub(super) fn with_n_generated_queries(&self, n_queries: usize) -> NeuralRanker {
        let mut ranker = self.clone();
        if self.needs_term_statistics() && n_queries != self.expansion.n_queries {
            let about = &mut ranker.about;
            about.spec += &format!("={n_queries}");
            about.detail = describe_expansion(n_queries);
            let both = format!("{} {n_queries} queries", about.fingerprint);
            about.fingerprint = shared::collection::text_hash(&both);
            ranker.expansion.n_queries = n_queries;
        }
        ranker
    }

    /// Returns the maximum number of tokens that the ranker generates for a passage; 0 unless it is
    /// a doc2query ranker.
    pub(super) fn max_generated_tokens(&self) -> usize {
        if !self.needs_term_statistics() {
            return 0;
        }
        let sampling = query_generation_config(self.expansion.n_queries);
        sampling.n_queries * sampling.max_new_tokens
    }

    /// Returns the SHA-256, in hex, of the statistics that scores depend on, if there are any.
    pub(super) fn statistics_hash(&self) -> Option<String> {
        let statistics = self.expansion.statistics.as_ref()?;
        Some(shared::collection::text_hash(&format!("{statistics:?}")))
    }

    /// Prepares queries for scoring. Returns an error if the ranker has no term statistics.
    pub(super) fn prepare_expansion_queries(
        &self,
        queries: &[&str],
    ) -> Result<Vec<ExpansionQuery>, Error> {
        let statistics = self.term_statistics()?;
        Ok(queries
            .iter()
            .map(|it| statistics.prepare_query(it))
            .collect())
    }

    /// Ranks documents of a collection whose statistics the ranker has, and returns the numbers and
    /// scores of the best `k` documents that contain a term of each query, generated queries
    /// included: higher scores first, equal scores in the order of the documents. `done` is called
    /// with the number of expanded documents.
    pub(crate) fn rank_expanded_documents(
        &self,
        documents: &[&str],
        queries: &[&str],
        k: usize,
        mut done: impl FnMut(usize),
    ) -> Result<Vec<Vec<(usize, f64)>>, Error> {
        let SeparateOrJointInputModel::Expanded(expander) = &*self.reader else {
            return Ok(Vec::new());
        };
        let mut expanded: Vec<Vec<ExpandedDocumentTerms>> = Vec::with_capacity(documents.len());
        for some in documents.chunks(DOCUMENTS_PER_THREAD * rayon::current_num_threads()) {
            let split = some
                .iter()
                .map(|it| self.passages.split_document(it).passages);
            let split: Vec<Vec<&str>> = split.collect();
            let mut terms = self.expand_passages(expander, &split.concat())?.into_iter();
            expanded.extend(
                split
                    .iter()
                    .map(|it| terms.by_ref().take(it.len()).collect()),
            );
            done(expanded.len());
        }
        let rank = |query: ExpansionQuery| {
            let score = |passages: &Vec<ExpandedDocumentTerms>| {
                let scores: Vec<f64> = passages.iter().map(|it| query.score(it)).collect();
                self.passages.combine_scores(&scores)
            };
            let scores = expanded.iter().map(score).enumerate();
            // The weight of a term is above 0, so a document without query terms has score 0.
            let mut ranked: Vec<(usize, f64)> = scores.filter(|it| it.1 > 0.0).collect();
            ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            ranked.truncate(k);
            ranked
        };
        let queries = self.prepare_expansion_queries(queries)?;
        Ok(queries.into_par_iter().map(rank).collect())
    }

    /// Expands passages and counts their terms.
    pub(super) fn expand_passages(
        &self,
        expander: &DocumentExpander,
        passages: &[&str],
    ) -> Result<Vec<ExpandedDocumentTerms>, Error> {
        let statistics = self.term_statistics()?;
        let generated = self.generate_or_get_queries(expander, passages)?;
        let each = passages.iter().zip(&generated);
        let terms =
            each.map(|(text, queries)| statistics.count_terms(&format!("{text} {queries}")));
        Ok(terms.collect())
    }

    fn term_statistics(&self) -> Result<&QueryTermFrequencies, Error> {
        let statistics = self.expansion.statistics.as_deref();
        statistics.ok_or_else(|| Error::ModelNotFound {
            model: self.about.spec.clone(),
            reason: "scores with the statistics of a collection, which are missing here; score \
                     documents of a collection with it"
                .to_owned(),
        })
    }

    /// Returns the queries of each passage, joined by spaces. Those that are not cached are
    /// generated.
    fn generate_or_get_queries(
        &self,
        expander: &DocumentExpander,
        passages: &[&str],
    ) -> Result<Vec<Arc<str>>, Error> {
        let key = |it: &&str| (self.expansion.n_queries, Sha256::digest(it).into());
        let keys: Vec<ExpansionKey> = passages.iter().map(key).collect();
        let mut found: BTreeMap<ExpansionKey, Arc<str>> = BTreeMap::new();
        let mut missing: BTreeMap<ExpansionKey, &str> = BTreeMap::new();
        {
            let mut cache = self.lock_cache();
            for (key, &passage) in keys.iter().zip(passages) {
                match cache.queries.get(key) {
                    Some(queries) => drop(found.insert(*key, Arc::clone(queries))),
                    None => drop(missing.insert(*key, passage)),
                }
            }
        }
        let texts: Vec<&str> = missing.values().copied().collect();
        let sampling = query_generation_config(self.expansion.n_queries);
        let generated = self
            .monitor
            .run_forward_passes(&texts, &|_| self.max_generated_tokens(), &|texts| {
                expander
                    .model
                    .generate_queries_per_document(texts, &sampling)
            })
            .map_err(Error::model_error_converter(&self.about.spec))?;
        let mut cache = self.lock_cache();
        for (key, generated) in missing.into_keys().zip(&generated) {
            let queries: Arc<str> = join_queries(generated).into();
            cache.insert(key, Arc::clone(&queries));
            found.insert(key, queries);
        }
        Ok(keys.iter().map(|it| Arc::clone(&found[it])).collect())
    }

    fn lock_cache(&self) -> std::sync::MutexGuard<'_, GeneratedQueryCache> {
        let cache = self.expansion.cache.lock();
        cache.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the queries that are not empty, separated by spaces.
fn join_queries(generated: &GeneratedQueries) -> String {
    let queries = generated.queries.iter().map(|it| it.text.as_str());
    let queries: Vec<&str> = queries.filter(|it| !it.is_empty()).collect();
    queries.join(" ")
}

/// Describes how a doc2query ranker computes scores.
pub(super) fn describe_expansion(n_queries: usize) -> String {
    format!("BM25 of the text with {n_queries} generated queries")
}

#[cfg(test)]
mod tests;
