//! A task as its curator sees it.

use leptos::prelude::*;
use shared::api::review::TaskNo;

/// The page.
#[component]
pub(crate) fn Curate(
    /// Which task.
    task: TaskNo,
) -> impl IntoView {
    view! { <h1>"Task"</h1> }
}
