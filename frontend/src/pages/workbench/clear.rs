//! Clearing the Workbench, which can be undone.

use leptos::prelude::*;
use shared::api::worker::WorkerRequest;
use wasm_bindgen::JsValue;

use super::settings::LocalStudyFormValues;
use super::state::{ClearedWorkbench, StudyRunState, WorkbenchState};
use crate::api::{RequestError, worker};
use crate::debounce::DebounceTimer;
use crate::keyboard;
use crate::stored_summary;

/// How long clearing can be undone, in milliseconds.
const UNDO_MS: u64 = 30_000;

/// The id of the button that clears, and of the one that undoes it.
const BUTTON: &str = "clear-workbench";

/// Empties the page and keeps what it had, so that clearing can be undone.
fn clear(bench: WorkbenchState) {
    let _ = bench.cancel_study_computation();
    let cleared = ClearedWorkbench {
        files: bench.files.get_untracked(),
        settings: bench.settings.get_untracked(),
        stop_list: bench.stop_list.get_untracked(),
        vocabulary: bench.vocabulary.get_untracked(),
        study: bench.study.get_untracked(),
        job: bench.job.get_untracked(),
    };
    bench.cleared.set(Some(cleared));
    bench.files.set(Vec::new());
    bench.study.set(None);
    bench.job.set(None);
    bench.stop_list.set(None);
    bench.vocabulary.set(None);
    bench.settings.set(LocalStudyFormValues::default_settings());
    bench.run.set(StudyRunState::Idle);
}

fn undo(bench: WorkbenchState) {
    let Some(cleared) = bench.cleared.try_update(Option::take).flatten() else {
        return;
    };
    bench.files.set(cleared.files);
    bench.settings.set(cleared.settings);
    bench.stop_list.set(cleared.stop_list);
    bench.vocabulary.set(cleared.vocabulary);
    bench.study.set(cleared.study);
    bench.job.set(cleared.job);
}

/// Removes the files and the study of a cleared Workbench from the worker and from the storage of
/// the browser, after which clearing cannot be undone.
pub(super) async fn finish_clearing(bench: WorkbenchState) {
    if bench.cleared.try_update(Option::take).flatten().is_none() {
        return;
    }
    if let Err(error) = clear_worker().await {
        let _ = bench.run.try_set(StudyRunState::Failed(error));
    }
}

async fn clear_worker() -> Result<(), RequestError> {
    stored_summary::remove();
    let cleared = worker::run_worker_task(WorkerRequest::Clear, &JsValue::UNDEFINED).await;
    cleared.map(drop)
}

/// Renders the button that clears the Workbench and, after that, what undoes it.
#[component]
pub(super) fn ClearButton(bench: WorkbenchState) -> impl IntoView {
    let timer = DebounceTimer::with_delay_ms(UNDO_MS);
    let is_cleared = Memo::new(move |_| bench.cleared.with(Option::is_some));
    let clear = move |_| {
        clear(bench);
        keyboard::focus_element_on_next_frame(BUTTON);
        timer.schedule(move || leptos::task::spawn_local(finish_clearing(bench)));
    };
    let undo = move |_| {
        undo(bench);
        keyboard::focus_element_on_next_frame(BUTTON);
    };
    on_cleanup(move || {
        // The signals of the page are gone when a task runs.
        if bench.cleared.try_update(Option::take).flatten().is_some() {
            leptos::task::spawn_local(async { drop(clear_worker().await) });
        }
    });
    move || match is_cleared.get() {
        false => view! {
            <button id=BUTTON class="btn" type="button" on:click=clear>"Clear"</button>
        }
        .into_any(),
        true => view! {
            <span class="note" role="status">"Files and study cleared."</span>
            <button id=BUTTON class="btn" type="button" on:click=undo>"Undo"</button>
        }
        .into_any(),
    }
}
