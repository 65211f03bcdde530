//! People and invitations.

use leptos::prelude::*;

/// The page.
#[component]
pub(crate) fn People() -> impl IntoView {
    view! { <h1>"People"</h1> }
}
