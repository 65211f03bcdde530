//! A section of a page.

use leptos::prelude::*;

/// A section with its heading.
#[component]
pub(crate) fn Section(
    /// Of the heading, and the anchor of the section.
    id: &'static str,
    /// The heading.
    #[prop(into)]
    name: String,
    /// Of the section.
    #[prop(default = "section")]
    class: &'static str,
    /// How to read the section.
    #[prop(optional)]
    note: Option<&'static str>,
    /// What else stands in the header.
    #[prop(optional, into)]
    header: Option<ViewFn>,
    /// What stands below the heading.
    children: Children,
) -> impl IntoView {
    view! {
        <section class=class aria-labelledby=id>
            <header>
                <h2 id=id>{name}</h2>
                {note.map(|it| view! { <p class="note">{it}</p> })}
                {header.map(|it| it.run())}
            </header>
            {children()}
        </section>
    }
}
