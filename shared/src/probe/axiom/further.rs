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
//! In all modes LB1 takes the scores of [`Bm25::STANDARD`], whatever the pool was made with, since
//! mining must not depend on a run; the likeness of two terms is the cosine of their word vectors,
//! 0 where one has none.
//!
//! [`Bm25::STANDARD`]: crate::rank::Bm25::STANDARD

mod aspects;
mod frequency;
mod proximity;
mod sight;

use super::super::counts::{Case, Found, Needs};
use super::super::{MeasuredPremise, Mode, Quantity, Relation};
use super::About;
use sight::Sight;

use serde::{Deserialize, Serialize};

/// An axiom as the package `ir_axioms` defines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Further {
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
    Mand,
    /// The same, of texts equally long.
    LenMand,
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
enum Condition {
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

impl Further {
    /// Every one, in the order of the families.
    pub const ALL: &[Further] = &[
        Further::Tfc1IrAxioms,
        Further::Tfc3,
        Further::MtdcIrAxioms,
        Further::LenMtdc,
        Further::Lnc1IrAxioms,
        Further::TfLnc,
        Further::Lb1,
        Further::Reg,
        Further::AntiReg,
        Further::AspectReg,
        Further::And,
        Further::LenAnd,
        Further::Mand,
        Further::LenMand,
        Further::Div,
        Further::LenDiv,
        Further::Prox1,
        Further::Prox2,
        Further::Prox3,
        Further::Prox4,
        Further::Prox5,
        Further::Stmc1IrAxioms,
        Further::Stmc2IrAxioms,
    ];

    /// The name in commands, addresses and files.
    pub fn slug(self) -> &'static str {
        match self {
            Further::Tfc1IrAxioms => "tfc1@ir_axioms",
            Further::Tfc3 => "tfc3",
            Further::MtdcIrAxioms => "mtdc@ir_axioms",
            Further::LenMtdc => "len_m_tdc",
            Further::Lnc1IrAxioms => "lnc1@ir_axioms",
            Further::TfLnc => "tf_lnc",
            Further::Lb1 => "lb1",
            Further::Reg => "reg",
            Further::AntiReg => "anti_reg",
            Further::AspectReg => "aspect_reg",
            Further::And => "and",
            Further::LenAnd => "len_and",
            Further::Mand => "m_and",
            Further::LenMand => "len_m_and",
            Further::Div => "div",
            Further::LenDiv => "len_div",
            Further::Prox1 => "prox1",
            Further::Prox2 => "prox2",
            Further::Prox3 => "prox3",
            Further::Prox4 => "prox4",
            Further::Prox5 => "prox5",
            Further::Stmc1IrAxioms => "stmc1@ir_axioms",
            Further::Stmc2IrAxioms => "stmc2@ir_axioms",
        }
    }

    /// What there is to say about it before seeing any data.
    pub fn about(self) -> &'static About {
        match self {
            Further::Tfc1IrAxioms => &frequency::TFC1,
            Further::Tfc3 => &frequency::TFC3,
            Further::MtdcIrAxioms => &frequency::MTDC,
            Further::LenMtdc => &frequency::LEN_MTDC,
            Further::Lnc1IrAxioms => &frequency::LNC1,
            Further::TfLnc => &frequency::TF_LNC,
            Further::Lb1 => &frequency::LB1,
            Further::Reg => &aspects::REG,
            Further::AntiReg => &aspects::ANTI_REG,
            Further::AspectReg => &aspects::ASPECT_REG,
            Further::And => &aspects::AND,
            Further::LenAnd => &aspects::LEN_AND,
            Further::Mand => &aspects::M_AND,
            Further::LenMand => &aspects::LEN_M_AND,
            Further::Div => &aspects::DIV,
            Further::LenDiv => &aspects::LEN_DIV,
            Further::Prox1 => &proximity::PROX1,
            Further::Prox2 => &proximity::PROX2,
            Further::Prox3 => &proximity::PROX3,
            Further::Prox4 => &proximity::PROX4,
            Further::Prox5 => &proximity::PROX5,
            Further::Stmc1IrAxioms => &aspects::STMC1,
            Further::Stmc2IrAxioms => &aspects::STMC2,
        }
    }

    fn conditions(self, mode: Mode) -> &'static [Condition] {
        match (self, mode) {
            (Further::Tfc1IrAxioms, Mode::CodeCamara2020) => return &[Condition::SumsApart],
            (Further::Tfc3 | Further::Reg | Further::AntiReg, Mode::CodeCamara2020) => return &[],
            _ => {}
        }
        match self {
            Further::Tfc1IrAxioms => &[Condition::Length, Condition::SumsApart],
            Further::Tfc3 | Further::Reg | Further::AntiReg => &[Condition::Length],
            Further::LenAnd | Further::LenMand | Further::LenDiv => &[Condition::Length],
            Further::MtdcIrAxioms => &[Condition::SumsEqual, Condition::Differing],
            Further::LenMtdc => &[
                Condition::Length,
                Condition::SumsEqual,
                Condition::Differing,
            ],
            Further::Lnc1IrAxioms => &[Condition::CountsClose],
            Further::Lb1 => &[Condition::ScoresClose],
            Further::AspectReg => &[Condition::EquallyRare],
            Further::Prox1 | Further::Prox2 | Further::Prox3 => &[Condition::SameTerms],
            Further::Prox4 | Further::Prox5 => &[Condition::AllTerms],
            Further::TfLnc | Further::And | Further::Mand | Further::Div => &[],
            Further::Stmc1IrAxioms | Further::Stmc2IrAxioms => &[],
        }
    }

    /// What mining has to see of the texts.
    pub(super) fn needs(self) -> Needs {
        Needs {
            others: matches!(
                self,
                Further::Div | Further::LenDiv | Further::Stmc2IrAxioms
            ),
            positions: matches!(
                self,
                Further::Prox1 | Further::Prox2 | Further::Prox3 | Further::Prox4 | Further::Prox5
            ),
            words: self.needs_vectors(),
        }
    }

    /// Whether it needs word vectors.
    pub fn needs_vectors(self) -> bool {
        matches!(
            self,
            Further::Reg
                | Further::AntiReg
                | Further::AspectReg
                | Further::Stmc1IrAxioms
                | Further::Stmc2IrAxioms
        )
    }

    pub(super) fn mine(self, mode: Mode, case: &Case<'_>, found: &mut Found) {
        self.each_preferred(mode, case, |first, second| found.pair(first, second));
    }

    /// Calls `take` with the places of each preferred text and of the other.
    pub(super) fn each_preferred(
        self,
        mode: Mode,
        case: &Case<'_>,
        mut take: impl FnMut(usize, usize),
    ) {
        if self.needs_vectors() && case.alike.is_empty() {
            return;
        }
        let sight = Sight::new(self, mode, case);
        for a in 0..case.pool.len() {
            for b in a + 1..case.pool.len() {
                let mut conditions = self.conditions(mode).iter();
                if !conditions.all(|&it| sight.measure(it, a, b).holds()) {
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
    pub(super) fn premises(self, mode: Mode, case: &Case<'_>) -> Vec<MeasuredPremise> {
        let sight = Sight::new(self, mode, case);
        let conditions = self.conditions(mode).iter();
        let mut premises: Vec<MeasuredPremise> =
            conditions.map(|&it| sight.measure(it, 0, 1)).collect();
        let known = !self.needs_vectors() || !case.alike.is_empty();
        premises.push(MeasuredPremise {
            quantity: Quantity::Lead { axiom: self },
            value: known.then(|| sight.lead(0, 1)),
            relation: Relation::Above,
            bound: Some(0.0),
        });
        premises
    }
}
