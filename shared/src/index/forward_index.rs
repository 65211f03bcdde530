//! The forward index: the terms of each document, in order.

use super::DocNo;
use super::column_storage::ColumnStorage;
use super::integer_sequences::IntegerSequences;
use crate::error::Error;
use crate::text::Vocabulary;
use crate::text::vocabulary::{TermNo, TokenNo};

/// The terms of each document in order and, if they are stored, the tokens that they come from.
#[derive(Default)]
pub(super) struct ForwardIndex {
    /// The length of each document, in terms.
    lengths: Vec<u32>,
    terms: IntegerSequences,
    /// The token of each term, if tokens are stored.
    tokens: Option<IntegerSequences>,
}

impl ForwardIndex {
    /// Stores the tokens of all texts that are added, too.
    pub(super) fn store_tokens(&mut self) {
        self.tokens = Some(IntegerSequences::default());
    }

    /// Adds a text, whose number is the count of texts added before.
    pub(super) fn push_text(&mut self, vocabulary: &mut Vocabulary, text: &str) {
        let ForwardIndex {
            lengths,
            terms,
            tokens,
        } = self;
        let mut n_terms = 0;
        vocabulary.for_each_term_of_text(text, |term, token| {
            n_terms += 1;
            terms.push_integer(term);
            if let Some(tokens) = tokens {
                tokens.push_integer(token);
            }
        });
        lengths.push(n_terms);
        terms.end_sequence();
        if let Some(tokens) = tokens {
            tokens.end_sequence();
        }
    }

    /// Returns the number of texts.
    pub(super) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Returns the number of term occurrences in all texts.
    pub(super) fn n_terms(&self) -> u64 {
        self.lengths.iter().map(|&it| u64::from(it)).sum()
    }

    /// Returns the length of a text, in terms.
    pub(super) fn length(&self, doc: DocNo) -> u32 {
        self.lengths[doc as usize]
    }

    /// Returns the terms of a text, in order.
    pub(super) fn terms(&self, doc: DocNo) -> impl Iterator<Item = TermNo> {
        self.terms.sequence(doc)
    }

    /// Returns the tokens of the terms of a text, in order; `None` if tokens are not stored.
    pub(super) fn tokens(&self, doc: DocNo) -> Option<impl Iterator<Item = TokenNo>> {
        Some(self.tokens.as_ref()?.sequence(doc))
    }

    /// Moves terms and tokens to storage, where they cannot be read before
    /// [`ForwardIndex::finish_in_storage`].
    pub(super) fn move_to_storage(&mut self, storage: &dyn ColumnStorage) -> Result<(), Error> {
        self.terms.move_to_storage(storage)?;
        let mut tokens = self.tokens.iter_mut();
        tokens.try_for_each(|it| it.move_to_storage(storage))
    }

    /// Makes terms and tokens in storage readable. Those of later texts stay in memory.
    pub(super) fn finish_in_storage(&mut self) -> Result<(), Error> {
        self.terms.finish_in_storage()?;
        let mut tokens = self.tokens.iter_mut();
        tokens.try_for_each(IntegerSequences::finish_in_storage)
    }

    /// Returns unused memory to the system.
    pub(super) fn shrink_to_fit(&mut self) {
        self.lengths.shrink_to_fit();
        self.terms.shrink_to_fit();
        if let Some(tokens) = &mut self.tokens {
            tokens.shrink_to_fit();
        }
    }

    /// Returns the memory use in bytes, without what is in storage.
    pub(super) fn memory_bytes(&self) -> usize {
        let tokens = self.tokens.as_ref();
        size_of_val(&*self.lengths)
            + self.terms.memory_bytes()
            + tokens.map_or(0, IntegerSequences::memory_bytes)
    }
}
