//! Verdicts: whether scores satisfy a claim, tie or violate it, and the margin.

use serde::{Deserialize, Serialize};

use crate::probe::{Claim, Instances, TiePolicy};
use crate::score::{QueryDocumentPairs, Scores};

/// The outcome of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The scores are as claimed and differ by more than the tie threshold.
    Satisfied,
    /// The two sides of the claim differ by at most the tie threshold.
    Tied,
    /// The scores contradict the claim.
    Violated,
}

impl Outcome {
    /// Lists all outcomes of a verdict: satisfied, tied and violated.
    pub const ALL: &[Outcome] = &[Outcome::Satisfied, Outcome::Tied, Outcome::Violated];
}

/// The outcome of one claim and its margin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Verdict {
    /// Satisfied, tied or violated.
    pub outcome: Outcome,
    /// Left side minus right side of the claim, in the unit of the scores; positive agrees with the
    /// claim.
    pub margin: f64,
}

impl Claim<f64> {
    /// Returns the verdict on the claim; its two sides tie if they differ by at most `tie_width`.
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

/// The number of instances with each outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OutcomeCounts {
    /// Instances that agree with the claim.
    pub satisfied: u64,
    /// Instances whose scores tie.
    pub tied: u64,
    /// Instances that contradict the claim.
    pub violated: u64,
    /// Instances that lack a score and so have no verdict.
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

    /// Returns the number of instances that agree with the claim, counting ties if `tie_agrees`
    /// says so.
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

/// Returns the verdict on each instance, in order; `None` if a score is missing.
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

/// Counts the outcomes of each query.
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
