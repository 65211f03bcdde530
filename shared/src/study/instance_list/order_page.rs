//! Selects a page of a list from instances that are sorted already.

use std::ops::Range;

use super::judge::InstanceJudge;
use super::lister::{InstanceLister, InstanceWithRankerVerdict};
use super::order::{InstanceOrder, n_listed_of_query};
use super::sorted_lists::{SortedColumn, SortedLists, limits_margin};
use super::{InstancePage, InstanceSort};
use crate::study::controls::InstanceSubset;

/// The column of an order whose instances are all at hand.
struct LocalColumn<'a> {
    order: &'a InstanceOrder,
    lister: &'a InstanceLister<'a>,
}

impl SortedColumn for LocalColumn<'_> {
    fn number(&self, position: usize) -> u32 {
        self.order.column()[position]
    }

    fn margin(&self, position: usize) -> f64 {
        self.lister.margin_of_instance(self.number(position))
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
        let column = LocalColumn {
            order,
            lister: self,
        };
        let lists = SortedLists::select(&order.header, &column, self.listing, self.key_rule())?;
        let n_instances = lists.n_instances();
        let page = self.listing.page_range(n_instances);
        let judged = match self.listing.sort {
            InstanceSort::Query => self.page_in_query_order(order, &lists, page),
            _ => {
                let page = lists.page_in_key_order(page).into_iter();
                page.map(|it| self.judge_instance(column.number(it.position)))
                    .collect()
            }
        };
        Some(InstancePage {
            n_instances: n_instances as u64,
            rows: judged.iter().map(|it| self.line(it)).collect(),
            histogram,
            n_reviewed: self.n_reviewed(),
            n_simulated_reviews: self.n_simulated_reviews(),
        })
    }

    /// Returns the instances of a page of a list in the order of queries.
    fn page_in_query_order(
        &self,
        order: &InstanceOrder,
        lists: &SortedLists<'_, LocalColumn<'_>>,
        page: Range<usize>,
    ) -> Vec<InstanceWithRankerVerdict> {
        let controls = &self.listing.controls;
        let judge_all = |numbers: &mut dyn Iterator<Item = u32>| {
            numbers.map(|it| self.judge_instance(it)).collect()
        };
        if limits_margin(self.listing) {
            let mut numbers: Vec<u32> = Vec::new();
            let positions = lists.lists.iter().map(|it| it.positions.clone());
            positions.for_each(|it| numbers.extend(&order.column()[it]));
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
                true => n_listed_of_query(self.listing, order.counts_of_query(query)),
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
