//! A verdict as a symbol and a label.

use leptos::prelude::*;
use shared::probe::Probe;
use shared::verdict::ClaimOutcome;

/// Renders a verdict as a symbol with its label, without a filled background.
#[component]
pub(crate) fn VerdictChip(
    /// The axiom or behavioral test of the verdict.
    probe: Probe,
    /// The outcome; none if scores are missing.
    outcome: Option<ClaimOutcome>,
) -> impl IntoView {
    view! {
        <span class=outcome_css_classes(outcome)>{outcome_label_for_probe(probe, outcome)}</span>
    }
}

/// Returns the CSS classes of an outcome; none if scores are missing.
pub(crate) fn outcome_css_classes(outcome: Option<ClaimOutcome>) -> &'static str {
    match outcome {
        Some(ClaimOutcome::Satisfied) => "verdict ok",
        Some(ClaimOutcome::Tied) => "verdict tie",
        Some(ClaimOutcome::Violated) => "verdict bad",
        None => "verdict wait",
    }
}

/// Returns the effect of a sample: +1 if its first document is preferred, −1 if its second is.
pub(crate) fn sample_effect_label(outcome: Option<ClaimOutcome>) -> &'static str {
    match outcome {
        Some(ClaimOutcome::Satisfied) => "+1",
        Some(ClaimOutcome::Tied) => "0",
        Some(ClaimOutcome::Violated) => "−1",
        None => "–",
    }
}

/// Returns the label of an outcome: a verdict for an axiom, and an effect for a behavioral test,
/// where neither document should be preferred.
pub(crate) fn outcome_label_for_probe(probe: Probe, outcome: Option<ClaimOutcome>) -> &'static str {
    match outcome {
        _ if probe.is_axiom() => axiom_outcome_label(outcome),
        Some(ClaimOutcome::Satisfied) => "positive",
        Some(ClaimOutcome::Tied) => "neutral",
        Some(ClaimOutcome::Violated) => "negative",
        None => axiom_outcome_label(None),
    }
}

/// Returns the label of an outcome for an axiom.
pub(crate) fn axiom_outcome_label(outcome: Option<ClaimOutcome>) -> &'static str {
    match outcome {
        Some(ClaimOutcome::Satisfied) => "satisfied",
        Some(ClaimOutcome::Tied) => "tied",
        Some(ClaimOutcome::Violated) => "violated",
        None => "not scored",
    }
}
