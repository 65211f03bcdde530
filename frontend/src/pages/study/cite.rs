//! The citation of the study in its current view, with its hashes and address.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use shared::report::format;
use shared::study::overview::StudyOverview;

use crate::widgets::clipboard::copy_to_clipboard;

/// Renders the Cite dialog, with the citation of the study in this view as plain text and BibTeX.
#[component]
pub(super) fn CiteDialog(
    /// The overview for the current controls.
    overview: Memo<Arc<StudyOverview>>,
    /// The dialog, which the header of the page opens.
    dialog: NodeRef<html::Dialog>,
) -> impl IntoView {
    let here = || window().location().href().unwrap_or_default();
    // The address is read when the dialog is opened, since it contains the controls.
    let opened = RwSignal::new(0_u32);
    let plain = move || {
        opened.track();
        citation(&overview.read(), &here())
    };
    let bibtex = move || {
        opened.track();
        bibtex(&overview.read(), &here())
    };
    let close = move |_| {
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
    };
    view! {
        <dialog
            node_ref=dialog
            class="wide-dialog"
            aria-labelledby="cite-title"
            on:toggle=move |_| opened.update(|it| *it += 1)
        >
            <header>
                <h2 id="cite-title">"Cite this view"</h2>
                <button class="btn" type="button" on:click=close>"Close" <kbd>"Esc"</kbd></button>
            </header>
            <CopyableText label="Text" text=Signal::derive(plain)/>
            <CopyableText label="BibTeX" text=Signal::derive(bibtex)/>
        </dialog>
    }
}

/// Renders a text with a button that copies it.
#[component]
fn CopyableText(label: &'static str, text: Signal<String>) -> impl IntoView {
    let state = RwSignal::new("");
    let copy = move |_| {
        leptos::task::spawn_local(async move {
            let said = match copy_to_clipboard(&text.get_untracked()).await {
                true => "Copied",
                false => "The browser blocked copying: select the text",
            };
            let _ = state.try_set(said);
        });
    };
    view! {
        <section class="copied">
            <div class="btns">
                <h3>{label}</h3>
                <button class="btn" type="button" on:click=copy>"Copy"</button>
                <span class="note" role="status">{move || state.get()}</span>
            </div>
            <pre tabindex="0" role="group" aria-label=label>{move || text.get()}</pre>
        </section>
    }
}

fn citation(overview: &StudyOverview, address: &str) -> String {
    format!(
        "{}. Axioscope study {}, instances {}, collection {}, variant {}, mined {} with \
         Axioscope {}. {address}",
        overview.title,
        overview.name,
        overview.instances_hash,
        overview.collection_hash,
        overview.variant.slug(),
        format::spell_out_iso_date(&overview.created),
        overview.software,
    )
}

fn bibtex(overview: &StudyOverview, address: &str) -> String {
    let year = overview.created.get(..4).unwrap_or_default();
    let title = one_line(&overview.title);
    format!(
        "@misc{{axioscope-{},\n  title = {{{title}}},\n  year = {{{year}}},\n  howpublished = \
         {{Axioscope {} study {}, instances {}, variant {}}},\n  url = {{{address}}}\n}}",
        overview.name,
        overview.software,
        overview.name,
        overview.instances_hash,
        overview.variant.slug(),
    )
}

/// Returns the text on one line without braces, which would end the BibTeX field.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace(['{', '}', '\\'], "")
}
