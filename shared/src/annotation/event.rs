//! What people do: events, as they are made in the browser and as they stand in the log.

use serde::{Deserialize, Serialize};

use super::{AnnotatorAnswer, DisplayOrder, EventKey, ItemNo, PersonId, ReasonRating};
use crate::error::{Error, FieldError};
use crate::user_text::{check_note, check_tags};

/// More time than this nobody spends on one item without a pause; what is above is cut.
pub const MAX_DECISION_MS: u64 = 3_600_000;

/// An event names at most so many others that it replaces.
pub const MAX_REPLACED_EVENTS: usize = 16;

/// Something that was done, as the one who did it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewEvent))]
pub struct AnnotationEvent {
    /// Made with it; the same event sent twice has the same key.
    pub key: EventKey,
    /// When, by the clock of the browser, in milliseconds since 1970.
    #[serde(alias = "made_ms")]
    pub created_ms: u64,
    /// What was done.
    #[serde(alias = "what")]
    pub action: AnnotationAction,
}

/// An event in the log, with what only the server knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewEntry))]
pub struct LogEntry {
    /// Who did it.
    pub person: PersonId,
    /// When it came, by the clock of the server, in milliseconds since 1970.
    #[serde(alias = "at_ms")]
    pub received_ms: u64,
    /// What was done.
    pub event: AnnotationEvent,
}

/// The action of an event: a decision, a skip, a report, an undo, an adjudication or an exclusion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewWhat))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum AnnotationAction {
    /// An answer was given.
    Decided(Decision),
    /// An item was passed over; somebody else may take it.
    Skipped(SkippedItem),
    /// Something is wrong with an item.
    Reported(ProblemReport),
    /// One of the person's own events is taken back. It stays in the log.
    Undone {
        /// Its key.
        of: EventKey,
    },
    /// A curator settled what people say of an item. Their decisions stay what they are.
    Adjudicated(Adjudication),
    /// A curator took a person's work out of all estimates. It stays in the log.
    Excluded(ExclusionChange),
    /// A curator took it in again.
    Included(ExclusionChange),
}

/// An answer with what was said beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewDecision))]
pub struct Decision {
    /// On which item.
    pub item: ItemNo,
    /// About the texts in the order of the claim.
    pub answer: AnnotatorAnswer,
    /// What the person said beside the answer.
    #[serde(flatten)]
    pub comment: AnswerComment,
    /// How the texts stood on the screen.
    #[serde(alias = "sides")]
    pub display_order: DisplayOrder,
    /// How long the item was looked at, pauses left out.
    #[serde(alias = "took_ms")]
    pub duration_ms: u64,
    /// Decisions of the same person on the same item that the person saw and replaces. Another
    /// decision that is not among them was not known: both are kept, in conflict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<EventKey>,
}

/// What a person says beside an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewAnswerComment))]
pub struct AnswerComment {
    /// Whether the axiom's reason matters here, if the person said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "matters")]
    pub reason_rating: Option<ReasonRating>,
    /// At most [`crate::user_text::MAX_TAGS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// At most [`crate::user_text::MAX_NOTE_CHARS`] characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// An item that an annotator skipped, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewSkip))]
pub struct SkippedItem {
    /// Which item.
    pub item: ItemNo,
    /// Why.
    pub reason: SkipReason,
    /// In the person's words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// Why an item is passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// The query or a text is not understood.
    #[serde(alias = "not-understood")]
    NotUnderstandable,
    /// A text is broken, cut or empty.
    #[serde(alias = "broken")]
    BrokenDocument,
    /// It is something that the person does not want to read.
    #[serde(alias = "disturbing")]
    DistressingContent,
    /// The person wrote one of the texts, or has another stake in it.
    #[serde(alias = "involved")]
    ConflictOfInterest,
    /// See the note.
    Other,
}

impl SkipReason {
    /// Every reason, in the order of the list.
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
            SkipReason::NotUnderstandable => "not-understood",
            SkipReason::BrokenDocument => "broken",
            SkipReason::DistressingContent => "disturbing",
            SkipReason::ConflictOfInterest => "involved",
            SkipReason::Other => "other",
        }
    }
}

/// What is wrong with an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewReport))]
pub struct ProblemReport {
    /// Which item.
    pub item: ItemNo,
    /// In the person's words.
    pub note: String,
}

/// What a curator makes of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewAdjudication))]
pub struct Adjudication {
    /// Which item.
    pub item: ItemNo,
    /// About the texts in the order of the claim.
    pub answer: AnnotatorAnswer,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Adjudications of the same item, of whichever curator, that this one replaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<EventKey>,
}

/// Whose work counts, or no longer does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewStanding))]
pub struct ExclusionChange {
    /// Whose.
    pub person: PersonId,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// The role that an action requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActorRole {
    /// Anybody who takes part.
    Annotator,
    /// Only who runs the task.
    Curator,
}

impl AnnotationAction {
    /// Who may do it. That somebody takes back only what is their own, the log sees to.
    pub fn required_role(&self) -> ActorRole {
        match self {
            AnnotationAction::Decided(_)
            | AnnotationAction::Skipped(_)
            | AnnotationAction::Reported(_)
            | AnnotationAction::Undone { .. } => ActorRole::Annotator,
            AnnotationAction::Adjudicated(_)
            | AnnotationAction::Excluded(_)
            | AnnotationAction::Included(_) => ActorRole::Curator,
        }
    }

    /// The item that it is about; none for what is about another event or a person.
    pub fn item(&self) -> Option<ItemNo> {
        match self {
            AnnotationAction::Decided(it) => Some(it.item),
            AnnotationAction::Skipped(it) => Some(it.item),
            AnnotationAction::Reported(it) => Some(it.item),
            AnnotationAction::Adjudicated(it) => Some(it.item),
            AnnotationAction::Undone { .. }
            | AnnotationAction::Excluded(_)
            | AnnotationAction::Included(_) => None,
        }
    }

    /// The answer of a decision or an adjudication.
    pub fn answer(&self) -> Option<AnnotatorAnswer> {
        match self {
            AnnotationAction::Decided(it) => Some(it.answer),
            AnnotationAction::Adjudicated(it) => Some(it.answer),
            AnnotationAction::Skipped(_)
            | AnnotationAction::Reported(_)
            | AnnotationAction::Undone { .. }
            | AnnotationAction::Excluded(_)
            | AnnotationAction::Included(_) => None,
        }
    }

    /// Events that it says it replaces.
    pub fn replaces(&self) -> &[EventKey] {
        match self {
            AnnotationAction::Decided(it) => &it.replaces,
            AnnotationAction::Adjudicated(it) => &it.replaces,
            AnnotationAction::Skipped(_)
            | AnnotationAction::Reported(_)
            | AnnotationAction::Undone { .. }
            | AnnotationAction::Excluded(_)
            | AnnotationAction::Included(_) => &[],
        }
    }

    /// Returns the name of the action in exported files, as in `decided`.
    pub fn name(&self) -> &'static str {
        match self {
            AnnotationAction::Decided(_) => "decided",
            AnnotationAction::Skipped(_) => "skipped",
            AnnotationAction::Reported(_) => "reported",
            AnnotationAction::Undone { .. } => "undone",
            AnnotationAction::Adjudicated(_) => "adjudicated",
            AnnotationAction::Excluded(_) => "excluded",
            AnnotationAction::Included(_) => "included",
        }
    }
}

impl AnnotationEvent {
    /// The event as it is kept: words by the rules of [`crate::user_text`], time cut at
    /// [`MAX_DECISION_MS`]. Refused is one about an item that the task does not have, with words
    /// that are too long, or without words where there must be some. A browser asks this before
    /// it keeps an event, so that no event is kept that a server will not take.
    pub fn validated(mut self, n_items: u32) -> Result<AnnotationEvent, Error> {
        if let Some(item) = self.action.item().filter(|it| it.0 >= n_items) {
            return Err(Error::not_found("item of this task", item.0));
        }
        let n_replaced = self.action.replaces().len();
        if n_replaced > MAX_REPLACED_EVENTS {
            let found = format!("lists {n_replaced} events");
            let most = MAX_REPLACED_EVENTS;
            return Err(FieldError::TooMany { found, max: most }.for_field("replaces"));
        }
        match &mut self.action {
            AnnotationAction::Decided(it) => {
                it.comment.tags = check_tags(&it.comment.tags)?;
                it.comment.note = check_note(&it.comment.note)?;
                it.duration_ms = it.duration_ms.min(MAX_DECISION_MS);
            }
            AnnotationAction::Skipped(it) => {
                it.note = check_note(&it.note)?;
                if it.reason == SkipReason::Other && it.note.is_empty() {
                    return Err(Error::missing(
                        "note",
                        "enter why you are skipping the item",
                    ));
                }
            }
            AnnotationAction::Reported(it) => {
                it.note = check_note(&it.note)?;
                if it.note.is_empty() {
                    return Err(Error::missing("note", "enter what is wrong with the item"));
                }
            }
            AnnotationAction::Undone { .. } => {}
            AnnotationAction::Adjudicated(it) => it.note = check_note(&it.note)?,
            AnnotationAction::Excluded(it) | AnnotationAction::Included(it) => {
                it.reason = check_note(&it.reason)?
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{decided, key};
    use super::*;

    #[test]
    fn an_event_is_kept_as_its_words_are_kept() {
        let AnnotationAction::Decided(mut decision) = decided(0, AnnotatorAnswer::First, &[])
        else {
            unreachable!()
        };
        decision.comment.tags = vec![" off  topic".to_owned(), "off topic".to_owned()];
        decision.comment.note = " a\u{202E}b ".to_owned();
        decision.duration_ms = u64::MAX;
        let event = |what| AnnotationEvent {
            key: key(1),
            created_ms: 5,
            action: what,
        };
        let kept = event(AnnotationAction::Decided(decision))
            .validated(1)
            .unwrap();
        let AnnotationAction::Decided(decision) = &kept.action else {
            unreachable!()
        };
        assert_eq!(decision.comment.tags, ["off topic"]);
        assert_eq!(decision.comment.note, "ab");
        assert_eq!(decision.duration_ms, MAX_DECISION_MS);
        assert_eq!(kept.clone().validated(1).unwrap(), kept);
    }

    #[test]
    fn what_the_log_must_not_hold_is_refused() {
        let event = |what| AnnotationEvent {
            key: key(1),
            created_ms: 5,
            action: what,
        };
        let refused = |what, reason: &str| {
            let error = event(what).validated(3).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        };
        refused(
            decided(3, AnnotatorAnswer::Equal, &[]),
            "no item of this task named `3`",
        );
        refused(decided(0, AnnotatorAnswer::Equal, &[7; 17]), "at most 16");
        let item = ItemNo(0);
        let note = String::new();
        let (other, blank) = (SkipReason::Other, note.clone());
        refused(
            AnnotationAction::Skipped(SkippedItem {
                item,
                reason: other,
                note,
            }),
            "why you are skipping",
        );
        refused(
            AnnotationAction::Reported(ProblemReport { item, note: blank }),
            "what is wrong",
        );
    }

    #[test]
    fn an_event_reads_as_what_was_done() {
        let event = AnnotationEvent {
            key: key(1),
            created_ms: 5,
            action: decided(2, AnnotatorAnswer::CannotTell, &[3]),
        };
        let json = serde_json::to_string(&event).unwrap();
        assert_eq!(
            json,
            "{\"key\":\"00000000000000000000000000000001\",\"created_ms\":5,\"action\":{\
             \"kind\":\"decided\",\"item\":2,\"answer\":\"cannot-tell\",\
             \"display_order\":\"claim-order\",\"duration_ms\":4000,\
             \"replaces\":[\"00000000000000000000000000000003\"]}}"
        );
        assert_eq!(
            serde_json::from_str::<AnnotationEvent>(&json).unwrap(),
            event
        );
        // As versions before 0.2 stored it.
        let old = "{\"key\":\"00000000000000000000000000000001\",\"made_ms\":5,\"what\":{\
             \"kind\":\"decided\",\"item\":2,\"answer\":\"cannot-say\",\"sides\":\"as-claimed\",\
             \"took_ms\":4000,\"replaces\":[\"00000000000000000000000000000003\"]}}";
        assert_eq!(serde_json::from_str::<AnnotationEvent>(old).unwrap(), event);
    }
}
