//! What a ranking formula needs to know of a collection and of a query's terms in it.

use serde::{Deserialize, Serialize};

use super::Index;
use crate::text::vocabulary::TermNo;
use crate::text::{Analyzer, Vocabulary};

/// The number of documents and of term occurrences of a collection. Stored studies and HTTP
/// responses contain it as JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CollectionTotals {
    /// N, documents, empty ones included.
    pub n_docs: u64,
    /// T, occurrences of all terms.
    pub n_terms: u64,
}

impl CollectionTotals {
    /// Average length of a document, in terms; 0 for no documents.
    pub fn average_length(&self) -> f64 {
        if self.n_docs == 0 {
            0.0
        } else {
            self.n_terms as f64 / self.n_docs as f64
        }
    }
}

/// One distinct term of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryTerm {
    /// After analysis.
    pub term: String,
    /// In the vocabulary that texts are counted with; none if no text can hold it.
    pub term_no: Option<TermNo>,
    /// c(w, Q), occurrences in the query.
    pub count: u32,
    /// Where it stands among the terms of the query.
    pub positions: Vec<u32>,
    /// n, documents of the collection that hold it.
    pub df: u32,
    /// cf, occurrences in the collection.
    pub cf: u64,
}

/// The distinct terms of a query, in order of first appearance.
pub type QueryTerms = Vec<QueryTerm>;

/// Distinct terms with their counts in the query; statistics come from `look_up`.
pub fn query_terms(
    analyzer: &Analyzer,
    query: &str,
    mut look_up: impl FnMut(&str) -> (Option<TermNo>, u32, u64),
) -> QueryTerms {
    let mut distinct: QueryTerms = Vec::new();
    for (place, (term, _)) in analyzer.terms(query).into_iter().enumerate() {
        if let Some(known) = distinct.iter_mut().find(|it| it.term == term) {
            known.count += 1;
            known.positions.push(place as u32);
            continue;
        }
        let (number, df, cf) = look_up(&term);
        distinct.push(QueryTerm {
            term,
            term_no: number,
            count: 1,
            positions: vec![place as u32],
            df,
            cf,
        });
    }
    distinct
}

impl Index {
    /// The distinct terms of a query with their statistics in this collection.
    pub fn query_terms(&self, query: &str) -> QueryTerms {
        let vocabulary: &Vocabulary = self.vocabulary();
        query_terms(vocabulary.analyzer(), query, |term| {
            match vocabulary.term_no(term) {
                Some(number) => (Some(number), self.df(number), self.cf(number)),
                None => (None, 0, 0),
            }
        })
    }
}
