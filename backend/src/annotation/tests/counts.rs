//! The counts of a task in memory against its log.

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64;

use super::*;

/// Checks that the counts always agree with the log.
#[tokio::test]
async fn counts_are_those_of_the_log() {
    let place = TestFolder::sqlite();
    let store = place.store().await;
    let (_, desk) = opened(&store).await;
    let items = desk.items();
    let mut generator = Pcg64::seed_from_u64(7);
    let mut random = |below: u64| generator.next_u64() % below;
    for number in 0..400_u64 {
        let item = ItemNo(random(items.len() as u64) as u32);
        let person = PersonId(1 + random(3) as u32);
        let standing = event::AnnotatorExclusionChange {
            person: PersonId(1 + random(3) as u32),
            reason: String::new(),
        };
        let what = match random(12) {
            0..5 => decided(item, AnnotatorAnswer::ALL[random(4) as usize]),
            5..7 => AnnotationEventAction::Skipped(SkippedItem {
                item,
                reason: SkipReason::BrokenDocument,
                note: String::new(),
            }),
            7..10 => AnnotationEventAction::Undone {
                of: key(random(number + 2)),
            },
            10 => AnnotationEventAction::Excluded(standing),
            _ => AnnotationEventAction::Included(standing),
        };
        desk.append_stored_events(vec![ReceivedAnnotationEvent {
            person,
            received_ms: number,
            event: event(number, what),
        }]);
        check_counts(&desk, items);
    }
}

fn check_counts(desk: &InMemoryTaskState, items: &[AnnotationItem]) {
    let (log, row) = (desk.clone_event_log(), desk.task_row());
    let found = measure_annotation_progress(items, row.task.annotators_per_item, &log);
    for person in [ANN, BOB, CAT] {
        let standing = desk.progress_summary_for_person(Some(person));
        assert_eq!(standing.n_decisions, found.n_decisions);
        assert_eq!(standing.n_decisions_required, found.n_decisions_required);
        let finished = (0..items.len() as u32)
            .map(ItemNo)
            .filter(|it| log.has_person_finished_item(person, *it));
        let known = (0..items.len() as u32)
            .map(ItemNo)
            .filter(|it| desk.has_person_finished_item(person, *it));
        assert!(finished.eq(known));
        let queue = ItemAssigner {
            task: &row.task,
            items,
            log: &log,
            leases: &[],
            now_ms: 0,
        };
        let next = queue.next_assignments(person, usize::MAX);
        let drawn = next.assignments.iter().map(|it| it.item);
        let drawn: BTreeSet<ItemNo> = drawn
            .filter(|it| {
                matches!(
                    items[it.0 as usize].role,
                    AnnotationItemRole::Sampled { .. }
                )
            })
            .collect();
        let n_gold = u32::from(!log.has_person_finished_item(person, ItemNo(1)));
        let n_left = standing.n_available;
        assert!(
            (drawn.len() as u32..=drawn.len() as u32 + n_gold).contains(&n_left),
            "{n_left}, {drawn:?}"
        );
    }
}
