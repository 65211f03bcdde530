//! Copying text to the clipboard.

use leptos::prelude::*;
use wasm_bindgen_futures::JsFuture;

/// Copies a text and returns whether it worked; browsers refuse if the page is not in a secure
/// context.
pub(crate) async fn copy_to_clipboard(text: &str) -> bool {
    if !window().is_secure_context() {
        return false;
    }
    JsFuture::from(window().navigator().clipboard().write_text(text))
        .await
        .is_ok()
}
