//! Late interaction: which words of a query decide the ranking, whether its tokens match
//! themselves, and how much the vectors of a token depend on its context. Formal, Piwowarski &
//! Clinchant, A White Box Analysis of ColBERT (ECIR 2021).
//!
//! A late-interaction ranker scores `s(q, d) = Σ_i max_j cos(q_i, d_j)` over the tokens of query
//! and document. For each query and each document of its pool, this module is given the best match
//! of every query token: the greatest cosine and the document token that has it
//! ([`QueryTokenBestMatches`]). It computes:
//!
//! - the **importance** of a word: τ_AP between the ranking of the pool and the ranking without the
//!   cosines of the word's tokens (an additive mask: nothing is encoded again), averaged over
//!   queries. A low value means an important word. The unmasked ranking is the reference and the
//!   masked one is evaluated; the reversed value and the mean of both are reported too. A query has
//!   no importance if its masked scores are all equal, as with a single word.
//! - **ΔES** of a token: over its positions in queries, the mean cosine where the best match is the
//!   same token, minus the mean where it is another token. A position that always or never matches
//!   itself is left out. A word has the sum over its tokens.
//! - how often a word matches itself or another token of the query, and which other tokens it
//!   matches most often.
//! - the **spectral ratio** `λ_1 / Σ λ_k` of the singular values of all document vectors of a
//!   token, not centered: 1 if they all have one direction. The caller computes it, for tokens with
//!   a minimum number of occurrences.

mod aggregation;
mod query_matches;
mod summary;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::score::RankerInfo;
use crate::stats::correlation::CorrelationWithSampleSize;

pub use aggregation::{DfAndSpectrumLookup, aggregate_into_late_interaction_analysis};
pub use query_matches::{QueryPoolMatchStatistics, compute_query_token_match_statistics};
pub use summary::{LateInteractionQuantity, LateInteractionQuantityValue, LateInteractionSummary};

/// A token of a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QuerySubwordToken {
    /// The id of the token in the model's vocabulary.
    pub id: u32,
    /// The token as in the vocabulary, for example `##ing`.
    #[serde(alias = "piece")]
    pub token: String,
    /// The index of its word in [`QueryTokenBestMatches::words`]; `None` for punctuation.
    #[serde(alias = "word")]
    pub word_index: Option<u32>,
}

/// The best match of a query token in a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestTokenMatch {
    /// The cosine, from −1 to 1.
    pub cosine: f32,
    /// The id of the document token; the first one if several have the same cosine.
    pub token_id: u32,
}

/// The best matches of the tokens of a query in every document of its pool.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTokenBestMatches {
    /// The index of the query.
    pub query_no: u32,
    /// The distinct words of the query in lower case, in the order of the query.
    pub words: Vec<String>,
    /// The tokens of the query, in order.
    pub tokens: Vec<QuerySubwordToken>,
    /// The best matches, shape documents × tokens.
    pub best_matches: Vec<BestTokenMatch>,
}

/// The statistics of a word of the queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LateInteractionWordStatistics {
    /// The word in lower case.
    pub word: String,
    /// The tokens of the word.
    #[serde(alias = "pieces")]
    pub tokens: Vec<String>,
    /// `ln(N / df)` over the collection; `None` if no document contains the word.
    pub idf: Option<f64>,
    /// The number of documents that contain the word.
    pub df: u64,
    /// The indexes of the queries that contain the word.
    #[serde(alias = "queries")]
    pub query_nos: Vec<u32>,
    /// The mean τ_AP without the word; `None` if no query has a value.
    pub importance: Option<f64>,
    /// The mean τ_AP with the masked ranking as the reference.
    #[serde(alias = "importance_turned")]
    pub importance_reversed: Option<f64>,
    /// The mean of `importance` and `importance_reversed`.
    pub importance_symmetric: Option<f64>,
    /// ΔES, the sum over the tokens of the word; `None` if one of them has none.
    pub delta_es: Option<f64>,
    /// The share of its matches that are the same token, from 0 to 1.
    #[serde(alias = "exact")]
    pub exact_share: f64,
    /// The share of its matches that are another token of the query, from 0 to 1.
    #[serde(alias = "other")]
    pub other_query_token_share: f64,
    /// The other tokens that it matches most often, with their share of all its matches; at most
    /// [`MAX_SOFT_MATCHES`].
    #[serde(alias = "soft")]
    pub soft_matches: Vec<SoftMatchTargetToken>,
}

/// Another token that the tokens of a word match.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SoftMatchTargetToken {
    /// The token as in the vocabulary.
    #[serde(alias = "piece")]
    pub token: String,
    /// The share of all matches of the word, from 0 to 1.
    pub share: f64,
}

/// The statistics of a token of the queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LateInteractionTokenStatistics {
    /// The token as in the vocabulary.
    #[serde(alias = "piece")]
    pub token: String,
    /// `ln(N / df)` over the documents of the collection, where `df` counts tokens; `None` if no
    /// document has the token.
    pub idf: Option<f64>,
    /// ΔES over its positions in queries; `None` if no position counts.
    pub delta_es: Option<f64>,
    /// The number of query positions that count for ΔES.
    #[serde(alias = "n_places")]
    pub n_query_positions: u64,
    /// The number of its vectors in the documents that were encoded.
    pub n_occurrences: u64,
    /// λ_1 / Σ λ_k; `None` below [`LateInteractionAnalysisMetadata::min_occurrences`].
    #[serde(alias = "ratio")]
    pub spectral_ratio: Option<f64>,
    /// The spectral ratio of the encoder before fine-tuning, if it was computed.
    #[serde(alias = "ratio_before")]
    pub pretrained_spectral_ratio: Option<f64>,
}

/// The maximum number of other tokens that are listed as soft matches of a word.
pub const MAX_SOFT_MATCHES: usize = 5;

/// The collection, the ranker and the sizes of a late-interaction analysis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LateInteractionAnalysisMetadata {
    /// The name in URLs and file names.
    pub name: String,
    /// The title, as shown to readers.
    pub title: String,
    /// The collection of the queries and documents.
    pub collection: String,
    /// The candidate pool, which decides the documents that are ranked.
    pub pool: String,
    /// The ranker that is analyzed.
    pub ranker: RankerInfo,
    /// The date of creation, for example `2026-11-20`.
    #[serde(alias = "made")]
    pub created: String,
    /// The queries, in order.
    pub queries: Vec<String>,
    /// The number of query-document pairs.
    pub n_pairs: u64,
    /// The number of documents that were encoded, each counted once.
    #[serde(alias = "n_texts")]
    pub n_docs: u64,
    /// The minimum number of vectors for which a token has a spectral ratio.
    #[serde(alias = "floor")]
    pub min_occurrences: u64,
}

/// A late-interaction analysis in the list of a study, with the slug of its ranker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LateInteractionAnalysisWithRankerSlug {
    /// The name of the ranker in addresses.
    pub slug: String,
    /// The analysis of the ranker.
    pub analysis: LateInteractionRankerAnalysis,
}

/// The analysis of a late-interaction ranker: term importance, exact and soft matches, spectra. It
/// is stored as JSON and sent over HTTP.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LateInteractionRankerAnalysis {
    /// The collection, the ranker and the sizes.
    #[serde(alias = "head")]
    pub header: LateInteractionAnalysisMetadata,
    /// The statistics of each word.
    pub words: Vec<LateInteractionWordStatistics>,
    /// The statistics of each token.
    #[serde(alias = "pieces")]
    pub tokens: Vec<LateInteractionTokenStatistics>,
    /// Correlation of idf and importance over words; the paper reports −.4.
    #[serde(alias = "r_importance")]
    pub idf_importance_correlation: Option<CorrelationWithSampleSize>,
    /// Correlation of idf and ΔES over words; the paper reports .667.
    #[serde(alias = "r_delta_es")]
    pub idf_delta_es_correlation: Option<CorrelationWithSampleSize>,
    /// Correlation of idf and spectral ratio over tokens; the paper reports .77.
    #[serde(alias = "r_ratio")]
    pub idf_spectral_correlation: Option<CorrelationWithSampleSize>,
    /// The correlation of idf and spectral ratio for the encoder before fine-tuning, if it was
    /// computed.
    #[serde(alias = "r_ratio_before")]
    pub pretrained_idf_spectral_correlation: Option<CorrelationWithSampleSize>,
    /// The same analysis of the encoder before fine-tuning, in sum, if it was computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_fine_tuning: Option<LateInteractionSummary>,
}
