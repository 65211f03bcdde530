//! Writes events and leases: takes all waiting requests, commits them in one transaction and only
//! then replies.
//!
//! A commit waits for the disk, and all requests that arrive meanwhile share the next one. Many
//! annotators therefore do not wait for many commits, and an event that has been confirmed survives
//! a loss of power.
//!
//! If a commit fails, none of its events is added to the state in memory. The database may have
//! them nevertheless, for example if the connection broke after the commit. Before the next write
//! to such a task, the writer therefore reads its new events from the database.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use shared::annotation::assignment::ItemLease;
use shared::annotation::{AnnotationEventKey, ItemNo, PersonId, ReceivedAnnotationEvent};
use shared::api::annotation::{EventOutcome, TaskId};
use tokio::sync::{mpsc, oneshot};

use crate::annotation::task_state::{EventKeyStatus, InMemoryTaskState, is_same_event};
use crate::annotation::unix_time_ms_u64;
use crate::error::Error;
use crate::store::Database;
use crate::store::annotation_tasks::events::AnnotationWriteBatch;

/// Maximum number of requests in the queue for the next commit; further senders wait.
const WAITING: usize = 512;

/// Number of events after which a commit takes no further requests, so that none waits long.
const MAX_EVENTS_PER_COMMIT: usize = 2_000;

/// Time after which a commit that has not ended counts as failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// Seconds after which a client should retry a request that failed.
const RETRY_AFTER_S: u64 = 2;

/// Events and leases of one task that are to be stored.
pub(super) struct TaskEventsAndLeases {
    pub(super) desk: Arc<InMemoryTaskState>,
    pub(super) events: Vec<ReceivedAnnotationEvent>,
    pub(super) leases: Vec<ItemLease>,
}

/// A request with the channel for its reply.
struct Waiting {
    wanted: TaskEventsAndLeases,
    /// Receives the outcome of each event, or the reason why nothing was stored.
    done: oneshot::Sender<Result<Vec<EventOutcome>, String>>,
}

/// Commits events and leases to the database in batches.
#[derive(Debug, Clone)]
pub(super) struct AnnotationLogWriter(mpsc::Sender<Waiting>);

impl AnnotationLogWriter {
    /// Starts the task that writes to `store`. It ends when all clones of the writer are dropped.
    pub(super) fn start(store: Database) -> AnnotationLogWriter {
        let (sender, receiver) = mpsc::channel(WAITING);
        tokio::spawn(write(store, receiver));
        AnnotationLogWriter(sender)
    }

    /// Stores events and leases and returns the outcome of each event. They are in the database
    /// when this returns `Ok`; after an error none of them is confirmed.
    pub(super) async fn save_events_and_leases(
        &self,
        wanted: TaskEventsAndLeases,
    ) -> Result<Vec<EventOutcome>, Error> {
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

async fn write(store: Database, mut receiver: mpsc::Receiver<Waiting>) {
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
                doubtful.extend(wanted.iter().map(|it| it.desk.task_row().no));
                wanted.iter().map(|_| Err(error.public_message())).collect()
            }
        };
        for (done, answer) in done.into_iter().zip(answers) {
            // A receiver that is gone has disconnected and will send its events again.
            let _ = done.send(answer);
        }
    }
}

/// Commits the new events and leases, adds the events to the task states, and returns the outcomes.
async fn commit(
    store: &Database,
    wanted: &[TaskEventsAndLeases],
    doubtful: &mut BTreeSet<TaskId>,
) -> Result<Vec<Vec<EventOutcome>>, Error> {
    for it in wanted {
        let no = it.desk.task_row().no;
        if doubtful.contains(&no) {
            let found = store
                .annotation_events_from_position(no, it.desk.n_events())
                .await?;
            it.desk.append_stored_events(found);
            doubtful.remove(&no);
        }
    }
    let mut plan = WritePlan::default();
    let outcomes: Vec<Vec<EventOutcome>> = wanted.iter().map(|it| plan.add(it)).collect();
    let writing = plan.writing();
    if !writing.events.is_empty() || !writing.leases.is_empty() {
        let written = tokio::time::timeout(PATIENCE, store.write_events_and_leases(&writing));
        written.await.unwrap_or(Err(Error::ServerBusy {
            what: "writing to its database",
            retry_after_s: RETRY_AFTER_S,
        }))?;
    }
    for (desk, events) in plan.tasks.into_values().map(|it| (it.desk, it.events)) {
        desk.append_stored_events(events);
    }
    Ok(outcomes)
}

/// The events and leases to write, by task.
#[derive(Default)]
struct WritePlan<'a> {
    tasks: BTreeMap<TaskId, TaskWrites<'a>>,
}

struct TaskWrites<'a> {
    desk: &'a InMemoryTaskState,
    /// In the order of arrival.
    events: Vec<ReceivedAnnotationEvent>,
    /// Positions in `events`.
    keys: BTreeMap<AnnotationEventKey, usize>,
    leases: BTreeMap<(ItemNo, PersonId), u64>,
}

impl<'a> WritePlan<'a> {
    fn add(&mut self, wanted: &'a TaskEventsAndLeases) -> Vec<EventOutcome> {
        let desk = &*wanted.desk;
        let task = self.tasks.entry(desk.task_row().no).or_insert(TaskWrites {
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

    fn writing(&self) -> AnnotationWriteBatch {
        let mut writing = AnnotationWriteBatch {
            now_ms: unix_time_ms_u64(),
            ..AnnotationWriteBatch::default()
        };
        for (&no, task) in &self.tasks {
            let from = task.desk.n_events();
            let events = (from..).zip(&task.events);
            let events = events.map(|(place, entry)| (no, place, entry.clone()));
            writing.events.extend(events);
            let leases = task
                .leases
                .iter()
                .map(|(&(item, person), &until_ms)| ItemLease {
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
    fn outcome(&mut self, entry: &ReceivedAnnotationEvent) -> EventOutcome {
        let key = entry.event.key;
        let beside = match self.keys.get(&key).map(|&it| &self.events[it]) {
            Some(before) if is_same_event(before, entry) => EventKeyStatus::Duplicate,
            Some(_) => EventKeyStatus::Conflict,
            None => self.desk.event_key_status(entry),
        };
        match beside {
            EventKeyStatus::New => {
                self.keys.insert(key, self.events.len());
                self.events.push(entry.clone());
                EventOutcome::Stored
            }
            EventKeyStatus::Duplicate => EventOutcome::Duplicate,
            EventKeyStatus::Conflict => EventOutcome::Rejected {
                reason: "another event was kept under this key; send it with a key of its own"
                    .to_owned(),
            },
        }
    }
}
