//! Similarities of single words of a text and of a query.

use std::collections::BTreeMap;

use super::bag_of_words::for_each_term_token;
use super::{WordVectorNo, WordVectors, is_outside};
use crate::index::term_statistics::DistinctQueryTerms;
use crate::text::Analyzer;
use crate::text::vocabulary::TermNo;

/// Similarities of the words of a text to those of a query. The vector of a term is that of the
/// first token that gives it.
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

/// Returns the row of each distinct query term: that of the first token that gives it.
pub(crate) fn query_term_vector_rows(
    vectors: &WordVectors,
    analyzer: &Analyzer,
    query: &str,
    terms: &DistinctQueryTerms,
) -> Vec<Option<WordVectorNo>> {
    let mut rows: Vec<Option<Option<WordVectorNo>>> = vec![None; terms.len()];
    for_each_term_token(analyzer, query, |token, term| {
        if let Some(place) = terms.iter().position(|it| it.term == term) {
            rows[place].get_or_insert_with(|| vectors.row_of_word(token));
        }
    });
    rows.into_iter().map(Option::flatten).collect()
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
        distinct.entry(term).or_insert(row);
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
