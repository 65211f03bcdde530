//! A summary of the local study in the storage of the browser, so that the list of studies can show
//! it without starting the worker.

use shared::api::worker::LocalStudySummary;

use crate::number_format::format_count_with_noun;

const KEY: &str = "axioscope-local-study";

/// Stores the summary, as in `1,234 instances over 12 queries`.
pub(super) fn store(study: &LocalStudySummary) {
    let text = format!(
        "{} over {}",
        format_count_with_noun(study.n_instances, "instance", "instances"),
        format_count_with_noun(study.n_queries, "query", "queries")
    );
    if let Some(storage) = storage() {
        let _ = storage.set_item(KEY, &text);
    }
}

/// Removes the stored summary of a cleared study.
pub(super) fn remove() {
    if let Some(storage) = storage() {
        let _ = storage.remove_item(KEY);
    }
}

/// Returns the summary; none if there is no local study.
pub(crate) fn load() -> Option<String> {
    storage()?.get_item(KEY).ok().flatten()
}

fn storage() -> Option<web_sys::Storage> {
    leptos::prelude::window().local_storage().ok().flatten()
}
