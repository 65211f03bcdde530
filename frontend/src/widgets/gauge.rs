//! The measured value of a precondition next to its bound, as a drawing and in words.

use leptos::prelude::*;
use shared::probe::{BoundRelation, MeasuredPrecondition};
use shared::report::precondition::format_precondition_value;

/// Renders the value as a bar, the bound as a tick, and the side on which the precondition is
/// satisfied as a shaded area.
#[component]
pub(crate) fn PreconditionGauge(precondition: MeasuredPrecondition) -> impl IntoView {
    let Some([value, bound]) = gauge_positions(&precondition) else {
        return view! { <span class="gauge open" aria-hidden="true"></span> }.into_any();
    };
    let side = match precondition.relation {
        BoundRelation::AtMost => "gauge le",
        BoundRelation::AtLeast | BoundRelation::MoreThan => "gauge ge",
        BoundRelation::Equal => "gauge",
    };
    view! {
        <span
            class=side
            class:fails=!precondition.holds()
            style=("--v", format!("{value:.3}"))
            style=("--b", format!("{bound:.3}"))
            aria-hidden="true"
        ></span>
    }
    .into_any()
}

/// Returns the positions of value and bound on a gauge, from 0 to 1; none unless both are known.
fn gauge_positions(precondition: &MeasuredPrecondition) -> Option<[f64; 2]> {
    let (value, bound) = (precondition.value?, precondition.bound?);
    let least = value.min(bound).min(0.0);
    // The margin keeps a tick at the end visible.
    let length = (value.max(bound).max(0.0) - least) * 1.25;
    let position = |it: f64| match length > 0.0 {
        true => (it - least) / length,
        false => 0.0,
    };
    Some([value, bound].map(position))
}

/// Returns by how much the bound is missed, as in `2 too many`; none if the value or the bound is
/// unknown. Counts that miss a strict bound by less than one miss it by one.
pub(crate) fn describe_distance_from_bound(precondition: &MeasuredPrecondition) -> Option<String> {
    let (value, bound) = (precondition.value?, precondition.bound?);
    let by = |it: f64| format_precondition_value(precondition.quantity, it);
    if !precondition.quantity.is_count() {
        let word = if value > bound { "too high" } else { "too low" };
        return Some(format!("{} {word}", by((value - bound).abs())));
    }
    Some(match precondition.relation {
        BoundRelation::MoreThan => format!("{} too few", by(bound - value + 1.0)),
        BoundRelation::AtMost | BoundRelation::AtLeast | BoundRelation::Equal if value < bound => {
            format!("{} too few", by(bound - value))
        }
        BoundRelation::AtMost | BoundRelation::AtLeast | BoundRelation::Equal => {
            format!("{} too many", by(value - bound))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::probe::PreconditionQuantity;

    fn measured(value: Option<f64>, relation: BoundRelation, bound: f64) -> MeasuredPrecondition {
        MeasuredPrecondition {
            quantity: PreconditionQuantity::LengthGap { a: 1, b: 2 },
            value,
            relation,
            bound: Some(bound),
        }
    }

    #[test]
    fn a_shortfall_is_at_least_one() {
        let text = |value, relation, bound| {
            describe_distance_from_bound(&measured(Some(value), relation, bound))
        };
        let found = [
            text(12.0, BoundRelation::AtMost, 10.0),
            text(0.0, BoundRelation::AtLeast, 1.0),
            text(0.0, BoundRelation::MoreThan, 0.0),
            text(-2.0, BoundRelation::Equal, 0.0),
        ];
        let expected = ["2 too many", "1 too few", "1 too few", "2 too few"];
        assert_eq!(found, expected.map(|it| Some(it.to_owned())));
        let unknown = measured(None, BoundRelation::MoreThan, 0.0);
        assert_eq!(describe_distance_from_bound(&unknown), None);
        let similarity = MeasuredPrecondition {
            quantity: PreconditionQuantity::Similarity,
            ..measured(Some(0.25), BoundRelation::AtLeast, 0.5)
        };
        assert_eq!(
            describe_distance_from_bound(&similarity).as_deref(),
            Some("0.2500 too low")
        );
    }

    #[test]
    fn a_gauge_has_room_for_both_ends() {
        let positions = |value, bound| {
            gauge_positions(&measured(Some(value), BoundRelation::AtMost, bound)).unwrap()
        };
        assert_eq!(positions(8.0, 10.0), [0.64, 0.8]);
        assert_eq!(positions(0.0, 0.0), [0.0, 0.0]);
        assert_eq!(positions(-5.0, 5.0), [0.0, 0.8]);
        assert_eq!(positions(-4.0, 0.0), [0.0, 0.8]);
        let unknown = measured(None, BoundRelation::AtMost, 5.0);
        assert_eq!(gauge_positions(&unknown), None);
    }
}
