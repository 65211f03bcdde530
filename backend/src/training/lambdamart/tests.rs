use std::collections::BTreeMap;

use shared::collection::{Qrels, Run, RunEntry};
use shared::effectiveness::evaluate_run;

use super::*;

/// The number of queries and of documents of each query in the fixture.
const N_QUERIES: usize = 80;
const N_DOCS: usize = 10;

/// A file of the fixture: the features of documents, with their grades.
struct GradedFeatures {
    rows: MatrixRows,
    features: Vec<RankingFeatureValues>,
}

impl GradedFeatures {
    fn parse(file: &str) -> GradedFeatures {
        let mut grades = Vec::new();
        let mut features = Vec::new();
        for line in file.lines() {
            let mut cells = line.split('\t').skip(1);
            grades.push(cells.next().unwrap().parse().unwrap());
            let mut values = [f32::NAN; N_RANKING_FEATURES];
            for (value, cell) in values.iter_mut().zip(cells).filter(|it| it.1 != "-") {
                *value = cell.parse().unwrap();
            }
            features.push(values);
        }
        assert_eq!(features.len(), N_QUERIES * N_DOCS);
        let group_sizes = vec![N_DOCS; N_QUERIES];
        let rows = MatrixRows {
            grades,
            group_sizes,
        };
        GradedFeatures { rows, features }
    }

    fn training() -> GradedFeatures {
        GradedFeatures::parse(include_str!(
            "../../../../tests/fixtures/lambdamart/training.tsv"
        ))
    }

    fn ndcg_at_10(&self, trees: &LambdaMartTrees) -> f64 {
        let features: Vec<&RankingFeatureValues> = self.features.iter().collect();
        let (mut qrels, mut run) = (Qrels::default(), Run::default());
        for (at, score) in trees.score(&features).unwrap().into_iter().enumerate() {
            let (query, doc) = ((at / N_DOCS).to_string(), at.to_string());
            let grades = qrels.0.entry(query.clone()).or_insert_with(BTreeMap::new);
            grades.insert(doc.clone(), self.rows.grades[at] as i32);
            let entries = run.0.entry(query).or_default();
            entries.push(RunEntry {
                doc,
                rank: 0,
                score,
            });
        }
        let measure = "nDCG@10".parse().unwrap();
        evaluate_run(&qrels, &run, &[measure]).unwrap().mean[0]
    }
}

fn recipe() -> LambdaMartRecipe {
    LambdaMartRecipe::built_in("lightgbm").unwrap()
}

/// Compares with LightGBM on the same features; made by `lambdamart.py` in the folder of the
/// fixture.
#[test]
fn ndcg_on_held_out_queries_is_that_of_lightgbm() {
    let training = GradedFeatures::training();
    let held_out = GradedFeatures::parse(include_str!(
        "../../../../tests/fixtures/lambdamart/held-out.tsv"
    ));
    let result = include_str!("../../../../tests/fixtures/lambdamart/lightgbm.json");
    let result: serde_json::Value = serde_json::from_str(result).unwrap();
    let number = |key: &str| result[key].as_f64().unwrap();
    let matrix = training.rows.matrix(&training.features).unwrap();
    let recipe = recipe();
    let parameters = recipe.library_parameters().unwrap();
    let trees = grow_trees(&parameters, &matrix, None, recipe.boosting.n_trees).unwrap();
    let found = held_out.ndcg_at_10(&trees);
    let difference = (found - number("ndcg_at_10")).abs();
    assert!(difference < number("standard_error"), "{found} {result}");
    assert!(
        found > number("ndcg_at_10_of_best_feature") + 0.05,
        "{found} {result}"
    );
    // The bound on the number of documents, of which each tree has 800.
    let model = trees.as_boosted_model();
    assert!(model.trees().iter().all(|it| it.num_leaves() <= 31));
}

#[test]
fn the_same_trees_grow_with_any_number_of_threads_and_in_any_number_of_parts() {
    let training = GradedFeatures::training();
    let grow = |n_threads: usize, parts: &[usize]| {
        let matrix = training.rows.matrix(&training.features).unwrap();
        let mut parameters = recipe().library_parameters().unwrap();
        parameters.nthread = n_threads.try_into().ok();
        let mut trees = None;
        for part in parts {
            trees = Some(grow_trees(&parameters, &matrix, trees.as_ref(), *part).unwrap());
        }
        trees.unwrap().to_json().unwrap()
    };
    let whole = grow(1, &[12]);
    for (n_threads, parts) in [(4, vec![12]), (1, vec![5, 5, 2]), (3, vec![1, 11])] {
        assert!(grow(n_threads, &parts) == whole, "{n_threads} {parts:?}");
    }
}

#[test]
fn leaves_have_the_minimum_number_of_documents() {
    let training = GradedFeatures::training();
    let matrix = training.rows.matrix(&training.features).unwrap();
    let grown = |min_data_in_leaf: &str| {
        let mut recipe = recipe();
        recipe.set("min_data_in_leaf", min_data_in_leaf).unwrap();
        let parameters = recipe.library_parameters().unwrap();
        let trees = grow_trees(&parameters, &matrix, None, 1).unwrap();
        let tree = &trees.as_boosted_model().trees()[0];
        let mut n_docs = BTreeMap::new();
        for values in &training.features {
            *n_docs
                .entry(tree.leaf_id_dense(values, f32::NAN))
                .or_insert(0) += 1;
        }
        assert_eq!(n_docs.len(), tree.num_leaves());
        (n_docs.into_values().min().unwrap(), tree.num_leaves())
    };
    let (smallest, n_leaves) = grown("100");
    assert!(
        smallest >= 100 && (2..=8).contains(&n_leaves),
        "{smallest} {n_leaves}"
    );
    assert!(grown("2").0 < 20);
    assert_eq!(grown("500").1, 1);
}

/// LightGBM 4.7.0: `lightgbm.train` with `objective=lambdarank`, `deterministic=True`,
/// `num_leaves=4`, `min_data_in_leaf=1` and the values below, then `predict` of the first documents
/// after 1 and after 3 trees. With a larger `min_data_in_leaf` trees differ, because LightGBM
/// estimates the number of documents of a leaf from its second derivatives.
#[test]
fn scores_are_those_of_lightgbm() {
    let (mut features, mut grades) = (Vec::new(), Vec::new());
    for at in 0..30 {
        let (first, second) = (at * 7 % 5, at * at % 7 % 4);
        let mut values = [f32::NAN; N_RANKING_FEATURES];
        (values[0], values[1]) = (first as f32, second as f32);
        features.push(values);
        grades.push(((first + second + at * at % 4) / 3) as f32);
    }
    let group_sizes = vec![5; 6];
    let rows = MatrixRows {
        grades,
        group_sizes,
    };
    let matrix = rows.matrix(&features).unwrap();
    let first_docs: Vec<&RankingFeatureValues> = features[..4].iter().collect();
    // With the larger l2, the bound on the sum of second derivatives forbids leaves.
    for (l2, min_hessian, n_trees, expected) in [
        (
            "0.0",
            "0.001",
            1,
            [-0.177_282_853, 0.147_530_499, 0.187_092_535, 0.147_530_499],
        ),
        (
            "0.0",
            "0.001",
            3,
            [-0.514_879_412, 0.441_943_104, 0.520_383_525, -0.156_511_63],
        ),
        (
            "2.0",
            "0.8",
            1,
            [-0.062_167_746, 0.054_279_267, 0.054_279_267, 0.054_279_267],
        ),
        (
            "2.0",
            "0.8",
            3,
            [-0.248_005_389, 0.104_232_327, 0.203_047_253, -0.060_057_621],
        ),
    ] {
        let mut recipe = recipe();
        for (key, value) in [
            ("max_leaves", "4"),
            ("min_data_in_leaf", "1"),
            ("l2", l2),
            ("min_hessian_in_leaf", min_hessian),
        ] {
            recipe.set(key, value).unwrap();
        }
        let parameters = recipe.library_parameters().unwrap();
        let trees = grow_trees(&parameters, &matrix, None, n_trees).unwrap();
        let scores = trees.score(&first_docs).unwrap();
        for (score, expected) in scores.iter().zip(expected) {
            assert!((score - expected).abs() < 1e-5, "{l2} {n_trees} {scores:?}");
        }
    }
}
