//! A ranker with its verdict on a claim.

use leptos::prelude::*;
use shared::verdict::Verdict;

use crate::widgets::verdict::{outcome_class, outcome_label};

/// Renders the name of a ranker with the symbol of its verdict.
#[component]
pub(crate) fn RankerVerdictChip(
    /// The name of the ranker.
    who: String,
    /// None while there is no score.
    verdict: Option<Verdict>,
) -> impl IntoView {
    let outcome = verdict.map(|it| it.outcome);
    let class = outcome_class(outcome);
    let said = outcome_label(outcome);
    view! { <span class=class title=said>{who} <span class="unseen">" " {said}</span></span> }
}
