//! Training of rankers, as far as it does not depend on the network: recipes, samplers, losses,
//! optimizers and checkpoints.
//!
//! A [`TrainingRun`] makes one update at a time: it draws rows of training examples, calls a
//! function that scores them, differentiates the [`LossFunction`] and lets an [`Optimizer`] change
//! the variables. Between two updates the caller may evaluate, write a [`TrainingCheckpoint`] or
//! stop. Random choices are functions of the seed and of the number of the update, so that a run
//! continued from a checkpoint has the same bits as one that was never interrupted.
//!
//! All numbers of a training are in a [`TrainingRecipe`], a TOML file that names their sources.

mod error;
mod sampling;
mod losses;
mod gradients;
mod optimizer;
mod schedule;
mod regularizer;
mod recipe;
mod checkpoint;
mod run;

pub use checkpoint::{BestEvaluation, TrainingCheckpoint, TrainingProgress, weights_sha256};
pub use error::TrainingError;
pub use gradients::clip_gradient_norm;
pub use losses::{
    LossFunction, binary_cross_entropy_with_logits, hinge_loss, margin_mse_loss,
    softmax_cross_entropy_loss, softmax_probability_loss,
};
pub use optimizer::{AdamConfig, Optimizer, OptimizerConfig};
pub use recipe::{
    ExampleUnit, LossSettings, NegativeSource, NetworkSettings, OptimizerSettings,
    SamplingSettings, ScheduleSettings, SelectedWeights, SelectionMeasure, SelectionSettings,
    TrainingRecipe, WordSettings, find_settable_key, settable_keys,
};
pub use regularizer::{
    AddGradients, PerturbationSeed, PerturbationSource, RegularizerAxiom, RegularizerSettings,
    UpdateScores,
};
pub use run::{EvaluationOutcome, ForwardFunction, TrainingInput, TrainingRun};
pub use sampling::{
    BatchSampler, SampledBatch, SamplerConfig, SamplingOrder, TrainingExamples, TrainingGroup,
    random_cycle, select_hard_negatives,
};
pub use schedule::{LearningRateDecay, LearningRateSchedule};

/// A trained variable with its name.
pub type NamedVariable = (String, candle_core::Var);
