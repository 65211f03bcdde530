//! Somebody who does things, and remembers their keys.

use shared::annotation::assignment::Assignment;
use shared::annotation::event::{AnnotationAction, AnswerComment, Decision};
use shared::annotation::{AnnotationEvent, AnnotatorAnswer, EventKey, ItemNo};
use shared::api::annotation::{
    EventOutcome, GetAssignedItemRequest, LeaseItemsRequest, SubmitEventsRequest, TaskId,
};

use super::super::person::PersonClient;
use super::super::seeded_random::SeededRandom;

/// A person with what they have done on one device.
pub(super) struct TestActor {
    pub(super) person: PersonClient,
    /// Of everything that was taken.
    pub(super) keys: Vec<EventKey>,
    random: SeededRandom,
}

/// Any number but 0: each device draws other keys.
fn seed() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static N_DEVICES: AtomicU64 = AtomicU64::new(1);
    N_DEVICES.fetch_add(1, Ordering::Relaxed)
}

impl TestActor {
    pub(super) fn new(person: PersonClient) -> TestActor {
        TestActor {
            person,
            keys: Vec::new(),
            random: SeededRandom::new(seed()),
        }
    }

    /// Does one thing.
    pub(super) fn send_one(&mut self, task: TaskId, what: AnnotationAction) -> EventKey {
        self.send_all(task, vec![what])[0]
    }

    /// Does things in one request.
    pub(super) fn send_all(&mut self, task: TaskId, what: Vec<AnnotationAction>) -> Vec<EventKey> {
        let mut made_ms = 1_790_000_000_000 + 10_000 * self.keys.len() as u64;
        let event = |what| {
            made_ms += 10_000;
            let key = self.random.key();
            AnnotationEvent {
                key,
                created_ms: made_ms,
                action: what,
            }
        };
        let events: Vec<AnnotationEvent> = what.into_iter().map(event).collect();
        let keys: Vec<EventKey> = events.iter().map(|it| it.key).collect();
        let sent = self.person.call(&SubmitEventsRequest { task, events });
        for taken in &sent.receipts {
            assert_eq!(taken.outcome, EventOutcome::Stored, "{}", self.person.name);
        }
        assert!(
            sent.receipts
                .iter()
                .map(|it| it.key)
                .eq(keys.iter().copied())
        );
        self.keys.extend(&keys);
        keys
    }

    /// What would come next.
    pub(super) fn items(&self, next: &LeaseItemsRequest) -> Vec<ItemNo> {
        let handed = self.person.call(next);
        handed.items.iter().map(|it| it.assignment.item).collect()
    }

    /// An item that they have had.
    pub(super) fn again(&self, task: TaskId, item: ItemNo) -> Assignment {
        self.person
            .call(&GetAssignedItemRequest { task, item })
            .assignment
    }
}

/// An answer to an item, after four seconds, in place of others.
pub(super) fn decision(
    offer: &Assignment,
    answer: AnnotatorAnswer,
    replaces: Vec<EventKey>,
) -> AnnotationAction {
    AnnotationAction::Decided(Decision {
        item: offer.item,
        answer,
        comment: AnswerComment::default(),
        display_order: offer.display_order,
        duration_ms: 4_000,
        replaces,
    })
}
