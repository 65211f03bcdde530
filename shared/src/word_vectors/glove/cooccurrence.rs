//! Co-occurrence counts of words within a window, weighted by distance.

use std::hash::Hasher;
use std::ops::Range;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::GloveSettings;
use crate::error::Error;
use crate::index::{DocNo, Index};
use crate::text::vocabulary::TokenNo;

/// A collection whose words are to get vectors.
pub struct GloveCorpus<'a> {
    pub(super) index: &'a Index,
    pub(super) settings: GloveSettings,
    /// The words with vectors, frequent ones first.
    pub(super) words: Vec<TokenNo>,
    /// The index in `words` of each token.
    places: Vec<Option<u32>>,
}

/// A pair of words with its count X; the first word is not after the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CooccurringWordPair {
    pub(super) words: [u32; 2],
    /// X in units of 2⁻³²: sums of integers are the same in any order.
    x: u64,
}

/// X = 1.
const ONE: u64 = 1 << 32;

impl CooccurringWordPair {
    /// Returns the co-occurrence count X_ij of GloVe, in which each co-occurrence weighs 1 /
    /// distance.
    pub(super) fn weighted_count(&self) -> f64 {
        self.x as f64 / ONE as f64
    }
}

/// The co-occurrence counts of some documents.
#[derive(Debug, Clone, Default)]
pub struct CooccurrenceCounts {
    pairs: Vec<CooccurringWordPair>,
    /// Used for lookups only and never iterated, so its order does not matter.
    found: HashTable<u32>,
}

impl<'a> GloveCorpus<'a> {
    /// Selects the words with vectors; `index` must keep tokens. It is an error if there are fewer
    /// than two.
    pub fn with_frequent_words(
        index: &'a Index,
        settings: GloveSettings,
    ) -> Result<GloveCorpus<'a>, Error> {
        settings.validate()?;
        let words = frequent(index, settings.min_count);
        if words.len() < 2 {
            return Err(Error::out_of_range(
                "vectors",
                format!(
                    "fewer than two words occur {} times; lower the minimum count (`--min-count`)",
                    settings.min_count
                ),
            ));
        }
        let mut places = vec![None; index.vocabulary().n_tokens()];
        for (at, &token) in words.iter().enumerate() {
            places[token as usize] = Some(at as u32);
        }
        Ok(GloveCorpus {
            index,
            settings,
            words,
            places,
        })
    }

    /// Returns the number of documents in the corpus.
    pub fn n_docs(&self) -> DocNo {
        self.index.n_docs() as DocNo
    }

    /// Returns the co-occurrence counts of these documents.
    pub fn count_cooccurrences_in_docs(&self, docs: Range<DocNo>) -> CooccurrenceCounts {
        let mut found = CooccurrenceCounts::default();
        found.count_more_docs(self, docs);
        found
    }
}

impl CooccurrenceCounts {
    /// Adds the co-occurrence counts of more documents.
    pub fn count_more_docs(&mut self, corpus: &GloveCorpus<'_>, docs: Range<DocNo>) {
        let window = corpus.settings.window;
        // A word next to itself is a neighbor in both directions.
        let near = |distance: u64, ways: u64| (ways * ONE + distance / 2) / distance;
        let mut text: Vec<u32> = Vec::new();
        for doc in docs {
            let tokens = corpus
                .index
                .tokens_of_doc(doc)
                .expect("the index keeps tokens");
            text.clear();
            text.extend(tokens.filter_map(|it| corpus.places[it as usize]));
            for (at, &word) in text.iter().enumerate() {
                for (&before, distance) in text[..at].iter().rev().take(window).zip(1..) {
                    let words = [word.min(before), word.max(before)];
                    let ways = if word == before { 2 } else { 1 };
                    self.take(words, near(distance, ways));
                }
            }
        }
    }

    fn take(&mut self, words: [u32; 2], x: u64) {
        let CooccurrenceCounts { pairs, found } = self;
        let same = |&it: &u32| pairs[it as usize].words == words;
        if let Some(&it) = found.find(hash(words), same) {
            pairs[it as usize].x += x;
            return;
        }
        let number = pairs.len() as u32;
        pairs.push(CooccurringWordPair { words, x });
        let again = |&it: &u32| hash(pairs[it as usize].words);
        found.insert_unique(hash(words), number, again);
    }
}

/// Returns the merged counts of all pairs, in the order of their words.
pub(super) fn merge_cooccurrence_counts(
    counted: Vec<CooccurrenceCounts>,
) -> Vec<CooccurringWordPair> {
    let mut pairs: Vec<CooccurringWordPair> = counted.into_iter().flat_map(|it| it.pairs).collect();
    pairs.sort_unstable_by_key(|it| it.words);
    pairs.dedup_by(|again, kept| {
        let same = again.words == kept.words;
        if same {
            kept.x += again.x;
        }
        same
    });
    pairs
}

/// Returns the tokens with at least `min_count` occurrences, the most frequent first, equal ones in
/// alphabetical order.
fn frequent(index: &Index, min_count: u32) -> Vec<TokenNo> {
    let vocabulary = index.vocabulary();
    let mut counts = vec![0_u32; vocabulary.n_tokens()];
    for doc in 0..index.n_docs() as DocNo {
        for token in index.tokens_of_doc(doc).expect("the index keeps tokens") {
            counts[token as usize] += 1;
        }
    }
    let all = 0..counts.len() as TokenNo;
    let mut words: Vec<TokenNo> = all
        .filter(|&it| counts[it as usize] >= min_count.max(1))
        .collect();
    words.sort_by(|&a, &b| {
        let more = counts[b as usize].cmp(&counts[a as usize]);
        more.then_with(|| {
            vocabulary
                .unstemmed_token(a)
                .cmp(vocabulary.unstemmed_token(b))
        })
    });
    words
}

fn hash(words: [u32; 2]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(u64::from(words[0]) << 32 | u64::from(words[1]));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::IndexBuilder;
    use crate::text::Analyzer;

    #[test]
    fn neighbours_weigh_one_over_their_distance() {
        let mut builder = IndexBuilder::with_analyzer(Analyzer::default()).with_stored_tokens();
        ["a b c", "b a b rare"]
            .iter()
            .for_each(|it| builder.add_document(it));
        let index = builder.finish().unwrap();
        let settings = |min_count| GloveSettings {
            window: 2,
            min_count,
            ..GloveSettings::default()
        };
        let corpus = GloveCorpus::with_frequent_words(&index, settings(1)).unwrap();
        let words = corpus.words.iter();
        let named: Vec<&str> = words
            .map(|&it| index.vocabulary().unstemmed_token(it))
            .collect();
        assert_eq!(named, ["b", "a", "c", "rare"]);
        let pairs = merge_cooccurrence_counts(vec![
            corpus.count_cooccurrences_in_docs(1..2),
            corpus.count_cooccurrences_in_docs(0..1),
        ]);
        let x = |pairs: &[CooccurringWordPair], words| {
            let found = pairs.iter().find(|it| it.words == words);
            found.map(CooccurringWordPair::weighted_count)
        };
        // In the second text b and b have a distance of two, in both directions.
        assert_eq!(x(&pairs, [0, 0]), Some(1.0));
        assert_eq!(x(&pairs, [0, 1]), Some(3.0));
        assert_eq!(x(&pairs, [0, 2]), Some(1.0));
        assert_eq!(x(&pairs, [1, 2]), Some(0.5));
        assert_eq!(x(&pairs, [1, 3]), Some(0.5));
        assert_eq!(x(&pairs, [2, 2]), None);
        // Rare words are removed before distances are counted.
        let corpus = GloveCorpus::with_frequent_words(&index, settings(2)).unwrap();
        assert_eq!(
            merge_cooccurrence_counts(vec![corpus.count_cooccurrences_in_docs(0..2)]).len(),
            2
        );
    }
}
