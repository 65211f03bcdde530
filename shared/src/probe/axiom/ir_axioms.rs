//! The other axioms of the package `ir_axioms` (Bondarenko et al., SIGIR 2022) that need no model
//! and no web service: what they compare, and under which conditions.
//!
//! Each prefers one of two documents: it has conditions, which do not depend on the order of the
//! two, and a lead of the first over the second; a pair is an instance iff the conditions hold and
//! the lead is above 0. Claim: S(d1) > S(d2). Variant `code` is release 1.2.5 of the package,
//! including its defects; the other variants follow the literature:
//!
//! - they use counts c(w,d) where the package uses c(w,d) / |d|, which makes equal counts unequal
//!   in documents of nearly equal length and rewards the shorter document unintentionally;
//! - TFC1, TFC3, REG and ANTI-REG compare documents of equal length; in the package, one of their
//!   methods overrides the one that would have checked this;
//! - ASPECT-REG counts the aspects that a document covers, and two query terms are of one aspect if
//!   a chain of similar terms connects them; the package only checks whether a document covers any
//!   aspect, and its clusters depend on the order of a set;
//! - STMC2 prefers neither document if both orders qualify; the package then prefers both.
//!
//! In all variants LB1 uses the scores of [`Bm25::DEFAULT`], however the pool was made, since
//! mining must not depend on a run; the similarity of two terms is the cosine of their word
//! vectors, 0 if one has none.
//!
//! [`Bm25::DEFAULT`]: crate::rank::Bm25::DEFAULT

mod aspects;
mod frequency;
mod proximity;
mod evaluator;

use super::super::features::{AxiomInstancesForQuery, QueryPoolFeatures, RequiredDocumentFeatures};
use super::super::{AxiomVariant, BoundRelation, MeasuredPrecondition, PreconditionQuantity};
use super::ProbeDescription;
use evaluator::IrAxiomsEvaluator;
pub(crate) use proximity::{mean_first_occurrence_distance, mean_query_term_group_span};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An axiom as the package `ir_axioms` defines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IrAxiomsAxiom {
    /// A larger sum of query-term counts.
    Tfc1IrAxioms,
    /// Two query terms are better than one of them with the same total count.
    Tfc3,
    /// More occurrences of the rarer terms.
    MtdcIrAxioms,
    /// As [`IrAxiomsAxiom::MtdcIrAxioms`], for documents of equal length.
    LenMtdc,
    /// The shorter of two documents with similar query-term counts.
    Lnc1IrAxioms,
    /// One more occurrence of a query term makes up for one more word.
    TfLnc,
    /// A query term that the other document lacks.
    Lb1,
    /// More occurrences of the query term that is least similar to the others.
    Reg,
    /// More occurrences of the query term that is most similar to the others.
    AntiReg,
    /// More aspects of the query.
    AspectReg,
    /// One document has all query terms, the other does not.
    And,
    /// As [`IrAxiomsAxiom::And`], for documents of equal length.
    LenAnd,
    /// One document has more distinct query terms than the other.
    MAnd,
    /// As [`IrAxiomsAxiom::MAnd`], for documents of equal length.
    LenMAnd,
    /// A vocabulary that is less similar to the query.
    Div,
    /// As [`IrAxiomsAxiom::Div`], for documents of equal length.
    LenDiv,
    /// First occurrences of query terms that are closer to each other.
    Prox1,
    /// First occurrences of query terms that are closer to the beginning of the document.
    Prox2,
    /// An earlier occurrence of the query as a phrase.
    Prox3,
    /// The closest group of all query terms.
    Prox4,
    /// Smaller spans of all query terms.
    Prox5,
    /// Words that are more similar to those of the query.
    Stmc1IrAxioms,
    /// A query term rather than the word that is most similar to one.
    Stmc2IrAxioms,
}

/// A condition that does not depend on the order of the two documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IrAxiomsCondition {
    /// Equal lengths within a relative tolerance.
    Length,
    /// Sums of query-term counts that differ by more than a relative tolerance.
    SumsApart,
    /// Equal sums of query-term counts.
    SumsEqual,
    /// A query term whose counts differ.
    Differing,
    /// All counts of query terms are equal within a relative tolerance.
    CountsClose,
    /// Scores that are equal within a relative tolerance.
    ScoresClose,
    /// All query terms have equal idf within a relative tolerance.
    EquallyRare,
    /// Both documents have the same query terms, at least two.
    SameTerms,
    /// Both documents have all query terms, at least two.
    AllTerms,
}

impl IrAxiomsAxiom {
    /// All of these axioms, by family.
    pub const ALL: &[IrAxiomsAxiom] = &[
        IrAxiomsAxiom::Tfc1IrAxioms,
        IrAxiomsAxiom::Tfc3,
        IrAxiomsAxiom::MtdcIrAxioms,
        IrAxiomsAxiom::LenMtdc,
        IrAxiomsAxiom::Lnc1IrAxioms,
        IrAxiomsAxiom::TfLnc,
        IrAxiomsAxiom::Lb1,
        IrAxiomsAxiom::Reg,
        IrAxiomsAxiom::AntiReg,
        IrAxiomsAxiom::AspectReg,
        IrAxiomsAxiom::And,
        IrAxiomsAxiom::LenAnd,
        IrAxiomsAxiom::MAnd,
        IrAxiomsAxiom::LenMAnd,
        IrAxiomsAxiom::Div,
        IrAxiomsAxiom::LenDiv,
        IrAxiomsAxiom::Prox1,
        IrAxiomsAxiom::Prox2,
        IrAxiomsAxiom::Prox3,
        IrAxiomsAxiom::Prox4,
        IrAxiomsAxiom::Prox5,
        IrAxiomsAxiom::Stmc1IrAxioms,
        IrAxiomsAxiom::Stmc2IrAxioms,
    ];

    /// Returns the name in commands, URLs and files.
    pub fn slug(self) -> &'static str {
        match self {
            IrAxiomsAxiom::Tfc1IrAxioms => "tfc1@ir_axioms",
            IrAxiomsAxiom::Tfc3 => "tfc3",
            IrAxiomsAxiom::MtdcIrAxioms => "mtdc@ir_axioms",
            IrAxiomsAxiom::LenMtdc => "len_m_tdc",
            IrAxiomsAxiom::Lnc1IrAxioms => "lnc1@ir_axioms",
            IrAxiomsAxiom::TfLnc => "tf_lnc",
            IrAxiomsAxiom::Lb1 => "lb1",
            IrAxiomsAxiom::Reg => "reg",
            IrAxiomsAxiom::AntiReg => "anti_reg",
            IrAxiomsAxiom::AspectReg => "aspect_reg",
            IrAxiomsAxiom::And => "and",
            IrAxiomsAxiom::LenAnd => "len_and",
            IrAxiomsAxiom::MAnd => "m_and",
            IrAxiomsAxiom::LenMAnd => "len_m_and",
            IrAxiomsAxiom::Div => "div",
            IrAxiomsAxiom::LenDiv => "len_div",
            IrAxiomsAxiom::Prox1 => "prox1",
            IrAxiomsAxiom::Prox2 => "prox2",
            IrAxiomsAxiom::Prox3 => "prox3",
            IrAxiomsAxiom::Prox4 => "prox4",
            IrAxiomsAxiom::Prox5 => "prox5",
            IrAxiomsAxiom::Stmc1IrAxioms => "stmc1@ir_axioms",
            IrAxiomsAxiom::Stmc2IrAxioms => "stmc2@ir_axioms",
        }
    }

    /// Returns the name and the explanations of the axiom.
    pub fn probe_description(self) -> &'static ProbeDescription {
        match self {
            IrAxiomsAxiom::Tfc1IrAxioms => &frequency::TFC1,
            IrAxiomsAxiom::Tfc3 => &frequency::TFC3,
            IrAxiomsAxiom::MtdcIrAxioms => &frequency::MTDC,
            IrAxiomsAxiom::LenMtdc => &frequency::LEN_MTDC,
            IrAxiomsAxiom::Lnc1IrAxioms => &frequency::LNC1,
            IrAxiomsAxiom::TfLnc => &frequency::TF_LNC,
            IrAxiomsAxiom::Lb1 => &frequency::LB1,
            IrAxiomsAxiom::Reg => &aspects::REG,
            IrAxiomsAxiom::AntiReg => &aspects::ANTI_REG,
            IrAxiomsAxiom::AspectReg => &aspects::ASPECT_REG,
            IrAxiomsAxiom::And => &aspects::AND,
            IrAxiomsAxiom::LenAnd => &aspects::LEN_AND,
            IrAxiomsAxiom::MAnd => &aspects::M_AND,
            IrAxiomsAxiom::LenMAnd => &aspects::LEN_M_AND,
            IrAxiomsAxiom::Div => &aspects::DIV,
            IrAxiomsAxiom::LenDiv => &aspects::LEN_DIV,
            IrAxiomsAxiom::Prox1 => &proximity::PROX1,
            IrAxiomsAxiom::Prox2 => &proximity::PROX2,
            IrAxiomsAxiom::Prox3 => &proximity::PROX3,
            IrAxiomsAxiom::Prox4 => &proximity::PROX4,
            IrAxiomsAxiom::Prox5 => &proximity::PROX5,
            IrAxiomsAxiom::Stmc1IrAxioms => &aspects::STMC1,
            IrAxiomsAxiom::Stmc2IrAxioms => &aspects::STMC2,
        }
    }

    fn conditions(self, mode: AxiomVariant) -> &'static [IrAxiomsCondition] {
        match (self, mode) {
            (IrAxiomsAxiom::Tfc1IrAxioms, AxiomVariant::Code) => {
                return &[IrAxiomsCondition::SumsApart];
            }
            (
                IrAxiomsAxiom::Tfc3 | IrAxiomsAxiom::Reg | IrAxiomsAxiom::AntiReg,
                AxiomVariant::Code,
            ) => return &[],
            _ => {}
        }
        match self {
            IrAxiomsAxiom::Tfc1IrAxioms => {
                &[IrAxiomsCondition::Length, IrAxiomsCondition::SumsApart]
            }
            IrAxiomsAxiom::Tfc3 | IrAxiomsAxiom::Reg | IrAxiomsAxiom::AntiReg => {
                &[IrAxiomsCondition::Length]
            }
            IrAxiomsAxiom::LenAnd | IrAxiomsAxiom::LenMAnd | IrAxiomsAxiom::LenDiv => {
                &[IrAxiomsCondition::Length]
            }
            IrAxiomsAxiom::MtdcIrAxioms => {
                &[IrAxiomsCondition::SumsEqual, IrAxiomsCondition::Differing]
            }
            IrAxiomsAxiom::LenMtdc => &[
                IrAxiomsCondition::Length,
                IrAxiomsCondition::SumsEqual,
                IrAxiomsCondition::Differing,
            ],
            IrAxiomsAxiom::Lnc1IrAxioms => &[IrAxiomsCondition::CountsClose],
            IrAxiomsAxiom::Lb1 => &[IrAxiomsCondition::ScoresClose],
            IrAxiomsAxiom::AspectReg => &[IrAxiomsCondition::EquallyRare],
            IrAxiomsAxiom::Prox1 | IrAxiomsAxiom::Prox2 | IrAxiomsAxiom::Prox3 => {
                &[IrAxiomsCondition::SameTerms]
            }
            IrAxiomsAxiom::Prox4 | IrAxiomsAxiom::Prox5 => &[IrAxiomsCondition::AllTerms],
            IrAxiomsAxiom::TfLnc
            | IrAxiomsAxiom::And
            | IrAxiomsAxiom::MAnd
            | IrAxiomsAxiom::Div => &[],
            IrAxiomsAxiom::Stmc1IrAxioms | IrAxiomsAxiom::Stmc2IrAxioms => &[],
        }
    }

    /// Returns the features of documents that mining needs.
    pub(super) fn required_document_features(self) -> RequiredDocumentFeatures {
        RequiredDocumentFeatures {
            other_terms: matches!(
                self,
                IrAxiomsAxiom::Div | IrAxiomsAxiom::LenDiv | IrAxiomsAxiom::Stmc2IrAxioms
            ),
            positions: matches!(
                self,
                IrAxiomsAxiom::Prox1
                    | IrAxiomsAxiom::Prox2
                    | IrAxiomsAxiom::Prox3
                    | IrAxiomsAxiom::Prox4
                    | IrAxiomsAxiom::Prox5
            ),
            word_similarities: self.needs_word_vectors(),
        }
    }

    /// Whether the axiom needs word vectors.
    pub fn needs_word_vectors(self) -> bool {
        matches!(
            self,
            IrAxiomsAxiom::Reg
                | IrAxiomsAxiom::AntiReg
                | IrAxiomsAxiom::AspectReg
                | IrAxiomsAxiom::Stmc1IrAxioms
                | IrAxiomsAxiom::Stmc2IrAxioms
        )
    }

    pub(super) fn find_instances_in_pool(
        self,
        mode: AxiomVariant,
        case: &QueryPoolFeatures<'_>,
        found: &mut AxiomInstancesForQuery,
    ) {
        self.for_each_preferred_pair(mode, case, |first, second| found.push_pair(first, second));
    }

    /// Calls `take` with the pool indexes of each preferred document and of the other.
    pub(super) fn for_each_preferred_pair(
        self,
        mode: AxiomVariant,
        case: &QueryPoolFeatures<'_>,
        mut take: impl FnMut(usize, usize),
    ) {
        if self.needs_word_vectors() && case.term_similarities.is_empty() {
            return;
        }
        let sight = IrAxiomsEvaluator::for_query_pool(self, mode, case);
        for a in 0..case.pool.len() {
            for b in a + 1..case.pool.len() {
                let mut conditions = self.conditions(mode).iter();
                if !conditions.all(|&it| sight.measure_pair_condition(it, a, b).holds()) {
                    continue;
                }
                if sight.lead_of_first_doc(a, b) > 0.0 {
                    take(a, b);
                }
                if sight.lead_of_first_doc(b, a) > 0.0 {
                    take(b, a);
                }
            }
        }
    }

    /// Measures the preconditions on a pair, the preferred document first.
    pub(super) fn measure_preconditions(
        self,
        mode: AxiomVariant,
        case: &QueryPoolFeatures<'_>,
    ) -> Vec<MeasuredPrecondition> {
        let sight = IrAxiomsEvaluator::for_query_pool(self, mode, case);
        let conditions = self.conditions(mode).iter();
        let mut preconditions: Vec<MeasuredPrecondition> = conditions
            .map(|&it| sight.measure_pair_condition(it, 0, 1))
            .collect();
        let known = !self.needs_word_vectors() || !case.term_similarities.is_empty();
        preconditions.push(MeasuredPrecondition {
            quantity: PreconditionQuantity::AxiomLead { axiom: self },
            value: known.then(|| sight.lead_of_first_doc(0, 1)),
            relation: BoundRelation::MoreThan,
            bound: Some(0.0),
        });
        preconditions
    }
}
