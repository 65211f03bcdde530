//! The buttons that manipulate a document. The worker applies the same manipulations as for a
//! study.

use leptos::prelude::*;
use shared::api::worker::ManipulateTextRequest;
use shared::probe::Manipulation;
use shared::study::playground::PlaygroundManipulationInput;

use super::state::{AppliedManipulation, NAMES, PlaygroundState};
use super::text_history::TextUndoHistory;
use crate::api::{self, RequestError};

/// The manipulations that have a button of their own.
const QUICK_MANIPULATIONS: [Manipulation; 6] = [
    Manipulation::Repeat(2),
    Manipulation::ShuffleWords,
    Manipulation::ReverseWords,
    Manipulation::RemoveStopWords,
    Manipulation::DeleteLastSentence,
    Manipulation::AppendQuery,
];

/// The outcome of the last press of a button.
#[derive(Debug, Clone, PartialEq, Eq)]
enum EditOutcome {
    /// The document was edited.
    Done,
    Waiting,
    /// The manipulation changes nothing in this document.
    Unchanged(Manipulation),
    Failed(RequestError),
}

/// Renders the buttons below a document.
#[component]
pub(super) fn ManipulationButtons(
    /// The state of the page.
    desk: PlaygroundState,
    /// The position of the document.
    at: usize,
) -> impl IntoView {
    let (name, other) = (NAMES[at], if at == 0 { 1 } else { 0 });
    let said = RwSignal::new(EditOutcome::Done);
    let chosen = RwSignal::new(Manipulation::ShuffleSentences);
    let is_empty = move || {
        let empty = |it: &TextUndoHistory| it.current_text().trim().is_empty();
        desk.documents.with(|it| it.get(at).is_none_or(empty))
    };
    let buttons = QUICK_MANIPULATIONS.map(|it| {
        view! {
            <button
                class="btn"
                type="button"
                disabled=is_empty
                on:click=move |_| manipulate(desk, it, at, at, said)
            >
                {it.name()}
            </button>
        }
    });
    let offered = Manipulation::ALL
        .iter()
        .filter(|it| it.needs_only_doc_and_query());
    let options = offered.map(|&it| {
        let selected = move || chosen.get() == it;
        view! { <option value=it.slug() prop:selected=selected>{it.name()}</option> }
    });
    let options = options.collect_view();
    let choose = move |event| {
        if let Ok(it) = event_target_value(&event).parse() {
            chosen.set(it);
        }
    };
    let note = move || match said.get() {
        EditOutcome::Done => chosen.get().probe_description().statement.into_any(),
        EditOutcome::Waiting => "Editing the document".into_any(),
        EditOutcome::Unchanged(it) => {
            format!("{} does not change document {name}.", it.name()).into_any()
        }
        EditOutcome::Failed(error) => {
            view! { <span class="verdict failed">{error.to_string()}</span> }.into_any()
        }
    };
    view! {
        <div class="btns tools" role="group" aria-label=format!("Edit document {name}")>
            {buttons}
        </div>
        <div class="btns tools" role="group" aria-label=format!("Manipulate document {name}")>
            <select aria-label=format!("Manipulation of document {name}") on:change=choose>
                {options}
            </select>
            <button
                class="btn"
                type="button"
                aria-label=format!("Apply to document {name}")
                disabled=is_empty
                on:click=move |_| manipulate(desk, chosen.get_untracked(), at, at, said)
            >
                "Apply"
            </button>
            <button
                class="btn"
                type="button"
                aria-label=format!("Write to document {}, from document {name}", NAMES[other])
                disabled=is_empty
                on:click=move |_| manipulate(desk, chosen.get_untracked(), at, other, said)
            >
                "Write to document " {NAMES[other]}
            </button>
        </div>
        <p class="note" role="status">{note}</p>
    }
}

/// Manipulates a document, and puts the result into its own place or another one.
fn manipulate(
    desk: PlaygroundState,
    by: Manipulation,
    from: usize,
    to: usize,
    said: RwSignal<EditOutcome>,
) {
    let sheet = untrack(|| desk.current_input());
    let Some(text) = sheet.documents.get(from).cloned() else {
        return;
    };
    let own = sheet.to_playground_request().map(|it| it.analyzer);
    let analyzer = untrack(|| desk.collection_analyzer()).or(own.ok());
    let changing = PlaygroundManipulationInput {
        query: sheet.query,
        document: text.clone(),
        other_docs: Vec::new(),
        manipulations: vec![by],
        analyzer: analyzer.unwrap_or_default(),
    };
    said.set(EditOutcome::Waiting);
    leptos::task::spawn_local(async move {
        let made = match api::send_and_parse(&ManipulateTextRequest {
            manipulation: changing,
        })
        .await
        {
            Err(error) => return drop(said.try_set(EditOutcome::Failed(error))),
            Ok(made) => made.into_iter().next().flatten(),
        };
        let Some(made) = made else {
            return drop(said.try_set(EditOutcome::Unchanged(by)));
        };
        // A document that was edited in the meantime is kept, and a page that was left is not
        // touched.
        let put = desk.documents.try_update(|texts| {
            let is_there = texts.get(from).is_some_and(|it| it.current_text() == text);
            match texts.get_mut(to).filter(|_| is_there) {
                Some(place) => place.record_button_edit(made.clone()),
                None => return false,
            }
            true
        });
        let _ = said.try_set(EditOutcome::Done);
        if put == Some(true) && from != to {
            desk.manipulated.set(Some(AppliedManipulation {
                manipulation: by,
                original: (from, text),
                derived: (to, made),
            }));
        }
    });
}
