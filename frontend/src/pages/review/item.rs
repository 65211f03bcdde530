//! An item as it is shown for a decision: the question, the query, the documents, and the answers
//! with their keys. It is the same for annotators and for visitors who try it.

use leptos::prelude::*;
use shared::annotation::content::AnnotationItemContent;
use shared::annotation::{AnnotatorAnswer, DocumentDisplayOrder, DocumentPreference};
use shared::probe::ScoreClaimKind;
use shared::study::instance_details::HighlightedText;

use crate::widgets::highlighted_text::HighlightedTextView;

/// The id of the element that gets the focus when an item is displayed.
pub(super) const ITEM: &str = "item";

/// Renders an item's question and its query, with or without highlighted terms.
#[component]
pub(super) fn ItemQuestion(
    /// The query, the documents and the claim that the item asks about.
    content: AnnotationItemContent,
    /// The note above the question.
    #[prop(optional_no_strip)]
    over: Option<&'static str>,
    /// Whether query terms are highlighted.
    #[prop(into)]
    marks: Signal<bool>,
) -> impl IntoView {
    let AnnotationItemContent {
        query,
        terms,
        claim,
        ..
    } = content;
    let shown = move || {
        let (marked, terms) = (with_optional_highlights(marks.get(), &query), terms.clone());
        view! { <HighlightedTextView marked terms/> }
    };
    view! {
        <div class="ask">
            {over.map(|it| view! { <p class="label"><b>{it}</b></p> })}
            <p class="label" id="question">{question(claim)}</p>
            <h1 class="query" id=ITEM tabindex="-1" dir="auto">{shown}</h1>
            {(claim.arity() == 3)
                .then(|| {
                    view! {
                        <p class="note">
                            "Document B covers more of the query than A, and C more than B. The \
                             axiom predicts that each further step helps less. Compare the \
                             improvement from A to B with that from B to C."
                        </p>
                    }
                })}
        </div>
    }
}

/// Renders the buttons after a decision with feedback.
#[component]
pub(super) fn ContinueAfterFeedbackButtons(
    /// Shows the next item.
    go_on: impl Fn() + 'static,
    /// Undoes the decision.
    undo: impl Fn() + 'static,
) -> impl IntoView {
    view! {
        <div class="btns">
            <ButtonWithShortcutKey class="btn main" key="Enter" press=go_on>
                "Continue"
            </ButtonWithShortcutKey>
            <ButtonWithShortcutKey key="U" press=undo>"Undo"</ButtonWithShortcutKey>
        </div>
    }
}

/// Renders a button that shows the key with the same effect.
#[component]
pub(super) fn ButtonWithShortcutKey(
    /// The classes of the button.
    #[prop(default = "btn bare")]
    class: &'static str,
    /// The key, as shown on the button.
    key: &'static str,
    /// Runs when the button is pressed.
    press: impl Fn() + 'static,
    /// Whether the button is disabled.
    #[prop(default = Signal::stored(false))]
    disabled: Signal<bool>,
    /// The label of the button.
    children: Children,
) -> impl IntoView {
    view! {
        <button class=class type="button" disabled=move || disabled.get() on:click=move |_| press()>
            {children()} <kbd>{key}</kbd>
        </button>
    }
}

/// Renders the documents in their order on screen.
#[component]
pub(super) fn ItemDocuments(
    /// The query and the documents of the item.
    content: AnnotationItemContent,
    /// The order of the documents on screen.
    sides: DocumentDisplayOrder,
    /// Whether query terms are highlighted.
    #[prop(into)]
    marks: Signal<bool>,
) -> impl IntoView {
    let AnnotationItemContent {
        documents: texts,
        terms,
        texts_withheld: withheld,
        ..
    } = content;
    let three = texts.len() == 3;
    let texts = in_screen_order(texts, sides);
    let each = texts.into_iter().zip(LETTERS).map(|(marked, letter)| {
        let terms = terms.clone();
        let body = match marked.text.trim().is_empty() {
            true if withheld => {
                view! { <p class="note">"This study was published without document texts. Skip \
                the item."</p> }
                .into_any()
            }
            true => view! { <p class="note">"This document is empty."</p> }.into_any(),
            false => {
                let shown = move || {
                    let (marked, terms) = (
                        with_optional_highlights(marks.get(), &marked),
                        terms.clone(),
                    );
                    view! { <HighlightedTextView marked terms/> }
                };
                view! { <p class="text" dir="auto">{shown}</p> }.into_any()
            }
        };
        view! {
            <article class="doc">
                <header><b>{letter}</b></header>
                {body}
            </article>
        }
    });
    view! { <div class="docs" class:three=three>{each.collect_view()}</div> }
}

/// Renders the answers, each with its key.
#[component]
pub(super) fn AnswerButtons(
    /// The kind of claim that the question is about.
    claim: ScoreClaimKind,
    /// The earlier answer, in terms of the order on screen.
    before: Option<AnnotatorAnswer>,
    /// Receives an answer, in terms of the order on screen.
    choose: Callback<AnnotatorAnswer>,
) -> impl IntoView {
    let each = ANSWERS.iter().zip(1..).map(|(&answer, key)| {
        let was = before == Some(answer);
        view! {
            <button class="btn" class:was=was type="button" on:click=move |_| choose.run(answer)>
                {BUTTON_LABELS.answer_label(claim, answer)} " " <kbd>{key}</kbd>
                {was.then(|| view! { <span class="label">"earlier answer"</span> })}
            </button>
        }
    });
    view! {
        <div class="decide" role="group" aria-labelledby="question">{each.collect_view()}</div>
    }
}

/// The answers in the order of their keys.
const ANSWERS: [AnnotatorAnswer; 4] = [
    AnnotatorAnswer::First,
    AnnotatorAnswer::Equal,
    AnnotatorAnswer::Second,
    AnnotatorAnswer::CannotSay,
];

const LETTERS: [&str; 3] = ["A", "B", "C"];

/// Returns the answer of a key, in terms of the order on screen.
pub(super) fn answer_for_key(key: &str) -> Option<AnnotatorAnswer> {
    let place: usize = key.parse().ok()?;
    ANSWERS.get(place.checked_sub(1)?).copied()
}

/// Returns the question for a kind of claim.
fn question(claim: ScoreClaimKind) -> &'static str {
    match claim {
        ScoreClaimKind::Higher | ScoreClaimKind::NotLower | ScoreClaimKind::Different => {
            "Which document answers the query better?"
        }
        ScoreClaimKind::DiminishingGain => "Which step helps more: from A to B, or from B to C?",
    }
}

/// The labels of the answers to a question, in the order of the keys.
pub(super) struct AnswerLabels {
    /// The labels for a comparison of two documents.
    pub(super) documents: [&'static str; 4],
    /// The labels for a comparison of the steps between three documents.
    pub(super) steps: [&'static str; 4],
}

impl AnswerLabels {
    /// Returns the label of an answer to the question of a claim.
    pub(super) fn answer_label(
        &self,
        claim: ScoreClaimKind,
        answer: AnnotatorAnswer,
    ) -> &'static str {
        let [first, equal, second, cannot_say] = match claim {
            ScoreClaimKind::DiminishingGain => self.steps,
            ScoreClaimKind::Higher | ScoreClaimKind::NotLower | ScoreClaimKind::Different => {
                self.documents
            }
        };
        match answer {
            AnnotatorAnswer::First => first,
            AnnotatorAnswer::Equal => equal,
            AnnotatorAnswer::Second => second,
            AnnotatorAnswer::CannotSay => cannot_say,
        }
    }
}

/// The labels of the answers on buttons, in terms of the order on screen.
pub(super) const BUTTON_LABELS: AnswerLabels = AnswerLabels {
    documents: ["A is better", "Equal", "B is better", "Cannot say"],
    steps: ["A to B", "Equal", "B to C", "Cannot say"],
};

/// The labels of the answers within a sentence, in terms of the order on screen.
pub(super) const SENTENCE_LABELS: AnswerLabels = AnswerLabels {
    documents: ["A is better", "both are equal", "B is better", "cannot say"],
    steps: [
        "the step from A to B helps more",
        "both steps help the same",
        "the step from B to C helps more",
        "cannot say",
    ],
};

/// The labels of the answers, in terms of the order of the claim.
pub(super) const CLAIM_ORDER_LABELS: AnswerLabels = AnswerLabels {
    documents: [
        "document 1 is better",
        "equal",
        "document 2 is better",
        "cannot say",
    ],
    steps: [
        "first step helps more",
        "both steps help the same",
        "second step helps more",
        "cannot say",
    ],
};

/// Returns the answer that expresses a preference.
pub(super) fn answer_for_preference(prefers: DocumentPreference) -> AnnotatorAnswer {
    match prefers {
        DocumentPreference::First => AnnotatorAnswer::First,
        DocumentPreference::Equal => AnnotatorAnswer::Equal,
        DocumentPreference::Second => AnnotatorAnswer::Second,
    }
}

/// Returns the documents in the order of the screen.
fn in_screen_order(
    mut texts: Vec<HighlightedText>,
    sides: DocumentDisplayOrder,
) -> Vec<HighlightedText> {
    if sides == DocumentDisplayOrder::Swapped {
        texts.reverse();
    }
    texts
}

fn with_optional_highlights(marks: bool, marked: &HighlightedText) -> HighlightedText {
    let mut shown = marked.clone();
    if !marks {
        shown.marks.clear();
    }
    shown
}

/// Returns whether a button or link has the focus, which Enter would activate.
pub(super) fn is_interactive_element_focused() -> bool {
    let active = document().active_element();
    active.is_some_and(|it| matches!(it.tag_name().as_str(), "BUTTON" | "A" | "SUMMARY" | "INPUT"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stand_in_the_order_of_the_screen() {
        let keys = ["1", "2", "3", "4", "5", "0", "x"].map(answer_for_key);
        assert_eq!(
            keys,
            [
                Some(AnnotatorAnswer::First),
                Some(AnnotatorAnswer::Equal),
                Some(AnnotatorAnswer::Second),
                Some(AnnotatorAnswer::CannotSay),
                None,
                None,
                None
            ]
        );
    }

    #[test]
    fn texts_stand_as_the_server_turned_them() {
        let text = |it: &str| HighlightedText {
            text: it.to_owned(),
            ..HighlightedText::default()
        };
        let texts = vec![text("claimed first"), text("claimed second")];
        let swapped = in_screen_order(texts.clone(), DocumentDisplayOrder::Swapped);
        assert_eq!(swapped[0].text, "claimed second");
        assert_eq!(
            in_screen_order(texts.clone(), DocumentDisplayOrder::ClaimOrder),
            texts
        );
    }
}
