//! Reading files that were dropped or chosen: into the worker, or as text.

use leptos::prelude::*;
use shared::api::worker::{FileKind, WorkerRequest, WorkerResponse};
use wasm_bindgen_futures::JsFuture;
use web_sys::File;

use super::clear::finish_clearing;
use super::state::{FileReadState, WorkbenchFile, WorkbenchState};
use crate::api::{RequestError, worker};

/// Reads a file as text.
pub(super) async fn read_file_text(file: &File) -> Result<String, RequestError> {
    let read = JsFuture::from(file.text()).await;
    let text = read.map_err(|it| RequestError::File(format!("{it:?}")))?;
    Ok(text.as_string().unwrap_or_default())
}

/// Adds a file, replacing one of the same name, and reads it.
pub(super) fn add_and_read_file(bench: WorkbenchState, file: File, kind: Option<FileKind>) {
    leptos::task::spawn_local(async move { read_file(bench, file, kind).await });
}

/// Reads again the files that the current worker does not have.
pub(super) async fn reread_files_for_new_worker(bench: WorkbenchState) {
    let stale: Vec<(File, FileKind)> = bench.files.with_untracked(|files| {
        let known = files
            .iter()
            .filter(|it| it.worker_generation != worker::worker_restart_count());
        known
            .filter_map(|it| match &it.state {
                FileReadState::Read(read) => Some((it.file.clone(), read.kind)),
                FileReadState::Reading(_) | FileReadState::Failed(_) => None,
            })
            .collect()
    });
    for (file, kind) in stale {
        read_file(bench, file, Some(kind)).await;
    }
}

async fn read_file(bench: WorkbenchState, file: File, kind: Option<FileKind>) {
    finish_clearing(bench).await;
    let name = file.name();
    let size = file.size();
    let generation = worker::worker_restart_count();
    let done = ArcRwSignal::new(0.0);
    let state = FileReadState::Reading(done.clone());
    let entry = WorkbenchFile {
        name: name.clone(),
        file: file.clone(),
        state,
        worker_generation: generation,
    };
    bench
        .files
        .update(|files| match files.iter_mut().find(|it| it.name == name) {
            Some(place) => *place = entry,
            None => files.push(entry),
        });
    let ask = WorkerRequest::ReadFile {
        name: name.clone(),
        kind,
    };
    let asked = worker::start_worker_task(ask, &file, move |progress| {
        done.set(if size > 0.0 {
            progress.done as f64 / size
        } else {
            1.0
        });
    });
    let state = match asked.wait_for_reply().await.map(|it| it.message) {
        Ok(WorkerResponse::FileRead(read)) => FileReadState::Read(read),
        Ok(WorkerResponse::Canceled) => {
            FileReadState::Failed("stopped; choose the file again to read it".to_owned())
        }
        Ok(_) => FileReadState::Failed("not read; choose the file again".to_owned()),
        Err(error) => FileReadState::Failed(error.to_string()),
    };
    set_state(bench, &name, state);
}

fn set_state(bench: WorkbenchState, name: &str, state: FileReadState) {
    // The page may have been left in the meantime.
    let _ = bench.files.try_update(|files| {
        if let Some(entry) = files.iter_mut().find(|it| it.name == name) {
            entry.state = state;
        }
    });
}
