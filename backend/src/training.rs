//! Trains rankers on the qrels of a collection, and observes which axioms they learn.
//!
//! A training writes a folder that loads like any other model: `config.json`, `tokenizer.json` and
//! `model.safetensors`; with the recipe (`recipe.toml`), a learning curve (`curves.jsonl`, one
//! object for each evaluation), the state to continue from (`checkpoint.safetensors`) and, at the
//! end, the result (`training.json`) and a model card (`README.md`). Every file appears complete or
//! not at all. A training that was killed continues from its last checkpoint and ends with the same
//! bits.

mod examples;
mod words;
mod axiom_profile;
mod folder;
mod model_card;
mod run;

use std::path::PathBuf;

use neural::InteractionRankerKind;
use neural::training::TrainingRecipe;
use shared::probe::CandidatePoolSpec;
use shared::training::LearningCurvePoint;

pub(crate) use folder::read_training_record;
pub(crate) use run::train;

/// What is trained, on what, and how.
#[derive(Debug, Clone)]
pub(crate) struct TrainingRequest {
    /// The network.
    pub model: InteractionRankerKind,
    /// The folder or name of the collection.
    pub collection: String,
    /// The documents that are candidates of a query besides those with a judgment; without one
    /// their grade is 0.
    pub pool: CandidatePoolSpec,
    /// The splits of its queries.
    pub splits: TrainingSplits,
    /// All numbers of the training.
    pub recipe: TrainingRecipe,
    /// What is added to the training examples.
    pub augmentation: Augmentation,
    /// The seed of weights, dropout and examples.
    pub seed: u64,
    /// The folder of the trained ranker.
    pub out: PathBuf,
}

/// The splits of queries that a training uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrainingSplits {
    /// The queries whose documents are the examples.
    pub train: String,
    /// The queries that select the weights and give the learning curve.
    pub dev: String,
    /// The queries on which the result is evaluated.
    pub test: Option<String>,
}

/// What is added to the training examples.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Augmentation {
    /// Whether each document is also an example when it is repeated 2, 3 and 4 times, with the same
    /// grade: LNC2-All of Rennings, Moraes and Hauff (ECIR 2019).
    pub repeats_documents: bool,
    /// Instances of axioms, as pairs of a document that should score higher and another one.
    pub instances: Vec<InstanceAugmentation>,
}

/// Instances of axioms among the training examples; those of other queries are not used.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InstanceAugmentation {
    /// The instance file.
    pub file: PathBuf,
    /// How many pairs of documents are from instances for each pair of different grades.
    pub weight: f64,
}

/// Parses `FILE` or `FILE:WEIGHT`.
impl std::str::FromStr for InstanceAugmentation {
    type Err = String;

    fn from_str(text: &str) -> Result<InstanceAugmentation, String> {
        let (file, weight) = match text.rsplit_once(':') {
            Some((file, weight)) => match weight.parse::<f64>() {
                Ok(weight) => (file, weight),
                Err(_) => (text, 1.0),
            },
            None => (text, 1.0),
        };
        if !(weight > 0.0 && weight <= 100.0) {
            return Err(format!(
                "the weight {weight} is not above 0 and at most 100"
            ));
        }
        Ok(InstanceAugmentation {
            file: PathBuf::from(file),
            weight,
        })
    }
}

/// Receives the progress of a training, and may cancel it.
pub(crate) trait TrainingObserver {
    /// Takes the number of updates so far, and of all.
    fn updated(&self, step: u64, n_updates: u64);

    /// Takes a point of the learning curve.
    fn evaluated(&self, point: &LearningCurvePoint);

    /// Returns whether the training should stop after this update; its checkpoint is kept.
    fn is_canceled(&self) -> bool;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_may_follow_the_file_of_instances() {
        let parse = |text: &str| text.parse::<InstanceAugmentation>();
        let expected = |file: &str, weight| {
            Ok(InstanceAugmentation {
                file: PathBuf::from(file),
                weight,
            })
        };
        assert_eq!(parse("lnc2.parquet"), expected("lnc2.parquet", 1.0));
        assert_eq!(parse("lnc2.parquet:0.5"), expected("lnc2.parquet", 0.5));
        assert_eq!(parse("C:\\lnc2.parquet"), expected("C:\\lnc2.parquet", 1.0));
        for weight in ["0", "-1", "101", "NaN", "inf"] {
            let error = parse(&format!("lnc2.parquet:{weight}")).unwrap_err();
            assert!(error.contains("is not above 0 and at most 100"), "{error}");
        }
    }
}
