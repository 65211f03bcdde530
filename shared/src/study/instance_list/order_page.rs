//! Selects a page of a list from instances that are sorted already.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::judge::InstanceJudge;
use super::lister::{InstanceLister, InstanceWithRankerVerdict};
use super::order::{GroupRanges, InstanceGroup, InstanceOrder, class_of};
use super::selection::{find_rank, first_index, gallop};
use super::sort_key::SortKey;
use super::{InstanceListOptions, InstancePage, InstanceSort};
use crate::study::controls::InstanceSubset;
use crate::verdict::VerdictOutcome;

/// Instances of one group that are sorted by the key of a list, forward or backward.
#[derive(Clone, Copy)]
struct SortedInstances<'o> {
    /// Equal keys are in the order of queries, whether the numbers are read forward or backward.
    numbers: &'o [u32],
    is_backward: bool,
    content_value: f64,
}

impl<'o> SortedInstances<'o> {
    /// Returns the number at an index in the order of the list.
    fn number_at(&self, index: usize) -> u32 {
        match self.is_backward {
            true => self.numbers[self.numbers.len() - 1 - index],
            false => self.numbers[index],
        }
    }

    /// Returns the instances at some indexes, which have equal keys, in the order of queries.
    fn of_equal_keys(&self, indexes: Range<usize>) -> &'o [u32] {
        let n = self.numbers.len();
        match self.is_backward {
            true => &self.numbers[n - indexes.end..n - indexes.start],
            false => &self.numbers[indexes],
        }
    }
}

impl InstanceLister<'_> {
    /// Returns the page of the list, as the two passes over all instances would. Returns `None` if
    /// the list has a filter or tie threshold that the order does not know.
    pub fn page_from_order(&self, order: &InstanceOrder) -> Option<InstancePage> {
        if self.listing.review_status.is_some()
            || !self.is_default_tie_threshold()
            || !self.wanted.is_empty()
            || self.filter.limits_lengths()
        {
            return None;
        }
        let controls = &self.listing.controls;
        let histograms = order.header.histograms.iter();
        let histogram = histograms
            .filter(|it| it.subset == controls.subset && it.split == controls.split)
            .map(|it| it.histogram.clone())
            .next()?;
        let lists = self.sorted_instances(order)?;
        let n_instances: usize = lists.iter().map(|it| it.numbers.len()).sum();
        let limit = self.listing.limit.min(InstanceListOptions::MAX_PAGE_SIZE) as usize;
        let first =
            usize::try_from(self.listing.offset).map_or(n_instances, |it| it.min(n_instances));
        let page = first..first.saturating_add(limit).min(n_instances);
        let judged = match self.listing.sort {
            InstanceSort::Query => self.page_in_query_order(order, &lists, page),
            _ => self.page_in_key_order(&lists, page),
        };
        Some(InstancePage {
            n_instances: n_instances as u64,
            rows: judged.iter().map(|it| self.line(it)).collect(),
            histogram,
            n_reviewed: self.n_reviewed(),
        })
    }

    /// Returns the lists that make up the whole list; `None` if a limit of the margin lies between
    /// instances that are tied.
    fn sorted_instances<'o>(&self, order: &'o InstanceOrder) -> Option<Vec<SortedInstances<'o>>> {
        let controls = &self.listing.controls;
        let mut lists = Vec::new();
        for (group, ranges) in order.groups_with_ranges() {
            if group.is_in(controls.subset, controls.split.as_deref()) {
                self.add_instances_of_group(order, group, ranges, &mut lists)?;
            }
        }
        lists.retain(|it| !it.numbers.is_empty());
        Some(lists)
    }

    fn add_instances_of_group<'o>(
        &self,
        order: &'o InstanceOrder,
        group: &InstanceGroup,
        ranges: GroupRanges,
        lists: &mut Vec<SortedInstances<'o>>,
    ) -> Option<()> {
        let listing = self.listing;
        let is_listed = |outcome| listing.outcome.is_none_or(|it| it == outcome);
        let mut add = |numbers: &'o [u32], is_backward: bool| {
            lists.push(SortedInstances {
                numbers,
                is_backward,
                content_value: group.content_value,
            });
        };
        let column = order.column();
        let [violated, satisfied] = [ranges.violated, ranges.satisfied].map(|it| {
            let numbers = &column[it];
            &numbers[self.range_within_margins(numbers)]
        });
        use InstanceSort::{AbsoluteMargin, MarginDescending, MostInstructive};
        if is_listed(VerdictOutcome::Violated) {
            let is_backward = matches!(listing.sort, MarginDescending | AbsoluteMargin);
            add(violated, is_backward);
        }
        if is_listed(VerdictOutcome::Tied) {
            // Where the margins of ties are equal, any order of them is one by margin.
            let by_margin = match group.n_tied_by_margin {
                0 => &column[ranges.tied.clone()],
                _ => &column[ranges.tied_by_margin],
            };
            let within = self.range_within_margins(by_margin);
            match listing.sort {
                MostInstructive | InstanceSort::Query => match within.len() {
                    0 => {}
                    n if n == by_margin.len() => add(&column[ranges.tied], false),
                    _ => return None,
                },
                InstanceSort::MarginAscending => add(&by_margin[within], false),
                MarginDescending => add(&by_margin[within], true),
                AbsoluteMargin => {
                    let within = &by_margin[within];
                    let is_positive = |at: usize| self.margin_of_instance(within[at]) >= 0.0;
                    let (below, above) = within.split_at(first_index(0, within.len(), is_positive));
                    add(below, true);
                    add(above, false);
                }
            }
        }
        if is_listed(VerdictOutcome::Satisfied) {
            let is_backward = matches!(listing.sort, MostInstructive | MarginDescending);
            add(satisfied, is_backward);
        }
        if listing.outcome.is_none() && !self.limits_margin() {
            add(&column[ranges.unscored], false);
        }
        Some(())
    }

    fn limits_margin(&self) -> bool {
        self.listing.min_margin.is_some() || self.listing.max_margin.is_some()
    }

    /// Returns the range of the instances within the limits of the margin, by which they are
    /// sorted.
    fn range_within_margins(&self, numbers: &[u32]) -> Range<usize> {
        let margin = |at: usize| self.margin_of_instance(numbers[at]);
        let start = self.listing.min_margin.map_or(0, |from| {
            first_index(0, numbers.len(), |it| margin(it) >= from)
        });
        let end = self.listing.max_margin.map_or(numbers.len(), |to| {
            first_index(start, numbers.len(), |it| margin(it) > to)
        });
        start..end
    }

    /// Returns the instances of a page of a list that is sorted by key.
    fn page_in_key_order(
        &self,
        lists: &[SortedInstances<'_>],
        page: Range<usize>,
    ) -> Vec<InstanceWithRankerVerdict> {
        let key = |list: usize, at: usize| {
            let list = &lists[list];
            self.sort_key(&self.judge_instance(list.number_at(at), list.content_value))
        };
        let lengths: Vec<usize> = lists.iter().map(|it| it.numbers.len()).collect();
        let (mut n_taken, mut n_skipped) = (vec![0; lists.len()], 0);
        if page.start > 0 && !page.is_empty() {
            let start = find_rank(&lengths, page.start, key);
            (n_taken, n_skipped) = (start.n_smaller, start.n_equal_before);
        }
        let mut rows = Vec::new();
        let next = |list: usize, at: usize| {
            let is_left = at < lengths[list];
            is_left.then(|| Reverse((key(list, at), list)))
        };
        let heads = (0..lists.len()).filter_map(|it| next(it, n_taken[it]));
        let mut heads: BinaryHeap<Reverse<(SortKey, usize)>> = heads.collect();
        while rows.len() < page.len()
            && let Some(Reverse((least, _))) = heads.peek().copied()
        {
            let mut equal: Vec<(&[u32], f64)> = Vec::new();
            while let Some(&Reverse((found, list))) = heads.peek()
                && found == least
            {
                heads.pop();
                let from = n_taken[list];
                let to = gallop(from, lengths[list], |at| key(list, at) > least);
                equal.push((
                    lists[list].of_equal_keys(from..to),
                    lists[list].content_value,
                ));
                n_taken[list] = to;
                heads.extend(next(list, to));
            }
            let n_wanted = page.len() - rows.len();
            for (number, content_value) in merge_by_number(&equal, n_skipped, n_wanted) {
                rows.push(self.judge_instance(number, content_value));
            }
            n_skipped = 0;
        }
        rows
    }

    /// Returns the instances of a page of a list in the order of queries.
    fn page_in_query_order(
        &self,
        order: &InstanceOrder,
        lists: &[SortedInstances<'_>],
        page: Range<usize>,
    ) -> Vec<InstanceWithRankerVerdict> {
        let controls = &self.listing.controls;
        let judge_all = |numbers: &mut dyn Iterator<Item = u32>| {
            numbers.map(|it| self.judge_instance(it, 0.0)).collect()
        };
        if self.limits_margin() {
            let mut numbers: Vec<u32> = Vec::new();
            lists.iter().for_each(|it| numbers.extend(it.numbers));
            return judge_all(&mut smallest_in_order(&mut numbers, page).iter().copied());
        }
        if self.listing.outcome.is_none()
            && controls.subset == InstanceSubset::All
            && controls.split.is_none()
        {
            return judge_all(&mut (page.start as u32..page.end as u32));
        }
        let mut rows = Vec::new();
        let mut n_before = 0;
        let mut judge = InstanceJudge::new(self);
        for query in 0..self.instances.n_queries() {
            if rows.len() == page.len() {
                break;
            }
            let n_listed = match self.filter.includes_query(query) {
                true => self.n_listed(order.counts_of_query(query)),
                false => 0,
            };
            if n_listed > 0 && n_before + n_listed > page.start {
                let judged = judge.judge_query(query).iter();
                let listed = judged.filter(|it| self.listing.keeps(it.verdict));
                let n_wanted = page.len() - rows.len();
                let n_skipped = page.start.saturating_sub(n_before);
                rows.extend(listed.skip(n_skipped).take(n_wanted).copied());
            }
            n_before += n_listed;
        }
        rows
    }

    /// Returns how many instances of a query are in the list, given the counts of the query.
    fn n_listed(&self, counts: &[u32]) -> usize {
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
                let subset = self.listing.controls.subset;
                if subset.includes(has_relevant, is_truncated)
                    && self.listing.outcome.is_none_or(|it| outcome == Some(it))
                {
                    n += counts[class_of(outcome, has_relevant, is_truncated)] as usize;
                }
            }
        }
        n
    }
}

/// Merges lists of ascending numbers, each with a value, and returns some of the merged list.
fn merge_by_number(lists: &[(&[u32], f64)], n_skipped: usize, n: usize) -> Vec<(u32, f64)> {
    let lengths: Vec<usize> = lists.iter().map(|it| it.0.len()).collect();
    let mut n_taken = match n_skipped {
        0 => vec![0; lists.len()],
        // Numbers differ, so that no element is left to skip.
        _ => find_rank(&lengths, n_skipped, |list, at| lists[list].0[at]).n_smaller,
    };
    let next = |list: usize, at: usize| lists[list].0.get(at).map(|it| Reverse((*it, list)));
    let heads = (0..lists.len()).filter_map(|it| next(it, n_taken[it]));
    let mut heads: BinaryHeap<Reverse<(u32, usize)>> = heads.collect();
    let mut merged = Vec::new();
    while merged.len() < n
        && let Some(Reverse((number, list))) = heads.pop()
    {
        merged.push((number, lists[list].1));
        n_taken[list] += 1;
        heads.extend(next(list, n_taken[list]));
    }
    merged
}

/// Returns the numbers at some ranks, sorted.
fn smallest_in_order(numbers: &mut [u32], ranks: Range<usize>) -> &[u32] {
    if ranks.is_empty() {
        return &[];
    }
    numbers.select_nth_unstable(ranks.start);
    let rest = &mut numbers[ranks.start..];
    if ranks.len() < rest.len() {
        rest.select_nth_unstable(ranks.len());
    }
    let page = &mut rest[..ranks.len()];
    page.sort_unstable();
    page
}

#[cfg(test)]
mod tests;
