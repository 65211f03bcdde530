//! Saves text that was made in the page as a file.

use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};

/// Offers `text` as a file named `name`; `kind` is its media type.
pub(crate) fn offer_text_download(name: &str, kind: &str, text: &str) {
    let parts = js_sys::Array::of1(&JsValue::from_str(text));
    let options = web_sys::BlobPropertyBag::new();
    options.set_type(kind);
    match web_sys::Blob::new_with_str_sequence_and_options(&parts, &options) {
        Ok(blob) => offer_blob_download(name, &blob),
        Err(reason) => refused(name, &reason),
    }
}

/// Offers a `Blob` as a file named `name`.
pub(crate) fn offer_blob_download(name: &str, blob: &JsValue) {
    if let Err(reason) = try_save(name, blob) {
        refused(name, &reason);
    }
}

fn try_save(name: &str, blob: &JsValue) -> Result<(), JsValue> {
    let blob: &web_sys::Blob = blob.dyn_ref().ok_or("no blob")?;
    let address = web_sys::Url::create_object_url_with_blob(blob)?;
    let link: web_sys::HtmlAnchorElement = document().create_element("a")?.unchecked_into();
    link.set_href(&address);
    link.set_download(name);
    link.click();
    web_sys::Url::revoke_object_url(&address)
}

fn refused(name: &str, reason: &JsValue) {
    leptos::logging::error!("{name} could not be saved: {reason:?}");
}
