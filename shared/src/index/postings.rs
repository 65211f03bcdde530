//! The inverted index: the documents that contain each term, with the numbers of occurrences.
//!
//! The documents of a term are ascending, and each is stored as its gap g to the one before, or to
//! 0. One occurrence is written as the integer 2g + 1; several are written as 2g, followed by their
//! number.

use std::ops::Range;

use super::DocNo;
use super::column_storage::{ColumnStorage, UnitColumn};
use super::forward_index::ForwardIndex;
use super::integer_sequences::{IntegerSequence, IntegerSequences, for_each_unit};
use super::term_statistics::TermStatistics;
use crate::error::Error;
use crate::text::vocabulary::TermNo;

/// The postings and the frequencies of each term.
pub(super) struct InvertedIndex {
    postings: IntegerSequences,
    frequencies: Vec<TermStatistics>,
}

/// The documents that contain a term, ascending, each with its number of occurrences.
#[derive(Debug, Clone)]
pub struct Postings<'a> {
    integers: IntegerSequence<'a>,
    /// The document of the last posting, or 0.
    doc: DocNo,
}

/// A document that contains a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// The number of the document.
    pub doc: DocNo,
    /// The number of occurrences of the term, above 0.
    pub count: u32,
}

impl Iterator for Postings<'_> {
    type Item = Posting;

    fn next(&mut self) -> Option<Posting> {
        let gap_and_once = self.integers.next()?;
        self.doc += gap_and_once >> 1;
        let count = match gap_and_once & 1 {
            1 => 1,
            _ => self.integers.next()?,
        };
        let doc = self.doc;
        Some(Posting { doc, count })
    }
}

impl InvertedIndex {
    /// Creates the postings of the first `n_terms` terms from the terms of each document. With
    /// storage, ranges of terms are inverted one after the other: the postings of a range have at
    /// most `units_at_once` units, or are those of one term.
    pub(super) fn invert(
        documents: &ForwardIndex,
        n_terms: usize,
        storage: Option<&dyn ColumnStorage>,
        units_at_once: usize,
    ) -> Result<InvertedIndex, Error> {
        let mut frequencies = vec![TermStatistics::default(); n_terms];
        // The postings of a term follow those of the term before it. First their units are counted.
        let mut n_units = vec![0; n_terms];
        for_each_posting_of_terms(documents, 0..n_terms, |term, posting| {
            frequencies[term].df += 1;
            frequencies[term].cf += u64::from(posting.count);
            posting.for_each_unit_of_posting(|_| n_units[term] += 1);
        });
        let mut n_total = 0;
        let starts = n_units.into_iter().map(|it| {
            n_total += it;
            n_total - it
        });
        let mut ends: Vec<usize> = starts.collect();
        let mut column = UnitColumn::default();
        let mut first = 0;
        while first < n_terms {
            let offset = ends[first];
            let start_or_total = |term: usize| ends.get(term).copied().unwrap_or(n_total);
            let is_beyond = |&term: &usize| start_or_total(term + 1) - offset > units_at_once;
            let last = match storage {
                Some(_) => (first + 1..n_terms).find(is_beyond).unwrap_or(n_terms),
                None => n_terms,
            };
            let mut units = vec![0; start_or_total(last) - offset];
            for_each_posting_of_terms(documents, first..last, |term, posting| {
                let end = &mut ends[term];
                posting.for_each_unit_of_posting(|unit| {
                    units[*end - offset] = unit;
                    *end += 1;
                });
            });
            column.append_vec(units);
            if let Some(storage) = storage {
                column.move_to_storage(storage)?;
            }
            first = last;
        }
        column.finish_in_storage()?;
        Ok(InvertedIndex {
            postings: IntegerSequences::from_units_and_ends(column, ends),
            frequencies,
        })
    }

    /// Adds terms without postings, until there are `n_terms`.
    pub(super) fn add_terms_without_postings(&mut self, n_terms: usize) {
        while self.postings.len() < n_terms {
            self.postings.end_sequence();
        }
        self.frequencies.resize(n_terms, TermStatistics::default());
    }

    /// Returns the postings of a term.
    pub(super) fn postings(&self, term: TermNo) -> Postings<'_> {
        let integers = self.postings.sequence(term);
        Postings { integers, doc: 0 }
    }

    /// Returns the document frequency and the collection frequency of a term.
    pub(super) fn frequencies(&self, term: TermNo) -> TermStatistics {
        self.frequencies[term as usize]
    }

    /// Returns the memory use in bytes, without what is in storage.
    pub(super) fn memory_bytes(&self) -> usize {
        self.postings.memory_bytes() + size_of_val(&*self.frequencies)
    }
}

/// The last posting of a term, which is complete when the term occurs in a later document.
#[derive(Clone, Copy, Default)]
struct UnfinishedPosting {
    doc: DocNo,
    /// The difference to the document of the posting before.
    gap: DocNo,
    /// The number of occurrences so far; 0 before the first occurrence of the term.
    count: u32,
}

impl UnfinishedPosting {
    /// Calls `take` with each unit of the posting, in order.
    fn for_each_unit_of_posting(self, mut take: impl FnMut(u16)) {
        if self.count == 1 {
            return for_each_unit(2 * self.gap + 1, take);
        }
        for_each_unit(2 * self.gap, &mut take);
        for_each_unit(self.count, take);
    }
}

/// Calls `take` with each posting of some terms and with its term, for each term in the order of
/// its documents.
fn for_each_posting_of_terms(
    documents: &ForwardIndex,
    terms: Range<usize>,
    mut take: impl FnMut(usize, UnfinishedPosting),
) {
    let mut last = vec![UnfinishedPosting::default(); terms.len()];
    for doc in 0..documents.len() as DocNo {
        for term in documents.terms(doc) {
            let Some(posting) = last.get_mut((term as usize).wrapping_sub(terms.start)) else {
                continue;
            };
            if posting.count > 0 && posting.doc == doc {
                posting.count += 1;
                continue;
            }
            if posting.count > 0 {
                take(term as usize, *posting);
            }
            *posting = UnfinishedPosting {
                doc,
                gap: doc - posting.doc,
                count: 1,
            };
        }
    }
    for (term, posting) in terms.zip(last) {
        if posting.count > 0 {
            take(term, posting);
        }
    }
}
