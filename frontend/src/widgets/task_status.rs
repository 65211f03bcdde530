//! The status of an annotation task, as every page shows it.

use shared::api::annotation::TaskStatus;

/// Returns the label of a task's status.
pub(crate) fn task_status_label(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Draft => "draft",
        TaskStatus::Open => "open",
        TaskStatus::Closed => "closed",
    }
}
