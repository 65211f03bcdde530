use super::super::agreement::measure_annotator_agreement;
use super::super::estimate::{compute_agreement_estimates, load_sampled_item_preferences};
use super::super::fixture::{fixture_study_with_tfc1, tfc1_annotation_task};
use super::super::sample::sample_task_items;
use super::super::task::AnnotatorSimulation;
use super::*;

use DocumentPreference::{Equal, First, Second};

fn claim(winner: i32, loser: i32) -> ScoreClaim<i32> {
    ScoreClaim::Higher { winner, loser }
}

#[test]
fn the_truth_is_the_grade_then_the_claim_and_equal_where_nothing_is_relevant() {
    let known = [
        (claim(2, 1), First),
        (claim(0, 3), Second),
        (claim(1, 1), First),
        (claim(0, 0), Equal),
    ];
    for (graded, truth) in known {
        assert_eq!(truth_by_grades(graded), truth, "{graded:?}");
    }
    let (few, more, most) = (0, 0, 3);
    let steps = ScoreClaim::DiminishingGain { few, more, most };
    assert_eq!(truth_by_grades(steps), First);
}

/// The counts of the three answers of one annotator to 10,000 items.
fn counts(error_rate: f64, truth: DocumentPreference) -> [u32; 3] {
    let mut counts = [0; 3];
    for item in 0..10_000 {
        let answer = answer_with_errors(42, 0, ItemNo(item), truth, error_rate);
        counts[answer.preference().unwrap() as usize] += 1;
    }
    counts
}

#[test]
fn error_rates_are_realized_and_errors_go_both_ways() {
    assert_eq!(counts(0.0, Equal), [0, 10_000, 0]);
    assert_eq!(counts(1.0, First)[0], 0);
    for rate in [0.05, 0.15, 0.3] {
        let [right, equal, second] = counts(rate, First).map(f64::from);
        let expected = 10_000.0 * rate;
        // Four standard deviations of the binomial distribution.
        let width = 4.0 * libm::sqrt(expected * (1.0 - rate));
        assert!(
            (10_000.0 - right - expected).abs() < width,
            "{rate}: {right}"
        );
        assert!(
            (equal - second).abs() < 4.0 * libm::sqrt(expected),
            "{rate}"
        );
    }
}

#[test]
fn answers_are_those_of_the_documented_random_numbers() {
    let answers = (0..4).flat_map(|item| {
        (0..3).map(move |annotator| answer_with_errors(42, annotator, ItemNo(item), First, 0.5))
    });
    let slugs: Vec<&str> = answers.map(|it| it.slug()).collect();
    // Computed from the module documentation in Python: hashlib's SHA-256, and PCG64 (XSL RR
    // 128/64) as in O'Neill's paper.
    let known = [
        "first equal equal",
        "first first equal",
        "first second first",
        "first equal first",
    ];
    assert_eq!(slugs, known.join(" ").split(' ').collect::<Vec<_>>());
}

fn simulated_task() -> AnnotationTaskDefinition {
    AnnotationTaskDefinition {
        annotators_per_item: 3,
        simulation: Some(AnnotatorSimulation {
            error_rates: vec![0.0, 0.0, 1.0],
        }),
        ..tfc1_annotation_task()
    }
}

#[test]
fn events_go_through_the_log_and_its_statistics() {
    let (study, task) = (fixture_study_with_tfc1(), simulated_task());
    let items = sample_task_items(&study, &task).unwrap().items;
    let people = [7, 8, 9].map(PersonId);
    let events = simulate_annotation_events(&study, &task, &items, &people, 5).unwrap();
    assert_eq!(events.len(), 3 * items.len());
    let again = simulate_annotation_events(&study, &task, &items, &people, 5).unwrap();
    assert_eq!(events, again);
    let log = AnnotationLog::from_entries(events);
    // Every key is of one event.
    assert_eq!(log.len(), 3 * items.len());
    for (item, number) in items.iter().zip((0..).map(ItemNo)) {
        let found = SimulatedItemResult::from_log(&log, number);
        let truth = simulated_truth(&study, item).unwrap();
        assert_eq!(found.consensus, ItemConsensus::Prefers(truth));
        let with_truth = |it: &&AnnotatorAnswer| it.preference() == Some(truth);
        assert_eq!(found.answers.iter().filter(with_truth).count(), 2);
    }
    // The two without errors agree on every item, the third with neither.
    let agreement = measure_annotator_agreement(&items, &log);
    let pairs = agreement.by_pair.iter();
    let observed: Vec<f64> = pairs
        .map(|it| it.observed.unwrap().estimate.value)
        .collect();
    assert_eq!(observed, [1.0, 0.0, 0.0]);
    let dials = &task.filter.controls;
    let reviewed = load_sampled_item_preferences(&study, dials, &items, &log).unwrap();
    let estimates = compute_agreement_estimates(&reviewed);
    assert_eq!(estimates.overall.counts.n_items, items.len() as u64);
    assert_eq!(estimates.overall.counts.n_split, 0);
}

#[test]
fn a_task_without_simulated_annotators_has_no_simulated_events() {
    let (study, task) = (fixture_study_with_tfc1(), tfc1_annotation_task());
    let items = sample_task_items(&study, &task).unwrap().items;
    let refused = simulate_annotation_events(&study, &task, &items, &[PersonId(1)], 5);
    assert!(refused.unwrap_err().to_string().starts_with("simulation"));
    let twice = [PersonId(1); 3];
    assert!(simulate_annotation_events(&study, &simulated_task(), &items, &twice, 5).is_err());
}
