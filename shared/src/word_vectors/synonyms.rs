//! Synonyms: the nearest word by the cosine of word vectors.

use std::sync::{Arc, OnceLock};

use super::similarity::cosine_of_word_vectors;
use super::{WordVectorNo, WordVectors};
use crate::text::Analyzer;
use crate::text::stopwords::EN_FUNCTION;

/// The number of candidate words: the first ones of the file, which are the most frequent.
const MAX_CANDIDATES: usize = 20_000;

/// The minimum cosine of a synonym.
const MIN_COSINE: f64 = 0.6;

/// Finds synonyms; the result for a word is computed when it is first requested.
#[derive(Debug, Clone)]
pub struct SynonymFinder {
    vectors: Arc<WordVectors>,
    analyzer: Analyzer,
    found: Vec<OnceLock<Option<WordVectorNo>>>,
}

impl SynonymFinder {
    /// Creates a finder of synonyms among the first 20,000 words with vectors; words with the same
    /// term by `analyzer` are not synonyms.
    pub fn new(vectors: Arc<WordVectors>, analyzer: Analyzer) -> SynonymFinder {
        let found = (0..vectors.len()).map(|_| OnceLock::new()).collect();
        SynonymFinder {
            vectors,
            analyzer,
            found,
        }
    }

    /// Returns the word with the largest cosine, of at least .6, that is a single term other than
    /// the term of `word` and not a function word; of two equally near words, the more frequent
    /// one. `None` if the word has no vector or no such neighbor.
    pub fn find_synonym(&self, word: &str) -> Option<&str> {
        let row = self.vectors.row_of_word(&word.to_lowercase())?;
        let nearest = *self.found[row as usize].get_or_init(|| self.find(row));
        Some(self.vectors.word_at_row(nearest?))
    }

    fn find(&self, row: WordVectorNo) -> Option<WordVectorNo> {
        let own = self.term(row)?;
        let offered = 0..self.vectors.len().min(MAX_CANDIDATES) as WordVectorNo;
        let each = offered.map(|it| {
            (
                cosine_of_word_vectors(&self.vectors, Some(row), Some(it)),
                it,
            )
        });
        let mut like: Vec<(f64, WordVectorNo)> = each.filter(|it| it.0 >= MIN_COSINE).collect();
        like.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut rows = like.into_iter().map(|it| it.1);
        rows.find(|&it| self.term(it).is_some_and(|it| it != own))
    }

    /// Returns the term of a word that has only letters and gives one term, and is not a function
    /// word.
    fn term(&self, row: WordVectorNo) -> Option<String> {
        let word = self.vectors.word_at_row(row);
        let mut terms = self.analyzer.terms_with_positions(word).into_iter();
        let term = terms.next()?.0;
        let is_one = terms.next().is_none() && word.chars().all(char::is_alphabetic);
        let is_function = EN_FUNCTION.binary_search(&word).is_ok();
        (is_one && !is_function).then_some(term)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_is_another_term_that_is_near_enough() {
        let vectors = WordVectors::from_words_and_vectors(&[
            ("car", [1.0, 0.0]),
            ("cars", [1.0, 0.01]),
            ("the", [1.0, 0.02]),
            ("t1", [1.0, 0.03]),
            ("auto", [1.0, 0.1]),
            ("truck", [1.0, -0.1]),
            ("moon", [0.0, 1.0]),
        ]);
        let nearest = SynonymFinder::new(Arc::new(vectors), Analyzer::default());
        // Not the plural, no stop word, no word with a digit; the first of two equally near words.
        assert_eq!(nearest.find_synonym("Car"), Some("auto"));
        assert_eq!(nearest.find_synonym("truck"), Some("car"));
        assert_eq!(nearest.find_synonym("moon"), None);
        assert_eq!(nearest.find_synonym("bread"), None);
    }
}
