//! A task in memory: what was drawn, what was done, what is promised to whom.
//!
//! What is here of the log is on the disk. Only one server works on a database, and all events
//! come through [`super::log_writer`], so memory and disk are the same.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use shared::annotation::assignment::{
    Assignment, AssignmentPhase, AssignmentQueue, Lease, NextAssignments,
};
use shared::annotation::content::ItemContent;
use shared::annotation::{AnnotationItem, AnnotationLog, EventKey, ItemNo, LogEntry, PersonId};
use shared::api::annotation::{EventRecord, TaskId, TaskProgressSummary, TaskStatus, TaskSummary};

use crate::annotation::counts::TaskCounts;
use crate::annotation::now_ms;
use crate::error::{Error, run_blocking};
use crate::store::Store;
use crate::store::annotation_tasks::TaskRow;

/// What somebody is told of what they did, at most.
const MAX_OWN_EVENTS: usize = 200;

/// Words of items that are kept, at most: of a usual task all, of a large one some 50 MB.
const MAX_CACHED_ITEMS: usize = 4_000;

/// A task that somebody asked for.
#[derive(Debug)]
pub(crate) struct TaskState {
    items: Vec<AnnotationItem>,
    row: RwLock<Arc<TaskRow>>,
    work: RwLock<Work>,
    words: Mutex<ContentCache>,
    /// Items are handed out to one after the other, so that no slot is promised twice.
    pub(super) turn: tokio::sync::Mutex<()>,
}

/// What changes while people work.
#[derive(Debug)]
struct Work {
    log: AnnotationLog,
    tally: TaskCounts,
    /// Until when, in milliseconds since 1970.
    leases: BTreeMap<(ItemNo, PersonId), u64>,
}

/// The words of items of a study as it is made by now.
#[derive(Debug, Default)]
struct ContentCache {
    revision: i64,
    of_item: BTreeMap<ItemNo, Arc<ItemContent>>,
}

/// What a person is promised.
#[derive(Debug)]
pub(crate) struct LeasedAssignments {
    /// In this order.
    pub assignments: Vec<Assignment>,
    /// Of each of them.
    pub leases: Vec<Lease>,
    /// As [`NextAssignments::n_leased_to_others`].
    pub n_leased: u32,
    /// How far the task is.
    pub standing: TaskProgressSummary,
}

/// An event beside the log.
pub(super) enum KeyStatus {
    /// The log has none with its key.
    New,
    /// The log has it.
    Duplicate,
    /// The log has another one with its key.
    Conflict,
}

impl TaskState {
    /// Reads a task with everything that was done.
    pub(super) async fn open(store: &Store, task: TaskId) -> Result<TaskState, Error> {
        let row = store.review_task(task).await?;
        let items = store.review_items(task).await?;
        let entries = store.review_events(task, 0).await?;
        let leases = store.review_leases(task).await?;
        run_blocking("counting what was done", move || {
            let items: Vec<AnnotationItem> = items.into_iter().map(|it| it.item).collect();
            let desk = TaskState {
                work: RwLock::new(Work {
                    log: AnnotationLog::default(),
                    tally: TaskCounts::new(&row.task, &items),
                    leases: BTreeMap::new(),
                }),
                items,
                row: RwLock::new(Arc::new(row)),
                words: Mutex::default(),
                turn: tokio::sync::Mutex::default(),
            };
            desk.append(entries);
            let known = leases
                .into_iter()
                .filter(|it| (it.item.0 as usize) < desk.items.len());
            let known = known.map(|it| ((it.item, it.person), it.expires_ms));
            desk.write().leases.extend(known);
            Ok(desk)
        })
        .await
    }

    /// What is known of the task beside its items and its log.
    pub(crate) fn row(&self) -> Arc<TaskRow> {
        self.row
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// After it was changed in the database.
    pub(super) fn set_row(&self, row: TaskRow) {
        *self.row.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(row);
    }

    /// Returns the items of the task, indexed by item number.
    pub(crate) fn items(&self) -> &[AnnotationItem] {
        &self.items
    }

    /// An item, if the task has it.
    pub(crate) fn item(&self, item: ItemNo) -> Result<&AnnotationItem, Error> {
        let found = self.items.get(item.0 as usize);
        found.ok_or_else(|| shared::error::Error::not_found("item of this task", item.0).into())
    }

    /// As a list shows it to somebody.
    pub(crate) fn card(&self, person: Option<PersonId>) -> TaskSummary {
        let row = self.row();
        TaskSummary {
            task: row.no,
            title: row.task.title.clone(),
            study: row.task.study.clone(),
            status: row.state,
            are_results_public: row.results_public,
            probes: row.task.probes.clone(),
            created_ms: row.made_ms,
            progress: self.progress(person),
        }
    }

    /// How far somebody and everybody are.
    pub(crate) fn progress(&self, person: Option<PersonId>) -> TaskProgressSummary {
        let row = self.row();
        let work = self.read();
        let standing = work.tally.progress(person, &self.items);
        let open = person.filter(|it| row.state == TaskStatus::Open && !work.log.is_excluded(*it));
        let n_left = open.map(|person| {
            let leases = work.live(now_ms());
            work.tally.n_left(person, &row.task, &self.items, &leases)
        });
        TaskProgressSummary {
            n_available: n_left.unwrap_or_default(),
            ..standing
        }
    }

    /// Items of training that somebody has not decided on yet.
    pub(crate) fn n_training(&self, person: Option<PersonId>) -> u32 {
        self.read().tally.n_training(person, &self.items)
    }

    /// How many people have decided.
    pub(crate) fn n_people(&self) -> u32 {
        self.read().tally.n_people()
    }

    /// Finds the next items for somebody and promises them, in memory. It takes time in proportion
    /// to the items, so it runs off the async threads, with [`TaskState::turn`] held.
    pub(super) fn lease_items(&self, person: PersonId, n: usize) -> LeasedAssignments {
        let (row, now_ms) = (self.row(), now_ms());
        let (next, leases) = {
            let work = self.read();
            let leases = work.live(now_ms);
            let queue = AssignmentQueue {
                task: &row.task,
                items: &self.items,
                log: &work.log,
                leases: &leases,
                now_ms,
            };
            let next = queue.next_assignments(person, n);
            let leases = queue.lease(person, &next.assignments);
            (next, leases)
        };
        let promised = leases
            .iter()
            .map(|it| ((it.item, it.person), it.expires_ms));
        let mut work = self.write();
        work.leases.retain(|_, until_ms| *until_ms > now_ms);
        work.leases.extend(promised);
        drop(work);
        let NextAssignments {
            assignments: offers,
            n_leased_to_others: n_leased,
        } = next;
        let n_work = offers
            .iter()
            .filter(|it| it.phase == AssignmentPhase::Main)
            .count() as u32;
        let standing = self.progress(Some(person));
        LeasedAssignments {
            standing: TaskProgressSummary {
                // Where these are the last ones, so many are left, and else no fewer.
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

    /// Until when an item is promised to somebody, if it is.
    pub(crate) fn lease_expiry(&self, person: PersonId, item: ItemNo) -> Option<u64> {
        let until_ms = self.read().leases.get(&(item, person)).copied();
        until_ms.filter(|it| *it > now_ms())
    }

    /// Whether somebody has decided on an item or passed over it.
    pub(crate) fn is_finished(&self, person: PersonId, item: ItemNo) -> bool {
        self.read().tally.is_finished(person, item)
    }

    /// What somebody did, the newest first.
    pub(crate) fn own_events(&self, person: PersonId) -> Vec<EventRecord> {
        let work = self.read();
        let keys = work.tally.keys(person).iter().rev().take(MAX_OWN_EVENTS);
        let entries = keys.filter_map(|it| work.log.entry(*it));
        let done = entries.map(|it| EventRecord {
            entry: it.clone(),
            status: work.log.status(it),
        });
        done.collect()
    }

    /// Everything that was done so far. A copy, so that whoever computes from it keeps nobody
    /// from going on.
    pub(crate) fn log(&self) -> AnnotationLog {
        self.read().log.clone()
    }

    /// How many events there are.
    pub(crate) fn n_events(&self) -> usize {
        self.read().log.len()
    }

    /// The words of an item as a study of a revision has them, if they are known.
    pub(crate) fn cached_content(&self, revision: i64, item: ItemNo) -> Option<Arc<ItemContent>> {
        let words = self.known_words();
        let found = words
            .of_item
            .get(&item)
            .filter(|_| words.revision == revision);
        found.cloned()
    }

    /// Keeps the words of items.
    pub(crate) fn cache_content(&self, revision: i64, found: Vec<(ItemNo, Arc<ItemContent>)>) {
        let mut words = self.known_words();
        if words.revision != revision || words.of_item.len() + found.len() > MAX_CACHED_ITEMS {
            words.of_item.clear();
        }
        words.revision = revision;
        words.of_item.extend(found);
    }

    /// What an event is beside the log.
    pub(super) fn key_status(&self, entry: &LogEntry) -> KeyStatus {
        let work = self.read();
        match work.log.entry(entry.event.key) {
            None => KeyStatus::New,
            Some(known) if is_same(known, entry) => KeyStatus::Duplicate,
            Some(_) => KeyStatus::Conflict,
        }
    }

    /// Takes what is on the disk by now.
    pub(super) fn append(&self, entries: Vec<LogEntry>) {
        let mut work = self.write();
        let Work { log, tally, .. } = &mut *work;
        for entry in entries {
            let key: EventKey = entry.event.key;
            if log.append(entry) == shared::annotation::log::AppendOutcome::Appended
                && let Some(taken) = log.entry(key)
            {
                tally.count(taken, &self.items, log);
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

/// When something came does not tell two events apart.
pub(super) fn is_same(a: &LogEntry, b: &LogEntry) -> bool {
    (a.person, &a.event) == (b.person, &b.event)
}

impl Work {
    /// Promises that have not run out.
    fn live(&self, now_ms: u64) -> Vec<Lease> {
        let live = self.leases.iter().filter(|it| *it.1 > now_ms);
        live.map(|(&(item, person), &until_ms)| Lease {
            item,
            person,
            expires_ms: until_ms,
        })
        .collect()
    }
}
