//! The words of the project: probe, instance, claim, premise as measured.
//!
//! A probe is anything that yields instances. *Axioms* claim which text scores higher; each has
//! one file in `axiom/`. *Behaviours* ask which text is preferred, without saying which should
//! be: measure and match (`matching`), manipulations and dataset transfer, whose texts stand
//! beside the collection. Mining sees texts, never scores.

pub mod limits;
pub mod counts;
pub mod pool;
pub mod axiom;
pub mod matching;
pub mod manipulation;
pub mod transfer;
pub mod beside;
pub mod mine;
pub mod column;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Field};
use column::{Column, Lender};

pub use axiom::{Formula, Further, Probe};
pub use limits::{Limits, Mode, Source};
pub use manipulation::Manipulation;
pub use matching::{Matching, Measure};
pub use mine::Mined;
pub use pool::Pool;
pub use transfer::Transfer;

/// Place of a text in [`Mined::texts`].
pub type TextNo = u32;

/// A statement about scores. Over texts it is a claim to test; over numbers it has a
/// verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Claim<T> {
    /// `winner > loser`.
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
        /// One text.
        a: T,
        /// The other.
        b: T,
    },
    /// `more - few > most - more`: each step up helps less than the one before.
    ShrinkingGain {
        /// The text with the fewest query terms.
        few: T,
        /// One step up.
        more: T,
        /// The same step once more.
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

    /// The kind of statement.
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
    /// First `>` second.
    Above,
    /// First `>=` second.
    NotBelow,
    /// First and second differ.
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
        match self {
            ClaimKind::Above => Claim::Above {
                winner: texts[0],
                loser: texts[1],
            },
            ClaimKind::NotBelow => Claim::NotBelow {
                winner: texts[0],
                loser: texts[1],
            },
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
    pub fn tie_agrees(self) -> TieAgrees {
        match self {
            ClaimKind::NotBelow => TieAgrees::Yes,
            ClaimKind::Above | ClaimKind::Apart | ClaimKind::ShrinkingGain => TieAgrees::No,
        }
    }

    /// The name in files.
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
pub enum TieAgrees {
    /// The claim is `>=`.
    Yes,
    /// The claim is `>`.
    No,
}

/// What was counted for a premise. The unit is in the name; words belong to the front end.
/// Texts count from 1 in the order of the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case", tag = "of")]
pub enum Quantity {
    /// | |text a| − |text b| |, in terms.
    LengthGap {
        /// One text.
        a: u8,
        /// The other.
        b: u8,
    },
    /// |text b| − |text a|, in terms, with its sign.
    LengthLead {
        /// Subtracted.
        a: u8,
        /// From this.
        b: u8,
    },
    /// |text n|, in terms.
    Length {
        /// Which text.
        text: u8,
    },
    /// Σ(text n), occurrences of query terms.
    Occurrences {
        /// Which text.
        text: u8,
    },
    /// Σ(text b) − Σ(text a), occurrences of query terms.
    OccurrenceLead {
        /// Subtracted.
        a: u8,
        /// From this.
        b: u8,
    },
    /// c(w, text 1) − c(w, text 2) for the query term at a place among the distinct terms.
    TermLead {
        /// Place among the distinct query terms.
        term: u16,
    },
    /// (c(w, text 3) − c(w, text 2)) − (c(w, text 2) − c(w, text 1)) for one query term.
    StepChange {
        /// Place among the distinct query terms.
        term: u16,
    },
    /// Query terms whose count differs.
    DifferingTerms,
    /// Query terms whose count differs and that lie in no valid pair of a rarer and a more
    /// common term with swapped counts.
    UncoveredTerms,
    /// Terms outside of the query that text 2 holds exactly once more than text 1.
    OnceMoreTerms,
    /// As [`Quantity::OnceMoreTerms`], of those that occur in text 1.
    OnceMoreSharedTerms,
    /// Distinct query terms in text n.
    Cover {
        /// Which text.
        text: u8,
    },
    /// Γ(far) − Γ(near), where Γ is the least distance of two distinct query terms, in terms.
    DistanceLead {
        /// The text in which they should stand closer.
        near: u8,
        /// The other.
        far: u8,
    },
    /// How often text 2 is repeated to give text 1.
    Repetitions,
    /// Distinct query terms in text b − those in text a.
    CoverLead {
        /// Subtracted.
        a: u8,
        /// From this.
        b: u8,
    },
    /// Occurrences of terms outside of the query in text `others` − Σ(text `terms`).
    OutsideOverOccurrences {
        /// The text whose other terms are counted.
        others: u8,
        /// The text whose query terms are counted.
        terms: u8,
    },
    /// Occurrences of terms outside of the query in text b − those in text a.
    OutsideLead {
        /// Subtracted.
        a: u8,
        /// From this.
        b: u8,
    },
    /// cos(text near − Q, Q) − cos(text far − Q, Q), by word vectors.
    SimilarityLead {
        /// The text whose other words should be more like the query.
        near: u8,
        /// The other.
        far: u8,
    },
    /// cos(text 1 − Q, text 2 − Q), by word vectors.
    Similarity,
    /// 1 − cos(text 1 − Q, text 2 − Q), by word vectors.
    Dissimilarity,
    /// | |text 1| − |text 2| | as a share of the longer.
    LengthShare,
    /// The difference of the sums of query terms as a share of the larger.
    SumShare,
    /// The greatest difference of a query term's counts as a share of the larger.
    CountShare,
    /// The difference of BM25's scores as a share of the larger.
    ScoreShare,
    /// The difference of the greatest and the least idf of the query as a share of the former.
    IdfShare,
    /// Distinct query terms in both texts; none if they hold different ones.
    SharedTerms,
    /// Distinct query terms in both texts; none if one lacks any.
    AllSharedTerms,
    /// By how much text 1 is ahead of text 2 in what the axiom compares.
    Lead {
        /// Which axiom.
        axiom: Further,
    },
    /// | value of text 1 − value of text 2 | in a measurement.
    Gap {
        /// Which measurement.
        measure: Measure,
    },
    /// Value of text 1 − value of text 2 in a measurement.
    MeasureLead {
        /// Which measurement.
        measure: Measure,
    },
    /// Which text an axiom of a formula prefers: 1, −1, or 0 for none.
    Preference {
        /// Which axiom.
        axiom: Probe,
    },
    /// What comes out of a formula.
    Combined,
}

impl Quantity {
    /// Whether it is a number of things; if not, it is a cosine or a difference of two.
    pub fn is_counted(self) -> bool {
        !matches!(
            self,
            Quantity::SimilarityLead { .. }
                | Quantity::Similarity
                | Quantity::Dissimilarity
                | Quantity::LengthShare
                | Quantity::SumShare
                | Quantity::CountShare
                | Quantity::ScoreShare
                | Quantity::IdfShare
                | Quantity::Lead { .. }
                | Quantity::Combined
                | Quantity::Gap {
                    measure: Measure::Overlap | Measure::Similarity,
                }
                | Quantity::MeasureLead {
                    measure: Measure::Overlap | Measure::Similarity,
                }
        )
    }
}

/// The relation of a measured value to its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// `<=`.
    AtMost,
    /// `>=`.
    AtLeast,
    /// `>`.
    Above,
    /// `=`.
    Equal,
}

/// A premise as measured. It has no value where it cannot be measured, and then fails.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Measured {
    /// What was counted.
    pub quantity: Quantity,
    /// What was found; none if it does not exist, as the distance of two terms in a text
    /// that has one.
    pub value: Option<f64>,
    /// How the value must stand to the bound.
    pub relation: Relation,
    /// None: no bound was set (δ = ∞), every value holds.
    pub bound: Option<f64>,
}

impl Measured {
    /// Whether the premise holds.
    pub fn holds(&self) -> bool {
        let Some(bound) = self.bound else { return true };
        let Some(value) = self.value else {
            return false;
        };
        match self.relation {
            Relation::AtMost => value <= bound,
            Relation::AtLeast => value >= bound,
            Relation::Above => value > bound,
            Relation::Equal => value == bound,
        }
    }
}

/// Whether `starts` say for each query where its rows begin, and at last their number.
pub(crate) fn starts_fit(starts: &[u32], n_queries: usize, n_rows: usize) -> bool {
    starts.len() == n_queries + 1
        && starts[0] == 0
        && starts.is_sorted()
        && starts[n_queries] as usize == n_rows
}

/// Instances without their texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstancesHead {
    /// The probe that found them.
    #[serde(rename = "axiom")]
    pub probe: Probe,
    /// In which reading.
    pub mode: Mode,
    /// [`Instances::found`].
    pub found: Vec<u32>,
    /// For each query where its instances begin, and at last their number.
    pub starts: Vec<u32>,
}

/// All instances of one axiom in one mode: integers in columns, ordered by query and then by
/// texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Instances {
    /// The probe that found them.
    #[serde(rename = "axiom")]
    pub probe: Probe,
    /// In which reading.
    pub mode: Mode,
    /// Every instance of an axiom in a mode makes the same kind of claim.
    pub claim: ClaimKind,
    /// How many each query had before a cap; equal to what is kept without one.
    pub found: Vec<u32>,
    /// For each query where its instances begin, and at last their number.
    starts: Vec<u32>,
    /// `arity` texts for each instance.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<u32>))]
    texts: Column,
}

impl Instances {
    /// Without any query yet.
    pub fn new(probe: Probe, mode: Mode) -> Instances {
        Instances {
            probe,
            mode,
            claim: probe.claim(mode),
            found: Vec::new(),
            starts: vec![0],
            texts: Column::Held(Vec::new()),
        }
    }

    /// The same instances with their texts from a lender, which has to have the same.
    pub fn lent(head: InstancesHead, texts: Arc<dyn Lender>) -> Result<Instances, Error> {
        let InstancesHead {
            probe,
            mode,
            found,
            starts,
        } = head;
        let lent = Instances {
            probe,
            mode,
            claim: probe.claim(mode),
            found,
            starts,
            texts: Column::Lent(texts),
        };
        match lent.fit(lent.found.len()) {
            true => Ok(lent),
            false => Err(Error::conflict(
                Field::shown("instances", probe.slug()),
                "the column of texts is not that of its queries",
            )),
        }
    }

    /// Everything but the texts.
    pub fn head(&self) -> InstancesHead {
        InstancesHead {
            probe: self.probe,
            mode: self.mode,
            found: self.found.clone(),
            starts: self.starts.clone(),
        }
    }

    /// The texts of all instances, one instance after the other.
    pub fn texts(&self) -> &[TextNo] {
        &self.texts
    }

    /// Adds the next query: the texts of its instances one after the other, and how many
    /// instances there were before a cap.
    pub fn push_query(&mut self, texts: impl IntoIterator<Item = TextNo>, n_found: u32) {
        self.texts.extend(texts);
        self.starts
            .push((self.texts.len() / self.claim.arity()) as u32);
        self.found.push(n_found);
    }

    /// Whether these are instances of so many queries: what was read may be anything.
    pub(crate) fn fit(&self, n_queries: usize) -> bool {
        let arity = self.claim.arity();
        self.claim == self.probe.claim(self.mode)
            && self.found.len() == n_queries
            && self.texts.len().is_multiple_of(arity)
            && starts_fit(&self.starts, n_queries, self.texts.len() / arity)
    }

    /// The same instances where text `t` is called `numbers[t]`, in the same order.
    pub fn renumbered(&self, numbers: &[TextNo]) -> Instances {
        let texts = self.texts.iter().map(|&it| numbers[it as usize]);
        Instances {
            texts: Column::Held(texts.collect()),
            found: self.found.clone(),
            starts: self.starts.clone(),
            ..*self
        }
    }

    /// How many instances there are.
    pub fn len(&self) -> usize {
        self.texts.len() / self.claim.arity()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// How many queries were mined.
    pub fn n_queries(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many instances one query has.
    pub fn len_of(&self, query: usize) -> usize {
        (self.starts[query + 1] - self.starts[query]) as usize
    }

    /// The texts of one query's instances, one instance after the other.
    pub fn texts_of(&self, query: usize) -> &[TextNo] {
        let arity = self.claim.arity();
        &self.texts[self.starts[query] as usize * arity..self.starts[query + 1] as usize * arity]
    }

    /// The claims of one query.
    pub fn of(&self, query: usize) -> impl Iterator<Item = Claim<TextNo>> + '_ {
        let each = self.texts_of(query).chunks_exact(self.claim.arity());
        each.map(|it| self.claim.about(it))
    }

    /// The claim at a place.
    pub fn claim(&self, at: usize) -> Claim<TextNo> {
        let arity = self.claim.arity();
        self.claim.about(&self.texts[at * arity..(at + 1) * arity])
    }

    /// The texts of the instance at a place.
    pub fn texts_at(&self, at: usize) -> &[TextNo] {
        let arity = self.claim.arity();
        &self.texts[at * arity..(at + 1) * arity]
    }

    /// Where the instances of a query begin.
    pub fn first_of(&self, query: usize) -> usize {
        self.starts[query] as usize
    }

    /// The query of the instance at a place.
    pub fn query(&self, at: usize) -> usize {
        self.starts.partition_point(|&start| start as usize <= at) - 1
    }

    /// The share of what was found that a cap has kept; 1 without a cap.
    pub fn sampled(&self) -> f64 {
        let found: u64 = self.found.iter().map(|&it| u64::from(it)).sum();
        if found == 0 {
            1.0
        } else {
            self.len() as f64 / found as f64
        }
    }
}

#[cfg(test)]
mod tests;
