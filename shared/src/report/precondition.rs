//! Premises in words.

use super::format;
use crate::probe::{BoundRelation, IrAxiomsAxiom, MeasuredPrecondition, MeasuredQuantity};

/// A premise in words: `length gap, texts 1 and 2`. One of a query term ends before the term.
pub fn precondition_label(quantity: MeasuredQuantity, relation: BoundRelation) -> String {
    match (quantity, relation) {
        (MeasuredQuantity::LengthGap { a, b }, _) => format!("length gap, texts {a} and {b}"),
        (MeasuredQuantity::LengthLead { a, b }, _) => format!("text {b} longer than text {a} by"),
        (MeasuredQuantity::Length { text }, _) => format!("length of text {text}"),
        (MeasuredQuantity::QueryTermOccurrences { text }, _) => {
            format!("query terms in text {text}")
        }
        (MeasuredQuantity::QueryTermOccurrenceLead { .. }, BoundRelation::Equal) => {
            "as many query terms".to_owned()
        }
        (MeasuredQuantity::QueryTermOccurrenceLead { a, b }, _) => {
            format!("more query terms in {b} than in {a}")
        }
        (MeasuredQuantity::TermCountLead { .. }, BoundRelation::Equal) => "as many".to_owned(),
        (MeasuredQuantity::TermCountLead { .. }, _) => "no fewer".to_owned(),
        (MeasuredQuantity::TermGainChange { .. }, _) => "equal steps of".to_owned(),
        (MeasuredQuantity::DifferingTermCounts, _) => "query terms whose number differs".to_owned(),
        (MeasuredQuantity::UnpairedDifferingTerms, _) => {
            "of these without a rarer partner".to_owned()
        }
        (MeasuredQuantity::OneExtraTerms, _) => "words once more in text 2".to_owned(),
        (MeasuredQuantity::OneExtraSharedTerms, _) => "shared words once more in text 2".to_owned(),
        (MeasuredQuantity::Coverage { text }, _) => format!("distinct query terms in text {text}"),
        (MeasuredQuantity::TermDistanceLead { near, .. }, _) => {
            format!("query terms closer in text {near} by")
        }
        (MeasuredQuantity::Repetitions, _) => "text 1 repeats text 2, times".to_owned(),
        (MeasuredQuantity::CoverageLead { .. }, _) => "as many distinct query terms".to_owned(),
        (MeasuredQuantity::NonQueryTermExcess { others, terms }, _) => {
            format!("more other words in {others} than query terms in {terms}")
        }
        (MeasuredQuantity::NonQueryTermLead { a, b }, _) => {
            format!("more other words in {b} than in {a}")
        }
        (MeasuredQuantity::SimilarityLead { near, .. }, _) => {
            format!("other words of text {near} closer to the query by")
        }
        (MeasuredQuantity::Similarity, _) => "cosine of the other words".to_owned(),
        (MeasuredQuantity::Dissimilarity, _) => "1 − cosine of the other words".to_owned(),
        (MeasuredQuantity::RelativeLengthGap, _) => "difference in length, share".to_owned(),
        (MeasuredQuantity::RelativeOccurrenceGap, _) => {
            "difference in query terms, share".to_owned()
        }
        (MeasuredQuantity::RelativeCountGap, _) => {
            "greatest difference of a query term, share".to_owned()
        }
        (MeasuredQuantity::RelativeScoreGap, _) => "difference of BM25, share".to_owned(),
        (MeasuredQuantity::RelativeIdfGap, _) => "difference of idf in the query, share".to_owned(),
        (MeasuredQuantity::SharedQueryTerms, _) => {
            "the same query terms in both, so many".to_owned()
        }
        (MeasuredQuantity::SharedQueryTermsIfAll, _) => {
            "all query terms in both, so many".to_owned()
        }
        (MeasuredQuantity::AxiomLead { axiom }, _) => lead(axiom).to_owned(),
        (MeasuredQuantity::AxiomPreference { axiom }, _) => format!("{} prefers", axiom.name()),
        (MeasuredQuantity::FormulaValue, _) => "the formula".to_owned(),
        (MeasuredQuantity::MeasurementGap { measure }, _) => {
            format!("difference in {}", measure.slug())
        }
        (MeasuredQuantity::MeasurementLead { measure }, _) => {
            format!("text 1 larger in {} by", measure.slug())
        }
    }
}

/// What text 1 is ahead of text 2 in.
fn lead(of: IrAxiomsAxiom) -> &'static str {
    match of {
        IrAxiomsAxiom::Tfc1IrAxioms => "more query terms",
        IrAxiomsAxiom::Tfc3 => "pairs of terms of which both are there",
        IrAxiomsAxiom::MtdcIrAxioms | IrAxiomsAxiom::LenMtdc => "more of the rarer term, pairs",
        IrAxiomsAxiom::Lnc1IrAxioms => "terms shorter",
        IrAxiomsAxiom::TfLnc => "more of a term at equal length without it, terms",
        IrAxiomsAxiom::Lb1 => "has a query term that the other lacks",
        IrAxiomsAxiom::Reg => "more of the term least like the others",
        IrAxiomsAxiom::AntiReg => "more of the term most like the others",
        IrAxiomsAxiom::AspectReg => "more aspects covered",
        IrAxiomsAxiom::And | IrAxiomsAxiom::LenAnd => "has all query terms",
        IrAxiomsAxiom::MAnd | IrAxiomsAxiom::LenMAnd => "more distinct query terms",
        IrAxiomsAxiom::Div | IrAxiomsAxiom::LenDiv => "less of its words in the query, Jaccard",
        IrAxiomsAxiom::Prox1 => "words fewer between first occurrences",
        IrAxiomsAxiom::Prox2 => "first occurrences earlier, in all",
        IrAxiomsAxiom::Prox3 => "the query as a phrase earlier",
        IrAxiomsAxiom::Prox4 => "closer grouping of all terms",
        IrAxiomsAxiom::Prox5 => "mean span smaller",
        IrAxiomsAxiom::Stmc1IrAxioms => "mean cosine of words to the query higher",
        IrAxiomsAxiom::Stmc2IrAxioms => "the query term in place of the word like it",
    }
}

/// The bound of a premise with its sign: `≤ 10`.
pub fn bound_label(premise: &MeasuredPrecondition) -> String {
    let Some(bound) = premise.bound else {
        return "any".to_owned();
    };
    let sign = match premise.relation {
        BoundRelation::AtMost => "≤",
        BoundRelation::AtLeast => "≥",
        BoundRelation::MoreThan => ">",
        BoundRelation::Equal => "=",
    };
    format!("{sign} {}", value_label(premise.quantity, bound))
}

/// A value or a bound of a premise.
pub fn value_label(quantity: MeasuredQuantity, value: f64) -> String {
    if quantity.is_counted() {
        format_count(value)
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
pub fn format_count(value: f64) -> String {
    format::score(value, 0)
}
