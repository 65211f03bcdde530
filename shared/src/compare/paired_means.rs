//! One number of each ranker for each query: means, their difference, and whether it is chance.

use serde::{Deserialize, Serialize};

use super::query_metrics::QueryMetrics;
use crate::stats::{Estimate, bootstrap, permutation, t_test};

/// A number of two rankers over the same queries.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = DifferPaired))]
pub struct PairedMeans {
    /// Queries for which both have one.
    pub n_queries: u64,
    /// Of each ranker; none without a query.
    pub means: [Option<Estimate>; 2],
    /// The mean of the first less that of the second, −1 to 1.
    pub difference: Option<Estimate>,
    /// Queries in which the first is higher, and in which the second is; the others are level.
    pub n_higher: [u64; 2],
    /// Two-sided, of Student's paired t test, which the paper calls a signed t test; none where
    /// nothing differs.
    pub p_student: Option<f64>,
    /// Two-sided, of the paired randomisation test: [`permutation::p_value_of_mean`].
    pub p_permutation: Option<f64>,
}

impl PairedMeans {
    /// The share of queries in which a side, 0 or 1, is higher; none without a query.
    pub fn share_higher(&self, side: usize) -> Option<f64> {
        (self.n_queries > 0).then(|| self.n_higher[side] as f64 / self.n_queries as f64)
    }
}

/// Over the queries that have a pair of numbers from 0 to 1.
pub(super) fn paired_means(
    rows: &[QueryMetrics],
    pair: impl Fn(&QueryMetrics) -> Option<[f64; 2]>,
) -> PairedMeans {
    let pairs: Vec<[f64; 2]> = rows.iter().filter_map(pair).collect();
    let side = |of: usize| pairs.iter().map(|it| it[of]).collect::<Vec<f64>>();
    let differences: Vec<f64> = pairs.iter().map(|it| it[0] - it[1]).collect();
    let higher = |sign: f64| differences.iter().filter(|it| **it * sign > 0.0).count() as u64;
    PairedMeans {
        n_queries: pairs.len() as u64,
        means: [0, 1].map(|it| bootstrap::bootstrap_mean(&side(it))),
        difference: mean_difference(&differences),
        n_higher: [higher(1.0), higher(-1.0)],
        p_student: t_test::one_sample_t_test(&differences).map(|it| it.p),
        p_permutation: (!pairs.is_empty()).then(|| permutation::p_value_of_mean(&differences)),
    }
}

/// The mean of differences of −1 to 1 with its interval; that of a single query is all of it.
pub(super) fn mean_difference(differences: &[f64]) -> Option<Estimate> {
    let mean = bootstrap::bootstrap_mean(differences)?;
    Some(match differences.len() {
        1 => Estimate {
            interval: [-1.0, 1.0],
            ..mean
        },
        _ => mean,
    })
}

/// ΔRR, the RR@10 of the second ranker less that of the first, query by query.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = DifferChange))]
pub struct RrChanges {
    /// Queries on which the second is better.
    pub n_better: u64,
    /// On which the first is.
    pub n_worse: u64,
    /// On which neither is.
    pub n_equal: u64,
    /// ΔRR = 1: the second has a relevant document at its first rank, the first none in ten.
    pub n_zero_to_one: u64,
    /// ΔRR = −1: the other way round.
    pub n_one_to_zero: u64,
    /// Every ΔRR, the highest first.
    pub differences: Vec<f64>,
}

/// Over the queries with a relevant document.
pub(super) fn rr_changes(rows: &[QueryMetrics]) -> RrChanges {
    let mut series: Vec<f64> = rows
        .iter()
        .filter_map(QueryMetrics::rr_difference)
        .collect();
    series.sort_unstable_by(|a, b| b.total_cmp(a));
    let count = |is: &dyn Fn(f64) -> bool| series.iter().filter(|it| is(**it)).count() as u64;
    RrChanges {
        n_better: count(&|it| it > 0.0),
        n_worse: count(&|it| it < 0.0),
        n_equal: count(&|it| it == 0.0),
        n_zero_to_one: count(&|it| it >= 1.0),
        n_one_to_zero: count(&|it| it <= -1.0),
        differences: series,
    }
}
