//! What is still to be sent, in the order in which it was done: what goes next, and what replies
//! and failures make of it. Knows no browser.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use shared::annotation::{AnnotationEvent, EventKey, PersonId};
use shared::api::annotation::{EventOutcome, MAX_EVENTS_PER_REQUEST, SubmitEventsResponse, TaskId};

use crate::api::{Error, NO_SESSION, NO_TOKEN};

/// The pause after the first failure; each further one doubles it.
const FIRST_RETRY_MS: u64 = 1_000;
/// No pause is longer.
const MAX_RETRY_MS: u64 = 60_000;

/// An event that the server does not have yet, as far as we know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct QueuedEvent {
    /// Events go in this order.
    #[serde(alias = "place")]
    pub(crate) position: u64,
    /// Who did it. It is sent as theirs or not at all.
    pub(crate) person: PersonId,
    /// In which task.
    pub(crate) task: TaskId,
    /// What was done.
    pub(crate) event: AnnotationEvent,
    /// Why the server will not take it, if it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "refused")]
    pub(crate) rejection: Option<String>,
}

/// Why pending events cannot be sent at the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DeliveryProblem {
    /// Nobody answered.
    Network,
    /// The session has ended, or is another person's.
    SignedOut,
    /// The server says why.
    Server(String),
}

/// Events of one task that are sent in one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventBatch {
    /// Told apart from all others by it.
    pub(crate) number: u64,
    /// Of one task.
    pub(crate) task: TaskId,
    /// In their order.
    pub(crate) events: Vec<AnnotationEvent>,
}

/// What is to be done after a reply or a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DeliveryOutcome {
    /// The server has them: they need not be kept.
    pub(crate) delivered: Vec<EventKey>,
    /// They are kept with a reason.
    pub(crate) refused: Vec<QueuedEvent>,
    /// Nothing is sent for so long.
    pub(crate) retry_after_ms: Option<u64>,
}

/// All that one person has not sent.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    /// By place.
    pending: Vec<QueuedEvent>,
    /// Those of them that are not kept in the browser yet.
    unstored: BTreeSet<EventKey>,
    /// What the server has, of this visit.
    delivered: BTreeSet<EventKey>,
    in_flight: Option<(u64, Vec<EventKey>)>,
    n_batches: u64,
    n_failed: u32,
    problem: Option<DeliveryProblem>,
    /// A batch was refused as a whole: which event is to blame shows if each goes alone.
    sends_singly: bool,
}

impl EventQueue {
    /// Takes what was kept before. Not what is known, nor what the server has.
    pub(crate) fn restore(&mut self, kept: QueuedEvent) {
        let key = kept.event.key;
        let known = self.pending.iter().any(|it| it.event.key == key);
        if known || self.delivered.contains(&key) {
            return;
        }
        let at = self
            .pending
            .partition_point(|it| it.position <= kept.position);
        self.pending.insert(at, kept);
    }

    /// Takes what was just done. It is not sent before [`EventQueue::mark_stored`].
    pub(crate) fn push(&mut self, mut kept: QueuedEvent) -> QueuedEvent {
        let last = self.pending.last().map_or(0, |it| it.position);
        kept.position = kept.position.max(last + 1);
        self.unstored.insert(kept.event.key);
        self.pending.push(kept.clone());
        kept
    }

    /// It is kept in the browser, or cannot be.
    pub(crate) fn mark_stored(&mut self, key: EventKey) {
        self.unstored.remove(&key);
    }

    /// What goes next; none while something is under way.
    pub(crate) fn next_batch(&mut self) -> Option<EventBatch> {
        if self.in_flight.is_some() {
            return None;
        }
        let open = || self.pending.iter().filter(|it| it.rejection.is_none());
        let task = open().next()?.task;
        let most = if self.sends_singly {
            1
        } else {
            MAX_EVENTS_PER_REQUEST
        };
        let events: Vec<AnnotationEvent> = open()
            .filter(|it| it.task == task)
            .take_while(|it| !self.unstored.contains(&it.event.key))
            .take(most)
            .map(|it| it.event.clone())
            .collect();
        if events.is_empty() {
            return None;
        }
        self.n_batches += 1;
        let number = self.n_batches;
        let keys = events.iter().map(|it| it.key).collect();
        self.in_flight = Some((number, keys));
        Some(EventBatch {
            number,
            task,
            events,
        })
    }

    /// Hears what became of a batch, however late.
    pub(crate) fn handle_reply(
        &mut self,
        number: u64,
        sent: &SubmitEventsResponse,
    ) -> DeliveryOutcome {
        let mut then = DeliveryOutcome::default();
        for taken in &sent.receipts {
            let at = self.pending.iter().position(|it| it.event.key == taken.key);
            match (&taken.outcome, at) {
                (EventOutcome::Stored | EventOutcome::Duplicate, Some(at)) => {
                    self.pending.remove(at);
                    self.delivered.insert(taken.key);
                    then.delivered.push(taken.key);
                }
                (EventOutcome::Rejected { reason }, Some(at)) => {
                    let kept = &mut self.pending[at];
                    kept.rejection = Some(reason.clone());
                    then.refused.push(kept.clone());
                }
                (_, None) => {}
            }
        }
        let named = |key: &EventKey| sent.receipts.iter().any(|it| it.key == *key);
        let flown = self.take_in_flight(number);
        let is_answer = flown.is_none_or(|keys| keys.iter().all(named));
        if is_answer {
            self.problem = None;
            self.n_failed = 0;
        } else {
            let reason = "the server did not confirm every action that was sent";
            then.retry_after_ms =
                Some(self.next_retry_ms(DeliveryProblem::Server(reason.to_owned())));
        }
        then
    }

    /// Hears that there is no answer to a batch. Nothing for one that has an answer by now.
    pub(crate) fn handle_failure(&mut self, number: u64, error: &Error) -> Option<DeliveryOutcome> {
        let keys = self.take_in_flight(number)?;
        let mut then = DeliveryOutcome::default();
        match (classify_error(error), keys.as_slice()) {
            (ErrorClass::Permanent(reason), [key]) => {
                let kept = self.pending.iter_mut().find(|it| it.event.key == *key);
                then.refused.extend(kept.map(|it| {
                    it.rejection = Some(reason);
                    it.clone()
                }));
            }
            (ErrorClass::Permanent(_), _) => self.sends_singly = true,
            (ErrorClass::Retryable(trouble), _) => {
                then.retry_after_ms = Some(self.next_retry_ms(trouble))
            }
        }
        Some(then)
    }

    /// Sends what was refused once more.
    pub(crate) fn requeue_rejected(&mut self) {
        for kept in &mut self.pending {
            kept.rejection = None;
        }
    }

    /// Removes the events that the server rejected from the queue and returns their keys.
    pub(crate) fn discard_rejected(&mut self) -> Vec<EventKey> {
        let of = |it: &QueuedEvent| it.rejection.is_some().then_some(it.event.key);
        let gone: Vec<EventKey> = self.pending.iter().filter_map(of).collect();
        self.pending.retain(|it| it.rejection.is_none());
        self.delivered.extend(&gone);
        gone
    }

    /// Everything that is not sent, by place.
    pub(crate) fn unsent(&self) -> &[QueuedEvent] {
        &self.pending
    }

    /// How many events the server has taken in this visit.
    pub(crate) fn n_saved(&self) -> usize {
        self.delivered.len()
    }

    /// Why nothing is sent at the moment.
    pub(crate) fn trouble(&self) -> Option<&DeliveryProblem> {
        self.problem.as_ref()
    }

    fn take_in_flight(&mut self, number: u64) -> Option<Vec<EventKey>> {
        self.in_flight.take_if(|it| it.0 == number).map(|it| it.1)
    }

    fn next_retry_ms(&mut self, trouble: DeliveryProblem) -> u64 {
        self.problem = Some(trouble);
        let pause = FIRST_RETRY_MS << self.n_failed.min(16);
        self.n_failed += 1;
        pause.min(MAX_RETRY_MS)
    }
}

/// What an error says of the events that were sent.
enum ErrorClass {
    /// They may be taken later.
    Retryable(DeliveryProblem),
    /// They will not be taken as they are.
    Permanent(String),
}

fn classify_error(error: &Error) -> ErrorClass {
    let Error::Server(problem) = error else {
        return ErrorClass::Retryable(DeliveryProblem::Network);
    };
    match problem.error_type.as_str() {
        NO_SESSION | NO_TOKEN | "name" => ErrorClass::Retryable(DeliveryProblem::SignedOut),
        "unknown" | "setting" | "too-large" => ErrorClass::Permanent(problem.error.clone()),
        _ => ErrorClass::Retryable(DeliveryProblem::Server(problem.error.clone())),
    }
}

#[cfg(test)]
mod tests;
