//! Numbers for terms; each distinct token is stemmed only once.

use super::stemming::TokenStemmer;
use super::{Analyzer, stopwords};
use crate::interner::StringInterner;

/// Number of a term, in order of first occurrence.
pub type TermNo = u32;

/// Number of a token, in order of first occurrence.
pub type TokenNo = u32;

/// The terms that an analyzer has produced so far.
pub struct Vocabulary {
    analyzer: Analyzer,
    stem: TokenStemmer,
    /// The distinct tokens.
    tokens: StringInterner,
    /// The term of each token; `None` for a stop word.
    term_of: Vec<Option<TermNo>>,
    terms: StringInterner,
}

impl Vocabulary {
    /// Creates a vocabulary without terms, which uses the given analyzer.
    pub fn new(analyzer: Analyzer) -> Vocabulary {
        let stem = TokenStemmer::with_algorithm(analyzer.stemmer);
        Vocabulary {
            analyzer,
            stem,
            tokens: StringInterner::default(),
            term_of: Vec::new(),
            terms: StringInterner::default(),
        }
    }

    /// Returns the analyzer that turns text into the terms of the vocabulary.
    pub fn analyzer(&self) -> &Analyzer {
        &self.analyzer
    }

    /// Returns the number of terms.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Returns whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.terms.len() == 0
    }

    /// Returns the term with a number.
    pub fn term(&self, number: TermNo) -> &str {
        self.terms.string_at(number)
    }

    /// Returns the number of a term; `None` if it is not in the vocabulary.
    pub fn term_no(&self, term: &str) -> Option<TermNo> {
        self.terms.find_number_of_string(term)
    }

    /// Returns the number of distinct tokens, including stop words.
    pub fn n_tokens(&self) -> usize {
        self.tokens.len()
    }

    /// Returns the token with a number: in lower case, before stemming.
    pub fn unstemmed_token(&self, number: TokenNo) -> &str {
        self.tokens.string_at(number)
    }

    /// Appends the terms of a text to `terms`, in order.
    pub fn append_terms_of_text(&mut self, text: &str, terms: &mut Vec<TermNo>) {
        self.for_each_term_of_text(text, |term, _| terms.push(term));
    }

    /// Calls `take` with each term of a text and the token that it comes from, in order.
    pub(crate) fn for_each_term_of_text(
        &mut self,
        text: &str,
        mut take: impl FnMut(TermNo, TokenNo),
    ) {
        let Vocabulary {
            analyzer,
            stem,
            tokens,
            term_of,
            terms: names,
        } = self;
        analyzer.for_each_token_with_stopwords(text, |token, _| {
            let number = tokens.insert(token);
            if number as usize == term_of.len() {
                let dropped = stopwords::is_stop_word(&analyzer.stopwords, token);
                term_of.push((!dropped).then(|| names.insert(&stem.stem(token))));
            }
            if let Some(term) = term_of[number as usize] {
                take(term, number);
            }
        });
    }

    /// Returns the approximate memory use of the vocabulary in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.tokens.memory_bytes() + self.terms.memory_bytes() + self.term_of.len() * 8
    }
}
