//! The fractions of query tokens and of novel terms in the top documents of a ranking.
//!
//! Let `d` be a document's tokens without stop words, `q` those of the query, `N(d, q)` the number
//! of occurrences in `d` of tokens of `q`, `U(d)` the number of distinct tokens of `d`, and `N'(d,
//! q)` the number of those that are not in `q`. The mean over the first k documents, k = min(10,
//! results), is
//!
//! - the *fraction of query tokens*, `FQT(q) = (1/k) Σ N(d, q) / |d|`, from 0 to 1,
//! - the *fraction of novel terms*, `FNT(q) = (1/k) Σ N'(d, q) / U(d)`, from 0 to 1
//!
//! (Padigela, Zamani and Croft, 2019, equations 1 and 2). The paper names no tokenizer and no stop
//! list and does not mention stemming, so none is applied. A document without remaining tokens is
//! skipped, and k is one less.

use std::collections::BTreeSet;

use crate::text::Analyzer;

/// Returns the distinct tokens of a query that are not stop words.
pub fn query_tokens_without_stop_words(analyzer: &Analyzer, query: &str) -> BTreeSet<String> {
    let terms = analyzer.terms_with_positions(query);
    terms.into_iter().map(|it| it.0).collect()
}

/// Returns `N(d, q) / |d|` and `N'(d, q) / U(d)` of one document; `None` if no token is left.
pub fn query_token_and_novel_term_fractions(
    analyzer: &Analyzer,
    query: &BTreeSet<String>,
    text: &str,
) -> Option<[f64; 2]> {
    let terms = analyzer.terms_with_positions(text);
    let n_asked = terms.iter().filter(|it| query.contains(&it.0)).count();
    let distinct: BTreeSet<&str> = terms.iter().map(|it| it.0.as_str()).collect();
    let n_novel = distinct.iter().filter(|it| !query.contains(**it)).count();
    (!terms.is_empty()).then(|| {
        [
            n_asked as f64 / terms.len() as f64,
            n_novel as f64 / distinct.len() as f64,
        ]
    })
}

/// Returns FQT and FNT of the top documents of a ranking; `None` without a document or a remaining
/// query token.
pub fn mean_query_and_novel_fractions<'a>(
    analyzer: &Analyzer,
    query: &BTreeSet<String>,
    texts: impl Iterator<Item = &'a str>,
) -> Option<[f64; 2]> {
    if query.is_empty() {
        return None;
    }
    let shares: Vec<[f64; 2]> = texts
        .filter_map(|it| query_token_and_novel_term_fractions(analyzer, query, it))
        .collect();
    let n = shares.len() as f64;
    let mean = |of: usize| shares.iter().map(|it| it[of]).sum::<f64>() / n;
    (!shares.is_empty()).then(|| [mean(0), mean(1)])
}
