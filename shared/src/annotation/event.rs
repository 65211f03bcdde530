//! Events: the actions of annotators and curators, as created in the browser and stored in the log.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    AnnotationEventKey, AnnotatorAnswer, AxiomReasonRating, DocumentDisplayOrder, ItemNo, PersonId,
};
use crate::error::{Error, InvalidFieldReason};
use crate::user_text::{normalize_and_deduplicate_tags, normalize_note};

/// The longest time that is counted for one item, in milliseconds; longer times are cut.
pub const MAX_DECISION_MS: u64 = 3_600_000;

/// The most events that one event can replace.
pub const MAX_REPLACED_EVENTS: usize = 16;

/// An event as its author sent it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClientAnnotationEvent {
    /// Created with the event; the same event sent twice has the same key.
    pub key: AnnotationEventKey,
    /// The time of the browser's clock, in milliseconds since 1970.
    #[serde(alias = "made_ms")]
    pub created_ms: u64,
    /// What was done.
    #[serde(alias = "what")]
    pub action: AnnotationEventAction,
}

/// An event in the log, with what only the server knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReceivedAnnotationEvent {
    /// The author of the event.
    pub person: PersonId,
    /// The time at which the server received it, in milliseconds since 1970.
    #[serde(alias = "at_ms")]
    pub received_ms: u64,
    /// The event.
    pub event: ClientAnnotationEvent,
}

/// The action of an event: a decision, a skip, a report, an undo, an adjudication or an exclusion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum AnnotationEventAction {
    /// An answer was given.
    Decided(AnnotationDecision),
    /// An item was skipped; another annotator can take it.
    Skipped(SkippedItem),
    /// A problem with an item was reported.
    Reported(ItemProblemReport),
    /// One of the person's own events was undone. It stays in the log.
    Undone {
        /// The key of that event.
        of: AnnotationEventKey,
    },
    /// A curator settled the answer of an item. The annotators' decisions are not changed.
    Adjudicated(ItemAdjudication),
    /// A curator excluded a person's work from all estimates. It stays in the log.
    Excluded(AnnotatorExclusionChange),
    /// A curator included a person's work again.
    Included(AnnotatorExclusionChange),
}

/// An answer to an item, with comment, display order and duration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AnnotationDecision {
    /// Number of the judged item within its task, from 0.
    pub item: ItemNo,
    /// The answer, about the documents in the order of the claim.
    pub answer: AnnotatorAnswer,
    /// The person's comment on the answer.
    #[serde(flatten)]
    pub comment: RatingTagsAndNote,
    /// The order in which the documents were shown.
    #[serde(alias = "sides")]
    pub display_order: DocumentDisplayOrder,
    /// The time that the person looked at the item, in milliseconds, without pauses.
    #[serde(alias = "took_ms")]
    pub duration_ms: u64,
    /// Decisions of the same person on the same item that the person saw and replaces. A decision
    /// that is not listed was not known to the person: both are kept, as a conflict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<AnnotationEventKey>,
}

/// A rating of the axiom's reason, tags and a note that accompany an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RatingTagsAndNote {
    /// Whether the axiom's reason matters here, if the person rated it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "matters")]
    pub reason_rating: Option<AxiomReasonRating>,
    /// The tags; at most [`crate::user_text::MAX_TAGS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The note; at most [`crate::user_text::MAX_NOTE_CHARS`] characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// An item that an annotator skipped, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SkippedItem {
    /// Number of the skipped item within its task, from 0.
    pub item: ItemNo,
    /// The reason.
    pub reason: SkipReason,
    /// A note of the person; required for [`SkipReason::Other`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// The reason for skipping an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// The query or a document cannot be understood.
    #[serde(alias = "not-understood")]
    NotUnderstandable,
    /// A document is broken, cut or empty.
    #[serde(alias = "broken")]
    BrokenDocument,
    /// The person does not want to read the content.
    #[serde(alias = "disturbing")]
    DistressingContent,
    /// The person wrote one of the documents, or has another interest in it.
    #[serde(alias = "involved")]
    ConflictOfInterest,
    /// Another reason, given in the note.
    Other,
}

impl SkipReason {
    /// All reasons, in the order of the list.
    pub const ALL: &[SkipReason] = &[
        SkipReason::NotUnderstandable,
        SkipReason::BrokenDocument,
        SkipReason::DistressingContent,
        SkipReason::ConflictOfInterest,
        SkipReason::Other,
    ];

    /// Returns the name of the skip reason in exported files.
    pub fn name(self) -> &'static str {
        match self {
            SkipReason::NotUnderstandable => "not-understandable",
            SkipReason::BrokenDocument => "broken-document",
            SkipReason::DistressingContent => "distressing-content",
            SkipReason::ConflictOfInterest => "conflict-of-interest",
            SkipReason::Other => "other",
        }
    }
}

/// A report of a problem with an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ItemProblemReport {
    /// Number of the reported item within its task, from 0.
    pub item: ItemNo,
    /// What is wrong, in the person's words.
    pub note: String,
}

/// A curator's decision on an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ItemAdjudication {
    /// Number of the adjudicated item within its task, from 0.
    pub item: ItemNo,
    /// The answer, about the documents in the order of the claim.
    pub answer: AnnotatorAnswer,
    /// The curator's reason.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Adjudications of the same item, by any curator, that this one replaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<AnnotationEventKey>,
}

/// An exclusion of a person, or its reversal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AnnotatorExclusionChange {
    /// The person.
    pub person: PersonId,
    /// The curator's reason.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// The role that an action requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequiredRole {
    /// Anyone who takes part in the task.
    Annotator,
    /// Only a curator of the task.
    Curator,
}

impl AnnotationEventAction {
    /// Returns the role that may do it. The log ensures that people undo only their own events.
    pub fn required_role(&self) -> RequiredRole {
        match self {
            AnnotationEventAction::Decided(_)
            | AnnotationEventAction::Skipped(_)
            | AnnotationEventAction::Reported(_)
            | AnnotationEventAction::Undone { .. } => RequiredRole::Annotator,
            AnnotationEventAction::Adjudicated(_)
            | AnnotationEventAction::Excluded(_)
            | AnnotationEventAction::Included(_) => RequiredRole::Curator,
        }
    }

    /// Returns the item of the action; `None` if it is about another event or a person.
    pub fn item_no(&self) -> Option<ItemNo> {
        match self {
            AnnotationEventAction::Decided(it) => Some(it.item),
            AnnotationEventAction::Skipped(it) => Some(it.item),
            AnnotationEventAction::Reported(it) => Some(it.item),
            AnnotationEventAction::Adjudicated(it) => Some(it.item),
            AnnotationEventAction::Undone { .. }
            | AnnotationEventAction::Excluded(_)
            | AnnotationEventAction::Included(_) => None,
        }
    }

    /// Returns the answer of a decision or an adjudication.
    pub fn answer(&self) -> Option<AnnotatorAnswer> {
        match self {
            AnnotationEventAction::Decided(it) => Some(it.answer),
            AnnotationEventAction::Adjudicated(it) => Some(it.answer),
            AnnotationEventAction::Skipped(_)
            | AnnotationEventAction::Reported(_)
            | AnnotationEventAction::Undone { .. }
            | AnnotationEventAction::Excluded(_)
            | AnnotationEventAction::Included(_) => None,
        }
    }

    /// Returns the keys of the events that the action replaces.
    pub fn replaced_event_keys(&self) -> &[AnnotationEventKey] {
        match self {
            AnnotationEventAction::Decided(it) => &it.replaces,
            AnnotationEventAction::Adjudicated(it) => &it.replaces,
            AnnotationEventAction::Skipped(_)
            | AnnotationEventAction::Reported(_)
            | AnnotationEventAction::Undone { .. }
            | AnnotationEventAction::Excluded(_)
            | AnnotationEventAction::Included(_) => &[],
        }
    }

    /// Returns the name of the action in exported files, as in `decided`.
    pub fn name(&self) -> &'static str {
        match self {
            AnnotationEventAction::Decided(_) => "decided",
            AnnotationEventAction::Skipped(_) => "skipped",
            AnnotationEventAction::Reported(_) => "reported",
            AnnotationEventAction::Undone { .. } => "undone",
            AnnotationEventAction::Adjudicated(_) => "adjudicated",
            AnnotationEventAction::Excluded(_) => "excluded",
            AnnotationEventAction::Included(_) => "included",
        }
    }
}

impl ClientAnnotationEvent {
    /// Returns the event as it is stored: texts normalized as in [`crate::user_text`] and the time
    /// cut at [`MAX_DECISION_MS`]. It is an error if the task does not have the item, or if a text
    /// is too long or a required text is missing. The browser calls this before it stores an event,
    /// so that it never stores one that the server would reject.
    pub fn normalize_and_validate(mut self, n_items: u32) -> Result<ClientAnnotationEvent, Error> {
        if let Some(item) = self.action.item_no().filter(|it| it.0 >= n_items) {
            let n = n_items as usize;
            return Err(Error::index_not_found("item of this task", item.0, n));
        }
        let n_replaced = self.action.replaced_event_keys().len();
        if n_replaced > MAX_REPLACED_EVENTS {
            let found = format!("lists {n_replaced} events");
            let most = MAX_REPLACED_EVENTS;
            return Err(
                InvalidFieldReason::TooMany { found, max: most }.into_error_for_field("replaces")
            );
        }
        match &mut self.action {
            AnnotationEventAction::Decided(it) => {
                it.comment.tags = normalize_and_deduplicate_tags(&it.comment.tags)?;
                it.comment.note = normalize_note(&it.comment.note)?;
                it.duration_ms = it.duration_ms.min(MAX_DECISION_MS);
            }
            AnnotationEventAction::Skipped(it) => {
                it.note = normalize_note(&it.note)?;
                if it.reason == SkipReason::Other && it.note.is_empty() {
                    return Err(Error::missing_field(
                        "note",
                        "enter why you are skipping the item",
                    ));
                }
            }
            AnnotationEventAction::Reported(it) => {
                it.note = normalize_note(&it.note)?;
                if it.note.is_empty() {
                    return Err(Error::missing_field(
                        "note",
                        "enter what is wrong with the item",
                    ));
                }
            }
            AnnotationEventAction::Undone { .. } => {}
            AnnotationEventAction::Adjudicated(it) => it.note = normalize_note(&it.note)?,
            AnnotationEventAction::Excluded(it) | AnnotationEventAction::Included(it) => {
                it.reason = normalize_note(&it.reason)?
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{decision_action, event_key_from_number};
    use super::*;

    #[test]
    fn an_event_is_kept_as_its_words_are_kept() {
        let AnnotationEventAction::Decided(mut decision) =
            decision_action(0, AnnotatorAnswer::First, &[])
        else {
            unreachable!()
        };
        decision.comment.tags = vec![" off  topic".to_owned(), "off topic".to_owned()];
        decision.comment.note = " a\u{202E}b ".to_owned();
        decision.duration_ms = u64::MAX;
        let event = |what| ClientAnnotationEvent {
            key: event_key_from_number(1),
            created_ms: 5,
            action: what,
        };
        let kept = event(AnnotationEventAction::Decided(decision))
            .normalize_and_validate(1)
            .unwrap();
        let AnnotationEventAction::Decided(decision) = &kept.action else {
            unreachable!()
        };
        assert_eq!(decision.comment.tags, ["off topic"]);
        assert_eq!(decision.comment.note, "ab");
        assert_eq!(decision.duration_ms, MAX_DECISION_MS);
        assert_eq!(kept.clone().normalize_and_validate(1).unwrap(), kept);
    }

    #[test]
    fn what_the_log_must_not_hold_is_refused() {
        let event = |what| ClientAnnotationEvent {
            key: event_key_from_number(1),
            created_ms: 5,
            action: what,
        };
        let refused = |what, reason: &str| {
            let error = event(what)
                .normalize_and_validate(3)
                .unwrap_err()
                .to_string();
            assert!(error.contains(reason), "{error}");
        };
        refused(
            decision_action(3, AnnotatorAnswer::Equal, &[]),
            "no item of this task with index 3; there are 3, counted from 0",
        );
        refused(
            decision_action(0, AnnotatorAnswer::Equal, &[7; 17]),
            "at most 16",
        );
        let item = ItemNo(0);
        let note = String::new();
        let (other, blank) = (SkipReason::Other, note.clone());
        refused(
            AnnotationEventAction::Skipped(SkippedItem {
                item,
                reason: other,
                note,
            }),
            "why you are skipping",
        );
        refused(
            AnnotationEventAction::Reported(ItemProblemReport { item, note: blank }),
            "what is wrong",
        );
    }

    #[test]
    fn an_event_reads_as_what_was_done() {
        let event = ClientAnnotationEvent {
            key: event_key_from_number(1),
            created_ms: 5,
            action: decision_action(2, AnnotatorAnswer::CannotSay, &[3]),
        };
        let json = serde_json::to_string(&event).unwrap();
        assert_eq!(
            json,
            "{\"key\":\"00000000000000000000000000000001\",\"created_ms\":5,\"action\":{\
             \"kind\":\"decided\",\"item\":2,\"answer\":\"cannot-say\",\
             \"display_order\":\"claim-order\",\"duration_ms\":4000,\
             \"replaces\":[\"00000000000000000000000000000003\"]}}"
        );
        assert_eq!(
            serde_json::from_str::<ClientAnnotationEvent>(&json).unwrap(),
            event
        );
        // Builds after 0.1.0 wrote `cannot-tell`.
        assert_eq!(
            serde_json::from_str::<ClientAnnotationEvent>(
                &json.replace("cannot-say", "cannot-tell")
            )
            .unwrap(),
            event
        );
        // In the format of versions before 0.2.
        let old = "{\"key\":\"00000000000000000000000000000001\",\"made_ms\":5,\"what\":{\
             \"kind\":\"decided\",\"item\":2,\"answer\":\"cannot-say\",\"sides\":\"as-claimed\",\
             \"took_ms\":4000,\"replaces\":[\"00000000000000000000000000000003\"]}}";
        assert_eq!(
            serde_json::from_str::<ClientAnnotationEvent>(old).unwrap(),
            event
        );
    }
}
