//! The queue of events that are not sent yet, in the order in which they happened. It decides which
//! events to send next and how replies and failures change it, and does not depend on a browser.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use shared::annotation::{AnnotationEventKey, ClientAnnotationEvent, PersonId};
use shared::api::annotation::{EventOutcome, MAX_EVENTS_PER_REQUEST, SubmitEventsResponse, TaskId};

use crate::api::{NO_SESSION, NO_TOKEN, RequestError};

/// The pause after the first failure; each further failure doubles it.
const FIRST_RETRY_MS: u64 = 1_000;
/// The longest pause.
const MAX_RETRY_MS: u64 = 60_000;

/// An event that the server has not confirmed yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UnconfirmedAnnotationEvent {
    /// Position in the queue; events are sent in this order.
    #[serde(alias = "place")]
    pub(crate) position: u64,
    /// Who created the event. It is only sent in a session of this person.
    pub(crate) person: PersonId,
    /// The task of the event.
    pub(crate) task: TaskId,
    /// The event itself.
    pub(crate) event: ClientAnnotationEvent,
    /// Why the server rejected it, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "refused")]
    pub(crate) rejection: Option<String>,
}

/// Why pending events cannot be sent at the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DeliveryProblem {
    /// The server did not answer.
    Network,
    /// The session has ended or belongs to another person.
    SignedOut,
    /// The server refused, with this message.
    Server(String),
}

/// Events of one task that are sent in one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventBatch {
    /// The number of the batch, unique within the queue.
    pub(crate) number: u64,
    /// The task of all these events.
    pub(crate) task: TaskId,
    /// The events, in order.
    pub(crate) events: Vec<ClientAnnotationEvent>,
}

/// What has to be done after a reply or a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BatchDeliveryResult {
    /// Events that the server has: they can be deleted from the browser.
    pub(crate) delivered: Vec<AnnotationEventKey>,
    /// Rejected events, to be stored with the reason.
    pub(crate) refused: Vec<UnconfirmedAnnotationEvent>,
    /// The pause before the next request.
    pub(crate) retry_after_ms: Option<u64>,
}

/// The unsent events of one person.
#[derive(Debug, Default)]
pub(crate) struct UnsentEventQueue {
    /// Sorted by position.
    pending: Vec<UnconfirmedAnnotationEvent>,
    /// The pending events that are not stored in the browser yet.
    unstored: BTreeSet<AnnotationEventKey>,
    /// The events of this visit that the server has stored.
    delivered: BTreeSet<AnnotationEventKey>,
    in_flight: Option<(u64, Vec<AnnotationEventKey>)>,
    n_batches: u64,
    n_failed: u32,
    problem: Option<DeliveryProblem>,
    /// Whether each event is sent alone, to find out which one made the server refuse a whole
    /// batch.
    sends_singly: bool,
}

impl UnsentEventQueue {
    /// Adds an event that was stored before, unless it is in the queue or was delivered.
    pub(crate) fn add_stored_event(&mut self, kept: UnconfirmedAnnotationEvent) {
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

    /// Adds an event that was just created. It is not sent before
    /// [`UnsentEventQueue::mark_locally_stored`].
    pub(crate) fn add_new_event(
        &mut self,
        mut kept: UnconfirmedAnnotationEvent,
    ) -> UnconfirmedAnnotationEvent {
        let last = self.pending.last().map_or(0, |it| it.position);
        kept.position = kept.position.max(last + 1);
        self.unstored.insert(kept.event.key);
        self.pending.push(kept.clone());
        kept
    }

    /// Marks an event as stored in the browser, or as impossible to store.
    pub(crate) fn mark_locally_stored(&mut self, key: AnnotationEventKey) {
        self.unstored.remove(&key);
    }

    /// Returns the next batch to send; none while another one is in flight.
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
        let events: Vec<ClientAnnotationEvent> = open()
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

    /// Applies the reply to a batch, however late it comes.
    pub(crate) fn handle_batch_reply(
        &mut self,
        number: u64,
        sent: &SubmitEventsResponse,
    ) -> BatchDeliveryResult {
        let mut then = BatchDeliveryResult::default();
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
        let named = |key: &AnnotationEventKey| sent.receipts.iter().any(|it| it.key == *key);
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

    /// Handles a batch without a reply. Returns none if the batch has been answered by now.
    pub(crate) fn handle_batch_failure(
        &mut self,
        number: u64,
        error: &RequestError,
    ) -> Option<BatchDeliveryResult> {
        let keys = self.take_in_flight(number)?;
        let mut then = BatchDeliveryResult::default();
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

    /// Marks the rejected events as pending again.
    pub(crate) fn requeue_rejected(&mut self) {
        for kept in &mut self.pending {
            kept.rejection = None;
        }
    }

    /// Removes the events that the server rejected from the queue and returns their keys.
    pub(crate) fn remove_rejected(&mut self) -> Vec<AnnotationEventKey> {
        let of = |it: &UnconfirmedAnnotationEvent| it.rejection.is_some().then_some(it.event.key);
        let gone: Vec<AnnotationEventKey> = self.pending.iter().filter_map(of).collect();
        self.pending.retain(|it| it.rejection.is_none());
        self.delivered.extend(&gone);
        gone
    }

    /// Returns all unsent events, sorted by position.
    pub(crate) fn unsent_events(&self) -> &[UnconfirmedAnnotationEvent] {
        &self.pending
    }

    /// Returns how many events the server has stored in this visit.
    pub(crate) fn n_delivered_events(&self) -> usize {
        self.delivered.len()
    }

    /// Returns why nothing can be sent at the moment.
    pub(crate) fn delivery_problem(&self) -> Option<&DeliveryProblem> {
        self.problem.as_ref()
    }

    fn take_in_flight(&mut self, number: u64) -> Option<Vec<AnnotationEventKey>> {
        self.in_flight.take_if(|it| it.0 == number).map(|it| it.1)
    }

    fn next_retry_ms(&mut self, trouble: DeliveryProblem) -> u64 {
        self.problem = Some(trouble);
        let pause = FIRST_RETRY_MS << self.n_failed.min(16);
        self.n_failed += 1;
        pause.min(MAX_RETRY_MS)
    }
}

/// What an error means for the events that were sent.
enum ErrorClass {
    /// The events may be accepted later.
    Retryable(DeliveryProblem),
    /// The events will not be accepted as they are.
    Permanent(String),
}

fn classify_error(error: &RequestError) -> ErrorClass {
    let RequestError::Server(problem) = error else {
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
