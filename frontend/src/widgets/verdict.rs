//! How a claim came out: a glyph, then the word.

use leptos::prelude::*;
use shared::probe::Probe;
use shared::verdict::Outcome;

/// A verdict chip; never a filled pill.
#[component]
pub(crate) fn VerdictChip(
    /// Of which axiom or behaviour.
    probe: Probe,
    /// None without all scores.
    outcome: Option<Outcome>,
) -> impl IntoView {
    let class = match outcome {
        Some(Outcome::Satisfied) => "verdict ok",
        Some(Outcome::Tied) => "verdict tie",
        Some(Outcome::Violated) => "verdict bad",
        None => "verdict wait",
    };
    view! { <span class=class>{verdict_label(probe, outcome)}</span> }
}

/// The effect of a sample: +1 where its first text is preferred, −1 where its second.
pub(crate) fn effect_label(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        Some(Outcome::Satisfied) => "+1",
        Some(Outcome::Tied) => "0",
        Some(Outcome::Violated) => "−1",
        None => "–",
    }
}

/// The word on a chip: of an instance of an axiom, or of a sample of a behaviour, where nobody
/// says which text should be preferred.
pub(crate) fn verdict_label(probe: Probe, outcome: Option<Outcome>) -> &'static str {
    match outcome {
        _ if probe.is_axiom() => outcome_label(outcome),
        Some(Outcome::Satisfied) => "positive",
        Some(Outcome::Tied) => "neutral",
        Some(Outcome::Violated) => "negative",
        None => outcome_label(None),
    }
}

/// The word of an axiom.
pub(crate) fn outcome_label(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        Some(Outcome::Satisfied) => "satisfied",
        Some(Outcome::Tied) => "tied",
        Some(Outcome::Violated) => "violated",
        None => "not scored",
    }
}
