//! Mean RR@10 of both rankers over groups of queries, and the overlap of their rankings.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::MAX_DEPTH;
use super::query_metrics::PairedQueryMetrics;
use super::question_class::QuestionClass;
use crate::stats::correlation::{RegressionLine, fit_least_squares_line};
use crate::stats::{EstimateWithInterval, bootstrap};

/// The lower edges of the FQT buckets and the upper edge of the last one (Padigela, Zamani and
/// Croft 2019, table 2).
pub const FQT_EDGES: [f64; 6] = [0.0, 0.1, 0.15, 0.2, 0.25, 1.0];

/// Queries longer than this form one group; the paper's table 3 ends here.
pub const MAX_QUERY_LENGTH: u32 = 10;

/// The maximum number of bigrams (the paper's figure 2).
pub const MAX_BIGRAMS: usize = 15;

/// The mean RR@10 of one ranker over some queries.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RankerMrr {
    /// Queries.
    pub n_queries: u64,
    /// Mean RR@10; `None` without a query.
    pub mrr: Option<EstimateWithInterval>,
}

/// Queries by FQT. A bucket includes its lower edge but not its upper one; the last includes both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct QueryTokenFractionBucket {
    /// The lower and the upper edge.
    pub edges: [f64; 2],
    /// Mean RR@10 of each ranker, with queries grouped by its own FQT.
    pub rankers: [RankerMrr; 2],
}

/// The mean RR@10 of both rankers over the same queries.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MrrComparison {
    /// Queries with a relevant document.
    pub n_queries: u64,
    /// Mean RR@10 of each ranker.
    pub mrr: [Option<EstimateWithInterval>; 2],
    /// The mean of the second ranker minus that of the first.
    pub mrr_difference: Option<EstimateWithInterval>,
}

/// Queries with the same number of tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct QueryLengthGroup {
    /// The number of tokens, separated by white space; [`MAX_QUERY_LENGTH`] + 1 for all longer
    /// queries.
    pub n_tokens: u32,
    /// The results on these queries.
    pub mrr: MrrComparison,
}

/// Queries of one question class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct QuestionClassGroup {
    /// The class; `None` for queries without one.
    pub question_class: Option<QuestionClass>,
    /// The results on these queries.
    pub mrr: MrrComparison,
}

/// Queries that begin with the same two tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OpeningBigramGroup {
    /// The tokens in lowercase, separated by a space.
    pub bigram: String,
    /// The results on these queries.
    pub mrr: MrrComparison,
}

/// MUR, the matches up to a result: `MUR(i, q) = |top-i(first) ∩ top-i(second)|`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TopDocumentOverlap {
    /// The number of queries.
    pub n_queries: u64,
    /// For i from 1 to [`MAX_DEPTH`] the mean overlap over queries, from 0 to i.
    pub means: Vec<EstimateWithInterval>,
    /// For each i the number of queries without a common document.
    pub n_disjoint: Vec<u64>,
    /// The least-squares line through the means; the paper's rises by .33 from −.21.
    pub regression: Option<RegressionLine>,
}

/// Returns the bucket of an FQT value.
pub fn query_token_fraction_bucket_index(fqt: f64) -> usize {
    FQT_EDGES[1..FQT_EDGES.len() - 1]
        .iter()
        .filter(|edge| fqt >= **edge)
        .count()
}

/// Returns the length group of a query: its number of tokens, or [`MAX_QUERY_LENGTH`] + 1.
pub fn capped_query_length(n_tokens: u32) -> u32 {
    n_tokens.min(MAX_QUERY_LENGTH + 1)
}

fn side(rr: &[f64]) -> RankerMrr {
    RankerMrr {
        n_queries: rr.len() as u64,
        mrr: bootstrap::bootstrap_mean(rr),
    }
}

/// Returns all buckets, including empty ones.
pub(crate) fn mrr_by_query_token_fraction(
    rows: &[PairedQueryMetrics],
) -> Vec<QueryTokenFractionBucket> {
    let of = |bucket: usize, ranker: usize| {
        let here = rows.iter().filter_map(|it| {
            let rr = it.rr?[ranker];
            (query_token_fraction_bucket_index(it.fqt[ranker]?) == bucket).then_some(rr)
        });
        side(&here.collect::<Vec<f64>>())
    };
    let edges = FQT_EDGES.windows(2).enumerate();
    let bucket = edges.map(|(at, edges)| QueryTokenFractionBucket {
        edges: [edges[0], edges[1]],
        rankers: [of(at, 0), of(at, 1)],
    });
    bucket.collect()
}

fn both(rr: &[[f64; 2]]) -> MrrComparison {
    let of = |ranker: usize| rr.iter().map(|it| it[ranker]).collect::<Vec<f64>>();
    let gains: Vec<f64> = rr.iter().map(|it| it[1] - it[0]).collect();
    MrrComparison {
        n_queries: rr.len() as u64,
        mrr: [
            bootstrap::bootstrap_mean(&of(0)),
            bootstrap::bootstrap_mean(&of(1)),
        ],
        mrr_difference: bootstrap::bootstrap_mean_difference(&gains),
    }
}

/// Groups the RR of queries by a key; queries without a key or a relevant document are left out.
fn by<K: Ord>(
    rows: &[PairedQueryMetrics],
    key: impl Fn(&PairedQueryMetrics) -> Option<K>,
) -> BTreeMap<K, Vec<[f64; 2]>> {
    let mut groups: BTreeMap<K, Vec<[f64; 2]>> = BTreeMap::new();
    for row in rows {
        if let (Some(rr), Some(key)) = (row.rr, key(row)) {
            groups.entry(key).or_default().push(rr);
        }
    }
    groups
}

/// Returns the MRR of both rankers for each query length, in tokens, that occurs; all queries
/// above the maximum length form one group.
pub(super) fn mrr_by_query_length(rows: &[PairedQueryMetrics]) -> Vec<QueryLengthGroup> {
    let groups = by(rows, |it| Some(capped_query_length(it.n_tokens)));
    let length = |(n_tokens, rr): (u32, Vec<[f64; 2]>)| QueryLengthGroup {
        n_tokens,
        mrr: both(&rr),
    };
    groups.into_iter().map(length).collect()
}

/// Returns all question classes, and the queries without one last.
pub(super) fn mrr_by_question_class(rows: &[PairedQueryMetrics]) -> Vec<QuestionClassGroup> {
    let mut groups = by(rows, |it| Some(it.question_class));
    let types = QuestionClass::ALL.iter().map(|it| Some(*it)).chain([None]);
    let group = types.map(|answer| QuestionClassGroup {
        question_class: answer,
        mrr: both(&groups.remove(&answer).unwrap_or_default()),
    });
    group.collect()
}

/// Returns the most frequent bigrams first, then in alphabetical order.
pub(super) fn mrr_by_opening_bigram(rows: &[PairedQueryMetrics]) -> Vec<OpeningBigramGroup> {
    let groups = by(rows, |it| it.bigram.clone());
    let mut groups: Vec<(String, Vec<[f64; 2]>)> = groups.into_iter().collect();
    // The sort is stable, so that bigrams with equal counts are in alphabetical order.
    groups.sort_by_key(|it| Reverse(it.1.len()));
    groups.truncate(MAX_BIGRAMS);
    let bigram = |(words, rr): (String, Vec<[f64; 2]>)| OpeningBigramGroup {
        bigram: words,
        mrr: both(&rr),
    };
    groups.into_iter().map(bigram).collect()
}

/// Computes the overlap over all queries that count, judged or not.
pub(super) fn compute_top_document_overlap(rows: &[PairedQueryMetrics]) -> TopDocumentOverlap {
    let at = |depth: usize| {
        rows.iter()
            .map(move |it| f64::from(it.n_shared_docs[depth]))
    };
    let means = (0..MAX_DEPTH).map_while(|depth| {
        let mut mean = bootstrap::bootstrap_mean(&at(depth).collect::<Vec<f64>>())?;
        if rows.len() == 1 {
            mean.interval = [0.0, (depth + 1) as f64];
        }
        Some(mean)
    });
    let means: Vec<EstimateWithInterval> = means.collect();
    let points = means.iter().zip(1_u32..);
    let points: Vec<[f64; 2]> = points.map(|(it, i)| [f64::from(i), it.value]).collect();
    TopDocumentOverlap {
        n_queries: rows.len() as u64,
        regression: fit_least_squares_line(&points),
        n_disjoint: (0..MAX_DEPTH)
            .map(|depth| at(depth).filter(|it| *it == 0.0).count() as u64)
            .collect(),
        means,
    }
}
