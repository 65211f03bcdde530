//! What leaves a task: every event as JSON lines or CSV, and preferences as trec_eval reads them.
//!
//! The rows hold the whole history: also what was replaced, taken back, in conflict or excluded,
//! each with its [`EventStatus`]. With each stand π and the weight 1/π of its item, so that every
//! estimate can be made again from the file.
//!
//! Preferences are in the format `prefs` of trec_eval 9 (`trec_eval -R prefs`), two lines for a
//! decision, fields parted by a space:
//!
//! ```text
//! query  judgment-group  sub-group  document  level
//! q7     3.p2             1          421       2
//! q7     3.p2             1          17        1
//! ```
//!
//! The document with the higher level is preferred; both have level 1 where neither is. A
//! judgment group must not contradict itself, and one person's answers may run in a circle, so
//! each person and item is a group of its own, `ITEM.pPERSON`; what people say together is
//! `ITEM.people`. Level 0 would call a document not relevant, which nobody was asked. The format
//! has no place for weights and none for three texts: such items are left out, as is who cannot
//! tell.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::event::{AnnotationAction, AnnotationEvent, LogEntry};
use super::judgments::Consensus;
use super::log::EventStatus;
use super::task::AnnotationItem;
use super::{AnnotationLog, ItemAnswers, ItemNo, PersonId, Preference, ReasonRating};
use crate::report::{ReportTable, TableValue};

/// What is written of the query and the texts of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemIds {
    /// Id of the query.
    pub query: String,
    /// Ids of the texts, in the order of the claim.
    #[serde(alias = "texts")]
    pub documents: Vec<String>,
}

/// A task with what is needed to write it.
#[derive(Debug, Clone, Copy)]
pub struct ExportSource<'a> {
    /// What the files say they are of.
    pub title: &'a str,
    /// By their numbers.
    pub items: &'a [AnnotationItem],
    /// One for each item.
    pub ids: &'a [ItemIds],
    /// Names that may be told; the others stay numbers.
    pub people: &'a BTreeMap<PersonId, String>,
    /// Everything that was done.
    pub log: &'a AnnotationLog,
}

/// One event of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExportRow {
    /// Who.
    pub person: PersonId,
    /// Their name, if it may be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When it came, in milliseconds since 1970.
    #[serde(alias = "at_ms")]
    pub received_ms: u64,
    /// What was done.
    pub event: AnnotationEvent,
    /// What has become of it.
    #[serde(alias = "fate")]
    pub status: EventStatus,
    /// What it is about, if it is about an item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "about")]
    pub item: Option<ExportItem>,
}

/// An item in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExportItem {
    /// Which instance, and what it is there for.
    pub item: AnnotationItem,
    /// Its query and texts.
    #[serde(alias = "named")]
    pub ids: ItemIds,
    /// 1/π; none for an item that was not drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// Whose preferences an export contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewWhose))]
#[serde(rename_all = "kebab-case")]
pub enum PreferenceSource {
    /// Each person's, of those who count.
    EachAnnotator,
    /// What people say together, or a curator for them.
    Consensus,
}

/// Every event, in the order in which they came.
pub fn export_rows(source: &ExportSource<'_>) -> Vec<ExportRow> {
    let entries = source.log.entries().into_iter();
    entries.map(|it| row(source, it)).collect()
}

/// Rows as JSON, one a line.
pub fn to_jsonl(rows: &[ExportRow]) -> String {
    rows.iter().fold(String::new(), |mut out, row| {
        let line = serde_json::to_string(row).expect("a row has no map");
        out.push_str(&line);
        out.push('\n');
        out
    })
}

/// Rows as a table, for CSV among others. An event that is about another names it in `of`.
pub fn to_table(source: &ExportSource<'_>, rows: &[ExportRow]) -> ReportTable {
    let table = ReportTable::new("review", source.title)
        .with_text_columns("key")
        .with_number_columns("at_ms | made_ms | person")
        .with_text_columns("name | event | fate")
        .with_number_columns("item")
        .with_text_columns("role")
        .with_number_columns("probability | weight")
        .with_text_columns("probe | mode")
        .with_number_columns("number")
        .with_text_columns("query | texts | answer | matters | sides")
        .with_number_columns("took_ms")
        .with_text_columns("tags | note | of");
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

/// Preferences on drawn items for trec_eval; the module says in which format.
pub fn to_trec_prefs(source: &ExportSource<'_>, whose: PreferenceSource) -> String {
    let mut out = String::new();
    let items = source.items.iter().zip(source.ids);
    for ((item, named), number) in items.zip((0..).map(ItemNo)) {
        let (Some(_), [first, second]) = (item.role.probability(), &named.documents[..]) else {
            continue;
        };
        let said = ItemAnswers::from_log(source.log, number);
        let mut prefer = |group: String, preference: Preference| {
            let levels = match preference {
                Preference::First => [2, 1],
                Preference::Equal => [1, 1],
                Preference::Second => [1, 2],
            };
            for (text, level) in [first, second].into_iter().zip(levels) {
                let query = &named.query;
                writeln!(out, "{query} {group} 1 {text} {level}")
                    .expect("a String takes every write");
            }
        };
        match (whose, said.consensus()) {
            (PreferenceSource::EachAnnotator, _) => {
                for vote in &said.votes {
                    if let Some(preference) = vote.answer.preference() {
                        prefer(format!("{}.p{}", number.0, vote.person.0), preference);
                    }
                }
            }
            (PreferenceSource::Consensus, Consensus::Prefers(preference)) => {
                prefer(format!("{}.people", number.0), preference);
            }
            (
                PreferenceSource::Consensus,
                Consensus::CannotSay | Consensus::Split | Consensus::Unanswered,
            ) => {}
        }
    }
    out
}

fn row(source: &ExportSource<'_>, entry: &LogEntry) -> ExportRow {
    let about = entry.event.action.item().and_then(|number| {
        let item = source.items.get(number.0 as usize)?;
        Some(ExportItem {
            ids: source.ids.get(number.0 as usize)?.clone(),
            weight: item.role.probability().map(|it| 1.0 / it),
            item: item.clone(),
        })
    });
    ExportRow {
        person: entry.person,
        name: source.people.get(&entry.person).cloned(),
        received_ms: entry.received_ms,
        event: entry.event.clone(),
        status: source.log.status(entry),
        item: about,
    }
}

fn cells(row: &ExportRow) -> Vec<TableValue> {
    let text = |it: &str| match it {
        "" => TableValue::Missing,
        it => TableValue::Text(it.to_owned()),
    };
    let count = |it: Option<u64>| it.map_or(TableValue::Missing, TableValue::Count);
    let what = &row.event.action;
    let about = row.item.as_ref();
    let of_item = |word: &dyn Fn(&ExportItem) -> String| text(&about.map(word).unwrap_or_default());
    let (mut matters, mut sides, mut took_ms, mut tags) = ("", "", None, String::new());
    if let AnnotationAction::Decided(it) = what {
        matters = match it.comment.reason_rating {
            Some(ReasonRating::Matters) => "yes",
            Some(ReasonRating::DoesNotMatter) => "no",
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
        count(what.item().map(|it| u64::from(it.0))),
        of_item(&|it| it.item.role.name().to_owned()),
        about
            .and_then(|it| it.item.role.probability())
            .map_or(TableValue::Missing, TableValue::Fraction),
        about
            .and_then(|it| it.weight)
            .map_or(TableValue::Missing, |value| TableValue::Score {
                value,
                digits: 2,
            }),
        of_item(&|it| it.item.instance.probe.slug().into_owned()),
        of_item(&|it| it.item.instance.variant.name().to_owned()),
        count(about.map(|it| it.item.instance.index)),
        of_item(&|it| it.ids.query.clone()),
        of_item(&|it| it.ids.documents.join(" ")),
        text(what.answer().map_or("", |it| it.name())),
        text(matters),
        text(sides),
        count(took_ms),
        text(&tags),
        text(&note(what)),
        text(&of(what)),
    ]
}

/// What somebody wrote beside it; of a skip the reason too.
fn note(what: &AnnotationAction) -> String {
    match what {
        AnnotationAction::Decided(it) => it.comment.note.clone(),
        AnnotationAction::Skipped(it) if it.note.is_empty() => it.reason.name().to_owned(),
        AnnotationAction::Skipped(it) => format!("{}: {}", it.reason.name(), it.note),
        AnnotationAction::Reported(it) => it.note.clone(),
        AnnotationAction::Adjudicated(it) => it.note.clone(),
        AnnotationAction::Excluded(it) | AnnotationAction::Included(it) => it.reason.clone(),
        AnnotationAction::Undone { .. } => String::new(),
    }
}

/// Keys of what it replaces or takes back, or the person that it is about.
fn of(what: &AnnotationAction) -> String {
    match what {
        AnnotationAction::Undone { of } => of.to_string(),
        AnnotationAction::Excluded(it) | AnnotationAction::Included(it) => it.person.0.to_string(),
        AnnotationAction::Decided(_)
        | AnnotationAction::Skipped(_)
        | AnnotationAction::Reported(_)
        | AnnotationAction::Adjudicated(_) => {
            let keys: Vec<String> = what.replaces().iter().map(|it| it.to_string()).collect();
            keys.join(" ")
        }
    }
}

#[cfg(test)]
mod tests;
