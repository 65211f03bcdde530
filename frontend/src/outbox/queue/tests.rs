use shared::annotation::event::AnnotationEventAction;
use shared::api::ErrorResponse;
use shared::api::annotation::{EventKeyWithOutcome, TaskProgressSummary};

use super::*;

fn kept(byte: u8, task: u32) -> UnconfirmedAnnotationEvent {
    let key = AnnotationEventKey::from_bytes([byte; 16]);
    UnconfirmedAnnotationEvent {
        position: u64::from(byte),
        person: PersonId(1),
        task: TaskId(task),
        event: ClientAnnotationEvent {
            key,
            created_ms: 0,
            action: AnnotationEventAction::Undone { of: key },
        },
        rejection: None,
    }
}

fn line(bytes: &[(u8, u32)]) -> UnsentEventQueue {
    let mut line = UnsentEventQueue::default();
    for &(byte, task) in bytes {
        line.add_stored_event(kept(byte, task));
    }
    line
}

fn sent(outcomes: &[(u8, EventOutcome)]) -> SubmitEventsResponse {
    let taken = outcomes.iter().map(|(byte, outcome)| EventKeyWithOutcome {
        key: AnnotationEventKey::from_bytes([*byte; 16]),
        outcome: outcome.clone(),
    });
    SubmitEventsResponse {
        receipts: taken.collect(),
        progress: TaskProgressSummary::default(),
    }
}

fn refused() -> EventOutcome {
    EventOutcome::Rejected {
        reason: "no such item".to_owned(),
    }
}

fn server(error_type: &str) -> RequestError {
    RequestError::Server(ErrorResponse::with_message_and_type("so it is", error_type))
}

fn places(batch: &EventBatch) -> Vec<u8> {
    let first =
        |it: &ClientAnnotationEvent| u8::from_str_radix(&it.key.to_string()[..2], 16).unwrap();
    batch.events.iter().map(first).collect()
}

#[test]
fn events_of_a_task_go_together_in_their_order() {
    let mut line = line(&[(3, 1), (1, 1), (2, 2), (3, 1)]);
    let first = line.next_batch().unwrap();
    assert_eq!((first.task, places(&first)), (TaskId(1), vec![1, 3]));
    assert_eq!(line.next_batch(), None, "one batch at a time");
    let then = line.handle_batch_reply(
        first.number,
        &sent(&[(1, EventOutcome::Stored), (3, EventOutcome::Duplicate)]),
    );
    assert_eq!((then.delivered.len(), then.retry_after_ms), (2, None));
    assert_eq!(line.n_delivered_events(), 2);
    let second = line.next_batch().unwrap();
    assert_eq!((second.task, places(&second)), (TaskId(2), vec![2]));
}

#[test]
fn nothing_is_sent_before_it_is_kept() {
    let mut line = line(&[(1, 1)]);
    let two = line.add_new_event(kept(2, 1));
    let three = line.add_new_event(kept(3, 1));
    line.mark_locally_stored(three.event.key);
    assert_eq!(places(&line.next_batch().unwrap()), [1]);
    line.handle_batch_failure(1, &RequestError::Network(String::new()));
    line.mark_locally_stored(two.event.key);
    assert_eq!(places(&line.next_batch().unwrap()), [1, 2, 3]);
}

#[test]
fn the_clock_of_the_browser_may_go_back() {
    let mut line = line(&[(9, 1)]);
    let later = line.add_new_event(kept(2, 1));
    assert_eq!(later.position, 10);
}

#[test]
fn what_is_refused_stays_with_its_reason_and_holds_up_nothing() {
    let mut line = line(&[(1, 1), (2, 1)]);
    let batch = line.next_batch().unwrap();
    let then = line.handle_batch_reply(
        batch.number,
        &sent(&[(1, refused()), (2, EventOutcome::Stored)]),
    );
    assert_eq!(then.refused[0].rejection.as_deref(), Some("no such item"));
    assert_eq!((line.unsent_events().len(), line.next_batch()), (1, None));
    line.requeue_rejected();
    assert_eq!(places(&line.next_batch().unwrap()), [1]);
    line.handle_batch_reply(2, &sent(&[(1, refused())]));
    assert_eq!(line.remove_rejected().len(), 1);
    assert!(line.unsent_events().is_empty());
}

#[test]
fn pauses_grow_and_end_with_the_first_answer() {
    let mut line = line(&[(1, 1)]);
    let mut pauses = Vec::new();
    for _ in 0..9 {
        let batch = line.next_batch().unwrap();
        let then = line.handle_batch_failure(batch.number, &RequestError::Network(String::new()));
        pauses.extend(then.unwrap().retry_after_ms);
    }
    assert_eq!(pauses[..3], [1_000, 2_000, 4_000]);
    assert_eq!(pauses[8], MAX_RETRY_MS);
    assert_eq!(line.delivery_problem(), Some(&DeliveryProblem::Network));
    let batch = line.next_batch().unwrap();
    line.handle_batch_reply(batch.number, &sent(&[(1, EventOutcome::Stored)]));
    assert_eq!(line.delivery_problem(), None);
}

#[test]
fn an_answer_that_comes_late_is_heard_all_the_same() {
    let mut line = line(&[(1, 1), (2, 1)]);
    let slow = line.next_batch().unwrap();
    line.handle_batch_failure(slow.number, &RequestError::Network(String::new()));
    let again = line.next_batch().unwrap();
    let both = sent(&[(1, EventOutcome::Stored), (2, EventOutcome::Stored)]);
    assert_eq!(
        line.handle_batch_reply(slow.number, &both).delivered.len(),
        2
    );
    // An event that was delivered before is not counted again.
    assert_eq!(
        line.handle_batch_reply(again.number, &both),
        BatchDeliveryResult::default()
    );
    assert_eq!(line.n_delivered_events(), 2);
    assert_eq!(
        line.handle_batch_failure(again.number, &server("storage")),
        None
    );
    line.add_stored_event(kept(1, 1));
    assert!(line.unsent_events().is_empty(), "it is not found again");
}

#[test]
fn a_batch_that_is_refused_as_a_whole_is_sent_one_by_one() {
    let mut line = line(&[(1, 1), (2, 1)]);
    let batch = line.next_batch().unwrap();
    let then = line
        .handle_batch_failure(batch.number, &server("unknown"))
        .unwrap();
    assert_eq!(then, BatchDeliveryResult::default());
    let one = line.next_batch().unwrap();
    assert_eq!(places(&one), [1]);
    let then = line
        .handle_batch_failure(one.number, &server("unknown"))
        .unwrap();
    assert_eq!(then.refused[0].rejection.as_deref(), Some("so it is"));
    assert_eq!(places(&line.next_batch().unwrap()), [2]);
}

#[test]
fn without_a_session_events_wait() {
    let mut line = line(&[(1, 1)]);
    let batch = line.next_batch().unwrap();
    line.handle_batch_failure(batch.number, &server("session"));
    assert_eq!(line.delivery_problem(), Some(&DeliveryProblem::SignedOut));
    let batch = line.next_batch().unwrap();
    line.handle_batch_failure(batch.number, &server("storage"));
    assert_eq!(
        line.delivery_problem(),
        Some(&DeliveryProblem::Server("so it is".to_owned()))
    );
}

#[test]
fn an_event_that_an_earlier_version_stored_is_not_lost() {
    let key = "01".repeat(16);
    let old = format!(
        r#"{{"place":1,"person":1,"task":2,"event":{{"key":"{key}","made_ms":0,
        "what":{{"kind":"undone","of":"{key}"}}}},"refused":"no such item"}}"#
    );
    let expected = UnconfirmedAnnotationEvent {
        rejection: Some("no such item".to_owned()),
        ..kept(1, 2)
    };
    assert_eq!(
        serde_json::from_str::<UnconfirmedAnnotationEvent>(&old).unwrap(),
        expected
    );
}

#[test]
fn an_event_is_kept_as_json() {
    let json = serde_json::to_string(&kept(1, 2)).unwrap();
    assert_eq!(
        serde_json::from_str::<UnconfirmedAnnotationEvent>(&json).unwrap(),
        kept(1, 2)
    );
}
