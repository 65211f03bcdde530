//! The four hypotheses of Padigela, Zamani and Croft (2019) on any two rankers.
//!
//! Each is one number with its 95 % interval over queries. It is *supported* if the number and its
//! whole interval are on the side of 0 that the hypothesis states, else *not supported*. With
//! fewer than [`MIN_BOOTSTRAP_UNITS`] queries there is no outcome. The paper decides by comparing
//! means (and rejects its fourth hypothesis). The four intervals are not corrected for multiple
//! testing.
//!
//! - H1, the first ranker is more biased towards query terms: mean of FQT(first) − FQT(second),
//!   above 0.
//! - H2, that bias hurts the first: Pearson's r of its FQT and its RR@10, below 0. The paper
//!   compares its lowest bucket with its highest; [`relative_mrr_drop_across_buckets`] computes
//!   that.
//! - H3, the second finds more novel words: mean of FNT(second) − FNT(first), above 0.
//! - H4, the second helps more on longer queries: Pearson's r of the length of a query and ΔRR,
//!   above 0.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::paired_means::PairedMetricMeans;
use super::query_groups::QueryTokenFractionBucket;
use super::query_metrics::PairedQueryMetrics;
use crate::stats::correlation::pearson_correlation;
use crate::stats::{EstimateWithInterval, MIN_BOOTSTRAP_UNITS};

/// One of the four hypotheses of Padigela, Zamani and Croft (2019).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PadigelaHypothesis {
    /// H1: the first ranker is more biased towards query terms.
    QueryTermBias,
    /// H2: the bias towards query terms hurts the first ranker.
    QueryTermBiasHurts,
    /// H3: the second ranker finds more novel terms.
    MoreNovelTerms,
    /// H4: the gain of the second ranker grows with query length.
    LongerQueries,
}

impl PadigelaHypothesis {
    /// Returns the name in the paper, `H1` to `H4`.
    pub fn name_in_paper(self) -> &'static str {
        match self {
            PadigelaHypothesis::QueryTermBias => "H1",
            PadigelaHypothesis::QueryTermBiasHurts => "H2",
            PadigelaHypothesis::MoreNovelTerms => "H3",
            PadigelaHypothesis::LongerQueries => "H4",
        }
    }

    /// Returns the sign of the number that supports it.
    pub fn supporting_sign(self) -> f64 {
        match self {
            PadigelaHypothesis::QueryTermBias
            | PadigelaHypothesis::MoreNovelTerms
            | PadigelaHypothesis::LongerQueries => 1.0,
            PadigelaHypothesis::QueryTermBiasHurts => -1.0,
        }
    }
}

/// The outcome of a hypothesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HypothesisOutcome {
    /// The whole interval is on the stated side of 0.
    Supported,
    /// The interval is not on the stated side of 0.
    NotSupported,
    /// There are too few queries for an outcome.
    TooFewQueries,
}

/// A hypothesis with its number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HypothesisResult {
    /// The hypothesis.
    pub hypothesis: PadigelaHypothesis,
    /// The number that decides, from −1 to 1; `None` if it is not defined.
    pub measured: Option<EstimateWithInterval>,
    /// The number of queries behind it.
    pub n_queries: u64,
    /// The outcome.
    pub outcome: HypothesisOutcome,
}

impl HypothesisResult {
    fn new(
        hypothesis: PadigelaHypothesis,
        measured: Option<EstimateWithInterval>,
        n_queries: u64,
    ) -> HypothesisResult {
        let standing = match measured {
            Some(it) if n_queries >= MIN_BOOTSTRAP_UNITS => {
                let bounds = it.interval.map(|it| it * hypothesis.supporting_sign());
                match bounds[0].min(bounds[1]) > 0.0 {
                    true => HypothesisOutcome::Supported,
                    false => HypothesisOutcome::NotSupported,
                }
            }
            // With many queries but no number, one of the values does not vary.
            None if n_queries >= MIN_BOOTSTRAP_UNITS => HypothesisOutcome::NotSupported,
            Some(_) | None => HypothesisOutcome::TooFewQueries,
        };
        HypothesisResult {
            hypothesis,
            measured,
            n_queries,
            outcome: standing,
        }
    }
}

/// Tests all four hypotheses, from the values of queries and the comparisons of FQT and FNT.
pub(super) fn evaluate_hypotheses(
    rows: &[PairedQueryMetrics],
    [fqt, fnt]: [&PairedMetricMeans; 2],
) -> Vec<HypothesisResult> {
    let correlated = |hypothesis, points: Vec<[f64; 2]>| {
        let n = points.len() as u64;
        HypothesisResult::new(hypothesis, pearson_correlation(&points).map(|it| it.r), n)
    };
    let own = rows.iter().filter_map(|it| Some([it.fqt[0]?, it.rr?[0]]));
    let longer = rows
        .iter()
        .filter_map(|it| Some([f64::from(it.n_tokens), it.second_ranker_rr_gain()?]));
    let negated = fnt.difference.map(|it| EstimateWithInterval {
        value: -it.value,
        interval: [-it.interval[1], -it.interval[0]],
    });
    vec![
        HypothesisResult::new(
            PadigelaHypothesis::QueryTermBias,
            fqt.difference,
            fqt.n_queries,
        ),
        correlated(PadigelaHypothesis::QueryTermBiasHurts, own.collect()),
        HypothesisResult::new(PadigelaHypothesis::MoreNovelTerms, negated, fnt.n_queries),
        correlated(PadigelaHypothesis::LongerQueries, longer.collect()),
    ]
}

/// Returns the relative decrease of a ranker's (0 or 1) mean RR from the lowest nonempty bucket to
/// the highest; negative if it rises. `None` with fewer than two buckets or if the first mean is
/// 0.
pub fn relative_mrr_drop_across_buckets(
    buckets: &[QueryTokenFractionBucket],
    side: usize,
) -> Option<f64> {
    let mut means = buckets.iter().filter_map(|it| it.rankers[side].mrr);
    let first = means.next()?.value;
    let last = means.next_back()?.value;
    (first > 0.0).then(|| 1.0 - last / first)
}
