//! The page Instances.

use leptos::prelude::*;
use leptos_meta::Title;

/// The page Instances.
#[component]
pub(crate) fn Instances() -> impl IntoView {
    view! {
        <Title text="Instances"/>
        <h1>"Instances"</h1>
    }
}
