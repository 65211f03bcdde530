//! The annotator's screen: one item after the other.

use leptos::prelude::*;
use shared::api::review::TaskNo;

/// The page.
#[component]
pub(crate) fn Annotate(
    /// Which task.
    task: TaskNo,
) -> impl IntoView {
    view! { <h1>"Review"</h1> }
}
