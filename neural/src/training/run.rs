//! A training, one update at a time.

use candle_core::{Tensor, Var};

use super::checkpoint::{BestEvaluation, TrainingCheckpoint, TrainingProgress, weights_sha256};
use super::error::TrainingError;
use super::gradients::clip_gradient_norm;
use super::optimizer::{Optimizer, mismatch};
use super::recipe::TrainingRecipe;
use super::regularizer::UpdateScores;
use super::sampling::{BatchSampler, SampledBatch, TrainingExamples};
use super::schedule::LearningRateSchedule;
use crate::error::Error;

/// Computes the scores of rows with the dropout of an update.
pub type ForwardFunction<'a> = dyn Fn(&[usize], u64) -> Result<UpdateScores, Error> + 'a;

/// What is trained on, and how.
#[derive(Clone, Debug)]
pub struct TrainingInput {
    /// All numbers of the training.
    pub recipe: TrainingRecipe,
    /// The examples to draw from.
    pub examples: TrainingExamples,
    /// The score of a teacher for each row; only for a loss that needs it.
    pub teacher_scores: Option<Vec<f32>>,
    /// A hash of all data that the scores of the ranker depend on.
    pub data_sha256: String,
    /// The seed of the examples; weights and dropout should use it as well.
    pub seed: u64,
}

/// Whether an evaluation was the best so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluationOutcome {
    /// It was above all before; its weights should be kept.
    Best,
    /// An evaluation before had an equal or higher value.
    NotBest,
}

/// A training with the state of its optimizer, which makes one update after the other.
///
/// The variables are shared with the ranker, which computes with the changed values. The caller may
/// stop after any update and continue later from the [`TrainingCheckpoint`].
pub struct TrainingRun {
    recipe: TrainingRecipe,
    schedule: LearningRateSchedule,
    updates_per_epoch: u64,
    sampler: BatchSampler,
    teacher_scores: Option<Vec<f32>>,
    variables: Vec<(String, Var)>,
    optimizer: Optimizer,
    progress: TrainingProgress,
}

impl TrainingRun {
    /// Starts a training of `variables`, which have their random or pretrained values.
    pub fn start(
        input: TrainingInput,
        variables: &[(String, Var)],
    ) -> Result<TrainingRun, TrainingError> {
        let recipe = input.recipe;
        recipe.check()?;
        let progress = TrainingProgress {
            seed: input.seed,
            step: 0,
            evaluated_step: 0,
            best: None,
            loss_sum: 0.0,
            n_losses: 0,
            seconds: 0.0,
            recipe_sha256: recipe.sha256(),
            data_sha256: input.data_sha256,
        };
        let sampler = BatchSampler::new(input.examples, recipe.sampler_config(), input.seed)?;
        if recipe.loss.function.needs_teacher_scores() {
            let n_scores = input.teacher_scores.as_ref().map_or(0, Vec::len);
            if sampler.largest_row() >= n_scores {
                let largest = sampler.largest_row();
                let reason = format!("row {largest} has no score of a teacher, only {n_scores} do");
                return Err(TrainingError::InvalidExamples { reason });
            }
        }
        Ok(TrainingRun {
            schedule: recipe.learning_rate_schedule(sampler.n_examples()),
            updates_per_epoch: recipe.updates_per_epoch(sampler.n_examples()),
            optimizer: Optimizer::new(recipe.optimizer.config, variables),
            recipe,
            sampler,
            teacher_scores: input.teacher_scores,
            variables: variables.to_vec(),
            progress,
        })
    }

    /// Continues a training of the same input, and sets the variables to the weights of the
    /// checkpoint. Returns an error if recipe, data, seed or variables are others.
    pub fn resume(
        input: TrainingInput,
        variables: &[(String, Var)],
        checkpoint: &TrainingCheckpoint,
    ) -> Result<TrainingRun, TrainingError> {
        let mut run = TrainingRun::start(input, variables)?;
        let (found, expected) = (&checkpoint.progress, &run.progress);
        let identities = [
            ("recipe", &found.recipe_sha256, &expected.recipe_sha256),
            ("data", &found.data_sha256, &expected.data_sha256),
            ("seed", &found.seed.to_string(), &expected.seed.to_string()),
        ];
        for (what, found, expected) in identities {
            if found != expected {
                return Err(TrainingError::OtherTraining {
                    what,
                    found: found.clone(),
                    expected: expected.clone(),
                });
            }
        }
        let mut weights = checkpoint.weights.iter();
        for (name, variable) in variables {
            let expected = format!("`{name}` of shape {:?}", variable.dims());
            match weights.next() {
                Some((found, tensor)) if found == name && tensor.dims() == variable.dims() => {}
                found => return Err(mismatch("the checkpoint", found, expected)),
            }
        }
        if let Some(found) = weights.next() {
            let expected = "no such tensor".to_owned();
            return Err(mismatch("the checkpoint", Some(found), expected));
        }
        run.optimizer = Optimizer::from_named_tensors(
            run.recipe.optimizer.config,
            variables,
            &checkpoint.optimizer,
            found.step,
        )?;
        for ((_, variable), (_, tensor)) in variables.iter().zip(&checkpoint.weights) {
            variable.set(&tensor.to_device(variable.device())?)?;
        }
        run.progress = found.clone();
        Ok(run)
    }

    /// Makes one update and returns its loss. `forward` returns the scores of the given rows as
    /// 32-bit floating-point numbers, computed with the dropout of the given step, and those of
    /// perturbed documents if the recipe has a regularizer; it is called once. After an error the
    /// run and the variables are as before.
    pub fn advance(&mut self, forward: &ForwardFunction<'_>) -> Result<f64, TrainingError> {
        let step = self.progress.step;
        if self.is_finished() {
            return Err(TrainingError::Finished { step });
        }
        let batch = self.sampler.sample(step);
        let UpdateScores {
            rows: scores,
            preferences,
            add_gradients,
        } = forward(&batch.rows, step)?;
        if scores.dims() != [batch.rows.len()] {
            return Err(TrainingError::ScoreShape {
                step,
                found: scores.dims().to_vec(),
                expected: batch.rows.len(),
            });
        }
        // The rectifier of the hinge would hide a NaN.
        for scores in preferences.iter().chain([&scores]) {
            let scores = scores.flatten_all()?.to_vec1::<f32>()?;
            if !scores.iter().all(|it| it.is_finite()) {
                let quantity = "a score".to_owned();
                return Err(TrainingError::Diverged { quantity, step });
            }
        }
        let shape = (1 + batch.n_negatives, batch.n_examples);
        let scores = scores.reshape(shape)?; // [1 + n, b]
        let teacher_scores = self.teacher_scores_of(&batch, &scores)?;
        let function = self.recipe.loss.function;
        let mut loss = function.compute(&scores, teacher_scores.as_ref())?;
        if let (Some(regularizer), Some(preferences)) = (&self.recipe.regularizer, preferences) {
            loss = (loss + regularizer.compute_loss(&preferences)?)?;
        }
        let value = f64::from(loss.to_scalar::<f32>()?);
        if !value.is_finite() {
            let quantity = "the loss".to_owned();
            return Err(TrainingError::Diverged { quantity, step });
        }
        let mut gradients = loss.backward()?;
        if let Some(add_gradients) = add_gradients {
            add_gradients(&mut gradients)?;
        }
        let max_norm = self.recipe.optimizer.max_gradient_norm;
        if max_norm.is_finite() {
            clip_gradient_norm(&self.variables, &mut gradients, max_norm)?;
        }
        let learning_rate = self.recipe.optimizer.config.learning_rate();
        self.optimizer
            .set_learning_rate(learning_rate * self.schedule.factor(step));
        self.optimizer.step(&self.variables, &gradients)?;
        self.progress.step += 1;
        self.progress.loss_sum += value;
        self.progress.n_losses += 1;
        Ok(value)
    }

    /// Returns the scores of the teacher in the shape of the scores of the ranker.
    fn teacher_scores_of(
        &self,
        batch: &SampledBatch,
        scores: &Tensor,
    ) -> Result<Option<Tensor>, TrainingError> {
        let Some(all) = &self.teacher_scores else {
            return Ok(None);
        };
        let of_rows: Option<Vec<f32>> = batch
            .rows
            .iter()
            .map(|row| all.get(*row).copied())
            .collect();
        let of_rows = of_rows.ok_or_else(|| TrainingError::InvalidExamples {
            reason: format!("only {} rows have a score of a teacher", all.len()),
        })?;
        Ok(Some(Tensor::from_vec(
            of_rows,
            scores.shape(),
            scores.device(),
        )?))
    }

    /// Records the value of the measure on the development queries after the last update, and
    /// starts a new [`TrainingRun::mean_loss`]. NaN and infinite values are errors.
    pub fn record_evaluation(&mut self, value: f64) -> Result<EvaluationOutcome, TrainingError> {
        let step = self.progress.step;
        if !value.is_finite() {
            let quantity = "the measure".to_owned();
            return Err(TrainingError::Diverged { quantity, step });
        }
        self.progress.evaluated_step = step;
        self.progress.loss_sum = 0.0;
        self.progress.n_losses = 0;
        if self.progress.best.is_some_and(|it| it.value >= value) {
            return Ok(EvaluationOutcome::NotBest);
        }
        self.progress.best = Some(BestEvaluation { step, value });
        Ok(EvaluationOutcome::Best)
    }

    /// Adds to the duration of the training.
    pub fn add_seconds(&mut self, seconds: f64) {
        self.progress.seconds += seconds;
    }

    /// Returns everything that is needed to continue later.
    pub fn checkpoint(&self) -> Result<TrainingCheckpoint, TrainingError> {
        let mut weights = Vec::with_capacity(self.variables.len());
        for (name, variable) in &self.variables {
            let values = variable.to_device(&candle_core::Device::Cpu)?.copy()?;
            weights.push((name.clone(), values.detach()));
        }
        Ok(TrainingCheckpoint {
            progress: self.progress.clone(),
            weights,
            optimizer: self.optimizer.named_tensors(&self.variables)?,
        })
    }

    /// Returns the SHA-256 of the weights, see [`weights_sha256`].
    pub fn weights_sha256(&self) -> Result<String, TrainingError> {
        weights_sha256(
            self.variables
                .iter()
                .map(|it| (it.0.as_str(), it.1.as_tensor())),
        )
    }

    /// Returns the recipe of the training.
    pub fn recipe(&self) -> &TrainingRecipe {
        &self.recipe
    }

    /// Returns how far the training is.
    pub fn progress(&self) -> &TrainingProgress {
        &self.progress
    }

    /// Returns the number of updates if the training does not stop early.
    pub fn n_updates(&self) -> u64 {
        self.schedule.n_updates
    }

    /// Returns the number of updates in an epoch.
    pub fn updates_per_epoch(&self) -> u64 {
        self.updates_per_epoch
    }

    /// Returns the mean loss since the last evaluation, or `None` if there was no update.
    pub fn mean_loss(&self) -> Option<f64> {
        let TrainingProgress {
            loss_sum, n_losses, ..
        } = self.progress;
        (n_losses > 0).then(|| loss_sum / n_losses as f64)
    }

    /// Whether an epoch has ended and was not evaluated yet.
    pub fn is_evaluation_due(&self) -> bool {
        let TrainingProgress {
            step,
            evaluated_step,
            ..
        } = self.progress;
        step > evaluated_step && step.is_multiple_of(self.updates_per_epoch)
    }

    /// Whether all updates were made, or no evaluation was better for as many epochs as the recipe
    /// allows.
    pub fn is_finished(&self) -> bool {
        let TrainingProgress {
            step,
            evaluated_step,
            best,
            ..
        } = self.progress;
        let is_stopped = match (self.recipe.selection.patience_epochs, best) {
            (Some(patience), Some(best)) => {
                let waited = evaluated_step.saturating_sub(best.step);
                waited >= patience.saturating_mul(self.updates_per_epoch)
            }
            _ => false,
        };
        step >= self.schedule.n_updates || is_stopped
    }
}

#[cfg(test)]
mod tests;
