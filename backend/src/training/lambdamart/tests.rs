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
