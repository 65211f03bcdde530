//! The page Instance.

use leptos::prelude::*;
use leptos_meta::Title;

/// The page Instance.
#[component]
pub(crate) fn Instance() -> impl IntoView {
    view! {
        <Title text="Instance"/>
        <h1>"Instance"</h1>
    }
}
