//! Where events are kept in the browser: a table of IndexedDB, by key.

use idb::{Database, DatabaseEvent, Error, Factory, ObjectStoreParams, TransactionMode};
use shared::review::Key;
use wasm_bindgen::JsValue;

use super::line::Kept;

const DATABASE: &str = "axioscope-review";
const EVENTS: &str = "events";

/// The table of events.
#[derive(Debug)]
pub(crate) struct Store(Database);

impl Store {
    /// Refused in some private windows.
    pub(crate) async fn open() -> Result<Store, Error> {
        let mut asked = Factory::new()?.open(DATABASE, Some(1))?;
        asked.on_upgrade_needed(|event| {
            // Without its table, every use fails and is told.
            if let Ok(database) = event.database() {
                let _ = database.create_object_store(EVENTS, ObjectStoreParams::new());
            }
        });
        asked.await.map(Store)
    }

    /// Everybody's events. What another version wrote and this one cannot read stays where it is.
    pub(crate) async fn all(&self) -> Result<Vec<Kept>, Error> {
        let transaction = self.0.transaction(&[EVENTS], TransactionMode::ReadOnly)?;
        let values = transaction
            .object_store(EVENTS)?
            .get_all(None, None)?
            .await?;
        let read = |it: &JsValue| serde_json::from_str(&it.as_string()?).ok();
        Ok(values.iter().filter_map(read).collect())
    }

    /// Keeps an event, in the place of what had its key. It is on the disk after that.
    pub(crate) async fn put(&self, kept: &Kept) -> Result<(), Error> {
        let transaction = self.0.transaction(&[EVENTS], TransactionMode::ReadWrite)?;
        let json = serde_json::to_string(kept).expect("an event has only text keys");
        let key = JsValue::from_str(&kept.event.key.to_string());
        let events = transaction.object_store(EVENTS)?;
        events.put(&JsValue::from_str(&json), Some(&key))?.await?;
        transaction.await.and_then(whole)
    }

    /// Forgets events.
    pub(crate) async fn remove(&self, keys: &[Key]) -> Result<(), Error> {
        let transaction = self.0.transaction(&[EVENTS], TransactionMode::ReadWrite)?;
        let events = transaction.object_store(EVENTS)?;
        for key in keys {
            let key = JsValue::from_str(&key.to_string());
            events.delete(key)?.await?;
        }
        transaction.await.and_then(whole)
    }
}

fn whole(result: idb::TransactionResult) -> Result<(), Error> {
    if result.is_committed() {
        Ok(())
    } else {
        Err(Error::DomExceptionNotFound)
    }
}
