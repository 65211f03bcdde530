//! Assignment of items to annotators.
//!
//! Training items come first, in the task's order. Then come sampled items in a random order that
//! is different for each annotator and does not change. Each block of
//! [`AnnotationTaskDefinition::gold_interval`] items has one gold item at a random place, so that
//! it cannot be recognized. A sampled item has as many *slots* as annotators per item. A slot is
//! taken by an active decision of another annotator, or by a lease of another annotator that has
//! not expired. Items without a free slot are left out, and so are items that the annotator decided
//! or skipped.
//!
//! A lease reserves a slot for a limited time. When it expires, the slot is free again; a later
//! decision is still accepted, and the item then has one more decision than requested.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::task::{AnnotationItem, AnnotationItemRole, AnnotationTaskDefinition};
use super::{AnnotationLog, DocumentDisplayOrder, ItemNo, PersonId, seeded_random};

/// The duration of a lease, in milliseconds: enough for a long document and a break.
pub const LEASE_MS: u64 = 30 * 60 * 1_000;

/// The number of items that a browser prefetches: enough to work offline for some minutes.
pub const N_PREFETCHED: usize = 8;

/// An item that is reserved for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ItemLease {
    /// Number of the leased item within its task, from 0.
    pub item: ItemNo,
    /// The person who holds the lease.
    pub person: PersonId,
    /// The time at which the lease expires, in milliseconds since 1970.
    #[serde(alias = "until_ms")]
    pub expires_ms: u64,
}

/// An item that is assigned to an annotator. It does not tell whether the item is gold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ItemAssignment {
    /// Number of the assigned item within its task, from 0.
    pub item: ItemNo,
    /// How its documents are arranged on the annotator's screen.
    pub display_order: DocumentDisplayOrder,
    /// Whether it is a training item.
    pub phase: AssignmentPhase,
}

/// The phase of an annotator's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AssignmentPhase {
    /// Training: the right answer is shown after the decision.
    Training,
    /// The task itself: the right answer is not shown.
    Main,
}

/// The next items of an annotator.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NextItemAssignments {
    /// The items, in the order in which they are shown.
    pub assignments: Vec<ItemAssignment>,
    /// The number of further sampled items that are unavailable only because others hold leases.
    pub n_leased_to_others: u32,
}

/// The state from which assignments are computed.
#[derive(Debug, Clone, Copy)]
pub struct ItemAssigner<'a> {
    /// The task, with its annotators per item, seed and gold interval.
    pub task: &'a AnnotationTaskDefinition,
    /// The items of the task, by number.
    pub items: &'a [AnnotationItem],
    /// The events so far.
    pub log: &'a AnnotationLog,
    /// The leases; expired ones may be included.
    pub leases: &'a [ItemLease],
    /// The current time, in milliseconds since 1970.
    pub now_ms: u64,
}

impl ItemAssigner<'_> {
    /// Returns at most `n` next items of a person. Their own leases are ignored, so a page that is
    /// loaded again gets the same items. An excluded person gets nothing.
    pub fn next_assignments(&self, person: PersonId, n: usize) -> NextItemAssignments {
        let mut next = NextItemAssignments::default();
        if self.log.is_person_excluded(person) {
            return next;
        }
        let (mut n_finished, mut left) = (0_u64, Left::default());
        for (item, number) in self.items.iter().zip((0..).map(ItemNo)) {
            let is_finished = self.log.has_person_finished_item(person, number);
            match item.role {
                AnnotationItemRole::Training { .. } if is_finished => {}
                AnnotationItemRole::Training { .. } => left.training.push(number),
                AnnotationItemRole::Gold { .. } | AnnotationItemRole::Sampled { .. }
                    if is_finished =>
                {
                    n_finished += 1
                }
                AnnotationItemRole::Gold { .. } => left.gold.push(number),
                AnnotationItemRole::Sampled { .. } => left.drawn.push(number),
            }
        }
        let leased = self.leased(person);
        let mut drawn = Vec::new();
        for number in left.drawn {
            match self.slot(person, number, &leased) {
                Slot::Free => drawn.push(number),
                Slot::Leased => next.n_leased_to_others += 1,
                Slot::Taken => {}
            }
        }
        let mut gold = self.in_own_order(person, left.gold, "gold").into_iter();
        let mut drawn = self.in_own_order(person, drawn, "drawn").into_iter();
        let training = left
            .training
            .into_iter()
            .map(|it| (it, AssignmentPhase::Training));
        let places = n_finished..;
        let work = places.map_while(|place| {
            let strewn = self.is_gold(person, place).then(|| gold.next()).flatten();
            Some((strewn.or_else(|| drawn.next())?, AssignmentPhase::Main))
        });
        let offers = training.chain(work).take(n);
        next.assignments = offers
            .map(|(item, part)| self.offer(person, item, part))
            .collect();
        next
    }

    /// Returns a lease for each offered assignment, which reserves its item for the person for 30
    /// minutes.
    pub fn create_leases(&self, person: PersonId, offers: &[ItemAssignment]) -> Vec<ItemLease> {
        let leases = offers.iter().map(|it| ItemLease {
            item: it.item,
            person,
            expires_ms: self.now_ms.saturating_add(LEASE_MS),
        });
        leases.collect()
    }

    fn offer(&self, person: PersonId, item: ItemNo, part: AssignmentPhase) -> ItemAssignment {
        let claim = self.items[item.0 as usize].instance.claim_kind();
        ItemAssignment {
            item,
            display_order: DocumentDisplayOrder::for_person(self.task.seed, person, item, claim),
            phase: part,
        }
    }

    /// Returns the items that other people hold leases on, with these people, ascending.
    fn leased(&self, person: PersonId) -> Vec<(ItemNo, PersonId)> {
        let live = |it: &&ItemLease| it.expires_ms > self.now_ms && it.person != person;
        let live = self.leases.iter().filter(live);
        let mut leased: Vec<(ItemNo, PersonId)> = live.map(|it| (it.item, it.person)).collect();
        leased.sort_unstable();
        leased.dedup();
        leased
    }

    fn slot(&self, person: PersonId, item: ItemNo, leased: &[(ItemNo, PersonId)]) -> Slot {
        let decided = self.log.active_decisions_by_person(item);
        let counts = |it: &&PersonId| **it != person && !self.log.is_person_excluded(**it);
        let n_decided = decided.keys().filter(counts).count();
        let from = leased.partition_point(|it| it.0 < item);
        let of_item = leased[from..].iter().take_while(|it| it.0 == item);
        // A person who decided takes one slot, not two; a person who skipped takes none.
        let holds = |it: &&(ItemNo, PersonId)| !self.log.has_person_finished_item(it.1, item);
        let n_leased = of_item.filter(holds).count();
        let overlap = self.task.annotators_per_item as usize;
        match (n_decided, n_decided + n_leased) {
            (decided, _) if decided >= overlap => Slot::Taken,
            (_, taken) if taken >= overlap => Slot::Leased,
            _ => Slot::Free,
        }
    }

    fn in_own_order(&self, person: PersonId, items: Vec<ItemNo>, what: &str) -> Vec<ItemNo> {
        let mut order: Vec<u32> = (0..self.items.len() as u32).collect();
        let what = format!("order\n{what}\n{}", person.0);
        seeded_random::shuffle(
            &mut seeded_random::seeded_generator(self.task.seed, &what),
            &mut order,
        );
        // The order covers all items, so that it does not depend on which items are left.
        let mut places = vec![0; order.len()];
        for (place, item) in order.into_iter().enumerate() {
            places[item as usize] = place;
        }
        let mut items = items;
        items.sort_unstable_by_key(|it| places[it.0 as usize]);
        items
    }

    /// Returns whether the item at a place of an annotator's sequence is gold.
    fn is_gold(&self, person: PersonId, place: u64) -> bool {
        let every = u64::from(self.task.gold_interval);
        if every == 0 {
            return false;
        }
        let block = place / every;
        let what = format!("gold\n{}\n{block}", person.0);
        place % every
            == seeded_random::random_number_below(
                &mut seeded_random::seeded_generator(self.task.seed, &what),
                every,
            )
    }
}

/// The items that an annotator has not finished.
#[derive(Default)]
struct Left {
    training: Vec<ItemNo>,
    gold: Vec<ItemNo>,
    drawn: Vec<ItemNo>,
}

/// The state of an item's slots for an annotator.
enum Slot {
    Free,
    /// All slots that are left are leased to others.
    Leased,
    Taken,
}

#[cfg(test)]
mod tests;
