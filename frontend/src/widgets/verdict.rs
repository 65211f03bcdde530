//! A verdict as a symbol and a label.

use leptos::prelude::*;
use shared::probe::Probe;
use shared::verdict::VerdictOutcome;

/// Renders a verdict as a symbol with its label, without a filled background.
#[component]
pub(crate) fn VerdictChip(
    /// The axiom or behavioral test of the verdict.
    probe: Probe,
    /// The outcome; none if scores are missing.
    outcome: Option<VerdictOutcome>,
) -> impl IntoView {
    let class = outcome_css_classes(outcome);
    // Blue and rust mean with and against an axiom; a behavioral test has no right answer.
    let quiet = !probe.is_axiom();
    view! { <span class=class class:quiet=quiet>{outcome_label_for_probe(probe, outcome)}</span> }
}

/// Returns the CSS classes of an outcome; none if scores are missing.
pub(crate) fn outcome_css_classes(outcome: Option<VerdictOutcome>) -> &'static str {
    match outcome {
        Some(VerdictOutcome::Satisfied) => "verdict ok",
        Some(VerdictOutcome::Tied) => "verdict tie",
        Some(VerdictOutcome::Violated) => "verdict bad",
        None => "verdict wait",
    }
}

/// Returns the effect of a sample: +1 if its first document is preferred, −1 if its second is.
pub(crate) fn effect_label_of_outcome(outcome: Option<VerdictOutcome>) -> &'static str {
    match outcome {
        Some(VerdictOutcome::Satisfied) => "+1",
        Some(VerdictOutcome::Tied) => "0",
        Some(VerdictOutcome::Violated) => "−1",
        None => "–",
    }
}

/// Returns the label of an outcome: a verdict for an axiom, and an effect for a behavioral test,
/// where neither document should be preferred.
pub(crate) fn outcome_label_for_probe(
    probe: Probe,
    outcome: Option<VerdictOutcome>,
) -> &'static str {
    match outcome {
        _ if probe.is_axiom() => axiom_outcome_label(outcome),
        Some(VerdictOutcome::Satisfied) => "positive",
        Some(VerdictOutcome::Tied) => "neutral",
        Some(VerdictOutcome::Violated) => "negative",
        None => axiom_outcome_label(None),
    }
}

/// Returns the label of an outcome for an axiom.
pub(crate) fn axiom_outcome_label(outcome: Option<VerdictOutcome>) -> &'static str {
    match outcome {
        Some(VerdictOutcome::Satisfied) => "satisfied",
        Some(VerdictOutcome::Tied) => "tied",
        Some(VerdictOutcome::Violated) => "violated",
        None => "not scored",
    }
}
