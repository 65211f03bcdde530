//! A verdict as a symbol and a label.

use leptos::prelude::*;
use shared::probe::Probe;
use shared::verdict::Outcome;

/// Renders a verdict as a symbol with its label, without a filled background.
#[component]
pub(crate) fn VerdictChip(
    /// The axiom or behavioral test of the verdict.
    probe: Probe,
    /// The outcome; none if scores are missing.
    outcome: Option<Outcome>,
) -> impl IntoView {
    view! { <span class=outcome_class(outcome)>{verdict_label(probe, outcome)}</span> }
}

/// Returns the CSS classes of an outcome; none if scores are missing.
pub(crate) fn outcome_class(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        Some(Outcome::Satisfied) => "verdict ok",
        Some(Outcome::Tied) => "verdict tie",
        Some(Outcome::Violated) => "verdict bad",
        None => "verdict wait",
    }
}

/// Returns the effect of a sample: +1 if its first document is preferred, −1 if its second is.
pub(crate) fn effect_label(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        Some(Outcome::Satisfied) => "+1",
        Some(Outcome::Tied) => "0",
        Some(Outcome::Violated) => "−1",
        None => "–",
    }
}

/// Returns the label of an outcome: a verdict for an axiom, and an effect for a behavioral test,
/// where neither document should be preferred.
pub(crate) fn verdict_label(probe: Probe, outcome: Option<Outcome>) -> &'static str {
    match outcome {
        _ if probe.is_axiom() => outcome_label(outcome),
        Some(Outcome::Satisfied) => "positive",
        Some(Outcome::Tied) => "neutral",
        Some(Outcome::Violated) => "negative",
        None => outcome_label(None),
    }
}

/// Returns the label of an outcome for an axiom.
pub(crate) fn outcome_label(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        Some(Outcome::Satisfied) => "satisfied",
        Some(Outcome::Tied) => "tied",
        Some(Outcome::Violated) => "violated",
        None => "not scored",
    }
}
