use super::*;
use crate::report;
use crate::study::fixture::{self, RIVER_TEXTS};

const QUERIES: [&str; 5] = [
    "river bank",
    "mud river",
    "sea river",
    "bank mud",
    "mud sea",
];

fn input(study: &Study) -> (StudyOverview, StudyVerdictCounts) {
    let overview = study.overview(&StudyPageControls::default()).unwrap();
    (overview, study.verdict_counts(None).unwrap())
}

fn compare(first: &Study, second: &Study) -> Result<StudyComparison, Error> {
    let both = [input(first), input(second)];
    let [first, second] = &both;
    StudyComparison::compute(
        [first, second].map(|(overview, counts)| StudyToCompare { overview, counts }),
    )
}

/// Returns the study with the scores of its first ranker negated.
fn with_negated_scores(mut study: Study) -> Study {
    let scores = &study.scores[0];
    let negated = scores
        .scores_in_pair_order()
        .iter()
        .map(|it| it.map(|it| -it))
        .collect();
    let mut ranker = scores.ranker.clone();
    ranker.fingerprint = "negated".to_owned();
    study.scores[0] =
        crate::score::RankerQueryDocumentScores::new(ranker, negated, &study.pairs).unwrap();
    study
}

#[test]
fn counts_are_those_of_the_overview() {
    let study = fixture::study_with_queries(&QUERIES, &RIVER_TEXTS, 10);
    let (overview, counts) = input(&study);
    let mut n_compared = 0;
    for (row, ranker) in overview.rows.iter().zip(&counts.rankers) {
        assert_eq!(row.slug, ranker.slug);
        for (cell, axiom) in row.cells.iter().zip(&ranker.axioms) {
            let sums = axiom
                .counts
                .iter()
                .fold([0, 0], |sum, it| [sum[0] + it[0], sum[1] + it[1]]);
            let expected = cell.as_ref().map(|it| it.micro_average.value);
            let found = (sums[1] > 0).then(|| sums[0] as f64 / sums[1] as f64);
            assert_eq!(found, expected);
            n_compared += usize::from(found.is_some());
        }
    }
    assert!(n_compared > 4, "{n_compared}");
}

#[test]
fn a_study_does_not_differ_from_itself() {
    let study = fixture::study_with_queries(&QUERIES, &RIVER_TEXTS, 10);
    let found = compare(&study, &study).unwrap();
    assert!(found.has_same_instances);
    assert_eq!(found.n_shared_queries, QUERIES.len() as u64);
    assert_eq!(found.n_unshared_queries, [0, 0]);
    for change in found.results.iter().filter_map(|it| it.change) {
        assert_eq!(change.difference.value, 0.0);
        assert_eq!(change.p, 1.0);
    }
    let finding = report::study_comparison_finding(&found);
    assert!(
        finding.ends_with("differs by more than chance."),
        "{finding}"
    );
    assert!(finding.starts_with("None of "), "{finding}");
    assert_eq!(
        report::differing_provenance([&input(&study).0, &input(&study).0]),
        [Vec::<String>::new(), Vec::new()]
    );
}

#[test]
fn a_ranker_with_other_scores_is_named() {
    let queries: Vec<String> = (0..12)
        .map(|at| format!("{} river{at}", ["river bank", "mud river"][at % 2]))
        .collect();
    let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
    let first = fixture::study_with_queries(&queries, &RIVER_TEXTS, 10);
    let second = with_negated_scores(first.clone());
    let found = compare(&first, &second).unwrap();
    let differing: Vec<&ComparedResult> = found
        .results
        .iter()
        .filter(|it| it.p_holm.is_some_and(|it| it < 0.05))
        .collect();
    assert!(!differing.is_empty());
    assert!(differing.iter().all(|it| it.ranker == "BM25"));
    assert_eq!(found.titles, ["Rivers (local)", "Rivers (local)"]);
    let tables = report::study_comparison_tables(&found);
    assert!(
        tables[1]
            .notes
            .iter()
            .any(|it| it.ends_with("(fingerprint): BM25.")),
        "{:?}",
        tables[1].notes
    );
    // The lowest value that two-sided exchanges of twelve queries can give, times all results.
    let n_tests = found
        .results
        .iter()
        .filter(|it| it.change.is_some())
        .count();
    let least = differing.iter().filter_map(|it| it.p_holm);
    assert!(least.fold(1.0, f64::min) >= 1.0 / 2_048.0);
    assert!(n_tests > differing.len());
}

#[test]
fn queries_with_another_text_or_id_are_not_paired() {
    let first = fixture::study_with_queries(&QUERIES, &RIVER_TEXTS, 10);
    let mut other = QUERIES;
    other[4] = "river sea";
    let second = fixture::study_with_queries(&other[..], &RIVER_TEXTS, 10);
    let found = compare(&first, &second).unwrap();
    assert!(!found.has_same_instances);
    assert_eq!(found.n_shared_queries, 4);
    assert_eq!(found.n_unshared_queries, [1, 1]);
    let tables = report::study_comparison_tables(&found);
    assert!(
        tables[1].notes[1].starts_with("4 queries are in both studies, 1 only in the first, 1"),
        "{:?}",
        tables[1].notes
    );
}

#[test]
fn studies_without_a_common_ranker_or_variant_are_refused() {
    let both = fixture::study_with_queries(&QUERIES, &RIVER_TEXTS, 10);
    let mut definition = fixture::fixture_study_definition(10);
    definition.rankers = vec!["ql:mu=10".to_owned()];
    definition.variants = vec![AxiomVariant::Code];
    let collection = fixture::fixture_collection(&QUERIES, &RIVER_TEXTS);
    let other = fixture::make_fixture_study(definition, collection);
    let error = compare(&both, &other).unwrap_err().to_string();
    assert!(error.contains("choose a variant that both have"), "{error}");
    assert!(both.verdict_counts(Some(AxiomVariant::Code)).is_err());

    let mut definition = fixture::fixture_study_definition(10);
    definition.rankers = vec!["ql:mu=10".to_owned()];
    let collection = fixture::fixture_collection(&QUERIES, &RIVER_TEXTS);
    let other = fixture::make_fixture_study(definition, collection);
    let mut only_bm25 = both.clone();
    only_bm25.scores.truncate(1);
    let error = compare(&only_bm25, &other).unwrap_err().to_string();
    assert!(error.contains("no ranker in common"), "{error}");
}
