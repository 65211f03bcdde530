//! The page Studies.

use leptos::prelude::*;
use leptos_meta::Title;

/// The page Studies.
#[component]
pub(crate) fn Studies() -> impl IntoView {
    view! {
        <Title text="Studies"/>
        <h1>"Studies"</h1>
    }
}
