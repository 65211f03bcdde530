//! The optional comment on an answer: whether the axiom's reason matters, tags, and a note.

use leptos::prelude::*;
use shared::annotation::AxiomReasonRating;
use shared::annotation::content::ProbeSummary;
use shared::annotation::event::RatingTagsAndNote;
use shared::user_text::{MAX_NOTE_CHARS, MAX_TAG_CHARS, normalize_annotation_tag};

use crate::keyboard;
use crate::widgets::form::RadioButton;

/// The id of the note field.
const NOTE: &str = "note";

/// The comment on the current item, as far as it is written.
#[derive(Clone, Copy)]
pub(super) struct CommentDraft {
    value: RwSignal<RatingTagsAndNote>,
    /// Whether the note field is shown.
    is_note_open: RwSignal<bool>,
}

impl CommentDraft {
    pub(super) fn new() -> CommentDraft {
        CommentDraft {
            value: RwSignal::new(RatingTagsAndNote::default()),
            is_note_open: RwSignal::new(false),
        }
    }

    /// Replaces the comment, because another item is displayed.
    pub(super) fn replace_comment(self, words: RatingTagsAndNote) {
        self.is_note_open.set(!words.note.is_empty());
        self.value.set(words);
    }

    pub(super) fn current_comment(self) -> RatingTagsAndNote {
        self.value.get_untracked()
    }

    /// Switches the rating of the reason to the next of yes, no and none, and returns it in words.
    pub(super) fn cycle_reason_rating(self) -> &'static str {
        let (next, word) = match self.value.with_untracked(|it| it.reason_rating) {
            None => (
                Some(AxiomReasonRating::Matters),
                "The axiom’s reason matters",
            ),
            Some(AxiomReasonRating::Matters) => (
                Some(AxiomReasonRating::DoesNotMatter),
                "The axiom’s reason does not matter",
            ),
            Some(AxiomReasonRating::DoesNotMatter) => (None, "No answer about the axiom’s reason"),
        };
        self.value.update(|it| it.reason_rating = next);
        word
    }

    /// Shows the note field and moves the focus there.
    pub(super) fn focus_note_field(self) {
        self.is_note_open.set(true);
        keyboard::focus_element_on_next_frame(NOTE);
    }

    fn toggle_tag(self, tag: &str) {
        self.value.update(|it| {
            let before = it.tags.len();
            it.tags.retain(|known| known != tag);
            if it.tags.len() == before {
                it.tags.push(tag.to_owned());
            }
        });
    }
}

/// Renders the controls of a comment.
#[component]
pub(super) fn CommentFields(
    /// The probe whose reason is rated.
    probe: ProbeSummary,
    /// The tags of the task, each with a button.
    tags: Vec<String>,
    /// The comment that is edited.
    comment: CommentDraft,
    /// Whether the item has been decided. Before, the reason of the axiom would tell annotators
    /// which document it prefers.
    is_decided: bool,
) -> impl IntoView {
    let CommentDraft {
        value: words,
        is_note_open: noting,
    } = comment;
    let typed = RwSignal::new(String::new());
    let wrong = RwSignal::new(None::<String>);
    let add = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        match normalize_annotation_tag(&typed.get_untracked()) {
            Ok(tag) => {
                if words.with_untracked(|it| !it.tags.contains(&tag)) {
                    comment.toggle_tag(&tag);
                }
                typed.set(String::new());
                wrong.set(None);
            }
            Err(error) => wrong.set(Some(error.to_string())),
        }
    };
    let offered = tags.clone();
    // The annotator's own tags come after those of the task.
    let all = Memo::new(move |_| {
        let mut all = offered.clone();
        let own = words.with(|it| it.tags.clone());
        all.extend(own.into_iter().filter(|it| !offered.contains(it)));
        all
    });
    let tag = move |tag: String| {
        let (of, shown) = (tag.clone(), tag.clone());
        let on = move || words.read().tags.contains(&of).to_string();
        view! {
            <button
                class="btn tag"
                type="button"
                aria-pressed=on
                on:click=move |_| comment.toggle_tag(&tag)
            >
                {shown}
            </button>
        }
    };
    let matters = [
        (Some(AxiomReasonRating::Matters), "yes"),
        (Some(AxiomReasonRating::DoesNotMatter), "no"),
        (None, "no answer"),
    ]
    .map(|(value, word)| {
        view! {
            <RadioButton
                group="matters"
                chosen=move || words.read().reason_rating == value
                choose=move || words.update(|it| it.reason_rating = value)
            >
                {word}
            </RadioButton>
        }
    });
    let reason = if probe.short_title.is_empty() {
        probe.name
    } else {
        format!("{}, {}", probe.name, probe.short_title)
    };
    let rating = is_decided.then(|| {
        view! {
            <fieldset class="bar">
                <legend class="label">
                    {format!("Does the axiom’s reason ({reason}) matter here? ")} <kbd>"M"</kbd>
                </legend>
                <div class="choice">{matters}</div>
            </fieldset>
        }
    });
    let note = move || {
        noting.get().then(|| {
            view! {
                <label class="field">
                    <span class="label">"Note"</span>
                    <textarea
                        id=NOTE
                        rows="2"
                        maxlength=MAX_NOTE_CHARS.to_string()
                        prop:value=move || words.read().note.clone()
                        on:input:target=move |event| {
                            words.update(|it| it.note = event.target().value());
                        }
                    ></textarea>
                    <span class="note">
                        "Esc leaves the field; the note is sent with the answer."
                    </span>
                </label>
            }
        })
    };
    view! {
        <section class="beside" aria-labelledby="beside-title">
            <h2 class="label" id="beside-title">"Optional"</h2>
            {rating}
            <div class="btns">
                <For each=move || all.get() key=String::clone children=tag/>
                <form class="btns" on:submit=add>
                    <label class="field own">
                        <span class="label">"Your own tag"</span>
                        <input
                            type="text"
                            maxlength=MAX_TAG_CHARS.to_string()
                            prop:value=move || typed.get()
                            on:input:target=move |event| typed.set(event.target().value())
                        />
                    </label>
                    <button class="btn" type="submit">"Add"</button>
                </form>
            </div>
            {move || {
                let wrong = wrong.get();
                wrong.map(|it| view! { <p class="verdict failed" role="alert">{it}</p> })
            }}
            {note}
        </section>
    }
}
