//! The state of a LambdaMART training to continue from, `checkpoint.json`.

use neural::training::BestEvaluation;
use serde::{Deserialize, Serialize};

use super::super::TrainingRequest;
use super::super::folder::{LAMBDAMART_CHECKPOINT, TrainingFolder};
use super::LambdaMartRecipe;
use crate::error::Error;
use crate::models::LambdaMartTrees;

/// The state of a training after an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LambdaMartCheckpoint {
    recipe_sha256: String,
    /// SHA-256 of everything that the scores in training depend on.
    pub data_sha256: String,
    seed: u64,
    /// The number of trees grown so far, of which the result may have fewer.
    pub n_trees: u64,
    /// Whether no more trees are grown.
    pub is_finished: bool,
    /// The best evaluation so far.
    pub best: Option<BestEvaluation>,
    /// The duration so far, without interruptions.
    pub seconds: f64,
    /// The contents of `model.json` with all trees; empty before the first.
    trees: String,
}

impl LambdaMartCheckpoint {
    /// Returns the state before the first tree.
    pub(super) fn begin(
        recipe: &LambdaMartRecipe,
        data_sha256: String,
        seed: u64,
    ) -> LambdaMartCheckpoint {
        LambdaMartCheckpoint {
            recipe_sha256: recipe.sha256(),
            data_sha256,
            seed,
            n_trees: 0,
            is_finished: false,
            best: None,
            seconds: 0.0,
            trees: String::new(),
        }
    }

    /// Reads the checkpoint of a folder; `None` if the training has not begun.
    pub(super) fn read(folder: &TrainingFolder) -> Result<Option<LambdaMartCheckpoint>, Error> {
        let Some(bytes) = folder.read(LAMBDAMART_CHECKPOINT)? else {
            return Ok(None);
        };
        let checkpoint = serde_json::from_slice(&bytes);
        checkpoint.map(Some).map_err(|it| Error::CorruptData {
            what: LAMBDAMART_CHECKPOINT.to_owned(),
            reason: format!("{it}; choose another folder, in which the training begins again"),
        })
    }

    /// Writes the checkpoint in place of the one before.
    pub(super) fn write(&self, folder: &TrainingFolder) -> Result<(), Error> {
        let json = serde_json::to_vec(self).expect("a checkpoint has finite numbers");
        folder.write(LAMBDAMART_CHECKPOINT, &json)
    }

    /// Returns an error if the checkpoint is of a training with other arguments.
    pub(super) fn check_training(
        &self,
        recipe: &LambdaMartRecipe,
        data_sha256: &str,
        request: &TrainingRequest,
    ) -> Result<(), Error> {
        let of_other = |what: &'static str| {
            Err(Error::OtherTraining {
                folder: request.out.clone(),
                what,
            })
        };
        if self.recipe_sha256 != recipe.sha256() {
            return of_other("recipe");
        }
        if self.data_sha256 != data_sha256 {
            return of_other("data");
        }
        if self.seed != request.seed {
            return of_other("seed");
        }
        Ok(())
    }

    /// Returns the trees so far; `None` before the first.
    pub(super) fn trees(&self) -> Result<Option<LambdaMartTrees>, Error> {
        if self.trees.is_empty() {
            return Ok(None);
        }
        let trees = LambdaMartTrees::from_json(self.trees.as_bytes());
        let trees = trees.map_err(Error::model_error_converter("that is trained"))?;
        Ok(Some(trees))
    }

    /// Replaces the trees by the contents of `model.json`.
    pub(super) fn set_trees(&mut self, json: Vec<u8>) {
        self.trees = String::from_utf8(json).expect("JSON is UTF-8");
    }
}
