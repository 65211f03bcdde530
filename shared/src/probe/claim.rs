//! What an instance claims of the scores of its texts.

use serde::{Deserialize, Serialize};

/// A statement about scores. Over texts it is a claim to test; over numbers it has a
/// verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Claim<T> {
    /// The winner scores higher: `winner > loser`.
    Above {
        /// The text that should score higher.
        winner: T,
        /// The text that should score lower.
        loser: T,
    },
    /// `winner >= loser`; a tie is fine.
    NotBelow {
        /// The text that must not score lower.
        winner: T,
        /// The text that must not score higher.
        loser: T,
    },
    /// `a` and `b` differ, whichever is higher.
    Apart {
        /// The first of the two texts, neither of which is the preferred one.
        a: T,
        /// The second text, which should score otherwise than `a`.
        b: T,
    },
    /// `more - few > most - more`: each step up helps less than the one before.
    ShrinkingGain {
        /// The text with the fewest query terms.
        few: T,
        /// The text that is one step up from `few`.
        more: T,
        /// The text that is the same step up from `more`.
        most: T,
    },
}

impl<T: Copy> Claim<T> {
    /// The texts, the preferred one first; for [`Claim::ShrinkingGain`] fewest first.
    pub fn texts(self) -> Vec<T> {
        match self {
            Claim::Above { winner, loser } | Claim::NotBelow { winner, loser } => {
                vec![winner, loser]
            }
            Claim::Apart { a, b } => vec![a, b],
            Claim::ShrinkingGain { few, more, most } => vec![few, more, most],
        }
    }

    /// Calls `take` with each of the texts, in order.
    pub fn each(self, mut take: impl FnMut(T)) {
        self.any(|text| {
            take(text);
            false
        });
    }

    /// Whether one of the texts, taken in order, is as `wanted` asks.
    pub fn any(self, mut wanted: impl FnMut(T) -> bool) -> bool {
        match self {
            Claim::Above { winner, loser } | Claim::NotBelow { winner, loser } => {
                wanted(winner) || wanted(loser)
            }
            Claim::Apart { a, b } => wanted(a) || wanted(b),
            Claim::ShrinkingGain { few, more, most } => wanted(few) || wanted(more) || wanted(most),
        }
    }

    /// Returns the kind of the claim, without its texts.
    pub fn kind(self) -> ClaimKind {
        match self {
            Claim::Above { .. } => ClaimKind::Above,
            Claim::NotBelow { .. } => ClaimKind::NotBelow,
            Claim::Apart { .. } => ClaimKind::Apart,
            Claim::ShrinkingGain { .. } => ClaimKind::ShrinkingGain,
        }
    }

    /// The same statement about what `score` gives for each text, or none if one has none.
    pub fn scored<S>(self, mut score: impl FnMut(T) -> Option<S>) -> Option<Claim<S>> {
        Some(match self {
            Claim::Above { winner, loser } => Claim::Above {
                winner: score(winner)?,
                loser: score(loser)?,
            },
            Claim::NotBelow { winner, loser } => Claim::NotBelow {
                winner: score(winner)?,
                loser: score(loser)?,
            },
            Claim::Apart { a, b } => Claim::Apart {
                a: score(a)?,
                b: score(b)?,
            },
            Claim::ShrinkingGain { few, more, most } => Claim::ShrinkingGain {
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
    Above,
    /// The first does not score lower: first `>=` second.
    NotBelow,
    /// The scores of the first and the second differ.
    Apart,
    /// Second − first `>` third − second.
    ShrinkingGain,
}

impl ClaimKind {
    /// How many texts a claim of this kind is about.
    pub fn arity(self) -> usize {
        match self {
            ClaimKind::Above | ClaimKind::NotBelow | ClaimKind::Apart => 2,
            ClaimKind::ShrinkingGain => 3,
        }
    }

    /// The claim of this kind about `texts`.
    pub fn about<T: Copy>(self, texts: &[T]) -> Claim<T> {
        let (winner, loser) = (texts[0], texts[1]);
        match self {
            ClaimKind::Above => Claim::Above { winner, loser },
            ClaimKind::NotBelow => Claim::NotBelow { winner, loser },
            ClaimKind::Apart => Claim::Apart {
                a: texts[0],
                b: texts[1],
            },
            ClaimKind::ShrinkingGain => Claim::ShrinkingGain {
                few: texts[0],
                more: texts[1],
                most: texts[2],
            },
        }
    }

    /// Whether a tie is with the claim.
    pub fn tie_agrees(self) -> TiePolicy {
        match self {
            ClaimKind::NotBelow => TiePolicy::Yes,
            ClaimKind::Above | ClaimKind::Apart | ClaimKind::ShrinkingGain => TiePolicy::No,
        }
    }

    /// Returns the name that the kind has in files.
    pub fn name(self) -> &'static str {
        match self {
            ClaimKind::Above => "above",
            ClaimKind::NotBelow => "not-below",
            ClaimKind::Apart => "apart",
            ClaimKind::ShrinkingGain => "shrinking-gain",
        }
    }
}

/// Whether a tie is with the claim (`>=`) or not (`>`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TiePolicy {
    /// The claim is `>=`, so that a tie agrees with it.
    Yes,
    /// The claim is `>`, so that a tie does not agree with it.
    No,
}
