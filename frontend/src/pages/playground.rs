//! The page Playground.

use leptos::prelude::*;
use leptos_meta::Title;

/// The page Playground.
#[component]
pub(crate) fn Playground() -> impl IntoView {
    view! {
        <Title text="Playground"/>
        <h1>"Playground"</h1>
    }
}
