//! Exports of a task: all events as JSON lines or CSV, and preferences in the format of trec_eval.
//!
//! The rows contain the whole history, including what was replaced, undone, in conflict or
//! excluded, each with its [`AnnotationEventValidity`]. Each row has π and the weight 1/π of its
//! item, so that every estimate can be recomputed from the file.
//!
//! Preferences are in the format `prefs` of trec_eval 9 (`trec_eval -R prefs`): two lines for each
//! decision, with fields separated by a space:
//!
//! ```text
//! query  judgment-group  sub-group  document  level
//! q7     3.p2             1          421       2
//! q7     3.p2             1          17        1
//! ```
//!
//! The document with the higher level is preferred; both have level 1 if neither is. A judgment
//! group must not contradict itself, and the answers of one person can form a cycle, so each person
//! and item is a group of its own, `ITEM.pPERSON`; the consensus is `ITEM.people`. In a task whose
//! annotators are simulated they are `ITEM.sANNOTATOR` and `ITEM.simulated`. Level 0 would
//! mean *not relevant*, which annotators were not asked. The format has no weights and cannot
//! express three documents: such items are left out, and so are answers of *cannot say*.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::event::{AnnotationEventAction, ClientAnnotationEvent, ReceivedAnnotationEvent};
use super::judgments::ItemConsensus;
use super::log::AnnotationEventValidity;
use super::task::AnnotationItem;
use super::{AnnotationLog, AxiomReasonRating, DocumentPreference, ItemAnswers, ItemNo, PersonId};
use crate::report::{ReportTable, TableValue};

/// The ids of the query and the documents of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemQueryAndDocIds {
    /// The id of the query.
    pub query: String,
    /// The ids of the documents, in the order of the claim.
    #[serde(alias = "texts")]
    pub documents: Vec<String>,
}

/// The data that an export is made from.
#[derive(Debug, Clone, Copy)]
pub struct AnnotationExportInput<'a> {
    /// The title of the task, used as the title of the table.
    pub title: &'a str,
    /// The items, by number.
    pub items: &'a [AnnotationItem],
    /// The ids of the query and documents of each item.
    pub ids: &'a [ItemQueryAndDocIds],
    /// The names that may be disclosed; other people are identified by number.
    pub people: &'a BTreeMap<PersonId, String>,
    /// All events.
    pub log: &'a AnnotationLog,
    /// Whether the annotators of the task are simulated.
    pub is_simulated: bool,
}

/// One event of the log, as exported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExportedAnnotationEvent {
    /// The author of the event.
    pub person: PersonId,
    /// The name of the author, if it may be disclosed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether the author is a simulated annotator, not a person.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_simulated: bool,
    /// The time at which the server received it, in milliseconds since 1970.
    #[serde(alias = "at_ms")]
    pub received_ms: u64,
    /// The event.
    pub event: ClientAnnotationEvent,
    /// The status of the event.
    #[serde(alias = "fate")]
    pub status: AnnotationEventValidity,
    /// The item of the event, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "about")]
    pub item: Option<AnnotationExportItem>,
}

/// An item of a task, as exported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnnotationExportItem {
    /// The item: its instance and role.
    pub item: AnnotationItem,
    /// The ids of its query and documents.
    #[serde(alias = "named")]
    pub ids: ItemQueryAndDocIds,
    /// The weight 1/π; `None` for an item that was not sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// Whose preferences an export contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExportedPreferenceSource {
    /// Each annotator's own preferences; excluded annotators and conflicts are left out.
    EachAnnotator,
    /// The consensus of the annotators, or the adjudication.
    Consensus,
}

/// Returns all events in the order in which the server received them.
pub fn build_exported_event_rows(
    source: &AnnotationExportInput<'_>,
) -> Vec<ExportedAnnotationEvent> {
    let entries = source.log.entries().into_iter();
    entries.map(|it| row(source, it)).collect()
}

/// Returns the rows as JSON, one per line.
pub fn export_rows_to_jsonl(rows: &[ExportedAnnotationEvent]) -> String {
    rows.iter().fold(String::new(), |mut out, row| {
        let line = serde_json::to_string(row).expect("a row has no map");
        out.push_str(&line);
        out.push('\n');
        out
    })
}

/// Returns the rows as a table, for example for CSV. For an event about another event or a person,
/// column `about` names it.
pub fn export_rows_to_table(
    source: &AnnotationExportInput<'_>,
    rows: &[ExportedAnnotationEvent],
) -> ReportTable {
    let table = ReportTable::new("review", source.title)
        .add_text_columns("key")
        .add_number_columns("received_ms | created_ms | person")
        .add_text_columns("name | event | status")
        .add_number_columns("item")
        .add_text_columns("role")
        .add_number_columns("probability | weight")
        .add_text_columns("probe | variant")
        .add_number_columns("number")
        .add_text_columns("query | documents | answer | reason_rating | display_order")
        .add_number_columns("duration_ms")
        .add_text_columns("tags | note | about | simulated");
    ReportTable {
        rows: rows.iter().map(cells).collect(),
        notes: vec![
            "Every event, including those that no longer count; weight is 1/π, π being the \
             inclusion probability of the item."
                .to_owned(),
        ],
        ..table
    }
}

/// Returns the preferences on sampled items for trec_eval, in the format that the module describes.
pub fn annotations_to_trec_prefs(
    source: &AnnotationExportInput<'_>,
    whose: ExportedPreferenceSource,
) -> String {
    let mut out = String::new();
    let items = source.items.iter().zip(source.ids);
    for ((item, named), number) in items.zip((0..).map(ItemNo)) {
        let (Some(_), [first, second]) = (item.role.inclusion_probability(), &named.documents[..])
        else {
            continue;
        };
        let said = ItemAnswers::from_log(source.log, number);
        let (letter, all) = match source.is_simulated {
            true => ('s', "simulated"),
            false => ('p', "people"),
        };
        let mut prefer = |group: String, preference: DocumentPreference| {
            let levels = match preference {
                DocumentPreference::First => [2, 1],
                DocumentPreference::Equal => [1, 1],
                DocumentPreference::Second => [1, 2],
            };
            for (text, level) in [first, second].into_iter().zip(levels) {
                let query = &named.query;
                writeln!(out, "{query} {group} 1 {text} {level}")
                    .expect("a String takes every write");
            }
        };
        match (whose, said.adjudicated_or_majority_preference()) {
            (ExportedPreferenceSource::EachAnnotator, _) => {
                for vote in &said.votes {
                    if let Some(preference) = vote.answer.preference() {
                        prefer(
                            format!("{}.{letter}{}", number.0, vote.person.0),
                            preference,
                        );
                    }
                }
            }
            (ExportedPreferenceSource::Consensus, ItemConsensus::Prefers(preference)) => {
                prefer(format!("{}.{all}", number.0), preference);
            }
            (
                ExportedPreferenceSource::Consensus,
                ItemConsensus::CannotSay | ItemConsensus::Split | ItemConsensus::Unanswered,
            ) => {}
        }
    }
    out
}

fn row(
    source: &AnnotationExportInput<'_>,
    entry: &ReceivedAnnotationEvent,
) -> ExportedAnnotationEvent {
    let about = entry.event.action.item_no().and_then(|number| {
        let item = source.items.get(number.0 as usize)?;
        Some(AnnotationExportItem {
            ids: source.ids.get(number.0 as usize)?.clone(),
            weight: item.role.inclusion_probability().map(|it| 1.0 / it),
            item: item.clone(),
        })
    });
    ExportedAnnotationEvent {
        person: entry.person,
        name: source.people.get(&entry.person).cloned(),
        is_simulated: source.is_simulated,
        received_ms: entry.received_ms,
        event: entry.event.clone(),
        status: source.log.current_event_status(entry),
        item: about,
    }
}

fn cells(row: &ExportedAnnotationEvent) -> Vec<TableValue> {
    let text = |it: &str| match it {
        "" => TableValue::Missing,
        it => TableValue::Text(it.to_owned()),
    };
    let count = |it: Option<u64>| it.map_or(TableValue::Missing, TableValue::Count);
    let what = &row.event.action;
    let about = row.item.as_ref();
    let of_item =
        |word: &dyn Fn(&AnnotationExportItem) -> String| text(&about.map(word).unwrap_or_default());
    let (mut matters, mut sides, mut took_ms, mut tags) = ("", "", None, String::new());
    if let AnnotationEventAction::Decided(it) = what {
        matters = match it.comment.reason_rating {
            Some(AxiomReasonRating::Matters) => "yes",
            Some(AxiomReasonRating::DoesNotMatter) => "no",
            None => "",
        };
        sides = it.display_order.name();
        took_ms = Some(it.duration_ms);
        tags = it.comment.tags.join("; ");
    }
    vec![
        text(&row.event.key.to_string()),
        TableValue::Count(row.received_ms),
        TableValue::Count(row.event.created_ms),
        TableValue::Count(u64::from(row.person.0)),
        text(row.name.as_deref().unwrap_or_default()),
        text(what.name()),
        text(row.status.name()),
        count(what.item_no().map(|it| u64::from(it.0))),
        of_item(&|it| it.item.role.name().to_owned()),
        about
            .and_then(|it| it.item.role.inclusion_probability())
            .map_or(TableValue::Missing, TableValue::Fraction),
        about
            .and_then(|it| it.weight)
            .map_or(TableValue::Missing, |value| TableValue::Score {
                value,
                digits: 2,
            }),
        of_item(&|it| it.item.instance.probe.slug().into_owned()),
        of_item(&|it| it.item.instance.variant.slug().to_owned()),
        count(about.map(|it| it.item.instance.index)),
        of_item(&|it| it.ids.query.clone()),
        of_item(&|it| it.ids.documents.join(" ")),
        text(what.answer().map_or("", |it| it.slug())),
        text(matters),
        text(sides),
        count(took_ms),
        text(&tags),
        text(&note(what)),
        text(&of(what)),
        text(if row.is_simulated { "yes" } else { "no" }),
    ]
}

/// Returns the note of an action; for a skip also the reason.
fn note(what: &AnnotationEventAction) -> String {
    match what {
        AnnotationEventAction::Decided(it) => it.comment.note.clone(),
        AnnotationEventAction::Skipped(it) if it.note.is_empty() => it.reason.name().to_owned(),
        AnnotationEventAction::Skipped(it) => format!("{}: {}", it.reason.name(), it.note),
        AnnotationEventAction::Reported(it) => it.note.clone(),
        AnnotationEventAction::Adjudicated(it) => it.note.clone(),
        AnnotationEventAction::Excluded(it) | AnnotationEventAction::Included(it) => {
            it.reason.clone()
        }
        AnnotationEventAction::Undone { .. } => String::new(),
    }
}

/// Returns the keys of the events that an action replaces or undoes, or the person that it is
/// about.
fn of(what: &AnnotationEventAction) -> String {
    match what {
        AnnotationEventAction::Undone { of } => of.to_string(),
        AnnotationEventAction::Excluded(it) | AnnotationEventAction::Included(it) => {
            it.person.0.to_string()
        }
        AnnotationEventAction::Decided(_)
        | AnnotationEventAction::Skipped(_)
        | AnnotationEventAction::Reported(_)
        | AnnotationEventAction::Adjudicated(_) => {
            let keys: Vec<String> = what
                .replaced_event_keys()
                .iter()
                .map(|it| it.to_string())
                .collect();
            keys.join(" ")
        }
    }
}

#[cfg(test)]
mod tests;
