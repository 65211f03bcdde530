//! An annotator's session on a task: the displayed item, the upcoming ones, and the actions that
//! can be undone. It does not depend on a browser.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use shared::annotation::assignment::{AssignmentPhase, N_PREFETCHED};
use shared::annotation::event::{
    AnnotationDecision, AnnotationEventAction, MAX_REPLACED_EVENTS, RatingTagsAndNote,
};
use shared::annotation::log::AnnotationEventValidity;
use shared::annotation::{AnnotationEventKey, AnnotatorAnswer, ClientAnnotationEvent, ItemNo};
use shared::api::annotation::{
    AssignedItem, EventWithStatus, LeaseItemsResponse, MAX_ITEMS_PER_REQUEST,
};

/// More items are requested when fewer than these are left.
const LOW_STOCK: usize = 5;

/// The number of decided items that are kept, so that they can be shown again without a network.
const MAX_CACHED_ITEMS: usize = 60;

/// The item that is displayed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DisplayedItem {
    /// The item and its documents.
    pub(crate) item: AssignedItem,
    /// The person's earlier decision on it.
    pub(crate) earlier: Option<EarlierDecision>,
    /// In training: the answer that was just given, with the documents in the order of the claim.
    pub(crate) feedback: Option<AnnotatorAnswer>,
}

/// An earlier decision on the item that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EarlierDecision {
    /// The decision itself.
    pub(crate) decision: AnnotationDecision,
    /// The active decisions on the item, which another one replaces: one unless it was undone, and
    /// several if two devices decided without knowing of each other.
    active_keys: Vec<AnnotationEventKey>,
}

/// A decision or a skip that can be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UndoableAction {
    /// The key of its event.
    pub(crate) key: AnnotationEventKey,
    /// The number of its item.
    pub(crate) item: ItemNo,
    /// The decision; none for a skip.
    pub(crate) decision: Option<AnnotationDecision>,
}

/// An annotator's way through a task: the displayed item, upcoming items and undoable actions.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct AnnotationSession {
    displayed: Option<DisplayedItem>,
    upcoming: VecDeque<DisplayedItem>,
    undoable: Vec<UndoableAction>,
    cache: VecDeque<AssignedItem>,
    decided: BTreeSet<ItemNo>,
    parts: BTreeMap<ItemNo, AssignmentPhase>,
    undone: BTreeMap<AnnotationEventKey, UndoableAction>,
    /// The number of further items that others hold.
    n_leased: u32,
    /// Whether the server had no more items at the last request.
    is_exhausted: bool,
}

impl UndoableAction {
    fn from_event(event: &ClientAnnotationEvent) -> Option<UndoableAction> {
        let (item, decision) = match &event.action {
            AnnotationEventAction::Decided(it) => (it.item, Some(it.clone())),
            AnnotationEventAction::Skipped(it) => (it.item, None),
            AnnotationEventAction::Reported(_)
            | AnnotationEventAction::Undone { .. }
            | AnnotationEventAction::Adjudicated(_)
            | AnnotationEventAction::Excluded(_)
            | AnnotationEventAction::Included(_) => return None,
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

    /// Returns the number of the displayed item in its task.
    pub(crate) fn item_number_in_task(&self) -> ItemNo {
        self.item.assignment.item
    }

    /// Returns the earlier answer, in terms of the order on screen.
    pub(crate) fn earlier_answer(&self) -> Option<AnnotatorAnswer> {
        let before = self.earlier.as_ref()?;
        Some(
            self.item
                .assignment
                .display_order
                .convert_answer_order(before.decision.answer),
        )
    }

    /// Returns whether the next decision replaces an active one.
    pub(crate) fn will_replace_decision(&self) -> bool {
        let before = self.earlier.as_ref();
        before.is_some_and(|it| !it.active_keys.is_empty())
    }

    /// Creates a decision on the item. `answer` refers to the order on screen, where first is left.
    pub(crate) fn create_decision(
        &self,
        answer: AnnotatorAnswer,
        comment: RatingTagsAndNote,
        took_ms: u64,
    ) -> AnnotationEventAction {
        let sides = self.item.assignment.display_order;
        let before = self.earlier.as_ref();
        AnnotationEventAction::Decided(AnnotationDecision {
            item: self.item_number_in_task(),
            answer: sides.convert_answer_order(answer),
            comment,
            display_order: sides,
            duration_ms: took_ms,
            replaces: before.map(|it| it.active_keys.clone()).unwrap_or_default(),
        })
    }
}

impl AnnotationSession {
    /// Restores the events of earlier visits: those that the server has, newest first, and the
    /// unsent ones, in order.
    pub(crate) fn restore_history(
        &mut self,
        known: &[EventWithStatus],
        unsent: &[ClientAnnotationEvent],
    ) {
        let standing = |it: &&EventWithStatus| {
            !matches!(
                it.status,
                AnnotationEventValidity::Undone | AnnotationEventValidity::Replaced
            )
        };
        let known_keys: BTreeSet<AnnotationEventKey> =
            known.iter().map(|it| it.entry.event.key).collect();
        for done in known.iter().rev().filter(standing) {
            self.apply_event(&done.entry.event);
        }
        for event in unsent.iter().filter(|it| !known_keys.contains(&it.key)) {
            self.apply_event(event);
        }
    }

    fn apply_event(&mut self, event: &ClientAnnotationEvent) {
        if let AnnotationEventAction::Undone { of } = event.action {
            self.remove_event(of);
        }
        if let Some(act) = UndoableAction::from_event(event) {
            let replaced = event.action.replaced_event_keys();
            self.undoable.retain(|it| !replaced.contains(&it.key));
            self.decided.insert(act.item);
            self.undoable.push(act);
        }
    }

    fn remove_event(&mut self, key: AnnotationEventKey) {
        if let Some(at) = self.undoable.iter().position(|it| it.key == key) {
            let act = self.undoable.remove(at);
            if self.undoable.iter().all(|it| it.item != act.item) {
                self.decided.remove(&act.item);
            }
            self.undone.insert(key, act);
        }
    }

    /// Adds the items that the server returned for a request of `n`. An item whose lease has
    /// expired and was not renewed now belongs to another annotator, and is removed.
    pub(crate) fn add_received_items(&mut self, handed: LeaseItemsResponse, n: u32, now_ms: u64) {
        self.is_exhausted = (handed.items.len() as u32) < n;
        self.n_leased = handed.n_leased_to_others;
        let promised: BTreeSet<ItemNo> = handed.items.iter().map(|it| it.assignment.item).collect();
        self.upcoming.retain(|it| {
            let over = it
                .item
                .lease_expires_ms
                .is_some_and(|until| until <= now_ms);
            !over || it.earlier.is_some() || promised.contains(&it.item_number_in_task())
        });
        for item in handed.items {
            let number = item.assignment.item;
            self.parts.insert(number, item.assignment.phase);
            let held = self.displayed.iter_mut().chain(&mut self.upcoming);
            match held
                .into_iter()
                .find(|it| it.item_number_in_task() == number)
            {
                Some(screen) => screen.item.lease_expires_ms = item.lease_expires_ms,
                None if self.decided.contains(&number) => {}
                None => self.upcoming.push_back(DisplayedItem::new(item)),
            }
        }
        if self.displayed.is_none() {
            self.show_next_item();
        }
    }

    /// Returns how many items to request; none while there are enough. The number includes those at
    /// hand, which the server returns again, and those whose decisions are unsent.
    pub(crate) fn n_items_to_request(&self, n_unsent: usize) -> Option<u32> {
        let n_held = self.n_held();
        let wanted = (n_held + n_unsent + N_PREFETCHED).min(MAX_ITEMS_PER_REQUEST as usize);
        (n_held < LOW_STOCK && !self.is_exhausted).then_some(wanted as u32)
    }

    /// Allows further requests although the server had no more items.
    pub(crate) fn allow_further_requests(&mut self) {
        self.is_exhausted = false;
    }

    fn n_held(&self) -> usize {
        let open = self.displayed.iter().filter(|it| it.feedback.is_none());
        open.count() + self.upcoming.len()
    }

    /// Returns the item that is displayed.
    pub(crate) fn displayed_item(&self) -> Option<&DisplayedItem> {
        self.displayed.as_ref()
    }

    /// Returns whether the server has no more items for now.
    pub(crate) fn is_server_out_of_items(&self) -> bool {
        self.is_exhausted
    }

    /// Returns the number of further items that others hold.
    pub(crate) fn n_items_leased_by_others(&self) -> u32 {
        self.n_leased
    }

    /// Records a decision or a skip of the displayed item.
    pub(crate) fn record_event_and_advance(&mut self, event: &ClientAnnotationEvent) {
        self.apply_event(event);
        let Some(screen) = &mut self.displayed else {
            return;
        };
        if event.action.item_no() != Some(screen.item_number_in_task())
            || UndoableAction::from_event(event).is_none()
        {
            return;
        }
        let number = screen.item_number_in_task();
        self.cache.retain(|it| it.assignment.item != number);
        self.cache.push_back(screen.item.clone());
        if self.cache.len() > MAX_CACHED_ITEMS {
            self.cache.pop_front();
        }
        match (event.action.answer(), &screen.item.feedback) {
            (Some(answer), Some(_)) => screen.feedback = Some(answer),
            _ => self.show_next_item(),
        }
    }

    /// Shows the next prefetched item, or none if all have been shown.
    pub(crate) fn show_next_item(&mut self) {
        self.displayed = self.upcoming.pop_front();
    }

    /// Returns the actions that can be undone, newest last.
    pub(crate) fn undoable_actions(&self) -> &[UndoableAction] {
        &self.undoable
    }

    /// Returns an item that was decided in this visit, from the cache.
    pub(crate) fn cached_decided_item(&self, item: ItemNo) -> Option<&AssignedItem> {
        self.cache.iter().find(|it| it.assignment.item == item)
    }

    /// Undoes an action and shows its item again.
    pub(crate) fn undo_action(&mut self, act: &UndoableAction, item: AssignedItem) {
        self.remove_event(act.key);
        self.reopen_item(act, item);
    }

    /// Shows the item of an action again, so that its answer can be changed.
    pub(crate) fn reopen_item(&mut self, act: &UndoableAction, item: AssignedItem) {
        if let Some(now) = self.displayed.take()
            && now.feedback.is_none()
            && !now.will_replace_decision()
        {
            self.upcoming.push_front(now);
        }
        self.upcoming
            .retain(|it| it.item_number_in_task() != act.item);
        let same = self.undoable.iter().rev().filter(|it| it.item == act.item);
        let stand = same.filter(|it| it.decision.is_some()).map(|it| it.key);
        let stand: Vec<AnnotationEventKey> = stand.take(MAX_REPLACED_EVENTS).collect();
        let before = act.decision.clone().map(|decision| EarlierDecision {
            decision,
            active_keys: stand,
        });
        self.displayed = Some(DisplayedItem {
            item,
            earlier: before,
            feedback: None,
        });
    }

    /// Returns how much the number of items decided by the person changes once the unsent events
    /// are stored. Training items do not count.
    pub(crate) fn unsent_progress_change(&self, unsent: &[ClientAnnotationEvent]) -> i64 {
        let works = |item: &ItemNo| self.parts.get(item) != Some(&AssignmentPhase::Training);
        let gain = |event: &ClientAnnotationEvent| match &event.action {
            AnnotationEventAction::Decided(it) if works(&it.item) => {
                i64::from(it.replaces.is_empty())
            }
            AnnotationEventAction::Undone { of } => {
                let act = self.undone.get(of);
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
