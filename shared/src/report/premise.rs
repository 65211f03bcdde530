//! Premises in words.

use super::format;
use crate::probe::{Further, MeasuredPremise, Quantity, Relation};

/// A premise in words: `length gap, texts 1 and 2`. One of a query term ends before the term.
pub fn label(quantity: Quantity, relation: Relation) -> String {
    match (quantity, relation) {
        (Quantity::LengthGap { a, b }, _) => format!("length gap, texts {a} and {b}"),
        (Quantity::LengthLead { a, b }, _) => format!("text {b} longer than text {a} by"),
        (Quantity::Length { text }, _) => format!("length of text {text}"),
        (Quantity::Occurrences { text }, _) => format!("query terms in text {text}"),
        (Quantity::OccurrenceLead { .. }, Relation::Equal) => "as many query terms".to_owned(),
        (Quantity::OccurrenceLead { a, b }, _) => format!("more query terms in {b} than in {a}"),
        (Quantity::TermLead { .. }, Relation::Equal) => "as many".to_owned(),
        (Quantity::TermLead { .. }, _) => "no fewer".to_owned(),
        (Quantity::StepChange { .. }, _) => "equal steps of".to_owned(),
        (Quantity::DifferingTerms, _) => "query terms whose number differs".to_owned(),
        (Quantity::UncoveredTerms, _) => "of these without a rarer partner".to_owned(),
        (Quantity::OnceMoreTerms, _) => "words once more in text 2".to_owned(),
        (Quantity::OnceMoreSharedTerms, _) => "shared words once more in text 2".to_owned(),
        (Quantity::Cover { text }, _) => format!("distinct query terms in text {text}"),
        (Quantity::DistanceLead { near, .. }, _) => format!("query terms closer in text {near} by"),
        (Quantity::Repetitions, _) => "text 1 repeats text 2, times".to_owned(),
        (Quantity::CoverLead { .. }, _) => "as many distinct query terms".to_owned(),
        (Quantity::OutsideOverOccurrences { others, terms }, _) => {
            format!("more other words in {others} than query terms in {terms}")
        }
        (Quantity::OutsideLead { a, b }, _) => format!("more other words in {b} than in {a}"),
        (Quantity::SimilarityLead { near, .. }, _) => {
            format!("other words of text {near} closer to the query by")
        }
        (Quantity::Similarity, _) => "cosine of the other words".to_owned(),
        (Quantity::Dissimilarity, _) => "1 − cosine of the other words".to_owned(),
        (Quantity::LengthShare, _) => "difference in length, share".to_owned(),
        (Quantity::SumShare, _) => "difference in query terms, share".to_owned(),
        (Quantity::CountShare, _) => "greatest difference of a query term, share".to_owned(),
        (Quantity::ScoreShare, _) => "difference of BM25, share".to_owned(),
        (Quantity::IdfShare, _) => "difference of idf in the query, share".to_owned(),
        (Quantity::SharedTerms, _) => "the same query terms in both, so many".to_owned(),
        (Quantity::AllSharedTerms, _) => "all query terms in both, so many".to_owned(),
        (Quantity::Lead { axiom }, _) => lead(axiom).to_owned(),
        (Quantity::Preference { axiom }, _) => format!("{} prefers", axiom.name()),
        (Quantity::Combined, _) => "the formula".to_owned(),
        (Quantity::Gap { measure }, _) => format!("difference in {}", measure.slug()),
        (Quantity::MeasureLead { measure }, _) => format!("text 1 larger in {} by", measure.slug()),
    }
}

/// What text 1 is ahead of text 2 in.
fn lead(of: Further) -> &'static str {
    match of {
        Further::Tfc1IrAxioms => "more query terms",
        Further::Tfc3 => "pairs of terms of which both are there",
        Further::MtdcIrAxioms | Further::LenMtdc => "more of the rarer term, pairs",
        Further::Lnc1IrAxioms => "terms shorter",
        Further::TfLnc => "more of a term at equal length without it, terms",
        Further::Lb1 => "has a query term that the other lacks",
        Further::Reg => "more of the term least like the others",
        Further::AntiReg => "more of the term most like the others",
        Further::AspectReg => "more aspects covered",
        Further::And | Further::LenAnd => "has all query terms",
        Further::Mand | Further::LenMand => "more distinct query terms",
        Further::Div | Further::LenDiv => "less of its words in the query, Jaccard",
        Further::Prox1 => "words fewer between first occurrences",
        Further::Prox2 => "first occurrences earlier, in all",
        Further::Prox3 => "the query as a phrase earlier",
        Further::Prox4 => "closer grouping of all terms",
        Further::Prox5 => "mean span smaller",
        Further::Stmc1IrAxioms => "mean cosine of words to the query higher",
        Further::Stmc2IrAxioms => "the query term in place of the word like it",
    }
}

/// The bound of a premise with its sign: `≤ 10`.
pub fn bound(premise: &MeasuredPremise) -> String {
    let Some(bound) = premise.bound else {
        return "any".to_owned();
    };
    let sign = match premise.relation {
        Relation::AtMost => "≤",
        Relation::AtLeast => "≥",
        Relation::Above => ">",
        Relation::Equal => "=",
    };
    format!("{sign} {}", number(premise.quantity, bound))
}

/// A value or a bound of a premise.
pub fn number(quantity: Quantity, value: f64) -> String {
    if quantity.is_counted() {
        whole(value)
    } else {
        cosine(value)
    }
}

/// A cosine, a share, or a difference of two of them.
fn cosine(value: f64) -> String {
    let whole = value == libm::trunc(value);
    format::score(value, if whole { 0 } else { 4 })
}

/// A number of things.
pub fn whole(value: f64) -> String {
    format::score(value, 0)
}
