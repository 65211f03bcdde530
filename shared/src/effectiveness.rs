//! Effectiveness of rankings by relevance judgments, with the same values as NIST's `trec_eval`.
//!
//! A query's documents are ordered by score, highest first, and equal scores by document id, the
//! last in byte order first; the ranks in a run file are ignored. Like `trec_eval`
//! (<https://github.com/usnistgov/trec_eval>, `form_res_rels.c`) this compares scores as 32-bit
//! floats, so that scores that differ only in further digits are equal. With `g(i)` the grade of
//! the document at rank `i` (0 without a judgment), `r(i)` 1 if `g(i)` is at least the minimum
//! relevant grade and 0 otherwise, `R` the number of documents with at least that grade, and `k`
//! the cutoff:
//!
//! - `nDCG@k`: `Σ g(i) / log2(i + 1)` over `i <= k` with `g(i) > 0`, over the same sum for the
//!   judged documents in order of their grades (Järvelin and Kekäläinen, ACM TOIS 20, 2002;
//!   gains and discount as in `m_ndcg_cut.c`),
//! - `AP@k`: `Σ r(i) · P(i) / R` over `i <= k`,
//! - `RR@k`: `1 / i` for the first `i <= k` with `r(i) = 1`,
//! - `P@k`: `Σ r(i) / k` over `i <= k`, also where fewer than `k` documents were retrieved,
//! - `R@k`: `Σ r(i) / R` over `i <= k`.
//!
//! A query without a relevant document counts as 0. The mean is over queries that have both
//! relevance judgments and retrieved documents, as in `trec_eval` without `-c`.

pub mod measure;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::collection::{Qrels, Run, RunEntry};

pub use measure::EffectivenessMeasure;

/// The effectiveness of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunEvaluation {
    /// The mean over queries, one for each measure.
    pub mean: Vec<f64>,
    /// The values of each query by its id, one for each measure.
    pub per_query: BTreeMap<String, Vec<f64>>,
}

/// Evaluates the queries that have both judgments and ranked documents; `None` if there is no such
/// query.
pub fn evaluate_run(
    qrels: &Qrels,
    run: &Run,
    measures: &[EffectivenessMeasure],
) -> Option<RunEvaluation> {
    let mut per_query = BTreeMap::new();
    for (query, rows) in &run.0 {
        if let Some(grades) = qrels.0.get(query).filter(|_| !rows.is_empty()) {
            let ranking = Ranking::new(grades, rows);
            let values: Vec<f64> = measures.iter().map(|&it| ranking.value(it)).collect();
            per_query.insert(query.clone(), values);
        }
    }
    if per_query.is_empty() {
        return None;
    }
    let mean = (0..measures.len()).map(|at| mean(per_query.values().map(|it| it[at])));
    Some(RunEvaluation {
        mean: mean.collect(),
        per_query,
    })
}

/// Returns the documents of a query in the order in which they are evaluated.
pub(crate) fn sort_like_trec_eval(rows: &[RunEntry]) -> Vec<&str> {
    // Adding 0 turns −0 into 0.
    let mut order: Vec<(f32, &str)> = rows
        .iter()
        .map(|it| (it.score as f32 + 0.0, it.doc.as_str()))
        .collect();
    order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(a.1)));
    order.into_iter().map(|it| it.1).collect()
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    sum(values) / n
}

/// Sums numbers; unlike `Iterator::sum`, the sum of no numbers is 0 and not −0, which would be
/// printed with its sign.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}

/// The grades of one query's documents.
struct Ranking {
    /// The grades by rank; 0 without a judgment.
    retrieved: Vec<i32>,
    /// The grades of all documents with a judgment, highest first.
    judged: Vec<i32>,
}

impl Ranking {
    fn new(grades: &BTreeMap<String, i32>, rows: &[RunEntry]) -> Ranking {
        let retrieved = sort_like_trec_eval(rows)
            .into_iter()
            .map(|doc| grades.get(doc).copied().unwrap_or(0));
        let mut judged: Vec<i32> = grades.values().copied().collect();
        judged.sort_unstable_by_key(|&grade| Reverse(grade));
        Ranking {
            retrieved: retrieved.collect(),
            judged,
        }
    }

    fn value(&self, measure: EffectivenessMeasure) -> f64 {
        match measure {
            EffectivenessMeasure::Ndcg { cutoff: cut } => ratio(
                gain(first(&self.retrieved, cut)),
                gain(first(&self.judged, cut)),
            ),
            EffectivenessMeasure::Ap { rel, cutoff: cut } => {
                let hits = self.hits(rel, cut).enumerate();
                // At the n-th relevant document, at rank i, precision is n / i.
                let precisions = hits.map(|(n_before, rank)| (n_before + 1) as f64 / rank as f64);
                ratio(sum(precisions), self.n_relevant(rel))
            }
            EffectivenessMeasure::Rr { rel, cutoff: cut } => self
                .hits(rel, cut)
                .next()
                .map_or(0.0, |rank| 1.0 / rank as f64),
            EffectivenessMeasure::Precision { rel, cutoff: cut } => {
                self.hits(rel, Some(cut)).count() as f64 / f64::from(cut)
            }
            EffectivenessMeasure::Recall { rel, cutoff: cut } => ratio(
                self.hits(rel, Some(cut)).count() as f64,
                self.n_relevant(rel),
            ),
        }
    }

    /// Returns the ranks, from 1, of documents with a grade of at least `rel`.
    fn hits(&self, rel: i32, cut: Option<u32>) -> impl Iterator<Item = usize> + '_ {
        let ranks = first(&self.retrieved, cut).iter().zip(1..);
        ranks
            .filter(move |&(&grade, _)| grade >= rel)
            .map(|(_, rank)| rank)
    }

    fn n_relevant(&self, rel: i32) -> f64 {
        self.judged.iter().filter(|&&grade| grade >= rel).count() as f64
    }
}

/// Returns the discounted cumulative gain: the gain is the grade, and 0 for grades below 1.
fn gain(grades: &[i32]) -> f64 {
    let ranked = grades.iter().zip(1_u32..).filter(|&(&grade, _)| grade > 0);
    sum(ranked.map(|(&grade, rank)| f64::from(grade) / libm::log2(f64::from(rank) + 1.0)))
}

fn first(grades: &[i32], cut: Option<u32>) -> &[i32] {
    &grades[..cut.map_or(grades.len(), |cut| grades.len().min(cut as usize))]
}

/// Returns a ratio; 0 if the denominator is 0, as in `trec_eval`.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests;
