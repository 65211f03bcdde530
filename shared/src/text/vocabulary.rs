//! Terms as numbers: each distinct token is stemmed once, however often it occurs.

use super::interner::StringInterner;
use super::stemming::TokenStemmer;
use super::{Analyzer, stopwords};

/// Number of a term, in order of first appearance.
pub type TermNo = u32;

/// Number of a token, in order of first appearance.
pub type TokenNo = u32;

/// The terms that an analyzer has met.
pub struct Vocabulary {
    analyzer: Analyzer,
    stem: TokenStemmer,
    /// Tokens as found, with their term.
    tokens: StringInterner,
    /// For each token its term; none if it is a stop word.
    term_of: Vec<Option<TermNo>>,
    terms: StringInterner,
}

impl Vocabulary {
    /// Creates a vocabulary without terms, which uses the given analyzer.
    pub fn new(analyzer: Analyzer) -> Vocabulary {
        let stem = TokenStemmer::new(analyzer.stemmer);
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

    /// How many terms were met.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Whether no term was met.
    pub fn is_empty(&self) -> bool {
        self.terms.len() == 0
    }

    /// The term of a number.
    pub fn term(&self, number: TermNo) -> &str {
        self.terms.name(number)
    }

    /// The number of a term, if it was met.
    pub fn term_no(&self, term: &str) -> Option<TermNo> {
        self.terms.find(term)
    }

    /// How many tokens were met, stop words among them.
    pub fn n_tokens(&self) -> usize {
        self.tokens.len()
    }

    /// The token of a number: lower-case, before stemming.
    pub fn token(&self, number: TokenNo) -> &str {
        self.tokens.name(number)
    }

    /// Appends the terms of a text, in order.
    pub fn add_text(&mut self, text: &str, terms: &mut Vec<TermNo>) {
        self.for_each_term(text, |term, _| terms.push(term));
    }

    /// Calls `take` with each term of a text and the token it came from, in order.
    pub(crate) fn for_each_term(&mut self, text: &str, mut take: impl FnMut(TermNo, TokenNo)) {
        let Vocabulary {
            analyzer,
            stem,
            tokens,
            term_of,
            terms: names,
        } = self;
        analyzer.for_each_token(text, |token, _| {
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
    pub(crate) fn n_bytes(&self) -> usize {
        self.tokens.n_bytes() + self.terms.n_bytes() + self.term_of.len() * 8
    }
}
