//! Effectiveness against agreement with the axioms: whether rankers that follow the axioms are more
//! effective (Rennings, Moraes and Hauff, ECIR 2019, section 4.4).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::effectiveness::EffectivenessTable;
use crate::probe::Probe;
use crate::stats::correlation::{CorrelationWithSampleSize, pearson_correlation};
use crate::study::overview::StudyOverview;

/// A scatter plot of effectiveness and axioms with one point for each ranker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EffectivenessScatterPlot {
    /// The name of the measure, for example `nDCG@10`.
    pub measure: String,
    /// The axioms on which every ranker has verdicts.
    pub axioms: Vec<Probe>,
    /// For each ranker its effectiveness and the mean of its fractions over these axioms; `None` if
    /// one of them is missing.
    pub points: Vec<Option<[f64; 2]>>,
    /// Pearson's r; `None` for fewer than four rankers.
    pub correlation: Option<CorrelationWithSampleSize>,
}

impl EffectivenessScatterPlot {
    pub(super) fn from_overview(
        overview: &StudyOverview,
        effectiveness: &EffectivenessTable,
        measure: usize,
    ) -> EffectivenessScatterPlot {
        let columns = overview.columns.iter().enumerate();
        let common: Vec<usize> = columns
            .filter(|(at, _)| overview.rows.iter().all(|it| it.cells[*at].is_some()))
            .map(|it| it.0)
            .collect();
        let rows = overview.rows.iter().zip(&effectiveness.rows);
        let points = rows.map(|(row, rated)| {
            let effect = rated[measure].as_ref()?.mean.value;
            let fractions: Vec<f64> = common
                .iter()
                .map(|&it| Some(row.cells[it].as_ref()?.micro_average.value))
                .collect::<Option<_>>()?;
            let mean = fractions.iter().sum::<f64>() / fractions.len() as f64;
            (!fractions.is_empty()).then_some([effect, mean])
        });
        let points: Vec<Option<[f64; 2]>> = points.collect();
        let known: Vec<[f64; 2]> = points.iter().flatten().copied().collect();
        EffectivenessScatterPlot {
            measure: effectiveness.measures[measure].clone(),
            axioms: common
                .iter()
                .map(|&it| overview.columns[it].probe)
                .collect(),
            correlation: pearson_correlation(&known),
            points,
        }
    }
}
