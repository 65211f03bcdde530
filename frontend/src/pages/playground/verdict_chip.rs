//! A ranker with its verdict on a claim.

use leptos::prelude::*;
use shared::verdict::VerdictWithMargin;

use crate::widgets::verdict::{axiom_outcome_label, outcome_css_classes};

/// Renders the name of a ranker with the symbol of its verdict.
#[component]
pub(crate) fn RankerVerdictChip(
    /// The name of the ranker.
    who: String,
    /// None while there is no score.
    verdict: Option<VerdictWithMargin>,
) -> impl IntoView {
    let outcome = verdict.map(|it| it.outcome);
    let class = outcome_css_classes(outcome);
    let said = axiom_outcome_label(outcome);
    view! { <span class=class title=said>{who} <span class="unseen">" " {said}</span></span> }
}
