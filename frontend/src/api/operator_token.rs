//! The operator's token, stored until the tab is closed and shared by both programs of the tab.

/// Stores the operator's token, which later requests of this tab are sent with.
pub(crate) fn store_operator_token_for_tab(token: &str) {
    if let Some(session) = session_storage() {
        let _ = session.set_item(TOKEN, token);
    }
}

/// Returns the token that was stored last.
pub(crate) fn stored_operator_token() -> Option<String> {
    session_storage()?.get_item(TOKEN).ok().flatten()
}

const TOKEN: &str = "axioscope-operator";

fn session_storage() -> Option<web_sys::Storage> {
    leptos::prelude::window().session_storage().ok().flatten()
}
