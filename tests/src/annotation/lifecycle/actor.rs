//! An annotator who acts over HTTP and remembers the keys of their events.

use shared::annotation::assignment::ItemAssignment;
use shared::annotation::event::{AnnotationDecision, AnnotationEventAction, RatingTagsAndNote};
use shared::annotation::{AnnotationEventKey, AnnotatorAnswer, ClientAnnotationEvent, ItemNo};
use shared::api::annotation::{
    EventOutcome, GetAssignedItemRequest, LeaseItemsRequest, SubmitEventsRequest, TaskId,
};

use super::super::person::PersonClient;
use super::super::seeded_random::SeededRandom;

/// A person on one device, with their events.
pub(super) struct TestActor {
    pub(super) person: PersonClient,
    /// The keys of all accepted events.
    pub(super) keys: Vec<AnnotationEventKey>,
    random: SeededRandom,
}

/// Returns a seed other than 0; each device draws other keys.
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

    /// Sends one action and returns the key of its event.
    pub(super) fn send_one(
        &mut self,
        task: TaskId,
        what: AnnotationEventAction,
    ) -> AnnotationEventKey {
        self.send_all(task, vec![what])[0]
    }

    /// Sends several actions in one request.
    pub(super) fn send_all(
        &mut self,
        task: TaskId,
        what: Vec<AnnotationEventAction>,
    ) -> Vec<AnnotationEventKey> {
        let mut made_ms = 1_790_000_000_000 + 10_000 * self.keys.len() as u64;
        let event = |what| {
            made_ms += 10_000;
            let key = self.random.key();
            ClientAnnotationEvent {
                key,
                created_ms: made_ms,
                action: what,
            }
        };
        let events: Vec<ClientAnnotationEvent> = what.into_iter().map(event).collect();
        let keys: Vec<AnnotationEventKey> = events.iter().map(|it| it.key).collect();
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

    /// Returns the items that would come next.
    pub(super) fn items(&self, next: &LeaseItemsRequest) -> Vec<ItemNo> {
        let handed = self.person.call(next);
        handed.items.iter().map(|it| it.assignment.item).collect()
    }

    /// Returns the assignment of an item that they had before.
    pub(super) fn again(&self, task: TaskId, item: ItemNo) -> ItemAssignment {
        self.person
            .call(&GetAssignedItemRequest { task, item })
            .assignment
    }
}

/// Returns a decision on an item, made in four seconds, that replaces others.
pub(super) fn decision(
    offer: &ItemAssignment,
    answer: AnnotatorAnswer,
    replaces: Vec<AnnotationEventKey>,
) -> AnnotationEventAction {
    AnnotationEventAction::Decided(AnnotationDecision {
        item: offer.item,
        answer,
        comment: RatingTagsAndNote::default(),
        display_order: offer.display_order,
        duration_ms: 4_000,
        replaces,
    })
}
