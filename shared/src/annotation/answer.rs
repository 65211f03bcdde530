//! The answers of annotators, and when an answer agrees with a claim.
//!
//! The question for two documents is which one is better for the query. Three documents are shown
//! with the fewest query terms first, and the question is whether the second step helps less than
//! the first: the *first* step helps more, the *second* does, or both help the same.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::probe::{ScoreClaim, ScoreClaimKind};

/// An answer about the documents of an instance in the order of its claim, independent of their
/// order on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AnnotatorAnswer {
    /// The first document is better; for three documents, the first step helps more.
    First,
    /// The second document is better; for three documents, the second step helps more.
    Second,
    /// Neither is better.
    Equal,
    /// The annotator cannot say. This is an answer, but not a vote.
    #[serde(alias = "cannot-tell")]
    CannotSay,
}

impl AnnotatorAnswer {
    /// All answers, in the order of the buttons.
    pub const ALL: &[AnnotatorAnswer] = &[
        AnnotatorAnswer::First,
        AnnotatorAnswer::Second,
        AnnotatorAnswer::Equal,
        AnnotatorAnswer::CannotSay,
    ];

    /// Returns the preference that the answer states; `None` if it is "cannot say".
    pub fn preference(self) -> Option<DocumentPreference> {
        match self {
            AnnotatorAnswer::First => Some(DocumentPreference::First),
            AnnotatorAnswer::Second => Some(DocumentPreference::Second),
            AnnotatorAnswer::Equal => Some(DocumentPreference::Equal),
            AnnotatorAnswer::CannotSay => None,
        }
    }

    /// Returns the name of the answer in exported files, as in `first`.
    pub fn slug(self) -> &'static str {
        match self {
            AnnotatorAnswer::First => "first",
            AnnotatorAnswer::Second => "second",
            AnnotatorAnswer::Equal => "equal",
            AnnotatorAnswer::CannotSay => "cannot-say",
        }
    }
}

/// The preference of annotators, a ranker or relevance judgments between the documents of an
/// instance. The variants have the same meaning as in [`AnnotatorAnswer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DocumentPreference {
    /// The first document; for three documents, the first step.
    First,
    /// No preference. For ordinal agreement it lies between the other two.
    Equal,
    /// The second document; for three documents, the second step.
    Second,
}

impl DocumentPreference {
    /// All preferences, in the order first, equal, second.
    pub const ALL: &[DocumentPreference] = &[
        DocumentPreference::First,
        DocumentPreference::Equal,
        DocumentPreference::Second,
    ];

    /// Returns whether the preference satisfies a claim of this kind. [`ScoreClaimKind::Different`]
    /// is satisfied by either document.
    pub fn satisfies(self, claim: ScoreClaimKind) -> bool {
        match (claim, self) {
            (ScoreClaimKind::Higher | ScoreClaimKind::DiminishingGain, it) => {
                it == DocumentPreference::First
            }
            (ScoreClaimKind::NotLower, it) => it != DocumentPreference::Second,
            (ScoreClaimKind::Different, it) => it != DocumentPreference::Equal,
        }
    }

    /// Returns the preference by scores; two sides that differ by at most `tie_width` are equal.
    /// Unlike the margin of a verdict, this tells which document of [`ScoreClaim::Different`] is
    /// preferred.
    pub fn from_scores(claim: ScoreClaim<f64>, tie_width: f64) -> DocumentPreference {
        let lead = match claim {
            ScoreClaim::Higher { winner, loser } | ScoreClaim::NotLower { winner, loser } => {
                winner - loser
            }
            ScoreClaim::Different { a, b } => a - b,
            ScoreClaim::DiminishingGain { few, more, most } => (more - few) - (most - more),
        };
        match lead {
            it if it.abs() <= tie_width => DocumentPreference::Equal,
            it if it > 0.0 => DocumentPreference::First,
            _ => DocumentPreference::Second,
        }
    }

    /// Returns the preference by relevance grades. `None` for three documents: grades are ordered,
    /// but their differences have no meaning.
    pub fn from_grades(claim: ScoreClaim<i32>) -> Option<DocumentPreference> {
        let of = |a: i32, b: i32| match a.cmp(&b) {
            std::cmp::Ordering::Greater => DocumentPreference::First,
            std::cmp::Ordering::Equal => DocumentPreference::Equal,
            std::cmp::Ordering::Less => DocumentPreference::Second,
        };
        match claim {
            ScoreClaim::Higher { winner, loser } | ScoreClaim::NotLower { winner, loser } => {
                Some(of(winner, loser))
            }
            ScoreClaim::Different { a, b } => Some(of(a, b)),
            ScoreClaim::DiminishingGain { .. } => None,
        }
    }
}

/// An annotator's answer on whether the axiom's reason matters for an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AxiomReasonRating {
    /// The property that the axiom considers makes the difference, or would.
    #[serde(alias = "yes")]
    Matters,
    /// The property makes no difference.
    #[serde(alias = "no")]
    DoesNotMatter,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tie_is_with_a_claim_that_allows_it() {
        let with = |claim: ScoreClaimKind| {
            DocumentPreference::ALL
                .iter()
                .map(move |it| it.satisfies(claim))
        };
        let [above, not_below, apart, gain] = [
            ScoreClaimKind::Higher,
            ScoreClaimKind::NotLower,
            ScoreClaimKind::Different,
            ScoreClaimKind::DiminishingGain,
        ]
        .map(|it| with(it).collect::<Vec<_>>());
        assert_eq!(above, [true, false, false]);
        assert_eq!(not_below, [true, true, false]);
        assert_eq!(apart, [true, false, true]);
        assert_eq!(gain, [true, false, false]);
    }

    #[test]
    fn scores_and_grades_prefer_as_people_do() {
        let (winner, loser) = (2.0, 1.5);
        let above = ScoreClaim::Higher { winner, loser };
        assert_eq!(
            DocumentPreference::from_scores(above, 0.1),
            DocumentPreference::First
        );
        assert_eq!(
            DocumentPreference::from_scores(above, 0.5),
            DocumentPreference::Equal
        );
        let apart = ScoreClaim::Different { a: 1.0, b: 2.0 };
        assert_eq!(
            DocumentPreference::from_scores(apart, 0.0),
            DocumentPreference::Second
        );
        let (few, more, most) = (0.0, 1.0, 3.0);
        let steps = ScoreClaim::DiminishingGain { few, more, most };
        assert_eq!(
            DocumentPreference::from_scores(steps, 0.0),
            DocumentPreference::Second
        );
        let grades = ScoreClaim::NotLower {
            winner: 0,
            loser: 2,
        };
        assert_eq!(
            DocumentPreference::from_grades(grades),
            Some(DocumentPreference::Second)
        );
        let steps = ScoreClaim::DiminishingGain {
            few: 0,
            more: 1,
            most: 1,
        };
        assert_eq!(DocumentPreference::from_grades(steps), None);
    }
}
