//! The one who writes: takes whatever waits, commits it by one transaction, and only then says so.
//!
//! A commit waits for the disk, and all that comes meanwhile shares the next one: so hundreds of
//! people do not wait for hundreds of commits, and nobody is told of an event that a loss of power
//! could take back.
//!
//! Where a commit fails nothing of it is taken. Whether the database has it all the same, as when
//! a connection breaks in the middle, is looked up before anything else is written to that task.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use shared::annotation::assignment::Lease;
use shared::annotation::{EventKey, ItemNo, LogEntry, PersonId};
use shared::api::annotation::{EventOutcome, TaskId};
use tokio::sync::{mpsc, oneshot};

use crate::annotation::now_ms;
use crate::annotation::task_state::{KeyStatus, TaskState, is_same};
use crate::error::Error;
use crate::store::Store;
use crate::store::annotation_tasks::events::AnnotationWrite;

/// Requests that wait for the next commit, at most; others wait to be among them.
const WAITING: usize = 512;

/// Events that are committed at once: few enough that nobody waits long for the others.
const MAX_EVENTS_PER_COMMIT: usize = 2_000;

/// A database that has not committed for so long has not.
const PATIENCE: Duration = Duration::from_secs(20);

/// When whoever could not be served should come again.
const RETRY_AFTER_S: u64 = 2;

/// What somebody wants to be kept.
pub(super) struct WriteRequest {
    pub(super) desk: Arc<TaskState>,
    pub(super) events: Vec<LogEntry>,
    pub(super) leases: Vec<Lease>,
}

/// A wish with the one who waits for it.
struct Waiting {
    wanted: WriteRequest,
    /// What became of each event, or why nothing was kept.
    done: oneshot::Sender<Result<Vec<EventOutcome>, String>>,
}

/// Commits events and leases to the database in batches.
#[derive(Debug, Clone)]
pub(super) struct LogWriter(mpsc::Sender<Waiting>);

impl LogWriter {
    /// Begins to write into a store, until all who could ask for it are gone.
    pub(super) fn start(store: Store) -> LogWriter {
        let (sender, receiver) = mpsc::channel(WAITING);
        tokio::spawn(write(store, receiver));
        LogWriter(sender)
    }

    /// Keeps events and promises. When it returns they are on the disk, or none of them is said
    /// to be.
    pub(super) async fn save(&self, wanted: WriteRequest) -> Result<Vec<EventOutcome>, Error> {
        let crashed = Error::Panicked {
            what: "keeping what was done",
        };
        let (done, answer) = oneshot::channel();
        if self.0.send(Waiting { wanted, done }).await.is_err() {
            return Err(crashed);
        }
        let Ok(answer) = answer.await else {
            return Err(crashed);
        };
        answer.map_err(|reason| Error::NotSaved {
            reason,
            retry_after_s: RETRY_AFTER_S,
        })
    }
}

async fn write(store: Store, mut receiver: mpsc::Receiver<Waiting>) {
    let mut doubtful = BTreeSet::new();
    while let Some(first) = receiver.recv().await {
        let mut n_events = first.wanted.events.len();
        let mut waiting = vec![first];
        while n_events < MAX_EVENTS_PER_COMMIT
            && let Ok(next) = receiver.try_recv()
        {
            n_events += next.wanted.events.len();
            waiting.push(next);
        }
        let (wanted, done): (Vec<_>, Vec<_>) =
            waiting.into_iter().map(|it| (it.wanted, it.done)).unzip();
        let committed = commit(&store, &wanted, &mut doubtful).await;
        let answers: Vec<Result<Vec<EventOutcome>, String>> = match committed {
            Ok(outcomes) => outcomes.into_iter().map(Ok).collect(),
            Err(error) => {
                tracing::error!("{n_events} events were not kept: {error}");
                doubtful.extend(wanted.iter().map(|it| it.desk.row().no));
                wanted.iter().map(|_| Err(error.public_message())).collect()
            }
        };
        for (done, answer) in done.into_iter().zip(answers) {
            // Whoever has gone away will ask again.
            let _ = done.send(answer);
        }
    }
}

/// Commits what is new, takes it into memory, and says what became of each event.
async fn commit(
    store: &Store,
    wanted: &[WriteRequest],
    doubtful: &mut BTreeSet<TaskId>,
) -> Result<Vec<Vec<EventOutcome>>, Error> {
    for it in wanted {
        let no = it.desk.row().no;
        if doubtful.contains(&no) {
            let found = store.review_events(no, it.desk.n_events()).await?;
            it.desk.append(found);
            doubtful.remove(&no);
        }
    }
    let mut plan = WritePlan::default();
    let outcomes: Vec<Vec<EventOutcome>> = wanted.iter().map(|it| plan.add(it)).collect();
    let writing = plan.writing();
    if !writing.events.is_empty() || !writing.leases.is_empty() {
        let written = tokio::time::timeout(PATIENCE, store.write_annotations(&writing));
        written.await.unwrap_or(Err(Error::ServerBusy {
            what: "writing to its database",
            retry_after_s: RETRY_AFTER_S,
        }))?;
    }
    for (desk, events) in plan.tasks.into_values().map(|it| (it.desk, it.events)) {
        desk.append(events);
    }
    Ok(outcomes)
}

/// What is to be written, by task.
#[derive(Default)]
struct WritePlan<'a> {
    tasks: BTreeMap<TaskId, TaskWrites<'a>>,
}

struct TaskWrites<'a> {
    desk: &'a TaskState,
    /// In the order in which they came.
    events: Vec<LogEntry>,
    /// Places among `events`.
    keys: BTreeMap<EventKey, usize>,
    leases: BTreeMap<(ItemNo, PersonId), u64>,
}

impl<'a> WritePlan<'a> {
    fn add(&mut self, wanted: &'a WriteRequest) -> Vec<EventOutcome> {
        let desk = &*wanted.desk;
        let task = self.tasks.entry(desk.row().no).or_insert(TaskWrites {
            desk,
            events: Vec::new(),
            keys: BTreeMap::new(),
            leases: BTreeMap::new(),
        });
        let leases = wanted.leases.iter();
        let leases = leases.map(|it| ((it.item, it.person), it.expires_ms));
        task.leases.extend(leases);
        let events = wanted.events.iter();
        events.map(|it| task.outcome(it)).collect()
    }

    fn writing(&self) -> AnnotationWrite {
        let mut writing = AnnotationWrite {
            now_ms: now_ms(),
            ..AnnotationWrite::default()
        };
        for (&no, task) in &self.tasks {
            let from = task.desk.n_events();
            let events = (from..).zip(&task.events);
            let events = events.map(|(place, entry)| (no, place, entry.clone()));
            writing.events.extend(events);
            let leases = task
                .leases
                .iter()
                .map(|(&(item, person), &until_ms)| Lease {
                    item,
                    person,
                    expires_ms: until_ms,
                });
            writing.leases.extend(leases.map(|it| (no, it)));
        }
        writing
    }
}

impl TaskWrites<'_> {
    fn outcome(&mut self, entry: &LogEntry) -> EventOutcome {
        let key = entry.event.key;
        let beside = match self.keys.get(&key).map(|&it| &self.events[it]) {
            Some(before) if is_same(before, entry) => KeyStatus::Duplicate,
            Some(_) => KeyStatus::Conflict,
            None => self.desk.key_status(entry),
        };
        match beside {
            KeyStatus::New => {
                self.keys.insert(key, self.events.len());
                self.events.push(entry.clone());
                EventOutcome::Stored
            }
            KeyStatus::Duplicate => EventOutcome::Duplicate,
            KeyStatus::Conflict => EventOutcome::Rejected {
                reason: "another event was kept under this key; send it with a key of its own"
                    .to_owned(),
            },
        }
    }
}
