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
use shared::api::worker::{Ask, Envelope, LOCAL, Manipulate, Printed, Tell};
use shared::api::{Endpoint, Problem};
use wasm_bindgen::prelude::*;
use web_sys::{File, MessageEvent};

use bench::Bench;

thread_local! {
    static BENCH: RefCell<Bench> = RefCell::new(Bench::default());
}

fn main() {
    console_error_panic_hook::set_once();
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(|event: MessageEvent| {
        wasm_bindgen_futures::spawn_local(hear(event.data()));
    });
    post::scope().set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    // It listens for as long as the worker lives.
    on_message.forget();
    post::tell(0, &Tell::Ready, &JsValue::UNDEFINED);
}

/// Answers one message.
async fn hear(message: JsValue) {
    let message: Array = message.unchecked_into();
    let json = message.get(0).as_string().unwrap_or_default();
    let Ok(envelope) = serde_json::from_str::<Envelope<Ask>>(&json) else {
        return;
    };
    let number = envelope.number;
    match act(number, envelope.says, message.get(1)).await {
        Ok((tell, beside)) => post::tell(number, &tell, &beside),
        Err(problem) => post::tell(number, &Tell::Failed(problem), &JsValue::UNDEFINED),
    }
}

/// Does what was asked. The bench is borrowed only between two points where others may act.
async fn act(number: u64, ask: Ask, beside: JsValue) -> Result<(Tell, JsValue), Problem> {
    let text = || {
        beside
            .as_string()
            .ok_or_else(|| problem("a message without its text"))
    };
    let file = || {
        let file = beside.clone().dyn_into::<File>();
        file.map_err(|_| problem("a message without its file"))
    };
    let silent = |tell: Tell| Ok((tell, JsValue::UNDEFINED));
    match ask {
        Ask::Read { name, kind } => {
            let kept = file::read(number, &name, kind, &file()?)?;
            let read = kept.read.clone();
            BENCH.with_borrow_mut(|it| it.files.insert(name, kept));
            silent(Tell::Read(read))
        }
        Ask::Forget { name } => {
            BENCH.with_borrow_mut(|it| it.files.remove(&name));
            silent(Tell::Done)
        }
        Ask::Make { definition, made } => silent(bench::make(number, *definition, made).await?),
        Ask::Train { analyzer, settings } => train::train(number, analyzer, settings).await,
        Ask::Hold { study, file } => {
            let tell = BENCH.with_borrow_mut(|it| it.hold(study, &file, &text()?))?;
            if let Tell::Made(_) = tell {
                bench::remember().await;
            }
            silent(tell)
        }
        Ask::Restore { study } => {
            let docs = file::docs_of(number, &beside)?;
            BENCH.with_borrow_mut(|it| it.restore(&study, &docs))?;
            if study == LOCAL {
                bench::remember().await;
            }
            silent(Tell::Done)
        }
        Ask::Answer { path, request } if path == Manipulate::PATH => {
            let reply = answer::manipulated(&request)?;
            Ok((Tell::Answer, JsValue::from_str(&reply)))
        }
        Ask::Answer { path, request } if path == Printed::PATH => {
            let reply = answer::printed(&request)?;
            Ok((Tell::Answer, JsValue::from_str(&reply)))
        }
        Ask::Answer { path, request } => {
            let study = answer::study_of(&request)?;
            if let Some(runs) = answer::runs_of(&path, &request)?.filter(|_| study == LOCAL) {
                let reply = BENCH.with_borrow(|it| {
                    let source = runs::compared(it, &runs)?;
                    answer::of_runs(&source, &path, &request)
                })?;
                return Ok((Tell::Answer, JsValue::from_str(&reply)));
            }
            if study == LOCAL {
                bench::recall().await?;
            }
            let reply = BENCH.with_borrow(|it| {
                let held = it.studies.get(&study).ok_or_else(|| not_held(&study))?;
                answer::answer(held, &path, &request)
            })?;
            Ok((Tell::Answer, JsValue::from_str(&reply)))
        }
        Ask::Local => {
            bench::recall().await?;
            silent(
                BENCH
                    .with_borrow(|it| it.made())
                    .map_or(Tell::Done, Tell::Made),
            )
        }
        Ask::Export => {
            bench::recall().await?;
            let text = BENCH.with_borrow(|it| it.local().map(answer::export))?;
            Ok((Tell::Answer, post::blob(&text)?))
        }
        Ask::Pairs => {
            bench::recall().await?;
            let lines = BENCH.with_borrow(|it| it.local_with_texts().map(answer::pair_lines))?;
            Ok((Tell::Answer, post::blob(&lines)?))
        }
        Ask::Job { ranker, title } => {
            bench::recall().await?;
            let job = BENCH.with_borrow(|it| {
                it.local_with_texts()
                    .map(|it| answer::job(it, ranker, title))
            })?;
            Ok((Tell::Answer, post::blob(&job)?))
        }
        Ask::Merge { of } => {
            bench::recall().await?;
            let text = text()?;
            let tell = BENCH.with_borrow_mut(|it| it.merge(&of, &text))?;
            bench::remember().await;
            silent(tell)
        }
        Ask::Bring { name } => {
            bench::recall().await?;
            let scores = file::scores(number, &name, &file()?)?;
            let tell = BENCH.with_borrow_mut(|it| it.bring(&name, &scores))?;
            bench::remember().await;
            silent(tell)
        }
        Ask::Cancel { number } => {
            BENCH.with_borrow_mut(|it| it.cancelled = Some(number));
            silent(Tell::Done)
        }
        Ask::Clear => {
            BENCH.with_borrow_mut(|it| *it = Bench::default());
            memory::forget().await;
            silent(Tell::Done)
        }
    }
}

fn not_held(study: &str) -> Problem {
    let way_out = match study {
        LOCAL => "make one in the Workbench",
        _ => "load the page again",
    };
    let error = format!("there is no study named `{study}` in this browser; {way_out}");
    Problem::new(error, "unknown")
}

fn problem(error: &str) -> Problem {
    Problem::new(error, "worker")
}
