//! The instances of a probe in the order of a ranker's margins, so that a page of a list does not
//! need a look at every instance.
//!
//! Instances are grouped by everything that filters a list besides outcome and margin, and by what
//! the order of most instructive instances takes from query and documents. Within a group that
//! order follows from the margin, so that one sorted column serves all orders of a list.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::super::Study;
use super::super::controls::{InstanceSubset, StudyPageControls};
use super::judge::InstanceJudge;
use super::lister::{InstanceLister, InstanceWithRankerVerdict};
use super::{InstanceListOptions, InstanceSort, MarginHistogram};
use crate::integer_column::OwnedOrSharedIntegers;
use crate::probe::ProbeInstances;
use crate::score::RankerQueryDocumentScores;
use crate::verdict::VerdictOutcome;

/// The number of counts that [`InstanceOrder`] has for each query.
pub(in crate::study) const COUNTS_PER_QUERY: usize = 16;

/// What is known of an [`InstanceOrder`] besides its column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InstanceOrderHeader {
    /// The groups of instances, in the order of the column.
    pub groups: Vec<InstanceGroup>,
    /// The distribution of the margins of each subset and split that a list can be limited to.
    pub histograms: Vec<HistogramOfSubset>,
}

/// Instances that differ only in their outcome and margin as far as a list is concerned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InstanceGroup {
    /// What query and documents add to the sort key of most instructive instances.
    pub content_value: f64,
    /// Whether one of the documents is relevant.
    pub has_relevant: bool,
    /// Whether the ranker truncated one of the documents.
    pub is_truncated: bool,
    /// The split of the query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// The number of violated instances, which come first, by margin.
    pub n_violated: u32,
    /// The number of tied instances, which follow in the order of queries.
    pub n_tied: u32,
    /// The number of satisfied instances, which follow by margin.
    pub n_satisfied: u32,
    /// The number of instances without a verdict, which follow in the order of queries.
    pub n_unscored: u32,
    /// The number of tied instances that follow once more, by margin; 0 if their margins are equal.
    pub n_tied_by_margin: u32,
}

/// The distribution of the margins of a subset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistogramOfSubset {
    /// The subset of instances.
    pub subset: InstanceSubset,
    /// The split of the queries; `None` for all queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// The distribution.
    pub histogram: MarginHistogram,
}

/// The instances of a probe in the order of a ranker's margins, for the default tie threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceOrder {
    pub(super) header: InstanceOrderHeader,
    /// The numbers of the instances, group after group, and then [`COUNTS_PER_QUERY`] counts of
    /// each query: see [`class_of`].
    column: OwnedOrSharedIntegers,
    /// The number of queries.
    n_queries: usize,
}

/// The numbers of the instances of a group, each list in the order of queries.
#[derive(Default)]
struct GroupedNumbers {
    violated: Vec<u32>,
    tied: Vec<u32>,
    satisfied: Vec<u32>,
    unscored: Vec<u32>,
}

/// What makes a group.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct GroupKey<'a> {
    content_value_bits: u64,
    has_relevant: bool,
    is_truncated: bool,
    split: Option<&'a str>,
}

/// The ranges of a group in the column.
pub(in crate::study) struct GroupRanges {
    pub(super) violated: Range<usize>,
    pub(super) tied: Range<usize>,
    pub(super) satisfied: Range<usize>,
    pub(super) unscored: Range<usize>,
    pub(in crate::study) tied_by_margin: Range<usize>,
}

impl GroupRanges {
    /// Returns the ranges, one after the other.
    pub(in crate::study) fn parts(&self) -> [Range<usize>; 5] {
        let parts = [&self.violated, &self.tied, &self.satisfied];
        let [violated, tied, satisfied] = parts.map(Range::clone);
        let (unscored, again) = (self.unscored.clone(), self.tied_by_margin.clone());
        [violated, tied, satisfied, unscored, again]
    }

    /// Returns the outcome of the instance at a position.
    pub(in crate::study) fn outcome_at(&self, position: usize) -> Option<VerdictOutcome> {
        match position {
            it if it < self.violated.end => Some(VerdictOutcome::Violated),
            it if it < self.tied.end => Some(VerdictOutcome::Tied),
            it if it < self.satisfied.end => Some(VerdictOutcome::Satisfied),
            it if it < self.unscored.end => None,
            _ => Some(VerdictOutcome::Tied),
        }
    }
}

impl InstanceGroup {
    /// Returns the ranges of the group, which begins at an index of the column.
    fn ranges(&self, start: usize) -> GroupRanges {
        let mut start = start;
        let mut next = |n: u32| {
            let range = start..start + n as usize;
            start = range.end;
            range
        };
        GroupRanges {
            violated: next(self.n_violated),
            tied: next(self.n_tied),
            satisfied: next(self.n_satisfied),
            unscored: next(self.n_unscored),
            tied_by_margin: next(self.n_tied_by_margin),
        }
    }

    fn n_instances(&self) -> usize {
        [
            self.n_violated,
            self.n_tied,
            self.n_satisfied,
            self.n_unscored,
        ]
        .iter()
        .map(|&it| it as usize)
        .sum()
    }

    /// Whether the instances of the group are in a subset and split.
    pub(super) fn is_in(&self, subset: InstanceSubset, split: Option<&str>) -> bool {
        subset.includes(self.has_relevant, self.is_truncated)
            && split.is_none_or(|it| self.split.as_deref() == Some(it))
    }
}

impl InstanceOrderHeader {
    /// Iterates over the groups with their ranges in the column.
    pub(in crate::study) fn groups_with_ranges(
        &self,
    ) -> impl Iterator<Item = (&InstanceGroup, GroupRanges)> {
        let mut start = 0;
        self.groups.iter().map(move |group| {
            let ranges = group.ranges(start);
            start = ranges.tied_by_margin.end;
            (group, ranges)
        })
    }
}

/// Returns the index of the count of an instance among the counts of its query.
pub(super) fn class_of(
    outcome: Option<VerdictOutcome>,
    has_relevant: bool,
    is_truncated: bool,
) -> usize {
    let outcome = match outcome {
        Some(VerdictOutcome::Satisfied) => 0,
        Some(VerdictOutcome::Tied) => 1,
        Some(VerdictOutcome::Violated) => 2,
        None => 3,
    };
    outcome * 4 + usize::from(has_relevant) * 2 + usize::from(is_truncated)
}

/// Returns how many instances of a query are in a list, given the counts of the query; the split
/// and limits of the margin are not considered.
pub(in crate::study) fn n_listed_of_query(listing: &InstanceListOptions, counts: &[u32]) -> usize {
    let outcomes = [
        Some(VerdictOutcome::Satisfied),
        Some(VerdictOutcome::Tied),
        Some(VerdictOutcome::Violated),
        None,
    ];
    let mut n = 0;
    for outcome in outcomes {
        for (has_relevant, is_truncated) in
            [(false, false), (false, true), (true, false), (true, true)]
        {
            let subset = listing.controls.subset;
            if subset.includes(has_relevant, is_truncated)
                && listing.outcome.is_none_or(|it| outcome == Some(it))
            {
                n += counts[class_of(outcome, has_relevant, is_truncated)] as usize;
            }
        }
    }
    n
}

/// The margin of an instance, for sorting.
#[derive(Clone, Copy, PartialEq)]
struct SortedMargin(f64);

impl Eq for SortedMargin {}

impl PartialOrd for SortedMargin {
    fn partial_cmp(&self, other: &SortedMargin) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SortedMargin {
    fn cmp(&self, other: &SortedMargin) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl InstanceOrder {
    /// Sorts the instances of a probe by the margins of a ranker. Both belong to the study.
    pub fn build(
        study: &Study,
        instances: &ProbeInstances,
        scores: &RankerQueryDocumentScores,
    ) -> InstanceOrder {
        let listing = InstanceListOptions {
            controls: StudyPageControls::default(),
            probe: instances.probe,
            ranker: String::new(),
            outcome: None,
            query_filter: String::new(),
            min_margin: None,
            max_margin: None,
            review_status: None,
            sort: InstanceSort::MostInstructive,
            offset: 0,
            limit: 0,
        };
        let lister = InstanceLister::new(study, &listing, instances, scores);
        let (groups, counts) = group_instances(&lister);
        let mut header = InstanceOrderHeader {
            groups: Vec::new(),
            histograms: Vec::new(),
        };
        let mut column = Vec::with_capacity(instances.len() + counts.len());
        for (key, numbers) in groups {
            let GroupedNumbers {
                mut violated,
                tied,
                mut satisfied,
                unscored,
            } = numbers;
            let margin = |number: u32| SortedMargin(lister.margin_of_instance(number));
            sort_by_margin(&mut violated, SORTED_AT_ONCE, margin);
            sort_by_margin(&mut satisfied, SORTED_AT_ONCE, margin);
            let mut tied_by_margin = Vec::new();
            if tied.windows(2).any(|it| margin(it[0]) != margin(it[1])) {
                tied_by_margin = tied.clone();
                sort_by_margin(&mut tied_by_margin, SORTED_AT_ONCE, margin);
            }
            header.groups.push(InstanceGroup {
                content_value: f64::from_bits(key.content_value_bits),
                has_relevant: key.has_relevant,
                is_truncated: key.is_truncated,
                split: key.split.map(str::to_owned),
                n_violated: violated.len() as u32,
                n_tied: tied.len() as u32,
                n_satisfied: satisfied.len() as u32,
                n_unscored: unscored.len() as u32,
                n_tied_by_margin: tied_by_margin.len() as u32,
            });
            for part in [violated, tied, satisfied, unscored, tied_by_margin] {
                column.extend(part);
            }
        }
        column.extend(counts);
        let mut order = InstanceOrder {
            header,
            column: column.into(),
            n_queries: instances.n_queries(),
        };
        order.header.histograms = order.build_histograms(&lister);
        order
    }

    /// Restores an order from its parts. Returns `None` if they do not fit the instances.
    pub fn from_parts(
        header: InstanceOrderHeader,
        column: OwnedOrSharedIntegers,
        instances: &ProbeInstances,
    ) -> Option<InstanceOrder> {
        let n_instances: usize = header.groups.iter().map(InstanceGroup::n_instances).sum();
        let n_again = header.groups.iter().map(|it| it.n_tied_by_margin as usize);
        let n_numbers = n_instances + n_again.sum::<usize>();
        let n_queries = instances.n_queries();
        let fits = n_instances == instances.len()
            && column.len() == n_numbers + n_queries * COUNTS_PER_QUERY
            && column[..n_numbers]
                .iter()
                .all(|&it| (it as usize) < n_instances);
        fits.then_some(InstanceOrder {
            header,
            column,
            n_queries,
        })
    }

    /// Returns everything but the column.
    pub fn header(&self) -> &InstanceOrderHeader {
        &self.header
    }

    /// Returns the numbers of the instances, group after group, followed by the counts of each
    /// query.
    pub fn column(&self) -> &[u32] {
        &self.column
    }

    /// Returns the counts of a query: see [`class_of`].
    pub(super) fn counts_of_query(&self, query: usize) -> &[u32] {
        let start = self.column.len() - (self.n_queries - query) * COUNTS_PER_QUERY;
        &self.column[start..start + COUNTS_PER_QUERY]
    }

    /// Counts the margins of each subset and split in bins.
    fn build_histograms(&self, lister: &InstanceLister<'_>) -> Vec<HistogramOfSubset> {
        let splits = self.header.groups.iter().filter_map(|it| it.split.clone());
        let splits: std::collections::BTreeSet<String> = splits.collect();
        let splits = splits.into_iter().map(Some);
        let splits: Vec<Option<String>> = std::iter::once(None).chain(splits).collect();
        let subsets = [
            InstanceSubset::All,
            InstanceSubset::Untruncated,
            InstanceSubset::WithRelevant,
        ];
        let of = |subset, split: &Option<String>| {
            let groups = self.header.groups_with_ranges();
            let groups = groups.filter(|it| it.0.is_in(subset, split.as_deref()));
            let (mut sorted, mut n_tied) = (Vec::new(), 0);
            for (group, ranges) in groups {
                n_tied += u64::from(group.n_tied);
                sorted.extend([ranges.violated, ranges.satisfied].map(|it| &self.column[it]));
            }
            HistogramOfSubset {
                subset,
                split: split.clone(),
                histogram: lister.histogram_of_sorted_instances(&sorted, n_tied),
            }
        };
        let each = subsets
            .iter()
            .flat_map(|&subset| splits.iter().map(move |it| of(subset, it)));
        each.collect()
    }
}

/// The number of instances that are sorted at once, since their margins are in memory meanwhile.
const SORTED_AT_ONCE: usize = 1 << 20;

/// Sorts instances by margin, about `at_once` at a time; equal margins keep the order of queries.
fn sort_by_margin(numbers: &mut Vec<u32>, at_once: usize, margin: impl Fn(u32) -> SortedMargin) {
    // The margins of evenly spread instances divide the others into parts of similar size.
    let n_parts = numbers.len().div_ceil(at_once);
    let spread = (1..n_parts * 16).map(|it| numbers[it * (numbers.len() / (n_parts * 16))]);
    let mut bounds: Vec<SortedMargin> = spread.map(&margin).collect();
    bounds.sort_unstable();
    let bounds: Vec<SortedMargin> = bounds.into_iter().skip(15).step_by(16).collect();
    let mut parts = vec![Vec::new(); bounds.len() + 1];
    for number in numbers.drain(..) {
        let margin = margin(number);
        parts[bounds.partition_point(|it| *it <= margin)].push(number);
    }
    for mut part in parts {
        part.sort_by_cached_key(|it| margin(*it));
        numbers.append(&mut part);
    }
}

/// Groups all instances; the counts of all queries follow one after the other.
fn group_instances<'a>(
    lister: &InstanceLister<'a>,
) -> (BTreeMap<GroupKey<'a>, GroupedNumbers>, Vec<u32>) {
    let (study, instances) = (lister.study, lister.instances);
    let mut judge = InstanceJudge::new(lister);
    let mut groups: BTreeMap<GroupKey<'a>, GroupedNumbers> = BTreeMap::new();
    let mut counts = vec![0; instances.n_queries() * COUNTS_PER_QUERY];
    for query in 0..instances.n_queries() {
        let counts = &mut counts[query * COUNTS_PER_QUERY..][..COUNTS_PER_QUERY];
        let split = study.queries[query].split.as_deref();
        for judged in judge.judge_query(query) {
            let InstanceWithRankerVerdict {
                number,
                claim,
                verdict,
                has_relevant,
                content_value,
                ..
            } = *judged;
            let is_truncated = study.claim_has_truncated_document(lister.scores, query, claim);
            let outcome = verdict.map(|it| it.outcome);
            counts[class_of(outcome, has_relevant, is_truncated)] += 1;
            let key = GroupKey {
                content_value_bits: content_value.to_bits(),
                has_relevant,
                is_truncated,
                split,
            };
            let group = groups.entry(key).or_default();
            let list = match outcome {
                Some(VerdictOutcome::Satisfied) => &mut group.satisfied,
                Some(VerdictOutcome::Tied) => &mut group.tied,
                Some(VerdictOutcome::Violated) => &mut group.violated,
                None => &mut group.unscored,
            };
            list.push(number as u32);
        }
    }
    (groups, counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_sorted_in_parts_are_sorted_and_equal_margins_keep_their_order() {
        for n in [0, 1, 9, 10, 11, 300] {
            let margin = |it: u32| SortedMargin(f64::from(it * it % 23) - 11.0);
            let mut numbers: Vec<u32> = (0..n).collect();
            let mut expected = numbers.clone();
            expected.sort_by_key(|it| margin(*it));
            sort_by_margin(&mut numbers, 10, margin);
            assert_eq!(numbers, expected);
        }
    }
}
