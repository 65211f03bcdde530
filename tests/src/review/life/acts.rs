//! Somebody who does things, and remembers their keys.

use shared::api::review::{Again, NextItems, Outcome, Send, TaskNo};
use shared::review::event::{AnswerComment, Decision, What};
use shared::review::queue::Offer;
use shared::review::{Answer, Event, ItemNo, Key};

use super::super::person::Person;
use super::super::random::Random;

/// A person with what they have done on one device.
pub(super) struct Acts {
    pub(super) person: Person,
    /// Of everything that was taken.
    pub(super) keys: Vec<Key>,
    random: Random,
}

/// Any number but 0: each device draws other keys.
fn seed() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static N_DEVICES: AtomicU64 = AtomicU64::new(1);
    N_DEVICES.fetch_add(1, Ordering::Relaxed)
}

impl Acts {
    pub(super) fn new(person: Person) -> Acts {
        Acts {
            person,
            keys: Vec::new(),
            random: Random::new(seed()),
        }
    }

    /// Does one thing.
    pub(super) fn one(&mut self, task: TaskNo, what: What) -> Key {
        self.all(task, vec![what])[0]
    }

    /// Does things in one request.
    pub(super) fn all(&mut self, task: TaskNo, what: Vec<What>) -> Vec<Key> {
        let mut made_ms = 1_790_000_000_000 + 10_000 * self.keys.len() as u64;
        let event = |what| {
            made_ms += 10_000;
            let key = self.random.key();
            Event { key, made_ms, what }
        };
        let events: Vec<Event> = what.into_iter().map(event).collect();
        let keys: Vec<Key> = events.iter().map(|it| it.key).collect();
        let sent = self.person.ask(&Send { task, events });
        for taken in &sent.taken {
            assert_eq!(taken.outcome, Outcome::Kept, "{}", self.person.name);
        }
        assert!(sent.taken.iter().map(|it| it.key).eq(keys.iter().copied()));
        self.keys.extend(&keys);
        keys
    }

    /// What would come next.
    pub(super) fn items(&self, next: &NextItems) -> Vec<ItemNo> {
        let handed = self.person.ask(next);
        handed.items.iter().map(|it| it.offer.item).collect()
    }

    /// An item that they have had.
    pub(super) fn again(&self, task: TaskNo, item: ItemNo) -> Offer {
        self.person.ask(&Again { task, item }).offer
    }
}

/// An answer to an item, after four seconds, in place of others.
pub(super) fn decision(offer: &Offer, answer: Answer, replaces: Vec<Key>) -> What {
    What::Decided(Decision {
        item: offer.item,
        answer,
        comment: AnswerComment::default(),
        sides: offer.sides,
        took_ms: 4_000,
        replaces,
    })
}
