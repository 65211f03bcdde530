//! Claims: what an instance expects of the scores of its documents.

use serde::{Deserialize, Serialize};

/// A statement about scores. Over documents it is a claim to test; over numbers it has a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Claim<T> {
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

impl<T: Copy> Claim<T> {
    /// Returns the documents, the preferred one first; for [`Claim::DiminishingGain`] fewest first.
    pub fn docs(self) -> Vec<T> {
        match self {
            Claim::Higher { winner, loser } | Claim::NotLower { winner, loser } => {
                vec![winner, loser]
            }
            Claim::Different { a, b } => vec![a, b],
            Claim::DiminishingGain { few, more, most } => vec![few, more, most],
        }
    }

    /// Calls `take` with each document, in order.
    pub fn for_each_doc(self, mut take: impl FnMut(T)) {
        self.any_doc(|text| {
            take(text);
            false
        });
    }

    /// Whether `wanted` holds for one of the documents, checked in order.
    pub fn any_doc(self, mut wanted: impl FnMut(T) -> bool) -> bool {
        match self {
            Claim::Higher { winner, loser } | Claim::NotLower { winner, loser } => {
                wanted(winner) || wanted(loser)
            }
            Claim::Different { a, b } => wanted(a) || wanted(b),
            Claim::DiminishingGain { few, more, most } => {
                wanted(few) || wanted(more) || wanted(most)
            }
        }
    }

    /// Returns the kind of the claim, without its documents.
    pub fn kind(self) -> ClaimKind {
        match self {
            Claim::Higher { .. } => ClaimKind::Higher,
            Claim::NotLower { .. } => ClaimKind::NotLower,
            Claim::Different { .. } => ClaimKind::Different,
            Claim::DiminishingGain { .. } => ClaimKind::DiminishingGain,
        }
    }

    /// Returns the same claim about the values of `score`, or `None` if a document has no value.
    pub fn map_scores<S>(self, mut score: impl FnMut(T) -> Option<S>) -> Option<Claim<S>> {
        Some(match self {
            Claim::Higher { winner, loser } => Claim::Higher {
                winner: score(winner)?,
                loser: score(loser)?,
            },
            Claim::NotLower { winner, loser } => Claim::NotLower {
                winner: score(winner)?,
                loser: score(loser)?,
            },
            Claim::Different { a, b } => Claim::Different {
                a: score(a)?,
                b: score(b)?,
            },
            Claim::DiminishingGain { few, more, most } => Claim::DiminishingGain {
                few: score(few)?,
                more: score(more)?,
                most: score(most)?,
            },
        })
    }
}

/// The kind of a claim, without its documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClaimKind {
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

impl ClaimKind {
    /// Returns the number of documents in a claim of this kind.
    pub fn arity(self) -> usize {
        match self {
            ClaimKind::Higher | ClaimKind::NotLower | ClaimKind::Different => 2,
            ClaimKind::DiminishingGain => 3,
        }
    }

    /// Returns the claim of this kind about `texts`.
    pub fn claim_for<T: Copy>(self, texts: &[T]) -> Claim<T> {
        let (winner, loser) = (texts[0], texts[1]);
        match self {
            ClaimKind::Higher => Claim::Higher { winner, loser },
            ClaimKind::NotLower => Claim::NotLower { winner, loser },
            ClaimKind::Different => Claim::Different {
                a: texts[0],
                b: texts[1],
            },
            ClaimKind::DiminishingGain => Claim::DiminishingGain {
                few: texts[0],
                more: texts[1],
                most: texts[2],
            },
        }
    }

    /// Returns whether a tie agrees with the claim.
    pub fn tie_policy(self) -> TiePolicy {
        match self {
            ClaimKind::NotLower => TiePolicy::Agrees,
            ClaimKind::Higher | ClaimKind::Different | ClaimKind::DiminishingGain => {
                TiePolicy::Disagrees
            }
        }
    }

    /// Returns the name of the kind in files.
    pub fn name(self) -> &'static str {
        match self {
            ClaimKind::Higher => "above",
            ClaimKind::NotLower => "not-below",
            ClaimKind::Different => "apart",
            ClaimKind::DiminishingGain => "shrinking-gain",
        }
    }
}

/// Whether a tie agrees with the claim (`>=`) or not (`>`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TiePolicy {
    /// The claim is `>=`, so that a tie agrees with it.
    Agrees,
    /// The claim is `>`, so that a tie does not agree with it.
    Disagrees,
}
