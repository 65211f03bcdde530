//! The fields for the query and the documents, which highlight query terms while the user types.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use shared::report::format;
use shared::study::instance_details::{HighlightedText, QueryTermInfo};

use super::highlights::{HighlightLayer, carry_highlights_to_edited_text};
use super::input::PlaygroundInput;
use super::manipulations::ManipulationButtons;
use super::state::{NAMES, PlaygroundState};
use super::text_history::TextUndoHistory;
use crate::first_paint::InOwnTask;
use crate::number_format;
use crate::widgets::details::DetailsOnDemand;
use crate::widgets::text_diff::{
    DiffLabelWording, TextDiffSegment, TextDiffView, WordChange, diff_words, summarize_text_changes,
};

/// Renders the fields of the page.
#[component]
pub(super) fn QueryAndDocumentFields(
    /// The state of the page.
    desk: PlaygroundState,
) -> impl IntoView {
    let marked = Signal::derive(move || {
        let before = desk
            .evaluation_result()
            .map(|it| it.query.clone())
            .unwrap_or_default();
        desk.query
            .with(|now| carry_highlights_to_edited_text(&before, now))
    });
    let is_example = Memo::new(move |_| {
        desk.query
            .with(|it| *it == PlaygroundInput::opening_example().query)
    });
    let n_texts = desk.n_documents_memo();
    let places = move || 0..n_texts.get();
    let three = move || n_texts.get() == 3;
    view! {
        <div class="field-name">
            <label for="playground-query"><span class="label">"Query"</span></label>
            <ExampleMark desk is_example/>
        </div>
        <HighlightedField
            id="playground-query"
            class="typed query"
            value=desk.query
            is_example
            marked
            terms=Signal::derive(move || desk.query_term_infos())
            placeholder="Type a query"
            on_text=Callback::new(move |text: String| desk.query.set(one_line(&text)))
            on_undo=Callback::new(|_| UndoOwner::Browser)
        />
        <div class="docs" class:three=three>
            <For each=places key=|at| *at let:at>
                <InOwnTask><DocumentField desk at/></InOwnTask>
            </For>
        </div>
    }
}

/// Renders the mark of a field that still has the text of the example, while another one has not.
#[component]
fn ExampleMark(desk: PlaygroundState, is_example: Memo<bool>) -> impl IntoView {
    let is_all_example = desk.is_example_memo();
    let mark = move || {
        let is_marked = is_example.get() && !is_all_example.get();
        is_marked.then(|| view! { <span class="label">"example"</span> })
    };
    view! { {mark} }
}

/// Returns whether the screen is wider than a phone, where buttons would push the results down.
fn is_wide_screen() -> bool {
    const PHONE_PX: f64 = 760.0;
    let width = window().inner_width().ok().and_then(|it| it.as_f64());
    width.is_none_or(|it| it > PHONE_PX)
}

fn one_line(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
}

/// Undo or redo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HistoryStep {
    Back,
    Forward,
}

/// Who handles undo: the page or the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UndoOwner {
    Page,
    Browser,
}

/// Renders a field that grows with its text and highlights the query terms in it. The text of the
/// example is selected when the field gets the focus, so that typing replaces it.
#[component]
fn HighlightedField(
    #[prop(into)] id: String,
    class: &'static str,
    #[prop(into)] value: Signal<String>,
    is_example: Memo<bool>,
    marked: Signal<HighlightedText>,
    terms: Signal<Vec<QueryTermInfo>>,
    placeholder: &'static str,
    on_text: Callback<String>,
    on_undo: Callback<HistoryStep, UndoOwner>,
) -> impl IntoView {
    let field = NodeRef::<html::Textarea>::new();
    // Whether the field has got the focus, and nothing was clicked or typed since.
    let is_fresh = StoredValue::new(false);
    let pressed = move |event: ev::KeyboardEvent| {
        is_fresh.set_value(false);
        let with = event.ctrl_key() || event.meta_key();
        let step = match event.key().as_str() {
            "z" if with && !event.shift_key() => HistoryStep::Back,
            "z" | "Z" if with => HistoryStep::Forward,
            "y" if with => HistoryStep::Forward,
            _ => return,
        };
        if on_undo.run(step) == UndoOwner::Page {
            event.prevent_default();
        }
    };
    let typed = move |_| {
        if let Some(field) = field.get_untracked() {
            on_text.run(field.value());
        }
    };
    let select_example = move || {
        if let Some(field) = field.get_untracked()
            && is_example.get_untracked()
        {
            field.select();
        }
    };
    // A click sets the cursor after the focus, so the text is selected once more.
    let clicked = move |_| {
        if is_fresh.get_value() {
            is_fresh.set_value(false);
            select_example();
        }
    };
    view! {
        <div class=class>
            <HighlightLayer marked terms/>
            <textarea
                node_ref=field
                id=id
                rows="1"
                spellcheck="false"
                autocomplete="off"
                placeholder=placeholder
                prop:value=value
                on:focus=move |_| {
                    is_fresh.set_value(true);
                    select_example();
                }
                on:click=clicked
                on:input=typed
                on:keydown=pressed
            ></textarea>
        </div>
    }
}

/// Renders one document with its buttons.
#[component]
fn DocumentField(
    desk: PlaygroundState,
    /// The position of the document.
    at: usize,
) -> impl IntoView {
    let name = NAMES[at];
    let now = Memo::new(move |_| {
        desk.documents
            .with(|it| it.get(at).map(current_text))
            .unwrap_or_default()
    });
    let is_example = Memo::new(move |_| {
        let example = PlaygroundInput::opening_example().documents;
        now.with(|now| example.get(at) == Some(now))
    });
    let marked = Signal::derive(move || {
        let before = desk
            .evaluation_result()
            .and_then(|it| it.docs.get(at).cloned())
            .unwrap_or_default();
        now.with(|now| carry_highlights_to_edited_text(&before, now))
    });
    let size = move || {
        let answer = desk.evaluation_result()?;
        let n_terms = answer.n_terms.get(at).copied()?;
        let gap = answer.term_distances.get(at).copied().flatten();
        Some(document_summary(n_terms, gap))
    };
    let change = move |work: &dyn Fn(&mut TextUndoHistory)| {
        desk.documents.update(|texts| {
            if let Some(text) = texts.get_mut(at) {
                work(text);
            }
        });
    };
    let undo = Callback::new(move |step: HistoryStep| {
        change(&|it| match step {
            HistoryStep::Back => it.undo(),
            HistoryStep::Forward => it.redo(),
        });
        UndoOwner::Page
    });
    let typed = Callback::new(move |text: String| {
        let at = js_sys::Date::now();
        change(&|it| it.record_typing(text.clone(), at));
    });
    let has_past = Memo::new(move |_| {
        desk.documents
            .with(|it| it.get(at).is_some_and(TextUndoHistory::can_undo))
    });
    let id = format!("text-{name}");
    view! {
        <section class="doc" aria-label=format!("Document {name}")>
            <header>
                <label for=id.clone()><b>"Document " {name}</b></label>
                <ExampleMark desk is_example/>
                <span>{size}</span>
            </header>
            <HighlightedField
                id
                class="typed text"
                value=now
                is_example
                marked
                terms=Signal::derive(move || desk.query_term_infos())
                placeholder="Type or paste a document"
                on_text=typed
                on_undo=undo
            />
            <div>
                <div class="btns">
                    <button
                        class="btn bare"
                        type="button"
                        aria-label=format!("Undo Ctrl Z in document {name}")
                        disabled=move || !has_past.get()
                        on:click=move |_| {
                            undo.run(HistoryStep::Back);
                        }
                    >
                        "Undo " <kbd>"Ctrl Z"</kbd>
                    </button>
                    <DocumentButtons desk at/>
                </div>
                <DetailsOnDemand
                    class="edits"
                    is_open=RwSignal::new(is_wide_screen())
                    summary=|| "Edit with one click"
                >
                    <ManipulationButtons desk at/>
                </DetailsOnDemand>
                <ChangesSinceOpened desk at/>
            </div>
        </section>
    }
}

fn current_text(history: &TextUndoHistory) -> String {
    history.current_text().to_owned()
}

/// Describes a document, as in `80 terms, two query terms 3 apart`.
fn document_summary(n_terms: u32, gap: Option<u32>) -> String {
    let size = number_format::format_count_with_noun(u64::from(n_terms), "term", "terms");
    match gap {
        None => size,
        Some(1) => format!("{size}, two query terms adjacent"),
        Some(gap) => {
            format!(
                "{size}, two query terms {} apart",
                format::format_count(u64::from(gap))
            )
        }
    }
}

/// Renders the buttons that add, remove and swap documents.
#[component]
fn DocumentButtons(desk: PlaygroundState, at: usize) -> impl IntoView {
    let n_texts = desk.n_documents_memo();
    let swap = move |_| desk.documents.update(|it| it.swap(at - 1, at));
    let add = move |_| {
        desk.documents
            .update(|it| it.push(TextUndoHistory::new(String::new())))
    };
    let remove = move |_| {
        desk.documents.update(|it| {
            if it.len() > 2 {
                it.remove(at);
            }
        });
    };
    move || {
        let three = n_texts.get() == 3;
        let swap_label = (at > 0).then(|| format!("Swap {} and {}", NAMES[at - 1], NAMES[at]));
        view! {
            {swap_label
                .map(|label| {
                    view! { <button class="btn bare" type="button" on:click=swap>{label}</button> }
                })}
            {(at == 1 && !three)
                .then(|| {
                    view! {
                        <button class="btn bare" type="button" on:click=add>
                            "Add third document"
                        </button>
                    }
                })}
            {three
                .then(|| {
                    view! {
                        <button
                            class="btn bare"
                            type="button"
                            aria-label=format!("Remove document {}", NAMES[at])
                            on:click=remove
                        >
                            "Remove"
                        </button>
                    }
                })}
        }
    }
}

/// What has changed in a document since it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
enum TextChange {
    Nothing,
    Words(Vec<TextDiffSegment>),
    /// The changed part is too long to be compared.
    Most,
}

/// Renders the word-by-word changes of a document since it was opened.
#[component]
fn ChangesSinceOpened(desk: PlaygroundState, at: usize) -> impl IntoView {
    let change = Memo::new(move |_| {
        desk.documents
            .with(|texts| texts.get(at).map_or(TextChange::Nothing, text_change))
    });
    move || match change.get() {
        TextChange::Nothing => ().into_any(),
        TextChange::Most => {
            view! { <p class="note changed">"Almost every word was changed."</p> }.into_any()
        }
        TextChange::Words(pieces) => view! {
            <details class="changed">
                <summary>{summarize_text_changes(&pieces, DiffLabelWording::Edited)}</summary>
                <TextDiffView pieces/>
            </details>
        }
        .into_any(),
    }
}

fn text_change(text: &TextUndoHistory) -> TextChange {
    if text.original_text().trim().is_empty() || text.original_text() == text.current_text() {
        return TextChange::Nothing;
    }
    match diff_words(text.original_text(), text.current_text()) {
        None => TextChange::Most,
        Some(pieces) if pieces.iter().all(|it| it.change == WordChange::Unchanged) => {
            TextChange::Nothing
        }
        Some(pieces) => TextChange::Words(pieces),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_its_length_and_how_near_query_terms_stand() {
        assert_eq!(document_summary(1, None), "1 term");
        assert_eq!(
            document_summary(80, Some(1)),
            "80 terms, two query terms adjacent"
        );
        assert_eq!(
            document_summary(1200, Some(14)),
            "1,200 terms, two query terms 14 apart"
        );
    }

    #[test]
    fn a_change_is_counted_in_words() {
        let said = |before: &str, after: &str| {
            let mut text = TextUndoHistory::new(before.to_owned());
            text.record_button_edit(after.to_owned());
            match text_change(&text) {
                TextChange::Nothing => "blank".to_owned(),
                TextChange::Most => "most".to_owned(),
                TextChange::Words(pieces) => {
                    summarize_text_changes(&pieces, DiffLabelWording::Edited)
                }
            }
        };
        assert_eq!(said("a b", "a b c d"), "2 words added");
        assert_eq!(said("a b", "b"), "1 word removed");
        assert_eq!(said("a b", "b c"), "1 word added, 1 removed");
        assert_eq!(said("a b", "a  b"), "blank");
        assert_eq!(said("", "a"), "blank");
    }
}
