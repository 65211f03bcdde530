//! The log of a task, and what stands of it.
//!
//! The log only grows, and what stands is a function of the set of its events: they may come in
//! any order, late or twice. Only whether a person is excluded goes by the last that came.
//!
//! - A decision *stands* if it was not taken back, and no other that was not taken back replaces
//!   it, directly or by way of others. So if B replaced A and is taken back, A stands again.
//! - Two decisions of a person on an item that both stand did not know of each other, as on two
//!   devices without a network. Both are kept. If their answers are the same that is no matter;
//!   else the person is in *conflict*, and has no vote until one decision replaces both.
//! - Adjudications stand by the same rules, over all curators.
//! - A skip stands while it is not taken back and its person has no decision on the item.
//!
//! An event that names others of another person or item, or none that there are, is kept, and
//! changes nothing else.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::event::{AnnotationAction, LogEntry};
use super::{EventKey, ItemNo, PersonId};

/// All events of a task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnnotationLog {
    entries: BTreeMap<EventKey, LogEntry>,
    of_item: BTreeMap<ItemNo, BTreeSet<EventKey>>,
    /// Who took back what.
    undone: BTreeSet<(PersonId, EventKey)>,
    /// The event by which a person was last excluded or included.
    standing: BTreeMap<PersonId, EventKey>,
}

/// What became of an event that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppendOutcome {
    /// It stands in the log now.
    Appended,
    /// It stood there before: it was sent twice.
    Duplicate,
    /// Another one with its key stands there. It was not taken.
    KeyConflict,
}

/// What has become of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewFate))]
#[serde(rename_all = "kebab-case")]
pub enum EventStatus {
    /// It stands.
    #[serde(alias = "stands")]
    Active,
    /// It stands against another of the same person, or of another curator, that says otherwise.
    Conflict,
    /// Another replaced it.
    Replaced,
    /// It was taken back.
    Undone,
    /// It stands, and its person is excluded.
    Excluded,
}

impl EventStatus {
    /// Returns the name of the event status in exported files.
    pub fn name(self) -> &'static str {
        match self {
            EventStatus::Active => "stands",
            EventStatus::Conflict => "conflict",
            EventStatus::Replaced => "replaced",
            EventStatus::Undone => "undone",
            EventStatus::Excluded => "excluded",
        }
    }
}

impl AnnotationLog {
    /// Of entries in the order in which they came.
    pub fn from_entries(entries: impl IntoIterator<Item = LogEntry>) -> AnnotationLog {
        let mut log = AnnotationLog::default();
        for entry in entries {
            log.append(entry);
        }
        log
    }

    /// Takes an entry, unless its key is there.
    pub fn append(&mut self, entry: LogEntry) -> AppendOutcome {
        let key = entry.event.key;
        if let Some(known) = self.entries.get(&key) {
            // When it came does not tell two events apart.
            let same = (known.person, &known.event) == (entry.person, &entry.event);
            return if same {
                AppendOutcome::Duplicate
            } else {
                AppendOutcome::KeyConflict
            };
        }
        if let Some(item) = entry.event.action.item() {
            self.of_item.entry(item).or_default().insert(key);
        }
        match &entry.event.action {
            AnnotationAction::Undone { of } => {
                self.undone.insert((entry.person, *of));
            }
            AnnotationAction::Excluded(it) | AnnotationAction::Included(it) => {
                self.standing.insert(it.person, key);
            }
            AnnotationAction::Decided(_)
            | AnnotationAction::Skipped(_)
            | AnnotationAction::Reported(_)
            | AnnotationAction::Adjudicated(_) => {}
        }
        self.entries.insert(key, entry);
        AppendOutcome::Appended
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing was done yet.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The event with a key.
    pub fn entry(&self, key: EventKey) -> Option<&LogEntry> {
        self.entries.get(&key)
    }

    /// Every event by when it came, those of the same moment by key.
    pub fn entries(&self) -> Vec<&LogEntry> {
        in_order(self.entries.values())
    }

    /// Every event about an item, in the same order; what takes one back is not among them.
    pub fn item_history(&self, item: ItemNo) -> Vec<&LogEntry> {
        in_order(self.about(item))
    }

    /// Whether a person's work is out of all estimates.
    pub fn is_excluded(&self, person: PersonId) -> bool {
        let last = self.standing.get(&person).map(|it| &self.entries[it]);
        last.is_some_and(|it| matches!(it.event.action, AnnotationAction::Excluded(_)))
    }

    /// Whether the one who did it took it back.
    pub fn is_undone(&self, entry: &LogEntry) -> bool {
        self.undone.contains(&(entry.person, entry.event.key))
    }

    /// The decisions on an item that stand, of each person, excluded ones too. More than one of a
    /// person did not know of each other.
    pub fn decisions(&self, item: ItemNo) -> BTreeMap<PersonId, Vec<&LogEntry>> {
        let mut made: BTreeMap<PersonId, Vec<&LogEntry>> = BTreeMap::new();
        for entry in self.about(item) {
            if matches!(entry.event.action, AnnotationAction::Decided(_)) {
                made.entry(entry.person).or_default().push(entry);
            }
        }
        let standing = made.into_iter().map(|it| (it.0, self.standing_of(&it.1)));
        standing.filter(|it| !it.1.is_empty()).collect()
    }

    /// The adjudications of an item that stand, those of excluded people left out.
    pub fn adjudications(&self, item: ItemNo) -> Vec<&LogEntry> {
        let mut standing = self.adjudged(item);
        standing.retain(|it| !self.is_excluded(it.person));
        standing
    }

    /// Who passed over an item, with the skips that stand.
    pub fn skips(&self, item: ItemNo) -> BTreeMap<PersonId, Vec<&LogEntry>> {
        let decided = self.decisions(item);
        let mut skips: BTreeMap<PersonId, Vec<&LogEntry>> = BTreeMap::new();
        for entry in in_order(self.about(item)) {
            let stands = matches!(entry.event.action, AnnotationAction::Skipped(_))
                && !self.is_undone(entry)
                && !decided.contains_key(&entry.person);
            if stands {
                skips.entry(entry.person).or_default().push(entry);
            }
        }
        skips
    }

    /// What was reported of an item and not taken back.
    pub fn reports(&self, item: ItemNo) -> Vec<&LogEntry> {
        let mut reports = in_order(self.about(item));
        reports.retain(|it| {
            matches!(it.event.action, AnnotationAction::Reported(_)) && !self.is_undone(it)
        });
        reports
    }

    /// Whether a person is done with an item: decided, or passed over.
    pub fn is_finished(&self, person: PersonId, item: ItemNo) -> bool {
        let of_person = self.about(item).filter(|it| it.person == person);
        of_person
            .filter(|it| {
                matches!(
                    it.event.action,
                    AnnotationAction::Decided(_) | AnnotationAction::Skipped(_)
                )
            })
            .any(|it| !self.is_undone(it))
    }

    /// What has become of an event.
    pub fn status(&self, entry: &LogEntry) -> EventStatus {
        let standing = match &entry.event.action {
            _ if self.is_undone(entry) => return EventStatus::Undone,
            AnnotationAction::Decided(it) => self.decisions(it.item).remove(&entry.person),
            AnnotationAction::Adjudicated(it) => Some(self.adjudged(it.item)),
            AnnotationAction::Skipped(it) => self.skips(it.item).remove(&entry.person),
            AnnotationAction::Reported(_) | AnnotationAction::Undone { .. } => Some(vec![entry]),
            AnnotationAction::Excluded(it) | AnnotationAction::Included(it) => {
                let last = self.standing.get(&it.person);
                last.map(|it| vec![&self.entries[it]])
            }
        };
        let standing = standing.unwrap_or_default();
        let answer = entry.event.action.answer();
        if standing.iter().all(|it| it.event.key != entry.event.key) {
            EventStatus::Replaced
        } else if entry.event.action.item().is_some() && self.is_excluded(entry.person) {
            EventStatus::Excluded
        } else if standing.iter().any(|it| it.event.action.answer() != answer) {
            EventStatus::Conflict
        } else {
            EventStatus::Active
        }
    }

    fn adjudged(&self, item: ItemNo) -> Vec<&LogEntry> {
        let is_one = |it: &&LogEntry| matches!(it.event.action, AnnotationAction::Adjudicated(_));
        let made: Vec<&LogEntry> = self.about(item).filter(is_one).collect();
        self.standing_of(&made)
    }

    fn about(&self, item: ItemNo) -> impl Iterator<Item = &LogEntry> {
        let keys = self.of_item.get(&item).into_iter().flatten();
        keys.map(|it| &self.entries[it])
    }

    /// Those of `made` that stand, by when they came.
    fn standing_of<'a>(&self, made: &[&'a LogEntry]) -> Vec<&'a LogEntry> {
        let kept: Vec<&LogEntry> = made
            .iter()
            .copied()
            .filter(|it| !self.is_undone(it))
            .collect();
        let replaced: BTreeSet<EventKey> =
            kept.iter().flat_map(|it| replaced_by(it, made)).collect();
        let stands = |it: &&&LogEntry| !replaced.contains(&it.event.key);
        let standing = in_order(kept.iter().filter(stands).copied());
        // Only events that replace each other in a circle leave none: then all are shown.
        if standing.is_empty() {
            return in_order(kept.into_iter());
        }
        standing
    }
}

/// Keys of what an event replaces, directly or by way of others of `made`.
fn replaced_by(entry: &LogEntry, made: &[&LogEntry]) -> BTreeSet<EventKey> {
    let mut replaced = BTreeSet::new();
    let mut named: Vec<EventKey> = entry.event.action.replaces().to_vec();
    while let Some(key) = named.pop() {
        if key != entry.event.key && replaced.insert(key) {
            let known = made.iter().find(|it| it.event.key == key);
            named.extend(known.into_iter().flat_map(|it| it.event.action.replaces()));
        }
    }
    replaced
}

fn in_order<'a>(entries: impl Iterator<Item = &'a LogEntry>) -> Vec<&'a LogEntry> {
    let mut entries: Vec<&LogEntry> = entries.collect();
    entries.sort_by_key(|it| (it.received_ms, it.event.key));
    entries
}

#[cfg(test)]
mod tests;
