//! The annotation events that still have to reach the server.
//!
//! An event is first written to a table in the browser, then sent to the server, and deleted from
//! the table when the server has confirmed it. An event keeps its key however often it is sent, so
//! a lost reply, a closed tab or a second tab do no harm. Each tab has one outbox, which outlives
//! the pages of the lazy bundle.

pub(crate) mod queue;
mod view;
mod store;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use leptos::ev;
use leptos::prelude::*;
use shared::annotation::{AnnotationEventKey, ClientAnnotationEvent, PersonId};
use shared::api::annotation::{SubmitEventsRequest, TaskId, TaskProgressSummary};

use crate::api::{self, RequestError};
use queue::{BatchDeliveryResult, DeliveryProblem, UnconfirmedAnnotationEvent, UnsentEventQueue};
use store::UnsentEventStore;
pub(crate) use view::{OutboxSummary, RejectedEventsPanel};

/// A request without an answer is sent again after this time.
const REPLY_TIMEOUT: Duration = Duration::from_secs(20);

/// The delivery status of the events of this visit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OutboxStatus {
    /// How many events the server has stored.
    pub(crate) n_saved: usize,
    /// Events that are still to be sent.
    pub(crate) pending: Vec<UnconfirmedAnnotationEvent>,
    /// Events that the server rejected.
    pub(crate) rejected: Vec<UnconfirmedAnnotationEvent>,
    /// Why nothing can be sent at the moment.
    pub(crate) problem: Option<DeliveryProblem>,
    /// Why the browser cannot store events, if it cannot: unsent events are then lost with the tab.
    pub(crate) storage_error: Option<String>,
    /// Unsent events of other people in this browser.
    pub(crate) n_other_people: usize,
    /// Whether the events of earlier visits have been loaded.
    pub(crate) is_loaded: bool,
}

#[derive(Default)]
struct Outbox {
    person: Option<PersonId>,
    queue: UnsentEventQueue,
    store: Option<Rc<UnsentEventStore>>,
    forgets: Option<String>,
    n_others: usize,
    looked: bool,
    /// Earlier timers do nothing when they fire.
    last_timer: u64,
    has_listeners: bool,
}

thread_local! {
    static OUTBOX: RefCell<Outbox> = RefCell::default();
    static STATUS: ArcRwSignal<OutboxStatus> = ArcRwSignal::default();
    static LAST_DELIVERY: ArcRwSignal<Option<(TaskId, TaskProgressSummary)>> =
        ArcRwSignal::default();
}

/// Returns the signal with the delivery status of the annotation events in this browser.
pub(crate) fn outbox_status_signal() -> ArcRwSignal<OutboxStatus> {
    STATUS.with(Clone::clone)
}

/// Returns the task of the last delivery with its progress after it.
pub(crate) fn task_progress_after_last_delivery()
-> ArcRwSignal<Option<(TaskId, TaskProgressSummary)>> {
    LAST_DELIVERY.with(Clone::clone)
}

/// Opens the outbox for the person who is signed in and sends their unsent events.
pub(crate) async fn open_outbox_and_send_unsent(person: PersonId) {
    add_listeners();
    OUTBOX.with_borrow_mut(|it| {
        if it.person != Some(person) {
            *it = Outbox {
                person: Some(person),
                store: it.store.take(),
                has_listeners: true,
                ..Outbox::default()
            };
        }
    });
    if OUTBOX.with_borrow(|it| it.store.is_none()) {
        let opened = UnsentEventStore::open().await;
        OUTBOX.with_borrow_mut(|it| match opened {
            Ok(store) => {
                it.store = Some(Rc::new(store));
                it.forgets = None;
            }
            Err(error) => it.forgets = Some(error.to_string()),
        });
    }
    load_stored_events().await;
    flush();
}

/// Stores an event of the person and sends it. Returns at once.
pub(crate) fn store_and_send_event(task: TaskId, event: ClientAnnotationEvent) {
    let key = event.key;
    let added = OUTBOX.with_borrow_mut(|it| {
        let person = it.person?;
        let kept = UnconfirmedAnnotationEvent {
            position: event.created_ms.saturating_mul(1_000),
            person,
            task,
            event,
            rejection: None,
        };
        Some((it.queue.add_new_event(kept), it.store.clone()))
    });
    publish_status();
    let Some((kept, store)) = added else {
        return;
    };
    leptos::task::spawn_local(async move {
        if let Some(store) = store
            && let Err(error) = store.put(&kept).await
        {
            OUTBOX.with_borrow_mut(|it| it.forgets = Some(error.to_string()));
        }
        OUTBOX.with_borrow_mut(|it| it.queue.mark_locally_stored(key));
        flush();
    });
}

/// Sends all events now, including rejected ones, without waiting for the next retry.
pub(crate) fn send_unsent_events_now() {
    OUTBOX.with_borrow_mut(|it| it.queue.requeue_rejected());
    flush();
}

/// Deletes the rejected events for good.
pub(crate) fn discard_rejected_outbox_events() {
    let gone = OUTBOX.with_borrow_mut(|it| it.queue.remove_rejected());
    publish_status();
    leptos::task::spawn_local(delete_events(gone));
}

/// Returns the events of a task that are not sent yet, in order.
pub(crate) fn unsent_events_of_task(task: TaskId) -> Vec<ClientAnnotationEvent> {
    OUTBOX.with_borrow(|it| {
        let of_task = it.queue.unsent_events().iter().filter(|it| it.task == task);
        of_task.map(|it| it.event.clone()).collect()
    })
}

/// Loads the events that other visits and tabs have left.
async fn load_stored_events() {
    let (person, store) = OUTBOX.with_borrow(|it| (it.person, it.store.clone()));
    let found = match store {
        Some(store) => store.load_all().await,
        None => Ok(Vec::new()),
    };
    OUTBOX.with_borrow_mut(|it| {
        if it.person != person {
            return;
        }
        match found {
            Ok(found) => {
                let (mine, others): (
                    Vec<UnconfirmedAnnotationEvent>,
                    Vec<UnconfirmedAnnotationEvent>,
                ) = found.into_iter().partition(|it| Some(it.person) == person);
                it.n_others = others.len();
                for kept in mine {
                    it.queue.add_stored_event(kept);
                }
            }
            Err(error) => it.forgets = Some(error.to_string()),
        }
        it.looked = true;
    });
    publish_status();
}

/// Sends the pending events in batches.
fn flush() {
    let next = OUTBOX.with_borrow_mut(|it| {
        // Invalidates any timer that was set before.
        it.last_timer += 1;
        Some((it.person?, it.queue.next_batch()?))
    });
    publish_status();
    let Some((person, batch)) = next else {
        return;
    };
    let number = batch.number;
    set_timeout(
        move || {
            let late = RequestError::Network("no answer".to_owned());
            apply_delivery(person, |it| it.handle_batch_failure(number, &late));
        },
        REPLY_TIMEOUT,
    );
    leptos::task::spawn_local(async move {
        let (task, events) = (batch.task, batch.events);
        match api::send_and_parse(&SubmitEventsRequest { task, events }).await {
            Ok(sent) => {
                apply_delivery(person, |it| Some(it.handle_batch_reply(number, &sent)));
                LAST_DELIVERY.with(|it| it.set(Some((task, sent.progress))));
            }
            Err(error) => apply_delivery(person, |it| it.handle_batch_failure(number, &error)),
        }
    });
}

/// Applies the result of a batch to the queue, then sends the next batch or schedules a retry.
fn apply_delivery(
    person: PersonId,
    hear: impl FnOnce(&mut UnsentEventQueue) -> Option<BatchDeliveryResult>,
) {
    let then = OUTBOX.with_borrow_mut(|it| {
        // The queue of another person does not know the batch; its events are still in the table.
        (it.person == Some(person))
            .then(|| hear(&mut it.queue))
            .flatten()
    });
    let Some(BatchDeliveryResult {
        delivered: gone,
        refused,
        retry_after_ms: pause_ms,
    }) = then
    else {
        return;
    };
    publish_status();
    leptos::task::spawn_local(async move {
        delete_events(gone).await;
        if let Some(store) = OUTBOX.with_borrow(|it| it.store.clone()) {
            for kept in refused {
                let _ = store.put(&kept).await;
            }
        }
    });
    match pause_ms {
        None => flush(),
        Some(pause) => schedule_retry(pause),
    }
}

/// Flushes the queue again after a pause.
fn schedule_retry(pause_ms: u64) {
    let timer = OUTBOX.with_borrow_mut(|it| {
        it.last_timer += 1;
        it.last_timer
    });
    set_timeout(
        move || {
            if OUTBOX.with_borrow(|it| it.last_timer == timer) {
                flush();
            }
        },
        Duration::from_millis(pause_ms),
    );
}

/// Deletes events from the table. If that fails, they are sent again at the next visit, and the
/// server recognizes them as duplicates.
async fn delete_events(keys: Vec<AnnotationEventKey>) {
    let store = OUTBOX.with_borrow(|it| it.store.clone());
    if let Some(store) = store
        && !keys.is_empty()
    {
        let _ = store.remove(&keys).await;
    }
}

fn publish_status() {
    let status = OUTBOX.with_borrow(|it| {
        let (refused, waiting) = it
            .queue
            .unsent_events()
            .iter()
            .cloned()
            .partition(|it| it.rejection.is_some());
        OutboxStatus {
            n_saved: it.queue.n_delivered_events(),
            pending: waiting,
            rejected: refused,
            problem: it.queue.delivery_problem().cloned(),
            storage_error: it.forgets.clone(),
            n_other_people: it.n_others,
            is_loaded: it.looked,
        }
    });
    STATUS.with(|it| {
        if *it.read_untracked() != status {
            it.set(status);
        }
    });
}

/// Listens until the tab is closed: sends events when the network or the focus comes back, and
/// warns before unsent events are lost.
fn add_listeners() {
    if OUTBOX.with_borrow_mut(|it| std::mem::replace(&mut it.has_listeners, true)) {
        return;
    }
    let wake = || {
        leptos::task::spawn_local(async {
            load_stored_events().await;
            flush();
        })
    };
    let _ = window_event_listener(ev::online, move |_| wake());
    let _ = window_event_listener(ev::focus, move |_| wake());
    let _ = window_event_listener(ev::beforeunload, |event| {
        if n_unsent() > 0 {
            event.prevent_default();
            // Older browsers need this to show the warning.
            event.set_return_value("unsent");
        }
    });
}

/// Returns how many events would be lost, or would wait for the next visit, if the tab were closed
/// now.
fn n_unsent() -> usize {
    OUTBOX.with_borrow(|it| {
        let is_at_risk =
            |kept: &&UnconfirmedAnnotationEvent| kept.rejection.is_none() || it.forgets.is_some();
        it.queue.unsent_events().iter().filter(is_at_risk).count()
    })
}
