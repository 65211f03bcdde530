//! The lexical pipeline off the main thread: reads files, makes a study of them, and answers
//! for the studies it holds as the server would.
//!
//! What is said is in `shared::api::worker`. A handler never blocks for long: making a study
//! gives way to other messages between steps. Reading a file cannot, since a browser reads
//! synchronously only in one go; whoever wants to stop that ends the worker.

mod study_requests;
mod state;
mod file;
mod file_kind;
mod local_study_store;
mod messages;
mod run_comparison;
mod train;

use std::cell::RefCell;

use js_sys::Array;
use shared::api::worker::{
    GetPublishedTableRequest, LOCAL, ManipulateTextRequest, WorkerMessage, WorkerRequest,
    WorkerResponse,
};
use shared::api::{Endpoint, ErrorResponse};
use wasm_bindgen::prelude::*;
use web_sys::{File, MessageEvent};

use state::WorkerState;

thread_local! {
    static BENCH: RefCell<WorkerState> = RefCell::new(WorkerState::default());
}

fn main() {
    console_error_panic_hook::set_once();
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(|event: MessageEvent| {
        wasm_bindgen_futures::spawn_local(hear(event.data()));
    });
    messages::scope().set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    // It listens for as long as the worker lives.
    on_message.forget();
    messages::tell(0, &WorkerResponse::Ready, &JsValue::UNDEFINED);
}

/// Answers one message.
async fn hear(message: JsValue) {
    let message: Array = message.unchecked_into();
    let json = message.get(0).as_string().unwrap_or_default();
    let Ok(envelope) = serde_json::from_str::<WorkerMessage<WorkerRequest>>(&json) else {
        return;
    };
    let number = envelope.number;
    match act(number, envelope.says, message.get(1)).await {
        Ok((tell, beside)) => messages::tell(number, &tell, &beside),
        Err(problem) => messages::tell(
            number,
            &WorkerResponse::Failed(problem),
            &JsValue::UNDEFINED,
        ),
    }
}

/// Does what was asked. The bench is borrowed only between two points where others may act.
async fn act(
    number: u64,
    ask: WorkerRequest,
    beside: JsValue,
) -> Result<(WorkerResponse, JsValue), ErrorResponse> {
    let text = || {
        beside
            .as_string()
            .ok_or_else(|| problem("a message without its text"))
    };
    let file = || {
        let file = beside.clone().dyn_into::<File>();
        file.map_err(|_| problem("a message without its file"))
    };
    let silent = |tell: WorkerResponse| Ok((tell, JsValue::UNDEFINED));
    match ask {
        WorkerRequest::Read { name, kind } => {
            let kept = file::read(number, &name, kind, &file()?)?;
            let read = kept.read.clone();
            BENCH.with_borrow_mut(|it| it.files.insert(name, kept));
            silent(WorkerResponse::Read(read))
        }
        WorkerRequest::Forget { name } => {
            BENCH.with_borrow_mut(|it| it.files.remove(&name));
            silent(WorkerResponse::Done)
        }
        WorkerRequest::Make { definition, made } => {
            silent(state::make(number, *definition, made).await?)
        }
        WorkerRequest::Train { analyzer, settings } => {
            train::train(number, analyzer, settings).await
        }
        WorkerRequest::Hold { study, file } => {
            let tell = BENCH.with_borrow_mut(|it| it.hold(study, &file, &text()?))?;
            if let WorkerResponse::Made(_) = tell {
                state::remember().await;
            }
            silent(tell)
        }
        WorkerRequest::Restore { study } => {
            let docs = file::docs_of(number, &beside)?;
            BENCH.with_borrow_mut(|it| it.restore(&study, &docs))?;
            if study == LOCAL {
                state::remember().await;
            }
            silent(WorkerResponse::Done)
        }
        WorkerRequest::Answer { path, request } if path == ManipulateTextRequest::PATH => {
            let reply = study_requests::manipulated(&request)?;
            Ok((WorkerResponse::Answer, JsValue::from_str(&reply)))
        }
        WorkerRequest::Answer { path, request } if path == GetPublishedTableRequest::PATH => {
            let reply = study_requests::printed(&request)?;
            Ok((WorkerResponse::Answer, JsValue::from_str(&reply)))
        }
        WorkerRequest::Answer { path, request } => {
            let study = study_requests::study_of(&request)?;
            if let Some(runs) = study_requests::runs_of(&path, &request)?.filter(|_| study == LOCAL)
            {
                let reply = BENCH.with_borrow(|it| {
                    let source = run_comparison::compared(it, &runs)?;
                    study_requests::of_runs(&source, &path, &request)
                })?;
                return Ok((WorkerResponse::Answer, JsValue::from_str(&reply)));
            }
            if study == LOCAL {
                state::recall().await?;
            }
            let reply = BENCH.with_borrow(|it| {
                let held = it.studies.get(&study).ok_or_else(|| not_held(&study))?;
                study_requests::answer(held, &path, &request)
            })?;
            Ok((WorkerResponse::Answer, JsValue::from_str(&reply)))
        }
        WorkerRequest::Local => {
            state::recall().await?;
            silent(
                BENCH
                    .with_borrow(|it| it.made())
                    .map_or(WorkerResponse::Done, WorkerResponse::Made),
            )
        }
        WorkerRequest::Export => {
            state::recall().await?;
            let text = BENCH.with_borrow(|it| it.local().map(study_requests::export))?;
            Ok((WorkerResponse::Answer, messages::blob(&text)?))
        }
        WorkerRequest::Pairs => {
            state::recall().await?;
            let lines =
                BENCH.with_borrow(|it| it.local_with_texts().map(study_requests::pair_lines))?;
            Ok((WorkerResponse::Answer, messages::blob(&lines)?))
        }
        WorkerRequest::Job { ranker, title } => {
            state::recall().await?;
            let job = BENCH.with_borrow(|it| {
                it.local_with_texts()
                    .map(|it| study_requests::job(it, ranker, title))
            })?;
            Ok((WorkerResponse::Answer, messages::blob(&job)?))
        }
        WorkerRequest::Merge { of } => {
            state::recall().await?;
            let text = text()?;
            let tell = BENCH.with_borrow_mut(|it| it.merge(&of, &text))?;
            state::remember().await;
            silent(tell)
        }
        WorkerRequest::Bring { name } => {
            state::recall().await?;
            let scores = file::scores(number, &name, &file()?)?;
            let tell = BENCH.with_borrow_mut(|it| it.bring(&name, &scores))?;
            state::remember().await;
            silent(tell)
        }
        WorkerRequest::Cancel { number } => {
            BENCH.with_borrow_mut(|it| it.cancelled = Some(number));
            silent(WorkerResponse::Done)
        }
        WorkerRequest::Clear => {
            BENCH.with_borrow_mut(|it| *it = WorkerState::default());
            local_study_store::forget().await;
            silent(WorkerResponse::Done)
        }
    }
}

fn not_held(study: &str) -> ErrorResponse {
    let way_out = match study {
        LOCAL => "make one in the Workbench",
        _ => "load the page again",
    };
    let error = format!("there is no study named `{study}` in this browser; {way_out}");
    ErrorResponse::new(error, "unknown")
}

fn problem(error: &str) -> ErrorResponse {
    ErrorResponse::new(error, "worker")
}
