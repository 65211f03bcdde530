//! The preconditions of an axiom: the measured value, the bound, and what is missing.

use leptos::prelude::*;
use shared::probe::{BoundRelation, MeasuredPrecondition, PreconditionQuantity};
use shared::report::{format, precondition};

use crate::widgets::gauge::{PreconditionGauge, describe_distance_from_bound};

/// The document names and query terms that precondition labels refer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DocumentAndTermNames {
    /// The names of the documents, in the order of the claim.
    pub(crate) documents: Vec<String>,
    /// The distinct query terms as written.
    pub(crate) terms: Vec<String>,
}

/// Renders one line per precondition: whether it is satisfied, what it measures, the value against
/// the bound, and both in words.
#[component]
pub(crate) fn PreconditionList(
    /// In the order the axiom checks them.
    premises: Vec<MeasuredPrecondition>,
    /// The names that the labels refer to.
    names: DocumentAndTermNames,
) -> impl IntoView {
    let rows = rows(&premises)
        .into_iter()
        .map(|row| row_view(&row, &names))
        .collect_view();
    view! { <ul class="premises">{rows}</ul> }
}

/// A row of the list.
#[derive(Debug, Clone, PartialEq)]
enum PreconditionRow {
    /// A single precondition.
    Single(MeasuredPrecondition),
    /// The preconditions about this number of single terms, all of which hold.
    PerTerm(MeasuredPrecondition, u64),
}

/// Groups the preconditions about single terms that hold into one row.
fn rows(premises: &[MeasuredPrecondition]) -> Vec<PreconditionRow> {
    let about_a_term = |it: &MeasuredPrecondition| match it.quantity {
        PreconditionQuantity::TermCountLead { .. }
        | PreconditionQuantity::TermGainChange { .. } => it.holds(),
        _ => false,
    };
    let n_terms = premises.iter().filter(|it| about_a_term(it)).count() as u64;
    let mut told = false;
    let row = |it: &MeasuredPrecondition| {
        if n_terms < 2 || !about_a_term(it) {
            return Some(PreconditionRow::Single(*it));
        }
        let first = !std::mem::replace(&mut told, true);
        first.then_some(PreconditionRow::PerTerm(*it, n_terms))
    };
    premises.iter().filter_map(row).collect()
}

fn row_view(row: &PreconditionRow, names: &DocumentAndTermNames) -> impl IntoView + use<> {
    let (PreconditionRow::Single(measured) | PreconditionRow::PerTerm(measured, _)) = row;
    let holds = measured.holds();
    let (class, word) = if holds {
        ("verdict ok quiet", "satisfied")
    } else {
        ("verdict failed", "not satisfied")
    };
    let said = if holds { "label" } else { "miss" };
    view! {
        <li>
            <span class=class>{word}</span>
            <span>{label(row, names)}</span>
            <PreconditionGauge precondition=*measured/>
            <span class=said>{result_text(row)}</span>
        </li>
    }
}

/// Returns the label of what is measured.
fn label(row: &PreconditionRow, names: &DocumentAndTermNames) -> String {
    let text = |number: u8| match names.documents.get(usize::from(number).wrapping_sub(1)) {
        Some(name) => name.clone(),
        None => format!("document {number}"),
    };
    let measured = match row {
        PreconditionRow::Single(measured) => measured,
        PreconditionRow::PerTerm(measured, n) => {
            return label_of_terms(measured, *n, &text(1), &text(2));
        }
    };
    let term = |place: u16| match names.terms.get(usize::from(place)) {
        Some(term) => format!("“{term}”"),
        None => format!("term {}", place + 1),
    };
    match measured.quantity {
        PreconditionQuantity::LengthGap { a, b } => {
            format!("length difference between {} and {}", text(a), text(b))
        }
        PreconditionQuantity::LengthLead { a, b } => {
            format!("length of {} minus length of {}", text(b), text(a))
        }
        PreconditionQuantity::Length { text: it } => format!("length of {}", text(it)),
        PreconditionQuantity::QueryTermOccurrences { text: it } => {
            format!("query-term occurrences in {}", text(it))
        }
        PreconditionQuantity::QueryTermOccurrenceLead { a, b } => {
            format!("query-term occurrences, {} minus {}", text(b), text(a))
        }
        PreconditionQuantity::TermCountLead { term: it } => {
            format!("{}, {} minus {}", term(it), text(1), text(2))
        }
        PreconditionQuantity::TermGainChange { term: it } => format!(
            "difference between count \
             steps of {}",
            term(it)
        ),
        PreconditionQuantity::DifferingTermCounts => "query terms with different counts".to_owned(),
        PreconditionQuantity::UnpairedDifferingTerms => {
            "query terms outside the swapped pair with different counts".to_owned()
        }
        PreconditionQuantity::OneExtraTerms => {
            format!("non-query terms with one more occurrence in {}", text(2))
        }
        PreconditionQuantity::OneExtraSharedTerms => format!(
            "shared non-query terms with one more occurrence in {}",
            text(2)
        ),
        PreconditionQuantity::Coverage { text: it } => {
            format!("distinct query terms in {}", text(it))
        }
        PreconditionQuantity::TermDistanceLead { near, far } => {
            format!(
                "smallest query-term distance, {} minus {}",
                text(far),
                text(near)
            )
        }
        PreconditionQuantity::Repetitions => format!("repetitions of {} in {}", text(2), text(1)),
        PreconditionQuantity::CoverageLead { a, b } => {
            format!("distinct query terms, {} minus {}", text(b), text(a))
        }
        PreconditionQuantity::NonQueryTermExcess { others, terms } => {
            format!(
                "non-query terms in {} minus query-term occurrences in {}",
                text(others),
                text(terms)
            )
        }
        PreconditionQuantity::NonQueryTermLead { a, b } => {
            format!("non-query terms, {} minus {}", text(b), text(a))
        }
        PreconditionQuantity::SimilarityLead { near, far } => {
            format!(
                "cosine of the non-query terms with the query, {} minus {}",
                text(near),
                text(far)
            )
        }
        PreconditionQuantity::Similarity => {
            format!(
                "cosine of the non-query terms in {} and {}",
                text(1),
                text(2)
            )
        }
        PreconditionQuantity::Dissimilarity => format!(
            "1 − cosine of the non-query terms in {} and {}",
            text(1),
            text(2)
        ),
        other => precondition::precondition_label(
            other,
            measured.relation,
            precondition::EVERY_QUERY_TERM,
        ),
    }
}

fn label_of_terms(measured: &MeasuredPrecondition, n: u64, first: &str, second: &str) -> String {
    let n = format::format_count(n);
    match (measured.quantity, measured.relation) {
        (PreconditionQuantity::TermGainChange { .. }, _) => format!("equal count steps, {n} terms"),
        (_, BoundRelation::Equal) => format!("equal counts, {n} terms"),
        (_, BoundRelation::AtLeast | BoundRelation::MoreThan | BoundRelation::AtMost) => {
            format!("count in {first} at least that in {second}, {n} terms")
        }
    }
}

/// Returns the value, the bound, and by how much the bound is missed.
fn result_text(row: &PreconditionRow) -> String {
    let measured = match row {
        PreconditionRow::Single(measured) => measured,
        PreconditionRow::PerTerm(_, _) => return "every term".to_owned(),
    };
    let Some(bound) = measured.bound else {
        return format!("{}, no bound", measured_text(measured));
    };
    let value = measured_text(measured);
    let asked = format!(
        "{} {}",
        relation_text(measured.relation),
        precondition::format_precondition_value(measured.quantity, bound)
    );
    match describe_distance_from_bound(measured) {
        _ if measured.holds() => format!("{value}, {asked}"),
        Some(shortfall) => format!("{value}, must be {asked}: {shortfall}"),
        None => format!("{value}, must be {asked}"),
    }
}

fn measured_text(measured: &MeasuredPrecondition) -> String {
    match measured.value {
        Some(value) => precondition::format_precondition_value(measured.quantity, value),
        None => missing_value_reason(measured.quantity).to_owned(),
    }
}

/// Returns why there is no value.
fn missing_value_reason(quantity: PreconditionQuantity) -> &'static str {
    match quantity {
        PreconditionQuantity::Repetitions => "not a repetition",
        PreconditionQuantity::TermDistanceLead { .. } => {
            "a document has fewer than two query terms"
        }
        PreconditionQuantity::SimilarityLead { .. }
        | PreconditionQuantity::Similarity
        | PreconditionQuantity::Dissimilarity => "no word has a vector",
        PreconditionQuantity::SharedQueryTerms | PreconditionQuantity::SharedQueryTermsIfAll => {
            "the documents contain different terms"
        }
        PreconditionQuantity::AxiomLead { .. } => "no word vectors are available",
        _ => "nothing to count",
    }
}

fn relation_text(relation: BoundRelation) -> &'static str {
    match relation {
        BoundRelation::AtMost => "at most",
        BoundRelation::AtLeast => "at least",
        BoundRelation::MoreThan => "more than",
        BoundRelation::Equal => "exactly",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        quantity: PreconditionQuantity,
        value: Option<f64>,
        relation: BoundRelation,
        expected: [&str; 2],
    ) {
        let bound = match relation {
            BoundRelation::AtMost => 10.0,
            BoundRelation::AtLeast => 1.0,
            BoundRelation::MoreThan | BoundRelation::Equal => 0.0,
        };
        let row = PreconditionRow::Single(MeasuredPrecondition {
            quantity,
            value,
            relation,
            bound: Some(bound),
        });
        assert_eq!([label(&row, &names()), result_text(&row)], expected);
    }

    fn names() -> DocumentAndTermNames {
        DocumentAndTermNames {
            documents: vec!["B".to_owned(), "A".to_owned()],
            terms: vec!["glaciers".to_owned()],
        }
    }

    #[test]
    fn a_premise_says_by_how_much_it_fails() {
        check(
            PreconditionQuantity::LengthGap { a: 1, b: 2 },
            Some(12.0),
            BoundRelation::AtMost,
            [
                "length difference between B and A",
                "12, must be at most 10: 2 too many",
            ],
        );
        check(
            PreconditionQuantity::TermCountLead { term: 0 },
            Some(-2.0),
            BoundRelation::AtLeast,
            ["“glaciers”, B minus A", "−2, must be at least 1: 3 too few"],
        );
        check(
            PreconditionQuantity::QueryTermOccurrenceLead { a: 2, b: 1 },
            Some(0.0),
            BoundRelation::MoreThan,
            [
                "query-term occurrences, B minus A",
                "0, must be more than 0: 1 too few",
            ],
        );
    }

    #[test]
    fn what_cannot_be_measured_is_not_zero() {
        check(
            PreconditionQuantity::TermDistanceLead { near: 1, far: 2 },
            None,
            BoundRelation::MoreThan,
            [
                "smallest query-term distance, A minus B",
                "a document has fewer than two query terms, must be more than 0",
            ],
        );
    }

    #[test]
    fn without_a_bound_any_value_is_taken() {
        let row = PreconditionRow::Single(MeasuredPrecondition {
            quantity: PreconditionQuantity::LengthGap { a: 1, b: 2 },
            value: Some(40.0),
            relation: BoundRelation::AtMost,
            bound: None,
        });
        assert_eq!(result_text(&row), "40, no bound");
    }

    #[test]
    fn terms_that_hold_take_one_line_and_those_that_fail_one_each() {
        let term = |term, value| MeasuredPrecondition {
            quantity: PreconditionQuantity::TermCountLead { term },
            value: Some(value),
            relation: BoundRelation::AtLeast,
            bound: Some(0.0),
        };
        let found = rows(&[term(0, 1.0), term(1, -1.0), term(2, 0.0)]);
        assert_eq!(
            found,
            [
                PreconditionRow::PerTerm(term(0, 1.0), 2),
                PreconditionRow::Single(term(1, -1.0))
            ]
        );
        assert_eq!(
            label(&found[0], &names()),
            "count in B at least that in A, 2 terms"
        );
        assert_eq!(
            rows(&[term(0, 1.0)]),
            [PreconditionRow::Single(term(0, 1.0))]
        );
    }
}
