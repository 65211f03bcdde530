//! Terms as numbers: each distinct token is stemmed once, however often it occurs.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::stem::Stem;
use super::{Analyzer, stopwords, tokens};

/// Number of a term, in order of first appearance.
pub type TermNo = u32;

/// The terms that an analyser has met.
pub struct Vocabulary {
    analyzer: Analyzer,
    stem: Stem,
    /// Tokens as found, with their term.
    tokens: Names,
    /// For each token its term; none if it is a stop word.
    term_of: Vec<Option<TermNo>>,
    terms: Names,
}

impl Vocabulary {
    /// Empty.
    pub fn new(analyzer: Analyzer) -> Vocabulary {
        let stem = Stem::new(analyzer.stemmer);
        Vocabulary {
            analyzer,
            stem,
            tokens: Names::default(),
            term_of: Vec::new(),
            terms: Names::default(),
        }
    }

    /// How texts become terms.
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
    pub fn number(&self, term: &str) -> Option<TermNo> {
        self.terms.find(term)
    }

    /// Appends the terms of a text, in order.
    pub fn read(&mut self, text: &str, terms: &mut Vec<TermNo>) {
        let Vocabulary {
            analyzer,
            stem,
            tokens,
            term_of,
            terms: names,
        } = self;
        tokens::each(analyzer.tokenizer, text, |token, _| {
            let number = tokens.insert(token);
            if number as usize == term_of.len() {
                let dropped = stopwords::drops(&analyzer.stopwords, token);
                term_of.push((!dropped).then(|| names.insert(&stem.of(token))));
            }
            if let Some(term) = term_of[number as usize] {
                terms.push(term);
            }
        });
    }

    /// Bytes held.
    pub(crate) fn n_bytes(&self) -> usize {
        self.tokens.n_bytes() + self.terms.n_bytes() + self.term_of.len() * 8
    }
}

/// Distinct strings by number, in one piece of memory.
#[derive(Default)]
struct Names {
    letters: String,
    /// Where each ends in `letters`.
    ends: Vec<u32>,
    /// Only looked up, never walked: its order decides nothing.
    table: HashTable<u32>,
}

impl Names {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn name(&self, number: u32) -> &str {
        name(&self.letters, &self.ends, number)
    }

    fn find(&self, wanted: &str) -> Option<u32> {
        let same = |&it: &u32| self.name(it) == wanted;
        self.table.find(hash(wanted), same).copied()
    }

    fn insert(&mut self, wanted: &str) -> u32 {
        let Names {
            letters,
            ends,
            table,
        } = self;
        let hashed = hash(wanted);
        if let Some(&found) = table.find(hashed, |&it| name(letters, ends, it) == wanted) {
            return found;
        }
        let number = ends.len() as u32;
        letters.push_str(wanted);
        ends.push(letters.len() as u32);
        table.insert_unique(hashed, number, |&it| hash(name(letters, ends, it)));
        number
    }

    fn n_bytes(&self) -> usize {
        self.letters.len() + self.ends.len() * 4 + self.table.allocation_size()
    }
}

fn name<'a>(letters: &'a str, ends: &[u32], number: u32) -> &'a str {
    let start = if number == 0 {
        0
    } else {
        ends[number as usize - 1] as usize
    };
    &letters[start..ends[number as usize] as usize]
}

fn hash(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish()
}
