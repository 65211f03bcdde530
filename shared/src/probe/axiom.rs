//! The axioms, one file each with descriptions, preconditions, mining and tests.

pub mod tfc1;
pub mod tfc2;
pub mod mtdc;
pub mod lnc1;
pub mod lnc2;
pub mod tp;
pub mod stmc1;
pub mod stmc2;
pub mod stmc3;
mod ir_axioms;
mod formula;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::features::{
    AxiomInstancesForQuery, DocumentFeatures, QueryPoolFeatures, RequiredDocumentFeatures,
};
use super::{
    AxiomVariant, BoundRelation, MeasuredPrecondition, MiningThresholds, PreconditionQuantity,
    Probe, ProbeDescription, ScoreClaimKind,
};
use crate::error::{Error, ErrorFieldName};

pub use formula::AxiomCombinationFormula;
pub use ir_axioms::IrAxiomsAxiom;
pub(crate) use ir_axioms::{mean_first_occurrence_distance, mean_query_term_group_span};

/// A rule that a good ranker should follow. Serialized as its slug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Probe", into = "Probe")]
pub enum Axiom {
    /// More query terms are better.
    Tfc1,
    /// Each further query term helps less.
    Tfc2,
    /// Rarer query terms weigh more.
    Mtdc,
    /// Further words that are not in the query do not help.
    Lnc1,
    /// A repeated document does not score lower.
    Lnc2,
    /// Query terms that are closer together are better.
    Tp,
    /// Words closer in meaning to the query are better.
    Stmc1,
    /// Query terms count for more than words of similar meaning.
    Stmc2,
    /// Repeated query terms do not make up for words that are farther in meaning.
    Stmc3,
    /// Another axiom of the package `ir_axioms`.
    IrAxioms(IrAxiomsAxiom),
    /// A formula of several axioms, which is an axiom itself.
    Formula(AxiomCombinationFormula),
}

impl TryFrom<Probe> for Axiom {
    /// The error for a probe that is not an axiom.
    type Error = Error;

    fn try_from(probe: Probe) -> Result<Axiom, Error> {
        let refused = || {
            let field = ErrorFieldName::with_display_name("axiom", probe.slug());
            Error::unsupported_value(field, "is a behavioral test, but an axiom was expected")
        };
        probe.as_axiom().ok_or_else(refused)
    }
}

impl Axiom {
    /// The axioms of Rennings et al. and Câmara & Hauff, in display order.
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

    /// Iterates over the other axioms, those of `ir_axioms`.
    pub fn all_ir_axioms() -> impl Iterator<Item = Axiom> {
        IrAxiomsAxiom::ALL.iter().map(|&it| Axiom::IrAxioms(it))
    }

    /// Returns the axiom of a name: `M-TDC`, `mtdc`, `tfc1@ir_axioms`.
    pub(super) fn from_name_or_slug(word: &str) -> Option<Axiom> {
        let plain = |word: &str| word.to_ascii_lowercase().replace(['-', '_'], "");
        let word = plain(word.trim());
        let mut all = Axiom::ALL.iter().copied().chain(Axiom::all_ir_axioms());
        all.find(|it| plain(&it.slug()) == word)
    }

    /// Returns the name in commands, URLs and files, for example `mtdc`.
    pub fn slug(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Axiom::Tfc1 => "tfc1",
            Axiom::Tfc2 => "tfc2",
            Axiom::Mtdc => "mtdc",
            Axiom::Lnc1 => "lnc1",
            Axiom::Lnc2 => "lnc2",
            Axiom::Tp => "tp",
            Axiom::Stmc1 => "stmc1",
            Axiom::Stmc2 => "stmc2",
            Axiom::Stmc3 => "stmc3",
            Axiom::IrAxioms(it) => it.slug(),
            Axiom::Formula(it) => return Cow::Owned(it.to_string()),
        })
    }

    /// Returns the display name, for example `M-TDC`.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Axiom::Formula(it) => Cow::Owned(it.to_string()),
            other => Cow::Borrowed(other.probe_description().name),
        }
    }

    /// Returns the name and the explanations of the axiom.
    pub fn probe_description(self) -> &'static ProbeDescription {
        match self {
            Axiom::Tfc1 => &tfc1::DESCRIPTION,
            Axiom::Tfc2 => &tfc2::DESCRIPTION,
            Axiom::Mtdc => &mtdc::DESCRIPTION,
            Axiom::Lnc1 => &lnc1::DESCRIPTION,
            Axiom::Lnc2 => &lnc2::DESCRIPTION,
            Axiom::Tp => &tp::DESCRIPTION,
            Axiom::Stmc1 => &stmc1::DESCRIPTION,
            Axiom::Stmc2 => &stmc2::DESCRIPTION,
            Axiom::Stmc3 => &stmc3::DESCRIPTION,
            Axiom::IrAxioms(it) => it.probe_description(),
            Axiom::Formula(_) => &COMBINED,
        }
    }

    /// Returns the kind of claim that every instance of the axiom makes in a variant.
    pub fn claim_kind(self, mode: AxiomVariant) -> ScoreClaimKind {
        let is_strict = match self {
            Axiom::Tfc2 => return ScoreClaimKind::DiminishingGain,
            Axiom::Tfc1 | Axiom::Tp | Axiom::Stmc1 => true,
            Axiom::IrAxioms(_) | Axiom::Formula(_) => true,
            Axiom::Lnc1 | Axiom::Stmc2 => false,
            Axiom::Mtdc | Axiom::Lnc2 => mode == AxiomVariant::Code,
            Axiom::Stmc3 => mode == AxiomVariant::PaperCamara2020,
        };
        match is_strict {
            true => ScoreClaimKind::Higher,
            false => ScoreClaimKind::NotLower,
        }
    }

    /// Finds all instances of the axiom among the documents of one query, in no particular order.
    pub fn find_instances_in_pool(
        self,
        mode: AxiomVariant,
        case: &QueryPoolFeatures<'_>,
    ) -> AxiomInstancesForQuery {
        let mut found = AxiomInstancesForQuery::default();
        match self {
            Axiom::Tfc1 => tfc1::find_tfc1_instances(mode, case, &mut found),
            Axiom::Tfc2 => tfc2::find_tfc2_instances(case, &mut found),
            Axiom::Mtdc => mtdc::find_mtdc_instances(mode, case, &mut found),
            Axiom::Lnc1 => lnc1::find_lnc1_instances(mode, case, &mut found),
            Axiom::Lnc2 => lnc2::find_lnc2_instances(mode, case, &mut found),
            Axiom::Tp => tp::find_tp_instances(mode, case, &mut found),
            Axiom::Stmc1 => stmc1::find_stmc1_instances(mode, case, &mut found),
            Axiom::Stmc2 => stmc2::find_stmc2_instances(mode, case, &mut found),
            Axiom::Stmc3 => stmc3::find_stmc3_instances(mode, case, &mut found),
            Axiom::IrAxioms(it) => it.find_instances_in_pool(mode, case, &mut found),
            Axiom::Formula(it) => {
                it.for_each_preferred_pair(mode, case, |a, b| found.push_pair(a, b))
            }
        }
        found
    }

    /// Calls `take` with the pool indexes of the preferred document and of the other, for an axiom
    /// about two documents of the pool.
    fn each_preferred(
        self,
        mode: AxiomVariant,
        case: &QueryPoolFeatures<'_>,
        mut take: impl FnMut(usize, usize),
    ) {
        for pair in self
            .find_instances_in_pool(mode, case)
            .positions
            .as_chunks::<2>()
            .0
        {
            take(pair[0] as usize, pair[1] as usize);
        }
    }

    /// Measures the preconditions on the documents of the context, given in the order of the
    /// claim, whether they hold or not. The documents need [`DocumentFeatures::other_terms`] and
    /// [`DocumentFeatures::positions`], and [`DocumentFeatures::semantics`] if the axiom needs it:
    /// without it, its preconditions have no value and fail. The documents are an instance iff all
    /// preconditions hold.
    pub fn measure_preconditions(
        self,
        mode: AxiomVariant,
        case: &QueryPoolFeatures<'_>,
    ) -> Vec<MeasuredPrecondition> {
        let (limits, texts) = (case.limits, case.pool);
        match self {
            Axiom::Tfc1 => tfc1::measure_tfc1_preconditions(mode, case),
            Axiom::Tfc2 => tfc2::measure_tfc2_preconditions(limits, texts),
            Axiom::Mtdc => mtdc::measure_mtdc_preconditions(mode, case),
            Axiom::Lnc1 => lnc1::measure_lnc1_preconditions(mode, texts),
            Axiom::Lnc2 => lnc2::measure_lnc2_preconditions(mode, case),
            Axiom::Tp => tp::measure_tp_preconditions(mode, texts),
            Axiom::Stmc1 => stmc1::measure_stmc1_preconditions(mode, texts),
            Axiom::Stmc2 => stmc2::measure_stmc2_preconditions(mode, case),
            Axiom::Stmc3 => stmc3::measure_stmc3_preconditions(mode, case),
            Axiom::IrAxioms(it) => it.measure_preconditions(mode, case),
            Axiom::Formula(it) => it.measure_axiom_preferences(mode, case),
        }
    }

    /// Returns the features of documents that mining needs.
    pub(super) fn required_document_features(self, mode: AxiomVariant) -> RequiredDocumentFeatures {
        match self {
            Axiom::Lnc1 => RequiredDocumentFeatures {
                other_terms: lnc1::needs_non_query_term_counts(mode),
                ..RequiredDocumentFeatures::default()
            },
            Axiom::Tfc1 | Axiom::Tfc2 | Axiom::Mtdc | Axiom::Lnc2 | Axiom::Tp => {
                RequiredDocumentFeatures::default()
            }
            Axiom::Stmc1 | Axiom::Stmc2 | Axiom::Stmc3 => RequiredDocumentFeatures::default(),
            Axiom::IrAxioms(it) => it.required_document_features(),
            Axiom::Formula(it) => RequiredDocumentFeatures::union(
                it.distinct_axioms()
                    .iter()
                    .map(|it| it.required_document_features(mode)),
            ),
        }
    }

    /// Whether mining needs [`DocumentFeatures::semantics`], and so word vectors.
    pub fn needs_word_vectors(self) -> bool {
        match self {
            Axiom::Stmc1 | Axiom::Stmc2 | Axiom::Stmc3 => true,
            Axiom::Tfc1 | Axiom::Tfc2 | Axiom::Mtdc => false,
            Axiom::Lnc1 | Axiom::Lnc2 | Axiom::Tp => false,
            Axiom::IrAxioms(it) => it.needs_word_vectors(),
            Axiom::Formula(it) => it
                .distinct_axioms()
                .iter()
                .any(|it| it.needs_word_vectors()),
        }
    }
}

/// The description of every formula.
const COMBINED: ProbeDescription = ProbeDescription {
    name: "formula",
    short_title: "combined",
    statement: "The document that a formula of several axioms prefers scores higher.",
    formula: "formula(d1, d2) > 0 ⇒ S(d1) > S(d2)",
    source: "The operators of ir_axioms: Bondarenko et al., SIGIR 2022",
    known_issues: "The name of an axiom formula is the formula itself.",
    example: &[],
};

/// Measures the difference in length: | |document a| − |document b| | ≤ δ.
fn length_gap(
    limits: &MiningThresholds,
    texts: &[DocumentFeatures],
    a: u8,
    b: u8,
) -> MeasuredPrecondition {
    let len = |text: u8| texts[text as usize - 1].n_terms;
    MeasuredPrecondition {
        quantity: PreconditionQuantity::LengthGap { a, b },
        value: Some(f64::from(len(a).abs_diff(len(b)))),
        relation: BoundRelation::AtMost,
        bound: limits.length_tolerance_terms.map(f64::from),
    }
}

/// Measures whether a document has enough occurrences of query terms: Σ(document) ≥ least.
fn occurrences(texts: &[DocumentFeatures], text: u8, least: u32) -> MeasuredPrecondition {
    MeasuredPrecondition {
        quantity: PreconditionQuantity::QueryTermOccurrences { text },
        value: Some(f64::from(texts[text as usize - 1].n_occurrences)),
        relation: BoundRelation::AtLeast,
        bound: Some(f64::from(least)),
    }
}

/// Measures how many more query-term occurrences `b` has: Σ(document b) − Σ(document a) against 0.
fn occurrence_lead(
    texts: &[DocumentFeatures],
    a: u8,
    b: u8,
    relation: BoundRelation,
) -> MeasuredPrecondition {
    let total = |text: u8| f64::from(texts[text as usize - 1].n_occurrences);
    MeasuredPrecondition {
        quantity: PreconditionQuantity::QueryTermOccurrenceLead { a, b },
        value: Some(total(b) - total(a)),
        relation,
        bound: Some(0.0),
    }
}

/// Measures whether cos(document near − Q, Q) > cos(document far − Q, Q).
fn similarity_lead(texts: &[DocumentFeatures], near: u8, far: u8) -> MeasuredPrecondition {
    let similarity = |text: u8| texts[text as usize - 1].non_query_word_query_similarity();
    let lead = similarity(near).zip(similarity(far));
    MeasuredPrecondition {
        quantity: PreconditionQuantity::SimilarityLead { near, far },
        value: lead.map(|(near, far)| near - far),
        relation: BoundRelation::MoreThan,
        bound: Some(0.0),
    }
}

#[cfg(test)]
mod tests;
