//! A ranker with its verdict on a claim.

use leptos::prelude::*;
use shared::verdict::{Outcome, Verdict};

use crate::widgets::verdict::outcome_label;

/// Renders the name of a ranker with the symbol of its verdict.
#[component]
pub(crate) fn RankerVerdictChip(
    /// The name of the ranker.
    who: String,
    /// None while there is no score.
    verdict: Option<Verdict>,
) -> impl IntoView {
    let outcome = verdict.map(|it| it.outcome);
    let class = match outcome {
        Some(Outcome::Satisfied) => "verdict ok",
        Some(Outcome::Tied) => "verdict tie",
        Some(Outcome::Violated) => "verdict bad",
        None => "verdict wait",
    };
    let said = outcome_label(outcome);
    view! { <span class=class title=said>{who} <span class="unseen">" " {said}</span></span> }
}
