//! Statistics of a collection and of query terms, as lexical rankers need them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Index;
use crate::text::vocabulary::TermNo;
use crate::text::{Analyzer, Vocabulary};

/// The numbers of documents and term occurrences of a collection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DocumentAndTermTotals {
    /// N, the number of documents, including empty ones.
    pub n_docs: u64,
    /// T, the number of occurrences of all terms.
    pub n_terms: u64,
}

impl DocumentAndTermTotals {
    /// Returns the average document length, in terms; 0 without documents.
    pub fn average_document_length(&self) -> f64 {
        if self.n_docs == 0 {
            0.0
        } else {
            self.n_terms as f64 / self.n_docs as f64
        }
    }

    /// Returns ln(N / df) of a term that `df` documents contain; 0 if none does.
    pub fn idf(&self, df: u32) -> f64 {
        match df {
            0 => 0.0,
            df => libm::log(self.n_docs as f64 / f64::from(df)),
        }
    }
}

/// The document frequency and the collection frequency of a term.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TermStatistics {
    /// The number of documents that contain the term.
    pub df: u32,
    /// The number of occurrences in all documents.
    pub cf: u64,
}

/// One distinct term of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryTermStatistics {
    /// The term, after analysis.
    pub term: String,
    /// The number of the term in the vocabulary of the index; `None` if no document can contain it.
    pub term_no: Option<TermNo>,
    /// c(w, Q), the number of occurrences in the query.
    pub count: u32,
    /// The positions of the term among the terms of the query.
    pub positions: Vec<u32>,
    /// df, the number of documents of the collection that contain the term.
    pub df: u32,
    /// cf, the number of occurrences in the collection.
    pub cf: u64,
}

/// The distinct terms of a query, in order of first appearance.
pub type DistinctQueryTerms = Vec<QueryTermStatistics>;

/// Returns the distinct terms of a query with their counts; `look_up` returns the statistics of a
/// term.
pub fn distinct_query_terms_with_statistics(
    analyzer: &Analyzer,
    query: &str,
    mut look_up: impl FnMut(&str) -> (Option<TermNo>, u32, u64),
) -> DistinctQueryTerms {
    let mut distinct: DistinctQueryTerms = Vec::new();
    for (place, (term, _)) in analyzer.terms_with_positions(query).into_iter().enumerate() {
        if let Some(known) = distinct.iter_mut().find(|it| it.term == term) {
            known.count += 1;
            known.positions.push(place as u32);
            continue;
        }
        let (number, df, cf) = look_up(&term);
        distinct.push(QueryTermStatistics {
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
    /// Returns the distinct terms of a query with their statistics in this collection.
    pub fn query_term_statistics(&self, query: &str) -> DistinctQueryTerms {
        let vocabulary: &Vocabulary = self.vocabulary();
        distinct_query_terms_with_statistics(vocabulary.analyzer(), query, |term| match vocabulary
            .term_no(term)
        {
            Some(number) => (Some(number), self.df(number), self.cf(number)),
            None => (None, 0, 0),
        })
    }
}
