//! The state of a task in memory: its items, its log and the current leases.
//!
//! Every event in memory is also in the database. Only one server works on a database, and all
//! events come through [`super::log_writer`], so that memory and database agree.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use shared::annotation::assignment::{
    AssignmentPhase, ItemAssigner, ItemAssignment, ItemLease, NextItemAssignments,
};
use shared::annotation::content::AnnotationItemContent;
use shared::annotation::event::AnnotationEventAction;
use shared::annotation::task::StudyInstanceRef;
use shared::annotation::{
    AnnotationEventKey, AnnotationItem, AnnotationLog, ItemAnswers, ItemNo, PersonId,
    ReceivedAnnotationEvent,
};
use shared::api::annotation::{
    AnnotationTaskStatus, AnnotationTaskSummary, EventWithStatus, TaskId, TaskProgressSummary,
};
use shared::api::own_data::OwnTaskData;

use crate::annotation::counts::{TaskProgressCounts, is_training_item};
use crate::annotation::unix_time_ms_u64;
use crate::error::{Error, run_blocking};
use crate::store::Database;
use crate::store::annotation_tasks::AnnotationTaskRow;

/// Maximum number of events that are returned to the person who sent them.
const MAX_OWN_EVENTS: usize = 200;

/// Maximum number of items whose contents are cached: all items of a usual task, about 50 MB for a
/// large one.
const MAX_CACHED_ITEMS: usize = 4_000;

/// The state of a task that has been requested.
#[derive(Debug)]
pub(crate) struct InMemoryTaskState {
    items: Vec<AnnotationItem>,
    row: RwLock<Arc<AnnotationTaskRow>>,
    work: RwLock<Work>,
    words: Mutex<ContentCache>,
    /// Held while items are leased, so that no slot is leased twice.
    pub(super) turn: tokio::sync::Mutex<()>,
}

/// The part of the state that changes while people annotate.
#[derive(Debug)]
struct Work {
    log: AnnotationLog,
    tally: TaskProgressCounts,
    /// Expiry of each lease, in milliseconds since 1970.
    leases: BTreeMap<(ItemNo, PersonId), u64>,
}

/// Contents of items, for one revision of the study.
#[derive(Debug, Default)]
struct ContentCache {
    revision: i64,
    of_item: BTreeMap<ItemNo, Arc<AnnotationItemContent>>,
}

/// The items that are assigned to a person, with their leases.
#[derive(Debug)]
pub(crate) struct LeasedAssignments {
    /// In the order in which they should be answered.
    pub assignments: Vec<ItemAssignment>,
    /// The lease of each assignment.
    pub leases: Vec<ItemLease>,
    /// See [`NextItemAssignments::n_leased_to_others`].
    pub n_leased: u32,
    /// The progress of the task after the assignment.
    pub standing: TaskProgressSummary,
}

/// Whether the log already contains an event with the same key.
pub(super) enum EventKeyStatus {
    /// The log has no event with this key.
    New,
    /// The log has this event.
    Duplicate,
    /// The log has a different event with this key.
    Conflict,
}

impl InMemoryTaskState {
    /// Loads a task with its items, events and leases.
    pub(super) async fn load(store: &Database, task: TaskId) -> Result<InMemoryTaskState, Error> {
        let row = store.annotation_task(task).await?;
        let items = store.annotation_task_items(task).await?;
        let entries = store.annotation_events_from_position(task, 0).await?;
        let leases = store.annotation_leases_including_expired(task).await?;
        run_blocking("counting what was done", move || {
            let items: Vec<AnnotationItem> = items.into_iter().map(|it| it.item).collect();
            let desk = InMemoryTaskState {
                work: RwLock::new(Work {
                    log: AnnotationLog::default(),
                    tally: TaskProgressCounts::for_empty_log(&row.task, &items),
                    leases: BTreeMap::new(),
                }),
                items,
                row: RwLock::new(Arc::new(row)),
                words: Mutex::default(),
                turn: tokio::sync::Mutex::default(),
            };
            desk.append_stored_events(entries);
            let known = leases
                .into_iter()
                .filter(|it| (it.item.0 as usize) < desk.items.len());
            let known = known.map(|it| ((it.item, it.person), it.expires_ms));
            desk.write().leases.extend(known);
            Ok(desk)
        })
        .await
    }

    /// Returns the row of the task: its definition, status and study.
    pub(crate) fn task_row(&self) -> Arc<AnnotationTaskRow> {
        self.row
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Replaces the row after it has been changed in the database.
    pub(super) fn replace_task_row(&self, row: AnnotationTaskRow) {
        *self.row.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(row);
    }

    /// Returns the items of the task, indexed by item number.
    pub(crate) fn items(&self) -> &[AnnotationItem] {
        &self.items
    }

    /// Returns an item of the task; an error if the task has no such item.
    pub(crate) fn item(&self, item: ItemNo) -> Result<&AnnotationItem, Error> {
        let found = self.items.get(item.0 as usize);
        let n = self.items.len();
        let error = || shared::error::Error::index_not_found("item of this task", item.0, n).into();
        found.ok_or_else(error)
    }

    /// Returns the instances on which a decision counts; training items are left out.
    pub(crate) fn reviewed_instances(&self) -> Vec<StudyInstanceRef> {
        let work = self.read();
        let items = (0..).map(ItemNo).zip(&self.items);
        let reviewed = items
            .filter(|(no, item)| !is_training_item(item) && work.tally.has_counting_decision(*no));
        reviewed.map(|it| it.1.instance).collect()
    }

    /// Returns the number of the item of an instance, if the task has one that is no training item.
    pub(crate) fn item_of_instance(&self, instance: StudyInstanceRef) -> Option<ItemNo> {
        let mut items = (0..).map(ItemNo).zip(&self.items);
        let found = items.find(|(_, item)| item.instance == instance && !is_training_item(item));
        found.map(|it| it.0)
    }

    /// Returns the answers to an item that count.
    pub(crate) fn item_answers(&self, item: ItemNo) -> ItemAnswers {
        ItemAnswers::from_log(&self.read().log, item)
    }

    /// Returns the summary of the task for lists, with the progress of a person.
    pub(crate) fn task_summary(&self, person: Option<PersonId>) -> AnnotationTaskSummary {
        let row = self.task_row();
        let names = row.task.probes.iter().map(|it| it.name().into_owned());
        AnnotationTaskSummary {
            task: row.no,
            title: row.task.title.clone(),
            study: row.task.study.clone(),
            status: row.state,
            are_results_public: row.results_public,
            probe_names: names.collect(),
            created_ms: row.made_ms,
            is_simulated: row.task.is_simulated(),
            progress: self.progress_summary_for_person(person),
        }
    }

    /// Returns the progress of a person and of all annotators.
    pub(crate) fn progress_summary_for_person(
        &self,
        person: Option<PersonId>,
    ) -> TaskProgressSummary {
        let row = self.task_row();
        let work = self.read();
        let standing = work
            .tally
            .summarize_own_and_total_progress(person, &self.items);
        let standing = match row.task.is_simulated() {
            true => TaskProgressSummary {
                n_annotators: 0,
                n_simulated_annotators: standing.n_annotators,
                ..standing
            },
            false => standing,
        };
        let open = person.filter(|it| {
            row.state == AnnotationTaskStatus::Open && !work.log.is_person_excluded(*it)
        });
        let n_left = open.map(|person| {
            let leases = work.live(unix_time_ms_u64());
            work.tally
                .estimate_items_left_for_person(person, &row.task, &self.items, &leases)
        });
        TaskProgressSummary {
            n_available: n_left.unwrap_or_default(),
            ..standing
        }
    }

    /// Returns the number of training items that a person has neither decided on nor skipped.
    pub(crate) fn n_training_items_left(&self, person: Option<PersonId>) -> u32 {
        self.read().tally.n_training_items_left(person, &self.items)
    }

    /// Returns the number of people, or of simulated annotators, who have decided on at least one
    /// item.
    pub(crate) fn n_annotators_with_decisions(&self) -> u32 {
        self.read().tally.n_annotators_with_decisions()
    }

    /// Finds the next items for a person and leases them, in memory only. The time is proportional
    /// to the number of items, so this must run off the async threads, with
    /// [`InMemoryTaskState::turn`] held.
    pub(super) fn lease_items(&self, person: PersonId, n: usize) -> LeasedAssignments {
        let (row, now_ms) = (self.task_row(), unix_time_ms_u64());
        let (next, leases) = {
            let work = self.read();
            let leases = work.live(now_ms);
            let queue = ItemAssigner {
                task: &row.task,
                items: &self.items,
                log: &work.log,
                leases: &leases,
                now_ms,
            };
            let next = queue.next_assignments(person, n);
            let leases = queue.create_leases(person, &next.assignments);
            (next, leases)
        };
        let promised = leases
            .iter()
            .map(|it| ((it.item, it.person), it.expires_ms));
        let mut work = self.write();
        work.leases.retain(|_, until_ms| *until_ms > now_ms);
        work.leases.extend(promised);
        drop(work);
        let NextItemAssignments {
            assignments: offers,
            n_leased_to_others: n_leased,
        } = next;
        let n_work = offers
            .iter()
            .filter(|it| it.phase == AssignmentPhase::Main)
            .count() as u32;
        let standing = self.progress_summary_for_person(Some(person));
        LeasedAssignments {
            standing: TaskProgressSummary {
                // If fewer items were found than requested, these are the last ones; otherwise
                // there are at least as many as were found.
                n_available: match offers.len() < n {
                    true => n_work,
                    false => standing.n_available.max(n_work),
                },
                ..standing
            },
            assignments: offers,
            leases,
            n_leased,
        }
    }

    /// Returns when the lease of a person on an item expires, in milliseconds since 1970; `None`
    /// without a current lease.
    pub(crate) fn item_lease_expiry_ms(&self, person: PersonId, item: ItemNo) -> Option<u64> {
        let until_ms = self.read().leases.get(&(item, person)).copied();
        until_ms.filter(|it| *it > unix_time_ms_u64())
    }

    /// Returns whether a person has decided on an item or skipped it.
    pub(crate) fn has_person_finished_item(&self, person: PersonId, item: ItemNo) -> bool {
        self.read().tally.has_person_finished_item(person, item)
    }

    /// Returns the latest events of a person, newest first, at most [`MAX_OWN_EVENTS`].
    pub(crate) fn newest_events_of_person(&self, person: PersonId) -> Vec<EventWithStatus> {
        let work = self.read();
        let keys = work
            .tally
            .event_keys_of_person(person)
            .iter()
            .rev()
            .take(MAX_OWN_EVENTS);
        let entries = keys.filter_map(|it| work.log.entry_by_key(*it));
        let done = entries.map(|it| EventWithStatus {
            entry: it.clone(),
            status: work.log.current_event_status(it),
        });
        done.collect()
    }

    /// Returns everything that is stored about a person in this task; `None` if there is nothing.
    pub(super) fn person_data(&self, person: PersonId) -> Option<OwnTaskData> {
        let (row, work) = (self.task_row(), self.read());
        let is_about = |action: &AnnotationEventAction| match action {
            AnnotationEventAction::Excluded(it) | AnnotationEventAction::Included(it) => {
                it.person == person
            }
            AnnotationEventAction::Decided(_)
            | AnnotationEventAction::Skipped(_)
            | AnnotationEventAction::Reported(_)
            | AnnotationEventAction::Undone { .. }
            | AnnotationEventAction::Adjudicated(_) => false,
        };
        let entries = work.log.entries().into_iter();
        let entries = entries.filter(|it| it.person == person || is_about(&it.event.action));
        let events = entries.map(|it| EventWithStatus {
            entry: it.clone(),
            status: work.log.current_event_status(it),
        });
        let mut leases = work.live(unix_time_ms_u64());
        leases.retain(|it| it.person == person);
        let found = OwnTaskData {
            task: row.no,
            title: row.task.title.clone(),
            study: row.task.study.clone(),
            leases,
            events: events.collect(),
        };
        (!found.leases.is_empty() || !found.events.is_empty()).then_some(found)
    }

    /// Returns a copy of the log, so that long computations do not block writers.
    pub(crate) fn clone_event_log(&self) -> AnnotationLog {
        self.read().log.clone()
    }

    /// Returns the number of events in the log.
    pub(crate) fn n_events(&self) -> usize {
        self.read().log.len()
    }

    /// Returns the cached content of an item for a revision of the study.
    pub(crate) fn cached_item_content(
        &self,
        revision: i64,
        item: ItemNo,
    ) -> Option<Arc<AnnotationItemContent>> {
        let words = self.known_words();
        let found = words
            .of_item
            .get(&item)
            .filter(|_| words.revision == revision);
        found.cloned()
    }

    /// Caches the contents of items for a revision of the study. Contents of other revisions are
    /// dropped.
    pub(crate) fn cache_item_contents(
        &self,
        revision: i64,
        found: Vec<(ItemNo, Arc<AnnotationItemContent>)>,
    ) {
        let mut words = self.known_words();
        if words.revision != revision || words.of_item.len() + found.len() > MAX_CACHED_ITEMS {
            words.of_item.clear();
        }
        words.revision = revision;
        words.of_item.extend(found);
    }

    /// Compares an event with the event of the log that has the same key.
    pub(super) fn event_key_status(&self, entry: &ReceivedAnnotationEvent) -> EventKeyStatus {
        let work = self.read();
        match work.log.entry_by_key(entry.event.key) {
            None => EventKeyStatus::New,
            Some(known) if is_same_event(known, entry) => EventKeyStatus::Duplicate,
            Some(_) => EventKeyStatus::Conflict,
        }
    }

    /// Appends events that are in the database to the log and updates the counts.
    pub(super) fn append_stored_events(&self, entries: Vec<ReceivedAnnotationEvent>) {
        let mut work = self.write();
        let Work { log, tally, .. } = &mut *work;
        for entry in entries {
            let key: AnnotationEventKey = entry.event.key;
            if log.append(entry) == shared::annotation::log::LogAppendOutcome::Appended
                && let Some(taken) = log.entry_by_key(key)
            {
                tally.add_event(taken, &self.items, log);
            }
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Work> {
        self.work.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Work> {
        self.work.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_words(&self) -> MutexGuard<'_, ContentCache> {
        self.words.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether two entries are the same event of the same person. The time of arrival does not
/// matter.
pub(super) fn is_same_event(a: &ReceivedAnnotationEvent, b: &ReceivedAnnotationEvent) -> bool {
    (a.person, &a.event) == (b.person, &b.event)
}

impl Work {
    /// Returns the leases that have not expired.
    fn live(&self, now_ms: u64) -> Vec<ItemLease> {
        let live = self.leases.iter().filter(|it| *it.1 > now_ms);
        live.map(|(&(item, person), &until_ms)| ItemLease {
            item,
            person,
            expires_ms: until_ms,
        })
        .collect()
    }
}
