//! The review tasks of the caller.

use leptos::prelude::*;

/// The page.
#[component]
pub(crate) fn Tasks() -> impl IntoView {
    view! { <h1>"Review"</h1> }
}
