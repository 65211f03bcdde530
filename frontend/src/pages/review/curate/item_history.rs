//! The full history of one item: its content, its annotations and all its events.

use leptos::prelude::*;
use shared::annotation::content::AnnotationItemContent;
use shared::annotation::event::AnnotationEventAction;
use shared::api::annotation::{EventWithStatus, ItemHistoryResponse, PersonIdWithName};
use shared::probe::ScoreClaimKind;

use super::labels;
use super::state::person_display_name;
use crate::number_format::format_elapsed_time;
use crate::pages::people::format_utc_minute;
use crate::widgets::highlighted_text::HighlightedTextView;
use crate::widgets::table::{ColumnHeading, HeadedTable};
use crate::widgets::variant::axiom_variant_label;

/// Renders an item with its history. The documents are in the order of the claim.
#[component]
pub(super) fn ItemHistoryView(
    /// The history as the server returns it.
    found: ItemHistoryResponse,
    /// Whether the preferences of the rankers are shown.
    shows_rankers: bool,
) -> impl IntoView {
    let claim = found.content.claim;
    let content = &found.content;
    let probe = format!(
        "{}, {}",
        content.probe.name,
        axiom_variant_label(content.variant)
    );
    let together =
        labels::consensus_label(found.answers.adjudicated_or_majority_preference(), claim);
    let rankers = content.rankers.iter().map(|it| {
        let prefers = it
            .preference
            .map_or("not scored", |it| labels::preference_label(it, claim));
        view! { <li><b>{it.name.clone()}</b> " " {prefers}</li> }
    });
    let rankers = match shows_rankers {
        true => view! { <ul class="facts">{rankers.collect_view()}</ul> }.into_any(),
        false => view! { <p class="note">"Shown after your decision."</p> }.into_any(),
    };
    let rows = found
        .events
        .iter()
        .map(|it| event_row(it, &found.annotators, claim));
    let rows = rows.collect_view();
    view! {
        <p class="facts">
            <span>{probe}</span>
            <span>{labels::annotation_item_role_label(&found.item.role, claim)}</span>
            <span>"annotators: " {together}</span>
        </p>
        <ItemContentView content=found.content.clone()/>
        <h3>"Rankers"</h3>
        {rankers}
        <h3>"History"</h3>
        <HeadedTable
            name="History"
            caption="Events in chronological order"
            class="data"
            heads=[
                ColumnHeading::for_text_column("annotator"),
                ColumnHeading::for_text_column("event"),
                ColumnHeading::for_text_column("note"),
                ColumnHeading::for_number_column("time"),
                ColumnHeading::for_text_column("date"),
                ColumnHeading::for_text_column("status"),
            ]
            scrolls=true
        >
            {rows}
        </HeadedTable>
    }
}

/// Renders the query and the documents. They are untrusted text, never HTML.
#[component]
fn ItemContentView(content: AnnotationItemContent) -> impl IntoView {
    let AnnotationItemContent {
        query,
        terms,
        documents: texts,
        texts_withheld: withheld,
        ..
    } = content;
    let three = texts.len() == 3;
    let of_query = terms.clone();
    let texts = texts.into_iter().zip(1..).map(|(marked, at)| {
        let terms = terms.clone();
        let body = match marked.text.trim().is_empty() {
            true if withheld => {
                view! { <p class="note">"The text is not published."</p> }.into_any()
            }
            true => view! { <p class="note">"This document is empty."</p> }.into_any(),
            false => view! {
                <p class="text" dir="auto"><HighlightedTextView marked terms/></p>
            }
            .into_any(),
        };
        view! {
            <article class="doc">
                <header><b>{format!("Document {at}")}</b></header>
                {body}
            </article>
        }
    });
    let texts = texts.collect_view();
    view! {
        <p class="query" dir="auto"><HighlightedTextView marked=query terms=of_query/></p>
        <div class="docs" class:three=three>{texts}</div>
    }
}

/// Renders the row of one event.
fn event_row(
    done: &EventWithStatus,
    names: &[PersonIdWithName],
    claim: ScoreClaimKind,
) -> impl IntoView + use<> {
    let event = &done.entry.event;
    let (what, note) = event_text(&event.action, names, claim);
    let spent = match &event.action {
        AnnotationEventAction::Decided(it) => {
            Some(format_elapsed_time(it.duration_ms as f64 / 1_000.0))
        }
        _ => None,
    };
    view! {
        <tr>
            <th scope="row"><bdi>{person_display_name(names, done.entry.person)}</bdi></th>
            <td>{what}</td>
            <td class="noted" dir="auto">{note}</td>
            <td class="num">{spent}</td>
            <td>{format_utc_minute(done.entry.received_ms)}</td>
            <td>{labels::annotation_event_status_label(done.status)}</td>
        </tr>
    }
}

/// Returns the description of an event, and the note that was written with it.
fn event_text(
    what: &AnnotationEventAction,
    names: &[PersonIdWithName],
    claim: ScoreClaimKind,
) -> (String, String) {
    match what {
        AnnotationEventAction::Decided(it) => {
            let answer = labels::answer_label_in_claim_order(it.answer, claim);
            let matters = it.comment.reason_rating.map(labels::reason_rating_label);
            let mut said = vec![answer];
            said.extend(matters);
            let mut noted = it.comment.tags.clone();
            let note = &it.comment.note;
            noted.extend((!note.is_empty()).then(|| note.clone()));
            (said.join("; "), noted.join(" · "))
        }
        AnnotationEventAction::Skipped(it) => (
            format!("skipped: {}", labels::skip_reason_label(it.reason)),
            it.note.clone(),
        ),
        AnnotationEventAction::Reported(it) => ("reported".to_owned(), it.note.clone()),
        AnnotationEventAction::Undone { .. } => ("undone".to_owned(), String::new()),
        AnnotationEventAction::Adjudicated(it) => {
            let answer = labels::answer_label_in_claim_order(it.answer, claim);
            (format!("adjudicated: {answer}"), it.note.clone())
        }
        AnnotationEventAction::Excluded(it) => {
            let who = person_display_name(names, it.person);
            (format!("excluded {who}"), it.reason.clone())
        }
        AnnotationEventAction::Included(it) => {
            let who = person_display_name(names, it.person);
            (format!("included {who}"), it.reason.clone())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::annotation::event::ItemAdjudication;
    use shared::annotation::{AnnotatorAnswer, ItemNo};

    #[test]
    fn an_adjudication_says_that_it_is_one() {
        let made = AnnotationEventAction::Adjudicated(ItemAdjudication {
            item: ItemNo(3),
            answer: AnnotatorAnswer::Equal,
            note: "the same text twice".to_owned(),
            replaces: Vec::new(),
        });
        let (what, note) = event_text(&made, &[], ScoreClaimKind::Higher);
        assert_eq!(what, "adjudicated: equal");
        assert_eq!(note, "the same text twice");
    }
}
