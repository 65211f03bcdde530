//! Copies text for the reader.

use leptos::prelude::*;
use wasm_bindgen_futures::JsFuture;

/// Whether it worked: browsers refuse where a page does not come by a safe way.
pub(crate) async fn copy_text(text: &str) -> bool {
    if !window().is_secure_context() {
        return false;
    }
    JsFuture::from(window().navigator().clipboard().write_text(text))
        .await
        .is_ok()
}
