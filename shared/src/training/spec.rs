//! A training as users ask for it: the flags of `axioscope train`, the keys of `[[train]]` in a
//! study file, and the form of the page.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What is trained, on which queries, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TrainingSpec {
    /// The model, such as `drmm` or `lambdamart`.
    pub model: String,
    /// The encoder of a `cross-encoder` or a `colbert`, a folder or a name on the hub.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The candidates of a query besides its judged documents: `judged` (none), `group`,
    /// `rank:bm25:K`, `run:FILE:K` or `all`.
    #[serde(default = "default_pool")]
    pub pool: String,
    /// The split of the queries to train on.
    #[serde(default = "default_split")]
    pub split: String,
    /// The split of the queries that select the weights and give the learning curve.
    #[serde(default = "default_dev")]
    pub dev: String,
    /// The split of the queries on which the result is evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The name of a built-in recipe, or a TOML file.
    #[serde(default = "default_recipe")]
    pub recipe: String,
    /// `as-published` or `as-intended`, and for `drmm` also `capreolus` or `opennir`; `None` for
    /// what the recipe says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// What is added to the training examples: `lnc2` or `instances:FILE[:WEIGHT]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub augment: Vec<String>,
    /// The run or score file of a teacher, for the loss `margin-mse`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teacher: Option<String>,
    /// Changed values of the recipe, each as `KEY=VALUE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// The random seed of weights, dropout and examples.
    #[serde(default = "default_seed")]
    pub seed: u64,
}

impl TrainingSpec {
    /// Returns a training of a model in which nothing else is chosen.
    pub fn of_model(model: &str) -> TrainingSpec {
        TrainingSpec {
            model: model.to_owned(),
            from: None,
            pool: default_pool(),
            split: default_split(),
            dev: default_dev(),
            test: None,
            recipe: default_recipe(),
            variant: None,
            augment: Vec::new(),
            teacher: None,
            set: Vec::new(),
            seed: default_seed(),
        }
    }
}

fn default_pool() -> String {
    "judged".to_owned()
}

fn default_split() -> String {
    "train".to_owned()
}

fn default_dev() -> String {
    "dev".to_owned()
}

fn default_recipe() -> String {
    "default".to_owned()
}

fn default_seed() -> u64 {
    1
}
