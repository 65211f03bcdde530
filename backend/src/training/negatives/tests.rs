use std::path::Path;

use neural::training::{ExampleUnit, TrainingRecipe};
use shared::collection::RunEntry;

use super::*;
use crate::training::examples::tests::collection_of_one_query;

/// One query with the relevant document `good`, the judged document `bad`, and others.
fn collection() -> Collection {
    collection_of_one_query(&[
        ("good", "river mud mud mud"),
        ("bad", "a hill"),
        ("one", "river river river river"),
        ("two", "river mud mud mud mud mud mud mud"),
        ("three", "river mud mud mud mud mud mud mud mud mud"),
    ])
}

/// A run with the document numbers and scores of the query.
fn run(collection: &Collection, scores: &[(usize, f64)]) -> Run {
    let entry = |(rank, (doc, score)): (usize, &(usize, f64))| RunEntry {
        doc: collection.docs[*doc].id().to_owned(),
        rank: rank as i64,
        score: *score,
    };
    let entries = scores.iter().enumerate().map(entry).collect();
    Run(BTreeMap::from([("q".to_owned(), entries)]))
}

fn sampling(changes: &[(&str, &str)]) -> SamplingSettings {
    let mut recipe = TrainingRecipe::built_in("default", "drmm").unwrap();
    for (key, value) in changes {
        recipe.set(key, value).unwrap();
    }
    recipe.sampling
}

/// Returns the negatives of the document `good`, by their ids in the order of rows.
fn negatives(run: &Run, changes: &[(&str, &str)]) -> Result<Vec<String>, String> {
    let collection = collection();
    let file = "some.run".to_owned();
    let pool = CandidatePoolSpec::Run { file, depth: 9 };
    let numbers = collection.doc_numbers_by_id();
    let ranking = run.top_documents("q", 9).into_iter();
    let pools = CandidatePools {
        docs: vec![ranking.map(|it| numbers[it]).collect()],
        index: None,
    };
    let rankings = PoolRankings {
        collection: &collection,
        pools: &pools,
        pool: &pool,
        run: Some(run),
    };
    examples(&rankings, changes)
}

fn examples(rankings: &PoolRankings<'_>, changes: &[(&str, &str)]) -> Result<Vec<String>, String> {
    let collection = rankings.collection;
    let candidates = SplitCandidates::select(collection, "train", rankings.pools).unwrap();
    let examples = candidates.examples(ExampleUnit::Pair);
    let examples = rankings.select_negatives(examples, &candidates, &sampling(changes));
    let TrainingExamples::Pairs(pairs) = examples.map_err(|it| it.to_string())? else {
        panic!("the unit is a pair")
    };
    let id = |row: usize| candidates.ids_of_row(collection, row).1.to_owned();
    assert!(pairs.iter().all(|it| id(it.0) == "good"));
    Ok(pairs.into_iter().map(|it| id(it.1)).collect())
}

const RANKING: [(usize, f64); 4] = [(2, 9.0), (0, 8.0), (3, 7.0), (4, 5.0)];

#[test]
fn random_negatives_are_among_the_first_of_the_ranking() {
    let run = run(&collection(), &RANKING);
    let negatives = |changes: &[(&str, &str)]| negatives(&run, changes).unwrap();
    // Judged: all candidates of lower grade, also `bad`, which the run does not have.
    assert_eq!(negatives(&[]), ["bad", "one", "two", "three"]);
    let first = |depth| [("negatives", "random"), ("negative_depth", depth)];
    assert_eq!(negatives(&first("9")), ["one", "two", "three"]);
    assert_eq!(negatives(&first("3")), ["one", "two"]);
    assert_eq!(negatives(&first("1")), ["one"]);
}

#[test]
fn hard_negatives_are_the_first_below_the_positive() {
    let with_scores = run(&collection(), &RANKING);
    let hard = |margin, depth| {
        let changes = [
            ("negatives", "hard"),
            ("hard_negative_margin", margin),
            ("negative_depth", depth),
        ];
        negatives(&with_scores, &changes)
    };
    // `good` has the score 8: `one` with 9 is never a hard negative.
    assert_eq!(hard("0", "9").unwrap(), ["two", "three"]);
    assert_eq!(hard("0", "1").unwrap(), ["two"]);
    assert_eq!(hard("1.5", "1").unwrap(), ["three"]);
    let error = hard("3.5", "1").unwrap_err();
    assert!(
        error.contains("no relevant document has a negative"),
        "{error}"
    );

    let without = run(&collection(), &RANKING[2..]);
    let changes = [
        ("negatives", "hard"),
        ("hard_negative_margin", "0"),
        ("negative_depth", "1"),
    ];
    let error = negatives(&without, &changes).unwrap_err();
    let expected = "pool run:some.run:9: has no score of document `good` for query `q`";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn hard_negatives_of_bm25_are_compared_with_a_positive_outside_of_the_pool() {
    let collection = collection();
    // By term frequency and length: one, good, two, three. The pool ends after `one`.
    let pool: CandidatePoolSpec = "rank:bm25:1".parse().unwrap();
    let pools = CandidatePools::compute(&pool, &collection, Path::new(".")).unwrap();
    let mut rankings = PoolRankings {
        collection: &collection,
        pools: &pools,
        pool: &pool,
        run: None,
    };
    let changes = |margin| {
        [
            ("negatives", "hard"),
            ("hard_negative_margin", margin),
            ("negative_depth", "1"),
        ]
    };
    // With a negative margin, negatives above the positive are kept.
    assert_eq!(examples(&rankings, &changes("-9")).unwrap(), ["one"]);
    assert!(examples(&rankings, &changes("0")).is_err());
    let pool: CandidatePoolSpec = "rank:bm25:4".parse().unwrap();
    let pools = CandidatePools::compute(&pool, &collection, Path::new(".")).unwrap();
    (rankings.pool, rankings.pools) = (&pool, &pools);
    assert_eq!(examples(&rankings, &changes("0")).unwrap(), ["two"]);
}

#[test]
fn a_margin_is_to_every_positive_of_a_query() {
    let mut collection = collection();
    let grades = collection.qrels.0.get_mut("q").unwrap();
    grades.insert("two".to_owned(), 1);
    let run = run(&collection, &RANKING);
    let pool = "run:some.run:9".parse().unwrap();
    let pools = CandidatePools {
        docs: vec![vec![2, 0, 3, 4]],
        index: None,
    };
    let rankings = PoolRankings {
        collection: &collection,
        pools: &pools,
        pool: &pool,
        run: Some(&run),
    };
    let candidates = SplitCandidates::select(&collection, "train", &pools).unwrap();
    let sampling = sampling(&[
        ("negatives", "hard"),
        ("hard_negative_margin", "1"),
        ("negative_depth", "9"),
    ]);
    let examples = candidates.examples(ExampleUnit::Query);
    let examples = rankings.select_negatives(examples, &candidates, &sampling);
    let examples = examples.unwrap();
    // The positives have the scores 8 and 7; of 9 and 5 only the latter is at most 6.
    assert_eq!(examples.rows(), [0, 3, 4]);
}

#[test]
fn a_teacher_has_a_score_for_every_row_of_the_examples() {
    let collection = collection();
    let pool = CandidatePoolSpec::Judged;
    let pools = CandidatePools::compute(&pool, &collection, Path::new(".")).unwrap();
    let candidates = SplitCandidates::select(&collection, "train", &pools).unwrap();
    let examples = TrainingExamples::Pairs(vec![(0, 1)]);
    let select = |scores: &[(&str, f64)]| {
        let scores = scores.iter().map(|it| (it.0.to_owned(), it.1)).collect();
        let scores = BTreeMap::from([("q".to_owned(), scores)]);
        let teacher = ("t.run".to_owned(), scores);
        let scores = select_teacher_scores(teacher, &examples, &candidates, &collection);
        scores.map_err(|it| it.to_string())
    };
    let complete = [("good", 3.5), ("bad", -1.25), ("one", 9.0)];
    assert_eq!(select(&complete).unwrap(), [3.5, -1.25]);
    let error = select(&complete[..1]).unwrap_err();
    let expected = "teacher t.run: has no score of document `bad` for query `q`, which is in a";
    assert!(error.contains(expected), "{error}");
}
