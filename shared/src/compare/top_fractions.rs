//! What stands at the top of a list: how much of it is the query, and how much is new.
//!
//! With `d` a document's tokens that are no stop words, `q` those of the query, `N(d, q)` the
//! occurrences in `d` of any token of `q`, `U(d)` the distinct tokens of `d` and `N'(d, q)` those
//! of them that are not in `q`, the mean over the first k documents, k = min(10, results), is
//!
//! - the *fraction of query tokens*, `FQT(q) = (1/k) Σ N(d, q) / |d|`, from 0 to 1,
//! - the *fraction of novel terms*, `FNT(q) = (1/k) Σ N'(d, q) / U(d)`, from 0 to 1
//!
//! (Padigela, Zamani and Croft, 2019, equations 1 and 2). The paper names no tokenizer and no stop
//! list, and says nothing of stemming: there is none. A document in which nothing is left has no
//! share; it is passed over, and k is one less.

use std::collections::BTreeSet;

use crate::text::Analyzer;

/// The distinct tokens of a query that are no stop words.
pub fn query_tokens(analyzer: &Analyzer, query: &str) -> BTreeSet<String> {
    let terms = analyzer.terms(query);
    terms.into_iter().map(|it| it.0).collect()
}

/// `N(d, q) / |d|` and `N'(d, q) / U(d)` of one text; none where nothing of it is left.
pub fn document_fractions(
    analyzer: &Analyzer,
    query: &BTreeSet<String>,
    text: &str,
) -> Option<[f64; 2]> {
    let terms = analyzer.terms(text);
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

/// FQT and FNT of the texts at the top of a list; none without a text or a query token that is
/// left.
pub fn top_fractions<'a>(
    analyzer: &Analyzer,
    query: &BTreeSet<String>,
    texts: impl Iterator<Item = &'a str>,
) -> Option<[f64; 2]> {
    if query.is_empty() {
        return None;
    }
    let shares: Vec<[f64; 2]> = texts
        .filter_map(|it| document_fractions(analyzer, query, it))
        .collect();
    let n = shares.len() as f64;
    let mean = |of: usize| shares.iter().map(|it| it[of]).sum::<f64>() / n;
    (!shares.is_empty()).then(|| [mean(0), mean(1)])
}
