//! Bags of words: the words of texts by the analyzer, with their direction.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{BagOfWordsEmbedding, WordVectors};
use crate::index::term_statistics::DistinctQueryTerms;
use crate::text::{Analyzer, stemming, stopwords};

/// Returns the words of a query: every token that gives a term.
pub(crate) fn query_bag_of_word_vectors(
    vectors: &WordVectors,
    analyzer: &Analyzer,
    query: &str,
) -> BagOfWordsEmbedding {
    let mut rows = Vec::new();
    for_each_term_token(analyzer, query, |token, _| {
        rows.push(vectors.row_of_word(token))
    });
    BagOfWordsEmbedding::from_rows(vectors, rows)
}

/// Returns d − Q of a text: every token that gives a term that is not in the query.
pub(crate) fn non_query_bag_of_words(
    vectors: &WordVectors,
    analyzer: &Analyzer,
    text: &str,
    query: &DistinctQueryTerms,
) -> BagOfWordsEmbedding {
    let mut rows = Vec::new();
    for_each_term_token(analyzer, text, |token, term| {
        if query.iter().all(|it| it.term != term) {
            rows.push(vectors.row_of_word(token));
        }
    });
    BagOfWordsEmbedding::from_rows(vectors, rows)
}

/// A word with its similarity to a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WordSimilarToQuery {
    /// The word as it is looked up: in lower case, before stemming.
    pub word: String,
    /// The cosine with the direction of the query's words, from −1 to 1.
    pub cosine: f64,
}

/// Returns the words of a text that are not in the query, the most similar to the query first.
pub(crate) fn text_words_by_query_similarity(
    vectors: &WordVectors,
    analyzer: &Analyzer,
    text: &str,
    query: &DistinctQueryTerms,
    asked: &BagOfWordsEmbedding,
) -> Vec<WordSimilarToQuery> {
    let mut rows = BTreeSet::new();
    for_each_term_token(analyzer, text, |token, term| {
        if query.iter().all(|it| it.term != term) {
            rows.extend(vectors.row_of_word(token));
        }
    });
    let words = rows.into_iter().filter_map(|row| {
        let cosine = BagOfWordsEmbedding::from_rows(vectors, [Some(row)]).similarity(asked)?;
        let word = vectors.word_at_row(row).to_owned();
        Some(WordSimilarToQuery { word, cosine })
    });
    let mut words: Vec<WordSimilarToQuery> = words.collect();
    words.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then(a.word.cmp(&b.word)));
    words
}

/// Calls `take` with each token of a text that gives a term, and that term.
pub(crate) fn for_each_term_token(
    analyzer: &Analyzer,
    text: &str,
    mut take: impl FnMut(&str, &str),
) {
    let stem = stemming::TokenStemmer::with_algorithm(analyzer.stemmer);
    analyzer.for_each_token_with_stopwords(text, |token, _| {
        if !stopwords::is_stop_word(&analyzer.stopwords, token) {
            take(token, &stem.stem(token));
        }
    });
}
