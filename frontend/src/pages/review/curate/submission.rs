//! Sends a curator's actions to the log. The input is kept until the server has stored it, and an
//! action that is sent again keeps its key.

use leptos::prelude::*;
use shared::annotation::event::AnnotationEventAction;
use shared::annotation::{AnnotationEventKey, ClientAnnotationEvent};
use shared::api::annotation::{EventOutcome, SubmitEventsRequest, TaskId};

use crate::api;
use crate::api::mutation::spawn_unless_busy;

/// Sends events to a task, one at a time.
#[derive(Clone, Copy)]
pub(super) struct AnnotationEventSender {
    task: TaskId,
    /// The event that was sent and is not confirmed yet.
    unconfirmed: RwSignal<Option<ClientAnnotationEvent>>,
    is_busy: RwSignal<bool>,
    error: RwSignal<Option<String>>,
}

impl AnnotationEventSender {
    /// Creates a submission of events to a task, with nothing pending and no error.
    pub(super) fn new(task: TaskId) -> AnnotationEventSender {
        AnnotationEventSender {
            task,
            unconfirmed: RwSignal::new(None),
            is_busy: RwSignal::new(false),
            error: RwSignal::new(None),
        }
    }

    /// Returns whether a request is in progress.
    pub(super) fn is_sending(self) -> bool {
        self.is_busy.get()
    }

    /// Discards the unconfirmed event and the error, because another item is opened.
    pub(super) fn discard_unconfirmed_event(self) {
        self.unconfirmed.set(None);
        self.error.set(None);
    }

    /// Sends an action and calls `done` once the log has it.
    pub(super) fn send_action(self, what: AnnotationEventAction, done: Callback<()>) {
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
        let sent = async move { api::send_and_parse(&asked).await };
        spawn_unless_busy(self.is_busy, sent, move |sent| {
            let outcome = sent.map(|it| it.receipts.into_iter().next().map(|it| it.outcome));
            match outcome {
                Ok(Some(EventOutcome::Stored | EventOutcome::Duplicate)) => {
                    self.unconfirmed.set(None);
                    done.run(());
                }
                Ok(Some(EventOutcome::Rejected { reason })) => {
                    // The server will never accept this event, so another attempt needs a new one.
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

/// Returns the unconfirmed event if it has the same action, or else a new event.
fn event(
    before: Option<ClientAnnotationEvent>,
    what: AnnotationEventAction,
) -> Result<ClientAnnotationEvent, String> {
    if let Some(before) = before.filter(|it| it.action == what) {
        return Ok(before);
    }
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|it| format!("The browser provides no random numbers: {it}"))?;
    Ok(ClientAnnotationEvent {
        key: AnnotationEventKey::from_bytes(bytes),
        created_ms: js_sys::Date::now() as u64,
        action: what,
    })
}

/// Renders why an action was not saved, and a button that sends it again.
#[component]
pub(super) fn SubmissionErrorMessage(
    /// The submission whose error is shown.
    sending: AnnotationEventSender,
    /// Called once the action is in the log.
    done: Callback<()>,
) -> impl IntoView {
    let again = move |_| {
        if let Some(event) = sending.unconfirmed.get_untracked() {
            sending.send_action(event.action, done);
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
