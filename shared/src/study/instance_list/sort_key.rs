//! What a list of instances is sorted by.

use std::cmp::Ordering;

use super::InstanceSort;

/// What a list is sorted by, ascending. The order of queries, then of documents, decides between
/// instances with equal keys.
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

/// How the keys of a list follow from its instances.
#[derive(Clone, Copy)]
pub(in crate::study) struct SortKeyRule {
    pub(in crate::study) sort: InstanceSort,
    pub(in crate::study) tie_width: f64,
    /// The standard deviation of the ranker's scores; only read for most instructive instances.
    pub(in crate::study) score_deviation: f64,
}

impl SortKeyRule {
    /// Returns the key of an instance; those without a verdict, whose margin is NaN, come last.
    pub(super) fn key(&self, content_value: f64, margin: f64) -> SortKey {
        match self.sort {
            InstanceSort::Query => SortKey::new(0.0),
            _ if margin.is_nan() => SortKey::LAST,
            InstanceSort::MostInstructive => self.instructiveness_key(content_value, margin),
            InstanceSort::MarginAscending => SortKey::new(margin),
            InstanceSort::MarginDescending => SortKey::new(-margin),
            InstanceSort::AbsoluteMargin => SortKey::new(margin.abs()),
        }
    }

    /// Returns the sort key of most instructive instances. The key never decreases as the absolute
    /// margin falls, also after rounding, since each step of the computation rounds in one
    /// direction only.
    fn instructiveness_key(&self, content_value: f64, margin: f64) -> SortKey {
        // Ties have one key, so that they are counted and not sorted.
        if margin.abs() <= self.tie_width {
            return SortKey::new(-content_value);
        }
        let share = 1.0 - self.score_deviation / (margin.abs() + self.score_deviation);
        SortKey {
            value: -(content_value + share),
            tie_breaker: -margin.abs(),
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
