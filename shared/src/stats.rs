//! What can be said of a number that was counted over queries: its bounds, and whether it
//! could be chance.
//!
//! Queries, not pairs of texts, are the independent units: one query brings up to thousands
//! of pairs that share its texts.

pub mod quantile;
pub mod bootstrap;
pub mod permutation;
pub mod wilcoxon;
pub mod correlation;
pub mod multiple_testing;
pub mod t_test;
pub mod tau_ap;
pub mod proportion;
pub mod agreement;

use serde::{Deserialize, Serialize};

/// With fewer units than this a percentile bootstrap gives bounds that are too narrow
/// (Hesterberg, The American Statistician, 2015).
pub const MIN_BOOTSTRAP_UNITS: u64 = 30;

/// A number with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Estimate {
    /// As counted, not the mean of the draws.
    pub value: f64,
    /// Lower and upper bound.
    pub interval: [f64; 2],
}
