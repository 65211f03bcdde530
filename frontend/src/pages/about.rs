//! The page About.

use leptos::prelude::*;
use leptos_meta::Title;

/// The page About.
#[component]
pub(crate) fn About() -> impl IntoView {
    view! {
        <Title text="About"/>
        <h1>"About"</h1>
    }
}
