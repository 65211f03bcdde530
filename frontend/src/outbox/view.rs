//! The delivery status of events, in words.

use leptos::html;
use leptos::prelude::*;

use super::queue::DeliveryProblem;
use super::{
    OutboxStatus, discard_rejected_outbox_events, outbox_status_signal, send_unsent_events_now,
};
use crate::number_format::format_count;
use crate::routes::PageRoute;
use crate::widgets::download;

/// Renders what is saved, what is pending and why; screen readers announce changes.
#[component]
pub(crate) fn OutboxSummary() -> impl IntoView {
    let status = outbox_status_signal();
    let trouble = {
        let status = status.clone();
        Memo::new(move |_| status.read().problem.clone())
    };
    let lines = move || {
        let shown = status_phrases(&status.read());
        shown
            .into_iter()
            .map(|(class, text)| view! { <span class=class>{text}</span> })
            .collect_view()
    };
    let way_out = move || {
        trouble.get().map(|it| match it {
            DeliveryProblem::SignedOut => {
                view! { <a class="btn bare" href=PageRoute::Join.href()>"Sign in"</a> }.into_any()
            }
            DeliveryProblem::Network | DeliveryProblem::Server(_) => view! {
                <button class="btn bare" type="button" on:click=|_| send_unsent_events_now()>
                    "Send now"
                </button>
            }
            .into_any(),
        })
    };
    view! {
        <div class="stands">
            <p role="status">{lines}</p>
            {way_out}
        </div>
    }
}

/// Renders the rejected events and what can be done about them; nothing if there are none.
#[component]
pub(crate) fn RejectedEventsPanel() -> impl IntoView {
    let status = outbox_status_signal();
    let refused = Memo::new(move |_| status.read().rejected.clone());
    let dialog = NodeRef::<html::Dialog>::new();
    let open = move |_| {
        if let Some(dialog) = dialog.get_untracked() {
            let _ = dialog.show_modal();
        }
    };
    let close = move || {
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
    };
    let save = move |_| {
        let lines = refused.with_untracked(|it| {
            let line = |it| serde_json::to_string(it).expect("an event has only string keys");
            it.iter().map(line).collect::<Vec<_>>().join("\n")
        });
        download::offer_text_download(
            "refused-decisions.jsonl",
            "application/jsonl",
            &(lines + "\n"),
        );
    };
    let reasons = move || {
        let mut reasons: Vec<String> = refused
            .get()
            .into_iter()
            .filter_map(|it| it.rejection)
            .collect();
        reasons.dedup();
        reasons
            .into_iter()
            .map(|it| view! { <li>{it}</li> })
            .collect_view()
    };
    let shown = move || {
        let n = refused.read().len();
        (n > 0).then(|| {
            let kept = format!(
                "The server rejected {}, which this browser still holds.",
                count_actions(n)
            );
            view! {
                <div class="failure" role="alert">
                    <p>{kept}</p>
                    <ul>{reasons}</ul>
                    <div class="btns">
                        <button class="btn" type="button" on:click=|_| send_unsent_events_now()>
                            "Retry"
                        </button>
                        <button class="btn" type="button" on:click=save>"Save as file"</button>
                        <button class="btn" type="button" on:click=open>"Discard"</button>
                    </div>
                </div>
            }
        })
    };
    view! {
        {shown}
        <dialog node_ref=dialog aria-labelledby="discard-title">
            <header><h2 id="discard-title">"Discard rejected actions?"</h2></header>
            <p>"This browser holds the only copy. Save it as a file first if you may need it."</p>
            <div class="btns">
                <button class="btn" type="button" on:click=move |_| close()>"Keep"</button>
                <button
                    class="btn"
                    type="button"
                    on:click=move |_| {
                        close();
                        discard_rejected_outbox_events();
                    }
                >
                    "Discard permanently"
                </button>
            </div>
        </dialog>
    }
}

/// Formats a count of actions, as in `1 action` and `2 actions`: decisions, skips, reports and
/// undos.
fn count_actions(n: usize) -> String {
    format!(
        "{} {}",
        format_count(n as u64),
        if n == 1 { "action" } else { "actions" }
    )
}

/// Returns the CSS class and the text of each part of the status.
fn status_phrases(status: &OutboxStatus) -> Vec<(&'static str, String)> {
    let mut words = Vec::new();
    if status.n_saved > 0 {
        words.push((
            "verdict ok",
            format!("{} saved", format_count(status.n_saved as u64)),
        ));
    }
    let n_waiting = status.pending.len();
    if n_waiting > 0 {
        let n = format_count(n_waiting as u64);
        words.push(match &status.problem {
            None => ("verdict wait", format!("{n} being sent")),
            Some(DeliveryProblem::Network) => {
                ("verdict wait", format!("{n} waiting for the network"))
            }
            Some(DeliveryProblem::SignedOut) => (
                "verdict failed",
                format!("{n} waiting until you sign in again"),
            ),
            Some(DeliveryProblem::Server(reason)) => {
                ("verdict failed", format!("{n} waiting: {reason}"))
            }
        });
    }
    if !status.rejected.is_empty() {
        let n = format_count(status.rejected.len() as u64);
        words.push(("verdict failed", format!("{n} rejected")));
    }
    if status.storage_error.is_some() && n_waiting > 0 {
        let lost = "Stored only in this tab: keep it open until everything is saved.";
        words.push(("verdict failed", lost.to_owned()));
    }
    if status.n_other_people > 0 {
        let who = format!(
            "{} by another person waiting in this browser",
            count_actions(status.n_other_people)
        );
        words.push(("verdict quiet out", who));
    }
    words
}

#[cfg(test)]
mod tests {
    use shared::annotation::event::AnnotationEventAction;
    use shared::annotation::{AnnotationEventKey, ClientAnnotationEvent, PersonId};
    use shared::api::annotation::TaskId;

    use super::super::queue::UnconfirmedAnnotationEvent;
    use super::*;

    fn said(status: &OutboxStatus) -> Vec<String> {
        status_phrases(status).into_iter().map(|it| it.1).collect()
    }

    #[test]
    fn each_state_has_its_words() {
        let key = AnnotationEventKey::from_bytes([1; 16]);
        let kept = UnconfirmedAnnotationEvent {
            position: 1,
            person: PersonId(1),
            task: TaskId(1),
            event: ClientAnnotationEvent {
                key,
                created_ms: 0,
                action: AnnotationEventAction::Undone { of: key },
            },
            rejection: None,
        };
        let mut status = OutboxStatus {
            n_saved: 35,
            pending: vec![kept.clone()],
            ..OutboxStatus::default()
        };
        assert_eq!(said(&status), ["35 saved", "1 being sent"]);
        status.problem = Some(DeliveryProblem::Network);
        assert_eq!(said(&status), ["35 saved", "1 waiting for the network"]);
        status.problem = Some(DeliveryProblem::SignedOut);
        status.rejected = vec![kept];
        status.storage_error = Some("private window".to_owned());
        let all = said(&status).join("; ");
        assert_eq!(
            all,
            "35 saved; 1 waiting until you sign in again; 1 rejected; Stored only in this tab: keep it open until everything is saved."
        );
        assert!(status_phrases(&OutboxStatus::default()).is_empty());
    }
}
