//! A summary of the local study in the storage of the browser, so that pages can name it
//! without starting the worker.

use crate::local_storage;
#[cfg(feature = "frontend")]
use crate::number_format::format_count_with_noun;

const KEY: &str = "axioscope-local-study";

/// Stores the summary, as in `1,234 instances over 12 queries`.
#[cfg(feature = "frontend")]
pub(crate) fn store(study: &shared::api::worker::LocalStudySummary) {
    let text = format!(
        "{} over {}",
        format_count_with_noun(study.n_instances, "instance", "instances"),
        format_count_with_noun(study.n_queries, "query", "queries")
    );
    local_storage::store(KEY, &text);
}

/// Removes the stored summary of a cleared study.
#[cfg(feature = "frontend")]
pub(crate) fn remove() {
    local_storage::remove(KEY);
}

/// Returns the summary; none if there is no local study.
pub(crate) fn load() -> Option<String> {
    local_storage::load(KEY)
}
