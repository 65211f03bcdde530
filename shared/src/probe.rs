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
mod instances;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use counts::{Case, Found, Needs};

pub use axiom::{Axiom, Formula, Further};
pub(crate) use instances::starts_fit;
pub use instances::{Instances, InstancesHead};
pub use limits::{Limits, Mode, Source};
pub use manipulation::Manipulation;
pub use matching::{Matching, Measure};
pub use mine::Mined;
pub use pool::Pool;
pub use transfer::Transfer;

/// Place of a text in [`Mined::texts`].
pub type TextNo = u32;

/// What finds instances. Written as its slug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Probe {
    /// A claim which text of the pool scores higher.
    Axiom(Axiom),
    /// Two texts that are equal in one measurement and differ in another.
    MeasureAndMatch(Matching),
    /// A changed document and the document.
    Manipulation(Manipulation),
    /// A pair of texts of another task.
    Transfer(Transfer),
}

/// As it is written: a text.
#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for Probe {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        String::schema()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for Probe {}

impl TryFrom<String> for Probe {
    type Error = Error;

    fn try_from(word: String) -> Result<Probe, Error> {
        word.parse()
    }
}

impl From<Probe> for String {
    fn from(it: Probe) -> String {
        it.slug().into_owned()
    }
}

impl From<Axiom> for Probe {
    fn from(it: Axiom) -> Probe {
        Probe::Axiom(it)
    }
}

/// What there is to say about a probe before seeing any data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// As in the literature: `M-TDC`.
    pub name: &'static str,
    /// Two or three words for a column head.
    pub gist: &'static str,
    /// One sentence.
    pub statement: &'static str,
    /// Premises and claim as a formula.
    pub formula: &'static str,
    /// Who stated it first, and whose diagnostic reading is taken.
    pub source: &'static str,
    /// What the papers and their published code have wrong or open.
    pub troubles: &'static str,
    /// A worked example: query, then the texts in the order of the claim. Empty for an axiom
    /// that needs word vectors, which somebody has to bring, or scores in a collection.
    pub example: &'static [&'static str],
}

impl Probe {
    /// The name in commands, addresses and files: `mtdc`.
    pub fn slug(self) -> Cow<'static, str> {
        match self {
            Probe::Axiom(it) => it.slug(),
            Probe::MeasureAndMatch(it) => Cow::Owned(it.to_string()),
            Probe::Manipulation(it) => it.slug(),
            Probe::Transfer(it) => Cow::Owned(it.to_string()),
        }
    }

    /// The name for people: `M-TDC`.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Probe::Axiom(it) => it.name(),
            Probe::MeasureAndMatch(it) => Cow::Borrowed(it.about().name),
            Probe::Manipulation(it) => it.name(),
            Probe::Transfer(it) => Cow::Owned(it.name.as_str().to_owned()),
        }
    }

    /// What there is to say about it before seeing any data.
    pub fn about(self) -> &'static About {
        match self {
            Probe::Axiom(it) => it.about(),
            Probe::MeasureAndMatch(it) => it.about(),
            Probe::Manipulation(it) => it.about(),
            Probe::Transfer(it) => it.about(),
        }
    }

    /// What every instance claims in a mode.
    pub fn claim(self, mode: Mode) -> ClaimKind {
        match self {
            Probe::Axiom(it) => it.claim(mode),
            Probe::Transfer(it) if it.symmetric => ClaimKind::Apart,
            Probe::MeasureAndMatch(_) | Probe::Manipulation(_) | Probe::Transfer(_) => {
                ClaimKind::Above
            }
        }
    }

    /// All instances among the texts of one query, in no particular order.
    pub fn mine(self, mode: Mode, case: &Case<'_>) -> Found {
        match self {
            Probe::Axiom(it) => it.mine(mode, case),
            Probe::MeasureAndMatch(it) => it.mine(case),
            // Theirs are texts beside the pool, which are known before it is mined.
            Probe::Manipulation(_) | Probe::Transfer(_) => Found::default(),
        }
    }

    /// The premises of an axiom or a measurement, see [`Axiom::premises`].
    pub fn premises(self, mode: Mode, case: &Case<'_>) -> Vec<Measured> {
        match self {
            Probe::Axiom(it) => it.premises(mode, case),
            Probe::MeasureAndMatch(it) => it.premises(case.pool),
            Probe::Manipulation(_) | Probe::Transfer(_) => Vec::new(),
        }
    }

    /// What mining has to see of the texts.
    pub(crate) fn needs(self, mode: Mode) -> Needs {
        match self {
            Probe::Axiom(it) => it.needs(mode),
            Probe::MeasureAndMatch(it) => it.needs(),
            Probe::Manipulation(_) | Probe::Transfer(_) => Needs::default(),
        }
    }

    /// Whether it needs word vectors.
    pub fn needs_vectors(self) -> bool {
        match self {
            Probe::Axiom(it) => it.needs_vectors(),
            Probe::MeasureAndMatch(it) => it.needs_vectors(),
            Probe::Manipulation(it) => it.needs_vectors(),
            Probe::Transfer(_) => false,
        }
    }

    /// Those of [`Axiom::ALL`] that can be mined with or without word vectors.
    pub fn minable(with_vectors: bool) -> Vec<Probe> {
        let all = Axiom::ALL.iter().map(|&it| Probe::Axiom(it));
        all.filter(|it| with_vectors || !it.needs_vectors())
            .collect()
    }

    /// Those of `ir_axioms` that can be mined with or without word vectors.
    pub fn further(with_vectors: bool) -> Vec<Probe> {
        let all = Axiom::further().map(Probe::Axiom);
        all.filter(|it| with_vectors || !it.needs_vectors())
            .collect()
    }

    /// What a word of a list stands for: a probe, or one of the groups `all` (every one of
    /// [`Axiom::ALL`] that can be mined), `ir_axioms` (every further one), `match` (measure and
    /// match over the paper's measurements), `match:all` (over all that there are) and
    /// `manipulations` (every one of [`Manipulation::ALL`]).
    pub fn group(word: &str, with_vectors: bool) -> Result<Vec<Probe>, Error> {
        let matching = |measures: &[Measure]| {
            let all = Matching::all(measures)
                .into_iter()
                .map(Probe::MeasureAndMatch);
            all.filter(|it| with_vectors || !it.needs_vectors())
                .collect()
        };
        Ok(match word.trim() {
            "all" => Probe::minable(with_vectors),
            "ir_axioms" => Probe::further(with_vectors),
            "match" => matching(Measure::PUBLISHED),
            "match:all" => matching(Measure::ALL),
            "manipulations" => {
                let all = Manipulation::ALL.iter();
                all.map(|&it| Probe::Manipulation(it)).collect()
            }
            word => vec![word.parse()?],
        })
    }

    /// A list as it is typed: `tfc1,prox1,tfc1&lnc1,match`.
    pub fn parse_list(list: &str, with_vectors: bool) -> Result<Vec<Probe>, Error> {
        let mut probes = Vec::new();
        for word in list.split(',') {
            probes.extend(Probe::group(word, with_vectors)?);
        }
        probes.sort_unstable();
        probes.dedup();
        match probes.iter().find(|it| it.needs_vectors() && !with_vectors) {
            Some(probe) => Err(crate::vectors::missing(&probe.slug())),
            None => Ok(probes),
        }
    }

    /// Whether its texts stand beside the collection.
    pub fn is_beside(self) -> bool {
        matches!(self, Probe::Manipulation(_) | Probe::Transfer(_))
    }

    /// Whether its samples are pairs of a transfer set.
    pub fn is_transfer(self) -> bool {
        matches!(self, Probe::Transfer(_))
    }

    /// The axiom that it is, if it is one.
    pub fn axiom(self) -> Option<Axiom> {
        match self {
            Probe::Axiom(it) => Some(it),
            Probe::MeasureAndMatch(_) | Probe::Manipulation(_) | Probe::Transfer(_) => None,
        }
    }

    /// Whether it claims which text should score higher; if not, it is a behaviour, which asks.
    pub fn is_axiom(self) -> bool {
        matches!(self, Probe::Axiom(_))
    }
}

impl std::str::FromStr for Probe {
    type Err = Error;

    fn from_str(word: &str) -> Result<Probe, Error> {
        if let Some(found) = Axiom::named(word) {
            return Ok(Probe::Axiom(found));
        }
        if word.starts_with("match:") {
            return Ok(Probe::MeasureAndMatch(word.parse()?));
        }
        if word.starts_with("transfer:") || word.starts_with("symmetric:") {
            return Ok(Probe::Transfer(word.parse()?));
        }
        if let Some(found) = Manipulation::of(word)? {
            return Ok(Probe::Manipulation(found));
        }
        let is_formula = word.contains(['+', '*', '/', '%', '&', '|', '(', ' ', '-']);
        if is_formula && !word.trim().is_empty() {
            return Ok(Probe::Axiom(Axiom::Combined(word.parse()?)));
        }
        let shown: String = word.chars().take(80).collect();
        let others = "all, ir_axioms or one of its axioms, a formula of them as tfc1&lnc1, \
                      match:CONTROL:VARIABLE, a manipulation, or transfer:NAME";
        let known = Axiom::ALL.iter().map(|it| it.slug().into_owned());
        let known = known.chain([others.to_owned()]);
        Err(Error::not_one_of("probes", shown, known))
    }
}

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
        #[cfg_attr(feature = "openapi", schema(value_type = Probe))]
        axiom: Axiom,
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

#[cfg(test)]
mod tests;
