//! Restores the texts of a study that was published without them, from the user's copy of the
//! collection.

use leptos::ev::{Event, Targeted};
use leptos::prelude::*;
use shared::first_paint::WITHHELD_TEXTS_NOTICE;
use web_sys::{DragEvent, FileList, HtmlInputElement};

use crate::api::{RequestError, transport};
use crate::widgets::error_message::LoadErrorMessage;

/// The state of restoring the texts.
#[derive(Debug, Clone, PartialEq)]
enum RestoreState {
    Wanted,
    Reading,
    Refused(RequestError),
}

/// Asks for the user's copy of the collection, and reports when the texts are restored.
#[component]
pub(super) fn RestoreTextsFromFiles(
    /// The name of the study.
    study: String,
    /// Called once the texts are restored.
    done: Callback<()>,
) -> impl IntoView {
    let copy = RwSignal::new(RestoreState::Wanted);
    let over = RwSignal::new(false);
    let name = StoredValue::new(study);
    let take = move |list: Option<FileList>| {
        let Some(list) = list.filter(|it| it.length() > 0) else {
            return;
        };
        let files: js_sys::Array = (0..list.length()).filter_map(|at| list.get(at)).collect();
        copy.set(RestoreState::Reading);
        leptos::task::spawn_local(async move {
            match transport::restore_study_texts(&name.get_value(), &files).await {
                Ok(()) => done.run(()),
                Err(error) => {
                    let _ = copy.try_set(RestoreState::Refused(error));
                }
            }
        });
    };
    let dropped = move |event: DragEvent| {
        event.prevent_default();
        over.set(false);
        take(event.data_transfer().and_then(|it| it.files()));
    };
    let chosen = move |event: Targeted<Event, HtmlInputElement>| {
        let picker = event.target();
        take(picker.files());
        // This lets the user choose the same file again.
        picker.set_value("");
    };
    let said = move || match copy.get() {
        RestoreState::Wanted => None,
        RestoreState::Reading => {
            Some(view! { <p class="note" role="status">"Reading your copy"</p> }.into_any())
        }
        RestoreState::Refused(error) => Some(view! { <LoadErrorMessage error/> }.into_any()),
    };
    view! {
        <section class="section" aria-label="Missing document texts">
            <div
                class="drop"
                class:over=move || over.get()
                on:dragover=move |event: DragEvent| {
                    event.prevent_default();
                    over.set(true);
                }
                on:dragleave=move |_| over.set(false)
                on:drop=dropped
            >
                <span>{WITHHELD_TEXTS_NOTICE}</span>
                <label class="btn file">
                    "Choose collection"
                    <input type="file" class="unseen" multiple on:change:target=chosen/>
                </label>
            </div>
            {said}
        </section>
    }
}
