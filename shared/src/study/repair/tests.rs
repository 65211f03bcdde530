use std::collections::BTreeMap;

use super::*;
use crate::probe::Axiom;
use crate::score::{RankerInfo, RankerKind};
use crate::study::fixture;
use crate::training::axiom_curve::tests::curve_of_three_axioms;
use crate::training::spec::TrainingSpec;
use crate::training::{EffectivenessControls, MeasureValues, TrainingRecord, TrainingSummary};

/// How the rankers order the documents A to D for each test query, best first.
const BEFORE: [&str; 9] = [
    "BACD", "CBAD", "DCAB", "ACDB", "CABD", "BCAD", "DACB", "CBDA", "BDAC",
];
const AFTER: [&str; 9] = [
    "ABCD", "BACD", "CBAD", "ABCD", "ACBD", "BACD", "ABDC", "BCAD", "BADC",
];

fn training(name: &str, repairs: Option<&str>) -> StudyTraining {
    let augment: &[&str] = if repairs.is_some() {
        &["instances:tfc1.parquet"]
    } else {
        &[]
    };
    StudyTraining {
        name: name.to_owned(),
        repairs: repairs.map(str::to_owned),
        spec: TrainingSpec {
            test: Some("test".to_owned()),
            augment: augment.iter().map(|it| (*it).to_owned()).collect(),
            ..TrainingSpec::of_model("drmm")
        },
    }
}

fn record(name: &str, added_axioms: &[Axiom]) -> TrainedRankerRecord {
    let measured = |ap: f64| -> MeasureValues {
        BTreeMap::from([("AP".to_owned(), ap), ("RR".to_owned(), ap + 0.01)])
    };
    TrainedRankerRecord {
        ranker: format!("{name}:drmm"),
        added_axioms: added_axioms.iter().map(|&it| Probe::Axiom(it)).collect(),
        swapped_effectiveness: (1..10)
            .map(|it| (format!("q{it}"), vec![0.25; 4]))
            .collect(),
        record: TrainingRecord {
            name: name.to_owned(),
            points: curve_of_three_axioms(),
            summary: Some(TrainingSummary {
                model: "drmm".to_owned(),
                parameters: 1242,
                steps: 400,
                seconds: 1.5,
                best: BTreeMap::new(),
                dev: measured(0.625),
                test: Some(measured(0.5)),
                controls: EffectivenessControls {
                    bm25: measured(0.4),
                    swapped_queries: measured(0.25),
                    longest_first: measured(0.2),
                    shortest_first: measured(0.1),
                    constant_score: measured(0.15),
                    standard_error: measured(0.03),
                    n_queries: 9,
                    candidates_and_those_in_training: [36, 9],
                },
                sha256: String::new(),
            }),
        },
    }
}

/// Makes a study with BM25 and two trained rankers, the second of which repairs TFC1 of the first.
/// Of its ten queries the first is for training.
pub(crate) fn study_with_repair() -> Study {
    let mut definition = fixture::fixture_study_definition(10);
    definition.probes = vec![Probe::Axiom(Axiom::Tfc2), Probe::Axiom(Axiom::Tfc1)];
    definition.rankers = vec!["bm25".to_owned()];
    definition.train = vec![training("drmm", None), training("drmm-tfc1", Some("drmm"))];
    let texts = [
        "river river river",
        "river river mud",
        "river mud mud",
        "sea sea sea",
    ];
    let mut collection = fixture::fixture_collection(&["river"; 10], &texts);
    for query in &collection.queries {
        let grades = [("2".to_owned(), 1)].into();
        collection.qrels.0.insert(query.id.clone(), grades);
    }
    let mut study = fixture::make_fixture_study(definition, collection);
    for (name, orders) in [("drmm", BEFORE), ("drmm-tfc1", AFTER)] {
        // The training query is ranked in the same way by both.
        let score = |(query, doc): (usize, u32)| {
            let order = query.checked_sub(1).map_or("DCBA", |it| orders[it]);
            let letter = char::from(b'A' + doc as u8);
            order.find(letter).map(|it| 4.0 - it as f64)
        };
        let ranker = RankerInfo {
            spec: format!("{name}:drmm"),
            label: name.to_owned(),
            detail: "histograms".to_owned(),
            kind: RankerKind::Neural,
            fingerprint: format!("{name:f<64}"),
            note: None,
        };
        let values = study.pairs.iter().map(score).collect();
        let scores = RankerQueryDocumentScores::new(ranker, values, &study.pairs).unwrap();
        study.scores.push(scores);
    }
    study.trainings = vec![record("drmm", &[]), record("drmm-tfc1", &[Axiom::Tfc1])];
    study
}

/// SciPy 1.17.1: `permutation_test((after, before), statistic, permutation_type="samples",
/// n_resamples=inf)` over the nine test queries; the statistic is the difference of the sums of
/// satisfied instances over their number, or of the means of AP and nDCG. Fractions are counted and
/// Holm's correction is applied by hand.
#[test]
fn a_repair_is_compared_on_the_test_queries_by_a_paired_test() {
    let compared = study_with_repair().compare_repairs(None).unwrap();
    let [repair] = &compared[..] else {
        panic!("there is one repair")
    };
    assert_eq!((&*repair.before, &*repair.after), ("drmm", "drmm-tfc1"));
    assert_eq!((&*repair.split, repair.n_queries), ("test", 9));
    let expected = [
        ("TFC1", [11.0 / 27.0, 18.0 / 27.0], 0.0625, 0.3125, Some(27)),
        ("TFC2", [4.0 / 9.0, 5.0 / 9.0], 1.0, 1.0, Some(9)),
        (
            "AP",
            [0.564_814_814_814_814_8, 0.703_703_703_703_703_7],
            0.3125,
            0.9375,
            None,
        ),
        (
            "RR@10",
            [0.564_814_814_814_814_8, 0.703_703_703_703_703_7],
            0.3125,
            0.9375,
            None,
        ),
        (
            "nDCG@10",
            [0.672_654_353_484_788_2, 0.780_413_223_809_536_7],
            0.218_75,
            0.875,
            None,
        ),
    ];
    assert_eq!(repair.rows.len(), expected.len());
    for (row, (name, [before, after], p, p_holm, n_instances)) in repair.rows.iter().zip(expected) {
        assert_eq!(row.quantity.name(), name);
        let close = |one: f64, other: f64| (one - other).abs() < 1e-12;
        assert!(
            close(row.before, before) && close(row.after, after),
            "{row:?}"
        );
        assert!(close(row.difference.value, after - before), "{row:?}");
        assert_eq!((row.p, row.p_holm), (p, p_holm), "{name}");
        assert_eq!((row.n_instances, row.n_queries), (n_instances, 9));
        let [low, high] = row.difference.interval;
        assert!(low <= row.difference.value && row.difference.value <= high);
    }
    let repaired = RepairedQuantity::RepairedAxiom(Probe::Axiom(Axiom::Tfc1));
    assert_eq!(repair.rows[0].quantity, repaired);
}

#[test]
fn a_repair_that_is_not_scored_yet_is_left_out() {
    let mut study = study_with_repair();
    study.scores.pop();
    assert_eq!(study.compare_repairs(None).unwrap(), []);
    let mut study = study_with_repair();
    study.trainings.remove(0);
    assert_eq!(study.compare_repairs(None).unwrap(), []);
}

#[test]
fn the_overview_has_the_effectiveness_with_another_query() {
    let study = study_with_repair();
    let overview = study.overview(&StudyPageControls::default()).unwrap();
    assert_eq!(overview.rows[0].training, None);
    let repaired = overview.rows[2].training.as_ref().unwrap();
    assert_eq!(repaired.repairs.as_deref(), Some("drmm"));
    assert_eq!(repaired.swapped_effectiveness, [Some(0.25); 4]);
    // The first query is the only one of its split, and has no such value.
    let training = StudyPageControls {
        split: Some("train".to_owned()),
        ..StudyPageControls::default()
    };
    let overview = study.overview(&training).unwrap();
    let trained = overview.rows[1].training.as_ref().unwrap();
    assert_eq!(trained.swapped_effectiveness, [None; 4]);
}

#[test]
fn an_uploaded_study_keeps_trainings_that_match_its_definition() {
    let study = study_with_repair();
    let json = serde_json::to_string(&study).unwrap();
    assert_eq!(
        Study::from_json("s.json", &json).unwrap().trainings,
        study.trainings
    );
    let changes: [fn(&mut TrainedRankerRecord); 4] = [
        |it| it.record.name = "other".to_owned(),
        |it| it.record.points.clear(),
        |it| it.record.points.swap(0, 1),
        |it| it.swapped_effectiveness = [("q1".to_owned(), vec![0.5])].into(),
    ];
    for change in changes {
        let mut changed = study.clone();
        change(&mut changed.trainings[1]);
        let json = serde_json::to_string(&changed).unwrap();
        let error = Study::from_json("s.json", &json).unwrap_err().to_string();
        assert!(
            error.contains("its trainings do not match its definition"),
            "{error}"
        );
    }
}
