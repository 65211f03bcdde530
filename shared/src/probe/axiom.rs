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

use serde::{Deserialize, Serialize};

use super::counts::{Case, Counted, Found};
use super::{ClaimKind, Limits, Measured, Mode, Quantity, Relation};
use crate::error::Error;
use crate::index::stats::QueryTerms;

/// A heuristic that a good ranking function should follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Axiom {
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
    /// that needs word vectors, which somebody has to bring.
    pub example: &'static [&'static str],
}

impl Axiom {
    /// Every axiom, in the order people meet them.
    pub const ALL: &[Axiom] = &[
        Axiom::Tfc1,
        Axiom::Tfc2,
        Axiom::Mtdc,
        Axiom::Lnc1,
        Axiom::Lnc2,
        Axiom::Tp,
        Axiom::Stmc1,
        Axiom::Stmc2,
        Axiom::Stmc3,
    ];

    /// The name in commands, addresses and files: `mtdc`.
    pub fn slug(self) -> &'static str {
        match self {
            Axiom::Tfc1 => "tfc1",
            Axiom::Tfc2 => "tfc2",
            Axiom::Mtdc => "mtdc",
            Axiom::Lnc1 => "lnc1",
            Axiom::Lnc2 => "lnc2",
            Axiom::Tp => "tp",
            Axiom::Stmc1 => "stmc1",
            Axiom::Stmc2 => "stmc2",
            Axiom::Stmc3 => "stmc3",
        }
    }

    /// What there is to say about the axiom before seeing any data.
    pub fn about(self) -> &'static About {
        match self {
            Axiom::Tfc1 => &tfc1::ABOUT,
            Axiom::Tfc2 => &tfc2::ABOUT,
            Axiom::Mtdc => &mtdc::ABOUT,
            Axiom::Lnc1 => &lnc1::ABOUT,
            Axiom::Lnc2 => &lnc2::ABOUT,
            Axiom::Tp => &tp::ABOUT,
            Axiom::Stmc1 => &stmc1::ABOUT,
            Axiom::Stmc2 => &stmc2::ABOUT,
            Axiom::Stmc3 => &stmc3::ABOUT,
        }
    }

    /// What every instance of the axiom claims in a mode.
    pub fn claim(self, mode: Mode) -> ClaimKind {
        match self {
            Axiom::Tfc1 => tfc1::claim(mode),
            Axiom::Tfc2 => tfc2::claim(),
            Axiom::Mtdc => mtdc::claim(mode),
            Axiom::Lnc1 => lnc1::claim(),
            Axiom::Lnc2 => lnc2::claim(mode),
            Axiom::Tp => tp::claim(),
            Axiom::Stmc1 => stmc1::claim(),
            Axiom::Stmc2 => stmc2::claim(),
            Axiom::Stmc3 => stmc3::claim(mode),
        }
    }

    /// All instances of the axiom among the texts of one query, in no particular order.
    pub fn mine(self, mode: Mode, case: &Case<'_>) -> Found {
        let mut found = Found::default();
        match self {
            Axiom::Tfc1 => tfc1::mine(mode, case, &mut found),
            Axiom::Tfc2 => tfc2::mine(case, &mut found),
            Axiom::Mtdc => mtdc::mine(mode, case, &mut found),
            Axiom::Lnc1 => lnc1::mine(mode, case, &mut found),
            Axiom::Lnc2 => lnc2::mine(mode, case, &mut found),
            Axiom::Tp => tp::mine(mode, case, &mut found),
            Axiom::Stmc1 => stmc1::mine(mode, case, &mut found),
            Axiom::Stmc2 => stmc2::mine(mode, case, &mut found),
            Axiom::Stmc3 => stmc3::mine(mode, case, &mut found),
        }
        found
    }

    /// The premises as measured on texts in the order of the claim, whether they hold or not.
    /// The texts must carry [`Counted::others`], and [`Counted::meaning`] where the axiom needs
    /// it: without, its premises have no value and fail. They are an instance iff all hold.
    pub fn premises(
        self,
        mode: Mode,
        limits: &Limits,
        query: &QueryTerms,
        texts: &[Counted],
    ) -> Vec<Measured> {
        match self {
            Axiom::Tfc1 => tfc1::premises(mode, limits, texts),
            Axiom::Tfc2 => tfc2::premises(limits, texts),
            Axiom::Mtdc => mtdc::premises(mode, limits, query, texts),
            Axiom::Lnc1 => lnc1::premises(mode, texts),
            Axiom::Lnc2 => lnc2::premises(mode, limits, texts),
            Axiom::Tp => tp::premises(mode, texts),
            Axiom::Stmc1 => stmc1::premises(mode, texts),
            Axiom::Stmc2 => stmc2::premises(mode, limits, texts),
            Axiom::Stmc3 => stmc3::premises(mode, limits, texts),
        }
    }

    /// Whether mining needs [`Counted::others`].
    pub(crate) fn needs_others(self, mode: Mode) -> bool {
        match self {
            Axiom::Lnc1 => lnc1::needs_others(mode),
            Axiom::Tfc1 | Axiom::Tfc2 | Axiom::Mtdc | Axiom::Lnc2 | Axiom::Tp => false,
            Axiom::Stmc1 | Axiom::Stmc2 | Axiom::Stmc3 => false,
        }
    }

    /// Whether mining needs [`Counted::meaning`], and so word vectors.
    pub fn needs_vectors(self) -> bool {
        matches!(self, Axiom::Stmc1 | Axiom::Stmc2 | Axiom::Stmc3)
    }

    /// Every axiom that can be mined with or without word vectors.
    pub fn minable(with_vectors: bool) -> Vec<Axiom> {
        let all = Axiom::ALL.iter().copied();
        all.filter(|it| with_vectors || !it.needs_vectors())
            .collect()
    }

    /// A list as it is typed: `tfc1,mtdc` or `all`, which is all that can be mined.
    pub fn parse_list(list: &str, with_vectors: bool) -> Result<Vec<Axiom>, Error> {
        if list == "all" {
            return Ok(Axiom::minable(with_vectors));
        }
        let mut axioms = list
            .split(',')
            .map(str::parse)
            .collect::<Result<Vec<Axiom>, Error>>()?;
        axioms.sort_unstable();
        axioms.dedup();
        match axioms.iter().find(|it| it.needs_vectors() && !with_vectors) {
            Some(axiom) => Err(crate::vectors::missing(axiom.slug())),
            None => Ok(axioms),
        }
    }
}

impl std::str::FromStr for Axiom {
    type Err = Error;

    fn from_str(word: &str) -> Result<Axiom, Error> {
        let slug = word.trim().to_ascii_lowercase().replace('-', "");
        let found = Axiom::ALL.iter().find(|it| it.slug() == slug).copied();
        found.ok_or_else(|| {
            let all: Vec<&str> = Axiom::ALL.iter().map(|it| it.slug()).collect();
            Error::setting(
                "probes",
                format!("`{word}` is none of {}, all", all.join(", ")),
            )
        })
    }
}

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
