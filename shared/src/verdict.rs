//! What scores make of a claim: satisfied, tied or violated, and by how much.

use serde::{Deserialize, Serialize};

use crate::probe::{Claim, Instances, TiePolicy};
use crate::score::{QueryDocumentPairs, Scores};

/// How a claim came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The scores are as the claim says, and further apart than a tie.
    Satisfied,
    /// The two sides of the claim differ by no more than the width of a tie.
    Tied,
    /// The scores contradict the claim.
    Violated,
}

impl Outcome {
    /// Lists all outcomes of a verdict: satisfied, tied and violated.
    pub const ALL: &[Outcome] = &[Outcome::Satisfied, Outcome::Tied, Outcome::Violated];
}

/// The outcome of one claim with its margin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Verdict {
    /// Satisfied, tied or violated.
    pub outcome: Outcome,
    /// Left side less right side of the claim, in the unit of the scores; positive is with
    /// the claim.
    pub margin: f64,
}

impl Claim<f64> {
    /// Judges the claim; its two sides tie when they differ by at most `tie_width`.
    /// [`Claim::Different`] is never violated.
    pub fn verdict(self, tie_width: f64) -> Verdict {
        let margin = match self {
            Claim::Higher { winner, loser } | Claim::NotLower { winner, loser } => winner - loser,
            Claim::Different { a, b } => (a - b).abs(),
            Claim::DiminishingGain { few, more, most } => (more - few) - (most - more),
        };
        let outcome = if margin.abs() <= tie_width {
            Outcome::Tied
        } else if margin > 0.0 {
            Outcome::Satisfied
        } else {
            Outcome::Violated
        };
        Verdict { outcome, margin }
    }
}

/// How many instances came out how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OutcomeCounts {
    /// With the claim.
    pub satisfied: u64,
    /// Neither way.
    pub tied: u64,
    /// Against the claim.
    pub violated: u64,
    /// Without all scores, so without a verdict.
    pub unscored: u64,
}

impl OutcomeCounts {
    /// Counts one instance by the outcome of its verdict, or as unscored if it has none.
    pub fn add(&mut self, verdict: Option<Verdict>) {
        match verdict.map(|it| it.outcome) {
            Some(Outcome::Satisfied) => self.satisfied += 1,
            Some(Outcome::Tied) => self.tied += 1,
            Some(Outcome::Violated) => self.violated += 1,
            None => self.unscored += 1,
        }
    }

    /// Returns the number of instances that have a verdict: satisfied, tied or violated.
    pub fn n_with_verdict(&self) -> u64 {
        self.satisfied + self.tied + self.violated
    }

    /// Instances that agree with a claim of the given kind.
    pub fn n_agreeing(&self, tie_agrees: TiePolicy) -> u64 {
        match tie_agrees {
            TiePolicy::Agrees => self.satisfied + self.tied,
            TiePolicy::Disagrees => self.satisfied,
        }
    }
}

impl std::ops::AddAssign for OutcomeCounts {
    fn add_assign(&mut self, other: OutcomeCounts) {
        self.satisfied += other.satisfied;
        self.tied += other.tied;
        self.violated += other.violated;
        self.unscored += other.unscored;
    }
}

/// The verdict on each instance, in order; none where a score is missing.
pub fn compute_verdicts<'a>(
    instances: &'a Instances,
    pairs: &'a QueryDocumentPairs,
    scores: &'a Scores,
    tie_width: f64,
) -> impl Iterator<Item = Option<Verdict>> + 'a {
    (0..instances.n_queries()).flat_map(move |query| {
        instances.claims_of(query).map(move |claim| {
            let scored =
                claim.map_scores(|text| pairs.position(query, text).and_then(|at| scores.get(at)));
            scored.map(|it| it.verdict(tie_width))
        })
    })
}

/// The tally of each query.
pub fn count_outcomes_per_query(
    instances: &Instances,
    pairs: &QueryDocumentPairs,
    scores: &Scores,
    tie_width: f64,
) -> Vec<OutcomeCounts> {
    let mut verdicts = compute_verdicts(instances, pairs, scores, tie_width);
    (0..instances.n_queries())
        .map(|query| {
            let mut tally = OutcomeCounts::default();
            verdicts
                .by_ref()
                .take(instances.len_of(query))
                .for_each(|it| tally.add(it));
            tally
        })
        .collect()
}
