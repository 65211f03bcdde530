//! Preconditions in words.

use super::format;
use crate::probe::{BoundRelation, IrAxiomsAxiom, MeasuredPrecondition, MeasuredQuantity};

/// What a precondition of every query term is about.
pub const EVERY_QUERY_TERM: &str = "every query term";

/// Returns a precondition in words, such as `length difference, documents 1 and 2`, with the query
/// term that it is about; a caller that shows the term itself passes an empty one.
pub fn precondition_label(
    quantity: MeasuredQuantity,
    relation: BoundRelation,
    term: &str,
) -> String {
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
            format!("query-term occurrences in document {text}")
        }
        (MeasuredQuantity::QueryTermOccurrenceLead { .. }, BoundRelation::Equal) => {
            "equally many query-term occurrences".to_owned()
        }
        (MeasuredQuantity::QueryTermOccurrenceLead { a, b }, _) => {
            format!("more query-term occurrences in document {b} than in document {a}")
        }
        (MeasuredQuantity::TermCountLead { .. }, BoundRelation::Equal) => {
            format!("equal count of {term}")
        }
        (MeasuredQuantity::TermCountLead { .. }, _) => format!("no lower count of {term}"),
        (MeasuredQuantity::TermGainChange { .. }, _) => {
            format!("equal steps in the count of {term}")
        }
        (MeasuredQuantity::DifferingTermCounts, _) => {
            "query terms with different counts".to_owned()
        }
        (MeasuredQuantity::UnpairedDifferingTerms, _) => {
            "query terms with different counts that are in no swapped pair".to_owned()
        }
        (MeasuredQuantity::OneExtraTerms, _) => {
            "non-query terms with one more occurrence in document 2".to_owned()
        }
        (MeasuredQuantity::OneExtraSharedTerms, _) => "shared non-query terms with one more \
             occurrence in document 2"
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
            format!(
                "more non-query terms in document {others} than query-term occurrences in \
                 document {terms}"
            )
        }
        (MeasuredQuantity::NonQueryTermLead { a, b }, _) => {
            format!("more non-query terms in document {b} than in document {a}")
        }
        (MeasuredQuantity::SimilarityLead { near, .. }, _) => {
            format!("non-query terms of document {near} closer to the query by")
        }
        (MeasuredQuantity::Similarity, _) => "cosine of the non-query terms".to_owned(),
        (MeasuredQuantity::Dissimilarity, _) => "1 − cosine of the non-query terms".to_owned(),
        (MeasuredQuantity::RelativeLengthGap, _) => "relative length difference".to_owned(),
        (MeasuredQuantity::RelativeOccurrenceGap, _) => "relative difference in query-term \
             occurrences"
            .to_owned(),
        (MeasuredQuantity::RelativeCountGap, _) => {
            "largest relative difference in the count of a query term".to_owned()
        }
        (MeasuredQuantity::RelativeScoreGap, _) => "relative BM25 difference".to_owned(),
        (MeasuredQuantity::RelativeIdfGap, _) => {
            "relative idf difference within the query".to_owned()
        }
        (MeasuredQuantity::SharedQueryTerms, _) => "shared query terms".to_owned(),
        (MeasuredQuantity::SharedQueryTermsIfAll, _) => {
            "query terms shared, if both documents have all of them".to_owned()
        }
        (MeasuredQuantity::AxiomLead { axiom }, _) => lead(axiom).to_owned(),
        (MeasuredQuantity::AxiomPreference { axiom }, _) => {
            format!("preference of {}", axiom.name())
        }
        (MeasuredQuantity::FormulaValue, _) => "axiom formula".to_owned(),
        (MeasuredQuantity::MeasurementGap { measure }, _) => {
            format!("difference in {}", measure.slug())
        }
        (MeasuredQuantity::MeasurementLead { measure }, _) => {
            format!("{} larger in document 1 by", measure.slug())
        }
    }
}

/// Returns the quantity in which document 1 exceeds document 2.
fn lead(of: IrAxiomsAxiom) -> &'static str {
    match of {
        IrAxiomsAxiom::Tfc1IrAxioms => "more query-term occurrences",
        IrAxiomsAxiom::Tfc3 => "term pairs with both terms present",
        IrAxiomsAxiom::MtdcIrAxioms | IrAxiomsAxiom::LenMtdc => {
            "pairs with more of the rarer \
             term"
        }
        IrAxiomsAxiom::Lnc1IrAxioms => "shorter by (terms)",
        IrAxiomsAxiom::TfLnc => "more occurrences of a query term at equal length without it",
        IrAxiomsAxiom::Lb1 => "has a query term that the other lacks",
        IrAxiomsAxiom::Reg => "more of the least similar term",
        IrAxiomsAxiom::AntiReg => "more of the most similar term",
        IrAxiomsAxiom::AspectReg => "more aspects covered",
        IrAxiomsAxiom::And | IrAxiomsAxiom::LenAnd => "has all query terms",
        IrAxiomsAxiom::MAnd | IrAxiomsAxiom::LenMAnd => "more distinct query terms",
        IrAxiomsAxiom::Div | IrAxiomsAxiom::LenDiv => {
            "lower vocabulary overlap with the query (Jaccard)"
        }
        IrAxiomsAxiom::Prox1 => "fewer terms between first occurrences",
        IrAxiomsAxiom::Prox2 => "earlier first occurrences in total",
        IrAxiomsAxiom::Prox3 => "earlier query phrase",
        IrAxiomsAxiom::Prox4 => "tighter grouping of all query terms",
        IrAxiomsAxiom::Prox5 => "smaller mean span",
        IrAxiomsAxiom::Stmc1IrAxioms => "higher mean cosine of terms with the query",
        IrAxiomsAxiom::Stmc2IrAxioms => "query term instead of its most similar term",
    }
}

/// Returns the bound of a precondition with its sign: `≤ 10`.
pub fn precondition_bound_label(precondition: &MeasuredPrecondition) -> String {
    let Some(bound) = precondition.bound else {
        return "any".to_owned();
    };
    let sign = match precondition.relation {
        BoundRelation::AtMost => "≤",
        BoundRelation::AtLeast => "≥",
        BoundRelation::MoreThan => ">",
        BoundRelation::Equal => "=",
    };
    format!(
        "{sign} {}",
        precondition_value_label(precondition.quantity, bound)
    )
}

/// Returns a value or a bound of a precondition.
pub fn precondition_value_label(quantity: MeasuredQuantity, value: f64) -> String {
    if quantity.is_count() {
        format_integer(value)
    } else {
        cosine(value)
    }
}

/// Formats a cosine, a share, or a difference of two of them.
fn cosine(value: f64) -> String {
    let whole = value == libm::trunc(value);
    format::format_score(value, if whole { 0 } else { 4 })
}

/// Formats a count without decimals.
pub fn format_integer(value: f64) -> String {
    format::format_score(value, 0)
}
