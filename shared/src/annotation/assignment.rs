//! What a person gets next.
//!
//! First the training items, in the task's order. Then drawn items in an order of the person's own,
//! random and the same whenever asked, with one gold item in each block of
//! [`AnnotationTask::gold_interval`], at a random place of the block, so that nobody can tell it. A
//! drawn item has as many *slots* as the task's overlap: taken by the decisions of others that
//! count, and by the leases of others that have not run out. One without a free slot is left out,
//! as is every item that the person has decided or passed over.
//!
//! A lease is the promise of a slot for a time. If it runs out the slot is free again; a decision
//! that comes later all the same is taken, and the item has one more than asked for.

use serde::{Deserialize, Serialize};

use super::task::{AnnotationItem, AnnotationTask, ItemRole};
use super::{AnnotationLog, DisplayOrder, ItemNo, PersonId, seeded_random};

/// How long an item is promised: long enough for a long document and a break.
pub const LEASE_MS: u64 = 30 * 60 * 1_000;

/// How many items a browser asks for at once: enough to go on for some minutes without a network.
pub const N_PREFETCHED: usize = 8;

/// An item promised to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewLease))]
pub struct Lease {
    /// The item.
    pub item: ItemNo,
    /// To whom.
    pub person: PersonId,
    /// Until then, in milliseconds since 1970; at that moment it has run out.
    #[serde(alias = "until_ms")]
    pub expires_ms: u64,
}

/// An item that a person gets. That it is gold is not said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewOffer))]
pub struct Assignment {
    /// The item.
    pub item: ItemNo,
    /// How its texts stand on the person's screen.
    pub display_order: DisplayOrder,
    /// Whether the person learns by it.
    pub phase: AssignmentPhase,
}

/// What a person is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewPart))]
#[serde(rename_all = "kebab-case")]
pub enum AssignmentPhase {
    /// The right answer is shown after the decision.
    Training,
    /// It is not.
    Main,
}

/// What a person gets, and what may come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewNext))]
pub struct NextAssignments {
    /// In this order.
    pub assignments: Vec<Assignment>,
    /// Further drawn items that the person could decide on, but for the leases of others.
    pub n_leased_to_others: u32,
}

/// Everything that decides who gets what.
#[derive(Debug, Clone, Copy)]
pub struct AssignmentQueue<'a> {
    /// Its overlap, seed and rate of gold.
    pub task: &'a AnnotationTask,
    /// By their numbers.
    pub items: &'a [AnnotationItem],
    /// What was done so far.
    pub log: &'a AnnotationLog,
    /// Those that ran out may be among them.
    pub leases: &'a [Lease],
    /// Now, in milliseconds since 1970.
    pub now_ms: u64,
}

impl AssignmentQueue<'_> {
    /// The next `n` items for a person, at most. Their own leases do not stand in their way, so a
    /// page that is loaded again gets the same items. Who is excluded gets nothing.
    pub fn next_assignments(&self, person: PersonId, n: usize) -> NextAssignments {
        let mut next = NextAssignments::default();
        if self.log.is_excluded(person) {
            return next;
        }
        let (mut n_finished, mut left) = (0_u64, Left::default());
        for (item, number) in self.items.iter().zip((0..).map(ItemNo)) {
            let is_finished = self.log.is_finished(person, number);
            match item.role {
                ItemRole::Training { .. } if is_finished => {}
                ItemRole::Training { .. } => left.training.push(number),
                ItemRole::Gold { .. } | ItemRole::Sampled { .. } if is_finished => n_finished += 1,
                ItemRole::Gold { .. } => left.gold.push(number),
                ItemRole::Sampled { .. } => left.drawn.push(number),
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
    pub fn lease(&self, person: PersonId, offers: &[Assignment]) -> Vec<Lease> {
        let leases = offers.iter().map(|it| Lease {
            item: it.item,
            person,
            expires_ms: self.now_ms.saturating_add(LEASE_MS),
        });
        leases.collect()
    }

    fn offer(&self, person: PersonId, item: ItemNo, part: AssignmentPhase) -> Assignment {
        let claim = self.items[item.0 as usize].instance.claim();
        Assignment {
            item,
            display_order: DisplayOrder::for_person(self.task.seed, person, item, claim),
            phase: part,
        }
    }

    /// Items with the others who hold a lease on them, ascending.
    fn leased(&self, person: PersonId) -> Vec<(ItemNo, PersonId)> {
        let live = |it: &&Lease| it.expires_ms > self.now_ms && it.person != person;
        let live = self.leases.iter().filter(live);
        let mut leased: Vec<(ItemNo, PersonId)> = live.map(|it| (it.item, it.person)).collect();
        leased.sort_unstable();
        leased.dedup();
        leased
    }

    fn slot(&self, person: PersonId, item: ItemNo, leased: &[(ItemNo, PersonId)]) -> Slot {
        let decided = self.log.decisions(item);
        let counts = |it: &&PersonId| **it != person && !self.log.is_excluded(**it);
        let n_decided = decided.keys().filter(counts).count();
        let from = leased.partition_point(|it| it.0 < item);
        let of_item = leased[from..].iter().take_while(|it| it.0 == item);
        // Who has decided holds one slot, not two; who has passed over an item holds none.
        let holds = |it: &&(ItemNo, PersonId)| !self.log.is_finished(it.1, item);
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
            &mut seeded_random::generator(self.task.seed, &what),
            &mut order,
        );
        // The order is one of all items, so that it does not change with those that are left.
        let mut places = vec![0; order.len()];
        for (place, item) in order.into_iter().enumerate() {
            places[item as usize] = place;
        }
        let mut items = items;
        items.sort_unstable_by_key(|it| places[it.0 as usize]);
        items
    }

    /// Whether gold stands at a place among what a person works on.
    fn is_gold(&self, person: PersonId, place: u64) -> bool {
        let every = u64::from(self.task.gold_interval);
        if every == 0 {
            return false;
        }
        let block = place / every;
        let what = format!("gold\n{}\n{block}", person.0);
        place % every
            == seeded_random::below(&mut seeded_random::generator(self.task.seed, &what), every)
    }
}

/// What a person has not finished.
#[derive(Default)]
struct Left {
    training: Vec<ItemNo>,
    gold: Vec<ItemNo>,
    drawn: Vec<ItemNo>,
}

/// A taken slot; dropping it frees the slot.
enum Slot {
    Free,
    /// Others hold what is left.
    Leased,
    Taken,
}

#[cfg(test)]
mod tests;
