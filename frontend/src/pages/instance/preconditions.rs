//! The preconditions of an instance: the measured value, the bound, and whether it is satisfied.

use leptos::prelude::*;
use shared::probe::{MeasuredPrecondition, PreconditionQuantity};
use shared::report::format;
use shared::report::precondition::{
    format_precondition_value, precondition_bound_label, precondition_label,
};
use shared::study::instance_details::QueryTermInfo;

use crate::widgets::gauge::{PreconditionGauge, describe_distance_from_bound};
use crate::widgets::highlighted_text::HighlightedQueryTerm;
use crate::widgets::table::{ColumnHeading, HeadedTable};
use crate::widgets::term::GlossaryTerm;

/// Renders a table with one row per precondition.
#[component]
pub(super) fn PreconditionTable(
    /// In the order the axiom checks them.
    premises: Vec<MeasuredPrecondition>,
    /// The distinct query terms, which some preconditions refer to.
    terms: Vec<QueryTermInfo>,
    /// The description of the table for screen readers.
    #[prop(into)]
    caption: String,
) -> impl IntoView {
    let rows = premises.into_iter().map(|premise| {
        let terms = terms.clone();
        view! { <PreconditionTableRow premise terms/> }
    });
    let rows = rows.collect_view();
    let heads = [
        ColumnHeading::for_text_column("Precondition").explaining(GlossaryTerm::Precondition),
        ColumnHeading::for_number_column("measured value"),
        ColumnHeading::for_text_column("value against its bound"),
        ColumnHeading::for_text_column("bound"),
        ColumnHeading::screen_reader_only("satisfied"),
    ];
    view! { <HeadedTable name=caption class="measured" heads scrolls=true>{rows}</HeadedTable> }
}

#[component]
fn PreconditionTableRow(premise: MeasuredPrecondition, terms: Vec<QueryTermInfo>) -> impl IntoView {
    let about = term_index(premise.quantity);
    let term = about.map(|place| view! { " " <HighlightedQueryTerm terms place/> });
    let class = if premise.holds() {
        "verdict ok quiet"
    } else {
        "verdict failed"
    };
    let value = premise.value.map_or(format::MISSING.to_owned(), |it| {
        format_precondition_value(premise.quantity, it)
    });
    view! {
        <tr>
            <td>{precondition_label(premise.quantity, premise.relation, "")} {term}</td>
            <td class="num">{value}</td>
            <td><PreconditionGauge precondition=premise/></td>
            <td class="bound">{precondition_bound_label(&premise)}</td>
            <td><span class=class>{result_text(&premise)}</span></td>
        </tr>
    }
}

/// Returns the index of the query term that a quantity refers to.
fn term_index(quantity: PreconditionQuantity) -> Option<usize> {
    match quantity {
        PreconditionQuantity::TermCountLead { term }
        | PreconditionQuantity::TermGainChange { term } => Some(usize::from(term)),
        _ => None,
    }
}

/// Returns whether the precondition is satisfied, and otherwise by how much it is not, as in
/// `2 too many`.
fn result_text(premise: &MeasuredPrecondition) -> String {
    if premise.holds() {
        return "satisfied".to_owned();
    }
    describe_distance_from_bound(premise).unwrap_or_else(|| "cannot be measured".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::probe::BoundRelation;

    #[test]
    fn a_precondition_that_is_not_satisfied_says_by_how_much() {
        let text = |value| {
            result_text(&MeasuredPrecondition {
                quantity: PreconditionQuantity::LengthGap { a: 1, b: 2 },
                value,
                relation: BoundRelation::AtMost,
                bound: Some(10.0),
            })
        };
        assert_eq!(text(Some(8.0)), "satisfied");
        assert_eq!(text(Some(12.0)), "2 too many");
        assert_eq!(text(None), "cannot be measured");
    }
}
