//! Preconditions in words.

use super::format;
use crate::probe::{BoundRelation, IrAxiomsAxiom, MeasuredPrecondition, PreconditionQuantity};

/// What a precondition of every query term is about.
pub const EVERY_QUERY_TERM: &str = "every query term";

/// Returns a precondition in words, such as `length difference, documents 1 and 2`, with the query
/// term that it is about; a caller that shows the term itself passes an empty one.
pub fn precondition_label(
    quantity: PreconditionQuantity,
    relation: BoundRelation,
    term: &str,
) -> String {
    match (quantity, relation) {
        (PreconditionQuantity::LengthGap { a, b }, _) => format!(
            "length difference, documents {a} \
             and {b}"
        ),
        (PreconditionQuantity::LengthLead { a, b }, _) => format!(
            "document {b} longer than \
             document {a} by"
        ),
        (PreconditionQuantity::Length { text }, _) => format!("length of document {text}"),
        (PreconditionQuantity::QueryTermOccurrences { text }, _) => {
            format!("query-term occurrences in document {text}")
        }
        (PreconditionQuantity::QueryTermOccurrenceLead { .. }, BoundRelation::Equal) => {
            "equally many query-term occurrences".to_owned()
        }
        (PreconditionQuantity::QueryTermOccurrenceLead { a, b }, _) => {
            format!("more query-term occurrences in document {b} than in document {a}")
        }
        (PreconditionQuantity::TermCountLead { .. }, BoundRelation::Equal) => {
            format!("equal count of {term}")
        }
        (PreconditionQuantity::TermCountLead { .. }, _) => format!("no lower count of {term}"),
        (PreconditionQuantity::TermGainChange { .. }, _) => {
            format!("equal steps in the count of {term}")
        }
        (PreconditionQuantity::DifferingTermCounts, _) => {
            "query terms with different counts".to_owned()
        }
        (PreconditionQuantity::UnpairedDifferingTerms, _) => {
            "query terms outside the swapped pair with different counts".to_owned()
        }
        (PreconditionQuantity::OneExtraTerms, _) => {
            "non-query terms with one more occurrence in document 2".to_owned()
        }
        (PreconditionQuantity::OneExtraSharedTerms, _) => "shared non-query terms with one more \
             occurrence in document 2"
            .to_owned(),
        (PreconditionQuantity::Coverage { text }, _) => format!(
            "distinct query terms in document \
             {text}"
        ),
        (PreconditionQuantity::TermDistanceLead { near, .. }, _) => {
            format!("query terms closer together in document {near} by")
        }
        (PreconditionQuantity::Repetitions, _) => {
            "repetitions of document 2 in document 1".to_owned()
        }
        (PreconditionQuantity::CoverageLead { .. }, _) => {
            "equally many distinct query terms".to_owned()
        }
        (PreconditionQuantity::NonQueryTermExcess { others, terms }, _) => {
            format!(
                "more non-query terms in document {others} than query-term occurrences in \
                 document {terms}"
            )
        }
        (PreconditionQuantity::NonQueryTermLead { a, b }, _) => {
            format!("more non-query terms in document {b} than in document {a}")
        }
        (PreconditionQuantity::SimilarityLead { near, .. }, _) => {
            format!("non-query terms of document {near} closer to the query by")
        }
        (PreconditionQuantity::Similarity, _) => "cosine of the non-query terms".to_owned(),
        (PreconditionQuantity::Dissimilarity, _) => "1 − cosine of the non-query terms".to_owned(),
        (PreconditionQuantity::RelativeLengthGap, _) => "relative length difference".to_owned(),
        (PreconditionQuantity::RelativeOccurrenceGap, _) => "relative difference in query-term \
             occurrences"
            .to_owned(),
        (PreconditionQuantity::RelativeCountGap, _) => {
            "largest relative difference in the count of a query term".to_owned()
        }
        (PreconditionQuantity::RelativeScoreGap, _) => "relative BM25 difference".to_owned(),
        (PreconditionQuantity::RelativeIdfGap, _) => {
            "relative idf difference within the query".to_owned()
        }
        (PreconditionQuantity::SharedQueryTerms, _) => "shared query terms".to_owned(),
        (PreconditionQuantity::SharedQueryTermsIfAll, _) => {
            "query terms shared, if both documents have all of them".to_owned()
        }
        (PreconditionQuantity::AxiomLead { axiom }, _) => lead(axiom).to_owned(),
        (PreconditionQuantity::AxiomPreference { axiom }, _) => {
            format!("preference of {}", axiom.name())
        }
        (PreconditionQuantity::FormulaValue, _) => "axiom formula".to_owned(),
        (PreconditionQuantity::MeasurementGap { measure }, _) => {
            format!("difference in {}", measure.slug())
        }
        (PreconditionQuantity::MeasurementLead { measure }, _) => {
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
        format_precondition_value(precondition.quantity, bound)
    )
}

/// Returns a value or a bound of a precondition.
pub fn format_precondition_value(quantity: PreconditionQuantity, value: f64) -> String {
    if quantity.is_count() {
        format_without_decimals(value)
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
pub fn format_without_decimals(value: f64) -> String {
    format::format_score(value, 0)
}
