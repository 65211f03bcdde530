use super::super::event::{
    AnnotationEventAction, AnnotatorExclusionChange, SkipReason, SkippedItem,
};
use super::super::fixture::{self, decision_action, log_entry_at_second};
use super::super::{AnnotationEventKey, AnnotatorAnswer};
use super::*;

/// Two training items, four gold items and 20 sampled items.
fn items() -> Vec<AnnotationItem> {
    let role = |number: u64| match number {
        0 | 1 => AnnotationItemRole::Training {
            answer: AnnotatorAnswer::First,
            explanation: String::new(),
        },
        2..=5 => AnnotationItemRole::Gold {
            answer: AnnotatorAnswer::First,
        },
        _ => AnnotationItemRole::Sampled {
            inclusion_probability: 0.5,
        },
    };
    (0..26)
        .map(|it| fixture::tfc1_annotation_item(it, 0, role(it)))
        .collect()
}

struct World {
    task: AnnotationTaskDefinition,
    items: Vec<AnnotationItem>,
    log: AnnotationLog,
    leases: Vec<ItemLease>,
    now_ms: u64,
}

impl World {
    fn new() -> World {
        World {
            task: fixture::tfc1_annotation_task(),
            items: items(),
            log: AnnotationLog::default(),
            leases: Vec::new(),
            now_ms: 0,
        }
    }

    fn queue(&self) -> ItemAssigner<'_> {
        ItemAssigner {
            task: &self.task,
            items: &self.items,
            log: &self.log,
            leases: &self.leases,
            now_ms: self.now_ms,
        }
    }

    fn next(&self, person: u32, n: usize) -> Vec<u32> {
        let next = self.queue().next_assignments(PersonId(person), n);
        next.assignments.iter().map(|it| it.item.0).collect()
    }

    fn does(&mut self, person: u32, what: AnnotationEventAction) -> AnnotationEventKey {
        let entry = log_entry_at_second(self.log.len() as u64 + 1, person, what);
        let key = entry.event.key;
        self.log.append(entry);
        key
    }

    fn decides(&mut self, person: u32, item: u32) -> AnnotationEventKey {
        self.does(person, decision_action(item, AnnotatorAnswer::First, &[]))
    }

    /// Decides on every assigned item, one at a time.
    fn works(&mut self, person: u32) -> Vec<u32> {
        let mut done = Vec::new();
        while let [item, ..] = self.next(person, 1)[..] {
            self.decides(person, item);
            done.push(item);
        }
        done
    }
}

#[test]
fn training_comes_first_and_gold_is_strewn_in() {
    let mut world = World::new();
    let offers = world.queue().next_assignments(PersonId(1), 100).assignments;
    assert!(
        offers[..2]
            .iter()
            .all(|it| it.phase == AssignmentPhase::Training)
    );
    assert!(
        offers[2..]
            .iter()
            .all(|it| it.phase == AssignmentPhase::Main)
    );
    let all = world.next(1, 100);
    assert_eq!(all[..2], [0, 1]);
    // One gold item in each block of five, then the remaining sampled items.
    for block in all[2..22].chunks(5) {
        assert_eq!(block.iter().filter(|it| **it < 6).count(), 1, "{all:?}");
    }
    assert_eq!(all.len(), 26);
    // One at a time, the same items come in the same order.
    assert_eq!(world.works(1), all);
    assert!(world.next(1, 3).is_empty());
}

#[test]
fn everybody_has_an_order_of_their_own() {
    let world = World::new();
    assert_eq!(world.next(1, 26), world.next(1, 26));
    assert_ne!(world.next(1, 26)[2..], world.next(2, 26)[2..]);
    assert_eq!(world.next(1, 8), world.next(1, 26)[..8]);
    let without = World {
        task: AnnotationTaskDefinition {
            gold_interval: 0,
            ..fixture::tfc1_annotation_task()
        },
        ..World::new()
    };
    assert!(without.next(1, 26)[2..].iter().all(|it| *it > 5));
}

#[test]
fn an_item_goes_to_as_many_people_as_asked_for() {
    let mut world = World::new();
    let (first, second, third) = (world.works(1), world.works(2), world.works(3));
    assert_eq!((first.len(), second.len()), (26, 26));
    // All slots are taken: the third annotator gets training items and the gold items before them.
    assert!(third.iter().all(|it| *it < 6), "{third:?}");
    // When the second annotator is excluded, their slots are free again.
    let standing = AnnotatorExclusionChange {
        person: PersonId(2),
        reason: String::new(),
    };
    world.does(9, AnnotationEventAction::Excluded(standing));
    let drawn = world.works(3).into_iter().filter(|it| *it > 5);
    assert_eq!(drawn.count(), 20);
    assert!(world.next(2, 5).is_empty());
}

#[test]
fn what_others_hold_is_not_given_until_it_runs_out() {
    let mut world = World::new();
    world.task.annotators_per_item = 1;
    let mine = world.queue().next_assignments(PersonId(1), 8).assignments;
    world.leases = world.queue().create_leases(PersonId(1), &mine);
    let held: Vec<u32> = mine
        .iter()
        .map(|it| it.item.0)
        .filter(|it| *it > 5)
        .collect();
    let next = world.queue().next_assignments(PersonId(2), 100);
    assert_eq!(next.n_leased_to_others as usize, held.len());
    assert!(next.assignments.iter().all(|it| !held.contains(&it.item.0)));
    // A page that is loaded again gets the same items.
    assert_eq!(
        world.queue().next_assignments(PersonId(1), 8).assignments,
        mine
    );
    world.now_ms = LEASE_MS - 1;
    assert_eq!(world.queue().next_assignments(PersonId(2), 100), next);
    world.now_ms = LEASE_MS;
    let next = world.queue().next_assignments(PersonId(2), 100);
    assert_eq!((next.n_leased_to_others, next.assignments.len()), (0, 26));
    // Late decisions are still accepted.
    let late = held[0];
    world.decides(2, late);
    world.decides(1, late);
    assert_eq!(world.log.active_decisions_by_person(ItemNo(late)).len(), 2);
    assert!(!world.next(3, 100).contains(&late));
}

#[test]
fn who_passes_over_an_item_leaves_it_to_others() {
    let mut world = World::new();
    world.task.annotators_per_item = 1;
    let item = world.next(1, 26).into_iter().find(|it| *it > 5).unwrap();
    let lease = |person, until_ms| ItemLease {
        item: ItemNo(item),
        person: PersonId(person),
        expires_ms: until_ms,
    };
    world.leases = vec![lease(1, 99)];
    assert!(!world.next(2, 26).contains(&item));
    let skip = SkippedItem {
        item: ItemNo(item),
        reason: SkipReason::BrokenDocument,
        note: String::new(),
    };
    let key = world.does(1, AnnotationEventAction::Skipped(skip));
    assert!(!world.next(1, 26).contains(&item));
    assert!(world.next(2, 26).contains(&item));
    world.does(1, AnnotationEventAction::Undone { of: key });
    assert!(world.next(1, 26).contains(&item));
}

#[test]
fn what_is_taken_back_comes_back() {
    let mut world = World::new();
    let item = world.next(1, 3)[2];
    world.decides(1, 0);
    world.decides(1, 1);
    let key = world.decides(1, item);
    assert!(!world.next(1, 26).contains(&item));
    world.does(1, AnnotationEventAction::Undone { of: key });
    assert_eq!(world.next(1, 1), [item]);
}
