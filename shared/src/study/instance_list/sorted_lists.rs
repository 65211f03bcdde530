//! Selects a page from instances that are sorted already. The column with the instances may be
//! anywhere, also in a file of which only parts are read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::order::{GroupRanges, InstanceGroup, InstanceOrderHeader};
use super::selection::{find_rank, first_index, gallop, narrow_to_rank};
use super::sort_key::{SortKey, SortKeyRule};
use super::{InstanceListOptions, InstanceSort};
use crate::verdict::VerdictOutcome;

/// The instances of an order, group after group, as [`InstanceOrderHeader`] describes them.
pub(in crate::study) trait SortedColumn {
    /// Returns the number of the instance at a position.
    fn number(&self, position: usize) -> u32;

    /// Returns the margin of the instance at a position; NaN without a verdict.
    fn margin(&self, position: usize) -> f64;

    /// Returns the positions in a range whose instances are known before anything is read,
    /// ascending; none if every instance is at hand.
    fn known_positions(&self, _range: Range<usize>) -> Vec<usize> {
        Vec::new()
    }

    /// Says that the instances of a range will be needed.
    fn expect(&self, _range: Range<usize>) {}
}

/// Instances of one group that are sorted by the key of a list, forward or backward.
#[derive(Clone)]
pub(in crate::study) struct SortedInstances {
    /// The positions in the column. Equal keys are in the order of queries, whether the instances
    /// are read forward or backward.
    pub(super) positions: Range<usize>,
    is_backward: bool,
    /// The index of the group.
    group: usize,
}

/// An instance of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::study) struct SelectedInstance {
    /// The position in the column.
    pub(in crate::study) position: usize,
    /// The index of the group.
    pub(in crate::study) group: usize,
}

impl SortedInstances {
    /// Returns the position of the instance at an index in the order of the list.
    fn position_at(&self, index: usize) -> usize {
        match self.is_backward {
            true => self.positions.end - 1 - index,
            false => self.positions.start + index,
        }
    }

    /// Returns the positions of the instances at some indexes.
    fn positions_of(&self, indexes: Range<usize>) -> Range<usize> {
        let Range { start, end } = self.positions;
        match self.is_backward {
            true => end - indexes.end..end - indexes.start,
            false => start + indexes.start..start + indexes.end,
        }
    }
}

/// The lists that make up a list of instances, and how their instances are selected.
pub(in crate::study) struct SortedLists<'a, C> {
    column: &'a C,
    header: &'a InstanceOrderHeader,
    rule: SortKeyRule,
    /// The lists, none of them empty.
    pub(super) lists: Vec<SortedInstances>,
}

/// Whether a list has a limit of the margin.
pub(in crate::study) fn limits_margin(listing: &InstanceListOptions) -> bool {
    listing.min_margin.is_some() || listing.max_margin.is_some()
}

impl<'a, C: SortedColumn> SortedLists<'a, C> {
    /// Selects the lists. Returns `None` if a limit of the margin lies between instances that are
    /// tied, which have no order by margin in this list.
    pub(in crate::study) fn select(
        header: &'a InstanceOrderHeader,
        column: &'a C,
        listing: &InstanceListOptions,
        rule: SortKeyRule,
    ) -> Option<SortedLists<'a, C>> {
        let mut selected = SortedLists {
            column,
            header,
            rule,
            lists: Vec::new(),
        };
        let controls = &listing.controls;
        for (at, (group, ranges)) in header.groups_with_ranges().enumerate() {
            if group.is_in(controls.subset, controls.split.as_deref()) {
                selected.add_group(at, group, ranges, listing)?;
            }
        }
        selected.lists.retain(|it| !it.positions.is_empty());
        Some(selected)
    }

    /// Returns the number of instances of all lists.
    pub(in crate::study) fn n_instances(&self) -> usize {
        self.lists.iter().map(|it| it.positions.len()).sum()
    }

    fn add_group(
        &mut self,
        group_index: usize,
        group: &InstanceGroup,
        ranges: GroupRanges,
        listing: &InstanceListOptions,
    ) -> Option<()> {
        let column = self.column;
        let is_listed = |outcome| listing.outcome.is_none_or(|it| it == outcome);
        let mut add = |positions: Range<usize>, is_backward: bool| {
            self.lists.push(SortedInstances {
                positions,
                is_backward,
                group: group_index,
            });
        };
        let within = |positions: Range<usize>| positions_within_margins(column, positions, listing);
        use InstanceSort::{AbsoluteMargin, MarginDescending, MostInstructive};
        if is_listed(VerdictOutcome::Violated) {
            let is_backward = matches!(listing.sort, MarginDescending | AbsoluteMargin);
            add(within(ranges.violated), is_backward);
        }
        if is_listed(VerdictOutcome::Tied) {
            // Where the margins of ties are equal, any order of them is one by margin.
            let by_margin = match group.n_tied_by_margin {
                0 => ranges.tied.clone(),
                _ => ranges.tied_by_margin,
            };
            let within = within(by_margin.clone());
            match listing.sort {
                MostInstructive | InstanceSort::Query => match within.len() {
                    0 => {}
                    n if n == by_margin.len() => add(ranges.tied, false),
                    _ => return None,
                },
                InstanceSort::MarginAscending => add(within, false),
                MarginDescending => add(within, true),
                AbsoluteMargin => {
                    let is_positive = |at: usize| column.margin(at) >= 0.0;
                    let middle = first_position(column, within.clone(), is_positive);
                    add(within.start..middle, true);
                    add(middle..within.end, false);
                }
            }
        }
        if is_listed(VerdictOutcome::Satisfied) {
            let is_backward = matches!(listing.sort, MostInstructive | MarginDescending);
            add(within(ranges.satisfied), is_backward);
        }
        if listing.outcome.is_none() && !limits_margin(listing) {
            add(ranges.unscored, false);
        }
        Some(())
    }

    fn key(&self, list: usize, at: usize) -> SortKey {
        let list = &self.lists[list];
        let content_value = self.header.groups[list.group].content_value;
        let margin = self.column.margin(list.position_at(at));
        self.rule.key(content_value, margin)
    }

    /// Returns the first index of a list, from an index on, whose key is above another.
    fn end_of_equal_keys(&self, list: usize, from: usize, least: SortKey) -> usize {
        let n = self.lists[list].positions.len();
        let is_above = |at: usize| self.key(list, at) > least;
        match self.known_indexes(list, from..n) {
            known if known.is_empty() => gallop(from, n, is_above),
            known => first_index_between_known(&known, from..n, is_above),
        }
    }

    /// Returns the indexes in a range of a list whose instances are known, ascending.
    fn known_indexes(&self, list: usize, range: Range<usize>) -> Vec<usize> {
        let list = &self.lists[list];
        let known = self.column.known_positions(list.positions_of(range));
        let known = known.into_iter();
        match list.is_backward {
            true => known.rev().map(|it| list.positions.end - 1 - it).collect(),
            false => known.map(|it| it - list.positions.start).collect(),
        }
    }

    /// Returns the known instances of each list, with their indexes and keys.
    fn known_keys(&self) -> Vec<Vec<(usize, SortKey)>> {
        let lists = self.lists.iter().enumerate();
        let known = lists.map(|(at, list)| {
            let indexes = self.known_indexes(at, 0..list.positions.len());
            indexes
                .into_iter()
                .map(|it| (it, self.key(at, it)))
                .collect()
        });
        known.collect()
    }

    /// Returns the instances of a page of the list, sorted by key.
    pub(in crate::study) fn page_in_key_order(&self, page: Range<usize>) -> Vec<SelectedInstance> {
        let lists = &self.lists;
        let lengths: Vec<usize> = lists.iter().map(|it| it.positions.len()).collect();
        let (mut n_taken, mut n_skipped) = (vec![0; lists.len()], 0);
        if page.start > 0 && !page.is_empty() {
            let ranges = narrow_to_rank(&lengths, &self.known_keys(), page.start);
            for (list, range) in lists.iter().zip(&ranges) {
                self.column.expect(list.positions_of(range.clone()));
            }
            let start = find_rank(&ranges, page.start, |list, at| self.key(list, at));
            (n_taken, n_skipped) = (start.n_smaller, start.n_equal_before);
        }
        let mut rows = Vec::new();
        let next = |list: usize, at: usize| {
            let is_left = at < lengths[list];
            is_left.then(|| Reverse((self.key(list, at), list)))
        };
        let heads = (0..lists.len()).filter_map(|it| next(it, n_taken[it]));
        let mut heads: BinaryHeap<Reverse<(SortKey, usize)>> = heads.collect();
        while rows.len() < page.len()
            && let Some(Reverse((least, _))) = heads.peek().copied()
        {
            let mut equal: Vec<(Range<usize>, usize)> = Vec::new();
            while let Some(&Reverse((found, list))) = heads.peek()
                && found == least
            {
                heads.pop();
                let from = n_taken[list];
                let to = self.end_of_equal_keys(list, from, least);
                equal.push((lists[list].positions_of(from..to), lists[list].group));
                n_taken[list] = to;
                heads.extend(next(list, to));
            }
            let n_wanted = page.len() - rows.len();
            rows.extend(merge_by_number(self.column, &equal, n_skipped, n_wanted));
            n_skipped = 0;
        }
        rows
    }
}

/// Returns the positions of the instances within the limits of the margin, given instances that
/// are sorted by margin.
fn positions_within_margins(
    column: &impl SortedColumn,
    positions: Range<usize>,
    listing: &InstanceListOptions,
) -> Range<usize> {
    let Range { start, end } = positions;
    let start = listing.min_margin.map_or(start, |from| {
        first_position(column, start..end, |it| column.margin(it) >= from)
    });
    let end = listing.max_margin.map_or(end, |to| {
        first_position(column, start..end, |it| column.margin(it) > to)
    });
    start..end
}

/// Returns the first position of a range for which a predicate holds, which then holds for all
/// later ones, or the end of the range.
fn first_position(
    column: &impl SortedColumn,
    range: Range<usize>,
    holds: impl Fn(usize) -> bool,
) -> usize {
    first_index_between_known(&column.known_positions(range.clone()), range, holds)
}

/// Returns the same as [`first_index`], asking about known indexes first.
fn first_index_between_known(
    known: &[usize],
    range: Range<usize>,
    holds: impl Fn(usize) -> bool,
) -> usize {
    let at = known.partition_point(|&it| !holds(it));
    let low = at.checked_sub(1).map_or(range.start, |it| known[it] + 1);
    let high = known.get(at).copied().unwrap_or(range.end);
    first_index(low, high, holds)
}

/// Merges lists of instances with ascending numbers, each of a group, and returns the instances
/// that follow the first `n_skipped` of the merged list.
fn merge_by_number(
    column: &impl SortedColumn,
    lists: &[(Range<usize>, usize)],
    n_skipped: usize,
    n: usize,
) -> Vec<SelectedInstance> {
    let number = |list: usize, at: usize| column.number(lists[list].0.start + at);
    let lengths: Vec<usize> = lists.iter().map(|it| it.0.len()).collect();
    let mut n_taken = match n_skipped {
        0 => vec![0; lists.len()],
        // Numbers differ, so that no element is left to skip.
        _ => {
            let known_of = |(list, (positions, _)): (usize, &(Range<usize>, usize))| {
                let known = column.known_positions(positions.clone()).into_iter();
                let indexes = known.map(|it| it - positions.start);
                indexes.map(|it| (it, number(list, it))).collect()
            };
            let known: Vec<_> = lists.iter().enumerate().map(known_of).collect();
            let ranges = narrow_to_rank(&lengths, &known, n_skipped);
            for ((positions, _), range) in lists.iter().zip(&ranges) {
                column.expect(positions.start + range.start..positions.start + range.end);
            }
            find_rank(&ranges, n_skipped, number).n_smaller
        }
    };
    let next = |list: usize, at: usize| {
        let is_left = at < lengths[list];
        is_left.then(|| Reverse((number(list, at), list)))
    };
    let heads = (0..lists.len()).filter_map(|it| next(it, n_taken[it]));
    let mut heads: BinaryHeap<Reverse<(u32, usize)>> = heads.collect();
    let mut merged = Vec::new();
    while merged.len() < n
        && let Some(Reverse((_, list))) = heads.pop()
    {
        merged.push(SelectedInstance {
            position: lists[list].0.start + n_taken[list],
            group: lists[list].1,
        });
        n_taken[list] += 1;
        heads.extend(next(list, n_taken[list]));
    }
    merged
}
