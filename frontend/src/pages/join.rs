//! Where an invitation leads, and where people sign in.

use leptos::prelude::*;

/// The page.
#[component]
pub(crate) fn Join() -> impl IntoView {
    view! { <h1>"Join"</h1> }
}
