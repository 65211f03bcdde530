//! Why it is an instance: what was measured, the bound, and whether it holds.

use leptos::prelude::*;
use shared::probe::{MeasuredPremise, Quantity, Relation};
use shared::report::format;
use shared::report::premise::{bound, label, number, whole};
use shared::study::instance::Term;

use crate::widgets::marked::MarkedTerm;
use crate::widgets::table::{Head, HeadedTable};

/// A table with one row for each premise.
#[component]
pub(super) fn Premises(
    /// In the order the axiom checks them.
    premises: Vec<MeasuredPremise>,
    /// Distinct query terms, by which some premises are named.
    terms: Vec<Term>,
    /// Said of the table to those who do not see it.
    #[prop(into)]
    caption: String,
) -> impl IntoView {
    let rows = premises.into_iter().map(|premise| {
        let terms = terms.clone();
        view! { <Row premise terms/> }
    });
    let rows = rows.collect_view();
    let heads = [
        Head::words("Premise"),
        Head::number("value"),
        Head::words("against its bound"),
        Head::words("bound"),
        Head::unseen("holds"),
    ];
    view! { <HeadedTable name=caption class="measured" heads>{rows}</HeadedTable> }
}

#[component]
fn Row(premise: MeasuredPremise, terms: Vec<Term>) -> impl IntoView {
    let about = term_of(premise.quantity);
    let term = about.map(|place| view! { " " <MarkedTerm terms place/> });
    let class = if premise.holds() {
        "verdict ok quiet"
    } else {
        "verdict bad"
    };
    let value = premise.value.map_or(format::MISSING.to_owned(), |it| {
        number(premise.quantity, it)
    });
    view! {
        <tr>
            <td>{label(premise.quantity, premise.relation)} {term}</td>
            <td class="num">{value}</td>
            <td><Gauge premise/></td>
            <td class="bound">{bound(&premise)}</td>
            <td><span class=class>{holds(&premise)}</span></td>
        </tr>
    }
}

/// The value as a bar, the bound as a tick, the side that holds as a wash.
#[component]
fn Gauge(premise: MeasuredPremise) -> impl IntoView {
    let Some([value, bound]) = places(&premise) else {
        return view! { <span class="gauge open" aria-hidden="true"></span> }.into_any();
    };
    let side = match premise.relation {
        Relation::AtMost => "gauge le",
        Relation::AtLeast | Relation::Above => "gauge ge",
        Relation::Equal => "gauge",
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

/// Where value and bound stand on a gauge, from 0 to 1; none without both.
fn places(premise: &MeasuredPremise) -> Option<[f64; 2]> {
    let (value, bound) = (premise.value?, premise.bound?);
    let least = value.min(bound).min(0.0);
    let most = value.max(bound).max(least + 1.0);
    // A little room, so that a tick at the end can be seen.
    let length = (most - least) * 1.25;
    Some([value, bound].map(|it| (it - least) / length))
}

/// The place of the query term that a quantity is about.
fn term_of(quantity: Quantity) -> Option<usize> {
    match quantity {
        Quantity::TermLead { term } | Quantity::StepChange { term } => Some(usize::from(term)),
        _ => None,
    }
}

/// Whether it holds, and by how much it does not: `2 too many`.
fn holds(premise: &MeasuredPremise) -> String {
    if premise.holds() {
        return "holds".to_owned();
    }
    let (Some(value), Some(bound)) = (premise.value, premise.bound) else {
        return "cannot be measured".to_owned();
    };
    if !premise.quantity.is_counted() {
        let word = if value > bound { "too high" } else { "too low" };
        let by = number(premise.quantity, (value - bound).abs());
        return format!("by {by} {word}");
    }
    match premise.relation {
        Relation::Above => format!("{} too few", whole(bound - value + 1.0)),
        Relation::AtMost | Relation::AtLeast | Relation::Equal if value < bound => {
            format!("{} too few", whole(bound - value))
        }
        Relation::AtMost | Relation::AtLeast | Relation::Equal => {
            format!("{} too many", whole(value - bound))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(value: Option<f64>, relation: Relation, bound: f64) -> MeasuredPremise {
        let quantity = Quantity::LengthGap { a: 1, b: 2 };
        MeasuredPremise {
            quantity,
            value,
            relation,
            bound: Some(bound),
        }
    }

    #[test]
    fn a_premise_that_fails_says_by_how_much() {
        let said = [
            measured(Some(8.0), Relation::AtMost, 10.0),
            measured(Some(12.0), Relation::AtMost, 10.0),
            measured(Some(0.0), Relation::AtLeast, 1.0),
            measured(Some(0.0), Relation::Above, 0.0),
            measured(Some(-2.0), Relation::Equal, 0.0),
            measured(None, Relation::Above, 0.0),
        ];
        assert_eq!(
            said.map(|it| holds(&it)),
            [
                "holds",
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
            places(&measured(Some(8.0), Relation::AtMost, 10.0)),
            Some([0.64, 0.8])
        );
        assert_eq!(
            places(&measured(Some(0.0), Relation::AtLeast, 0.0)),
            Some([0.0, 0.0])
        );
        assert_eq!(
            places(&measured(Some(-5.0), Relation::AtMost, 5.0)),
            Some([0.0, 0.8])
        );
        assert_eq!(places(&measured(None, Relation::AtMost, 5.0)), None);
    }
}
