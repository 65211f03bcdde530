//! The page's connection to the web worker: starts it, sends it requests, and starts it again after
//! it has died.
//!
//! The messages are defined in `shared::api::worker`.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use js_sys::{Array, Function, Object, Promise, Reflect, WebAssembly};
use shared::api::ErrorResponse;
use shared::api::worker::{WorkerMessage, WorkerProgress, WorkerRequest, WorkerResponse};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{ErrorEvent, MessageEvent, Worker};

use super::RequestError;
use crate::site_host::site_address;

/// A task that was sent to the worker.
pub(crate) struct WorkerTask {
    number: u64,
    reply: Promise,
}

/// The final message of a task, with its attachment.
pub(crate) struct WorkerReply {
    /// Never [`WorkerResponse::Progress`] or [`WorkerResponse::Failed`].
    pub(crate) message: WorkerResponse,
    /// Undefined if the message has no attachment.
    pub(crate) attachment: JsValue,
}

impl WorkerReply {
    /// Returns the attached text; empty if there is none.
    pub(crate) fn attached_text(&self) -> String {
        self.attachment.as_string().unwrap_or_default()
    }
}

impl WorkerTask {
    /// Returns the number by which the task can be canceled.
    pub(crate) fn task_number(&self) -> u64 {
        self.number
    }

    /// Waits for the final message of the task.
    pub(crate) async fn wait_for_reply(self) -> Result<WorkerReply, RequestError> {
        let message = JsFuture::from(self.reply)
            .await
            .map_err(|_| worker_lost_error())?;
        let (envelope, beside) = parse_message(&message).ok_or_else(worker_lost_error)?;
        match envelope.body {
            WorkerResponse::Failed(problem) => Err(RequestError::Server(problem)),
            tell => Ok(WorkerReply {
                message: tell,
                attachment: beside,
            }),
        }
    }
}

/// Starts a task in the worker; its attachment is a `File`, a text, or undefined.
pub(crate) fn start_worker_task(
    ask: WorkerRequest,
    beside: &JsValue,
    progress: impl Fn(WorkerProgress) + 'static,
) -> WorkerTask {
    CLIENT.with(|crew| crew.ask(ask, beside, Rc::new(progress)))
}

/// Runs a short task in the worker and waits for its reply.
pub(crate) async fn run_worker_task(
    asked: WorkerRequest,
    beside: &JsValue,
) -> Result<WorkerReply, RequestError> {
    start_worker_task(asked, beside, |_| ())
        .wait_for_reply()
        .await
}

/// Asks the worker to stop a task. If the worker is too busy to receive messages, use
/// [`terminate_worker`].
pub(crate) fn cancel_worker_task(number: u64) {
    drop(start_worker_task(
        WorkerRequest::Cancel { number },
        &JsValue::UNDEFINED,
        |_| (),
    ));
}

/// Terminates the worker in the middle of its work. The next task starts a new worker, which has no
/// files and no hosted studies.
pub(crate) fn terminate_worker() {
    CLIENT.with(|crew| crew.terminate(&WorkerResponse::Canceled));
}

/// Returns how often the worker was restarted. After a restart, files and studies have to be sent
/// to the worker again.
pub(crate) fn worker_restart_count() -> u64 {
    CLIENT.with(|crew| crew.generation.get())
}

thread_local! {
    static CLIENT: WorkerClient = const { WorkerClient::new() };
}

/// The worker and the tasks that wait for its messages.
struct WorkerClient {
    worker: RefCell<Option<RunningWorker>>,
    pending: RefCell<BTreeMap<u64, PendingTask>>,
    last_id: Cell<u64>,
    generation: Cell<u64>,
}

/// A worker that was started.
struct RunningWorker {
    worker: Worker,
    /// Messages sent before the worker was ready; none once it is.
    queued: Option<Vec<Array>>,
    /// Whether it takes the place of a worker that could not start.
    is_second_start: bool,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(ErrorEvent)>,
}

struct PendingTask {
    resolve: Function,
    progress: Rc<dyn Fn(WorkerProgress)>,
}

impl WorkerClient {
    const fn new() -> WorkerClient {
        WorkerClient {
            worker: RefCell::new(None),
            pending: RefCell::new(BTreeMap::new()),
            last_id: Cell::new(0),
            generation: Cell::new(0),
        }
    }

    fn ask(
        &self,
        ask: WorkerRequest,
        beside: &JsValue,
        progress: Rc<dyn Fn(WorkerProgress)>,
    ) -> WorkerTask {
        let number = self.last_id.get() + 1;
        self.last_id.set(number);
        let answer = Promise::new(&mut |resolve, _| {
            let progress = Rc::clone(&progress);
            self.pending
                .borrow_mut()
                .insert(number, PendingTask { resolve, progress });
        });
        let envelope = WorkerMessage {
            id: number,
            body: ask,
        };
        let json = serde_json::to_string(&envelope).expect("a request has only string keys");
        if let Err(problem) = self.post(Array::of2(&JsValue::from_str(&json), beside)) {
            self.deliver(number, WorkerResponse::Failed(problem));
        }
        WorkerTask {
            number,
            reply: answer,
        }
    }

    fn post(&self, message: Array) -> Result<(), ErrorResponse> {
        let mut slot = self.worker.borrow_mut();
        if slot.is_none() {
            *slot = Some(spawn_worker(Vec::new(), false)?);
        }
        match slot.as_mut() {
            Some(RunningWorker {
                queued: Some(early),
                ..
            }) => early.push(message),
            Some(running) => running.worker.post_message(&message).map_err(|_| {
                worker_problem("The background worker could not be reached. Reload the page.")
            })?,
            None => (),
        }
        Ok(())
    }

    /// Handles a message that was created on this side.
    fn deliver(&self, number: u64, tell: WorkerResponse) {
        if let Some(waiting) = self.pending.borrow_mut().remove(&number) {
            let json = serde_json::to_string(&WorkerMessage {
                id: number,
                body: tell,
            });
            let json = JsValue::from_str(&json.expect("a message has only string keys"));
            let _ = waiting
                .resolve
                .call1(&JsValue::NULL, &Array::of2(&json, &JsValue::UNDEFINED));
        }
    }

    fn on_message(&self, message: &JsValue) {
        let Some((envelope, _)) = parse_message(message) else {
            return;
        };
        match envelope.body {
            WorkerResponse::Ready => self.flush_queue(),
            WorkerResponse::Progress(progress) => {
                let waiting = self.pending.borrow();
                let heard = waiting.get(&envelope.id).map(|it| Rc::clone(&it.progress));
                drop(waiting);
                if let Some(heard) = heard {
                    heard(progress);
                }
            }
            _ => {
                let waiting = self.pending.borrow_mut().remove(&envelope.id);
                if let Some(waiting) = waiting {
                    let _ = waiting.resolve.call1(&JsValue::NULL, message);
                }
            }
        }
    }

    /// Sends the messages that were queued before the worker was ready.
    fn flush_queue(&self) {
        if let Some(running) = self.worker.borrow_mut().as_mut() {
            for message in running.queued.take().unwrap_or_default() {
                let _ = running.worker.post_message(&message);
            }
        }
    }

    /// Handles an error that stopped the worker. One that could not start is started once more,
    /// with the messages that wait for it.
    fn on_error(&self, why: &str) {
        let mut slot = self.worker.borrow_mut();
        let first = slot.take_if(|it| it.queued.is_some() && !it.is_second_start);
        let Some(mut first) = first else {
            drop(slot);
            let why = format!(
                "The background worker stopped ({why}). It may have run out of memory. Reload the \
                 page and use less data."
            );
            return self.terminate(&WorkerResponse::Failed(worker_problem(&why)));
        };
        let queued = first.queued.take().unwrap_or_default();
        first.stop();
        free_memory_of_earlier_pages();
        match spawn_worker(queued, true) {
            Ok(running) => *slot = Some(running),
            Err(problem) => {
                drop(slot);
                self.terminate(&WorkerResponse::Failed(problem));
            }
        }
    }

    /// Terminates the worker; every pending task receives `last`.
    fn terminate(&self, last: &WorkerResponse) {
        if let Some(running) = self.worker.borrow_mut().take() {
            running.stop();
        }
        self.generation.set(self.generation.get() + 1);
        let numbers: Vec<u64> = self.pending.borrow().keys().copied().collect();
        for number in numbers {
            self.deliver(number, last.clone());
        }
    }
}

impl RunningWorker {
    fn stop(self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
        // A closure must not be dropped while it runs, and one of these may be running.
        wasm_bindgen_futures::spawn_local(async move { drop(self) });
    }
}

fn spawn_worker(queued: Vec<Array>, is_second_start: bool) -> Result<RunningWorker, ErrorResponse> {
    let worker = Worker::new(&site_address("/worker_loader.js")).map_err(|_| {
        worker_problem(
            "This browser cannot start a background worker. Allow scripts and \
             workers for this site.",
        )
    })?;
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(|event: MessageEvent| {
        CLIENT.with(|crew| crew.on_message(&event.data()));
    });
    let on_error = Closure::<dyn FnMut(ErrorEvent)>::new(|event: ErrorEvent| {
        event.prevent_default();
        CLIENT.with(|crew| crew.on_error(&event.message()));
    });
    worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
    Ok(RunningWorker {
        worker,
        queued: Some(queued),
        is_second_start,
        _on_message: on_message,
        _on_error: on_error,
    })
}

/// Makes the browser free the memory of earlier pages of this tab. It does so where memory is
/// lacking; a new worker has none that could be freed, but this page may have.
fn free_memory_of_earlier_pages() {
    let one_page = Object::new();
    if Reflect::set(&one_page, &"initial".into(), &1.into()).is_ok() {
        let _ = WebAssembly::Memory::new(&one_page);
    }
}

fn parse_message(message: &JsValue) -> Option<(WorkerMessage<WorkerResponse>, JsValue)> {
    let message: &Array = message.dyn_ref()?;
    let envelope = serde_json::from_str(&message.get(0).as_string()?).ok()?;
    Some((envelope, message.get(1)))
}

fn worker_problem(error: &str) -> ErrorResponse {
    ErrorResponse::with_message_and_type(error, "worker")
}

fn worker_lost_error() -> RequestError {
    RequestError::Server(worker_problem(
        "The background worker did not answer. Reload the page.",
    ))
}
