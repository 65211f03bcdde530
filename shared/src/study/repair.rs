//! What the repair of a trained ranker gained and cost: the repaired axioms, all others, and
//! effectiveness, before and after it, on queries that neither training has seen.
//!
//! Both rankers are compared on the same instances and queries. Fractions are tested by the paired
//! randomization test of [`crate::stats::randomization`], as is the mean difference of a measure
//! over queries; Holm's correction counts all rows of one repair.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Study;
use super::controls::{InstanceFilter, StudyPageControls};
use super::figures::reference_comparison::ComparisonContext;
use super::measures::MEASURES;
use super::trained_rankers::{StudyTraining, TrainedRankerRecord};
use crate::error::Error;
use crate::probe::{AxiomVariant, Probe, ProbeInstances};
use crate::score::RankerQueryDocumentScores;
use crate::stats::multiple_testing::holm_correction;
use crate::stats::randomization::{self, TwoRankerSatisfiedCounts};
use crate::stats::{EstimateWithInterval, bootstrap};

/// The measures that are compared.
const COMPARED_MEASURES: [&str; 3] = ["AP", "RR@10", "nDCG@10"];

/// A trained ranker before and after its repair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RepairComparison {
    /// The name of the training without the repair.
    pub before: String,
    /// The name of the training with it.
    pub after: String,
    /// The split of the queries, which neither training has seen.
    pub split: String,
    /// The number of its queries.
    pub n_queries: u64,
    /// The variant of the axioms.
    pub variant: AxiomVariant,
    /// The repaired axioms, the other axioms, then the measures.
    pub rows: Vec<RepairComparisonRow>,
}

/// One quantity before and after a repair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RepairComparisonRow {
    /// What is compared.
    pub quantity: RepairedQuantity,
    /// The value before the repair: a fraction of instances, or a mean over queries.
    pub before: f64,
    /// The value after it.
    pub after: f64,
    /// `after − before` with its 95 % interval over queries.
    pub difference: EstimateWithInterval,
    /// The two-sided p-value of the paired randomization test over queries.
    pub p: f64,
    /// `p` after Holm's correction over all rows.
    pub p_holm: f64,
    /// The number of instances with verdicts for both; `None` for a measure.
    pub n_instances: Option<u64>,
    /// The number of queries with such an instance, or with judgments.
    pub n_queries: u64,
}

/// A quantity that a repair may change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RepairedQuantity {
    /// An axiom for which examples were added.
    RepairedAxiom(Probe),
    /// Another axiom.
    OtherAxiom(Probe),
    /// A measure of effectiveness, such as `AP`.
    Measure(String),
}

impl RepairedQuantity {
    /// Returns the name of the axiom or measure.
    pub fn name(&self) -> String {
        match self {
            RepairedQuantity::RepairedAxiom(probe) | RepairedQuantity::OtherAxiom(probe) => {
                probe.name().to_string()
            }
            RepairedQuantity::Measure(name) => name.clone(),
        }
    }
}

/// Two rankers with the instances and queries on which they are compared.
struct RepairedRankerPair<'a> {
    context: ComparisonContext<'a>,
    before: &'a RankerQueryDocumentScores,
    after: &'a RankerQueryDocumentScores,
}

impl Study {
    /// Compares the rankers of each `repairs` of the definition that have been trained and scored,
    /// in a variant of the axioms; `None` takes the first one of the study.
    pub fn compare_repairs(
        &self,
        variant: Option<AxiomVariant>,
    ) -> Result<Vec<RepairComparison>, Error> {
        let compare = |training: &StudyTraining| {
            let before = self.find_training(training.repairs.as_deref()?)?;
            let after = self.find_training(&training.name)?;
            let split = training.spec.test.clone();
            let controls = StudyPageControls {
                variant,
                split,
                ..StudyPageControls::default()
            };
            self.compare_repair(before, after, &controls).transpose()
        };
        self.definition.train.iter().filter_map(compare).collect()
    }

    fn compare_repair(
        &self,
        before: &TrainedRankerRecord,
        after: &TrainedRankerRecord,
        controls: &StudyPageControls,
    ) -> Result<Option<RepairComparison>, Error> {
        controls.validate_for_study(self)?;
        let variant = controls.variant_shown_in_study(self)?;
        let scores_of = |record: &TrainedRankerRecord| {
            let mut scores = self.scores.iter();
            scores.find(|it| it.ranker.spec == record.ranker)
        };
        let Some((scores_before, scores_after)) = scores_of(before).zip(scores_of(after)) else {
            return Ok(None);
        };
        let filter = InstanceFilter::from_study_page_controls(self, controls);
        let pair = RepairedRankerPair {
            context: ComparisonContext {
                study: self,
                filter: &filter,
                dials: controls,
            },
            before: scores_before,
            after: scores_after,
        };
        let mut rows = Vec::new();
        let axioms: Vec<Probe> = self.definition.axioms().collect();
        let is_repaired = |probe: &Probe| after.added_axioms.contains(probe);
        let repaired = axioms.iter().filter(|it| is_repaired(it));
        for &probe in repaired.chain(axioms.iter().filter(|it| !is_repaired(it))) {
            let instances = self.instances_of_probe(probe, variant)?;
            let quantity = match is_repaired(&probe) {
                true => RepairedQuantity::RepairedAxiom(probe),
                false => RepairedQuantity::OtherAxiom(probe),
            };
            rows.extend(pair.compare_axiom(quantity, instances));
        }
        rows.extend(pair.compare_measures());
        let corrected = holm_correction(&rows.iter().map(|it| it.p).collect::<Vec<f64>>());
        rows.iter_mut()
            .zip(corrected)
            .for_each(|(row, p)| row.p_holm = p);
        let n_own = self.queries.len() - self.addition_counts.n_queries as usize;
        let n_queries = (0..n_own).filter(|&it| filter.includes_query(it)).count() as u64;
        Ok(Some(RepairComparison {
            before: before.record.name.clone(),
            after: after.record.name.clone(),
            split: controls.split.clone().unwrap_or_default(),
            n_queries,
            variant,
            rows,
        }))
    }
}

impl RepairedRankerPair<'_> {
    /// Compares the fractions of one axiom; `None` without an instance with verdicts for both.
    fn compare_axiom(
        &self,
        quantity: RepairedQuantity,
        instances: &ProbeInstances,
    ) -> Option<RepairComparisonRow> {
        // The difference is that of the first ranker minus the second.
        let counts = self.context.paired(instances, self.after, self.before);
        let found = randomization::compare_satisfied_fractions(&counts)?;
        let fraction = |n_agreeing: fn(&TwoRankerSatisfiedCounts) -> u64| {
            counts.iter().map(n_agreeing).sum::<u64>() as f64 / found.n_verdicts as f64
        };
        Some(RepairComparisonRow {
            quantity,
            before: fraction(|it| it.n_agreeing_second),
            after: fraction(|it| it.n_agreeing_first),
            difference: found.micro_average,
            p: found.p,
            p_holm: found.p,
            n_instances: Some(found.n_verdicts),
            n_queries: found.n_queries,
        })
    }

    /// Compares the effectiveness in the pools; nothing without judgments.
    fn compare_measures(&self) -> Vec<RepairComparisonRow> {
        let ComparisonContext { study, filter, .. } = self.context;
        let evaluate = |scores| study.evaluate_ranker(scores, filter);
        let Some((before, after)) = evaluate(self.before).zip(evaluate(self.after)) else {
            return Vec::new();
        };
        let compare = |name: &str| {
            let at = MEASURES.iter().position(|it| *it == name)?;
            let queries = before.per_query.iter();
            let values: Vec<[f64; 2]> = queries
                .filter_map(|(query, values)| Some([values[at], after.per_query.get(query)?[at]]))
                .collect();
            let differences: Vec<f64> = values.iter().map(|it| it[1] - it[0]).collect();
            let mean =
                |side: usize| values.iter().map(|it| it[side]).sum::<f64>() / values.len() as f64;
            let p = randomization::randomization_p_value_of_mean(&differences);
            Some(RepairComparisonRow {
                quantity: RepairedQuantity::Measure(name.to_owned()),
                before: mean(0),
                after: mean(1),
                difference: bootstrap::bootstrap_mean_difference(&differences)?,
                p,
                p_holm: p,
                n_instances: None,
                n_queries: values.len() as u64,
            })
        };
        COMPARED_MEASURES.into_iter().filter_map(compare).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests;
