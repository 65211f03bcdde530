//! Claims: what an instance expects of the scores of its documents.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A statement about scores. Over documents it is a claim to test; over numbers it has a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ScoreClaim<T> {
    /// The winner scores higher: `winner > loser`.
    #[serde(rename = "above")]
    Higher {
        /// The document that should score higher.
        winner: T,
        /// The document that should score lower.
        loser: T,
    },
    /// The winner does not score lower: `winner >= loser`; a tie satisfies it.
    #[serde(rename = "not-below")]
    NotLower {
        /// The document that must not score lower.
        winner: T,
        /// The document that must not score higher.
        loser: T,
    },
    /// The scores of `a` and `b` differ, whichever is higher.
    #[serde(rename = "apart")]
    Different {
        /// The first of the two documents, neither of which is preferred.
        a: T,
        /// The second document, whose score should differ from that of `a`.
        b: T,
    },
    /// `more - few > most - more`: each step up helps less than the one before.
    #[serde(rename = "shrinking-gain")]
    DiminishingGain {
        /// The document with the fewest query terms.
        few: T,
        /// The document that is one step up from `few`.
        more: T,
        /// The document that is the same step up from `more`.
        most: T,
    },
}

impl<T: Copy> ScoreClaim<T> {
    /// Returns the documents, the preferred one first; for [`ScoreClaim::DiminishingGain`] fewest
    /// first.
    pub fn docs_in_claim_order(self) -> Vec<T> {
        match self {
            ScoreClaim::Higher { winner, loser } | ScoreClaim::NotLower { winner, loser } => {
                vec![winner, loser]
            }
            ScoreClaim::Different { a, b } => vec![a, b],
            ScoreClaim::DiminishingGain { few, more, most } => vec![few, more, most],
        }
    }

    /// Calls `take` with each document, in order.
    pub fn for_each_doc(self, mut take: impl FnMut(T)) {
        self.has_doc_where(|text| {
            take(text);
            false
        });
    }

    /// Whether `predicate` holds for one of the documents, checked in order.
    pub fn has_doc_where(self, mut predicate: impl FnMut(T) -> bool) -> bool {
        match self {
            ScoreClaim::Higher { winner, loser } | ScoreClaim::NotLower { winner, loser } => {
                predicate(winner) || predicate(loser)
            }
            ScoreClaim::Different { a, b } => predicate(a) || predicate(b),
            ScoreClaim::DiminishingGain { few, more, most } => {
                predicate(few) || predicate(more) || predicate(most)
            }
        }
    }

    /// Returns the kind of the claim, without its documents.
    pub fn kind(self) -> ScoreClaimKind {
        match self {
            ScoreClaim::Higher { .. } => ScoreClaimKind::Higher,
            ScoreClaim::NotLower { .. } => ScoreClaimKind::NotLower,
            ScoreClaim::Different { .. } => ScoreClaimKind::Different,
            ScoreClaim::DiminishingGain { .. } => ScoreClaimKind::DiminishingGain,
        }
    }

    /// Returns the same claim about the values of `score`, or `None` if a document has no value.
    pub fn replace_docs_with_scores<S>(
        self,
        mut score: impl FnMut(T) -> Option<S>,
    ) -> Option<ScoreClaim<S>> {
        Some(match self {
            ScoreClaim::Higher { winner, loser } => ScoreClaim::Higher {
                winner: score(winner)?,
                loser: score(loser)?,
            },
            ScoreClaim::NotLower { winner, loser } => ScoreClaim::NotLower {
                winner: score(winner)?,
                loser: score(loser)?,
            },
            ScoreClaim::Different { a, b } => ScoreClaim::Different {
                a: score(a)?,
                b: score(b)?,
            },
            ScoreClaim::DiminishingGain { few, more, most } => ScoreClaim::DiminishingGain {
                few: score(few)?,
                more: score(more)?,
                most: score(most)?,
            },
        })
    }
}

/// The kind of a claim, without its documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScoreClaimKind {
    /// The first scores higher: first `>` second.
    #[serde(rename = "above")]
    Higher,
    /// The first does not score lower: first `>=` second.
    #[serde(rename = "not-below")]
    NotLower,
    /// The scores of the first and the second differ.
    #[serde(rename = "apart")]
    Different,
    /// Second − first `>` third − second.
    #[serde(rename = "shrinking-gain")]
    DiminishingGain,
}

impl ScoreClaimKind {
    /// Returns the number of documents in a claim of this kind.
    pub fn arity(self) -> usize {
        match self {
            ScoreClaimKind::Higher | ScoreClaimKind::NotLower | ScoreClaimKind::Different => 2,
            ScoreClaimKind::DiminishingGain => 3,
        }
    }

    /// Returns the claim of this kind about `texts`.
    pub fn build_score_claim<T: Copy>(self, texts: &[T]) -> ScoreClaim<T> {
        let (winner, loser) = (texts[0], texts[1]);
        match self {
            ScoreClaimKind::Higher => ScoreClaim::Higher { winner, loser },
            ScoreClaimKind::NotLower => ScoreClaim::NotLower { winner, loser },
            ScoreClaimKind::Different => ScoreClaim::Different {
                a: texts[0],
                b: texts[1],
            },
            ScoreClaimKind::DiminishingGain => ScoreClaim::DiminishingGain {
                few: texts[0],
                more: texts[1],
                most: texts[2],
            },
        }
    }

    /// Returns whether a tie agrees with the claim.
    pub fn tie_agreement_with_claim(self) -> TieAgreementWithClaim {
        match self {
            ScoreClaimKind::NotLower => TieAgreementWithClaim::Agrees,
            ScoreClaimKind::Higher
            | ScoreClaimKind::Different
            | ScoreClaimKind::DiminishingGain => TieAgreementWithClaim::Disagrees,
        }
    }

    /// Returns the name of the kind in files.
    pub fn slug(self) -> &'static str {
        match self {
            ScoreClaimKind::Higher => "above",
            ScoreClaimKind::NotLower => "not-below",
            ScoreClaimKind::Different => "apart",
            ScoreClaimKind::DiminishingGain => "shrinking-gain",
        }
    }
}

/// Whether a tie agrees with the claim (`>=`) or not (`>`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TieAgreementWithClaim {
    /// The claim is `>=`, so that a tie agrees with it.
    Agrees,
    /// The claim is `>`, so that a tie does not agree with it.
    Disagrees,
}
