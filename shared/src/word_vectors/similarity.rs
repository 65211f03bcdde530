//! Similarities of single words of a text and of a query.

use std::collections::BTreeMap;

use super::bag_of_words::for_each_term_token;
use super::{WordVectorNo, WordVectors, is_outside};
use crate::index::term_statistics::DistinctQueryTerms;
use crate::text::Analyzer;
use crate::text::vocabulary::TermNo;

/// Similarities of the words of a text to those of a query. The vector of a term is that of a token
/// that gives it; of several tokens with a vector, that of the first in byte order, so that the
/// order of words does not matter.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueryWordSimilarities {
    /// The mean cosine over all pairs of distinct terms of the text and of the query; 0 for a pair
    /// without both vectors.
    pub mean_cosine: f64,
    /// The largest cosine of a term that is not in the query, with the index of each query term and
    /// the term of the text that have it.
    pub nearest: Option<(f64, Vec<(u32, TermNo)>)>,
}

/// Returns the cosine of two words; 0 if one of them has no vector.
pub(super) fn cosine_of_word_vectors(
    vectors: &WordVectors,
    a: Option<WordVectorNo>,
    b: Option<WordVectorNo>,
) -> f64 {
    let (Some(a), Some(b)) = (a, b) else {
        return 0.0;
    };
    let row = |it: WordVectorNo| vectors.vector_at_row(it).iter().map(|&it| f64::from(it));
    row(a).zip(row(b)).map(|(a, b)| a * b).sum()
}

/// Returns the row of each distinct query term, as described for [`QueryWordSimilarities`].
pub(crate) fn query_term_vector_rows(
    vectors: &WordVectors,
    analyzer: &Analyzer,
    query: &str,
    terms: &DistinctQueryTerms,
) -> Vec<Option<WordVectorNo>> {
    let mut rows = vec![None; terms.len()];
    for_each_term_token(analyzer, query, |token, term| {
        if let Some(place) = terms.iter().position(|it| it.term == term) {
            rows[place] = row_of_first_word(vectors, rows[place], vectors.row_of_word(token));
        }
    });
    rows
}

/// Returns the row of the word that is first in byte order.
fn row_of_first_word(
    vectors: &WordVectors,
    a: Option<WordVectorNo>,
    b: Option<WordVectorNo>,
) -> Option<WordVectorNo> {
    match (a, b) {
        (Some(a), Some(b)) if vectors.word_at_row(b) < vectors.word_at_row(a) => Some(b),
        _ => a.or(b),
    }
}

/// Returns the cosine of each pair of query terms, row by row.
pub(crate) fn pairwise_query_term_similarities(
    vectors: &WordVectors,
    query_rows: &[Option<WordVectorNo>],
) -> Vec<f64> {
    let each = query_rows.iter();
    each.flat_map(|&a| {
        query_rows
            .iter()
            .map(move |&b| cosine_of_word_vectors(vectors, a, b))
    })
    .collect()
}

/// Returns the mean and the nearest similarity of the words of a text to those of the query;
/// `query_rows` is the result of
/// [`query_term_vector_rows`].
pub(crate) fn mean_and_nearest_query_similarity(
    vectors: &WordVectors,
    query_rows: &[Option<WordVectorNo>],
    query: &DistinctQueryTerms,
    words: impl Iterator<Item = (TermNo, Option<WordVectorNo>)>,
) -> QueryWordSimilarities {
    let mut distinct: BTreeMap<TermNo, Option<WordVectorNo>> = BTreeMap::new();
    for (term, row) in words {
        let chosen = distinct.entry(term).or_default();
        *chosen = row_of_first_word(vectors, *chosen, row);
    }
    let mut found = QueryWordSimilarities::default();
    let mut sum = 0.0;
    for (&term, &row) in &distinct {
        let outside = is_outside(query, term);
        for (place, &other) in query_rows.iter().enumerate() {
            let like = cosine_of_word_vectors(vectors, row, other);
            sum += like;
            if !outside || row.is_none() || other.is_none() {
                continue;
            }
            match &mut found.nearest {
                Some((most, _)) if *most > like => {}
                Some((most, pairs)) if *most == like => pairs.push((place as u32, term)),
                nearest => *nearest = Some((like, vec![(place as u32, term)])),
            }
        }
    }
    let n = distinct.len() * query_rows.len();
    if n > 0 {
        found.mean_cosine = sum / n as f64;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::IndexBuilder;
    use crate::word_vectors::IndexedWordVectors;

    /// Returns the similarities of two documents to two queries; the second of each has the words
    /// of the first in reverse order.
    fn similarities(vectors: &[(&str, [f32; 2])]) -> Vec<QueryWordSimilarities> {
        let vectors = WordVectors::from_words_and_vectors(vectors);
        let mut builder = IndexBuilder::with_analyzer(Analyzer::default()).with_stored_tokens();
        let docs = ["engine engines motor", "motor engines engine"];
        docs.iter().for_each(|it| builder.add_document(it));
        let index = builder.finish().unwrap();
        let rows = vectors.token_rows_of_index(&index);
        let known = IndexedWordVectors::new(&vectors, &index, &rows);
        let of = |query: &str, doc: u32| {
            let terms = index.query_term_statistics(query);
            let words = known.query_term_vector_rows(query, &terms);
            known.mean_and_nearest_query_similarity(doc, &terms, &words)
        };
        let queries = ["car cars", "cars car"];
        let each = queries
            .into_iter()
            .flat_map(|query| [0, 1].map(|doc| of(query, doc)));
        each.collect()
    }

    #[test]
    fn the_vector_of_a_term_does_not_depend_on_the_order_of_words() {
        // The terms `engin` and `motor` have the cosines .6 and 0.
        let of_one_token = [("cars", [1.0, 0.0]), ("engines", [0.6, 0.8])];
        // Of two tokens with a vector, the first in byte order counts.
        let of_both_tokens = [
            ("engines", [0.0, 1.0]),
            ("engine", [0.6, 0.8]),
            ("cars", [0.0, 1.0]),
            ("car", [1.0, 0.0]),
        ];
        for vectors in [&of_one_token[..], &of_both_tokens] {
            for found in similarities(vectors) {
                assert!((found.mean_cosine - 0.3).abs() < 1e-6, "{found:?}");
                let (cosine, pairs) = found.nearest.unwrap();
                assert!((cosine - 0.6).abs() < 1e-6 && pairs.len() == 1, "{pairs:?}");
            }
        }
    }
}
