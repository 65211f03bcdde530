//! The page Study.

use leptos::prelude::*;
use leptos_meta::Title;

/// The page Study.
#[component]
pub(crate) fn Study() -> impl IntoView {
    view! {
        <Title text="Study"/>
        <h1>"Study"</h1>
    }
}
