//! The page Workbench.

use leptos::prelude::*;
use leptos_meta::Title;

/// The page Workbench.
#[component]
pub(crate) fn Workbench() -> impl IntoView {
    view! {
        <Title text="Workbench"/>
        <h1>"Workbench"</h1>
    }
}
