//! The other axioms of the package `ir_axioms` (Bondarenko et al., SIGIR 2022) that need no model
//! and no web service: what they compare, and under which conditions.
//!
//! Each prefers one of two texts: it has conditions, which do not depend on the order of the two,
//! and a lead of the first over the second; it is an instance iff the conditions hold and the
//! lead is above 0. Claim: S(d1) > S(d2). Mode `code` is release 1.2.5 of the package, defects
//! included; the other modes are as the literature has it:
//!
//! - counts c(w,d) where the package takes c(w,d) / |d|, which makes equal counts unequal in
//!   texts that are nearly equally long, and rewards the shorter text unasked;
//! - TFC1, TFC3, REG and ANTI-REG compare texts that are equally long; in the package a method of
//!   theirs hides the one that would have asked for that;
//! - ASPECT-REG counts the aspects that a text covers, and two query terms are of one aspect if
//!   a chain of similar terms leads from one to the other; the package asks only whether a text
//!   covers any aspect, and its clusters depend on the order of a set;
//! - STMC2 prefers no text where both orders qualify; the package then prefers both.
//!
//! In all modes LB1 takes the scores of [`Bm25::DEFAULT`], whatever the pool was made with, since
//! mining must not depend on a run; the likeness of two terms is the cosine of their word vectors,
//! 0 where one has none.
//!
//! [`Bm25::DEFAULT`]: crate::rank::Bm25::DEFAULT

mod aspects;
mod frequency;
mod proximity;
mod evaluator;

use super::super::features::{QueryContext, QueryInstances, RequiredFeatures};
use super::super::{AxiomVariant, BoundRelation, MeasuredPrecondition, MeasuredQuantity};
use super::ProbeDescription;
use evaluator::IrAxiomsEvaluator;

use serde::{Deserialize, Serialize};

/// An axiom as the package `ir_axioms` defines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IrAxiomsAxiom {
    /// The sum of all query terms.
    Tfc1IrAxioms,
    /// Two terms beat one of them as often.
    Tfc3,
    /// More of the rarer terms.
    MtdcIrAxioms,
    /// The same, of texts equally long.
    LenMtdc,
    /// The shorter of texts alike.
    Lnc1IrAxioms,
    /// One more term makes up for one more word.
    TfLnc,
    /// A term that the other lacks.
    Lb1,
    /// More of the term that is least like the others.
    Reg,
    /// More of the term that is most like the others.
    AntiReg,
    /// More aspects of the query.
    AspectReg,
    /// One text has all query terms, the other does not.
    And,
    /// The same, of texts equally long.
    LenAnd,
    /// One text has more distinct query terms than the other.
    MAnd,
    /// The same, of texts equally long.
    LenMAnd,
    /// A vocabulary farther from the query.
    Div,
    /// The same, of texts equally long.
    LenDiv,
    /// First occurrences closer to each other.
    Prox1,
    /// First occurrences closer to the beginning of the text.
    Prox2,
    /// The query as a phrase, earlier.
    Prox3,
    /// The closest grouping of all terms.
    Prox4,
    /// Smaller spans of all terms.
    Prox5,
    /// Words more like the query's.
    Stmc1IrAxioms,
    /// A query term rather than the word most like one.
    Stmc2IrAxioms,
}

/// A condition that does not depend on the order of the two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IrAxiomsCondition {
    /// Equally long within a share.
    Length,
    /// Sums of query terms that differ by more than a share.
    SumsApart,
    /// Equal sums of query terms.
    SumsEqual,
    /// Some count of a query term differs.
    Differing,
    /// All counts of query terms equal within a share.
    CountsClose,
    /// Scores equal within a share.
    ScoresClose,
    /// All query terms equally rare within a share.
    EquallyRare,
    /// The same two or more query terms in both.
    SameTerms,
    /// All of two or more query terms in both.
    AllTerms,
}

impl IrAxiomsAxiom {
    /// Every one, in the order of the families.
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

    /// The name in commands, addresses and files.
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

    /// What there is to say about it before seeing any data.
    pub fn description(self) -> &'static ProbeDescription {
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

    /// What mining has to see of the texts.
    pub(super) fn required_features(self) -> RequiredFeatures {
        RequiredFeatures {
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
            word_similarities: self.needs_vectors(),
        }
    }

    /// Whether it needs word vectors.
    pub fn needs_vectors(self) -> bool {
        matches!(
            self,
            IrAxiomsAxiom::Reg
                | IrAxiomsAxiom::AntiReg
                | IrAxiomsAxiom::AspectReg
                | IrAxiomsAxiom::Stmc1IrAxioms
                | IrAxiomsAxiom::Stmc2IrAxioms
        )
    }

    pub(super) fn find_instances(
        self,
        mode: AxiomVariant,
        case: &QueryContext<'_>,
        found: &mut QueryInstances,
    ) {
        self.for_each_preference(mode, case, |first, second| found.push_pair(first, second));
    }

    /// Calls `take` with the places of each preferred text and of the other.
    pub(super) fn for_each_preference(
        self,
        mode: AxiomVariant,
        case: &QueryContext<'_>,
        mut take: impl FnMut(usize, usize),
    ) {
        if self.needs_vectors() && case.term_similarities.is_empty() {
            return;
        }
        let sight = IrAxiomsEvaluator::new(self, mode, case);
        for a in 0..case.pool.len() {
            for b in a + 1..case.pool.len() {
                let mut conditions = self.conditions(mode).iter();
                if !conditions.all(|&it| sight.measure_condition(it, a, b).holds()) {
                    continue;
                }
                if sight.lead(a, b) > 0.0 {
                    take(a, b);
                }
                if sight.lead(b, a) > 0.0 {
                    take(b, a);
                }
            }
        }
    }

    /// Of a pair, the preferred text first.
    pub(super) fn preconditions(
        self,
        mode: AxiomVariant,
        case: &QueryContext<'_>,
    ) -> Vec<MeasuredPrecondition> {
        let sight = IrAxiomsEvaluator::new(self, mode, case);
        let conditions = self.conditions(mode).iter();
        let mut premises: Vec<MeasuredPrecondition> = conditions
            .map(|&it| sight.measure_condition(it, 0, 1))
            .collect();
        let known = !self.needs_vectors() || !case.term_similarities.is_empty();
        premises.push(MeasuredPrecondition {
            quantity: MeasuredQuantity::AxiomLead { axiom: self },
            value: known.then(|| sight.lead(0, 1)),
            relation: BoundRelation::MoreThan,
            bound: Some(0.0),
        });
        premises
    }
}
