//! A section of a page.

use leptos::prelude::*;

/// A section with its heading.
#[component]
pub(crate) fn Section(
    /// The classes of the section.
    #[prop(default = "section")]
    class: &'static str,
    /// Of the heading, and the anchor of the section.
    id: &'static str,
    /// The heading.
    name: &'static str,
    /// How to read the section, or what it has to show now.
    #[prop(optional, into)]
    note: Option<ViewFn>,
    /// The role of the note: `status` where it is read out as it changes.
    #[prop(optional)]
    role: Option<&'static str>,
    /// What stands below the heading.
    children: Children,
) -> impl IntoView {
    view! {
        <section class=class aria-labelledby=id>
            <header>
                <h2 id=id>{name}</h2>
                {note.map(|it| view! { <p class="note" role=role>{move || it.run()}</p> })}
            </header>
            {children()}
        </section>
    }
}
