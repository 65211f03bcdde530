//! The preconditions of an instance: the measured value, the bound, and whether it holds.

use leptos::prelude::*;
use shared::probe::{BoundRelation, MeasuredPrecondition, MeasuredQuantity};
use shared::report::format;
use shared::report::precondition::{bound_label, format_count, precondition_label, value_label};
use shared::study::instance_details::QueryTermInfo;

use crate::widgets::highlighted_text::HighlightedTerm;
use crate::widgets::table::{ColumnHeading, HeadedTable};

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
        ColumnHeading::text("Precondition"),
        ColumnHeading::number("measured value"),
        ColumnHeading::text("value against its bound"),
        ColumnHeading::text("bound"),
        ColumnHeading::hidden("satisfied"),
    ];
    view! { <HeadedTable name=caption class="measured" heads>{rows}</HeadedTable> }
}

#[component]
fn PreconditionTableRow(premise: MeasuredPrecondition, terms: Vec<QueryTermInfo>) -> impl IntoView {
    let about = term_index(premise.quantity);
    let term = about.map(|place| view! { " " <HighlightedTerm terms place/> });
    let class = if premise.holds() {
        "verdict ok quiet"
    } else {
        "verdict bad"
    };
    let value = premise.value.map_or(format::MISSING.to_owned(), |it| {
        value_label(premise.quantity, it)
    });
    view! {
        <tr>
            <td>{precondition_label(premise.quantity, premise.relation)} {term}</td>
            <td class="num">{value}</td>
            <td><Gauge premise/></td>
            <td class="bound">{bound_label(&premise)}</td>
            <td><span class=class>{result_text(&premise)}</span></td>
        </tr>
    }
}

/// Renders the value as a bar, the bound as a tick, and the side on which the precondition holds as
/// a shaded area.
#[component]
fn Gauge(premise: MeasuredPrecondition) -> impl IntoView {
    let Some([value, bound]) = gauge_positions(&premise) else {
        return view! { <span class="gauge open" aria-hidden="true"></span> }.into_any();
    };
    let side = match premise.relation {
        BoundRelation::AtMost => "gauge le",
        BoundRelation::AtLeast | BoundRelation::MoreThan => "gauge ge",
        BoundRelation::Equal => "gauge",
    };
    view! {
        <span
            class=side
            class:fails=!premise.holds()
            style=("--v", format!("{value:.3}"))
            style=("--b", format!("{bound:.3}"))
            aria-hidden="true"
        ></span>
    }
    .into_any()
}

/// Returns the positions of value and bound on a gauge, from 0 to 1; none unless both are known.
fn gauge_positions(premise: &MeasuredPrecondition) -> Option<[f64; 2]> {
    let (value, bound) = (premise.value?, premise.bound?);
    let least = value.min(bound).min(0.0);
    let most = value.max(bound).max(least + 1.0);
    // The margin keeps a tick at the end visible.
    let length = (most - least) * 1.25;
    Some([value, bound].map(|it| (it - least) / length))
}

/// Returns the index of the query term that a quantity refers to.
fn term_index(quantity: MeasuredQuantity) -> Option<usize> {
    match quantity {
        MeasuredQuantity::TermCountLead { term } | MeasuredQuantity::TermGainChange { term } => {
            Some(usize::from(term))
        }
        _ => None,
    }
}

/// Returns whether the precondition holds, and otherwise by how much it fails, as in `2 too many`.
fn result_text(premise: &MeasuredPrecondition) -> String {
    if premise.holds() {
        return "satisfied".to_owned();
    }
    let (Some(value), Some(bound)) = (premise.value, premise.bound) else {
        return "cannot be measured".to_owned();
    };
    if !premise.quantity.is_counted() {
        let word = if value > bound { "too high" } else { "too low" };
        let by = value_label(premise.quantity, (value - bound).abs());
        return format!("{word} by {by}");
    }
    match premise.relation {
        BoundRelation::MoreThan => format!("{} too few", format_count(bound - value + 1.0)),
        BoundRelation::AtMost | BoundRelation::AtLeast | BoundRelation::Equal if value < bound => {
            format!("{} too few", format_count(bound - value))
        }
        BoundRelation::AtMost | BoundRelation::AtLeast | BoundRelation::Equal => {
            format!("{} too many", format_count(value - bound))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(value: Option<f64>, relation: BoundRelation, bound: f64) -> MeasuredPrecondition {
        let quantity = MeasuredQuantity::LengthGap { a: 1, b: 2 };
        MeasuredPrecondition {
            quantity,
            value,
            relation,
            bound: Some(bound),
        }
    }

    #[test]
    fn a_premise_that_fails_says_by_how_much() {
        let said = [
            measured(Some(8.0), BoundRelation::AtMost, 10.0),
            measured(Some(12.0), BoundRelation::AtMost, 10.0),
            measured(Some(0.0), BoundRelation::AtLeast, 1.0),
            measured(Some(0.0), BoundRelation::MoreThan, 0.0),
            measured(Some(-2.0), BoundRelation::Equal, 0.0),
            measured(None, BoundRelation::MoreThan, 0.0),
        ];
        assert_eq!(
            said.map(|it| result_text(&it)),
            [
                "satisfied",
                "2 too many",
                "1 too few",
                "1 too few",
                "2 too few",
                "cannot be measured"
            ]
        );
    }

    #[test]
    fn a_gauge_has_room_for_both_ends() {
        assert_eq!(
            gauge_positions(&measured(Some(8.0), BoundRelation::AtMost, 10.0)),
            Some([0.64, 0.8])
        );
        assert_eq!(
            gauge_positions(&measured(Some(0.0), BoundRelation::AtLeast, 0.0)),
            Some([0.0, 0.0])
        );
        assert_eq!(
            gauge_positions(&measured(Some(-5.0), BoundRelation::AtMost, 5.0)),
            Some([0.0, 0.8])
        );
        assert_eq!(
            gauge_positions(&measured(None, BoundRelation::AtMost, 5.0)),
            None
        );
    }
}
