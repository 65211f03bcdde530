//! Counts of a task that are updated with every event, so that progress can be reported after each
//! decision without going through the whole log.

use std::collections::{BTreeMap, BTreeSet};

use shared::annotation::assignment::ItemLease;
use shared::annotation::event::AnnotationEventAction;
use shared::annotation::task::AnnotationItemRole;
use shared::annotation::{
    AnnotationEventKey, AnnotationItem, AnnotationLog, AnnotationTaskDefinition, ItemNo, PersonId,
    ReceivedAnnotationEvent,
};
use shared::api::annotation::TaskProgressSummary;

/// The counts of a task, always consistent with its log.
#[derive(Debug)]
pub(super) struct TaskProgressCounts {
    /// For each item, the number of decisions that count: those of annotators who are not excluded.
    n_counting: Vec<u32>,
    people: BTreeMap<PersonId, Done>,
    /// See [`TaskProgressSummary::n_decisions`].
    n_filled: u64,
    n_drawn: u64,
    overlap: u32,
}

/// What one person has done in a task.
#[derive(Debug, Default)]
struct Done {
    decided: BTreeSet<ItemNo>,
    skipped: BTreeSet<ItemNo>,
    /// The keys of all events of the person, in the order of arrival.
    keys: Vec<AnnotationEventKey>,
}

impl TaskProgressCounts {
    /// Creates the counts of an empty log.
    pub(super) fn for_empty_log(
        task: &AnnotationTaskDefinition,
        items: &[AnnotationItem],
    ) -> TaskProgressCounts {
        TaskProgressCounts {
            n_counting: vec![0; items.len()],
            people: BTreeMap::new(),
            n_filled: 0,
            n_drawn: items.iter().filter(|it| is_sampled_item(it)).count() as u64,
            overlap: task.annotators_per_item,
        }
    }

    /// Updates the counts for an event that has just been appended to the log.
    pub(super) fn add_event(
        &mut self,
        entry: &ReceivedAnnotationEvent,
        items: &[AnnotationItem],
        log: &AnnotationLog,
    ) {
        let person = self.people.entry(entry.person).or_default();
        person.keys.push(entry.event.key);
        let item = match &entry.event.action {
            AnnotationEventAction::Undone { of } => log
                .entry_by_key(*of)
                .and_then(|it| it.event.action.item_no()),
            AnnotationEventAction::Excluded(it) | AnnotationEventAction::Included(it) => {
                let decided = self.people.get(&it.person).map(|it| it.decided.clone());
                for item in decided.unwrap_or_default() {
                    self.recount(item, items, log);
                }
                None
            }
            AnnotationEventAction::Decided(_)
            | AnnotationEventAction::Skipped(_)
            | AnnotationEventAction::Reported(_)
            | AnnotationEventAction::Adjudicated(_) => entry.event.action.item_no(),
        };
        // Logs contain only checked events, so that an unknown item does not occur.
        let Some(item) = item.filter(|it| (it.0 as usize) < items.len()) else {
            return;
        };
        // An event changes an item only for the person who sent it.
        let person = self.people.entry(entry.person).or_default();
        let sets = [
            (
                &mut person.decided,
                log.active_decisions_by_person(item)
                    .contains_key(&entry.person),
            ),
            (
                &mut person.skipped,
                log.active_skips_by_person(item).contains_key(&entry.person),
            ),
        ];
        for (set, is_in) in sets {
            match is_in {
                true => set.insert(item),
                false => set.remove(&item),
            };
        }
        self.recount(item, items, log);
    }

    fn recount(&mut self, item: ItemNo, items: &[AnnotationItem], log: &AnnotationLog) {
        let at = item.0 as usize;
        let decided = log.active_decisions_by_person(item).into_keys();
        let now = decided.filter(|it| !log.is_person_excluded(*it)).count() as u32;
        let before = std::mem::replace(&mut self.n_counting[at], now);
        if is_sampled_item(&items[at]) {
            self.n_filled += u64::from(now.min(self.overlap));
            self.n_filled -= u64::from(before.min(self.overlap));
        }
    }

    /// Whether a decision on an item counts.
    pub(super) fn has_counting_decision(&self, item: ItemNo) -> bool {
        self.n_counting
            .get(item.0 as usize)
            .is_some_and(|it| *it > 0)
    }

    /// Returns the progress of a person and of all annotators, as if all were people.
    /// [`TaskProgressSummary::n_available`] is left at 0.
    pub(super) fn summarize_own_and_total_progress(
        &self,
        person: Option<PersonId>,
        items: &[AnnotationItem],
    ) -> TaskProgressSummary {
        let done = person.and_then(|it| self.people.get(&it));
        let is_work = |it: &&ItemNo| !is_training_item(&items[it.0 as usize]);
        TaskProgressSummary {
            n_own_decisions: done.map_or(0, |it| it.decided.iter().filter(is_work).count()) as u32,
            n_own_skips: done.map_or(0, |it| it.skipped.len()) as u32,
            n_available: 0,
            n_decisions: self.n_filled,
            n_decisions_required: self.n_drawn * u64::from(self.overlap),
            n_annotators: self.n_annotators_with_decisions(),
            n_simulated_annotators: 0,
        }
    }

    /// Returns the number of annotators who have decided on at least one item.
    pub(super) fn n_annotators_with_decisions(&self) -> u32 {
        let decided = self.people.values().filter(|it| !it.decided.is_empty());
        decided.count() as u32
    }

    /// Returns about how many items a person could still get: sampled items with a free slot, and
    /// the gold items that are mixed into that many. Slots that are leased to others do not count
    /// as free.
    pub(super) fn estimate_items_left_for_person(
        &self,
        person: PersonId,
        task: &AnnotationTaskDefinition,
        items: &[AnnotationItem],
        leases: &[ItemLease],
    ) -> u32 {
        let mut taken = self.n_counting.clone();
        for lease in leases.iter().filter(|it| it.person != person) {
            // A person who has decided already holds a slot; a person who has skipped holds none.
            if !self.has_person_finished_item(lease.person, lease.item) {
                taken[lease.item.0 as usize] += 1;
            }
        }
        let (mut n_free, mut n_gold) = (0, 0);
        for ((item, number), taken) in items.iter().zip((0..).map(ItemNo)).zip(taken) {
            if self.has_person_finished_item(person, number) {
                continue;
            }
            match item.role {
                AnnotationItemRole::Training { .. } => {}
                AnnotationItemRole::Gold { .. } => n_gold += 1,
                AnnotationItemRole::Sampled { .. } => n_free += u32::from(taken < self.overlap),
            }
        }
        let n_strewn = match task.gold_interval {
            0 => 0,
            1 => n_gold,
            every => n_gold.min(n_free.div_ceil(every - 1)),
        };
        n_free + n_strewn
    }

    /// Returns whether a person has decided on an item or skipped it.
    pub(super) fn has_person_finished_item(&self, person: PersonId, item: ItemNo) -> bool {
        let done = self.people.get(&person);
        done.is_some_and(|it| it.decided.contains(&item) || it.skipped.contains(&item))
    }

    /// Returns the number of training items that a person has neither decided on nor skipped; all
    /// training items if `person` is `None`.
    pub(super) fn n_training_items_left(
        &self,
        person: Option<PersonId>,
        items: &[AnnotationItem],
    ) -> u32 {
        let numbered = items.iter().zip((0..).map(ItemNo));
        let training = numbered.filter(|it| is_training_item(it.0));
        let left = training
            .filter(|it| person.is_none_or(|who| !self.has_person_finished_item(who, it.1)));
        left.count() as u32
    }

    /// Returns the keys of all events of a person, in the order of arrival.
    pub(super) fn event_keys_of_person(&self, person: PersonId) -> &[AnnotationEventKey] {
        self.people.get(&person).map_or(&[], |it| &it.keys)
    }
}

/// Returns whether an item is a training item, which is answered with feedback.
pub(super) fn is_training_item(item: &AnnotationItem) -> bool {
    matches!(item.role, AnnotationItemRole::Training { .. })
}

/// Returns whether an item was sampled for the task, rather than added as training or gold.
pub(super) fn is_sampled_item(item: &AnnotationItem) -> bool {
    matches!(item.role, AnnotationItemRole::Sampled { .. })
}
