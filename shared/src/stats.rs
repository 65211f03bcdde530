//! Statistics over queries: intervals, significance tests and correlations.
//!
//! Queries, not pairs of documents, are the independent units: one query can have thousands of
//! pairs that share its documents.

pub mod quantile;
pub mod bootstrap;
pub mod randomization;
pub mod fraction_change;
pub mod wilcoxon;
pub mod correlation;
pub mod multiple_testing;
pub mod t_test;
pub mod tau_ap;
pub mod proportion;
pub mod agreement;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The number of units below which percentile bootstrap intervals are too narrow (Hesterberg, The
/// American Statistician, 2015).
pub const MIN_BOOTSTRAP_UNITS: u64 = 30;

/// A value with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EstimateWithInterval {
    /// The value in the data, not the mean of the draws.
    pub value: f64,
    /// The lower and upper bound.
    pub interval: [f64; 2],
}
