use std::collections::BTreeMap;

use super::super::event::{
    AnnotatorExclusionChange, ItemAdjudication, ItemProblemReport, SkipReason, SkippedItem,
};
use super::super::fixture::{decision_action, event_key_from_number, log_entry_at_second};
use super::super::{AnnotatorAnswer, seeded_random};
use super::*;
use AnnotationEventValidity::{Active, Conflict, Excluded, Replaced, Undone};

fn undone(of: u64) -> AnnotationEventAction {
    AnnotationEventAction::Undone {
        of: event_key_from_number(of),
    }
}

fn adjudicated(item: u32, answer: AnnotatorAnswer, replaces: &[u64]) -> AnnotationEventAction {
    AnnotationEventAction::Adjudicated(ItemAdjudication {
        item: ItemNo(item),
        answer,
        note: String::new(),
        replaces: replaces
            .iter()
            .map(|&it| event_key_from_number(it))
            .collect(),
    })
}

fn skipped(item: u32) -> AnnotationEventAction {
    AnnotationEventAction::Skipped(SkippedItem {
        item: ItemNo(item),
        reason: SkipReason::BrokenDocument,
        note: String::new(),
    })
}

fn standing(person: u32) -> AnnotatorExclusionChange {
    AnnotatorExclusionChange {
        person: PersonId(person),
        reason: String::new(),
    }
}

/// The keys of the active decisions of person 1 on item 0.
fn stands(entries: &[ReceivedAnnotationEvent]) -> Vec<AnnotationEventKey> {
    let log = AnnotationLog::from_entries(entries.iter().cloned());
    let mut decisions = log.active_decisions_by_person(ItemNo(0));
    let of_person = decisions.remove(&PersonId(1)).unwrap_or_default();
    of_person.iter().map(|it| it.event.key).collect()
}

#[test]
fn a_decision_that_is_taken_back_gives_way_to_the_one_before() {
    let first = log_entry_at_second(1, 1, decision_action(0, AnnotatorAnswer::First, &[]));
    let second = log_entry_at_second(2, 1, decision_action(0, AnnotatorAnswer::Second, &[1]));
    let back = log_entry_at_second(3, 1, undone(2));
    let third = log_entry_at_second(4, 1, decision_action(0, AnnotatorAnswer::Equal, &[2]));
    let all = [first, second, back, third];
    assert_eq!(stands(&all[..1]), [event_key_from_number(1)]);
    assert_eq!(stands(&all[..2]), [event_key_from_number(2)]);
    assert_eq!(stands(&all[..3]), [event_key_from_number(1)]);
    // The third decision replaces the second, which replaces the first.
    assert_eq!(stands(&all), [event_key_from_number(4)]);
    let back = log_entry_at_second(5, 1, undone(1));
    let all = [&all[..3], &[back]].concat();
    assert_eq!(stands(&all), []);
    assert_eq!(AnnotationLog::from_entries(all).len(), 4);
}

#[test]
fn two_decisions_that_did_not_know_of_each_other_are_both_kept() {
    let mut all = vec![
        log_entry_at_second(1, 1, decision_action(0, AnnotatorAnswer::First, &[])),
        log_entry_at_second(2, 1, decision_action(0, AnnotatorAnswer::Second, &[])),
    ];
    assert_eq!(
        stands(&all),
        [event_key_from_number(1), event_key_from_number(2)]
    );
    let log = AnnotationLog::from_entries(all.clone());
    assert!(
        all.iter()
            .all(|it| log.current_event_status(it) == Conflict)
    );
    all.push(log_entry_at_second(
        3,
        1,
        decision_action(0, AnnotatorAnswer::Second, &[1, 2]),
    ));
    assert_eq!(stands(&all), [event_key_from_number(3)]);
    let log = AnnotationLog::from_entries(all.clone());
    let statuses = all.iter().map(|it| log.current_event_status(it));
    assert_eq!(statuses.collect::<Vec<_>>(), [Replaced, Replaced, Active]);
}

#[test]
fn nobody_changes_what_is_not_theirs() {
    let all = [
        log_entry_at_second(1, 1, decision_action(0, AnnotatorAnswer::First, &[])),
        log_entry_at_second(2, 2, undone(1)),
        log_entry_at_second(3, 2, decision_action(0, AnnotatorAnswer::Second, &[1])),
        log_entry_at_second(4, 1, decision_action(1, AnnotatorAnswer::Second, &[1])),
    ];
    assert_eq!(stands(&all), [event_key_from_number(1)]);
}

#[test]
fn what_replaces_each_other_in_a_circle_is_all_shown() {
    let all = [
        log_entry_at_second(1, 1, decision_action(0, AnnotatorAnswer::First, &[2])),
        log_entry_at_second(2, 1, decision_action(0, AnnotatorAnswer::Second, &[1])),
    ];
    assert_eq!(
        stands(&all),
        [event_key_from_number(1), event_key_from_number(2)]
    );
    assert_eq!(
        stands(&[log_entry_at_second(
            1,
            1,
            decision_action(0, AnnotatorAnswer::First, &[1])
        )]),
        [event_key_from_number(1)]
    );
}

#[test]
fn the_same_key_is_one_event() {
    let first = log_entry_at_second(1, 1, decision_action(0, AnnotatorAnswer::First, &[]));
    let mut log = AnnotationLog::default();
    assert_eq!(log.append(first.clone()), LogAppendOutcome::Appended);
    let late = ReceivedAnnotationEvent {
        received_ms: 99_000,
        ..first.clone()
    };
    assert_eq!(log.append(late), LogAppendOutcome::Duplicate);
    let other = log_entry_at_second(1, 1, decision_action(0, AnnotatorAnswer::Second, &[]));
    assert_eq!(log.append(other), LogAppendOutcome::KeyConflict);
    let of_another = log_entry_at_second(1, 2, decision_action(0, AnnotatorAnswer::First, &[]));
    assert_eq!(log.append(of_another), LogAppendOutcome::KeyConflict);
    assert_eq!(log, AnnotationLog::from_entries([first]));
}

#[test]
fn an_adjudication_erases_nothing() {
    let all = [
        log_entry_at_second(1, 1, decision_action(0, AnnotatorAnswer::First, &[])),
        log_entry_at_second(2, 2, decision_action(0, AnnotatorAnswer::Second, &[])),
        log_entry_at_second(3, 9, adjudicated(0, AnnotatorAnswer::Equal, &[])),
        log_entry_at_second(4, 8, adjudicated(0, AnnotatorAnswer::First, &[3])),
    ];
    let log = AnnotationLog::from_entries(all.clone());
    assert_eq!(log.active_decisions_by_person(ItemNo(0)).len(), 2);
    let adjudications = log.active_adjudications_of_item(ItemNo(0));
    assert_eq!(adjudications.len(), 1);
    assert_eq!(adjudications[0].event.key, event_key_from_number(4));
    assert_eq!(log.current_event_status(&all[2]), Replaced);
    assert_eq!(log.item_history(ItemNo(0)).len(), 4);
}

#[test]
fn excluded_people_stay_in_the_log() {
    let mut all = vec![
        log_entry_at_second(1, 1, decision_action(0, AnnotatorAnswer::First, &[])),
        log_entry_at_second(2, 9, AnnotationEventAction::Excluded(standing(1))),
    ];
    let log = AnnotationLog::from_entries(all.clone());
    assert!(log.is_person_excluded(PersonId(1)));
    assert_eq!(log.active_decisions_by_person(ItemNo(0)).len(), 1);
    assert_eq!(log.current_event_status(&all[0]), Excluded);
    all.push(log_entry_at_second(
        3,
        9,
        AnnotationEventAction::Included(standing(1)),
    ));
    let log = AnnotationLog::from_entries(all.clone());
    assert!(!log.is_person_excluded(PersonId(1)));
    let statuses = all.iter().map(|it| log.current_event_status(it));
    assert_eq!(statuses.collect::<Vec<_>>(), [Active, Replaced, Active]);
}

#[test]
fn a_skip_stands_until_its_person_decides() {
    let mut all = vec![
        log_entry_at_second(1, 1, skipped(0)),
        log_entry_at_second(2, 2, skipped(0)),
        log_entry_at_second(3, 2, undone(2)),
        log_entry_at_second(
            4,
            2,
            AnnotationEventAction::Reported(ItemProblemReport {
                item: ItemNo(0),
                note: "cut".to_owned(),
            }),
        ),
    ];
    let log = AnnotationLog::from_entries(all.clone());
    assert_eq!(
        log.active_skips_by_person(ItemNo(0))
            .keys()
            .collect::<Vec<_>>(),
        [&PersonId(1)]
    );
    assert!(log.has_person_finished_item(PersonId(1), ItemNo(0)));
    assert!(!log.has_person_finished_item(PersonId(2), ItemNo(0)));
    assert_eq!(log.problem_reports_on_item(ItemNo(0)).len(), 1);
    all.push(log_entry_at_second(
        5,
        1,
        decision_action(0, AnnotatorAnswer::First, &[]),
    ));
    let log = AnnotationLog::from_entries(all.clone());
    assert!(log.active_skips_by_person(ItemNo(0)).is_empty());
    assert_eq!(log.current_event_status(&all[0]), Replaced);
    assert_eq!(log.current_event_status(&all[1]), Undone);
}

/// About two hundred events of four people on five items, with many replaced and undone events.
fn crowd(seed: u64) -> Vec<ReceivedAnnotationEvent> {
    let mut random = seeded_random::seeded_generator(seed, "crowd");
    let mut below = |n: u64| seeded_random::random_number_below(&mut random, n);
    let mut log = AnnotationLog::default();
    let mut made: Vec<ReceivedAnnotationEvent> = Vec::new();
    for number in 1..200 {
        let person = 1 + below(4) as u32;
        let item = below(5) as u32;
        let answer = AnnotatorAnswer::ALL[below(4) as usize];
        let known = log.active_decisions_by_person(ItemNo(item));
        let known: Vec<&ReceivedAnnotationEvent> =
            known.get(&PersonId(person)).cloned().unwrap_or_default();
        // Half of the decisions replace what the person decided before.
        let seen = known.iter().filter(|_| number % 2 == 0);
        let seen: Vec<u64> = seen.map(|it| it.received_ms / 1_000).collect();
        let what = match below(12) {
            0 => skipped(item),
            1 => adjudicated(item, answer, &[1 + below(number)]),
            2 | 3 => undone(1 + below(number)),
            4 => AnnotationEventAction::Excluded(standing(person)),
            5 => AnnotationEventAction::Included(standing(person)),
            _ => decision_action(item, answer, &seen),
        };
        made.push(log_entry_at_second(number, person, what));
        log.append(made[made.len() - 1].clone());
    }
    made
}

/// Shuffles the events, except that exclusions and inclusions keep their order.
fn shuffled(entries: &[ReceivedAnnotationEvent], seed: u64) -> Vec<ReceivedAnnotationEvent> {
    let is_standing = |it: &ReceivedAnnotationEvent| {
        matches!(
            it.event.action,
            AnnotationEventAction::Excluded(_) | AnnotationEventAction::Included(_)
        )
    };
    let mut all = entries.to_vec();
    seeded_random::shuffle(
        &mut seeded_random::seeded_generator(seed, "shuffle"),
        &mut all,
    );
    let mut standing = entries.iter().filter(|it| is_standing(it));
    for entry in &mut all {
        if is_standing(entry) {
            *entry = standing.next().unwrap().clone();
        }
    }
    all
}

#[test]
fn any_order_and_any_repetition_end_in_the_same_state() {
    for seed in 0..20 {
        let all = crowd(seed);
        let log = AnnotationLog::from_entries(all.clone());
        for round in 0..5 {
            assert_eq!(AnnotationLog::from_entries(shuffled(&all, round)), log);
        }
        for cut in [0, 1, 17, 100, all.len()] {
            let twice = all[..cut].iter().chain(&all);
            assert_eq!(AnnotationLog::from_entries(twice.cloned()), log);
            let later = all.iter().chain(&all[cut..]);
            assert_eq!(AnnotationLog::from_entries(later.cloned()), log);
        }
    }
}

/// A person who decided and undid nothing has a decision, whatever was replaced.
#[test]
fn no_decision_is_lost() {
    for seed in 0..20 {
        let log = AnnotationLog::from_entries(crowd(seed));
        let mut kept: BTreeMap<(ItemNo, PersonId), bool> = BTreeMap::new();
        for entry in log.entries() {
            if let AnnotationEventAction::Decided(it) = &entry.event.action {
                let any = kept.entry((it.item, entry.person)).or_default();
                *any |= !log.is_event_undone(entry);
            }
        }
        for ((item, person), kept) in kept {
            assert_eq!(
                log.active_decisions_by_person(item).contains_key(&person),
                kept
            );
        }
    }
}
