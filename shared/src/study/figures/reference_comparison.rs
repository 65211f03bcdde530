//! Differences between the rankers and a reference ranker, axiom by axiom.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::probe::{ProbeInstances, ScoreClaim, StudyDocNo, TieAgreementWithClaim};
use crate::score::RankerQueryDocumentScores;
use crate::stats::multiple_testing::holm_correction;
use crate::stats::randomization::{self, SatisfiedFractionDifference, TwoRankerSatisfiedCounts};
use crate::study::Study;
use crate::study::controls::{InstanceFilter, StudyPageControls};
use crate::verdict::VerdictOutcome;

/// Every ranker compared with the reference, over the instances on which both have a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ComparisonWithReferenceRanker {
    /// Row of the ranker that the others are compared with.
    pub reference: u32,
    /// Differences, shape rankers × axioms; `None` for the reference itself, and if no instance has
    /// a verdict for both.
    pub rows: Vec<Vec<Option<SatisfiedFractionDifference>>>,
    /// The number of tests in Holm's correction.
    pub n_tests: u64,
}

impl Study {
    /// Compares every ranker with the reference ranker, which is named by its row.
    pub(super) fn compare_satisfaction_with_reference_ranker(
        &self,
        shown: &[&ProbeInstances],
        filter: &InstanceFilter<'_>,
        dials: &StudyPageControls,
        reference: usize,
    ) -> ComparisonWithReferenceRanker {
        let judging = ComparisonContext {
            study: self,
            filter,
            dials,
        };
        type ComparisonRow = Vec<Option<SatisfiedFractionDifference>>;
        let row = |(at, scores): (usize, &RankerQueryDocumentScores)| -> ComparisonRow {
            let others = shown.iter().map(|instances| {
                let other = self.scores.get(reference).filter(|_| at != reference)?;
                randomization::compare_satisfied_fractions(
                    &judging.paired(instances, scores, other),
                )
            });
            others.collect()
        };
        let mut rows: Vec<ComparisonRow> = self.scores.iter().enumerate().map(row).collect();
        let found = rows.iter().flatten().flatten();
        let corrected = holm_correction(&found.map(|it| it.p).collect::<Vec<f64>>());
        let cells = rows.iter_mut().flatten().flatten();
        cells.zip(&corrected).for_each(|(it, &p)| it.p_holm = p);
        ComparisonWithReferenceRanker {
            reference: reference as u32,
            n_tests: corrected.len() as u64,
            rows,
        }
    }
}

/// What a comparison of two rankers on the instances of a study needs.
pub(in crate::study) struct ComparisonContext<'a> {
    /// The study with the instances and the scores.
    pub study: &'a Study,
    /// Which instances count.
    pub filter: &'a InstanceFilter<'a>,
    /// The controls, for the tie threshold.
    pub dials: &'a StudyPageControls,
}

impl ComparisonContext<'_> {
    /// Counts for each query the instances on which both rankers have a verdict, and those on which
    /// each agrees.
    pub(in crate::study) fn paired(
        &self,
        instances: &ProbeInstances,
        first: &RankerQueryDocumentScores,
        second: &RankerQueryDocumentScores,
    ) -> Vec<TwoRankerSatisfiedCounts> {
        let tie_agrees = instances.claim.tie_agreement_with_claim();
        let agrees =
            |scores: &RankerQueryDocumentScores, query: usize, claim: ScoreClaim<StudyDocNo>| {
                let width = self.dials.tie_threshold_for_ranker(scores);
                let counts = self
                    .filter
                    .includes_instance(instances, query, claim, Some(scores));
                let verdict = counts.then(|| {
                    self.study
                        .ranker_verdict_on_claim(scores, query, claim, width)
                });
                Some(agrees(verdict??.outcome, tie_agrees))
            };
        let of_query = |query: usize| {
            let mut paired = TwoRankerSatisfiedCounts::default();
            for claim in instances.claims_of_query(query) {
                let both = agrees(first, query, claim).zip(agrees(second, query, claim));
                if let Some((first, second)) = both {
                    paired.n_verdicts += 1;
                    paired.n_agreeing_first += u64::from(first);
                    paired.n_agreeing_second += u64::from(second);
                }
            }
            paired
        };
        (0..instances.n_queries()).map(of_query).collect()
    }
}

fn agrees(outcome: VerdictOutcome, tie_agrees: TieAgreementWithClaim) -> bool {
    match (outcome, tie_agrees) {
        (VerdictOutcome::Satisfied, _) | (VerdictOutcome::Tied, TieAgreementWithClaim::Agrees) => {
            true
        }
        (VerdictOutcome::Violated, _)
        | (VerdictOutcome::Tied, TieAgreementWithClaim::Disagrees) => false,
    }
}
