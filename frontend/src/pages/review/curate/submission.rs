//! What a curator does, on its way to the log. What was typed stays until the server has it, and
//! the same act sent again has the same key.

use leptos::prelude::*;
use shared::annotation::event::AnnotationAction;
use shared::annotation::{AnnotationEvent, EventKey};
use shared::api::annotation::{EventOutcome, SubmitEventsRequest, TaskId};

use crate::api;
use crate::api::mutation::run_exclusive;

/// One act at a time.
#[derive(Clone, Copy)]
pub(super) struct EventSubmission {
    task: TaskId,
    /// What was sent, and is not known to have come.
    unconfirmed: RwSignal<Option<AnnotationEvent>>,
    is_busy: RwSignal<bool>,
    error: RwSignal<Option<String>>,
}

impl EventSubmission {
    /// Creates a submission of events to a task, with nothing pending and no error.
    pub(super) fn new(task: TaskId) -> EventSubmission {
        EventSubmission {
            task,
            unconfirmed: RwSignal::new(None),
            is_busy: RwSignal::new(false),
            error: RwSignal::new(None),
        }
    }

    /// Whether something is under way.
    pub(super) fn busy(self) -> bool {
        self.is_busy.get()
    }

    /// Forgets what failed: another item is looked at.
    pub(super) fn clear(self) {
        self.unconfirmed.set(None);
        self.error.set(None);
    }

    /// Sends, and calls `done` once it is in the log.
    pub(super) fn send(self, what: AnnotationAction, done: Callback<()>) {
        if self.is_busy.get_untracked() {
            return;
        }
        let event = match event(self.unconfirmed.get_untracked(), what) {
            Ok(event) => event,
            Err(reason) => {
                self.error.set(Some(reason));
                return;
            }
        };
        self.unconfirmed.set(Some(event.clone()));
        self.error.set(None);
        let asked = SubmitEventsRequest {
            task: self.task,
            events: vec![event],
        };
        let sent = async move { api::call(&asked).await };
        run_exclusive(self.is_busy, sent, move |sent| {
            let outcome = sent.map(|it| it.receipts.into_iter().next().map(|it| it.outcome));
            match outcome {
                Ok(Some(EventOutcome::Stored | EventOutcome::Duplicate)) => {
                    self.unconfirmed.set(None);
                    done.run(());
                }
                Ok(Some(EventOutcome::Rejected { reason })) => {
                    // As it is, it will never be taken: another try is another act.
                    self.unconfirmed.set(None);
                    self.error.set(Some(reason));
                }
                Ok(None) => {
                    let said = "The server did not confirm the action. Send it again.";
                    self.error.set(Some(said.to_owned()));
                }
                Err(error) => self.error.set(Some(error.to_string())),
            }
        });
    }
}

/// The event that was sent before, if it is the same act, or else a new one.
fn event(
    before: Option<AnnotationEvent>,
    what: AnnotationAction,
) -> Result<AnnotationEvent, String> {
    if let Some(before) = before.filter(|it| it.action == what) {
        return Ok(before);
    }
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|it| format!("The browser provides no random numbers: {it}"))?;
    Ok(AnnotationEvent {
        key: EventKey::from_bytes(bytes),
        created_ms: js_sys::Date::now() as u64,
        action: what,
    })
}

/// Why it is not in the log, and the way there.
#[component]
pub(super) fn SubmissionError(
    /// What is being sent.
    sending: EventSubmission,
    /// Called once it is in the log.
    done: Callback<()>,
) -> impl IntoView {
    let again = move |_| {
        if let Some(event) = sending.unconfirmed.get_untracked() {
            sending.send(event.action, done);
        }
    };
    move || {
        sending.error.get().map(|reason| {
            let retry = sending.unconfirmed.with(Option::is_some).then(|| {
                view! {
                    <button class="btn" type="button" on:click=again>"Send again"</button>
                }
            });
            view! {
                <div class="failure" role="alert">
                    <p>"Not saved: " {reason}</p>
                    {retry}
                </div>
            }
        })
    }
}
