//! The storage of events in the browser: an IndexedDB table with the event's key as its key.

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use gloo_timers::future::TimeoutFuture;
use idb::{Database, DatabaseEvent, Error, Factory, ObjectStoreParams, TransactionMode};
use shared::annotation::AnnotationEventKey;
use wasm_bindgen::JsValue;

use super::queue::UnconfirmedAnnotationEvent;

const DATABASE: &str = "axioscope-review";
const EVENTS: &str = "events";

/// A browser that has not answered after this time may never answer; events are then sent without
/// being stored.
const STORAGE_TIMEOUT_MS: u32 = 4_000;

/// Why the browser did not store or load something.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BrowserStorageError {
    /// The browser reported an error.
    #[error(transparent)]
    Failed(#[from] Error),
    /// The browser did not answer.
    #[error("the storage of this browser does not answer")]
    TimedOut,
}

/// Waits for the browser for at most [`STORAGE_TIMEOUT_MS`]. The work goes on after that, since the
/// browser must still find the listeners of its requests when it answers.
async fn with_timeout<T: 'static>(
    work: impl Future<Output = Result<T, Error>> + 'static,
) -> Result<T, BrowserStorageError> {
    let (mut work, mut late) = (Box::pin(work), pin!(TimeoutFuture::new(STORAGE_TIMEOUT_MS)));
    let done = poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => late.as_mut().poll(context).map(|()| None),
    });
    match done.await {
        Some(done) => done.map_err(BrowserStorageError::Failed),
        None => {
            leptos::task::spawn_local(async move { drop(work.await) });
            Err(BrowserStorageError::TimedOut)
        }
    }
}

/// The IndexedDB table of events that have not been sent.
#[derive(Debug)]
pub(crate) struct UnsentEventStore(Rc<Database>);

impl UnsentEventStore {
    /// Opens the table, creating it if necessary. Some browsers refuse in private windows.
    pub(crate) async fn open() -> Result<UnsentEventStore, BrowserStorageError> {
        let mut asked = Factory::new()?.open(DATABASE, Some(1))?;
        asked.on_upgrade_needed(|event| {
            // If creating the table fails, every later use fails and reports it.
            if let Ok(database) = event.database() {
                let _ = database.create_object_store(EVENTS, ObjectStoreParams::new());
            }
        });
        with_timeout(asked.into_future())
            .await
            .map(|it| UnsentEventStore(Rc::new(it)))
    }

    /// Loads the events of all people. Events of another version that cannot be parsed are skipped
    /// and stay in the table.
    pub(crate) async fn load_all(
        &self,
    ) -> Result<Vec<UnconfirmedAnnotationEvent>, BrowserStorageError> {
        let database = Rc::clone(&self.0);
        with_timeout(async move {
            let transaction = database.transaction(&[EVENTS], TransactionMode::ReadOnly)?;
            let values = transaction
                .object_store(EVENTS)?
                .get_all(None, None)?
                .await?;
            let read = |it: &JsValue| serde_json::from_str(&it.as_string()?).ok();
            Ok(values.iter().filter_map(read).collect())
        })
        .await
    }

    /// Stores an event, replacing any with the same key. It is on disk when this returns.
    pub(crate) async fn put(
        &self,
        kept: &UnconfirmedAnnotationEvent,
    ) -> Result<(), BrowserStorageError> {
        let database = Rc::clone(&self.0);
        let json = serde_json::to_string(kept).expect("an event has only string keys");
        let key = JsValue::from_str(&kept.event.key.to_string());
        with_timeout(async move {
            let transaction = database.transaction(&[EVENTS], TransactionMode::ReadWrite)?;
            let events = transaction.object_store(EVENTS)?;
            events.put(&JsValue::from_str(&json), Some(&key))?.await?;
            transaction.await.and_then(require_commit)
        })
        .await
    }

    /// Removes the events with these keys from the browser's database; returns an error if the
    /// transaction fails or times out.
    pub(crate) async fn remove(
        &self,
        keys: &[AnnotationEventKey],
    ) -> Result<(), BrowserStorageError> {
        let database = Rc::clone(&self.0);
        let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
        with_timeout(async move {
            let transaction = database.transaction(&[EVENTS], TransactionMode::ReadWrite)?;
            let events = transaction.object_store(EVENTS)?;
            for key in keys {
                events.delete(JsValue::from_str(&key))?.await?;
            }
            transaction.await.and_then(require_commit)
        })
        .await
    }
}

fn require_commit(result: idb::TransactionResult) -> Result<(), Error> {
    if result.is_committed() {
        Ok(())
    } else {
        Err(Error::DomExceptionNotFound)
    }
}
