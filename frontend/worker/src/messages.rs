//! The messages of the worker to the page.

use js_sys::{Array, Promise};
use shared::api::ErrorResponse;
use shared::api::worker::{WorkerMessage, WorkerPipelineStage, WorkerProgress, WorkerResponse};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, DedicatedWorkerGlobalScope};

/// Returns the global scope of the web worker in which this code runs.
pub(crate) fn worker_global_scope() -> DedicatedWorkerGlobalScope {
    js_sys::global().unchecked_into()
}

/// Sends a message about the task with this number to the page.
pub(crate) fn post_task_message_to_page(number: u64, says: &WorkerResponse, beside: &JsValue) {
    let envelope = WorkerMessage {
        id: number,
        body: says,
    };
    let json = serde_json::to_string(&envelope).expect("a message has only string keys");
    let message = Array::of2(&JsValue::from_str(&json), beside);
    // This cannot fail, since texts and blobs can always be cloned.
    let _ = worker_global_scope().post_message(&message);
}

/// Creates a blob with a text that the page passes on without reading it.
pub(crate) fn create_text_blob(text: &str) -> Result<JsValue, ErrorResponse> {
    let parts = Array::of1(&JsValue::from_str(text));
    let blob = Blob::new_with_str_sequence(&parts).map_err(|_| {
        let error = "The browser does not have enough memory for these documents. Use fewer \
             queries.";
        ErrorResponse::with_message_and_type(error, "worker")
    })?;
    Ok(blob.into())
}

/// Returns the time in milliseconds since the worker started.
pub(crate) fn ms_since_worker_start() -> f64 {
    worker_global_scope()
        .performance()
        .map_or(0.0, |it| it.now())
}

/// Yields to the event loop once, so that pending messages to the worker are handled.
pub(crate) async fn yield_to_event_loop() {
    let wait = Promise::new(&mut |resolve, _| {
        let _ = worker_global_scope().set_timeout_with_callback(&resolve);
    });
    let _ = JsFuture::from(wait).await;
}

/// Reports the progress of a task several times a second.
pub(crate) struct ProgressReporter {
    number: u64,
    stage: Option<(WorkerPipelineStage, f64)>,
    last_report_ms: f64,
}

impl ProgressReporter {
    /// The minimum interval between two reports, in milliseconds.
    const REPORT_INTERVAL_MS: f64 = 100.0;

    /// Creates a reporter for the task with this number.
    pub(crate) fn for_task(number: u64) -> ProgressReporter {
        ProgressReporter {
            number,
            stage: None,
            last_report_ms: 0.0,
        }
    }

    /// Reports the progress, unless the last report was a moment ago. The beginning and end of each
    /// stage are always reported.
    pub(crate) fn report_if_due(
        &mut self,
        stage: WorkerPipelineStage,
        done: u64,
        of: u64,
        found: Option<u64>,
    ) -> ThrottledReportOutcome {
        let now = ms_since_worker_start();
        let began = match self.stage {
            Some((before, began)) if before == stage => began,
            Some(_) | None => {
                self.stage = Some((stage, now));
                self.last_report_ms = 0.0;
                now
            }
        };
        if now - self.last_report_ms < Self::REPORT_INTERVAL_MS && done < of {
            return ThrottledReportOutcome::Skipped;
        }
        self.last_report_ms = now;
        let seconds = (now - began) / 1000.0;
        let per_s = if seconds > 0.0 {
            done as f64 / seconds
        } else {
            0.0
        };
        let left_s = (per_s > 0.0).then(|| of.saturating_sub(done) as f64 / per_s);
        let progress = WorkerProgress {
            stage,
            done,
            total: of,
            per_s,
            remaining_s: left_s,
            n_instances: found,
        };
        post_task_message_to_page(
            self.number,
            &WorkerResponse::Progress(progress),
            &JsValue::UNDEFINED,
        );
        ThrottledReportOutcome::Sent
    }
}

/// Whether a report was sent to the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThrottledReportOutcome {
    /// The report was sent; the task should yield now.
    Sent,
    /// The last report was a moment ago.
    Skipped,
}
