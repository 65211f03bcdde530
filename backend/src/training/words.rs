//! The words of a collection with their vectors and inverse document frequencies.

use std::collections::{BTreeMap, BTreeSet};

use neural::training::WordSettings;
use neural::{InteractionRanker, InteractionVocabulary};
use rayon::prelude::*;
use shared::collection::Collection;
use shared::text::stopwords::EN_FUNCTION;
use shared::word_vectors::WordVectors;

use crate::error::Error;

/// The number of documents that are counted at once.
const DOCUMENTS_AT_ONCE: usize = 4096;

/// How often a word occurs in the collection.
#[derive(Clone, Copy, Default)]
struct WordCounts {
    /// The number of documents with the word.
    documents: u64,
    /// The number of its occurrences in documents and queries.
    occurrences: u64,
}

/// Builds the vocabulary of a collection: every word of its documents and queries that the settings
/// keep, in alphabetical order, with `idf = ln((1 + N) / (1 + df))` over its N documents. Words
/// without a vector get a random direction, which depends on nothing but the word.
pub(super) fn build_vocabulary(
    collection: &Collection,
    settings: &WordSettings,
    vectors: Option<&WordVectors>,
) -> Result<InteractionVocabulary, Error> {
    let counts = count_words(collection, settings.read_titles);
    let is_stop_word = |word: &str| EN_FUNCTION.binary_search(&word).is_ok();
    let is_kept = |(word, counts): &(&String, &WordCounts)| {
        counts.occurrences >= settings.min_word_frequency as u64
            && !(settings.remove_stop_words && is_stop_word(word))
    };
    let kept: Vec<(&String, &WordCounts)> = counts.iter().filter(is_kept).collect();
    let n_documents = collection.docs.len() as f64;
    let idf = |it: &(&String, &WordCounts)| {
        libm::log((1.0 + n_documents) / (1.0 + it.1.documents as f64)) as f32
    };
    let idf: Vec<f32> = kept.iter().map(idf).collect();
    let n_dims = vectors.map_or(settings.dimensions, WordVectors::n_dims);
    let mut numbers: Vec<f32> = Vec::with_capacity(kept.len() * n_dims);
    for (word, _) in &kept {
        let row = vectors.and_then(|it| Some(it.vector_at_row(it.row_of_word(word)?)));
        match row.filter(|it| it.iter().any(|it| *it != 0.0)) {
            Some(vector) => numbers.extend_from_slice(vector),
            None => numbers.extend(InteractionVocabulary::random_direction(word, n_dims)),
        }
    }
    let words = kept.into_iter().map(|it| it.0.clone()).collect();
    InteractionVocabulary::new(words, &idf, &numbers, n_dims)
        .map_err(Error::model_error_converter("that is trained"))
}

/// Returns the ids of the words of a text that the vocabulary has.
pub(super) fn ids(vocabulary: &InteractionVocabulary, text: &str) -> Vec<u32> {
    let words = InteractionRanker::words_of(text).into_iter();
    words.filter_map(|it| vocabulary.id_of_word(&it)).collect()
}

fn count_words(collection: &Collection, with_titles: bool) -> BTreeMap<String, WordCounts> {
    let count_part = |docs: &[shared::collection::Document]| {
        let mut counts: BTreeMap<String, WordCounts> = BTreeMap::new();
        for doc in docs {
            let words = InteractionRanker::words_of(doc.text_with_optional_title(with_titles));
            let distinct: BTreeSet<&String> = words.iter().collect();
            for word in distinct {
                counts.entry(word.clone()).or_default().documents += 1;
            }
            for word in words {
                counts.entry(word).or_default().occurrences += 1;
            }
        }
        counts
    };
    let parts = collection
        .docs
        .par_chunks(DOCUMENTS_AT_ONCE)
        .map(count_part);
    let add = |mut sum: BTreeMap<String, WordCounts>, part: BTreeMap<String, WordCounts>| {
        for (word, counts) in part {
            let total = sum.entry(word).or_default();
            total.documents += counts.documents;
            total.occurrences += counts.occurrences;
        }
        sum
    };
    let mut counts = parts.reduce(BTreeMap::new, add);
    for query in &collection.queries {
        for word in InteractionRanker::words_of(&query.text) {
            counts.entry(word).or_default().occurrences += 1;
        }
    }
    counts
}
