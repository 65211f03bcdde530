//! One value of each ranker for each query: means, their difference and its significance.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::query_metrics::PairedQueryMetrics;
use crate::stats::{EstimateWithInterval, bootstrap, randomization, t_test};

/// The means of a metric of two rankers over the same queries.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PairedMetricMeans {
    /// The number of queries for which both rankers have a value.
    pub n_queries: u64,
    /// The mean of each ranker; `None` without a query.
    pub means: [Option<EstimateWithInterval>; 2],
    /// The mean of the first minus that of the second, −1 to 1.
    pub difference: Option<EstimateWithInterval>,
    /// The numbers of queries in which the first is higher and in which the second is; the others
    /// are equal.
    pub n_higher: [u64; 2],
    /// The two-sided p-value of Student's paired t test, which the paper calls a signed t test;
    /// `None` if nothing differs.
    pub p_student: Option<f64>,
    /// The two-sided p-value of the paired randomization test:
    /// [`randomization::randomization_p_value_of_mean`].
    pub p_randomization: Option<f64>,
}

impl PairedMetricMeans {
    /// Returns the share of queries in which a ranker, 0 or 1, is higher; `None` without a query.
    pub fn win_rate(&self, side: usize) -> Option<f64> {
        (self.n_queries > 0).then(|| self.n_higher[side] as f64 / self.n_queries as f64)
    }
}

/// Computes the means over the queries that have a pair of values from 0 to 1.
pub(super) fn compute_paired_means_and_tests(
    rows: &[PairedQueryMetrics],
    pair: impl Fn(&PairedQueryMetrics) -> Option<[f64; 2]>,
) -> PairedMetricMeans {
    let pairs: Vec<[f64; 2]> = rows.iter().filter_map(pair).collect();
    let side = |of: usize| pairs.iter().map(|it| it[of]).collect::<Vec<f64>>();
    let differences: Vec<f64> = pairs.iter().map(|it| it[0] - it[1]).collect();
    let higher = |sign: f64| differences.iter().filter(|it| **it * sign > 0.0).count() as u64;
    PairedMetricMeans {
        n_queries: pairs.len() as u64,
        means: [0, 1].map(|it| bootstrap::bootstrap_mean(&side(it))),
        difference: bootstrap::bootstrap_mean_difference(&differences),
        n_higher: [higher(1.0), higher(-1.0)],
        p_student: t_test::one_sample_t_test(&differences).map(|it| it.p),
        p_randomization: (!pairs.is_empty())
            .then(|| randomization::randomization_p_value_of_mean(&differences)),
    }
}

/// ΔRR, the RR@10 of the second ranker minus that of the first, query by query.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReciprocalRankDifferenceSummary {
    /// The number of queries on which the second ranker is better.
    pub n_better: u64,
    /// The number of queries on which the first is better.
    pub n_worse: u64,
    /// The number of queries on which they are equal.
    pub n_equal: u64,
    /// ΔRR = 1: the second has a relevant document at rank 1, the first has none in the top ten.
    pub n_zero_to_one: u64,
    /// ΔRR = −1: the reverse.
    pub n_one_to_zero: u64,
    /// Every ΔRR, the highest first.
    pub differences: Vec<f64>,
}

impl ReciprocalRankDifferenceSummary {
    /// Returns the number of queries of each kind of change, in the order of
    /// [`super::query_list::ReciprocalRankChangeKind::ALL`].
    pub(crate) fn counts_by_kind(&self) -> [u64; 5] {
        [
            self.n_zero_to_one,
            self.n_better,
            self.n_equal,
            self.n_worse,
            self.n_one_to_zero,
        ]
    }
}

/// Computes the changes over the queries with a relevant document.
pub(super) fn summarize_reciprocal_rank_changes(
    rows: &[PairedQueryMetrics],
) -> ReciprocalRankDifferenceSummary {
    let mut series: Vec<f64> = rows
        .iter()
        .filter_map(PairedQueryMetrics::second_ranker_rr_gain)
        .collect();
    series.sort_unstable_by(|a, b| b.total_cmp(a));
    let count = |is: &dyn Fn(f64) -> bool| series.iter().filter(|it| is(**it)).count() as u64;
    ReciprocalRankDifferenceSummary {
        n_better: count(&|it| it > 0.0),
        n_worse: count(&|it| it < 0.0),
        n_equal: count(&|it| it == 0.0),
        n_zero_to_one: count(&|it| it >= 1.0),
        n_one_to_zero: count(&|it| it <= -1.0),
        differences: series,
    }
}
