//! Inside late interaction: which words of a query decide, whether they match themselves, and how
//! much a term's vectors depend on where it stands. Formal, Piwowarski & Clinchant, A White Box
//! Analysis of ColBERT (ECIR 2021).
//!
//! A ranker of this kind scores `s(q, d) = Σ_i max_j cos(q_i, d_j)` over the pieces of query and
//! text. For each query and each text of its pool this module is given the greatest cosine of every
//! piece of the query and the piece of the text that has it ([`QueryMatches`]), and works out:
//!
//! - the **importance** of a word: τ_AP of the pool as ranked and as ranked without the cosines of
//!   the word's tokens (an additive mask: nothing is encoded again), mean over queries. Low is
//!   important. The ranking as it is is the reference, the masked one is evaluated; the other way
//!   round and the mean of both are told too. A query whose masked scores are all equal, as one of
//!   a single word, has none.
//! - **ΔES** of a token: over its places in queries, the mean greatest cosine where the piece of
//!   the text is the same, less the mean where it is another; a place that always or never finds
//!   itself is left out. Of a word the sum over its tokens.
//! - how often a word finds itself, or another piece of the query, and which others it finds most.
//! - the **spectral ratio** `λ_1 / Σ λ_k` of the singular values of all vectors of a token in the
//!   texts, not centred: 1 where they all have one direction. It comes from outside, with a floor
//!   on occurrences.

mod aggregation;
mod query_matches;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::score::RankerInfo;
use crate::stats::correlation::Correlation;

pub use aggregation::{LateInteractionContext, aggregate_queries};
pub use query_matches::{QueryMatchStatistics, analyze_query};

/// A token of a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QueryToken {
    /// In the model's vocabulary.
    pub id: u32,
    /// As in the vocabulary, `##ing`.
    #[serde(alias = "piece")]
    pub token: String,
    /// Place of its word in [`QueryMatches::words`]; none of punctuation.
    #[serde(alias = "word")]
    pub word_index: Option<u32>,
}

/// The greatest cosine of a piece of a query with one of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestMatch {
    /// From −1 to 1.
    pub cosine: f32,
    /// The piece of the text, in the model's vocabulary; of several as near, the first.
    pub token_id: u32,
}

/// How the pieces of a query match every text of its pool.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryMatches {
    /// Place of the query.
    pub query_no: u32,
    /// Distinct, in lower case, in the order of the query.
    pub words: Vec<String>,
    /// In the order of the query.
    pub tokens: Vec<QueryToken>,
    /// Texts × tokens.
    pub best_matches: Vec<BestMatch>,
}

/// What there is to know of a word that queries have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WordStatistics {
    /// In lower case.
    pub word: String,
    /// Its tokens.
    #[serde(alias = "pieces")]
    pub tokens: Vec<String>,
    /// `ln(N / df)` over the collection; none of a word that no document has.
    pub idf: Option<f64>,
    /// Documents that have it.
    pub df: u64,
    /// Queries that have it, by place.
    #[serde(alias = "queries")]
    pub query_nos: Vec<u32>,
    /// Mean τ_AP without it; none where no query has one.
    pub importance: Option<f64>,
    /// The same with the masked ranking as the reference.
    #[serde(alias = "importance_turned")]
    pub importance_reversed: Option<f64>,
    /// The mean of both.
    pub importance_symmetric: Option<f64>,
    /// ΔES, the sum over its tokens; none where one of them has none.
    pub delta_es: Option<f64>,
    /// Share of its matches that are the same token.
    #[serde(alias = "exact")]
    pub exact_share: f64,
    /// Share of its matches that are another piece of the query.
    #[serde(alias = "other")]
    pub other_query_token_share: f64,
    /// The tokens that it finds most where it does not find itself, with their share of all its
    /// matches; at most [`MAX_SOFT_MATCHES`].
    #[serde(alias = "soft")]
    pub soft_matches: Vec<SoftMatch>,
}

/// Another token that a word finds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SoftMatch {
    /// As in the vocabulary.
    #[serde(alias = "piece")]
    pub token: String,
    /// Of all matches of the word, from 0 to 1.
    pub share: f64,
}

/// What there is to know of a token that queries have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TokenStatistics {
    /// As in the vocabulary.
    #[serde(alias = "piece")]
    pub token: String,
    /// `ln(N / df)` over the texts of the collection, in tokens.
    pub idf: Option<f64>,
    /// ΔES over its places in queries.
    pub delta_es: Option<f64>,
    /// Places in queries that count for it.
    #[serde(alias = "n_places")]
    pub n_query_positions: u64,
    /// Its vectors in the texts that were read.
    pub n_occurrences: u64,
    /// λ_1 / Σ λ_k; none below the floor on occurrences.
    #[serde(alias = "ratio")]
    pub spectral_ratio: Option<f64>,
    /// The same of an encoder before fine-tuning, where there is one.
    #[serde(alias = "ratio_before")]
    pub pretrained_spectral_ratio: Option<f64>,
}

/// The maximum number of other tokens that are listed as soft matches of a word.
pub const MAX_SOFT_MATCHES: usize = 5;

/// The collection, the ranker and the sizes of a late-interaction analysis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LateInteractionHeader {
    /// In addresses and files.
    pub name: String,
    /// The title, as shown to readers.
    pub title: String,
    /// Where queries and texts come from.
    pub collection: String,
    /// Which texts were ranked.
    pub pool: String,
    /// Who ranked them.
    pub ranker: RankerInfo,
    /// The day it was made: `2026-11-20`.
    #[serde(alias = "made")]
    pub created: String,
    /// In order.
    pub queries: Vec<String>,
    /// Pairs of a query and a text.
    pub n_pairs: u64,
    /// Texts that were read, each once.
    #[serde(alias = "n_texts")]
    pub n_docs: u64,
    /// The least vectors of a token that has a spectral ratio.
    #[serde(alias = "floor")]
    pub min_occurrences: u64,
}

/// The analysis of a late-interaction ranker: term importance, exact and soft matches, spectra. It
/// is stored as JSON and sent over HTTP.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LateInteractionAnalysis {
    /// What it is of.
    #[serde(alias = "head")]
    pub header: LateInteractionHeader,
    /// By word.
    pub words: Vec<WordStatistics>,
    /// By token.
    #[serde(alias = "pieces")]
    pub tokens: Vec<TokenStatistics>,
    /// Of idf and importance, by word; the paper has −.4.
    #[serde(alias = "r_importance")]
    pub idf_importance_correlation: Option<Correlation>,
    /// Of idf and ΔES, by word; the paper has .667.
    #[serde(alias = "r_delta_es")]
    pub idf_delta_es_correlation: Option<Correlation>,
    /// Of idf and spectral ratio, by token; the paper has .77.
    #[serde(alias = "r_ratio")]
    pub idf_spectral_correlation: Option<Correlation>,
    /// The same of the encoder before fine-tuning, where there is one.
    #[serde(alias = "r_ratio_before")]
    pub pretrained_idf_spectral_correlation: Option<Correlation>,
}
