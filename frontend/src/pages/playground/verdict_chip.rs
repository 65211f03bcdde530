//! Who says what of a claim.

use leptos::prelude::*;
use shared::verdict::{Outcome, Verdict};

use crate::widgets::verdict::outcome_label;

/// A ranker under the glyph of its verdict.
#[component]
pub(crate) fn RankerVerdictChip(
    /// The ranker.
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
