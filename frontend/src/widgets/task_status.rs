//! The status of an annotation task, as every page shows it.

use shared::api::annotation::AnnotationTaskStatus;

/// Returns the label of a task's status.
pub(crate) fn task_status_label(status: AnnotationTaskStatus) -> &'static str {
    match status {
        AnnotationTaskStatus::Draft => "draft",
        AnnotationTaskStatus::Open => "open",
        AnnotationTaskStatus::Closed => "closed",
    }
}
