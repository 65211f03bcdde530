use super::*;
use crate::annotation::agreement::measure_annotator_agreement;
use crate::annotation::fixture::{log_entries_of_answers, sampled_annotation_items};
use crate::annotation::progress::measure_annotation_progress;
use crate::annotation::task::AnnotationItem;
use crate::annotation::{AnnotationLog, AnnotatorAnswer};
use AnnotatorAnswer::{Equal, First, Second};

fn items() -> Vec<AnnotationItem> {
    sampled_annotation_items(3)
}

fn log() -> AnnotationLog {
    AnnotationLog::from_entries(log_entries_of_answers(&[
        (1, 0, First),
        (2, 0, First),
        (1, 1, Second),
        (2, 1, First),
        (1, 2, Equal),
    ]))
}

fn called(person: PersonId) -> String {
    format!("P{}", person.0)
}

#[track_caller]
fn is_square(table: &ReportTable) {
    for row in &table.rows {
        assert_eq!(row.len(), table.columns.len(), "{}", table.name);
    }
}

#[test]
fn agreement_stands_in_three_tables() {
    let tables =
        annotator_agreement_tables(&measure_annotator_agreement(&items(), &log()), &called);
    tables.iter().for_each(is_square);
    let [by_probe, pairs, people] = &tables[..] else {
        panic!("{tables:?}")
    };
    // The row of all items, and the one probe of the fixture.
    assert_eq!(by_probe.rows.len(), 2);
    assert_eq!(by_probe.rows[0][1], TableValue::Count(2));
    assert_eq!(pairs.rows[0][0].display_text(), "P1");
    assert_eq!(pairs.rows[0][2], TableValue::Count(2));
    assert_eq!(people.rows.len(), 2);
    assert_eq!(people.rows[0][1], TableValue::Count(3));
}

#[test]
fn progress_stands_in_two_tables() {
    let tables =
        annotation_progress_tables(&measure_annotation_progress(&items(), 2, &log()), &called);
    tables.iter().for_each(is_square);
    assert_eq!(tables[0].rows.len(), 2);
    assert_eq!(tables[0].rows[0][2], TableValue::Count(3));
    assert_eq!(tables[0].rows[0][9], TableValue::Missing);
    assert_eq!(tables[1].rows[0][0].display_text(), "1970-01-01");
}

#[test]
fn estimates_name_their_rankers() {
    let line = AxiomAndRankerAgreementEstimates {
        counts: ItemConsensusCounts::default(),
        axiom_vs_people: PairwiseAgreementRates::default(),
        rankers_vs_people: vec![PairwiseAgreementRates::default()],
        axiom_vs_qrels: PairwiseAgreementRates::default(),
        share_reason_matters: None,
    };
    let found = AgreementEstimates {
        overall: line,
        by_probe: Vec::new(),
    };
    let tables = |kind| axiom_and_ranker_agreement_tables(&found, &["BM25".to_owned()], kind);
    // Each table of simulated annotators says so in its title.
    for table in tables(AnnotatorKind::Simulated) {
        assert!(
            table.title.contains("simulated annotators"),
            "{}",
            table.title
        );
    }
    let simulated = &tables(AnnotatorKind::Simulated)[0];
    assert_eq!(simulated.columns[3].name, "BM25–simulated");
    let tables = tables(AnnotatorKind::People);
    tables.iter().for_each(is_square);
    assert_eq!(tables[0].columns[3].name, "BM25–annotators");
    assert_eq!(tables[2].rows.len(), 9);
    assert_eq!(tables[2].rows[0][3], TableValue::Missing);
}

#[test]
fn days_are_those_of_the_calendar() {
    let days = [0, 59, 11_016, 19_782, 20_779].map(format_epoch_day);
    let known = [
        "1970-01-01",
        "1970-03-01",
        "2000-02-29",
        "2024-02-29",
        "2026-11-22",
    ];
    assert_eq!(days, known);
}
