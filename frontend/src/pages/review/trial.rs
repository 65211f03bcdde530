//! A few instances of a study to try reviewing with.

use leptos::prelude::*;

/// The page.
#[component]
pub(crate) fn Trial(
    /// Name of the study.
    study: String,
) -> impl IntoView {
    view! { <h1>"Try reviewing"</h1> }
}
