//! Trains rankers on the qrels of a collection, and observes which axioms they learn.
//!
//! A training writes a folder that loads like any other model: `config.json`, `tokenizer.json` and
//! `model.safetensors`; with the recipe (`recipe.toml`), a learning curve (`curves.jsonl`, one
//! object for each evaluation), the state to continue from (`checkpoint.safetensors`) and, at the
//! end, the result (`training.json`) and a model card (`README.md`). Every file appears complete or
//! not at all. A training that was killed continues from its last checkpoint and ends with the same
//! bits.

mod request;
mod pools;
mod ranker_in_training;
mod examples;
mod negatives;
mod words;
mod perturbation;
mod axiom_profile;
mod folder;
mod model_card;
mod prepared_training;
mod lambdamart;
mod run;
mod evaluation;
mod study;

use shared::training::LearningCurvePoint;

pub(crate) use evaluation::{EvaluationRequest, evaluate_model};
pub(crate) use folder::{read_training_record, read_training_record_so_far};
pub(crate) use request::{Augmentation, ModelToTrain, TrainingRequest};
pub(crate) use run::train;
pub(crate) use study::{
    StudyTrainingPlan, StudyTrainingProgress, evaluate_with_swapped_queries, trained_ranker_specs,
};

/// Receives the progress of a training, and may cancel it.
pub(crate) trait TrainingObserver {
    /// Takes the number of updates so far, and of all.
    fn updated(&self, step: u64, n_updates: u64);

    /// Takes a point of the learning curve.
    fn evaluated(&self, point: &LearningCurvePoint);

    /// Returns whether the training should stop after this update; its checkpoint is kept.
    fn is_canceled(&self) -> bool;
}
