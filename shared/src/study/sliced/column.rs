//! The column of an order of which only parts are read.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::files::{OrderRow, SlicedOrder, known_positions};
use crate::error::Error;
use crate::study::instance_list::sorted_lists::SortedColumn;

/// The rows of an order that have been read so far. Whoever asks for others gets a value that keeps
/// the order, and the rows are noted as missing, so that the question can be asked again once they
/// are read.
pub(super) struct SlicedColumn<'o> {
    order: &'o SlicedOrder,
    /// The positions of `order.known`.
    positions: Vec<usize>,
    n_rows: usize,
    rows: BTreeMap<usize, OrderRow>,
    /// The indexes in `positions` after which rows are missing, up to the next known position.
    missing: RefCell<BTreeSet<usize>>,
}

impl SlicedColumn<'_> {
    /// Returns `None` if the parts of the order do not fit each other.
    pub(super) fn new(order: &SlicedOrder) -> Option<SlicedColumn<'_>> {
        let positions = known_positions(&order.header, order.known_every);
        let last = order.header.groups_with_ranges().last();
        (positions.len() == order.known.len()).then(|| SlicedColumn {
            order,
            positions,
            n_rows: last.map_or(0, |(_, ranges)| ranges.tied_by_margin.end),
            rows: BTreeMap::new(),
            missing: RefCell::default(),
        })
    }

    /// Returns a row that has been read.
    pub(super) fn row(&self, position: usize) -> Option<&OrderRow> {
        let row = self.rows.get(&position);
        if row.is_none() {
            self.expect(position..position + 1);
        }
        row
    }

    /// Returns the ranges of rows that are missing, and forgets that they are.
    pub(super) fn take_missing(&mut self) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for at in std::mem::take(self.missing.get_mut()) {
            let start = self.positions[at];
            let end = self.positions.get(at + 1).copied().unwrap_or(self.n_rows);
            match ranges.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => ranges.push(start..end),
            }
        }
        ranges
    }

    /// Adds the rows of a range, given their bytes.
    pub(super) fn add_rows(
        &mut self,
        range: Range<usize>,
        bytes: &[u8],
        arity: usize,
    ) -> Result<(), Error> {
        let rows = bytes.chunks_exact(OrderRow::n_bytes(arity));
        if rows.len() != range.len() || !rows.remainder().is_empty() {
            let (n_read, n_wanted) = (rows.len(), range.len());
            let reason = format!("{n_read} rows were read, and {n_wanted} are expected");
            return Err(super::files::damaged("the rows of the list", reason));
        }
        let rows = rows.map(|it| OrderRow::from_bytes(it, arity));
        self.rows.extend(range.zip(rows));
        Ok(())
    }

    /// Returns number and margin of the instance at a position, or of the last known one before it
    /// if its row is missing.
    fn number_and_margin(&self, position: usize) -> (u32, f64) {
        if let Some(row) = self.rows.get(&position) {
            return (row.number, row.margin);
        }
        let at = self.known_up_to(position);
        if self.positions[at] != position {
            self.missing.borrow_mut().insert(at);
        }
        let (number, margin) = self.order.known[at];
        (number, margin.unwrap_or(f64::NAN))
    }

    /// Returns the index in `positions` of the last known position up to another.
    fn known_up_to(&self, position: usize) -> usize {
        self.positions.partition_point(|&it| it <= position) - 1
    }
}

impl SortedColumn for SlicedColumn<'_> {
    fn number(&self, position: usize) -> u32 {
        self.number_and_margin(position).0
    }

    fn margin(&self, position: usize) -> f64 {
        self.number_and_margin(position).1
    }

    fn known_positions(&self, range: Range<usize>) -> Vec<usize> {
        let start = self.positions.partition_point(|&it| it < range.start);
        let end = self.positions.partition_point(|&it| it < range.end);
        self.positions[start..end.max(start)].to_vec()
    }

    fn expect(&self, range: Range<usize>) {
        let is_read = |position: usize| self.rows.contains_key(&position);
        let mut missing = self.missing.borrow_mut();
        let mut position = range.start;
        while position < range.end {
            let at = self.known_up_to(position);
            if !is_read(position) {
                missing.insert(at);
            }
            position = self.positions.get(at + 1).copied().unwrap_or(self.n_rows);
        }
    }
}
