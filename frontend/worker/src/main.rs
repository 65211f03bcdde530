//! The lexical pipeline off the main thread: reads files, makes a study of them, and answers
//! for the studies it holds as the server would.
//!
//! What is said is in `shared::api::worker`. A handler never blocks for long: making a study
//! gives way to other messages between steps. Reading a file cannot, since a browser reads
//! synchronously only in one go; whoever wants to stop that ends the worker.

mod answer;
mod bench;
mod file;
mod kind;
mod memory;
mod post;
mod runs;
mod train;

use std::cell::RefCell;

use js_sys::Array;
use shared::api::worker::{WorkerRequest, WorkerMessage, LOCAL, ManipulateTextRequest, GetPublishedTableRequest, WorkerResponse};
use shared::api::{Endpoint, ErrorResponse};
use wasm_bindgen::prelude::*;
use web_sys::{File, MessageEvent};

use bench::WorkerState;

thread_local! {
    static BENCH: RefCell<WorkerState> = RefCell::new(WorkerState::default());
}

fn main() {
    console_error_panic_hook::set_once();
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(|event: MessageEvent| {
        wasm_bindgen_futures::spawn_local(hear(event.data()));
    });
    post::scope().set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    // It listens for as long as the worker lives.
    on_message.forget();
    post::tell(0, &WorkerResponse::Ready, &JsValue::UNDEFINED);
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
        Ok((tell, beside)) => post::tell(number, &tell, &beside),
        Err(problem) => post::tell(number, &WorkerResponse::Failed(problem), &JsValue::UNDEFINED),
    }
}

/// Does what was asked. The bench is borrowed only between two points where others may act.
async fn act(number: u64, ask: WorkerRequest, beside: JsValue) -> Result<(WorkerResponse, JsValue), ErrorResponse> {
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
        WorkerRequest::Make { definition, made } => silent(bench::make(number, *definition, made).await?),
        WorkerRequest::Train { analyzer, settings } => train::train(number, analyzer, settings).await,
        WorkerRequest::Hold { study, file } => {
            let tell = BENCH.with_borrow_mut(|it| it.hold(study, &file, &text()?))?;
            if let WorkerResponse::Made(_) = tell {
                bench::remember().await;
            }
            silent(tell)
        }
        WorkerRequest::Restore { study } => {
            let docs = file::docs_of(number, &beside)?;
            BENCH.with_borrow_mut(|it| it.restore(&study, &docs))?;
            if study == LOCAL {
                bench::remember().await;
            }
            silent(WorkerResponse::Done)
        }
        WorkerRequest::Answer { path, request } if path == ManipulateTextRequest::PATH => {
            let reply = answer::manipulated(&request)?;
            Ok((WorkerResponse::Answer, JsValue::from_str(&reply)))
        }
        WorkerRequest::Answer { path, request } if path == GetPublishedTableRequest::PATH => {
            let reply = answer::printed(&request)?;
            Ok((WorkerResponse::Answer, JsValue::from_str(&reply)))
        }
        WorkerRequest::Answer { path, request } => {
            let study = answer::study_of(&request)?;
            if let Some(runs) = answer::runs_of(&path, &request)?.filter(|_| study == LOCAL) {
                let reply = BENCH.with_borrow(|it| {
                    let source = runs::compared(it, &runs)?;
                    answer::of_runs(&source, &path, &request)
                })?;
                return Ok((WorkerResponse::Answer, JsValue::from_str(&reply)));
            }
            if study == LOCAL {
                bench::recall().await?;
            }
            let reply = BENCH.with_borrow(|it| {
                let held = it.studies.get(&study).ok_or_else(|| not_held(&study))?;
                answer::answer(held, &path, &request)
            })?;
            Ok((WorkerResponse::Answer, JsValue::from_str(&reply)))
        }
        WorkerRequest::Local => {
            bench::recall().await?;
            silent(
                BENCH
                    .with_borrow(|it| it.made())
                    .map_or(WorkerResponse::Done, WorkerResponse::Made),
            )
        }
        WorkerRequest::Export => {
            bench::recall().await?;
            let text = BENCH.with_borrow(|it| it.local().map(answer::export))?;
            Ok((WorkerResponse::Answer, post::blob(&text)?))
        }
        WorkerRequest::Pairs => {
            bench::recall().await?;
            let lines = BENCH.with_borrow(|it| it.local_with_texts().map(answer::pair_lines))?;
            Ok((WorkerResponse::Answer, post::blob(&lines)?))
        }
        WorkerRequest::Job { ranker, title } => {
            bench::recall().await?;
            let job = BENCH.with_borrow(|it| {
                it.local_with_texts()
                    .map(|it| answer::job(it, ranker, title))
            })?;
            Ok((WorkerResponse::Answer, post::blob(&job)?))
        }
        WorkerRequest::Merge { of } => {
            bench::recall().await?;
            let text = text()?;
            let tell = BENCH.with_borrow_mut(|it| it.merge(&of, &text))?;
            bench::remember().await;
            silent(tell)
        }
        WorkerRequest::Bring { name } => {
            bench::recall().await?;
            let scores = file::scores(number, &name, &file()?)?;
            let tell = BENCH.with_borrow_mut(|it| it.bring(&name, &scores))?;
            bench::remember().await;
            silent(tell)
        }
        WorkerRequest::Cancel { number } => {
            BENCH.with_borrow_mut(|it| it.cancelled = Some(number));
            silent(WorkerResponse::Done)
        }
        WorkerRequest::Clear => {
            BENCH.with_borrow_mut(|it| *it = WorkerState::default());
            memory::forget().await;
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
