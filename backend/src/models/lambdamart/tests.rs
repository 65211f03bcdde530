use hessboost::config::TrainingParams;
use hessboost::data::DMatrix;
use hessboost::objective::{LambdaRank, Objective};
use serde_json::{Value, json};
use shared::index::Index;
use shared::rank::{Bm25, QueryLikelihood};
use shared::score::ranking_features::RankingFeatureStatistics;
use shared::text::Analyzer;

use super::*;

const RANKERS: [LexicalRanker; 2] = [
    LexicalRanker::Bm25(Bm25::DEFAULT),
    LexicalRanker::QueryLikelihood(QueryLikelihood::DEFAULT),
];

fn statistics() -> RankingFeatureStatistics {
    let docs = ["the river bank", "river river flood", "the money bank"];
    let index = Index::build(&Analyzer::default(), docs).unwrap();
    RankingFeatureStatistics::from_index(&index, None, &[])
}

/// Grows three trees that prefer a high value of the first feature.
fn small_trees() -> LambdaMartTrees {
    let rows: Vec<RankingFeatureValues> = (0..40_u16)
        .map(|it| {
            let mut values = [f32::NAN; N_RANKING_FEATURES];
            values[0] = f32::from(it % 8);
            values[5] = f32::from(it % 5);
            values
        })
        .collect();
    let grades: Vec<f32> = rows.iter().map(|it| f32::from(it[0] > 1.0)).collect();
    let matrix = DMatrix::from_dense(rows.as_flattened(), rows.len(), N_RANKING_FEATURES).unwrap();
    let matrix = matrix.with_labels(&grades).unwrap();
    let matrix = matrix.with_group_sizes(&[8; 5]).unwrap();
    let parameters = TrainingParams::builder()
        .objective(Objective::RankNdcg(LambdaRank::default()))
        .min_child_weight(0.0)
        .build()
        .unwrap();
    let model = hessboost::training::train(&parameters, &matrix, 3).unwrap();
    LambdaMartTrees::from_training(&model).unwrap()
}

/// Returns the files of a small ranker.
pub(crate) fn small_files() -> ModelFileContents {
    ModelFileContents {
        config: LambdaMartConfig::new(RANKERS).to_json(),
        tokenizer: serde_json::to_vec(&statistics()).unwrap(),
        weights: small_trees().to_json().unwrap(),
        ..ModelFileContents::default()
    }
}

/// Returns the score of a document, or the error of the files.
fn load_and_score(
    files: &ModelFileContents,
    query: &str,
    text: &str,
) -> Result<f64, neural::Error> {
    let ranker = LambdaMartRanker::load(files)?;
    let query = ranker.tokenize(QueryOrDocumentRole::Query, query);
    let text = ranker.tokenize(QueryOrDocumentRole::Document, text);
    let pair = ranker.join_tokenized_pair(&query, &text);
    Ok(ranker.score_pairs(&[&pair])?[0])
}

/// Returns whether the files can be loaded and score a document; the score is finite.
pub(crate) fn loads_and_scores(files: &ModelFileContents) -> bool {
    let score = load_and_score(files, "river's bank", "a river, the bank of a rîver");
    score.is_ok_and(|it| {
        assert!(it.is_finite());
        true
    })
}

#[test]
fn a_ranker_scores_texts_as_its_trees_score_their_features() {
    let files = small_files();
    let extractor = RankingFeatureExtractor::new(statistics(), RANKERS).unwrap();
    let trees = small_trees();
    let mut scores = Vec::new();
    for text in [
        "",
        "money",
        "the bank",
        "river flood river",
        "a desert river in flood",
    ] {
        let [query, body] = ["river flood desert", text].map(|it| extractor.word_numbers(it));
        let features = extractor.compute(&query, &body);
        let found = load_and_score(&files, "river flood desert", text).unwrap();
        assert_eq!(found, trees.score(&[&features]).unwrap()[0]);
        scores.push(found);
    }
    scores.dedup();
    assert!(scores.len() > 1, "{scores:?}");
    let importances = trees.feature_importances();
    let total: f64 = importances.iter().map(|it| it.1).sum();
    assert!(
        (total - 1.0).abs() < 1e-9 && importances[0].1 > 0.9,
        "{importances:?}"
    );
}

#[test]
fn words_have_their_spans_in_characters() {
    let ranker = LambdaMartRanker::load(&small_files()).unwrap();
    let tokens = ranker.tokenize(QueryOrDocumentRole::Document, "Émile, the bänk");
    assert_eq!(tokens.spans, [(1, 5), (7, 10), (11, 12), (13, 15)]);
    assert_eq!(tokens.ids.len(), 4);
}

/// Returns the error of trees in which a change was made.
fn refused_trees(change: impl FnOnce(&mut Value)) -> String {
    let mut trees: Value = serde_json::from_slice(&small_trees().to_json().unwrap()).unwrap();
    change(&mut trees);
    let error = LambdaMartTrees::from_json(&serde_json::to_vec(&trees).unwrap()).err();
    error.expect("the trees should be refused").to_string()
}

#[test]
fn trees_that_are_not_those_of_a_training_are_refused() {
    const MODEL: &str = "/learner/gradient_booster/model";
    let tree = |it: &mut Value, key: &str, value: Value| {
        let place = it.pointer_mut(&format!("{MODEL}/trees/0/{key}"));
        *place.unwrap() = value;
    };
    let start = "model.json of a LambdaMART ranker cannot be used: ";
    for error in [
        refused_trees(|it| tree(it, "left_children/0", json!(0))),
        refused_trees(|it| tree(it, "left_children/0", json!(1_000_000))),
        refused_trees(|it| tree(it, "right_children/0", json!(-1))),
        refused_trees(|it| tree(it, "split_indices/0", json!(14))),
        refused_trees(|it| tree(it, "split_conditions", json!([]))),
        refused_trees(|it| {
            let values = it.pointer_mut(&format!("{MODEL}/trees/0/split_conditions"));
            values.unwrap().as_array_mut().unwrap().fill(json!(1e39));
        }),
        refused_trees(|it| {
            *it.pointer_mut("/learner/learner_model_param/num_feature")
                .unwrap() = json!("99");
        }),
        refused_trees(|it| *it = json!({})),
    ] {
        assert!(error.starts_with(start), "{error}");
        assert!(error.ends_with("; train the ranker again"), "{error}");
    }
    let error = LambdaMartTrees::from_json(&vec![b' '; MAX_TREE_BYTES + 1]).err();
    assert!(
        error
            .unwrap()
            .to_string()
            .contains("more than 67108864 bytes")
    );
    let whole = small_trees().to_json().unwrap();
    assert!(LambdaMartTrees::from_json(&whole[..whole.len() - 1]).is_err());
}

#[test]
fn a_tree_that_is_too_deep_is_refused() {
    // A split at each even node, with a leaf on its left.
    let deep = |depth: i32| {
        let n_nodes = 2 * depth + 1;
        let numbers = |of: &dyn Fn(i32) -> i32| (0..n_nodes).map(of).collect::<Vec<i32>>();
        let is_split = |it: i32| it % 2 == 0 && it + 1 < n_nodes;
        let child = |it: i32, by: i32| if is_split(it) { it + by } else { -1 };
        let parent = |it: i32| match it {
            0 => i32::MAX,
            it => (it - 1) / 2 * 2,
        };
        refused_trees(|it| {
            let tree = it
                .pointer_mut("/learner/gradient_booster/model/trees/0")
                .unwrap();
            for (key, values) in [
                ("left_children", numbers(&|it| child(it, 1))),
                ("right_children", numbers(&|it| child(it, 2))),
                ("parents", numbers(&parent)),
                ("split_indices", numbers(&|_| 0)),
                ("split_conditions", numbers(&|it| it)),
                ("split_type", numbers(&|_| 0)),
                ("default_left", numbers(&|_| 0)),
                ("base_weights", numbers(&|_| 0)),
                ("loss_changes", numbers(&|_| 0)),
                ("sum_hessian", numbers(&|_| 1)),
            ] {
                tree[key] = json!(values);
            }
            tree["tree_param"]["num_nodes"] = json!(n_nodes.to_string());
        })
    };
    let error = deep(MAX_DEPTH as i32 + 1);
    assert!(error.contains("a tree is deeper than 1024"), "{error}");
}

#[test]
fn a_configuration_or_statistics_of_another_ranker_are_refused() {
    let refused = |change: &dyn Fn(&mut ModelFileContents)| {
        let mut files = small_files();
        change(&mut files);
        let error = LambdaMartRanker::load(&files).err();
        error.expect("the files should be refused").to_string()
    };
    let config = |key: &str, value: Value| {
        let key = key.to_owned();
        move |files: &mut ModelFileContents| {
            let mut config: Value = serde_json::from_slice(&files.config).unwrap();
            config[&key] = value.clone();
            files.config = serde_json::to_vec(&config).unwrap();
        }
    };
    for (change, part) in [
        (
            config("features", json!(["bm25"])),
            "the features bm25, query_likelihood, ",
        ),
        (
            config("features", json!(["bm26"])),
            "unknown variant `bm26`",
        ),
        (
            config("model_type", json!("bert")),
            "the model type must be `lambdamart`",
        ),
        (config("lexical_rankers", json!(["bm25", "x"])), "ranker: "),
    ] {
        let error = refused(&change);
        assert!(error.contains(part), "{error}");
    }
    let statistics = refused(&|it| it.tokenizer = b"{}".to_vec());
    assert!(
        statistics.starts_with("statistics.json of a LambdaMART ranker cannot be used: missing"),
        "{statistics}"
    );
}
