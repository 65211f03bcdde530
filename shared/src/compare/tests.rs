mod queries;

use super::hypotheses::{
    HypothesisOutcome, PadigelaHypothesis, evaluate_hypotheses, relative_mrr_drop_across_buckets,
};
use super::query_groups::{MAX_QUERY_LENGTH, query_token_fraction_bucket_index};
use super::query_list::{
    ComparedQueryGroup, ComparedQueryListOptions, ComparedQuerySort, ReciprocalRankChangeKind,
    TopDocumentTermFraction, list_compared_queries_page,
};
use super::query_metrics::PairedQueryMetrics;
use super::question_class::QuestionClass;
use super::*;
use crate::collection::{Document, DocumentFields, Query};
use crate::stats::EstimateWithInterval;
use crate::study::fixture as studies;
use crate::study::top_documents::MAX_TEXT_CHARACTERS;

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12, "{a} for {b}");
}

fn means(paired: &PairedMetricMeans) -> [f64; 2] {
    paired.means.map(|it| it.unwrap().value)
}

fn value(it: Option<EstimateWithInterval>) -> f64 {
    it.unwrap().value
}

/// q1: in the first ranking d1 is `river bank river`, all of it query tokens, and d2 `bank money`,
/// half of it: (1 + 1/2) / 2; in the second d2 has 1/2 and d3 has no token left. q2: d5 1/4, d4
/// (`sea ice melts sea water warm`) 3/6; the second also has d6, 1/10. q3: d8 is `oak`, d9 has no
/// query token.
#[test]
fn fractions_are_those_counted_by_hand() {
    let found = fixture::compare_fixture_runs();
    let [first, second] = means(&found.fraction_query_tokens);
    near(first, (0.75 + 0.375 + 1.0) / 3.0);
    near(second, (0.5 + 0.85 / 3.0 + 0.0) / 3.0);
    near(
        value(found.fraction_query_tokens.difference),
        first - second,
    );
    assert_eq!(
        (
            found.fraction_query_tokens.n_queries,
            found.fraction_query_tokens.n_higher
        ),
        (3, [3, 0])
    );
    assert_eq!(found.fraction_query_tokens.win_rate(0), Some(1.0));
    // d1 has no novel term, d2 has `money`; d4 `melts water warm` of five, d5 three of four, d6
    // nine of ten; d8 none, d9 only novel terms.
    let [first, second] = means(&found.fraction_novel_terms);
    near(first, (0.25 + (0.75 + 0.6) / 2.0 + 0.0) / 3.0);
    near(second, (0.5 + (0.6 + 0.75 + 0.9) / 3.0 + 1.0) / 3.0);
    assert_eq!(found.fraction_novel_terms.n_higher, [0, 3]);
    // Of the 2^3 sign permutations two are equally extreme.
    assert_eq!(found.fraction_query_tokens.p_randomization, Some(0.25));
}

#[test]
fn queries_are_counted_and_the_others_told() {
    let queries = fixture::compare_fixture_runs().query_counts;
    let told = (
        queries.n_queries,
        queries.n_unranked,
        queries.n_without_relevant,
    );
    assert_eq!(told, (5, 1, 1));
    assert_eq!((queries.n_included, queries.n_with_relevant), (3, 3));
    let collection = fixture::comparison_fixture_collection();
    let source = fixture::fixture_comparison_input(&collection);
    let counted = |counted| {
        let asking = RankerComparisonOptions {
            subset: counted,
            ..RankerComparisonOptions::default()
        };
        compare_rankers(&source, &asking).unwrap()
    };
    // The relevant document of q3 is in neither ranking.
    let found = counted(QueryRelevanceRequirement::WithRetrievedRelevant);
    assert_eq!(
        (
            found.query_counts.n_included,
            found.query_counts.n_with_relevant
        ),
        (2, 2)
    );
    // q5 has no reciprocal rank, but its rankings have their document in common.
    let all = counted(QueryRelevanceRequirement::All);
    assert_eq!(
        (
            all.query_counts.n_included,
            all.query_counts.n_with_relevant
        ),
        (4, 3)
    );
    assert_eq!(
        (all.reciprocal_rank.n_queries, all.top_overlap.n_queries),
        (3, 4)
    );
}

/// Reciprocal ranks: q1 1 and 0, q2 1/2 and 1, q3 0 and 0.
#[test]
fn changes_and_groups_are_those_counted_by_hand() {
    let found = fixture::compare_fixture_runs();
    let change = &found.rr_changes;
    assert_eq!(change.differences, [0.5, 0.0, -1.0]);
    assert_eq!((change.n_better, change.n_equal, change.n_worse), (1, 1, 1));
    assert_eq!((change.n_zero_to_one, change.n_one_to_zero), (0, 1));
    // The first has .75, .375 and 1; the second .5, .283 and 0.
    let counts = |side: usize| {
        found
            .fqt_buckets
            .iter()
            .map(move |it| it.rankers[side].n_queries)
    };
    assert_eq!(counts(0).collect::<Vec<_>>(), [0, 0, 0, 0, 3]);
    assert_eq!(counts(1).collect::<Vec<_>>(), [1, 0, 0, 0, 2]);
    near(value(found.fqt_buckets[4].rankers[0].mrr), 0.5);
    near(value(found.fqt_buckets[4].rankers[1].mrr), 0.5);
    near(value(found.fqt_buckets[0].rankers[1].mrr), 0.0);
    assert_eq!(
        relative_mrr_drop_across_buckets(&found.fqt_buckets, 0),
        None
    );
    assert_eq!(
        relative_mrr_drop_across_buckets(&found.fqt_buckets, 1),
        None
    );
    let lengths: Vec<u32> = found.query_lengths.iter().map(|it| it.n_tokens).collect();
    assert_eq!(lengths, [2, 4, 5]);
    near(value(found.query_lengths[1].mrr.mrr_difference), 0.5);
    let bigrams: Vec<&str> = found.bigrams.iter().map(|it| it.bigram.as_str()).collect();
    assert_eq!(bigrams, ["how tall", "river bank", "what is"]);
    let n_of_type = |answer| {
        let mut groups = found.question_classes.iter();
        groups
            .find(|it| it.question_class == answer)
            .unwrap()
            .mrr
            .n_queries
    };
    assert_eq!(n_of_type(Some(QuestionClass::Description)), 1);
    assert_eq!(n_of_type(Some(QuestionClass::Numeric)), 1);
    assert_eq!(n_of_type(None), 1);
}

/// q1: no common document, then d2; q2: none, then both; q3: none. Means 0, 1, 1, …; the line
/// through (1, 0), (2, 1), …, (10, 1) rises by 4.5 / 82.5 from .6.
#[test]
fn what_is_in_common_is_counted_by_hand() {
    let overlap = fixture::compare_fixture_runs().top_overlap;
    let means: Vec<f64> = overlap.means.iter().map(|it| it.value).collect();
    assert_eq!(means[..3], [0.0, 1.0, 1.0]);
    assert_eq!(overlap.n_disjoint, [3, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
    let line = overlap.regression.unwrap();
    near(line.slope, 4.5 / 82.5);
    near(line.intercept, 0.6);
}

#[test]
fn three_queries_say_nothing_of_hypotheses() {
    let found = fixture::compare_fixture_runs();
    let standings = found.hypotheses.iter().map(|it| it.outcome);
    assert!(
        standings
            .into_iter()
            .all(|it| it == HypothesisOutcome::TooFewQueries)
    );
    let names: Vec<&str> = found
        .hypotheses
        .iter()
        .map(|it| it.hypothesis.name_in_paper())
        .collect();
    assert_eq!(names, ["H1", "H2", "H3", "H4"]);
}

/// Forty queries: the first ranker always has more query tokens, and the more of them, the worse
/// its ranking; the second has more novel terms, and gains the same at every query length.
#[test]
fn hypotheses_follow_the_side_of_their_interval() {
    let rows: Vec<PairedQueryMetrics> = (0..40_u32)
        .map(|it| {
            let x = f64::from(it) / 100.0;
            PairedQueryMetrics {
                n_tokens: 2 + it % 5,
                rr: Some([0.5 - x, 0.5 - x + 0.1 * f64::from(it % 2)]),
                fqt: [Some(0.2 + x), Some(0.1 + x * 0.5)],
                fnt: [Some(0.8 - x), Some(0.9 - x)],
                ..PairedQueryMetrics::default()
            }
        })
        .collect();
    let fqt = paired_means::compute_paired_means_and_tests(
        &rows,
        PairedQueryMetrics::query_token_fraction_pair,
    );
    let fnt = paired_means::compute_paired_means_and_tests(
        &rows,
        PairedQueryMetrics::novel_term_fraction_pair,
    );
    let found = evaluate_hypotheses(&rows, [&fqt, &fnt]);
    let standing = |wanted: PadigelaHypothesis| {
        let mut found = found.iter();
        found.find(|it| it.hypothesis == wanted).unwrap().outcome
    };
    for (hypothesis, outcome) in [
        (
            PadigelaHypothesis::QueryTermBias,
            HypothesisOutcome::Supported,
        ),
        (
            PadigelaHypothesis::QueryTermBiasHurts,
            HypothesisOutcome::Supported,
        ),
        (
            PadigelaHypothesis::MoreNovelTerms,
            HypothesisOutcome::Supported,
        ),
        (
            PadigelaHypothesis::LongerQueries,
            HypothesisOutcome::NotSupported,
        ),
    ] {
        assert_eq!(standing(hypothesis), outcome, "{hypothesis:?}");
    }
}

#[test]
fn buckets_begin_at_their_lower_edge() {
    let found = [0.0, 0.099, 0.1, 0.149, 0.15, 0.2, 0.249, 0.25, 1.0]
        .map(query_token_fraction_bucket_index);
    assert_eq!(found, [0, 0, 1, 1, 2, 3, 3, 4, 4]);
}

/// The number of queries behind every value equals the one it reports.
#[test]
fn candidates_without_a_score_are_told_and_rankers_of_one_name_are_told_apart() {
    let collection = fixture::comparison_fixture_collection();
    let mut source = fixture::fixture_comparison_input(&collection);
    source.n_unscored = [0, 7];
    let found = compare_rankers(&source, &RankerComparisonOptions::default()).unwrap();
    assert_eq!(found.rankers, source.rankers);
    assert_eq!(found.n_unscored, [0, 7]);

    source.rankers[1].label = source.rankers[0].label.clone();
    source.rankers[1].detail = "from a score file".to_owned();
    let found = compare_rankers(&source, &RankerComparisonOptions::default()).unwrap();
    let label = |it: usize| found.rankers[it].label.as_str();
    assert_ne!(label(0), label(1));
    assert!(label(1).ends_with(" (from a score file)"));
}

#[test]
fn grades_splits_and_stop_lists_are_asked_for() {
    let collection = fixture::comparison_fixture_collection();
    let source = fixture::fixture_comparison_input(&collection);
    let asked = |change: &dyn Fn(&mut RankerComparisonOptions)| {
        let mut asking = RankerComparisonOptions::default();
        change(&mut asking);
        compare_rankers(&source, &asking)
    };
    let high = asked(&|it| it.min_relevant_grade = Some(2)).unwrap();
    assert_eq!(
        (high.min_relevant_grade, high.query_counts.n_included),
        (2, 0)
    );
    assert!(high.examples.is_empty() && high.rr_changes.differences.is_empty());
    assert_eq!(high.top_overlap.regression, None);
    let train = asked(&|it| it.split = Some("train".to_owned())).unwrap();
    assert_eq!(
        (train.query_counts.n_queries, train.query_counts.n_included),
        (2, 2)
    );
    let error = asked(&|it| it.split = Some("dev".to_owned())).unwrap_err();
    assert!(error.to_string().contains("dev"), "{error}");
    // With `the` and `of` in place, d1 has five tokens and d3 three.
    let whole = asked(&|it| it.stopwords = Stopwords::None).unwrap();
    assert!(
        means(&whole.fraction_query_tokens)[0]
            < means(&fixture::compare_fixture_runs().fraction_query_tokens)[0]
    );
    // The order of a stop list does not matter.
    let own = Stopwords::List(["the", "river"].map(str::to_owned).to_vec());
    assert!(asked(&|it| it.stopwords = own.clone()).is_ok());
}

#[test]
fn a_query_of_stop_words_has_no_fraction() {
    let mut collection = fixture::comparison_fixture_collection();
    collection.queries[0].text = "what is it".to_owned();
    let found = compare_rankers(
        &fixture::fixture_comparison_input(&collection),
        &RankerComparisonOptions::default(),
    )
    .unwrap();
    assert_eq!(
        (
            found.fraction_query_tokens.n_queries,
            found.reciprocal_rank.n_queries
        ),
        (2, 3)
    );
}

#[test]
fn equal_scores_are_ordered_as_for_the_measures() {
    let collection = fixture::comparison_fixture_collection();
    let mut runs = [
        fixture::run_from_ranked_lists(&[("q1", &["d1", "d2"])]),
        fixture::run_from_ranked_lists(&[("q1", &["d1"])]),
    ];
    for row in runs[0].0.get_mut("q1").unwrap() {
        row.score = 1.0;
    }
    // By document id, last first.
    let source = fixture::comparison_input_from_runs(&collection, runs);
    let found = compare_rankers(&source, &RankerComparisonOptions::default()).unwrap();
    assert_eq!(means(&found.reciprocal_rank), [0.5, 1.0]);
}

#[test]
fn rankers_of_a_study_are_compared_by_their_order_of_the_pools() {
    let texts = ["river river", "river bank bank", "the sea", "bank bank sea"];
    let study = studies::study_with_queries(&["river", "sea bank"], &texts, 10);
    let found = study
        .compare_rankers(&RankerComparisonOptions::default())
        .unwrap();
    assert_eq!(found.ranker_options.len(), 2);
    assert_eq!(found.query_counts.n_included, 1);
    assert_eq!(found.top_overlap.n_queries, 1);
    let all = RankerComparisonOptions {
        subset: QueryRelevanceRequirement::All,
        ..RankerComparisonOptions::default()
    };
    assert_eq!(
        study.compare_rankers(&all).unwrap().query_counts.n_included,
        2
    );
    let no_rows = ComparedQueryListOptions {
        limit: 0,
        ..ComparedQueryListOptions::default()
    };
    let source = study.ranker_comparison_input(&all).unwrap();
    let listed = list_compared_queries_page(&source, &all, &no_rows).unwrap();
    assert_eq!((listed.n_queries, listed.rows.len()), (2, 0));
    let every_row = ComparedQueryListOptions::default();
    let listed = list_compared_queries_page(&source, &all, &every_row).unwrap();
    assert_eq!((listed.n_queries, listed.rows.len()), (2, 2));
    let on_query = compared_query::compare_rankers_on_query(&source, &all, "q1").unwrap();
    assert_eq!(on_query.metrics.query, "sea bank");
    let slug = |name: &str| RankerRef::Ranker(name.to_owned());
    // A row is a name too, and the reply has the slugs.
    let swapped = RankerComparisonOptions {
        rankers: ["1", "bm25"].map(slug),
        ..all.clone()
    };
    let swapped = study.compare_rankers(&swapped).unwrap();
    assert_eq!(swapped.options.rankers, ["ql", "bm25"].map(slug));
    assert_eq!(swapped.rankers[0].label, "QL");
    let refused = |pair: [RankerRef; 2]| {
        let asking = RankerComparisonOptions {
            rankers: pair,
            ..RankerComparisonOptions::default()
        };
        study.compare_rankers(&asking).unwrap_err().to_string()
    };
    assert_eq!(
        refused(["bm25", "9"].map(slug)),
        "there is no ranker named `9`; there are bm25, ql"
    );
    assert!(refused([slug("0"), RankerRef::Run("x".to_owned())]).contains("with another run"));
    // Rankings can be compared without texts.
    let bare = study.without_texts().compare_rankers(&all).unwrap();
    assert!(bare.has_withheld_texts);
    assert_eq!(
        (
            bare.fraction_query_tokens.n_queries,
            bare.top_overlap.n_queries
        ),
        (0, 2)
    );
}

#[test]
fn what_stands_in_an_address_is_read_again() {
    let asking = RankerComparisonOptions {
        rankers: [
            RankerRef::Ranker("ql".to_owned()),
            RankerRef::Run("a b.run".to_owned()),
        ],
        subset: QueryRelevanceRequirement::WithRetrievedRelevant,
        min_relevant_grade: Some(2),
        stopwords: Stopwords::None,
        split: Some("test".to_owned()),
    };
    let text = serde_json::to_string(&asking).unwrap();
    assert_eq!(
        serde_json::from_str::<RankerComparisonOptions>(&text).unwrap(),
        asking
    );
    assert_eq!(
        serde_json::from_str::<RankerComparisonOptions>("{}").unwrap(),
        RankerComparisonOptions::default()
    );
    let found = fixture::compare_fixture_runs();
    let text = serde_json::to_string(&found).unwrap();
    assert_eq!(
        serde_json::from_str::<RankerComparison>(&text).unwrap(),
        found
    );
}

#[test]
fn hostile_queries_are_only_long() {
    let mut collection = fixture::comparison_fixture_collection();
    collection.queries.push(Query {
        id: "q6".to_owned(),
        text: "\u{202e}<script> ".repeat(10_000),
        group: None,
        split: None,
    });
    collection.docs.push(Document::from(DocumentFields {
        id: "d11".into(),
        ..DocumentFields::default()
    }));
    let runs = [
        fixture::run_from_ranked_lists(&[("q6", &["d11", "nowhere"])]),
        fixture::run_from_ranked_lists(&[("q6", &["nowhere"])]),
    ];
    let asking = RankerComparisonOptions {
        subset: QueryRelevanceRequirement::All,
        ..RankerComparisonOptions::default()
    };
    let source = fixture::comparison_input_from_runs(&collection, runs);
    let found = compare_rankers(&source, &asking).unwrap();
    assert_eq!(
        (
            found.query_counts.n_included,
            found.fraction_query_tokens.n_queries
        ),
        (1, 0)
    );
    let listing = ComparedQueryListOptions {
        selection: ComparedQueryGroup::QueryLength {
            n_tokens: MAX_QUERY_LENGTH + 1,
        },
        limit: 1,
        ..ComparedQueryListOptions::default()
    };
    // The document is not judged.
    assert_eq!(
        list_compared_queries_page(&source, &asking, &listing)
            .unwrap()
            .n_queries,
        0
    );
}
