//! A new review task.

use leptos::prelude::*;

/// The page.
#[component]
pub(crate) fn MakeTask() -> impl IntoView {
    view! { <h1>"New task"</h1> }
}
