//! The effectiveness measures that a study shows.

/// The effectiveness measures of a ranker's order of the pool.
pub(super) const MEASURES: &[&str] = &["nDCG@10", "RR@10", "AP", "P@5"];
