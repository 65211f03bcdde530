//! Grid search for the parameters of a lexical ranker, by an effectiveness measure over queries
//! with judgments.
//!
//! Rennings, Moraes and Hauff (ECIR 2019) tuned BM25 and query likelihood for MAP in this way. Each
//! point of the grid ranks the same candidates; if several points are equally good, the first in
//! the order of the grid is the best.

use serde::{Deserialize, Serialize};

use crate::collection::{Qrels, Run, RunEntry};
use crate::effectiveness::{EffectivenessMeasure, evaluate_run};
use crate::error::Error;
use crate::index::term_statistics::DistinctQueryTerms;
use crate::index::{DocNo, DocumentAndTermTotals, Index};
use crate::probe::features::DocumentFeatures;
use crate::rank::{Bm25, LexicalRanker, QueryLikelihood};

/// The parameter values to try, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterGrid {
    /// The parameter of the rows, for example `k1`; empty if there is one row.
    pub row_parameter: &'static str,
    /// Its values, as shown.
    pub row_values: Vec<f64>,
    /// The parameter of the columns, `b` or `μ`.
    pub column_parameter: &'static str,
    /// Its values, as shown.
    pub column_values: Vec<f64>,
    /// The rankers, shape rows × columns.
    pub rankers: Vec<LexicalRanker>,
}

/// The mean of a measure at each point of a grid, with the best point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridSearchResult {
    /// Name of the measure, for example AP.
    pub measure: String,
    /// The number of queries with judgments and candidates.
    pub n_queries: u64,
    /// For each ranker of the grid, its mean over these queries.
    pub values: Vec<f64>,
    /// Index of the best value.
    pub best_index: usize,
}

impl ParameterGrid {
    /// Returns the usual grid of a lexical ranker; parameters that the grid does not vary keep
    /// their values. Returns an error unless the ranker is BM25 or query likelihood with Dirichlet
    /// smoothing.
    pub fn default_for_ranker(ranker: &LexicalRanker) -> Result<ParameterGrid, Error> {
        match *ranker {
            LexicalRanker::Bm25(usual) => {
                let rows: Vec<f64> = (1..=20).map(|it| f64::from(it) / 10.0).collect();
                let columns: Vec<f64> = (0..=10).map(|it| f64::from(it) / 10.0).collect();
                let each = rows.iter().flat_map(|&k1| {
                    let columns = columns.iter();
                    columns.map(move |&b| LexicalRanker::Bm25(Bm25 { k1, b, ..usual }))
                });
                Ok(ParameterGrid {
                    rankers: each.collect(),
                    row_parameter: "k1",
                    column_parameter: "b",
                    row_values: rows,
                    column_values: columns,
                })
            }
            LexicalRanker::QueryLikelihood(QueryLikelihood::Dirichlet { .. }) => {
                let columns = [
                    50.0, 100.0, 250.0, 500.0, 750.0, 1_000.0, 1_500.0, 2_000.0, 2_500.0, 3_000.0,
                    4_000.0, 5_000.0,
                ];
                let with =
                    |&mu: &f64| LexicalRanker::QueryLikelihood(QueryLikelihood::Dirichlet { mu });
                Ok(ParameterGrid {
                    rankers: columns.iter().map(with).collect(),
                    row_parameter: "",
                    row_values: vec![0.0],
                    column_parameter: "μ",
                    column_values: columns.to_vec(),
                })
            }
            LexicalRanker::QueryLikelihood(_) => Err(Error::unsupported_value(
                "ranker",
                "only μ of Dirichlet smoothing can be tuned; use bm25, or ql without lambda",
            )),
        }
    }
}

/// A query with the term counts of the documents that are ranked for it.
pub struct QueryWithDocumentTermCounts {
    id: String,
    terms: DistinctQueryTerms,
    docs: Vec<(String, Vec<u32>, u32)>,
}

impl QueryWithDocumentTermCounts {
    /// Counts the terms of the documents of a query; `doc_id` returns the id of a document.
    pub fn from_ranked_documents(
        index: &Index,
        id: &str,
        query: &str,
        docs: &[DocNo],
        doc_id: impl Fn(DocNo) -> String,
    ) -> QueryWithDocumentTermCounts {
        let terms = index.query_term_statistics(query);
        let docs = docs.iter().map(|&doc| {
            let counted = DocumentFeatures::from_terms(&index.term_sequence_of_doc(doc), &terms);
            (doc_id(doc), counted.term_counts, counted.n_terms)
        });
        QueryWithDocumentTermCounts {
            docs: docs.collect(),
            id: id.to_owned(),
            terms,
        }
    }

    fn rank(&self, ranker: &LexicalRanker, totals: &DocumentAndTermTotals) -> Vec<RunEntry> {
        let weighed = ranker.prepare_query_scorer(&self.terms, totals);
        let docs = self.docs.iter();
        docs.map(|(doc, counts, len)| RunEntry {
            doc: doc.clone(),
            rank: 0,
            score: weighed.score(counts, *len),
        })
        .collect()
    }
}

/// Returns the mean of a measure for one point of a grid, with the number of queries; `None` if no
/// query has judgments.
pub fn mean_measure_at_grid_point(
    queries: &[QueryWithDocumentTermCounts],
    ranker: &LexicalRanker,
    totals: &DocumentAndTermTotals,
    qrels: &Qrels,
    measure: EffectivenessMeasure,
) -> Option<(f64, u64)> {
    let each = queries.iter();
    let run = each.map(|it| (it.id.clone(), it.rank(ranker, totals)));
    let found = evaluate_run(qrels, &Run(run.collect()), &[measure])?;
    Some((found.mean[0], found.per_query.len() as u64))
}

/// Collects the values of a grid, with their numbers of queries, and finds the best; `None` if
/// empty.
pub fn collect_grid_results(measure: &str, values: Vec<(f64, u64)>) -> Option<GridSearchResult> {
    let n_queries = values.first()?.1;
    let values: Vec<f64> = values.into_iter().map(|it| it.0).collect();
    let mut best = 0;
    for (at, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = at;
        }
    }
    Some(GridSearchResult {
        measure: measure.to_owned(),
        n_queries,
        values,
        best_index: best,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Analyzer;

    /// `a` is relevant, long, and has the query term twice; `b` is short and has it once. Without
    /// length normalization (b = 0) `a` comes first.
    #[test]
    fn the_best_point_puts_the_relevant_document_first() {
        let long = format!("river river {}", "of mud and stone ".repeat(20));
        let index = Index::build(&Analyzer::default(), [long.as_str(), "river", "sea", "sky"]);
        let index = index.unwrap();
        let ids = ["a", "b", "c", "d"];
        let name = |it: DocNo| ids[it as usize].to_owned();
        let queries = [QueryWithDocumentTermCounts::from_ranked_documents(
            &index,
            "q",
            "river",
            &[0, 1, 2, 3],
            name,
        )];
        let mut qrels = Qrels::default();
        qrels.0.insert("q".to_owned(), [("a".to_owned(), 1)].into());
        let grid = ParameterGrid::default_for_ranker(&LexicalRanker::Bm25(Bm25::DEFAULT)).unwrap();
        assert_eq!(
            grid.rankers.len(),
            grid.row_values.len() * grid.column_values.len()
        );
        let measure: EffectivenessMeasure = "AP".parse().unwrap();
        let values = grid.rankers.iter();
        let values = values.map(|it| {
            mean_measure_at_grid_point(&queries, it, &index.collection_totals(), &qrels, measure)
        });
        let values: Vec<(f64, u64)> = values.collect::<Option<_>>().unwrap();
        let found = collect_grid_results("AP", values).unwrap();
        // The first row, k1 = .1, begins with b = 0.
        assert_eq!(
            (found.best_index, found.values[0], found.n_queries),
            (0, 1.0, 1)
        );
        assert_eq!(found.values[10], 0.5);
    }

    #[test]
    fn a_formula_without_a_grid_is_refused() {
        let ranker: LexicalRanker = "ql:lambda=0.5".parse().unwrap();
        assert!(
            ParameterGrid::default_for_ranker(&ranker)
                .unwrap_err()
                .to_string()
                .contains("Dirichlet")
        );
        let ranker: LexicalRanker = "ql".parse().unwrap();
        assert_eq!(
            ParameterGrid::default_for_ranker(&ranker)
                .unwrap()
                .rankers
                .len(),
            12
        );
    }
}
