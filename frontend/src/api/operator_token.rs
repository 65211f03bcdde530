//! The operator's token, kept until the tab is closed. Both programs of a tab find it.

/// Asks from now on, until the tab is closed, as the operator of the server.
pub(crate) fn store_token(token: &str) {
    if let Some(session) = session_storage() {
        let _ = session.set_item(TOKEN, token);
    }
}

/// The token that was given last.
pub(crate) fn stored_token() -> Option<String> {
    session_storage()?.get_item(TOKEN).ok().flatten()
}

const TOKEN: &str = "axioscope-operator";

fn session_storage() -> Option<web_sys::Storage> {
    leptos::prelude::window().session_storage().ok().flatten()
}
