//! Verdicts: whether scores satisfy a claim, tie or violate it, and the margin.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::probe::{ProbeInstances, ScoreClaim, TieAgreementWithClaim};
use crate::score::{QueryDocumentPairs, RankerQueryDocumentScores};

/// The outcome of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictOutcome {
    /// The scores are as claimed and differ by more than the tie threshold.
    Satisfied,
    /// The two sides of the claim differ by at most the tie threshold.
    Tied,
    /// The scores contradict the claim.
    Violated,
}

impl VerdictOutcome {
    /// Lists all outcomes of a verdict: satisfied, tied and violated.
    pub const ALL: &[VerdictOutcome] = &[
        VerdictOutcome::Satisfied,
        VerdictOutcome::Tied,
        VerdictOutcome::Violated,
    ];
}

/// The outcome of one claim and its margin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct VerdictWithMargin {
    /// Satisfied, tied or violated.
    pub outcome: VerdictOutcome,
    /// Left side minus right side of the claim, in the unit of the scores; positive agrees with the
    /// claim.
    pub margin: f64,
}

impl ScoreClaim<f64> {
    /// Returns the verdict on the claim; its two sides tie if they differ by at most `tie_width`.
    /// [`ScoreClaim::Different`] is never violated.
    pub fn verdict(self, tie_width: f64) -> VerdictWithMargin {
        let margin = match self {
            ScoreClaim::Higher { winner, loser } | ScoreClaim::NotLower { winner, loser } => {
                winner - loser
            }
            ScoreClaim::Different { a, b } => (a - b).abs(),
            ScoreClaim::DiminishingGain { few, more, most } => (more - few) - (most - more),
        };
        // Never -0, so that equal margins have the same bits.
        let margin = margin + 0.0;
        let outcome = if margin.abs() <= tie_width {
            VerdictOutcome::Tied
        } else if margin > 0.0 {
            VerdictOutcome::Satisfied
        } else {
            VerdictOutcome::Violated
        };
        VerdictWithMargin { outcome, margin }
    }
}

/// The number of instances with each outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClaimOutcomeCounts {
    /// Instances that agree with the claim.
    pub satisfied: u64,
    /// Instances whose scores tie.
    pub tied: u64,
    /// Instances that contradict the claim.
    pub violated: u64,
    /// Instances that lack a score and so have no verdict.
    pub unscored: u64,
}

impl ClaimOutcomeCounts {
    /// Counts one instance by the outcome of its verdict, or as unscored if it has none.
    pub fn count_verdict(&mut self, verdict: Option<VerdictWithMargin>) {
        match verdict.map(|it| it.outcome) {
            Some(VerdictOutcome::Satisfied) => self.satisfied += 1,
            Some(VerdictOutcome::Tied) => self.tied += 1,
            Some(VerdictOutcome::Violated) => self.violated += 1,
            None => self.unscored += 1,
        }
    }

    /// Returns the number of instances that have a verdict: satisfied, tied or violated.
    pub fn n_with_verdict(&self) -> u64 {
        self.satisfied + self.tied + self.violated
    }

    /// Returns the number of instances that agree with the claim, counting ties if `tie_agrees`
    /// says so.
    pub fn n_agreeing(&self, tie_agrees: TieAgreementWithClaim) -> u64 {
        match tie_agrees {
            TieAgreementWithClaim::Agrees => self.satisfied + self.tied,
            TieAgreementWithClaim::Disagrees => self.satisfied,
        }
    }
}

impl std::ops::AddAssign for ClaimOutcomeCounts {
    fn add_assign(&mut self, other: ClaimOutcomeCounts) {
        self.satisfied += other.satisfied;
        self.tied += other.tied;
        self.violated += other.violated;
        self.unscored += other.unscored;
    }
}

/// Returns the verdict on each instance, in order; `None` if a score is missing.
pub fn compute_verdicts<'a>(
    instances: &'a ProbeInstances,
    pairs: &'a QueryDocumentPairs,
    scores: &'a RankerQueryDocumentScores,
    tie_width: f64,
) -> impl Iterator<Item = Option<VerdictWithMargin>> + 'a {
    (0..instances.n_queries()).flat_map(move |query| {
        instances.claims_of_query(query).map(move |claim| {
            let scored = claim.replace_docs_with_scores(|text| {
                pairs
                    .position_of_pair(query, text)
                    .and_then(|at| scores.score_at_position(at))
            });
            scored.map(|it| it.verdict(tie_width))
        })
    })
}

/// Counts the outcomes of each query.
pub fn count_outcomes_per_query(
    instances: &ProbeInstances,
    pairs: &QueryDocumentPairs,
    scores: &RankerQueryDocumentScores,
    tie_width: f64,
) -> Vec<ClaimOutcomeCounts> {
    let mut verdicts = compute_verdicts(instances, pairs, scores, tie_width);
    (0..instances.n_queries())
        .map(|query| {
            let mut tally = ClaimOutcomeCounts::default();
            verdicts
                .by_ref()
                .take(instances.n_instances_of_query(query))
                .for_each(|it| tally.count_verdict(it));
            tally
        })
        .collect()
}
