//! Mean RR@10 of both rankers over groups of queries, and how much their lists have in common.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::MAX_DEPTH;
use super::answer_type::AnswerType;
use super::paired_means::mean_difference;
use super::query_metrics::QueryMetrics;
use crate::stats::correlation::{RegressionLine, least_squares};
use crate::stats::{Estimate, bootstrap};

/// Where buckets of FQT begin and the last one ends (Padigela, Zamani and Croft 2019, table 2).
pub const FQT_EDGES: [f64; 6] = [0.0, 0.1, 0.15, 0.2, 0.25, 1.0];

/// Queries longer than this are one group; the paper's table 3 ends here.
pub const MAX_QUERY_LENGTH: u32 = 10;

/// So many bigrams are told (the paper's figure 2).
pub const MAX_BIGRAMS: usize = 15;

/// Some queries of one ranker.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = DifferSide))]
pub struct RankerMrr {
    /// Queries.
    pub n_queries: u64,
    /// Mean RR@10; none without a query.
    pub mrr: Option<Estimate>,
}

/// Queries by their FQT: from an edge on, to below the next; the last bucket has its upper edge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FqtBucket {
    /// Lower and upper edge.
    pub edges: [f64; 2],
    /// Each ranker by its own FQT.
    pub rankers: [RankerMrr; 2],
}

/// Some queries of both rankers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = DifferBoth))]
pub struct MrrComparison {
    /// Queries with a relevant document.
    pub n_queries: u64,
    /// Mean RR@10 of each.
    pub mrr: [Option<Estimate>; 2],
    /// The mean of the second less that of the first.
    pub mrr_difference: Option<Estimate>,
}

/// Queries with the same number of tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = DifferLength))]
pub struct QueryLengthGroup {
    /// Tokens with white space between; [`MAX_QUERY_LENGTH`] + 1 stands for all longer ones.
    pub n_tokens: u32,
    /// The queries.
    pub mrr: MrrComparison,
}

/// Queries that ask for one type of answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AnswerTypeGroup {
    /// Which; none for those that no rule knows.
    pub answer_type: Option<AnswerType>,
    /// The queries.
    pub mrr: MrrComparison,
}

/// Queries that begin with the same two tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BigramGroup {
    /// The tokens, lower-case, with a space between.
    pub bigram: String,
    /// The queries.
    pub mrr: MrrComparison,
}

/// MUR, the matches up to a result: `MUR(i, q) = |top-i(first) ∩ top-i(second)|`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = DifferOverlap))]
pub struct TopOverlap {
    /// Queries.
    pub n_queries: u64,
    /// For i from 1 to [`MAX_DEPTH`] the mean over queries, 0 to i.
    pub means: Vec<Estimate>,
    /// For each i the queries with no document in common.
    pub n_disjoint: Vec<u64>,
    /// The least-squares line through the means; the paper's rises by .33 from −.21.
    pub regression: Option<RegressionLine>,
}

/// The bucket of a value of FQT.
pub fn bucket_of(fqt: f64) -> usize {
    FQT_EDGES[1..FQT_EDGES.len() - 1]
        .iter()
        .filter(|edge| fqt >= **edge)
        .count()
}

/// The length under which a query is grouped.
pub fn length_group(n_tokens: u32) -> u32 {
    n_tokens.min(MAX_QUERY_LENGTH + 1)
}

fn side(rr: &[f64]) -> RankerMrr {
    RankerMrr {
        n_queries: rr.len() as u64,
        mrr: bootstrap::bootstrap_mean(rr),
    }
}

/// Every bucket, also an empty one.
pub(crate) fn group_by_fqt(rows: &[QueryMetrics]) -> Vec<FqtBucket> {
    let of = |bucket: usize, ranker: usize| {
        let here = rows.iter().filter_map(|it| {
            let rr = it.rr?[ranker];
            (bucket_of(it.fqt[ranker]?) == bucket).then_some(rr)
        });
        side(&here.collect::<Vec<f64>>())
    };
    let edges = FQT_EDGES.windows(2).enumerate();
    let bucket = edges.map(|(at, edges)| FqtBucket {
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
        mrr_difference: mean_difference(&gains),
    }
}

/// RR of the queries by a key; those without a key or without a relevant document are left out.
fn by<K: Ord>(
    rows: &[QueryMetrics],
    key: impl Fn(&QueryMetrics) -> Option<K>,
) -> BTreeMap<K, Vec<[f64; 2]>> {
    let mut groups: BTreeMap<K, Vec<[f64; 2]>> = BTreeMap::new();
    for row in rows {
        if let (Some(rr), Some(key)) = (row.rr, key(row)) {
            groups.entry(key).or_default().push(rr);
        }
    }
    groups
}

/// Returns the MRR of both rankers for each query length, in tokens, that occurs; all queries above
/// the maximum length form one group.
pub(super) fn group_by_length(rows: &[QueryMetrics]) -> Vec<QueryLengthGroup> {
    let groups = by(rows, |it| Some(length_group(it.n_tokens)));
    let length = |(n_tokens, rr): (u32, Vec<[f64; 2]>)| QueryLengthGroup {
        n_tokens,
        mrr: both(&rr),
    };
    groups.into_iter().map(length).collect()
}

/// Every type, and at last the queries without one.
pub(super) fn group_by_answer_type(rows: &[QueryMetrics]) -> Vec<AnswerTypeGroup> {
    let mut groups = by(rows, |it| Some(it.answer_type));
    let types = AnswerType::ALL.iter().map(|it| Some(*it)).chain([None]);
    let group = types.map(|answer| AnswerTypeGroup {
        answer_type: answer,
        mrr: both(&groups.remove(&answer).unwrap_or_default()),
    });
    group.collect()
}

/// The most frequent ones first, then by their letters.
pub(super) fn group_by_bigram(rows: &[QueryMetrics]) -> Vec<BigramGroup> {
    let groups = by(rows, |it| it.bigram.clone());
    let mut groups: Vec<(String, Vec<[f64; 2]>)> = groups.into_iter().collect();
    // Stable, so that letters decide between equal counts.
    groups.sort_by_key(|it| Reverse(it.1.len()));
    groups.truncate(MAX_BIGRAMS);
    let bigram = |(words, rr): (String, Vec<[f64; 2]>)| BigramGroup {
        bigram: words,
        mrr: both(&rr),
    };
    groups.into_iter().map(bigram).collect()
}

/// Over all queries that count, judged or not.
pub(super) fn top_overlap(rows: &[QueryMetrics]) -> TopOverlap {
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
    let means: Vec<Estimate> = means.collect();
    let points = means.iter().zip(1_u32..);
    let points: Vec<[f64; 2]> = points.map(|(it, i)| [f64::from(i), it.value]).collect();
    TopOverlap {
        n_queries: rows.len() as u64,
        regression: least_squares(&points),
        n_disjoint: (0..MAX_DEPTH)
            .map(|depth| at(depth).filter(|it| *it == 0.0).count() as u64)
            .collect(),
        means,
    }
}
