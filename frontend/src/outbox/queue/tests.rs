use shared::annotation::event::AnnotationAction;
use shared::api::ErrorResponse;
use shared::api::annotation::{EventReceipt, TaskProgressSummary};

use super::*;

fn kept(byte: u8, task: u32) -> QueuedEvent {
    let key = EventKey::from_bytes([byte; 16]);
    QueuedEvent {
        position: u64::from(byte),
        person: PersonId(1),
        task: TaskId(task),
        event: AnnotationEvent {
            key,
            created_ms: 0,
            action: AnnotationAction::Undone { of: key },
        },
        rejection: None,
    }
}

fn line(bytes: &[(u8, u32)]) -> EventQueue {
    let mut line = EventQueue::default();
    for &(byte, task) in bytes {
        line.find(kept(byte, task));
    }
    line
}

fn sent(outcomes: &[(u8, EventOutcome)]) -> SubmitEventsResponse {
    let taken = outcomes.iter().map(|(byte, outcome)| EventReceipt {
        key: EventKey::from_bytes([*byte; 16]),
        outcome: outcome.clone(),
    });
    SubmitEventsResponse {
        receipts: taken.collect(),
        standing: TaskProgressSummary::default(),
    }
}

fn refused() -> EventOutcome {
    EventOutcome::Rejected {
        reason: "no such item".to_owned(),
    }
}

fn server(error_type: &str) -> Error {
    Error::Server(ErrorResponse::new("so it is", error_type))
}

fn places(batch: &EventBatch) -> Vec<u8> {
    let first = |it: &AnnotationEvent| u8::from_str_radix(&it.key.to_string()[..2], 16).unwrap();
    batch.events.iter().map(first).collect()
}

#[test]
fn events_of_a_task_go_together_in_their_order() {
    let mut line = line(&[(3, 1), (1, 1), (2, 2), (3, 1)]);
    let first = line.next().unwrap();
    assert_eq!((first.task, places(&first)), (TaskId(1), vec![1, 3]));
    assert_eq!(line.next(), None, "one batch at a time");
    let then = line.told(
        first.number,
        &sent(&[(1, EventOutcome::Stored), (3, EventOutcome::Duplicate)]),
    );
    assert_eq!((then.gone.len(), then.pause_ms), (2, None));
    assert_eq!(line.n_saved(), 2);
    let second = line.next().unwrap();
    assert_eq!((second.task, places(&second)), (TaskId(2), vec![2]));
}

#[test]
fn nothing_is_sent_before_it_is_kept() {
    let mut line = line(&[(1, 1)]);
    let two = line.add(kept(2, 1));
    let three = line.add(kept(3, 1));
    line.written(three.event.key);
    assert_eq!(places(&line.next().unwrap()), [1]);
    line.failed(1, &Error::Network(String::new()));
    line.written(two.event.key);
    assert_eq!(places(&line.next().unwrap()), [1, 2, 3]);
}

#[test]
fn the_clock_of_the_browser_may_go_back() {
    let mut line = line(&[(9, 1)]);
    let later = line.add(kept(2, 1));
    assert_eq!(later.place, 10);
}

#[test]
fn what_is_refused_stays_with_its_reason_and_holds_up_nothing() {
    let mut line = line(&[(1, 1), (2, 1)]);
    let batch = line.next().unwrap();
    let then = line.told(
        batch.number,
        &sent(&[(1, refused()), (2, EventOutcome::Stored)]),
    );
    assert_eq!(then.refused[0].refused.as_deref(), Some("no such item"));
    assert_eq!((line.unsent().len(), line.next()), (1, None));
    line.ask_again();
    assert_eq!(places(&line.next().unwrap()), [1]);
    line.told(2, &sent(&[(1, refused())]));
    assert_eq!(line.discard().len(), 1);
    assert!(line.unsent().is_empty());
}

#[test]
fn pauses_grow_and_end_with_the_first_answer() {
    let mut line = line(&[(1, 1)]);
    let mut pauses = Vec::new();
    for _ in 0..9 {
        let batch = line.next().unwrap();
        let then = line.failed(batch.number, &Error::Network(String::new()));
        pauses.extend(then.unwrap().pause_ms);
    }
    assert_eq!(pauses[..3], [1_000, 2_000, 4_000]);
    assert_eq!(pauses[8], MAX_RETRY_MS);
    assert_eq!(line.trouble(), Some(&DeliveryProblem::Network));
    let batch = line.next().unwrap();
    line.told(batch.number, &sent(&[(1, EventOutcome::Stored)]));
    assert_eq!(line.trouble(), None);
}

#[test]
fn an_answer_that_comes_late_is_heard_all_the_same() {
    let mut line = line(&[(1, 1), (2, 1)]);
    let slow = line.next().unwrap();
    line.failed(slow.number, &Error::Network(String::new()));
    let again = line.next().unwrap();
    let both = sent(&[(1, EventOutcome::Stored), (2, EventOutcome::Stored)]);
    assert_eq!(line.told(slow.number, &both).gone.len(), 2);
    // What was known by then is not counted again.
    assert_eq!(line.told(again.number, &both), DeliveryOutcome::default());
    assert_eq!(line.n_saved(), 2);
    assert_eq!(line.failed(again.number, &server("storage")), None);
    line.find(kept(1, 1));
    assert!(line.unsent().is_empty(), "it is not found again");
}

#[test]
fn a_batch_that_is_refused_as_a_whole_is_sent_one_by_one() {
    let mut line = line(&[(1, 1), (2, 1)]);
    let batch = line.next().unwrap();
    let then = line.failed(batch.number, &server("unknown")).unwrap();
    assert_eq!(then, DeliveryOutcome::default());
    let one = line.next().unwrap();
    assert_eq!(places(&one), [1]);
    let then = line.failed(one.number, &server("unknown")).unwrap();
    assert_eq!(then.refused[0].refused.as_deref(), Some("so it is"));
    assert_eq!(places(&line.next().unwrap()), [2]);
}

#[test]
fn without_a_session_events_wait() {
    let mut line = line(&[(1, 1)]);
    let batch = line.next().unwrap();
    line.failed(batch.number, &server("session"));
    assert_eq!(line.trouble(), Some(&DeliveryProblem::SignedOut));
    let batch = line.next().unwrap();
    line.failed(batch.number, &server("storage"));
    assert_eq!(
        line.trouble(),
        Some(&DeliveryProblem::Server("so it is".to_owned()))
    );
}

#[test]
fn an_event_is_kept_as_json() {
    let json = serde_json::to_string(&kept(1, 2)).unwrap();
    assert_eq!(
        serde_json::from_str::<QueuedEvent>(&json).unwrap(),
        kept(1, 2)
    );
}
