use std::collections::BTreeMap;

use super::super::event::{Adjudication, ExclusionChange, ProblemReport, SkipReason, SkippedItem};
use super::super::fixture::{decided, entry, key};
use super::super::{AnnotatorAnswer, seeded_random};
use super::*;

fn undone(of: u64) -> AnnotationAction {
    AnnotationAction::Undone { of: key(of) }
}

fn adjudicated(item: u32, answer: AnnotatorAnswer, replaces: &[u64]) -> AnnotationAction {
    AnnotationAction::Adjudicated(Adjudication {
        item: ItemNo(item),
        answer,
        note: String::new(),
        replaces: replaces.iter().map(|&it| key(it)).collect(),
    })
}

fn skipped(item: u32) -> AnnotationAction {
    AnnotationAction::Skipped(SkippedItem {
        item: ItemNo(item),
        reason: SkipReason::BrokenDocument,
        note: String::new(),
    })
}

fn standing(person: u32) -> ExclusionChange {
    ExclusionChange {
        person: PersonId(person),
        reason: String::new(),
    }
}

/// The keys of the active decisions of person 1 on item 0.
fn stands(entries: &[LogEntry]) -> Vec<EventKey> {
    let log = AnnotationLog::from_entries(entries.iter().cloned());
    let mut decisions = log.decisions(ItemNo(0));
    let of_person = decisions.remove(&PersonId(1)).unwrap_or_default();
    of_person.iter().map(|it| it.event.key).collect()
}

#[test]
fn a_decision_that_is_taken_back_gives_way_to_the_one_before() {
    let first = entry(1, 1, decided(0, AnnotatorAnswer::First, &[]));
    let second = entry(2, 1, decided(0, AnnotatorAnswer::Second, &[1]));
    let back = entry(3, 1, undone(2));
    let third = entry(4, 1, decided(0, AnnotatorAnswer::Equal, &[2]));
    let all = [first, second, back, third];
    assert_eq!(stands(&all[..1]), [key(1)]);
    assert_eq!(stands(&all[..2]), [key(2)]);
    assert_eq!(stands(&all[..3]), [key(1)]);
    // The third decision replaces the second, which replaces the first.
    assert_eq!(stands(&all), [key(4)]);
    let back = entry(5, 1, undone(1));
    let all = [&all[..3], &[back]].concat();
    assert_eq!(stands(&all), []);
    assert_eq!(AnnotationLog::from_entries(all).len(), 4);
}

#[test]
fn two_decisions_that_did_not_know_of_each_other_are_both_kept() {
    let mut all = vec![
        entry(1, 1, decided(0, AnnotatorAnswer::First, &[])),
        entry(2, 1, decided(0, AnnotatorAnswer::Second, &[])),
    ];
    assert_eq!(stands(&all), [key(1), key(2)]);
    let log = AnnotationLog::from_entries(all.clone());
    assert!(all.iter().all(|it| log.status(it) == EventStatus::Conflict));
    all.push(entry(3, 1, decided(0, AnnotatorAnswer::Second, &[1, 2])));
    assert_eq!(stands(&all), [key(3)]);
    let log = AnnotationLog::from_entries(all.clone());
    let fates: Vec<EventStatus> = all.iter().map(|it| log.status(it)).collect();
    assert_eq!(
        fates,
        [
            EventStatus::Replaced,
            EventStatus::Replaced,
            EventStatus::Active
        ]
    );
}

#[test]
fn nobody_changes_what_is_not_theirs() {
    let all = [
        entry(1, 1, decided(0, AnnotatorAnswer::First, &[])),
        entry(2, 2, undone(1)),
        entry(3, 2, decided(0, AnnotatorAnswer::Second, &[1])),
        entry(4, 1, decided(1, AnnotatorAnswer::Second, &[1])),
    ];
    assert_eq!(stands(&all), [key(1)]);
}

#[test]
fn what_replaces_each_other_in_a_circle_is_all_shown() {
    let all = [
        entry(1, 1, decided(0, AnnotatorAnswer::First, &[2])),
        entry(2, 1, decided(0, AnnotatorAnswer::Second, &[1])),
    ];
    assert_eq!(stands(&all), [key(1), key(2)]);
    assert_eq!(
        stands(&[entry(1, 1, decided(0, AnnotatorAnswer::First, &[1]))]),
        [key(1)]
    );
}

#[test]
fn the_same_key_is_one_event() {
    let first = entry(1, 1, decided(0, AnnotatorAnswer::First, &[]));
    let mut log = AnnotationLog::default();
    assert_eq!(log.append(first.clone()), AppendOutcome::Appended);
    let late = LogEntry {
        received_ms: 99_000,
        ..first.clone()
    };
    assert_eq!(log.append(late), AppendOutcome::Duplicate);
    let other = entry(1, 1, decided(0, AnnotatorAnswer::Second, &[]));
    assert_eq!(log.append(other), AppendOutcome::KeyConflict);
    let of_another = entry(1, 2, decided(0, AnnotatorAnswer::First, &[]));
    assert_eq!(log.append(of_another), AppendOutcome::KeyConflict);
    assert_eq!(log, AnnotationLog::from_entries([first]));
}

#[test]
fn an_adjudication_erases_nothing() {
    let all = [
        entry(1, 1, decided(0, AnnotatorAnswer::First, &[])),
        entry(2, 2, decided(0, AnnotatorAnswer::Second, &[])),
        entry(3, 9, adjudicated(0, AnnotatorAnswer::Equal, &[])),
        entry(4, 8, adjudicated(0, AnnotatorAnswer::First, &[3])),
    ];
    let log = AnnotationLog::from_entries(all.clone());
    assert_eq!(log.decisions(ItemNo(0)).len(), 2);
    let adjudications = log.adjudications(ItemNo(0));
    assert_eq!(adjudications.len(), 1);
    assert_eq!(adjudications[0].event.key, key(4));
    assert_eq!(log.status(&all[2]), EventStatus::Replaced);
    assert_eq!(log.item_history(ItemNo(0)).len(), 4);
}

#[test]
fn excluded_people_stay_in_the_log() {
    let mut all = vec![
        entry(1, 1, decided(0, AnnotatorAnswer::First, &[])),
        entry(2, 9, AnnotationAction::Excluded(standing(1))),
    ];
    let log = AnnotationLog::from_entries(all.clone());
    assert!(log.is_excluded(PersonId(1)));
    assert_eq!(log.decisions(ItemNo(0)).len(), 1);
    assert_eq!(log.status(&all[0]), EventStatus::Excluded);
    all.push(entry(3, 9, AnnotationAction::Included(standing(1))));
    let log = AnnotationLog::from_entries(all.clone());
    assert!(!log.is_excluded(PersonId(1)));
    let fates: Vec<EventStatus> = all.iter().map(|it| log.status(it)).collect();
    assert_eq!(
        fates,
        [
            EventStatus::Active,
            EventStatus::Replaced,
            EventStatus::Active
        ]
    );
}

#[test]
fn a_skip_stands_until_its_person_decides() {
    let mut all = vec![
        entry(1, 1, skipped(0)),
        entry(2, 2, skipped(0)),
        entry(3, 2, undone(2)),
        entry(
            4,
            2,
            AnnotationAction::Reported(ProblemReport {
                item: ItemNo(0),
                note: "cut".to_owned(),
            }),
        ),
    ];
    let log = AnnotationLog::from_entries(all.clone());
    assert_eq!(
        log.skips(ItemNo(0)).keys().collect::<Vec<_>>(),
        [&PersonId(1)]
    );
    assert!(log.is_finished(PersonId(1), ItemNo(0)));
    assert!(!log.is_finished(PersonId(2), ItemNo(0)));
    assert_eq!(log.reports(ItemNo(0)).len(), 1);
    all.push(entry(5, 1, decided(0, AnnotatorAnswer::First, &[])));
    let log = AnnotationLog::from_entries(all.clone());
    assert!(log.skips(ItemNo(0)).is_empty());
    assert_eq!(log.status(&all[0]), EventStatus::Replaced);
    assert_eq!(log.status(&all[1]), EventStatus::Undone);
}

/// About two hundred events of four people on five items, with many replaced and undone events.
fn crowd(seed: u64) -> Vec<LogEntry> {
    let mut random = seeded_random::generator(seed, "crowd");
    let mut below = |n: u64| seeded_random::below(&mut random, n);
    let mut log = AnnotationLog::default();
    let mut made: Vec<LogEntry> = Vec::new();
    for number in 1..200 {
        let person = 1 + below(4) as u32;
        let item = below(5) as u32;
        let answer = AnnotatorAnswer::ALL[below(4) as usize];
        let known = log.decisions(ItemNo(item));
        let known: Vec<&LogEntry> = known.get(&PersonId(person)).cloned().unwrap_or_default();
        // Half of the decisions replace what the person decided before.
        let seen = known.iter().filter(|_| number % 2 == 0);
        let seen: Vec<u64> = seen.map(|it| it.received_ms / 1_000).collect();
        let what = match below(12) {
            0 => skipped(item),
            1 => adjudicated(item, answer, &[1 + below(number)]),
            2 | 3 => undone(1 + below(number)),
            4 => AnnotationAction::Excluded(standing(person)),
            5 => AnnotationAction::Included(standing(person)),
            _ => decided(item, answer, &seen),
        };
        made.push(entry(number, person, what));
        log.append(made[made.len() - 1].clone());
    }
    made
}

/// Shuffles the events, except that exclusions and inclusions keep their order.
fn shuffled(entries: &[LogEntry], seed: u64) -> Vec<LogEntry> {
    let is_standing = |it: &LogEntry| {
        matches!(
            it.event.action,
            AnnotationAction::Excluded(_) | AnnotationAction::Included(_)
        )
    };
    let mut all = entries.to_vec();
    seeded_random::shuffle(&mut seeded_random::generator(seed, "shuffle"), &mut all);
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
            if let AnnotationAction::Decided(it) = &entry.event.action {
                let any = kept.entry((it.item, entry.person)).or_default();
                *any |= !log.is_undone(entry);
            }
        }
        for ((item, person), kept) in kept {
            assert_eq!(log.decisions(item).contains_key(&person), kept);
        }
    }
}
