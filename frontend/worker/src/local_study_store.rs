//! Stores the local study in the browser's database, so that it survives a reload.
//!
//! If the browser stores nothing, as in some private windows, the study lasts as long as the page;
//! that is not an error.

use js_sys::Promise;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{IdbDatabase, IdbOpenDbRequest, IdbRequest, IdbTransactionMode};

use crate::messages;

const DATABASE: &str = "axioscope";
const STORE: &str = "studies";
const KEY: &str = "local";

/// Stores the JSON of the local study.
pub(crate) async fn store_local_study_json(study: &str) {
    if let Err(reason) = put(study).await {
        web_sys::console::warn_2(&"The local study could not be stored:".into(), &reason);
    }
}

/// Returns the JSON of the local study, if there is one.
pub(crate) async fn load_stored_study_json() -> Option<String> {
    get().await.unwrap_or_else(|reason| {
        web_sys::console::warn_2(&"The local study could not be loaded:".into(), &reason);
        None
    })
}

/// Deletes the local study from the browser's database; errors are ignored.
pub(crate) async fn delete_local_study() {
    let _ = delete().await;
}

async fn put(study: &str) -> Result<(), JsValue> {
    let store = store(IdbTransactionMode::Readwrite).await?;
    wait_for_request(&store.put_with_key(&study.into(), &KEY.into())?).await?;
    Ok(())
}

async fn get() -> Result<Option<String>, JsValue> {
    let store = store(IdbTransactionMode::Readonly).await?;
    Ok(wait_for_request(&store.get(&KEY.into())?)
        .await?
        .as_string())
}

async fn delete() -> Result<(), JsValue> {
    let store = store(IdbTransactionMode::Readwrite).await?;
    wait_for_request(&store.delete(&KEY.into())?).await?;
    Ok(())
}

async fn store(mode: IdbTransactionMode) -> Result<web_sys::IdbObjectStore, JsValue> {
    let factory = messages::worker_global_scope()
        .indexed_db()?
        .ok_or(JsValue::NULL)?;
    let open: IdbOpenDbRequest = factory.open_with_u32(DATABASE, 1)?;
    let opened = open.clone();
    let make = Closure::once(move || {
        if let Ok(database) = opened.result().and_then(|it| it.dyn_into::<IdbDatabase>()) {
            let _ = database.create_object_store(STORE);
        }
    });
    open.set_onupgradeneeded(Some(make.as_ref().unchecked_ref()));
    let database: IdbDatabase = wait_for_request(&open).await?.dyn_into()?;
    drop(make);
    database
        .transaction_with_str_and_mode(STORE, mode)?
        .object_store(STORE)
}

/// Waits until a database request has finished.
async fn wait_for_request(request: &IdbRequest) -> Result<JsValue, JsValue> {
    let waited = Promise::new(&mut |resolve, reject| {
        request.set_onsuccess(Some(&resolve));
        request.set_onerror(Some(&reject));
    });
    JsFuture::from(waited).await?;
    request.result()
}
