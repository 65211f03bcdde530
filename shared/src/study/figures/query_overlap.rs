//! Effectiveness by how many of the query terms relevant documents contain (Câmara and Hauff, ECIR
//! 2020, figure 1): queries in thirds by `|Q ∩ d| / |Q|` over distinct terms, averaged if a query
//! has several relevant documents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::effectiveness::EffectivenessByRankerAndQuery;
use crate::stats::quantile::quantile_of_sorted;
use crate::stats::{EstimateWithInterval, bootstrap};
use crate::study::Study;
use crate::study::controls::InstanceFilter;

/// The mean effectiveness in each third of the queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EffectivenessByQueryTermOverlap {
    /// The name of the measure, for example `nDCG@10`.
    pub measure: String,
    /// The overlaps at which the second and the last third begin.
    pub edges: [f64; 2],
    /// Thirds of all queries with a relevant document.
    pub all_queries: EffectivenessPerOverlapThird,
    /// Thirds of the queries with a relevant document in the pool.
    pub relevant_in_pool: EffectivenessPerOverlapThird,
}

/// The queries in thirds of low, medium and high overlap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EffectivenessPerOverlapThird {
    /// The number of queries in each third.
    pub n_queries: [u64; 3],
    /// For each ranker the mean in each third; `None` if it has no query.
    pub rows: Vec<[Option<EstimateWithInterval>; 3]>,
    /// For each ranker the means when it reads the text of another query; `None` in each third if
    /// it was not trained for the study.
    pub swapped_rows: Vec<[Option<EstimateWithInterval>; 3]>,
}

impl EffectivenessPerOverlapThird {
    /// Returns a name and the means for each ranker, and after a trained ranker those for another
    /// query.
    pub fn named_rows(
        &self,
        labels: &[String],
    ) -> Vec<(String, [Option<EstimateWithInterval>; 3])> {
        let mut named = Vec::new();
        for ((label, own), swapped) in labels.iter().zip(&self.rows).zip(&self.swapped_rows) {
            named.push((label.clone(), *own));
            if swapped.iter().any(Option::is_some) {
                named.push((format!("{label}, another query"), *swapped));
            }
        }
        named
    }
}

impl EffectivenessByQueryTermOverlap {
    pub(super) fn from_per_query_values(
        study: &Study,
        filter: &InstanceFilter<'_>,
        name: &str,
        measure: usize,
        per_query: &EffectivenessByRankerAndQuery,
    ) -> Option<EffectivenessByQueryTermOverlap> {
        let overlaps = study.query_overlap.iter().enumerate();
        let overlaps = overlaps.filter(|it| filter.includes_query(it.0));
        let known: Vec<(usize, f64)> = overlaps.filter_map(|(at, it)| Some((at, (*it)?))).collect();
        let mut sorted: Vec<f64> = known.iter().map(|it| it.1).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let edges = [
            quantile_of_sorted(&sorted, 1.0 / 3.0)?,
            quantile_of_sorted(&sorted, 2.0 / 3.0)?,
        ];
        let third = |overlap: f64| edges.iter().filter(|it| overlap > **it).count();
        let relevant = |&&(query, _): &&(usize, f64)| {
            let mut pool = study.pools[query].iter();
            pool.any(|&text| study.relevance_grade(query, text).is_some_and(|it| it >= 1))
        };
        let pooled: Vec<(usize, f64)> = known.iter().filter(relevant).copied().collect();
        let swapped = |scores| {
            Some(
                study
                    .trained_ranker_record(scores)?
                    .swapped_effectiveness
                    .clone(),
            )
        };
        let swapped: EffectivenessByRankerAndQuery = study.scores.iter().map(swapped).collect();
        let thirds = |queries: &[(usize, f64)]| {
            let mut n_queries = [0; 3];
            for (_, overlap) in queries {
                n_queries[third(*overlap)] += 1;
            }
            let row = |values: &Option<_>| {
                [0, 1, 2].map(|wanted| {
                    let values: &BTreeMap<String, Vec<f64>> = values.as_ref()?;
                    let here = queries.iter().filter(|it| third(it.1) == wanted);
                    let found = here.filter_map(|it| {
                        let values = values.get(&study.queries[it.0].id)?;
                        Some(values[measure])
                    });
                    bootstrap::bootstrap_mean(&found.collect::<Vec<f64>>())
                })
            };
            EffectivenessPerOverlapThird {
                n_queries,
                rows: per_query.iter().map(row).collect(),
                swapped_rows: swapped.iter().map(row).collect(),
            }
        };
        Some(EffectivenessByQueryTermOverlap {
            measure: name.to_owned(),
            edges,
            all_queries: thirds(&known),
            relevant_in_pool: thirds(&pooled),
        })
    }
}
