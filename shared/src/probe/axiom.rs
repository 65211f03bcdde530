//! The axioms: one file each with its words, premises, mining and tests.

pub mod tfc1;
pub mod tfc2;
pub mod mtdc;
pub mod lnc1;
pub mod lnc2;
pub mod tp;
pub mod stmc1;
pub mod stmc2;
pub mod stmc3;
mod further;
mod formula;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::counts::{Case, Counted, Found};
use super::manipulation::Manipulation;
use super::matching::{Matching, Measure};
use super::transfer::Transfer;
use super::{ClaimKind, Limits, Measured, Mode, Quantity, Relation};
use crate::error::Error;

pub use formula::Formula;
pub use further::Further;

/// A heuristic that a good ranking function should follow. Written as its slug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Probe {
    /// More query terms are better.
    Tfc1,
    /// Each further query term helps less.
    Tfc2,
    /// Rarer query terms weigh more.
    Mtdc,
    /// Further words that nobody asked for do not help.
    Lnc1,
    /// A repeated text does not lose.
    Lnc2,
    /// Query terms that stand closer together are better.
    Tp,
    /// Words closer in meaning to the query are better.
    Stmc1,
    /// Query terms count for more than words of like meaning.
    Stmc2,
    /// Repeated query terms do not make up for words farther in meaning.
    Stmc3,
    /// Another axiom of the package `ir_axioms`.
    Further(Further),
    /// Several axioms as one.
    Combined(Formula),
    /// Two texts that are equal in one measurement and differ in another.
    Matching(Matching),
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

/// What there is to say about an axiom before seeing any data.
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
    /// The axioms of Rennings et al. and Câmara & Hauff, in the order people meet them.
    pub const AXIOMS: &[Probe] = &[
        Probe::Tfc1,
        Probe::Tfc2,
        Probe::Mtdc,
        Probe::Lnc1,
        Probe::Lnc2,
        Probe::Tp,
        Probe::Stmc1,
        Probe::Stmc2,
        Probe::Stmc3,
    ];

    /// The name in commands, addresses and files: `mtdc`.
    pub fn slug(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Probe::Tfc1 => "tfc1",
            Probe::Tfc2 => "tfc2",
            Probe::Mtdc => "mtdc",
            Probe::Lnc1 => "lnc1",
            Probe::Lnc2 => "lnc2",
            Probe::Tp => "tp",
            Probe::Stmc1 => "stmc1",
            Probe::Stmc2 => "stmc2",
            Probe::Stmc3 => "stmc3",
            Probe::Further(it) => it.slug(),
            Probe::Combined(it) => return Cow::Owned(it.to_string()),
            Probe::Matching(it) => return Cow::Owned(it.to_string()),
            Probe::Manipulation(it) => return it.slug(),
            Probe::Transfer(it) => return Cow::Owned(it.to_string()),
        })
    }

    /// The name for people: `M-TDC`.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Probe::Combined(it) => Cow::Owned(it.to_string()),
            Probe::Manipulation(it) => it.name(),
            Probe::Transfer(it) => Cow::Owned(it.name.as_str().to_owned()),
            other => Cow::Borrowed(other.about().name),
        }
    }

    /// What there is to say about the axiom before seeing any data.
    pub fn about(self) -> &'static About {
        match self {
            Probe::Tfc1 => &tfc1::ABOUT,
            Probe::Tfc2 => &tfc2::ABOUT,
            Probe::Mtdc => &mtdc::ABOUT,
            Probe::Lnc1 => &lnc1::ABOUT,
            Probe::Lnc2 => &lnc2::ABOUT,
            Probe::Tp => &tp::ABOUT,
            Probe::Stmc1 => &stmc1::ABOUT,
            Probe::Stmc2 => &stmc2::ABOUT,
            Probe::Stmc3 => &stmc3::ABOUT,
            Probe::Further(it) => it.about(),
            Probe::Combined(_) => &COMBINED,
            Probe::Matching(it) => it.about(),
            Probe::Manipulation(it) => it.about(),
            Probe::Transfer(it) => it.about(),
        }
    }

    /// What every instance of the axiom claims in a mode.
    pub fn claim(self, mode: Mode) -> ClaimKind {
        match self {
            Probe::Tfc1 => tfc1::claim(mode),
            Probe::Tfc2 => tfc2::claim(),
            Probe::Mtdc => mtdc::claim(mode),
            Probe::Lnc1 => lnc1::claim(),
            Probe::Lnc2 => lnc2::claim(mode),
            Probe::Tp => tp::claim(),
            Probe::Stmc1 => stmc1::claim(),
            Probe::Stmc2 => stmc2::claim(),
            Probe::Stmc3 => stmc3::claim(mode),
            Probe::Further(_) | Probe::Combined(_) | Probe::Matching(_) => ClaimKind::Above,
            Probe::Transfer(it) if it.symmetric => ClaimKind::Apart,
            Probe::Manipulation(_) | Probe::Transfer(_) => ClaimKind::Above,
        }
    }

    /// All instances of the axiom among the texts of one query, in no particular order.
    pub fn mine(self, mode: Mode, case: &Case<'_>) -> Found {
        let mut found = Found::default();
        match self {
            Probe::Tfc1 => tfc1::mine(mode, case, &mut found),
            Probe::Tfc2 => tfc2::mine(case, &mut found),
            Probe::Mtdc => mtdc::mine(mode, case, &mut found),
            Probe::Lnc1 => lnc1::mine(mode, case, &mut found),
            Probe::Lnc2 => lnc2::mine(mode, case, &mut found),
            Probe::Tp => tp::mine(mode, case, &mut found),
            Probe::Stmc1 => stmc1::mine(mode, case, &mut found),
            Probe::Stmc2 => stmc2::mine(mode, case, &mut found),
            Probe::Stmc3 => stmc3::mine(mode, case, &mut found),
            Probe::Further(it) => it.mine(mode, case, &mut found),
            Probe::Combined(it) => it.each_preferred(mode, case, |a, b| found.pair(a, b)),
            Probe::Matching(it) => it.mine(case, &mut found),
            // Theirs are texts beside the pool, which are known before it is mined.
            Probe::Manipulation(_) | Probe::Transfer(_) => {}
        }
        found
    }

    /// Calls `take` with the places of each preferred text and of the other, for an axiom about
    /// two texts of the pool.
    fn each_preferred(self, mode: Mode, case: &Case<'_>, mut take: impl FnMut(usize, usize)) {
        for pair in self.mine(mode, case).places.as_chunks::<2>().0 {
            take(pair[0] as usize, pair[1] as usize);
        }
    }

    /// The premises as measured on the texts of the case, which stand in the order of the claim,
    /// whether they hold or not. They must carry [`Counted::others`] and
    /// [`Counted::positions`], and [`Counted::meaning`] where the axiom needs it: without, its
    /// premises have no value and fail. They are an instance iff all hold.
    pub fn premises(self, mode: Mode, case: &Case<'_>) -> Vec<Measured> {
        let (limits, texts) = (case.limits, case.pool);
        match self {
            Probe::Tfc1 => tfc1::premises(mode, limits, texts),
            Probe::Tfc2 => tfc2::premises(limits, texts),
            Probe::Mtdc => mtdc::premises(mode, limits, case.query, texts),
            Probe::Lnc1 => lnc1::premises(mode, texts),
            Probe::Lnc2 => lnc2::premises(mode, limits, texts),
            Probe::Tp => tp::premises(mode, texts),
            Probe::Stmc1 => stmc1::premises(mode, texts),
            Probe::Stmc2 => stmc2::premises(mode, limits, texts),
            Probe::Stmc3 => stmc3::premises(mode, limits, texts),
            Probe::Further(it) => it.premises(mode, case),
            Probe::Combined(it) => it.premises(mode, case),
            Probe::Matching(it) => it.premises(texts),
            Probe::Manipulation(_) | Probe::Transfer(_) => Vec::new(),
        }
    }

    /// Whether mining needs [`Counted::others`].
    pub(crate) fn needs_others(self, mode: Mode) -> bool {
        match self {
            Probe::Lnc1 => lnc1::needs_others(mode),
            Probe::Tfc1 | Probe::Tfc2 | Probe::Mtdc | Probe::Lnc2 | Probe::Tp => false,
            Probe::Stmc1 | Probe::Stmc2 | Probe::Stmc3 => false,
            Probe::Further(it) => it.needs_others(),
            Probe::Matching(_) | Probe::Manipulation(_) | Probe::Transfer(_) => false,
            Probe::Combined(it) => it.axioms().iter().any(|it| it.needs_others(mode)),
        }
    }

    /// Whether mining needs [`Counted::positions`].
    pub(crate) fn needs_positions(self) -> bool {
        match self {
            Probe::Further(it) => it.needs_positions(),
            Probe::Combined(it) => it.axioms().iter().any(|it| it.needs_positions()),
            Probe::Matching(it) => it.needs_positions(),
            _ => false,
        }
    }

    /// Whether mining needs [`Counted::meaning`], and so word vectors.
    pub fn needs_vectors(self) -> bool {
        match self {
            Probe::Stmc1 | Probe::Stmc2 | Probe::Stmc3 => true,
            Probe::Tfc1 | Probe::Tfc2 | Probe::Mtdc => false,
            Probe::Lnc1 | Probe::Lnc2 | Probe::Tp => false,
            Probe::Further(it) => it.needs_vectors(),
            Probe::Combined(it) => it.axioms().iter().any(|it| it.needs_vectors()),
            Probe::Matching(it) => it.needs_vectors(),
            Probe::Manipulation(it) => it.needs_vectors(),
            Probe::Transfer(_) => false,
        }
    }

    /// Whether mining needs [`Meaning::words`](super::counts::Meaning::words).
    pub(crate) fn needs_words(self) -> bool {
        match self {
            Probe::Further(it) => it.needs_vectors(),
            Probe::Combined(it) => it.axioms().iter().any(|it| it.needs_words()),
            _ => false,
        }
    }

    /// Those of `ir_axioms` that can be mined with or without word vectors.
    pub fn further(with_vectors: bool) -> Vec<Probe> {
        let all = Further::ALL.iter().map(|&it| Probe::Further(it));
        all.filter(|it| with_vectors || !it.needs_vectors())
            .collect()
    }

    /// The axiom of a name: `M-TDC`, `mtdc`, `tfc1@ir_axioms`.
    fn named(word: &str) -> Option<Probe> {
        let plain = |word: &str| word.to_ascii_lowercase().replace(['-', '_'], "");
        let word = plain(word.trim());
        let further = Further::ALL.iter().map(|&it| Probe::Further(it));
        let mut all = Probe::AXIOMS.iter().copied().chain(further);
        all.find(|it| plain(&it.slug()) == word)
    }

    /// Those of [`Probe::AXIOMS`] that can be mined with or without word vectors.
    pub fn minable(with_vectors: bool) -> Vec<Probe> {
        let all = Probe::AXIOMS.iter().copied();
        all.filter(|it| with_vectors || !it.needs_vectors())
            .collect()
    }

    /// What a word of a list stands for: a probe, or one of the groups `all` (every one of
    /// [`Probe::AXIOMS`] that can be mined), `ir_axioms` (every further one), `match` (measure and
    /// match over the paper's measurements), `match:all` (over all that there are) and
    /// `manipulations` (every one of [`Manipulation::ALL`]).
    pub fn group(word: &str, with_vectors: bool) -> Result<Vec<Probe>, Error> {
        let matching = |measures: &[Measure]| {
            let all = Matching::all(measures).into_iter().map(Probe::Matching);
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

    /// Whether it claims which text should score higher; if not, it is a behaviour, which asks.
    pub fn is_axiom(self) -> bool {
        !matches!(
            self,
            Probe::Matching(_) | Probe::Manipulation(_) | Probe::Transfer(_)
        )
    }
}

impl std::str::FromStr for Probe {
    type Err = Error;

    fn from_str(word: &str) -> Result<Probe, Error> {
        if let Some(found) = Probe::named(word) {
            return Ok(found);
        }
        if word.starts_with("match:") {
            return Ok(Probe::Matching(word.parse()?));
        }
        if word.starts_with("transfer:") || word.starts_with("symmetric:") {
            return Ok(Probe::Transfer(word.parse()?));
        }
        if let Some(found) = Manipulation::of(word)? {
            return Ok(Probe::Manipulation(found));
        }
        let is_formula = word.contains(['+', '*', '/', '%', '&', '|', '(', ' ', '-']);
        if is_formula && !word.trim().is_empty() {
            return Ok(Probe::Combined(word.parse()?));
        }
        let shown: String = word.chars().take(80).collect();
        let others = "all, ir_axioms or one of its axioms, a formula of them as tfc1&lnc1, \
                      match:CONTROL:VARIABLE, a manipulation, or transfer:NAME";
        let known = Probe::AXIOMS.iter().map(|it| it.slug().into_owned());
        let known = known.chain([others.to_owned()]);
        Err(Error::not_one_of("probes", shown, known))
    }
}

/// What is said of every formula.
const COMBINED: About = About {
    name: "formula",
    gist: "combined",
    statement: "The text that a formula of several axioms prefers scores higher.",
    formula: "formula(d1, d2) > 0 ⇒ S(d1) > S(d2)",
    source: "The operators of ir_axioms: Bondarenko et al., SIGIR 2022",
    troubles: "Its name is its formula.",
    example: &[],
};

/// | |text a| − |text b| | ≤ δ.
fn length_gap(limits: &Limits, texts: &[Counted], a: u8, b: u8) -> Measured {
    let len = |text: u8| texts[text as usize - 1].len;
    Measured {
        quantity: Quantity::LengthGap { a, b },
        value: Some(f64::from(len(a).abs_diff(len(b)))),
        relation: Relation::AtMost,
        bound: limits.length_gap_terms.map(f64::from),
    }
}

/// Σ(text) ≥ least.
fn occurrences(texts: &[Counted], text: u8, least: u32) -> Measured {
    Measured {
        quantity: Quantity::Occurrences { text },
        value: Some(f64::from(texts[text as usize - 1].total)),
        relation: Relation::AtLeast,
        bound: Some(f64::from(least)),
    }
}

/// Σ(text b) − Σ(text a) against 0.
fn occurrence_lead(texts: &[Counted], a: u8, b: u8, relation: Relation) -> Measured {
    let total = |text: u8| f64::from(texts[text as usize - 1].total);
    Measured {
        quantity: Quantity::OccurrenceLead { a, b },
        value: Some(total(b) - total(a)),
        relation,
        bound: Some(0.0),
    }
}

/// cos(text near − Q, Q) > cos(text far − Q, Q).
fn similarity_lead(texts: &[Counted], near: u8, far: u8) -> Measured {
    let similarity = |text: u8| texts[text as usize - 1].to_query();
    let lead = similarity(near).zip(similarity(far));
    Measured {
        quantity: Quantity::SimilarityLead { near, far },
        value: lead.map(|(near, far)| near - far),
        relation: Relation::Above,
        bound: Some(0.0),
    }
}

#[cfg(test)]
mod tests;
