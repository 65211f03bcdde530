//! A scripted annotator with a log of their own: all events that they created, and how many of them
//! the server has acknowledged. The others are sent again, in order, until the server acknowledges
//! them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use shared::annotation::assignment::ItemAssignment;
use shared::annotation::event::{
    AnnotationDecision, AnnotationEventAction, RatingTagsAndNote, SkipReason, SkippedItem,
};
use shared::annotation::log::AnnotationEventValidity;
use shared::annotation::{
    AnnotatorAnswer, AxiomReasonRating, ClientAnnotationEvent, DocumentDisplayOrder, ItemNo,
    PersonId,
};
use shared::api::annotation::{
    EventKeyWithOutcome, EventOutcome, LeaseItemsRequest, MAX_EVENTS_PER_REQUEST,
    SubmitEventsRequest, TaskId,
};

use super::person::{PersonClient, RequestFailure};
use super::seeded_random::SeededRandom;
use crate::harness::PATIENCE;

/// The maximum number of items that they hold.
const HELD: u32 = 8;

/// An event as its annotator remembers it.
pub(super) struct ScriptedEvent {
    pub(super) event: ClientAnnotationEvent,
    /// The status that the event must have.
    pub(super) fate: AnnotationEventValidity,
}

/// Counts of what happened to requests.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct RequestCounts {
    /// Requests without an answer.
    pub(super) n_lost: u32,
    /// Requests that the server could not serve at that time.
    pub(super) n_unavailable: u32,
    /// Events that the server had accepted in a request whose answer was lost.
    pub(super) n_known: u32,
    /// Events that were sent again on purpose after they had been acknowledged.
    pub(super) n_twice: u32,
}

/// A scripted annotator who logs every event that they send.
pub(super) struct ScriptedAnnotator {
    person: PersonClient,
    task: TaskId,
    random: SeededRandom,
    /// All events, in order.
    pub(super) made: Vec<ScriptedEvent>,
    /// The number of acknowledged events, from the beginning.
    pub(super) n_acknowledged: usize,
    pub(super) seen: RequestCounts,
    /// The items that are still to be decided.
    ready: VecDeque<ItemNo>,
    /// The display order of the items that were received.
    sides: BTreeMap<ItemNo, DocumentDisplayOrder>,
    /// The items that were decided or skipped.
    finished: BTreeSet<ItemNo>,
    /// The active decision on each item, as an index into `made`.
    standing: BTreeMap<ItemNo, usize>,
    /// The actions that can be undone, newest last.
    undoable: Vec<usize>,
}

impl ScriptedAnnotator {
    pub(super) fn new(person: PersonClient, task: TaskId, seed: u64) -> ScriptedAnnotator {
        let random = SeededRandom::new(seed ^ (u64::from(person.no.0) << 32));
        ScriptedAnnotator {
            person,
            task,
            random,
            made: Vec::new(),
            n_acknowledged: 0,
            seen: RequestCounts::default(),
            ready: VecDeque::new(),
            sides: BTreeMap::new(),
            finished: BTreeSet::new(),
            standing: BTreeMap::new(),
            undoable: Vec::new(),
        }
    }

    /// Annotates until told to stop, whether or not the server answers.
    pub(super) fn work(&mut self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            self.fetch();
            self.act();
            // If nothing is sent now, the next request has two events.
            if !self.random.one_in(5) {
                self.send();
            }
            std::thread::sleep(Duration::from_millis(100 + self.random.below(100)));
        }
    }

    /// Sends events until all are acknowledged.
    pub(super) fn finish(&mut self) {
        let since = Instant::now();
        while self.n_acknowledged < self.made.len() {
            assert!(since.elapsed() < PATIENCE, "{} waits", self.person.name);
            self.send();
        }
    }

    pub(super) fn no(&self) -> PersonId {
        self.person.no
    }

    /// Returns the number of active decisions.
    pub(super) fn n_standing(&self) -> u64 {
        self.standing.len() as u64
    }

    fn fetch(&mut self) {
        if self.ready.len() > HELD as usize / 2 {
            return;
        }
        let asked = LeaseItemsRequest {
            task: self.task,
            n_items: HELD,
        };
        let Some(handed) = self.told(|it| it.try_ask(&asked)) else {
            return;
        };
        for it in handed.items {
            let ItemAssignment {
                item,
                display_order: sides,
                ..
            } = it.assignment;
            let before = self.sides.insert(item, sides);
            assert!(before.is_none_or(|it| it == sides), "a side was changed");
            // Items with unsent decisions are offered again.
            if !self.finished.contains(&item) && !self.ready.contains(&item) {
                self.ready.push_back(item);
            }
        }
    }

    fn act(&mut self) {
        match self.random.below(100) {
            0..8 => self.undo(),
            8..14 => self.skip(),
            14..20 => self.change(),
            _ => self.decide(),
        }
    }

    fn decide(&mut self) {
        let Some(item) = self.ready.pop_front() else {
            return;
        };
        let decision = self.decision(item, Vec::new());
        self.standing.insert(item, self.made.len());
        self.undoable.push(self.made.len());
        self.finished.insert(item);
        self.make(AnnotationEventAction::Decided(decision));
    }

    fn skip(&mut self) {
        let Some(item) = self.ready.pop_front() else {
            return;
        };
        let reason = SkipReason::ALL[self.random.below(5) as usize];
        let note = match reason {
            SkipReason::Other => "the glacier \"melts\", d’accord;\nsays ,a, 氷河".to_owned(),
            _ => String::new(),
        };
        self.undoable.push(self.made.len());
        self.finished.insert(item);
        self.make(AnnotationEventAction::Skipped(SkippedItem {
            item,
            reason,
            note,
        }));
    }

    /// Changes the decision on an item.
    fn change(&mut self) {
        let n_standing = self.standing.len() as u64;
        if n_standing == 0 {
            return;
        }
        let at = self.random.below(n_standing) as usize;
        let (&item, &before) = self.standing.iter().nth(at).unwrap();
        let replaced = self.made[before].event.key;
        let decision = self.decision(item, vec![replaced]);
        self.made[before].fate = AnnotationEventValidity::Replaced;
        self.standing.insert(item, self.made.len());
        self.undoable.push(self.made.len());
        self.make(AnnotationEventAction::Decided(decision));
    }

    /// Undoes the last action that can be undone; what it replaced becomes active again.
    fn undo(&mut self) {
        let Some(at) = self.undoable.pop() else {
            return;
        };
        let ClientAnnotationEvent {
            key, action: what, ..
        } = self.made[at].event.clone();
        self.made[at].fate = AnnotationEventValidity::Undone;
        let item = what.item_no().unwrap();
        let replaced = what.replaced_event_keys().first();
        let replaced = replaced.map(|key| self.made.iter().position(|it| it.event.key == *key));
        match replaced {
            Some(before) => {
                let before = before.unwrap();
                self.made[before].fate = AnnotationEventValidity::Active;
                self.standing.insert(item, before);
            }
            None => {
                self.standing.remove(&item);
                self.finished.remove(&item);
                self.ready.push_front(item);
            }
        }
        self.make(AnnotationEventAction::Undone { of: key });
    }

    fn decision(
        &mut self,
        item: ItemNo,
        replaces: Vec<shared::annotation::AnnotationEventKey>,
    ) -> AnnotationDecision {
        let answer = AnnotatorAnswer::ALL[self.random.below(4) as usize];
        let matters = [
            None,
            Some(AxiomReasonRating::Matters),
            Some(AxiomReasonRating::DoesNotMatter),
        ];
        let noted = self.random.one_in(10);
        AnnotationDecision {
            item,
            answer,
            comment: RatingTagsAndNote {
                reason_rating: matters[self.random.below(3) as usize],
                tags: if noted {
                    vec!["off topic".to_owned(), "длинный".to_owned()]
                } else {
                    Vec::new()
                },
                note: if noted {
                    "both say \"ice\", one says why".to_owned()
                } else {
                    String::new()
                },
            },
            display_order: self.sides[&item],
            duration_ms: 500 + self.random.below(20_000),
            replaces,
        }
    }

    fn make(&mut self, what: AnnotationEventAction) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let event = ClientAnnotationEvent {
            key: self.random.key(),
            created_ms: since.as_millis() as u64,
            action: what,
        };
        self.made.push(ScriptedEvent {
            event,
            fate: AnnotationEventValidity::Active,
        });
    }

    /// Sends the oldest unacknowledged events; now and then all of them once more.
    fn send(&mut self) {
        let from = self.n_acknowledged;
        let rest = self.made[from..].iter().take(MAX_EVENTS_PER_REQUEST);
        let events: Vec<ClientAnnotationEvent> = rest.map(|it| it.event.clone()).collect();
        if events.is_empty() {
            return;
        }
        let asked = SubmitEventsRequest {
            task: self.task,
            events,
        };
        let Some(sent) = self.told(|it| it.try_ask(&asked)) else {
            // A page waits longer; here the server should be reached as soon as it is there.
            std::thread::sleep(Duration::from_millis(50));
            return;
        };
        self.seen.n_known += n_known(&asked, &sent.receipts);
        self.n_acknowledged += asked.events.len();
        if self.random.one_in(10)
            && let Some(again) = self.told(|it| it.try_ask(&asked))
        {
            let n_known = n_known(&asked, &again.receipts);
            assert_eq!(n_known as usize, asked.events.len(), "taken twice");
            self.seen.n_twice += n_known;
        }
    }

    /// Returns the reply; none if the server is away or has no disk space.
    fn told<T>(
        &mut self,
        ask: impl FnOnce(&PersonClient) -> Result<T, RequestFailure>,
    ) -> Option<T> {
        match ask(&self.person) {
            Ok(replied) => return Some(replied),
            Err(RequestFailure::Lost(_)) => self.seen.n_lost += 1,
            Err(RequestFailure::Refused(503, _)) => self.seen.n_unavailable += 1,
            Err(it) => panic!("{} was refused: {it:?}", self.person.name),
        }
        None
    }
}

/// Checks that every event was accepted, and returns how many the server had before.
fn n_known(asked: &SubmitEventsRequest, taken: &[EventKeyWithOutcome]) -> u32 {
    assert_eq!(asked.events.len(), taken.len());
    let mut n_known = 0;
    for (event, taken) in asked.events.iter().zip(taken) {
        assert_eq!(event.key, taken.key);
        match &taken.outcome {
            EventOutcome::Stored => {}
            EventOutcome::Duplicate => n_known += 1,
            EventOutcome::Rejected { reason } => panic!("{event:?} was refused: {reason}"),
        }
    }
    n_known
}
