//! Errors of training: recipes, examples, checkpoints and computations that diverge.

use crate::error::Error;

/// Why a training was not started, continued or finished.
#[derive(Debug, thiserror::Error)]
pub enum TrainingError {
    /// A recipe is not valid TOML, lacks a key or has a number that is out of range.
    #[error("recipe `{recipe}`: {reason}")]
    InvalidRecipe {
        /// The name of the recipe, or of its file.
        recipe: String,
        /// What is wrong, and where.
        reason: String,
    },

    /// There is no built-in recipe of this name.
    #[error("there is no recipe `{name}`; built in are {known}")]
    UnknownRecipe {
        /// The requested name.
        name: String,
        /// The names of all built-in recipes.
        known: String,
    },

    /// A recipe has no setting of this name.
    #[error("a recipe has no key `{key}`; known are {known}")]
    UnknownRecipeKey {
        /// The requested key.
        key: String,
        /// All keys of the recipe.
        known: String,
    },

    /// A value does not fit the setting of a recipe.
    #[error("`{value}` is not a valid value of `{key}`: {reason}")]
    InvalidRecipeValue {
        /// The key of the recipe.
        key: String,
        /// The value as it was written.
        value: String,
        /// The values that are possible, or what is wrong.
        reason: String,
    },

    /// The training examples cannot be sampled.
    #[error("the training examples cannot be used: {reason}")]
    InvalidExamples {
        /// What is missing.
        reason: String,
    },

    /// The ranker returned another number of scores than rows.
    #[error("the scores of update {step} have shape {found:?}; expected are {expected} numbers")]
    ScoreShape {
        /// The number of updates before this one.
        step: u64,
        /// The shape of the scores.
        found: Vec<usize>,
        /// The number of rows that were to be scored.
        expected: usize,
    },

    /// A variable did not get a gradient, usually since a fused operation cut it.
    #[error("variable `{name}` has no gradient; the loss does not depend on it")]
    MissingGradient {
        /// The name of the variable.
        name: String,
    },

    /// A score, the loss, a gradient or a measure is infinite or NaN.
    #[error("{quantity} is not finite after {step} updates; lower the learning rate")]
    Diverged {
        /// What is not finite, for example `the loss`.
        quantity: String,
        /// The number of updates before this one.
        step: u64,
    },

    /// The variables of a ranker are not those of its optimizer or of a checkpoint.
    #[error("{what} has {found}, where the ranker has {expected}")]
    VariableMismatch {
        /// The optimizer, or the checkpoint.
        what: &'static str,
        /// The name and size of its variable.
        found: String,
        /// The name and size of the variable of the ranker.
        expected: String,
    },

    /// The bytes of a checkpoint are damaged, truncated or of another kind of file.
    #[error("the checkpoint ({n_bytes} bytes) cannot be read: {reason}")]
    InvalidCheckpoint {
        /// The length of the file.
        n_bytes: usize,
        /// What is wrong with it.
        reason: String,
    },

    /// A checkpoint was written with another recipe, other data or another seed.
    #[error("the checkpoint was written with another {what}: {found}, not {expected}")]
    OtherTraining {
        /// `recipe`, `data` or `seed`.
        what: &'static str,
        /// The hash or number in the checkpoint.
        found: String,
        /// The hash or number of this training.
        expected: String,
    },

    /// The training has made all of its updates, or has stopped early.
    #[error("the training is finished after {step} updates")]
    Finished {
        /// The number of updates.
        step: u64,
    },

    /// An error of the ranker that is trained.
    #[error(transparent)]
    Ranker(#[from] Error),
}

impl From<candle_core::Error> for TrainingError {
    fn from(error: candle_core::Error) -> Self {
        TrainingError::Ranker(Error::Compute(error))
    }
}
