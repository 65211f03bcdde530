//! The index: terms of each document in order, postings of each term, and statistics.
//!
//! The forward index is the sequence of term numbers of each document, so a position is an index
//! into it; postings are made from it by counting. All data are flat columns: 4 bytes for each
//! occurrence of a term and 5 for each posting.

pub mod term_statistics;

use std::collections::BTreeMap;

use crate::error::Error;
use crate::text::vocabulary::{TermNo, TokenNo};
use crate::text::{Analyzer, Vocabulary};

pub use term_statistics::DocumentAndTermTotals;

/// Number of a document: its index in the collection.
pub type DocNo = u32;

/// Builds an index from documents, one by one.
pub struct IndexBuilder {
    vocabulary: Vocabulary,
    starts: Vec<u32>,
    forward: Vec<TermNo>,
    /// The token of each element of `forward`, if tokens are kept.
    tokens: Option<Vec<TokenNo>>,
}

impl IndexBuilder {
    /// Creates an index builder without documents, which uses the given analyzer.
    pub fn with_analyzer(analyzer: Analyzer) -> IndexBuilder {
        IndexBuilder {
            vocabulary: Vocabulary::new(analyzer),
            starts: vec![0],
            forward: Vec::new(),
            tokens: None,
        }
    }

    /// Keeps the token of each term too, which word vectors need.
    pub fn with_stored_tokens(mut self) -> IndexBuilder {
        self.tokens = Some(Vec::new());
        self
    }

    /// Adds the next document to the index; its number is the count of documents added before.
    pub fn add_document(&mut self, body: &str) {
        let forward = &mut self.forward;
        match &mut self.tokens {
            None => self.vocabulary.append_terms_of_text(body, forward),
            Some(tokens) => self.vocabulary.for_each_term_of_text(body, |term, token| {
                forward.push(term);
                tokens.push(token);
            }),
        }
        self.starts.push(self.forward.len() as u32);
    }

    /// Returns the number of documents added so far.
    pub fn n_docs(&self) -> usize {
        self.starts.len() - 1
    }

    /// Creates postings and statistics. It is an error if there are more than 2³² − 1 term
    /// occurrences, since offsets have 32 bits.
    pub fn finish(mut self) -> Result<Index, Error> {
        if u32::try_from(self.forward.len()).is_err() {
            return Err(Error::out_of_range(
                "collection",
                "it has more than 4,294,967,295 term occurrences; split it and index the parts \
                 separately",
            ));
        }
        self.forward.shrink_to_fit();
        let IndexBuilder {
            vocabulary,
            starts,
            forward,
            tokens,
        } = self;
        let n_terms = vocabulary.len();

        // Postings are grouped by term: first count those of each term, then compute where each
        // group begins.
        const NONE: u32 = u32::MAX;
        let mut last_doc = vec![NONE; n_terms];
        let mut begins = vec![0; n_terms + 1];
        let mut cf = vec![0_u64; n_terms];
        for (doc, range) in starts.windows(2).enumerate() {
            for &term in &forward[range[0] as usize..range[1] as usize] {
                let term = term as usize;
                cf[term] += 1;
                if last_doc[term] != doc as u32 {
                    last_doc[term] = doc as u32;
                    begins[term + 1] += 1;
                }
            }
        }
        for term in 0..n_terms {
            begins[term + 1] += begins[term];
        }
        let n_postings = begins[n_terms] as usize;
        let mut docs = vec![0; n_postings];
        let mut counts = vec![0_u8; n_postings];
        let mut large_counts = BTreeMap::new();
        let mut next: Vec<u32> = begins[..n_terms].to_vec();
        last_doc.fill(NONE);
        for (doc, range) in starts.windows(2).enumerate() {
            for &term in &forward[range[0] as usize..range[1] as usize] {
                let term = term as usize;
                if last_doc[term] != doc as u32 {
                    last_doc[term] = doc as u32;
                    docs[next[term] as usize] = doc as u32;
                    next[term] += 1;
                }
                let posting = next[term] - 1;
                match &mut counts[posting as usize] {
                    &mut LARGE_COUNT => {
                        *large_counts.entry(posting).or_insert(LARGE_COUNT.into()) += 1
                    }
                    count => *count += 1,
                }
            }
        }
        Ok(Index {
            totals: DocumentAndTermTotals {
                n_docs: starts.len() as u64 - 1,
                n_terms: forward.len() as u64,
            },
            keeps_tokens: tokens.is_some(),
            vocabulary,
            starts,
            forward,
            tokens: tokens.unwrap_or_default(),
            posting_starts: begins,
            docs,
            counts,
            large_counts,
            collection_frequencies: cf,
        })
    }
}

/// An inverted and forward index of a collection, with terms and documents as integers.
pub struct Index {
    /// The totals, without the texts of [`Index::add_text_without_statistics`].
    totals: DocumentAndTermTotals,
    keeps_tokens: bool,
    vocabulary: Vocabulary,
    /// The offset of each document in `forward`.
    starts: Vec<u32>,
    forward: Vec<TermNo>,
    /// The token of each element of `forward`, or empty.
    tokens: Vec<TokenNo>,
    /// The offset of the postings of each term.
    posting_starts: Vec<u32>,
    docs: Vec<DocNo>,
    /// The number of occurrences of each posting, up to [`LARGE_COUNT`].
    counts: Vec<u8>,
    /// The counts above [`LARGE_COUNT`], by the offset of the posting.
    large_counts: BTreeMap<u32, u32>,
    collection_frequencies: Vec<u64>,
}

/// The largest count in the column of counts; larger ones are beside it.
const LARGE_COUNT: u8 = u8::MAX;

/// The documents that contain a term, with the number of occurrences in each.
#[derive(Debug, Clone, Copy)]
pub struct Postings<'a> {
    /// The documents, ascending.
    pub docs: &'a [DocNo],
    /// The number of occurrences in each document, above 0 and up to [`LARGE_COUNT`].
    counts: &'a [u8],
    large_counts: &'a BTreeMap<u32, u32>,
    /// The offset of the first posting.
    start: u32,
}

impl<'a> Postings<'a> {
    /// Returns the number of occurrences in the document at an index of `docs`.
    pub fn count_at(self, at: usize) -> u32 {
        let count = self.counts[at];
        match count {
            LARGE_COUNT => {
                let known = self.large_counts.get(&(self.start + at as u32));
                known.copied().unwrap_or(count.into())
            }
            _ => count.into(),
        }
    }

    /// Iterates over the number of occurrences in each document, above 0.
    pub fn counts(self) -> impl Iterator<Item = u32> + 'a {
        (0..self.docs.len()).map(move |at| self.count_at(at))
    }
}

impl Index {
    /// Builds an index of texts.
    pub fn build<'a>(
        analyzer: &Analyzer,
        bodies: impl IntoIterator<Item = &'a str>,
    ) -> Result<Index, Error> {
        let mut builder = IndexBuilder::with_analyzer(analyzer.clone());
        bodies.into_iter().for_each(|it| builder.add_document(it));
        builder.finish()
    }

    /// Adds a text after the documents that can be accessed like a document. It does not enter the
    /// statistics: a term that no document contains has df 0.
    pub fn add_text_without_statistics(&mut self, body: &str) {
        let Index {
            vocabulary,
            forward,
            tokens,
            keeps_tokens,
            ..
        } = self;
        match keeps_tokens {
            false => vocabulary.append_terms_of_text(body, forward),
            true => vocabulary.for_each_term_of_text(body, |term, token| {
                forward.push(term);
                tokens.push(token);
            }),
        }
        self.starts.push(self.forward.len() as u32);
        let n_postings = self.posting_starts.last().copied().unwrap_or(0);
        self.posting_starts
            .resize(self.vocabulary.len() + 1, n_postings);
        self.collection_frequencies.resize(self.vocabulary.len(), 0);
    }

    /// Returns the vocabulary of the index, which assigns a number to each term.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Returns the number of documents.
    pub fn n_docs(&self) -> usize {
        self.totals.n_docs as usize
    }

    /// Returns the terms of a document, in order.
    pub fn term_sequence_of_doc(&self, doc: DocNo) -> &[TermNo] {
        let doc = doc as usize;
        &self.forward[self.starts[doc] as usize..self.starts[doc + 1] as usize]
    }

    /// Returns the tokens of a document's terms, in order; `None` if the index keeps none.
    pub fn tokens_of_doc(&self, doc: DocNo) -> Option<&[TokenNo]> {
        let doc = doc as usize;
        self.tokens
            .get(self.starts[doc] as usize..self.starts[doc + 1] as usize)
    }

    /// Returns the length of a document, in terms.
    pub fn document_length(&self, doc: DocNo) -> u32 {
        self.starts[doc as usize + 1] - self.starts[doc as usize]
    }

    /// Returns the postings of a term.
    pub fn postings(&self, term: TermNo) -> Postings<'_> {
        let range = self.posting_starts[term as usize] as usize
            ..self.posting_starts[term as usize + 1] as usize;
        Postings {
            docs: &self.docs[range.clone()],
            counts: &self.counts[range],
            large_counts: &self.large_counts,
            start: self.posting_starts[term as usize],
        }
    }

    /// Returns the document frequency of a term.
    pub fn df(&self, term: TermNo) -> u32 {
        self.posting_starts[term as usize + 1] - self.posting_starts[term as usize]
    }

    /// Returns the collection frequency of a term.
    pub fn cf(&self, term: TermNo) -> u64 {
        self.collection_frequencies[term as usize]
    }

    /// Returns the numbers of documents and term occurrences of the collection.
    pub fn collection_totals(&self) -> DocumentAndTermTotals {
        self.totals
    }

    /// Returns the memory use in bytes: forward index, postings, statistics and vocabulary.
    pub fn memory_bytes(&self) -> usize {
        let words = self.starts.len()
            + self.forward.len()
            + self.tokens.len()
            + self.posting_starts.len()
            + self.docs.len()
            + 2 * self.large_counts.len();
        words * 4
            + self.counts.len()
            + self.collection_frequencies.len() * 8
            + self.vocabulary.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postings_say_what_the_documents_hold() {
        let docs = ["river bank river", "", "bank money"];
        let index = Index::build(&Analyzer::default(), docs).unwrap();
        let term = |word: &str| index.vocabulary().term_no(word).unwrap();
        let river = index.postings(term("river"));
        assert_eq!(river.docs, [0]);
        assert_eq!(river.counts().collect::<Vec<_>>(), [2]);
        let bank = index.postings(term("bank"));
        assert_eq!(bank.docs, [0, 2]);
        assert_eq!(bank.counts().collect::<Vec<_>>(), [1, 1]);
        assert_eq!((index.df(term("bank")), index.cf(term("river"))), (2, 2));
        assert_eq!(index.document_length(1), 0);
        assert_eq!(
            index.collection_totals(),
            DocumentAndTermTotals {
                n_docs: 3,
                n_terms: 5
            }
        );
        assert_eq!(
            index.term_sequence_of_doc(0),
            [term("river"), term("bank"), term("river")]
        );
    }

    #[test]
    fn large_counts_are_exact() {
        let docs = [254, 255, 256, 70_000, 1].map(|n| "river ".repeat(n) + "bank");
        let index = Index::build(&Analyzer::default(), docs.iter().map(String::as_str)).unwrap();
        let counts = |word: &str| -> Vec<u32> {
            let term = index.vocabulary().term_no(word).unwrap();
            index.postings(term).counts().collect()
        };
        assert_eq!(counts("river"), [254, 255, 256, 70_000, 1]);
        assert_eq!(counts("bank"), [1; 5]);
    }
}
