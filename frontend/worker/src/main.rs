//! The web worker with the lexical pipeline: reads files, makes a study of them, and answers
//! requests about its studies as the server would.
//!
//! The messages are defined in `shared::api::worker`. A handler never blocks for long: making a
//! study yields to other messages between steps. Reading a file cannot yield, since the browser
//! reads synchronously; to stop it, the page terminates the worker.

mod study_requests;
mod state;
mod file;
mod file_kind;
mod local_study_store;
mod messages;
mod run_comparison;
mod sliced_study;
mod train;

use std::cell::RefCell;

use js_sys::Array;
use shared::api::worker::{
    GetPublishedTableRequest, LOCAL_STUDY, ManipulateTextRequest, WorkerMessage, WorkerRequest,
    WorkerResponse,
};
use shared::api::{Endpoint, ErrorResponse};
use wasm_bindgen::prelude::*;
use web_sys::{File, MessageEvent};

use state::WorkerState;

thread_local! {
    static STATE: RefCell<WorkerState> = RefCell::new(WorkerState::default());
}

fn main() {
    console_error_panic_hook::set_once();
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(|event: MessageEvent| {
        wasm_bindgen_futures::spawn_local(handle_message(event.data()));
    });
    messages::worker_global_scope().set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    // The listener stays for as long as the worker lives.
    on_message.forget();
    messages::post_task_message_to_page(0, &WorkerResponse::Ready, &JsValue::UNDEFINED);
}

/// Handles one message of the page.
async fn handle_message(message: JsValue) {
    let message: Array = message.unchecked_into();
    let json = message.get(0).as_string().unwrap_or_default();
    let Ok(envelope) = serde_json::from_str::<WorkerMessage<WorkerRequest>>(&json) else {
        return;
    };
    let number = envelope.id;
    match run_request(number, envelope.body, message.get(1)).await {
        Ok((tell, beside)) => messages::post_task_message_to_page(number, &tell, &beside),
        Err(problem) => messages::post_task_message_to_page(
            number,
            &WorkerResponse::Failed(problem),
            &JsValue::UNDEFINED,
        ),
    }
}

/// Runs the task of a request. The state is never borrowed across an await.
async fn run_request(
    number: u64,
    ask: WorkerRequest,
    beside: JsValue,
) -> Result<(WorkerResponse, JsValue), ErrorResponse> {
    let text = || {
        beside
            .as_string()
            .ok_or_else(|| worker_problem("a message without its text"))
    };
    let file = || {
        let file = beside.clone().dyn_into::<File>();
        file.map_err(|_| worker_problem("a message without its file"))
    };
    let silent = |tell: WorkerResponse| Ok((tell, JsValue::UNDEFINED));
    match ask {
        WorkerRequest::ReadFile { name, kind } => {
            let kept = file::read_collection_file(number, &name, kind, &file()?)?;
            let read = kept.summary.clone();
            STATE.with_borrow_mut(|it| it.files.insert(name, kept));
            silent(WorkerResponse::FileRead(read))
        }
        WorkerRequest::RemoveFile { name } => {
            STATE.with_borrow_mut(|it| it.files.remove(&name));
            silent(WorkerResponse::Done)
        }
        WorkerRequest::CreateStudy {
            definition,
            date: made,
        } => silent(state::create_local_study(number, *definition, made).await?),
        WorkerRequest::TrainVectors { analyzer, settings } => {
            train::train_word_vectors(number, analyzer, settings).await
        }
        WorkerRequest::LoadStudy { study, file } => {
            let tell =
                STATE.with_borrow_mut(|it| it.insert_study_from_json(study, &file, &text()?))?;
            if let WorkerResponse::StudyReady(_) = tell {
                state::store_local_study().await;
            }
            silent(tell)
        }
        WorkerRequest::RestoreTexts { study } => {
            let docs = file::read_documents_of_files(number, &beside)?;
            STATE.with_borrow_mut(|it| it.restore_study_texts(&study, &docs))?;
            if study == LOCAL_STUDY {
                state::store_local_study().await;
            }
            silent(WorkerResponse::Done)
        }
        WorkerRequest::CallEndpoint { path, request } if path == ManipulateTextRequest::PATH => {
            let reply = study_requests::answer_manipulation_request(&request)?;
            Ok((WorkerResponse::Payload, JsValue::from_str(&reply)))
        }
        WorkerRequest::CallEndpoint { path, request } if path == GetPublishedTableRequest::PATH => {
            let reply = study_requests::answer_published_table_request(&request)?;
            Ok((WorkerResponse::Payload, JsValue::from_str(&reply)))
        }
        WorkerRequest::CallEndpoint { path, request } => {
            let study = study_requests::require_study_name(&request)?;
            if let Some(runs) = study_requests::runs_compared_by_request(&path, &request)?
                .filter(|_| study == LOCAL_STUDY)
            {
                let reply = STATE.with_borrow(|it| {
                    let source = run_comparison::build_comparison_input_from_files(it, &runs)?;
                    study_requests::answer_run_comparison(&source, &path, &request)
                })?;
                return Ok((WorkerResponse::Payload, JsValue::from_str(&reply)));
            }
            if study == LOCAL_STUDY {
                state::restore_local_study().await?;
            }
            let sliced = STATE.with_borrow(|it| it.sliced_studies.get(&study).cloned());
            if let Some(sliced) = sliced {
                let reply = sliced_study::answer_request(&sliced, &path, &request).await?;
                return Ok((WorkerResponse::Payload, JsValue::from_str(&reply)));
            }
            let reply = STATE.with_borrow(|it| {
                let held = it
                    .studies
                    .get(&study)
                    .ok_or_else(|| study_not_loaded(&study))?;
                study_requests::answer_study_request(held, &path, &request)
            })?;
            Ok((WorkerResponse::Payload, JsValue::from_str(&reply)))
        }
        WorkerRequest::GetLocalStudy => {
            state::restore_local_study().await?;
            silent(
                STATE
                    .with_borrow(|it| it.summarize_local_study())
                    .map_or(WorkerResponse::Done, WorkerResponse::StudyReady),
            )
        }
        WorkerRequest::ExportStudy => {
            state::restore_local_study().await?;
            let text = STATE
                .with_borrow(|it| it.require_local_study().map(study_requests::study_to_json))?;
            Ok((WorkerResponse::Payload, messages::create_text_blob(&text)?))
        }
        WorkerRequest::ExportPairs => {
            state::restore_local_study().await?;
            let lines = STATE.with_borrow(|it| {
                it.require_local_study_with_texts()
                    .map(study_requests::pairs_to_json_lines)
            })?;
            Ok((WorkerResponse::Payload, messages::create_text_blob(&lines)?))
        }
        WorkerRequest::BuildJob {
            model: ranker,
            title,
        } => {
            state::restore_local_study().await?;
            let job = STATE.with_borrow(|it| {
                it.require_local_study_with_texts()
                    .map(|it| study_requests::scoring_job_request(it, ranker, title))
            })?;
            Ok((WorkerResponse::Payload, messages::create_text_blob(&job)?))
        }
        WorkerRequest::AddJobScores { hash_prefix: of } => {
            state::restore_local_study().await?;
            let text = text()?;
            let tell = STATE.with_borrow_mut(|it| it.add_job_scores(&of, &text))?;
            state::store_local_study().await;
            silent(tell)
        }
        WorkerRequest::AddScoreFile { name } => {
            state::restore_local_study().await?;
            let scores = file::read_score_file(number, &name, &file()?)?;
            let tell = STATE.with_borrow_mut(|it| it.add_uploaded_scores(&name, &scores))?;
            state::store_local_study().await;
            silent(tell)
        }
        WorkerRequest::Cancel { number } => {
            STATE.with_borrow_mut(|it| it.canceled_task = Some(number));
            silent(WorkerResponse::Done)
        }
        WorkerRequest::Clear => {
            STATE.with_borrow_mut(|it| *it = WorkerState::default());
            local_study_store::delete_local_study().await;
            silent(WorkerResponse::Done)
        }
    }
}

fn study_not_loaded(study: &str) -> ErrorResponse {
    let way_out = match study {
        LOCAL_STUDY => "create one in the Workbench",
        _ => "reload the page",
    };
    let error = format!("There is no study named `{study}` in this browser: {way_out}.");
    ErrorResponse::with_message_and_type(error, "unknown")
}

fn worker_problem(error: &str) -> ErrorResponse {
    ErrorResponse::with_message_and_type(error, "worker")
}
