//! Features of a query and a document for learning to rank, computed from text with the statistics
//! of a collection.
//!
//! A derived document has the same features as a document of the collection with this text would
//! have, and never enters the statistics, as with the lexical rankers. A feature that is not
//! defined for a pair, such as the distance of two query terms where only one occurs, is missing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::collection::Query;
use crate::error::Error;
use crate::index::term_statistics::{DistinctQueryTerms, QueryTermStatistics, TermStatistics};
use crate::index::{DocNo, DocumentAndTermTotals, Index};
use crate::probe::axiom::{mean_first_occurrence_distance, mean_query_term_group_span};
use crate::probe::features::DocumentFeatures;
use crate::rank::LexicalRanker;
use crate::text::stemming::TokenStemmer;
use crate::text::stopwords::is_stop_word;
use crate::text::vocabulary::TermNo;
use crate::text::{Analyzer, ByteSpan};
use crate::word_vectors::{
    BagOfWordsEmbedding, IndexedWordVectors, WordVectorNo, WordVectors, for_each_term_token,
};

/// The number of features, the length of [`RankingFeature::ALL`].
pub const N_RANKING_FEATURES: usize = 14;

/// The values of all features for a query and a document, in the order of [`RankingFeature::ALL`];
/// NaN if a feature is missing.
pub type RankingFeatureValues = [f32; N_RANKING_FEATURES];

/// A feature of a query Q and a document d. Their distinct terms are w, c(w, d) is the number of
/// occurrences, df(w) the number of the N documents of the collection that contain w.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankingFeature {
    /// The score of BM25.
    Bm25,
    /// The score of query likelihood with Dirichlet smoothing.
    QueryLikelihood,
    /// The number of distinct query terms in the document.
    MatchedTerms,
    /// The fraction of distinct query terms in the document.
    MatchedTermFraction,
    /// The number of occurrences of query terms in the document.
    QueryTermOccurrences,
    /// The length of the document.
    DocumentLength,
    /// The length of the query.
    QueryLength,
    /// The sum of the inverse document frequencies of the matched terms.
    SumIdf,
    /// Their mean.
    MeanIdf,
    /// Their maximum.
    MaxIdf,
    /// The smallest distance of two distinct query terms.
    MinTermDistance,
    /// The mean distance of the first occurrences of two query terms.
    MeanFirstDistance,
    /// The mean span around an occurrence and the nearest ones of the other query terms.
    MeanTermSpan,
    /// The similarity of the other words of the document to the query, by word vectors.
    WordVectorCosine,
}

impl RankingFeature {
    /// All features, in the order of their values.
    pub const ALL: [RankingFeature; N_RANKING_FEATURES] = [
        RankingFeature::Bm25,
        RankingFeature::QueryLikelihood,
        RankingFeature::MatchedTerms,
        RankingFeature::MatchedTermFraction,
        RankingFeature::QueryTermOccurrences,
        RankingFeature::DocumentLength,
        RankingFeature::QueryLength,
        RankingFeature::SumIdf,
        RankingFeature::MeanIdf,
        RankingFeature::MaxIdf,
        RankingFeature::MinTermDistance,
        RankingFeature::MeanFirstDistance,
        RankingFeature::MeanTermSpan,
        RankingFeature::WordVectorCosine,
    ];

    /// Returns the name of the feature in files.
    pub fn name(self) -> &'static str {
        match self {
            RankingFeature::Bm25 => "bm25",
            RankingFeature::QueryLikelihood => "query_likelihood",
            RankingFeature::MatchedTerms => "matched_terms",
            RankingFeature::MatchedTermFraction => "matched_term_fraction",
            RankingFeature::QueryTermOccurrences => "query_term_occurrences",
            RankingFeature::DocumentLength => "document_length",
            RankingFeature::QueryLength => "query_length",
            RankingFeature::SumIdf => "sum_idf",
            RankingFeature::MeanIdf => "mean_idf",
            RankingFeature::MaxIdf => "max_idf",
            RankingFeature::MinTermDistance => "min_term_distance",
            RankingFeature::MeanFirstDistance => "mean_first_distance",
            RankingFeature::MeanTermSpan => "mean_term_span",
            RankingFeature::WordVectorCosine => "word_vector_cosine",
        }
    }

    /// Returns the formula of the feature; `M` are the matched terms, Q ∩ d.
    pub fn formula(self) -> &'static str {
        match self {
            RankingFeature::Bm25 => {
                "Σ_w c(w,Q) · idf(w) · c(w,d)·(k1+1) / (c(w,d) + k1·(1−b+b·|d|/avg))"
            }
            RankingFeature::QueryLikelihood => "Σ_w c(w,Q) · ln((c(w,d) + μ·cf(w)/T) / (|d| + μ))",
            RankingFeature::MatchedTerms => "|M|",
            RankingFeature::MatchedTermFraction => "|M| / |distinct w ∈ Q|",
            RankingFeature::QueryTermOccurrences => "Σ_{w ∈ M} c(w,d)",
            RankingFeature::DocumentLength => "|d|",
            RankingFeature::QueryLength => "|Q|",
            RankingFeature::SumIdf => "Σ_{w ∈ M} ln(N/df(w))",
            RankingFeature::MeanIdf => "Σ_{w ∈ M} ln(N/df(w)) / |M|",
            RankingFeature::MaxIdf => "max_{w ∈ M} ln(N/df(w))",
            RankingFeature::MinTermDistance => "min |i − j|, d_i ≠ d_j ∈ M",
            RankingFeature::MeanFirstDistance => "mean over v ≠ w ∈ M of |first(v) − first(w)| − 1",
            RankingFeature::MeanTermSpan => {
                "mean over occurrences of M of max − min of the nearest"
            }
            RankingFeature::WordVectorCosine => "cos(d − Q, Q)",
        }
    }

    /// Returns the range of the feature and when it is missing.
    pub fn range(self) -> &'static str {
        match self {
            RankingFeature::Bm25 => "0 and more",
            RankingFeature::QueryLikelihood => "any number, 0 without a known query term",
            RankingFeature::MatchedTerms
            | RankingFeature::QueryTermOccurrences
            | RankingFeature::DocumentLength
            | RankingFeature::QueryLength => "integers from 0",
            RankingFeature::MatchedTermFraction => "0 to 1, 0 for an empty query",
            RankingFeature::SumIdf | RankingFeature::MeanIdf | RankingFeature::MaxIdf => {
                "0 to ln N, 0 without matched terms"
            }
            RankingFeature::MinTermDistance => "integers from 1, missing below two matched terms",
            RankingFeature::MeanFirstDistance => "0 and more, missing below two matched terms",
            RankingFeature::MeanTermSpan => "1 and more, missing below two matched terms",
            RankingFeature::WordVectorCosine => "−1 to 1, missing without word vectors",
        }
    }
}

/// The statistics of a collection that features need, without its documents.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankingFeatureStatistics {
    /// The analyzer, which turns text into terms.
    pub analyzer: Analyzer,
    /// Totals of the collection.
    pub totals: DocumentAndTermTotals,
    /// The document frequency and the collection frequency of each term.
    pub terms: BTreeMap<String, TermStatistics>,
    /// The vectors of the words of the collection; empty for none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub vectors: BTreeMap<String, Vec<f32>>,
}

impl RankingFeatureStatistics {
    /// Collects the statistics of an index, and the vectors of the words that its documents or
    /// these queries contain. For vectors, the index must keep tokens.
    pub fn from_index(
        index: &Index,
        vectors: Option<&WordVectors>,
        queries: &[Query],
    ) -> RankingFeatureStatistics {
        let vocabulary = index.vocabulary();
        let terms = (0..vocabulary.len() as TermNo).map(|it| {
            let (df, cf) = (index.df(it), index.cf(it));
            (vocabulary.term(it).to_owned(), TermStatistics { df, cf })
        });
        let rows = |vectors: &WordVectors| {
            let token_rows = vectors.token_rows_of_index(index);
            let indexed = IndexedWordVectors::new(vectors, index, &token_rows);
            let used = indexed.subset_for_docs_and_queries(0..index.n_docs() as DocNo, queries);
            let words = 0..used.len() as WordVectorNo;
            let named = words.map(|it| {
                (
                    used.word_at_row(it).to_owned(),
                    used.vector_at_row(it).to_vec(),
                )
            });
            named.collect()
        };
        RankingFeatureStatistics {
            analyzer: vocabulary.analyzer().clone(),
            totals: index.collection_totals(),
            terms: terms.collect(),
            vectors: vectors.map(rows).unwrap_or_default(),
        }
    }
}

/// Computes the features of texts.
pub struct RankingFeatureExtractor {
    analyzer: Analyzer,
    totals: DocumentAndTermTotals,
    /// The terms of the collection in ascending order; their index is their number.
    terms: Vec<(String, TermStatistics)>,
    vectors: WordVectors,
    /// The number of the term of each word with a vector.
    terms_of_rows: Vec<TermNo>,
    /// BM25 and query likelihood.
    rankers: [LexicalRanker; 2],
}

impl RankingFeatureExtractor {
    /// Creates an extractor. `rankers` compute the first two features. Returns an error if the
    /// statistics contradict each other.
    pub fn new(
        statistics: RankingFeatureStatistics,
        rankers: [LexicalRanker; 2],
    ) -> Result<RankingFeatureExtractor, Error> {
        let RankingFeatureStatistics {
            analyzer,
            totals,
            terms,
            vectors: words,
        } = statistics;
        analyzer.validate()?;
        let refuse = |reason: String| Err(Error::conflicting_value("statistics", reason));
        if terms.len() + words.len() > (u32::MAX / 2) as usize {
            return refuse("there are more than 2,147,483,647 terms and words".to_owned());
        }
        for (term, TermStatistics { df, cf }) in &terms {
            let is_possible =
                u64::from(*df) <= totals.n_docs && *cf <= totals.n_terms && u64::from(*df) <= *cf;
            if !is_possible {
                return refuse(format!(
                    "term `{term}` occurs {cf} times in {df} documents, of {} documents with {} \
                     terms",
                    totals.n_docs, totals.n_terms
                ));
            }
        }
        let n_dims = words.values().next().map_or(0, Vec::len);
        let mut vectors = WordVectors::with_dimensions(n_dims);
        for (word, vector) in &words {
            if let Err(reason) = vectors.add_word(word, vector) {
                return refuse(format!("the vector of `{word}`: {reason}"));
            }
        }
        let mut extractor = RankingFeatureExtractor {
            analyzer,
            totals,
            terms: terms.into_iter().collect(),
            vectors,
            terms_of_rows: Vec::new(),
            rankers,
        };
        let rows = words.keys().map(|word| {
            let mut number = extractor.term_no(word);
            for_each_term_token(&extractor.analyzer, word, |_, term| {
                number = extractor.term_no(term);
            });
            number
        });
        extractor.terms_of_rows = rows.collect();
        Ok(extractor)
    }

    /// Returns the words of a text as numbers, which [`RankingFeatureExtractor::compute`] reads:
    /// that of its vector, or else one above them for its term.
    pub fn word_numbers(&self, text: &str) -> Vec<u32> {
        let words = self.word_numbers_with_spans(text).into_iter();
        words.map(|it| it.0).collect()
    }

    /// Returns the words of a text as numbers, with their positions in the text.
    pub fn word_numbers_with_spans(&self, text: &str) -> Vec<(u32, ByteSpan)> {
        let stem = TokenStemmer::with_algorithm(self.analyzer.stemmer);
        let mut numbers = Vec::new();
        self.analyzer
            .for_each_token_with_stopwords(text, |token, span| {
                if is_stop_word(&self.analyzer.stopwords, token) {
                    return;
                }
                let number = match self.vectors.row_of_word(token) {
                    Some(row) => row,
                    None => self.vectors.len() as u32 + self.term_no(&stem.stem(token)),
                };
                numbers.push((number, span));
            });
        numbers
    }

    /// Computes the features of a query and a document, given as the numbers of their words.
    pub fn compute(&self, query: &[u32], document: &[u32]) -> RankingFeatureValues {
        let terms = self.query_terms(query);
        let body: Vec<TermNo> = document.iter().map(|it| self.term_of_word(*it)).collect();
        let mut counted = DocumentFeatures::from_terms(&body, &terms);
        counted.record_query_term_positions(&body, &terms);
        let [bm25, query_likelihood] = self.rankers.map(|it| {
            let scorer = it.prepare_query_scorer(&terms, &self.totals);
            scorer.score(&counted.term_counts, counted.n_terms)
        });
        let matched = terms.iter().zip(&counted.term_counts);
        let matched = matched.filter(|it| *it.1 > 0);
        let idf: Vec<f64> = matched.map(|it| self.totals.idf(it.0.df)).collect();
        let sum_idf: f64 = idf.iter().sum();
        let n_matched = f64::from(counted.coverage);
        let of_pairs = |value: f64| match counted.coverage {
            0 | 1 => f64::NAN,
            _ => value,
        };
        let distance = counted.min_query_term_distance();
        let value = |feature: RankingFeature| match feature {
            RankingFeature::Bm25 => bm25,
            RankingFeature::QueryLikelihood => query_likelihood,
            RankingFeature::MatchedTerms => n_matched,
            RankingFeature::MatchedTermFraction => n_matched / (terms.len().max(1) as f64),
            RankingFeature::QueryTermOccurrences => f64::from(counted.n_occurrences),
            RankingFeature::DocumentLength => f64::from(counted.n_terms),
            RankingFeature::QueryLength => query.len() as f64,
            RankingFeature::SumIdf => sum_idf,
            RankingFeature::MeanIdf => sum_idf / n_matched.max(1.0),
            RankingFeature::MaxIdf => idf.iter().copied().fold(0.0, f64::max),
            RankingFeature::MinTermDistance => distance.map_or(f64::NAN, f64::from),
            RankingFeature::MeanFirstDistance => of_pairs(mean_first_occurrence_distance(&counted)),
            RankingFeature::MeanTermSpan => of_pairs(mean_query_term_group_span(&counted)),
            RankingFeature::WordVectorCosine => self
                .word_vector_cosine(query, document, &terms)
                .unwrap_or(f64::NAN),
        };
        RankingFeature::ALL.map(|it| value(it) as f32)
    }

    /// Returns the cosine of the words outside of the query with those of the query.
    fn word_vector_cosine(
        &self,
        query: &[u32],
        document: &[u32],
        terms: &DistinctQueryTerms,
    ) -> Option<f64> {
        if self.vectors.is_empty() {
            return None;
        }
        let is_outside = |word: &&u32| {
            let number = self.term_of_word(**word);
            terms.iter().all(|it| it.term_no != Some(number))
        };
        let rest = document
            .iter()
            .filter(is_outside)
            .map(|it| self.row_of_word(*it));
        let rest = BagOfWordsEmbedding::from_rows(&self.vectors, rest);
        let words = query.iter().map(|it| self.row_of_word(*it));
        rest.similarity(&BagOfWordsEmbedding::from_rows(&self.vectors, words))
    }

    /// Returns the distinct terms of a query in order of first appearance, with their statistics.
    fn query_terms(&self, query: &[u32]) -> DistinctQueryTerms {
        let mut distinct = DistinctQueryTerms::new();
        for (place, word) in (0..).zip(query) {
            let number = self.term_of_word(*word);
            if let Some(known) = distinct.iter_mut().find(|it| it.term_no == Some(number)) {
                known.count += 1;
                known.positions.push(place);
                continue;
            }
            let (term, TermStatistics { df, cf }) =
                self.terms.get(number as usize).cloned().unwrap_or_default();
            distinct.push(QueryTermStatistics {
                term,
                term_no: Some(number),
                count: 1,
                positions: vec![place],
                df,
                cf,
            });
        }
        distinct
    }

    /// Returns the number of a term. Terms that the collection lacks get one from their hash, so
    /// that a query and a document can share them.
    fn term_no(&self, term: &str) -> TermNo {
        match self.terms.binary_search_by(|it| it.0.as_str().cmp(term)) {
            Ok(number) => number as TermNo,
            Err(_) => {
                let first = self.terms.len() as u32;
                let hash = Sha256::digest(term);
                let hash = u32::from_le_bytes([hash[0], hash[1], hash[2], hash[3]]);
                first + hash % (u32::MAX - first - self.vectors.len() as u32)
            }
        }
    }

    fn term_of_word(&self, word: u32) -> TermNo {
        match self.terms_of_rows.get(word as usize) {
            Some(term) => *term,
            None => word - self.terms_of_rows.len() as u32,
        }
    }

    fn row_of_word(&self, word: u32) -> Option<WordVectorNo> {
        ((word as usize) < self.terms_of_rows.len()).then_some(word)
    }
}

#[cfg(test)]
mod tests;
