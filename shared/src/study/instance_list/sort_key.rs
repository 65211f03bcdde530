//! What a list of instances is sorted by.

use std::cmp::Ordering;

/// What a list is sorted by, ascending; instances with equal keys are in the order of queries and
/// documents.
#[derive(Clone, Copy)]
pub(super) struct SortKey {
    pub(super) value: f64,
    /// Orders instances whose values differ by less than an `f64` can tell.
    pub(super) tie_breaker: f64,
}

impl SortKey {
    pub(super) const LAST: SortKey = SortKey::new(f64::INFINITY);

    pub(super) const fn new(value: f64) -> SortKey {
        SortKey {
            value,
            tie_breaker: 0.0,
        }
    }
}

impl PartialEq for SortKey {
    fn eq(&self, other: &SortKey) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for SortKey {}

impl PartialOrd for SortKey {
    fn partial_cmp(&self, other: &SortKey) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SortKey {
    fn cmp(&self, other: &SortKey) -> Ordering {
        let by_value = self.value.total_cmp(&other.value);
        by_value.then_with(|| self.tie_breaker.total_cmp(&other.tie_breaker))
    }
}
