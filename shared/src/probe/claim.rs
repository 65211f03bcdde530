//! What an instance claims of the scores of its texts.

use serde::{Deserialize, Serialize};

/// A statement about scores. Over texts it is a claim to test; over numbers it has a
/// verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Claim<T> {
    /// The winner scores higher: `winner > loser`.
    #[serde(rename = "above")]
    Higher {
        /// The text that should score higher.
        winner: T,
        /// The text that should score lower.
        loser: T,
    },
    /// `winner >= loser`; a tie is fine.
    #[serde(rename = "not-below")]
    NotLower {
        /// The text that must not score lower.
        winner: T,
        /// The text that must not score higher.
        loser: T,
    },
    /// `a` and `b` differ, whichever is higher.
    #[serde(rename = "apart")]
    Different {
        /// The first of the two texts, neither of which is the preferred one.
        a: T,
        /// The second text, which should score otherwise than `a`.
        b: T,
    },
    /// `more - few > most - more`: each step up helps less than the one before.
    #[serde(rename = "shrinking-gain")]
    DiminishingGain {
        /// The text with the fewest query terms.
        few: T,
        /// The text that is one step up from `few`.
        more: T,
        /// The text that is the same step up from `more`.
        most: T,
    },
}

impl<T: Copy> Claim<T> {
    /// The texts, the preferred one first; for [`Claim::DiminishingGain`] fewest first.
    pub fn docs(self) -> Vec<T> {
        match self {
            Claim::Higher { winner, loser } | Claim::NotLower { winner, loser } => {
                vec![winner, loser]
            }
            Claim::Different { a, b } => vec![a, b],
            Claim::DiminishingGain { few, more, most } => vec![few, more, most],
        }
    }

    /// Calls `take` with each of the texts, in order.
    pub fn for_each_doc(self, mut take: impl FnMut(T)) {
        self.any_doc(|text| {
            take(text);
            false
        });
    }

    /// Whether one of the texts, taken in order, is as `wanted` asks.
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

    /// Returns the kind of the claim, without its texts.
    pub fn kind(self) -> ClaimKind {
        match self {
            Claim::Higher { .. } => ClaimKind::Higher,
            Claim::NotLower { .. } => ClaimKind::NotLower,
            Claim::Different { .. } => ClaimKind::Different,
            Claim::DiminishingGain { .. } => ClaimKind::DiminishingGain,
        }
    }

    /// The same statement about what `score` gives for each text, or none if one has none.
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

/// The kind of a claim, without its texts.
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
    /// How many texts a claim of this kind is about.
    pub fn arity(self) -> usize {
        match self {
            ClaimKind::Higher | ClaimKind::NotLower | ClaimKind::Different => 2,
            ClaimKind::DiminishingGain => 3,
        }
    }

    /// The claim of this kind about `texts`.
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

    /// Whether a tie is with the claim.
    pub fn tie_policy(self) -> TiePolicy {
        match self {
            ClaimKind::NotLower => TiePolicy::Agrees,
            ClaimKind::Higher | ClaimKind::Different | ClaimKind::DiminishingGain => {
                TiePolicy::Disagrees
            }
        }
    }

    /// Returns the name that the kind has in files.
    pub fn name(self) -> &'static str {
        match self {
            ClaimKind::Higher => "above",
            ClaimKind::NotLower => "not-below",
            ClaimKind::Different => "apart",
            ClaimKind::DiminishingGain => "shrinking-gain",
        }
    }
}

/// Whether a tie is with the claim (`>=`) or not (`>`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TiePolicy {
    /// The claim is `>=`, so that a tie agrees with it.
    Agrees,
    /// The claim is `>`, so that a tie does not agree with it.
    Disagrees,
}
