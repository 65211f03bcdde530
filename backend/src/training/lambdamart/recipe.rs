//! Recipes of LambdaMART: all numbers of a training, each table with its source.

use hessboost::config::{GrowPolicy, TrainingParams, TreeMethod};
use hessboost::error::HessboostError;
use hessboost::objective::{LambdaRank, Objective};
use neural::training::{
    SelectedWeights, SelectionMeasure, TrainingError, find_settable_key, settable_keys,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use shared::collection::encode_hex;
use shared::rank::LexicalRanker;
use toml::{Table, Value};

/// The built-in recipes by name.
const BUILT_IN: [(&str, &str); 2] = [
    ("default", include_str!("recipes/default.toml")),
    ("lightgbm", include_str!("recipes/lightgbm.toml")),
];

/// Keys that a recipe need not have.
const OPTIONAL_KEYS: [&str; 2] = ["features.vectors", "selection.patience"];

/// The second derivatives of the library, which are those of XGBoost, divided by those of LightGBM.
/// The first derivatives are the same.
const HESSIAN_RATIO: f64 = 2.0;

/// Maximum number of trees, and of leaves of a tree.
const MAX_TREES: usize = 10_000;
const MAX_LEAVES: usize = 1024;

/// All numbers of the training of a LambdaMART ranker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LambdaMartRecipe {
    /// The name of the recipe.
    pub name: String,
    /// What the recipe reproduces, in one or two sentences.
    pub description: String,
    /// The parameters of the features.
    pub features: FeatureSettings,
    /// The trees and how they are grown.
    pub boosting: BoostingSettings,
    /// The trees that are kept.
    pub selection: TreeSelectionSettings,
}

/// The table `[features]`: what the features are computed with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FeatureSettings {
    /// BM25 with its parameters.
    pub bm25: String,
    /// Query likelihood with its parameters.
    pub query_likelihood: String,
    /// The file of word vectors; without it `word_vector_cosine` is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vectors: Option<String>,
    /// Where the numbers are from.
    pub source: String,
}

/// The table `[boosting]`: the trees and how they are grown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BoostingSettings {
    /// The largest number of trees.
    pub n_trees: usize,
    /// The factor of each tree, as in LightGBM.
    pub learning_rate: f64,
    /// The largest number of leaves of a tree.
    pub max_leaves: usize,
    /// The smallest number of documents of a leaf, of those with a second derivative. LightGBM
    /// estimates it from the second derivatives.
    pub min_data_in_leaf: usize,
    /// The smallest sum of LightGBM's second derivatives in a leaf.
    pub min_hessian_in_leaf: f64,
    /// The weight of the squared values of leaves in the loss.
    pub l2: f64,
    /// The largest number of intervals of a feature.
    pub max_bins: usize,
    /// The rank up to which pairs of documents count: one of the two is not below it.
    pub truncation: usize,
    /// Where the numbers are from.
    pub source: String,
}

/// The table `[selection]`: which trees are the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TreeSelectionSettings {
    /// The trees that are the result: those up to the best evaluation, or all.
    pub trees: SelectedWeights,
    /// The measure on the development queries.
    pub measure: SelectionMeasure,
    /// The number of trees between two evaluations.
    pub evaluation_interval: usize,
    /// The number of evaluations without a better value after which training stops early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<usize>,
    /// Where the numbers are from.
    pub source: String,
}

impl LambdaMartRecipe {
    /// Returns the names of the built-in recipes.
    pub(crate) fn built_in_names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|it| it.0)
    }

    /// Returns the built-in recipe `name`.
    pub(crate) fn built_in(name: &str) -> Result<LambdaMartRecipe, TrainingError> {
        match BUILT_IN.iter().find(|it| it.0 == name) {
            Some((_, text)) => LambdaMartRecipe::parse(text),
            None => {
                let known = BUILT_IN.map(|it| format!("`{}`", it.0)).join(", ");
                let reason = format!("it is not for model `lambdamart`, whose recipes are {known}");
                Err(invalid_recipe(name, reason))
            }
        }
    }

    /// Parses a recipe file in TOML and checks its numbers.
    pub(crate) fn parse(text: &str) -> Result<LambdaMartRecipe, TrainingError> {
        let recipe = toml::from_str::<LambdaMartRecipe>(text);
        let recipe = recipe.map_err(|it| invalid_recipe("file", it.to_string()))?;
        recipe.check()?;
        Ok(recipe)
    }

    /// Returns the recipe as TOML.
    pub(crate) fn to_toml(&self) -> String {
        self.to_table().to_string()
    }

    /// Sets one value, for example `learning_rate` to `0.01`. The table may precede the key:
    /// `boosting.learning_rate`. `none` removes an optional value. The source of the table mentions
    /// the change.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<(), TrainingError> {
        let known = settable_keys(&self.to_table(), &OPTIONAL_KEYS);
        let full_key = find_settable_key(&known, key)?;
        let (table_name, leaf) = full_key.split_once('.').unwrap_or_default();
        let is_removed = value == "none" && OPTIONAL_KEYS.contains(&full_key.as_str());
        // What looks like a number may be the name of a file.
        let parsed = format!("value = {value}").parse::<Table>().ok();
        let parsed = parsed.and_then(|mut it| it.remove("value"));
        let candidates = match is_removed {
            true => vec![None],
            false => parsed.into_iter().chain([value.into()]).map(Some).collect(),
        };
        let mut reason = String::new();
        for candidate in candidates {
            let mut table = self.to_table();
            if let Some(Value::Table(settings)) = table.get_mut(table_name) {
                settings.remove(leaf);
                settings.extend(candidate.map(|it| (leaf.to_owned(), it)));
                if let Some(Value::String(source)) = settings.get_mut("source") {
                    source.push_str(&format!("; `{leaf}` was set to {value}"));
                }
            }
            let changed = table.try_into::<LambdaMartRecipe>();
            match changed.map_err(|it| it.to_string()) {
                Ok(changed) => {
                    changed.check()?;
                    *self = changed;
                    return Ok(());
                }
                Err(error) if reason.is_empty() => reason = error.trim_end().replace('\n', " "),
                Err(_) => {}
            }
        }
        Err(TrainingError::InvalidRecipeValue {
            key: full_key.clone(),
            value: value.to_owned(),
            reason,
        })
    }

    /// Returns the SHA-256 over all values in hex. Names, descriptions, sources and the name of the
    /// file of word vectors do not count.
    pub(super) fn sha256(&self) -> String {
        let mut table = self.to_table();
        table.retain(|_, it| it.is_table());
        for (_, value) in &mut table {
            if let Value::Table(settings) = value {
                settings.retain(|key, _| key != "source" && key != "vectors");
            }
        }
        encode_hex(&Sha256::digest(table.to_string()))
    }

    /// Returns the lexical rankers of the first two features.
    pub(super) fn lexical_rankers(&self) -> Result<[LexicalRanker; 2], TrainingError> {
        let invalid = |key: &str, reason: String| {
            invalid_recipe(&self.name, format!("`features.{key}`: {reason}"))
        };
        let parse = |key: &str, spec: &str| {
            let ranker = spec.parse::<LexicalRanker>();
            ranker.map_err(|it| invalid(key, it.to_string()))
        };
        let bm25 = parse("bm25", &self.features.bm25)?;
        let query_likelihood = parse("query_likelihood", &self.features.query_likelihood)?;
        match (bm25, query_likelihood) {
            (LexicalRanker::Bm25(_), LexicalRanker::QueryLikelihood(_)) => {
                Ok([bm25, query_likelihood])
            }
            (LexicalRanker::QueryLikelihood(_), _) => {
                Err(invalid("bm25", "is not BM25".to_owned()))
            }
            (_, LexicalRanker::Bm25(_)) => Err(invalid(
                "query_likelihood",
                "is not query likelihood".to_owned(),
            )),
        }
    }

    /// Returns the parameters of the library that grows the trees. A leaf has the value
    /// `-eta * G / (H + lambda)`, where `G` and `H` are the sums of the first and second
    /// derivatives, so that what is multiplied by or added to or compared with `H` is scaled to
    /// get the leaves of LightGBM.
    pub(super) fn library_parameters(&self) -> Result<TrainingParams, TrainingError> {
        let boosting = &self.boosting;
        let refused = |it: HessboostError| invalid_recipe(&self.name, it.to_string());
        let objective = LambdaRank::new(boosting.truncation).map_err(refused)?;
        TrainingParams::builder()
            .objective(Objective::RankNdcg(objective))
            .tree_method(TreeMethod::Hist)
            .grow_policy(GrowPolicy::LossGuide)
            .unlimited_depth()
            .max_leaves(boosting.max_leaves)
            .eta(HESSIAN_RATIO * boosting.learning_rate)
            .min_child_groups(boosting.min_data_in_leaf)
            .min_child_weight(HESSIAN_RATIO * boosting.min_hessian_in_leaf)
            .lambda(HESSIAN_RATIO * boosting.l2)
            .max_bin(boosting.max_bins)
            .build()
            .map_err(refused)
    }

    fn check(&self) -> Result<(), TrainingError> {
        let boosting = &self.boosting;
        let selection = &self.selection;
        let patience = selection.patience.unwrap_or(1);
        for (key, count, most) in [
            ("boosting.n_trees", boosting.n_trees, MAX_TREES),
            ("boosting.max_leaves", boosting.max_leaves, MAX_LEAVES),
            (
                "boosting.min_data_in_leaf",
                boosting.min_data_in_leaf,
                usize::MAX,
            ),
            ("boosting.max_bins", boosting.max_bins, 1 << 16),
            ("boosting.truncation", boosting.truncation, usize::MAX),
            (
                "selection.evaluation_interval",
                selection.evaluation_interval,
                MAX_TREES,
            ),
            ("selection.patience", patience, usize::MAX),
        ] {
            if count == 0 || count > most {
                let bound = match most {
                    usize::MAX => "at least 1".to_owned(),
                    most => format!("from 1 to {most}"),
                };
                let reason = format!("`{key}` is {count}, but must be {bound}");
                return Err(invalid_recipe(&self.name, reason));
            }
        }
        self.lexical_rankers()?;
        self.library_parameters().map(drop)
    }

    fn to_table(&self) -> Table {
        Table::try_from(self).expect("a recipe has only tables, texts and numbers")
    }
}

fn invalid_recipe(recipe: &str, reason: String) -> TrainingError {
    TrainingError::InvalidRecipe {
        recipe: recipe.to_owned(),
        reason: reason.trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_recipes_are_valid_and_survive_toml() {
        for (name, _) in BUILT_IN {
            let recipe = LambdaMartRecipe::built_in(name).unwrap();
            assert_eq!(recipe.name, name);
            assert_eq!(LambdaMartRecipe::parse(&recipe.to_toml()).unwrap(), recipe);
        }
    }

    #[test]
    fn numbers_are_set_and_checked() {
        let mut recipe = LambdaMartRecipe::built_in("default").unwrap();
        let before = recipe.sha256();
        recipe.set("learning_rate", "0.2").unwrap();
        assert_eq!(recipe.boosting.learning_rate, 0.2);
        assert!(
            recipe
                .boosting
                .source
                .ends_with("; `learning_rate` was set to 0.2")
        );
        assert_ne!(recipe.sha256(), before);
        recipe.set("selection.patience", "none").unwrap();
        assert_eq!(recipe.selection.patience, None);
        for file in ["50", "a b.txt"] {
            recipe.set("vectors", file).unwrap();
            assert_eq!(recipe.features.vectors.as_deref(), Some(file));
        }
        recipe.set("bm25", "bm25:k1=0.9,b=0.4").unwrap();

        let mut refused = |key: &str, value: &str| {
            let error = recipe.set(key, value).unwrap_err().to_string();
            assert_eq!(recipe.boosting.learning_rate, 0.2);
            error
        };
        for (key, value, part) in [
            (
                "rate",
                "1",
                "a recipe has no key `rate`; known are boosting.l2, ",
            ),
            (
                "n_trees",
                "0",
                "`boosting.n_trees` is 0, but must be from 1 to 10000",
            ),
            (
                "n_trees",
                "many",
                "`many` is not a valid value of `boosting.n_trees`",
            ),
            ("max_leaves", "4096", "must be from 1 to 1024"),
            ("learning_rate", "nan", "recipe `default`: "),
            ("bm25", "ql", "`features.bm25`: is not BM25"),
            ("query_likelihood", "bm25", "is not query likelihood"),
        ] {
            let error = refused(key, value);
            assert!(error.contains(part), "{error}");
        }
        let unknown = LambdaMartRecipe::built_in("rennings2019").unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "recipe `rennings2019`: it is not for model `lambdamart`, whose recipes are `default`, \
             `lightgbm`"
        );
    }
}
