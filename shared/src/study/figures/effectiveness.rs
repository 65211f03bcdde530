//! Effectiveness of the rankers, with the marks of Rennings, Moraes and Hauff (ECIR 2019, table 2):
//! which other rankers a ranker is better than, by Wilcoxon's signed-rank test over queries.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::collection::{Run, RunEntry};
use crate::effectiveness::{EffectivenessMeasure, RunEvaluation, evaluate_run};
use crate::score::RankerQueryDocumentScores;
use crate::stats::{EstimateWithInterval, bootstrap, wilcoxon};
use crate::study::Study;
use crate::study::controls::InstanceFilter;
use crate::study::measures::MEASURES;
use crate::study::overview::StudyOverview;

/// A ranker is better than another if `p` is below this, uncorrected as in the paper.
pub const SIGNIFICANCE_LEVEL: f64 = 0.05;

/// The effectiveness of each ranker by each measure, over the pools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EffectivenessTable {
    /// The names of the measures, for example `nDCG@10`.
    pub measures: Vec<String>,
    /// Cells, shape rankers × measures; `None` for a ranker without a query that has judgments.
    pub rows: Vec<Vec<Option<EffectivenessCell>>>,
}

/// The effectiveness of one ranker by one measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EffectivenessCell {
    /// The mean over queries, with a 95 % interval.
    pub mean: EstimateWithInterval,
    /// The rows of the rankers that it is significantly better than.
    pub better_than: Vec<u32>,
    /// The mean with the text of another query, for rankers that were trained for the study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swapped: Option<f64>,
}

/// For each ranker, the values of each measure for each query with judgments, by measure; `None`
/// without judgments.
pub(super) type EffectivenessByRankerAndQuery = Vec<Option<BTreeMap<String, Vec<f64>>>>;

impl Study {
    /// Computes the value of every measure for every ranker and query.
    pub(super) fn per_query_effectiveness(
        &self,
        filter: &InstanceFilter<'_>,
    ) -> EffectivenessByRankerAndQuery {
        let rankers = self.scores.iter();
        rankers
            .map(|it| self.evaluate_ranker(it, filter).map(|it| it.per_query))
            .collect()
    }

    /// Evaluates a ranker's ranking of the pools; `None` without judgments.
    pub(in crate::study) fn evaluate_ranker(
        &self,
        scores: &RankerQueryDocumentScores,
        filter: &InstanceFilter<'_>,
    ) -> Option<RunEvaluation> {
        let mut run = Run::default();
        let pools = self.pools.iter().enumerate();
        for (query, pool) in pools.filter(|it| filter.includes_query(it.0)) {
            let ranked = pool.iter().filter_map(|&text| {
                let score = scores.score_at_position(self.pairs.position_of_pair(query, text)?)?;
                Some(RunEntry {
                    doc: self.study_doc_id(text),
                    rank: 0,
                    score,
                })
            });
            let id = self.queries[query].id.clone();
            run.0.insert(id, ranked.collect());
        }
        let measures = MEASURES.iter().map(|it| {
            let parsed: EffectivenessMeasure = it.parse().expect("these names are in the grammar");
            parsed
        });
        evaluate_run(&self.qrels, &run, &measures.collect::<Vec<_>>())
    }
}

impl EffectivenessTable {
    /// Creates the table; `None` if no ranker has a query with judgments.
    pub(super) fn from_per_query_values(
        measures: &[String],
        per_query: &EffectivenessByRankerAndQuery,
    ) -> Option<EffectivenessTable> {
        per_query.iter().flatten().next()?;
        let rows = (0..per_query.len()).map(|row| {
            let rated = (0..measures.len()).map(|measure| rated(per_query, row, measure));
            rated.collect()
        });
        Some(EffectivenessTable {
            measures: measures.to_vec(),
            rows: rows.collect(),
        })
    }

    /// Adds the values of trained rankers for another query.
    pub(super) fn add_swapped_values(&mut self, overview: &StudyOverview) {
        for (row, ranker) in self.rows.iter_mut().zip(&overview.rows) {
            let Some(training) = &ranker.training else {
                continue;
            };
            for (cell, swapped) in row.iter_mut().zip(&training.swapped_effectiveness) {
                if let Some(cell) = cell {
                    cell.swapped = *swapped;
                }
            }
        }
    }
}

fn rated(
    per_query: &EffectivenessByRankerAndQuery,
    row: usize,
    measure: usize,
) -> Option<EffectivenessCell> {
    let own = per_query[row].as_ref()?;
    let values: Vec<f64> = own.values().map(|it| it[measure]).collect();
    let mean = bootstrap::bootstrap_mean(&values)?;
    let is_better = |other: &BTreeMap<String, Vec<f64>>| {
        let both = own.iter().filter_map(|(query, values)| {
            let theirs = other.get(query)?;
            Some((values[measure], theirs[measure]))
        });
        let (ours, theirs): (Vec<f64>, Vec<f64>) = both.unzip();
        let ahead = ours.iter().sum::<f64>() > theirs.iter().sum::<f64>();
        ahead && wilcoxon::wilcoxon_signed_rank_p_value(&ours, &theirs) < SIGNIFICANCE_LEVEL
    };
    let others = per_query.iter().enumerate().filter(|(at, other)| {
        let other = other.as_ref().filter(|_| *at != row);
        other.is_some_and(is_better)
    });
    Some(EffectivenessCell {
        mean,
        better_than: others.map(|it| it.0 as u32).collect(),
        swapped: None,
    })
}
