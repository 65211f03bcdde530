//! Premises in words.

use super::format;
use crate::probe::{BoundRelation, IrAxiomsAxiom, MeasuredPrecondition, MeasuredQuantity};

/// A premise in words: `length gap, texts 1 and 2`. One of a query term ends before the term.
pub fn precondition_label(quantity: MeasuredQuantity, relation: BoundRelation) -> String {
    match (quantity, relation) {
        (MeasuredQuantity::LengthGap { a, b }, _) => format!(
            "length difference, documents {a} \
             and {b}"
        ),
        (MeasuredQuantity::LengthLead { a, b }, _) => format!(
            "document {b} longer than \
             document {a} by"
        ),
        (MeasuredQuantity::Length { text }, _) => format!("length of document {text}"),
        (MeasuredQuantity::QueryTermOccurrences { text }, _) => {
            format!("query terms in document {text}")
        }
        (MeasuredQuantity::QueryTermOccurrenceLead { .. }, BoundRelation::Equal) => {
            "equally many query terms".to_owned()
        }
        (MeasuredQuantity::QueryTermOccurrenceLead { a, b }, _) => {
            format!("more query terms in {b} than in {a}")
        }
        (MeasuredQuantity::TermCountLead { .. }, BoundRelation::Equal) => "equally many".to_owned(),
        (MeasuredQuantity::TermCountLead { .. }, _) => "no fewer".to_owned(),
        (MeasuredQuantity::TermGainChange { .. }, _) => "equal steps of".to_owned(),
        (MeasuredQuantity::DifferingTermCounts, _) => {
            "query terms with different counts".to_owned()
        }
        (MeasuredQuantity::UnpairedDifferingTerms, _) => {
            "of these without a rarer partner".to_owned()
        }
        (MeasuredQuantity::OneExtraTerms, _) => {
            "words with one more occurrence in document 2".to_owned()
        }
        (MeasuredQuantity::OneExtraSharedTerms, _) => "shared words with one more occurrence in \
             document 2"
            .to_owned(),
        (MeasuredQuantity::Coverage { text }, _) => format!(
            "distinct query terms in document \
             {text}"
        ),
        (MeasuredQuantity::TermDistanceLead { near, .. }, _) => {
            format!("query terms closer together in document {near} by")
        }
        (MeasuredQuantity::Repetitions, _) => "repetitions of document 2 in document 1".to_owned(),
        (MeasuredQuantity::CoverageLead { .. }, _) => {
            "equally many distinct query terms".to_owned()
        }
        (MeasuredQuantity::NonQueryTermExcess { others, terms }, _) => {
            format!("more other words in {others} than query terms in {terms}")
        }
        (MeasuredQuantity::NonQueryTermLead { a, b }, _) => {
            format!("more other words in {b} than in {a}")
        }
        (MeasuredQuantity::SimilarityLead { near, .. }, _) => {
            format!("other words of document {near} closer to the query by")
        }
        (MeasuredQuantity::Similarity, _) => "cosine of the other words".to_owned(),
        (MeasuredQuantity::Dissimilarity, _) => "1 − cosine of the other words".to_owned(),
        (MeasuredQuantity::RelativeLengthGap, _) => "length difference, share".to_owned(),
        (MeasuredQuantity::RelativeOccurrenceGap, _) => "query-term difference, share".to_owned(),
        (MeasuredQuantity::RelativeCountGap, _) => {
            "largest difference of a query term, share".to_owned()
        }
        (MeasuredQuantity::RelativeScoreGap, _) => "BM25 difference, share".to_owned(),
        (MeasuredQuantity::RelativeIdfGap, _) => {
            "idf difference within the query, share".to_owned()
        }
        (MeasuredQuantity::SharedQueryTerms, _) => "shared query terms, at least".to_owned(),
        (MeasuredQuantity::SharedQueryTermsIfAll, _) => {
            "query terms, if both documents have all".to_owned()
        }
        (MeasuredQuantity::AxiomLead { axiom }, _) => lead(axiom).to_owned(),
        (MeasuredQuantity::AxiomPreference { axiom }, _) => {
            format!("preference of {}", axiom.name())
        }
        (MeasuredQuantity::FormulaValue, _) => "the formula".to_owned(),
        (MeasuredQuantity::MeasurementGap { measure }, _) => {
            format!("difference in {}", measure.slug())
        }
        (MeasuredQuantity::MeasurementLead { measure }, _) => {
            format!("document 1 larger in {} by", measure.slug())
        }
    }
}

/// What text 1 is ahead of text 2 in.
fn lead(of: IrAxiomsAxiom) -> &'static str {
    match of {
        IrAxiomsAxiom::Tfc1IrAxioms => "more query terms",
        IrAxiomsAxiom::Tfc3 => "term pairs with both terms present",
        IrAxiomsAxiom::MtdcIrAxioms | IrAxiomsAxiom::LenMtdc => {
            "pairs with more of the rarer \
             term"
        }
        IrAxiomsAxiom::Lnc1IrAxioms => "shorter by (terms)",
        IrAxiomsAxiom::TfLnc => "occurrences of a term beyond equal length without it",
        IrAxiomsAxiom::Lb1 => "has a query term that the other lacks",
        IrAxiomsAxiom::Reg => "more of the least similar term",
        IrAxiomsAxiom::AntiReg => "more of the most similar term",
        IrAxiomsAxiom::AspectReg => "more aspects covered",
        IrAxiomsAxiom::And | IrAxiomsAxiom::LenAnd => "has all query terms",
        IrAxiomsAxiom::MAnd | IrAxiomsAxiom::LenMAnd => "more distinct query terms",
        IrAxiomsAxiom::Div | IrAxiomsAxiom::LenDiv => {
            "vocabulary overlap with the query lower, \
             Jaccard"
        }
        IrAxiomsAxiom::Prox1 => "fewer words between first occurrences",
        IrAxiomsAxiom::Prox2 => "first occurrences earlier, in total",
        IrAxiomsAxiom::Prox3 => "query phrase earlier",
        IrAxiomsAxiom::Prox4 => "tighter grouping of all terms",
        IrAxiomsAxiom::Prox5 => "mean span smaller",
        IrAxiomsAxiom::Stmc1IrAxioms => "mean cosine of words with the query higher",
        IrAxiomsAxiom::Stmc2IrAxioms => "query term in place of its most similar word",
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

/// Formats a count without decimals.
pub fn format_count(value: f64) -> String {
    format::score(value, 0)
}
