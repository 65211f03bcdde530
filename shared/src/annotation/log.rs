//! The event log of a task, and its current state.
//!
//! The log is append-only, and its state is a function of the set of its events: they can arrive in
//! any order, late or twice. Only whether a person is excluded depends on the event that arrived
//! last.
//!
//! - A decision is *active* if it was not undone, and no other decision that was not undone
//!   replaces it, directly or through others. So if B replaced A and is undone, A is active again.
//! - Two active decisions of a person on one item were made independently, for example on two
//!   devices without a network. Both are kept. If their answers differ, the person is in *conflict*
//!   and has no vote until one decision replaces both.
//! - The same rules hold for adjudications, across all curators.
//! - A skip is active while it is not undone and its person has no decision on the item.
//!
//! An event that refers to events of another person or item, or to unknown ones, is kept and has no
//! other effect.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::event::{AnnotationEventAction, ReceivedAnnotationEvent};
use super::{AnnotationEventKey, ItemNo, PersonId};

/// All events of a task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnnotationLog {
    entries: BTreeMap<AnnotationEventKey, ReceivedAnnotationEvent>,
    of_item: BTreeMap<ItemNo, BTreeSet<AnnotationEventKey>>,
    /// The keys of undone events, with the person who undid them.
    undone: BTreeSet<(PersonId, AnnotationEventKey)>,
    /// The event by which a person was last excluded or included.
    standing: BTreeMap<PersonId, AnnotationEventKey>,
}

/// The result of appending an event to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogAppendOutcome {
    /// The event was added.
    Appended,
    /// The log already has the event: it was sent twice.
    Duplicate,
    /// The log has a different event with the same key. The new one was not added.
    KeyConflict,
}

/// The current status of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AnnotationEventValidity {
    /// The event is active.
    #[serde(alias = "stands")]
    Active,
    /// It is active, and another event of the same person, or of another curator, has a different
    /// answer.
    Conflict,
    /// Another event replaced it.
    Replaced,
    /// It was undone.
    Undone,
    /// It is active, but its person is excluded.
    Excluded,
}

impl AnnotationEventValidity {
    /// Returns the name of the event status in exported files.
    pub fn name(self) -> &'static str {
        match self {
            AnnotationEventValidity::Active => "active",
            AnnotationEventValidity::Conflict => "conflict",
            AnnotationEventValidity::Replaced => "replaced",
            AnnotationEventValidity::Undone => "undone",
            AnnotationEventValidity::Excluded => "excluded",
        }
    }
}

impl AnnotationLog {
    /// Creates a log from entries in the order in which they were received.
    pub fn from_entries(
        entries: impl IntoIterator<Item = ReceivedAnnotationEvent>,
    ) -> AnnotationLog {
        let mut log = AnnotationLog::default();
        for entry in entries {
            log.append(entry);
        }
        log
    }

    /// Adds an entry, unless the log already has its key.
    pub fn append(&mut self, entry: ReceivedAnnotationEvent) -> LogAppendOutcome {
        let key = entry.event.key;
        if let Some(known) = self.entries.get(&key) {
            // The time of receipt does not distinguish events.
            let same = (known.person, &known.event) == (entry.person, &entry.event);
            return if same {
                LogAppendOutcome::Duplicate
            } else {
                LogAppendOutcome::KeyConflict
            };
        }
        if let Some(item) = entry.event.action.item_no() {
            self.of_item.entry(item).or_default().insert(key);
        }
        match &entry.event.action {
            AnnotationEventAction::Undone { of } => {
                self.undone.insert((entry.person, *of));
            }
            AnnotationEventAction::Excluded(it) | AnnotationEventAction::Included(it) => {
                self.standing.insert(it.person, key);
            }
            AnnotationEventAction::Decided(_)
            | AnnotationEventAction::Skipped(_)
            | AnnotationEventAction::Reported(_)
            | AnnotationEventAction::Adjudicated(_) => {}
        }
        self.entries.insert(key, entry);
        LogAppendOutcome::Appended
    }

    /// Returns the number of events.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the event with a key.
    pub fn entry_by_key(&self, key: AnnotationEventKey) -> Option<&ReceivedAnnotationEvent> {
        self.entries.get(&key)
    }

    /// Returns all events by time of receipt, those of the same time by key.
    pub fn entries(&self) -> Vec<&ReceivedAnnotationEvent> {
        in_order(self.entries.values())
    }

    /// Returns all events about an item, in the same order; undo events are not among them.
    pub fn item_history(&self, item: ItemNo) -> Vec<&ReceivedAnnotationEvent> {
        in_order(self.about(item))
    }

    /// Returns whether a person is excluded from all estimates.
    pub fn is_person_excluded(&self, person: PersonId) -> bool {
        let last = self.standing.get(&person).map(|it| &self.entries[it]);
        last.is_some_and(|it| matches!(it.event.action, AnnotationEventAction::Excluded(_)))
    }

    /// Returns whether the author of the event undid it.
    pub fn is_event_undone(&self, entry: &ReceivedAnnotationEvent) -> bool {
        self.undone.contains(&(entry.person, entry.event.key))
    }

    /// Returns the active decisions on an item by person, including excluded people. Several
    /// decisions of one person were made independently.
    pub fn active_decisions_by_person(
        &self,
        item: ItemNo,
    ) -> BTreeMap<PersonId, Vec<&ReceivedAnnotationEvent>> {
        let mut made: BTreeMap<PersonId, Vec<&ReceivedAnnotationEvent>> = BTreeMap::new();
        for entry in self.about(item) {
            if matches!(entry.event.action, AnnotationEventAction::Decided(_)) {
                made.entry(entry.person).or_default().push(entry);
            }
        }
        let standing = made.into_iter().map(|it| (it.0, self.standing_of(&it.1)));
        standing.filter(|it| !it.1.is_empty()).collect()
    }

    /// Returns the active adjudications of an item, except those of excluded people.
    pub fn active_adjudications_of_item(&self, item: ItemNo) -> Vec<&ReceivedAnnotationEvent> {
        let mut standing = self.adjudged(item);
        standing.retain(|it| !self.is_person_excluded(it.person));
        standing
    }

    /// Returns the active skips of an item by person.
    pub fn active_skips_by_person(
        &self,
        item: ItemNo,
    ) -> BTreeMap<PersonId, Vec<&ReceivedAnnotationEvent>> {
        let decided = self.active_decisions_by_person(item);
        let mut skips: BTreeMap<PersonId, Vec<&ReceivedAnnotationEvent>> = BTreeMap::new();
        for entry in in_order(self.about(item)) {
            let stands = matches!(entry.event.action, AnnotationEventAction::Skipped(_))
                && !self.is_event_undone(entry)
                && !decided.contains_key(&entry.person);
            if stands {
                skips.entry(entry.person).or_default().push(entry);
            }
        }
        skips
    }

    /// Returns the reports on an item that were not undone.
    pub fn problem_reports_on_item(&self, item: ItemNo) -> Vec<&ReceivedAnnotationEvent> {
        let mut reports = in_order(self.about(item));
        reports.retain(|it| {
            matches!(it.event.action, AnnotationEventAction::Reported(_))
                && !self.is_event_undone(it)
        });
        reports
    }

    /// Returns whether a person decided or skipped an item.
    pub fn has_person_finished_item(&self, person: PersonId, item: ItemNo) -> bool {
        let of_person = self.about(item).filter(|it| it.person == person);
        of_person
            .filter(|it| {
                matches!(
                    it.event.action,
                    AnnotationEventAction::Decided(_) | AnnotationEventAction::Skipped(_)
                )
            })
            .any(|it| !self.is_event_undone(it))
    }

    /// Returns the current status of an event.
    pub fn current_event_status(&self, entry: &ReceivedAnnotationEvent) -> AnnotationEventValidity {
        let standing = match &entry.event.action {
            _ if self.is_event_undone(entry) => return AnnotationEventValidity::Undone,
            AnnotationEventAction::Decided(it) => self
                .active_decisions_by_person(it.item)
                .remove(&entry.person),
            AnnotationEventAction::Adjudicated(it) => Some(self.adjudged(it.item)),
            AnnotationEventAction::Skipped(it) => {
                self.active_skips_by_person(it.item).remove(&entry.person)
            }
            AnnotationEventAction::Reported(_) | AnnotationEventAction::Undone { .. } => {
                Some(vec![entry])
            }
            AnnotationEventAction::Excluded(it) | AnnotationEventAction::Included(it) => {
                let last = self.standing.get(&it.person);
                last.map(|it| vec![&self.entries[it]])
            }
        };
        let standing = standing.unwrap_or_default();
        let answer = entry.event.action.answer();
        if standing.iter().all(|it| it.event.key != entry.event.key) {
            AnnotationEventValidity::Replaced
        } else if entry.event.action.item_no().is_some() && self.is_person_excluded(entry.person) {
            AnnotationEventValidity::Excluded
        } else if standing.iter().any(|it| it.event.action.answer() != answer) {
            AnnotationEventValidity::Conflict
        } else {
            AnnotationEventValidity::Active
        }
    }

    fn adjudged(&self, item: ItemNo) -> Vec<&ReceivedAnnotationEvent> {
        let is_one = |it: &&ReceivedAnnotationEvent| {
            matches!(it.event.action, AnnotationEventAction::Adjudicated(_))
        };
        let made: Vec<&ReceivedAnnotationEvent> = self.about(item).filter(is_one).collect();
        self.standing_of(&made)
    }

    fn about(&self, item: ItemNo) -> impl Iterator<Item = &ReceivedAnnotationEvent> {
        let keys = self.of_item.get(&item).into_iter().flatten();
        keys.map(|it| &self.entries[it])
    }

    /// Returns the active events among `made`, by time of receipt.
    fn standing_of<'a>(
        &self,
        made: &[&'a ReceivedAnnotationEvent],
    ) -> Vec<&'a ReceivedAnnotationEvent> {
        let kept: Vec<&ReceivedAnnotationEvent> = made
            .iter()
            .copied()
            .filter(|it| !self.is_event_undone(it))
            .collect();
        let replaced: BTreeSet<AnnotationEventKey> =
            kept.iter().flat_map(|it| replaced_by(it, made)).collect();
        let stands = |it: &&&ReceivedAnnotationEvent| !replaced.contains(&it.event.key);
        let standing = in_order(kept.iter().filter(stands).copied());
        // Only events that replace each other in a cycle leave none; then all of them are returned.
        if standing.is_empty() {
            return in_order(kept.into_iter());
        }
        standing
    }
}

/// Returns the keys that an event replaces, directly or through other events of `made`.
fn replaced_by(
    entry: &ReceivedAnnotationEvent,
    made: &[&ReceivedAnnotationEvent],
) -> BTreeSet<AnnotationEventKey> {
    let mut replaced = BTreeSet::new();
    let mut named: Vec<AnnotationEventKey> = entry.event.action.replaced_event_keys().to_vec();
    while let Some(key) = named.pop() {
        if key != entry.event.key && replaced.insert(key) {
            let known = made.iter().find(|it| it.event.key == key);
            named.extend(
                known
                    .into_iter()
                    .flat_map(|it| it.event.action.replaced_event_keys()),
            );
        }
    }
    replaced
}

fn in_order<'a>(
    entries: impl Iterator<Item = &'a ReceivedAnnotationEvent>,
) -> Vec<&'a ReceivedAnnotationEvent> {
    let mut entries: Vec<&ReceivedAnnotationEvent> = entries.collect();
    entries.sort_by_key(|it| (it.received_ms, it.event.key));
    entries
}

#[cfg(test)]
mod tests;
