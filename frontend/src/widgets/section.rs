//! A section of a page.

use leptos::prelude::*;

/// A section with its heading.
#[component]
pub(crate) fn Section(
    /// Of the heading, and the anchor of the section.
    id: &'static str,
    /// The heading.
    name: &'static str,
    /// How to read the section.
    #[prop(optional)]
    note: Option<&'static str>,
    /// What stands below the heading.
    children: Children,
) -> impl IntoView {
    view! {
        <section class="section" aria-labelledby=id>
            <header>
                <h2 id=id>{name}</h2>
                {note.map(|it| view! { <p class="note">{it}</p> })}
            </header>
            {children()}
        </section>
    }
}
