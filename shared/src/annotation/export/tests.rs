use expect_test::expect;

use super::super::event::{AnnotatorExclusionChange, ItemAdjudication, SkipReason, SkippedItem};
use super::super::fixture::{self, decision_action, event_key_from_number, log_entry_at_second};
use super::super::task::AnnotationItemRole;
use super::super::{AnnotationEventKey, AnnotatorAnswer, AnnotatorKind};
use super::*;
use crate::probe::{Axiom, Probe};
use crate::report::table_to_csv;

fn named(query: &str, texts: &[&str]) -> ItemQueryAndDocIds {
    ItemQueryAndDocIds {
        query: query.to_owned(),
        documents: texts.iter().map(|it| (*it).to_owned()).collect(),
    }
}

/// Three sampled items, the last one of three documents, and a gold item.
fn items() -> (Vec<AnnotationItem>, Vec<ItemQueryAndDocIds>) {
    let role = |number| match number {
        3 => AnnotationItemRole::Gold {
            answer: AnnotatorAnswer::First,
        },
        _ => AnnotationItemRole::Sampled {
            inclusion_probability: 0.25,
        },
    };
    let mut items: Vec<AnnotationItem> = (0..4)
        .map(|it| fixture::tfc1_annotation_item(it, 0, role(it)))
        .collect();
    items[2].instance.probe = Probe::Axiom(Axiom::Tfc2);
    let named = vec![
        named("q7", &["421", "17"]),
        named("q8", &["17#lnc2:3", "17"]),
        named("q8", &["1", "2", "3"]),
        named("q9", &["5", "6"]),
    ];
    (items, named)
}

fn log() -> AnnotationLog {
    let mut noted = decision_action(0, AnnotatorAnswer::Second, &[1]);
    if let AnnotationEventAction::Decided(it) = &mut noted {
        it.comment.note = "=SUM(1,2)".to_owned();
        it.comment.tags = vec!["off topic".to_owned(), "old".to_owned()];
        it.comment.reason_rating = Some(AxiomReasonRating::DoesNotMatter);
    }
    let adjudicated = ItemAdjudication {
        item: ItemNo(1),
        answer: AnnotatorAnswer::Equal,
        note: String::new(),
        replaces: Vec::new(),
    };
    let skip = SkippedItem {
        item: ItemNo(2),
        reason: SkipReason::BrokenDocument,
        note: "cut".to_owned(),
    };
    let standing = AnnotatorExclusionChange {
        person: PersonId(3),
        reason: "guessed".to_owned(),
    };
    AnnotationLog::from_entries([
        log_entry_at_second(1, 1, decision_action(0, AnnotatorAnswer::First, &[])),
        log_entry_at_second(2, 1, noted),
        log_entry_at_second(3, 2, decision_action(0, AnnotatorAnswer::First, &[])),
        log_entry_at_second(4, 1, decision_action(1, AnnotatorAnswer::First, &[])),
        log_entry_at_second(5, 2, decision_action(1, AnnotatorAnswer::CannotSay, &[])),
        log_entry_at_second(6, 3, decision_action(1, AnnotatorAnswer::Second, &[])),
        log_entry_at_second(7, 9, AnnotationEventAction::Excluded(standing)),
        log_entry_at_second(8, 9, AnnotationEventAction::Adjudicated(adjudicated)),
        log_entry_at_second(9, 1, decision_action(2, AnnotatorAnswer::First, &[])),
        log_entry_at_second(
            10,
            1,
            AnnotationEventAction::Undone {
                of: event_key_from_number(9),
            },
        ),
        log_entry_at_second(11, 1, AnnotationEventAction::Skipped(skip)),
        log_entry_at_second(12, 1, decision_action(3, AnnotatorAnswer::First, &[])),
    ])
}

fn with_source<T>(then: impl Fn(&AnnotationExportInput<'_>) -> T) -> T {
    with_source_of(AnnotatorKind::People, then)
}

fn with_source_of<T>(kind: AnnotatorKind, then: impl Fn(&AnnotationExportInput<'_>) -> T) -> T {
    let ((items, named), log) = (items(), log());
    let people = [(PersonId(1), "Ada".to_owned())].into();
    then(&AnnotationExportInput {
        title: "Rivers",
        items: &items,
        ids: &named,
        people: &people,
        log: &log,
        is_simulated: kind == AnnotatorKind::Simulated,
    })
}

#[test]
fn preferences_are_as_trec_eval_reads_them() {
    let everybody =
        with_source(|it| annotations_to_trec_prefs(it, ExportedPreferenceSource::EachAnnotator));
    expect![[r#"
        q7 0.p1 1 421 1
        q7 0.p1 1 17 2
        q7 0.p2 1 421 2
        q7 0.p2 1 17 1
        q8 1.p1 1 17#lnc2:3 2
        q8 1.p1 1 17 1
    "#]]
    .assert_eq(&everybody);
    let people =
        with_source(|it| annotations_to_trec_prefs(it, ExportedPreferenceSource::Consensus));
    expect![[r#"
        q8 1.people 1 17#lnc2:3 1
        q8 1.people 1 17 1
    "#]]
    .assert_eq(&people);
}

#[test]
fn the_table_holds_the_whole_history() {
    let csv =
        with_source(|it| table_to_csv(&export_rows_to_table(it, &build_exported_event_rows(it))));
    let short = csv
        .replace("00000000000000000000000000", "")
        .replace("\r\n", "\n");
    expect![[r#"
        key,received_ms,created_ms,person,name,event,status,item,role,probability,weight,probe,variant,number,query,documents,answer,reason_rating,display_order,duration_ms,tags,note,about,simulated
        000001,1000,1000,1,Ada,decided,replaced,0,sampled,0.25,4,tfc1,fixed,0,q7,421 17,first,,claim-order,4000,,,,no
        000002,2000,2000,1,Ada,decided,active,0,sampled,0.25,4,tfc1,fixed,0,q7,421 17,second,no,claim-order,4000,off topic; old,"'=SUM(1,2)",000001,no
        000003,3000,3000,2,,decided,active,0,sampled,0.25,4,tfc1,fixed,0,q7,421 17,first,,claim-order,4000,,,,no
        000004,4000,4000,1,Ada,decided,active,1,sampled,0.25,4,tfc1,fixed,1,q8,17#lnc2:3 17,first,,claim-order,4000,,,,no
        000005,5000,5000,2,,decided,active,1,sampled,0.25,4,tfc1,fixed,1,q8,17#lnc2:3 17,cannot-say,,claim-order,4000,,,,no
        000006,6000,6000,3,,decided,excluded,1,sampled,0.25,4,tfc1,fixed,1,q8,17#lnc2:3 17,second,,claim-order,4000,,,,no
        000007,7000,7000,9,,excluded,active,,,,,,,,,,,,,,,guessed,3,no
        000008,8000,8000,9,,adjudicated,active,1,sampled,0.25,4,tfc1,fixed,1,q8,17#lnc2:3 17,equal,,,,,,,no
        000009,9000,9000,1,Ada,decided,undone,2,sampled,0.25,4,tfc2,fixed,2,q8,1 2 3,first,,claim-order,4000,,,,no
        00000a,10000,10000,1,Ada,undone,active,,,,,,,,,,,,,,,,000009,no
        00000b,11000,11000,1,Ada,skipped,active,2,sampled,0.25,4,tfc2,fixed,2,q8,1 2 3,,,,,,broken-document: cut,,no
        00000c,12000,12000,1,Ada,decided,active,3,gold,,,tfc1,fixed,3,q9,5 6,first,,claim-order,4000,,,,no
    "#]].assert_eq(&short);
}

#[test]
fn json_lines_come_back_as_the_log_that_they_are_of() {
    let lines = with_source(|it| export_rows_to_jsonl(&build_exported_event_rows(it)));
    let read = lines
        .lines()
        .map(|it| serde_json::from_str::<ExportedAnnotationEvent>(it).unwrap());
    let read: Vec<ExportedAnnotationEvent> = read.collect();
    let entries = read.iter().map(|it| ReceivedAnnotationEvent {
        person: it.person,
        received_ms: it.received_ms,
        event: it.event.clone(),
    });
    assert_eq!(AnnotationLog::from_entries(entries), log());
    let first = &read[0];
    assert_eq!(first.name.as_deref(), Some("Ada"));
    assert_eq!(first.status, AnnotationEventValidity::Replaced);
    assert_eq!(first.item.as_ref().unwrap().weight, Some(4.0));
    let fates: Vec<(AnnotationEventKey, AnnotationEventValidity)> =
        read.iter().map(|it| (it.event.key, it.status)).collect();
    assert_eq!(
        fates[5],
        (event_key_from_number(6), AnnotationEventValidity::Excluded)
    );
    assert_eq!(
        fates[8],
        (event_key_from_number(9), AnnotationEventValidity::Undone)
    );
}

#[test]
fn every_row_and_group_of_simulated_annotators_says_so() {
    let of_simulated = AnnotatorKind::Simulated;
    let lines = with_source_of(of_simulated, |it| {
        export_rows_to_jsonl(&build_exported_event_rows(it))
    });
    assert!(lines.lines().all(|it| it.contains("\"is_simulated\":true")));
    let csv = with_source_of(of_simulated, |it| {
        table_to_csv(&export_rows_to_table(it, &build_exported_event_rows(it)))
    });
    let mut rows = csv.lines();
    assert!(rows.next().unwrap().ends_with(",simulated"));
    assert!(rows.all(|it| it.ends_with(",yes")), "{csv}");
    let consensus = with_source_of(of_simulated, |it| {
        annotations_to_trec_prefs(it, ExportedPreferenceSource::Consensus)
    });
    assert!(consensus.starts_with("q8 1.simulated 1 "), "{consensus}");
    let each = with_source_of(of_simulated, |it| {
        annotations_to_trec_prefs(it, ExportedPreferenceSource::EachAnnotator)
    });
    assert!(each.starts_with("q7 0.s1 1 "), "{each}");
}
