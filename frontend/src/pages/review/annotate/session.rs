//! A person's way through a task: the item on the screen, those ahead, and what can be taken back.
//! Knows no browser.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use shared::annotation::assignment::{AssignmentPhase, N_PREFETCHED};
use shared::annotation::event::{AnnotationAction, AnswerComment, Decision, MAX_REPLACED_EVENTS};
use shared::annotation::log::EventStatus;
use shared::annotation::{AnnotationEvent, AnnotatorAnswer, EventKey, ItemNo};
use shared::api::annotation::{
    AssignedItem, EventRecord, LeaseItemsResponse, MAX_ITEMS_PER_REQUEST,
};

/// With fewer items than these at hand, more are asked for.
const LOW_STOCK: usize = 5;

/// So many items that were decided on are kept, to be shown again without a network.
const MAX_CACHED_ITEMS: usize = 60;

/// The item on the screen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DisplayedItem {
    /// What is shown.
    pub(crate) item: AssignedItem,
    /// What the person said of it before.
    pub(crate) earlier: Option<EarlierDecision>,
    /// Of training: the answer that was just given, about the texts in the order of the claim.
    pub(crate) feedback: Option<AnnotatorAnswer>,
}

/// An earlier decision on the item that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EarlierDecision {
    /// What was said.
    pub(crate) decision: Decision,
    /// Decisions on the item that stand, and that another one replaces: one, if it was not taken
    /// back, and more after two devices that did not know of each other.
    active_keys: Vec<EventKey>,
}

/// A decision or a skip that can be taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UndoableAction {
    /// Of its event.
    pub(crate) key: EventKey,
    /// On which item.
    pub(crate) item: ItemNo,
    /// None for a skip.
    pub(crate) decision: Option<Decision>,
}

/// All of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct AnnotationSession {
    displayed: Option<DisplayedItem>,
    upcoming: VecDeque<DisplayedItem>,
    undoable: Vec<UndoableAction>,
    cache: VecDeque<AssignedItem>,
    decided: BTreeSet<ItemNo>,
    parts: BTreeMap<ItemNo, AssignmentPhase>,
    undone: BTreeMap<EventKey, UndoableAction>,
    /// Further items that others hold.
    n_leased: u32,
    /// Whether the server had no more when it was asked last.
    is_exhausted: bool,
}

impl UndoableAction {
    fn from_event(event: &AnnotationEvent) -> Option<UndoableAction> {
        let (item, decision) = match &event.what {
            AnnotationAction::Decided(it) => (it.item, Some(it.clone())),
            AnnotationAction::Skipped(it) => (it.item, None),
            AnnotationAction::Reported(_)
            | AnnotationAction::Undone { .. }
            | AnnotationAction::Adjudicated(_)
            | AnnotationAction::Excluded(_)
            | AnnotationAction::Included(_) => return None,
        };
        Some(UndoableAction {
            key: event.key,
            item,
            decision,
        })
    }
}

impl DisplayedItem {
    fn new(item: AssignedItem) -> DisplayedItem {
        DisplayedItem {
            item,
            earlier: None,
            feedback: None,
        }
    }

    /// Which item it is.
    pub(crate) fn number(&self) -> ItemNo {
        self.item.offer.item
    }

    /// The answer of before, as the texts stand on the screen.
    pub(crate) fn earlier_answer(&self) -> Option<AnnotatorAnswer> {
        let before = self.before.as_ref()?;
        Some(self.item.offer.sides.turn(before.decision.answer))
    }

    /// Whether an answer that stands is about to be changed.
    pub(crate) fn replaces_decision(&self) -> bool {
        let before = self.before.as_ref();
        before.is_some_and(|it| !it.stand.is_empty())
    }

    /// A decision on it; `answer` is about the screen, first is left.
    pub(crate) fn new_decision(
        &self,
        answer: AnnotatorAnswer,
        comment: AnswerComment,
        took_ms: u64,
    ) -> AnnotationAction {
        let sides = self.item.offer.sides;
        let before = self.before.as_ref();
        AnnotationAction::Decided(Decision {
            item: self.number(),
            answer: sides.turn(answer),
            comment,
            display_order: sides,
            duration_ms: took_ms,
            replaces: before.map(|it| it.stand.clone()).unwrap_or_default(),
        })
    }
}

impl AnnotationSession {
    /// Hears what was done in earlier visits: what the server knows, the newest first, and what it
    /// does not know yet, in its order.
    pub(crate) fn restore_history(&mut self, known: &[EventRecord], unsent: &[AnnotationEvent]) {
        let standing =
            |it: &&EventRecord| !matches!(it.fate, EventStatus::Undone | EventStatus::Replaced);
        let known_keys: BTreeSet<EventKey> = known.iter().map(|it| it.entry.event.key).collect();
        for done in known.iter().rev().filter(standing) {
            self.put(&done.entry.event);
        }
        for event in unsent.iter().filter(|it| !known_keys.contains(&it.key)) {
            self.put(event);
        }
    }

    fn apply_event(&mut self, event: &AnnotationEvent) {
        if let AnnotationAction::Undone { of } = event.what {
            self.forget(of);
        }
        if let Some(act) = UndoableAction::from_event(event) {
            let replaced = event.what.replaces();
            self.done.retain(|it| !replaced.contains(&it.key));
            self.settled.insert(act.item);
            self.done.push(act);
        }
    }

    fn remove_event(&mut self, key: EventKey) {
        if let Some(at) = self.done.iter().position(|it| it.key == key) {
            let act = self.done.remove(at);
            if self.done.iter().all(|it| it.item != act.item) {
                self.settled.remove(&act.item);
            }
            self.taken_back.insert(key, act);
        }
    }

    /// Takes what the server handed out when it was asked for `n`. An item that was promised for a
    /// time that is over, and is not promised again, is somebody else's now.
    pub(crate) fn receive_items(&mut self, handed: LeaseItemsResponse, n: u32, now_ms: u64) {
        self.ended = (handed.items.len() as u32) < n;
        self.n_leased = handed.n_leased;
        let promised: BTreeSet<ItemNo> = handed.items.iter().map(|it| it.offer.item).collect();
        self.ahead.retain(|it| {
            let over = it.item.until_ms.is_some_and(|until| until <= now_ms);
            !over || it.before.is_some() || promised.contains(&it.number())
        });
        for item in handed.items {
            let number = item.offer.item;
            self.parts.insert(number, item.offer.part);
            let held = self.now.iter_mut().chain(&mut self.ahead);
            match held.into_iter().find(|it| it.number() == number) {
                Some(screen) => screen.item.until_ms = item.until_ms,
                None if self.settled.contains(&number) => {}
                None => self.ahead.push_back(DisplayedItem::new(item)),
            }
        }
        if self.now.is_none() {
            self.go_on();
        }
    }

    /// For how many items the server is to be asked: with those at hand, which it gives again, and
    /// those whose decisions it does not have. None while there are enough.
    pub(crate) fn n_to_request(&self, n_unsent: usize) -> Option<u32> {
        let n_held = self.n_held();
        let wanted = (n_held + n_unsent + N_PREFETCHED).min(MAX_ITEMS_PER_REQUEST as usize);
        (n_held < LOW_STOCK && !self.ended).then_some(wanted as u32)
    }

    /// Asks again although there was nothing more.
    pub(crate) fn clear_exhausted(&mut self) {
        self.ended = false;
    }

    fn n_held(&self) -> usize {
        let open = self.now.iter().filter(|it| it.told.is_none());
        open.count() + self.ahead.len()
    }

    /// The item on the screen.
    pub(crate) fn displayed_item(&self) -> Option<&DisplayedItem> {
        self.now.as_ref()
    }

    /// Whether the server has no more for now.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.ended
    }

    /// Further items that others hold.
    pub(crate) fn n_leased(&self) -> u32 {
        self.n_leased
    }

    /// A decision on the item on the screen, or a skip, was made.
    pub(crate) fn record(&mut self, event: &AnnotationEvent) {
        self.put(event);
        let Some(screen) = &mut self.now else {
            return;
        };
        if event.what.item() != Some(screen.number()) || UndoableAction::from_event(event).is_none()
        {
            return;
        }
        let number = screen.number();
        self.seen.retain(|it| it.offer.item != number);
        self.seen.push_back(screen.item.clone());
        if self.seen.len() > MAX_CACHED_ITEMS {
            self.seen.pop_front();
        }
        match (event.what.answer(), &screen.item.feedback) {
            (Some(answer), Some(_)) => screen.told = Some(answer),
            _ => self.go_on(),
        }
    }

    /// Shows the next item.
    pub(crate) fn advance(&mut self) {
        self.now = self.ahead.pop_front();
    }

    /// What can be taken back, the newest last.
    pub(crate) fn undoable_actions(&self) -> &[UndoableAction] {
        &self.done
    }

    /// An item that was decided on in this visit.
    pub(crate) fn cached_item(&self, item: ItemNo) -> Option<&AssignedItem> {
        self.seen.iter().find(|it| it.offer.item == item)
    }

    /// Takes an act back, and shows its item again.
    pub(crate) fn undo(&mut self, act: &UndoableAction, item: AssignedItem) {
        self.forget(act.key);
        self.look_again(act, item);
    }

    /// Shows an item again, so that its answer can be changed.
    pub(crate) fn reopen(&mut self, act: &UndoableAction, item: AssignedItem) {
        if let Some(now) = self.now.take()
            && now.told.is_none()
            && !now.changes()
        {
            self.ahead.push_front(now);
        }
        self.ahead.retain(|it| it.number() != act.item);
        let same = self.done.iter().rev().filter(|it| it.item == act.item);
        let stand = same.filter(|it| it.decision.is_some()).map(|it| it.key);
        let stand: Vec<EventKey> = stand.take(MAX_REPLACED_EVENTS).collect();
        let before = act.decision.clone().map(|decision| EarlierDecision {
            decision,
            active_keys: stand,
        });
        self.now = Some(DisplayedItem {
            item,
            earlier: before,
            feedback: None,
        });
    }

    /// By how much the person's number of decided items differs from what the server knows, once
    /// it has what is not sent. Training does not count.
    pub(crate) fn unsent_progress(&self, unsent: &[AnnotationEvent]) -> i64 {
        let works = |item: &ItemNo| self.parts.get(item) != Some(&AssignmentPhase::Training);
        let gain = |event: &AnnotationEvent| match &event.what {
            AnnotationAction::Decided(it) if works(&it.item) => i64::from(it.replaces.is_empty()),
            AnnotationAction::Undone { of } => {
                let act = self.taken_back.get(of);
                let decided = act.is_some_and(|it| it.decision.is_some() && works(&it.item));
                -i64::from(decided)
            }
            _ => 0,
        };
        unsent.iter().map(gain).sum()
    }
}

#[cfg(test)]
mod tests;
