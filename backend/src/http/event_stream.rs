//! Server-sent events about changes of jobs and trainings.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream, StreamExt};
use serde::Serialize;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, broadcast, watch};

use crate::error::Error;
use crate::http::AppState;
use crate::jobs::wait_for_shutdown_signal;

/// Interval of keep-alive messages. Proxies close a connection that is silent for a minute.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// A client that waits for changes. It takes one of the slots for watchers until it is dropped.
pub(super) struct ChangeWatcher<T> {
    #[expect(dead_code, reason = "held until the connection ends")]
    place: OwnedSemaphorePermit,
    changes: broadcast::Receiver<T>,
    stopping: watch::Receiver<bool>,
}

/// A change, or the notice that the client has missed some.
pub(super) enum WatchedChange<T> {
    /// The change that follows those received so far.
    Next(T),
    /// The client was too slow: some changes were dropped.
    Missed,
}

impl<T: Clone> ChangeWatcher<T> {
    /// Takes a slot for a client that gets changes from a subscription. Returns an error if none is
    /// free.
    pub(super) fn new(
        app: &AppState,
        changes: broadcast::Receiver<T>,
    ) -> Result<ChangeWatcher<T>, Error> {
        Ok(ChangeWatcher {
            place: app.limits.take_watcher_slot()?,
            changes,
            stopping: app.shutdown.clone(),
        })
    }

    /// Waits for the next change; returns `None` when the server stops.
    pub(super) async fn next_change(&mut self) -> Option<WatchedChange<T>> {
        tokio::select! {
            () = wait_for_shutdown_signal(&mut self.stopping) => None,
            change = self.changes.recv() => match change {
                Ok(change) => Some(WatchedChange::Next(change)),
                Err(RecvError::Lagged(_)) => Some(WatchedChange::Missed),
                Err(RecvError::Closed) => None,
            },
        }
    }
}

/// Creates an event with a value as JSON.
pub(super) fn json_event(name: &str, value: &impl Serialize) -> Event {
    let event = Event::default().event(name).json_data(value);
    event.expect("responses are JSON")
}

/// Returns the response that sends the events of `next` until it returns `None`.
pub(super) fn respond_with_events<S, F>(
    state: S,
    next: impl FnMut(S) -> F + Send + 'static,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>>
where
    S: Send + 'static,
    F: Future<Output = Option<(Event, S)>> + Send + 'static,
{
    let events = stream::unfold(state, next).map(Ok);
    Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT))
}
