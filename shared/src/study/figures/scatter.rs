//! Whether rankers that follow the axioms are better rankers (Rennings, Moraes and Hauff, ECIR
//! 2019, section 4.4).

use serde::{Deserialize, Serialize};

use super::effectiveness::Effectiveness;
use crate::stats::correlation::{Correlation, pearson};
use crate::study::overview::Overview;

/// One point for each ranker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Scatter {
    /// Which measure: `nDCG@10`.
    pub measure: String,
    /// In the order of the rankers: effectiveness and the mean of the fractions over axioms;
    /// none where one of them is missing.
    pub points: Vec<Option<[f64; 2]>>,
    /// Pearson's r; none for fewer than four rankers.
    pub correlation: Option<Correlation>,
}

impl Scatter {
    pub(super) fn of(
        overview: &Overview,
        effectiveness: &Effectiveness,
        measure: usize,
    ) -> Scatter {
        let rows = overview.rankers.iter().zip(&effectiveness.rows);
        let points = rows.map(|(row, rated)| {
            let effect = rated[measure].as_ref()?.mean.value;
            let fractions: Vec<f64> = row
                .cells
                .iter()
                .map(|it| Some(it.as_ref()?.micro.value))
                .collect::<Option<_>>()?;
            let mean = fractions.iter().sum::<f64>() / fractions.len() as f64;
            Some([effect, mean])
        });
        let points: Vec<Option<[f64; 2]>> = points.collect();
        let known: Vec<[f64; 2]> = points.iter().flatten().copied().collect();
        Scatter {
            measure: effectiveness.measures[measure].clone(),
            correlation: pearson(&known),
            points,
        }
    }
}
