//! A section of a page.

use leptos::prelude::*;

use super::term::text_with_terms;

/// Renders a section with its heading.
#[component]
pub(crate) fn Section(
    /// The id of the heading, which is the anchor of the section.
    id: &'static str,
    /// The text of the heading.
    #[prop(into)]
    name: String,
    /// The classes of the section.
    #[prop(default = "section")]
    class: &'static str,
    /// How to read the section.
    #[prop(optional)]
    note: Option<&'static str>,
    /// Further content of the header.
    #[prop(optional, into)]
    header: Option<ViewFn>,
    /// The content below the heading.
    children: Children,
) -> impl IntoView {
    view! {
        <section class=class aria-labelledby=id>
            <header>
                <h2 id=id>{name}</h2>
                {note.map(|it| view! { <p class="note">{text_with_terms(it)}</p> })}
                {header.map(|it| it.run())}
            </header>
            {children()}
        </section>
    }
}
