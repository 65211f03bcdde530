//! The index: terms of each document in order, postings of each term, and statistics.
//!
//! The forward index is the sequence of term numbers of each document; postings are made from it by
//! counting. An occurrence of a term takes two bytes, since frequent terms occur early and so have
//! small numbers; most postings take two bytes as well, since they store differences of numbers of
//! documents.

pub mod column_storage;
mod integer_sequences;
mod forward_index;
mod postings;
pub mod term_statistics;

use std::sync::Arc;

use crate::error::Error;
use crate::text::vocabulary::{TermNo, TokenNo};
use crate::text::{Analyzer, Vocabulary};
use column_storage::ColumnStorage;
use forward_index::ForwardIndex;
use postings::InvertedIndex;

pub use postings::{Posting, Postings};
pub use term_statistics::DocumentAndTermTotals;

/// Number of a document: its index in the collection.
pub type DocNo = u32;

/// The units of the postings that are inverted at once if they are put into storage: 256 MiB.
const POSTING_UNITS_AT_ONCE: usize = 128 << 20;

/// Builds an index from documents, one by one.
pub struct IndexBuilder {
    vocabulary: Vocabulary,
    documents: ForwardIndex,
    storage: Option<Arc<dyn ColumnStorage>>,
}

impl IndexBuilder {
    /// Creates an index builder without documents, which uses the given analyzer.
    pub fn with_analyzer(analyzer: Analyzer) -> IndexBuilder {
        IndexBuilder {
            vocabulary: Vocabulary::new(analyzer),
            documents: ForwardIndex::default(),
            storage: None,
        }
    }

    /// Keeps the token of each term too, which word vectors need.
    pub fn with_stored_tokens(mut self) -> IndexBuilder {
        self.documents.store_tokens();
        self
    }

    /// Keeps the large columns of the index in storage instead of in memory: terms, tokens and
    /// postings.
    pub fn with_column_storage(mut self, storage: Arc<dyn ColumnStorage>) -> IndexBuilder {
        self.storage = Some(storage);
        self
    }

    /// Moves the documents added so far to storage, if the index has storage. It should be called
    /// after every few hundred documents.
    pub fn move_documents_to_storage(&mut self) -> Result<(), Error> {
        match &self.storage {
            Some(storage) => self.documents.move_to_storage(&**storage),
            None => Ok(()),
        }
    }

    /// Adds the next document to the index; its number is the count of documents added before.
    pub fn add_document(&mut self, body: &str) {
        self.documents.push_text(&mut self.vocabulary, body);
    }

    /// Returns the number of documents added so far.
    pub fn n_docs(&self) -> usize {
        self.documents.len()
    }

    /// Creates postings and statistics. It is an error if there are 2³¹ documents or more, since
    /// twice the difference of two numbers is stored in 32 bits, and if storage cannot be written.
    pub fn finish(self) -> Result<Index, Error> {
        self.finish_in_ranges(POSTING_UNITS_AT_ONCE)
    }

    /// Does the same, with at most this number of units of postings in memory if there is storage.
    fn finish_in_ranges(mut self, posting_units_at_once: usize) -> Result<Index, Error> {
        self.move_documents_to_storage()?;
        let IndexBuilder {
            vocabulary,
            mut documents,
            storage,
        } = self;
        if i32::try_from(documents.len()).is_err() {
            return Err(Error::out_of_range(
                "collection",
                "it has more than 2,147,483,647 documents; split it and index the parts separately",
            ));
        }
        documents.finish_in_storage()?;
        documents.shrink_to_fit();
        let terms = InvertedIndex::invert(
            &documents,
            vocabulary.len(),
            storage.as_deref(),
            posting_units_at_once,
        )?;
        Ok(Index {
            totals: DocumentAndTermTotals {
                n_docs: documents.len() as u64,
                n_terms: documents.n_terms(),
            },
            vocabulary,
            documents,
            terms,
        })
    }
}

/// An inverted and forward index of a collection, with terms and documents as integers.
pub struct Index {
    /// The totals, without the texts of [`Index::add_text_without_statistics`].
    totals: DocumentAndTermTotals,
    vocabulary: Vocabulary,
    documents: ForwardIndex,
    terms: InvertedIndex,
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
        self.documents.push_text(&mut self.vocabulary, body);
        self.terms.add_terms_without_postings(self.vocabulary.len());
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
    pub fn term_sequence_of_doc(&self, doc: DocNo) -> Vec<TermNo> {
        let mut terms = Vec::with_capacity(self.document_length(doc) as usize);
        terms.extend(self.documents.terms(doc));
        terms
    }

    /// Returns the tokens of a document's terms, in order; `None` if the index keeps none.
    pub fn tokens_of_doc(&self, doc: DocNo) -> Option<impl Iterator<Item = TokenNo>> {
        self.documents.tokens(doc)
    }

    /// Returns the length of a document, in terms.
    pub fn document_length(&self, doc: DocNo) -> u32 {
        self.documents.length(doc)
    }

    /// Returns the number of occurrences of a term in a document, which is read to its end.
    pub fn count_occurrences_in_doc(&self, term: TermNo, doc: DocNo) -> u32 {
        self.documents.terms(doc).filter(|&it| it == term).count() as u32
    }

    /// Returns the postings of a term.
    pub fn postings(&self, term: TermNo) -> Postings<'_> {
        self.terms.postings(term)
    }

    /// Returns the document frequency of a term.
    pub fn df(&self, term: TermNo) -> u32 {
        self.terms.frequencies(term).df
    }

    /// Returns the collection frequency of a term.
    pub fn cf(&self, term: TermNo) -> u64 {
        self.terms.frequencies(term).cf
    }

    /// Returns the numbers of documents and term occurrences of the collection.
    pub fn collection_totals(&self) -> DocumentAndTermTotals {
        self.totals
    }

    /// Returns the memory use in bytes: forward index, postings, statistics and vocabulary, without
    /// what is in storage.
    pub fn memory_bytes(&self) -> usize {
        self.documents.memory_bytes() + self.terms.memory_bytes() + self.vocabulary.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::column_storage::ColumnWriter;
    use super::*;
    use crate::integer_column::SharedIntegerColumn;

    /// Returns the postings of a word as pairs of document and count.
    fn postings(index: &Index, word: &str) -> Vec<(DocNo, u32)> {
        let term = index.vocabulary().term_no(word).unwrap();
        let postings = index.postings(term);
        postings.map(|it| (it.doc, it.count)).collect()
    }

    #[test]
    fn postings_say_what_the_documents_hold() {
        let docs = ["river bank river", "", "bank money"];
        let index = Index::build(&Analyzer::default(), docs).unwrap();
        let term = |word: &str| index.vocabulary().term_no(word).unwrap();
        assert_eq!(postings(&index, "river"), [(0, 2)]);
        assert_eq!(postings(&index, "bank"), [(0, 1), (2, 1)]);
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
    fn large_counts_and_gaps_are_exact() {
        let n_times = [254, 0, 255, 256, 70_000, 1];
        let mut docs: Vec<String> = n_times.map(|n| "river ".repeat(n) + "bank").into();
        docs.resize(40_000, String::new());
        docs.push("bank river river".to_owned());
        let index = Index::build(&Analyzer::default(), docs.iter().map(String::as_str)).unwrap();
        let river = [
            (0, 254),
            (2, 255),
            (3, 256),
            (4, 70_000),
            (5, 1),
            (40_000, 2),
        ];
        assert_eq!(postings(&index, "river"), river);
        let bank = [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (40_000, 1)];
        assert_eq!(postings(&index, "bank"), bank);
    }

    /// Storage that is in memory after all.
    struct StorageInMemory;

    impl ColumnStorage for StorageInMemory {
        fn create_column(&self) -> Result<Box<dyn ColumnWriter>, Error> {
            Ok(Box::new(ColumnInMemory(Vec::new())))
        }
    }

    struct ColumnInMemory(Vec<u16>);

    impl ColumnWriter for ColumnInMemory {
        fn append_units(&mut self, units: &[u16]) -> Result<(), Error> {
            self.0.extend(units);
            Ok(())
        }

        fn finish(self: Box<Self>) -> Result<Arc<dyn SharedIntegerColumn<u16>>, Error> {
            Ok(Arc::new(*self))
        }
    }

    impl SharedIntegerColumn<u16> for ColumnInMemory {
        fn integers(&self) -> &[u16] {
            &self.0
        }
    }

    /// Storage that is full after some units.
    struct FullStorage {
        n_free: usize,
    }

    impl ColumnStorage for FullStorage {
        fn create_column(&self) -> Result<Box<dyn ColumnWriter>, Error> {
            let n_free = self.n_free;
            Ok(Box::new(FullStorage { n_free }))
        }
    }

    impl ColumnWriter for FullStorage {
        fn append_units(&mut self, units: &[u16]) -> Result<(), Error> {
            let left = self.n_free.checked_sub(units.len());
            self.n_free = left.ok_or_else(|| Error::unreadable_file("folder", "it is full"))?;
            Ok(())
        }

        fn finish(self: Box<Self>) -> Result<Arc<dyn SharedIntegerColumn<u16>>, Error> {
            Ok(Arc::new(ColumnInMemory(Vec::new())))
        }
    }

    /// Returns an index builder that keeps tokens and already has documents of many lengths, some
    /// of them empty, with frequent and rare terms.
    fn builder_with_many_documents(
        n_words_of_longest: u32,
        storage: Option<Arc<dyn ColumnStorage>>,
    ) -> IndexBuilder {
        let mut builder = IndexBuilder::with_analyzer(Analyzer::default()).with_stored_tokens();
        if let Some(storage) = storage {
            builder = builder.with_column_storage(storage);
        }
        for doc in 0..300_u32 {
            let n_words = if doc == 150 {
                n_words_of_longest
            } else {
                doc * 7 % 40
            };
            let words = (0..n_words).map(|it| match it % 4 {
                0 => "rivers".to_owned(),
                1 => format!("stones{}", (doc + it) % 30),
                _ => format!("word{}", it * (doc % 3 + 1)),
            });
            builder.add_document(&words.collect::<Vec<String>>().join(" "));
            if doc % 7 == 0 {
                builder.move_documents_to_storage().unwrap();
            }
        }
        builder
    }

    #[test]
    fn an_index_in_storage_is_equal_to_an_index_in_memory() {
        // The longest document of the second collection has terms whose numbers exceed 16 bits.
        for (n_words, units_at_once) in [
            (100, [0, 1, 2, 1_000]),
            (140_000, [5_000, 20_000, 200_000, usize::MAX]),
        ] {
            let mut expected = builder_with_many_documents(n_words, None).finish().unwrap();
            expected.add_text_without_statistics("rivers of mud");
            for units_at_once in units_at_once {
                let storage = Some(Arc::new(StorageInMemory) as Arc<dyn ColumnStorage>);
                let builder = builder_with_many_documents(n_words, storage);
                let mut index = builder.finish_in_ranges(units_at_once).unwrap();
                assert!(index.memory_bytes() < expected.memory_bytes());
                index.add_text_without_statistics("rivers of mud");
                assert_equal_indexes(&index, &expected);
            }
        }
    }

    fn assert_equal_indexes(index: &Index, expected: &Index) {
        assert_eq!(index.collection_totals(), expected.collection_totals());
        for doc in 0..=index.n_docs() as DocNo {
            let tokens = |of: &Index| of.tokens_of_doc(doc).unwrap().collect::<Vec<TokenNo>>();
            assert_eq!(tokens(index), tokens(expected));
            let terms = index.term_sequence_of_doc(doc);
            assert_eq!(terms, expected.term_sequence_of_doc(doc));
            assert_eq!(index.document_length(doc), expected.document_length(doc));
        }
        assert_eq!(index.vocabulary().len(), expected.vocabulary().len());
        for term in 0..index.vocabulary().len() as TermNo {
            assert!(index.postings(term).eq(expected.postings(term)), "{term}");
            assert_eq!(index.df(term), expected.df(term));
            assert_eq!(index.cf(term), expected.cf(term));
        }
    }

    #[test]
    fn an_index_without_terms_can_be_in_storage() {
        for docs in [vec![], vec!["", ""]] {
            let builder = IndexBuilder::with_analyzer(Analyzer::default());
            let mut builder = builder.with_column_storage(Arc::new(StorageInMemory));
            docs.iter().for_each(|it| builder.add_document(it));
            let mut index = builder.finish().unwrap();
            assert_eq!(index.n_docs(), docs.len());
            index.add_text_without_statistics("river");
            assert_eq!(index.term_sequence_of_doc(docs.len() as DocNo), [0]);
            assert_eq!(postings(&index, "river"), []);
        }
    }

    #[test]
    fn full_storage_is_an_error() {
        let build = |n_free, n_docs| {
            let builder = IndexBuilder::with_analyzer(Analyzer::default());
            let mut builder = builder.with_column_storage(Arc::new(FullStorage { n_free }));
            (0..n_docs).for_each(|_| builder.add_document("river bank"));
            builder.move_documents_to_storage()?;
            builder.finish().map(|it| it.n_docs())
        };
        assert!(build(0, 0).is_ok());
        let error = build(3, 2).unwrap_err();
        assert_eq!(error.to_string(), "folder: it is full");
    }

    #[test]
    fn a_text_without_statistics_is_read_like_a_document() {
        let mut builder = IndexBuilder::with_analyzer(Analyzer::default()).with_stored_tokens();
        builder.add_document("rivers bank");
        let mut index = builder.finish().unwrap();
        index.add_text_without_statistics("bank of rivers");
        let term = |word: &str| index.vocabulary().term_no(word).unwrap();
        let terms = [term("bank"), term("of"), term("river")];
        assert_eq!(index.term_sequence_of_doc(1), terms);
        let tokens = index.tokens_of_doc(1).unwrap();
        let tokens: Vec<&str> = tokens
            .map(|it| index.vocabulary().unstemmed_token(it))
            .collect();
        assert_eq!(tokens, ["bank", "of", "rivers"]);
        assert_eq!((index.n_docs(), index.collection_totals().n_terms), (1, 2));
        assert_eq!(postings(&index, "of"), []);
        assert_eq!((index.df(term("of")), index.cf(term("of"))), (0, 0));
        assert_eq!(postings(&index, "bank"), [(0, 1)]);
    }
}
