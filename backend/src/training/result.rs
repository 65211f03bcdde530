//! The result of a training: its effectiveness with controls, the summary and the model card.

use neural::training::{BestEvaluation, SelectedWeights, SelectionMeasure};
use sha2::{Digest, Sha256};
use shared::collection::encode_hex;
use shared::score::ranking_features::RankingFeature;
use shared::training::{EffectivenessControls, LearningCurvePoint, MeasureValues, TrainingSummary};

use super::TrainingRequest;
use super::examples::{PreparedCandidates, measure_values, standard_errors};
use super::folder::TrainingFolder;
use super::model_card::ModelCard;
use super::ranker_in_training::RankerInTraining;
use crate::error::Error;

/// The candidates of all splits as a ranker reads them.
pub(super) struct PreparedSplits<'a, R: RankerInTraining> {
    pub training: &'a PreparedCandidates<'a, R>,
    pub dev: &'a PreparedCandidates<'a, R>,
    pub test: Option<&'a PreparedCandidates<'a, R>>,
}

/// The effectiveness of a trained ranker.
pub(super) struct ResultEffectiveness {
    /// The measures on the development queries.
    pub dev: MeasureValues,
    /// The measures on the test queries.
    pub test: Option<MeasureValues>,
    /// The controls on the test queries, or else on the development queries.
    pub controls: EffectivenessControls,
}

impl ResultEffectiveness {
    /// Evaluates a trained ranker; `seed` is that of the swapped queries.
    pub(super) fn evaluate<R: RankerInTraining>(
        ranker: &R,
        splits: &PreparedSplits<'_, R>,
        seed: u64,
    ) -> Result<ResultEffectiveness, Error> {
        let dev = splits.dev.evaluate(ranker)?;
        let test = splits.test.map(|it| it.evaluate(ranker)).transpose()?;
        let controlled = splits.test.unwrap_or(splits.dev);
        let mut controls = controlled.evaluate_controls(ranker, splits.training, seed)?;
        controls.standard_error = standard_errors(test.as_ref().unwrap_or(&dev));
        Ok(ResultEffectiveness {
            dev: measure_values(&dev.mean),
            test: test.map(|it| measure_values(&it.mean)),
            controls,
        })
    }
}

/// A training that has made all its updates, or grown all its trees.
pub(super) struct CompletedTraining<'a> {
    pub request: &'a TrainingRequest,
    pub folder: &'a TrainingFolder,
    pub curve: &'a [LearningCurvePoint],
    /// The number of updates or trees.
    pub n_steps: u64,
    /// The duration in seconds, without interruptions.
    pub seconds: f64,
    /// SHA-256 of everything that the scores in training depend on.
    pub data_sha256: &'a str,
    /// The measure that selects the weights, and its best evaluation.
    pub measure: SelectionMeasure,
    pub best: Option<BestEvaluation>,
    /// Which weights or trees are the result.
    pub selection: SelectedWeights,
}

/// The weights or trees that are the result of a training.
pub(super) struct TrainedWeights<'a> {
    pub file: &'static str,
    pub bytes: &'a [u8],
    /// The number of weights or leaves.
    pub n_parameters: u64,
    /// The importance of each feature of LambdaMART, the highest first; empty for networks.
    pub importances: &'a [(RankingFeature, f64)],
}

impl CompletedTraining<'_> {
    /// Writes the summary and the model card.
    pub(super) fn write_result(
        &self,
        weights: &TrainedWeights<'_>,
        effectiveness: ResultEffectiveness,
    ) -> Result<TrainingSummary, Error> {
        let best = self.best.iter().flat_map(|it| {
            let value = serde_json::Number::from_f64(it.value).expect("measures are finite");
            [
                ("step".to_owned(), it.step.into()),
                (self.measure.name().to_owned(), value),
            ]
        });
        let ResultEffectiveness {
            dev,
            test,
            controls,
        } = effectiveness;
        let summary = TrainingSummary {
            model: self.request.model.name().to_owned(),
            parameters: weights.n_parameters,
            steps: self.n_steps,
            seconds: self.seconds,
            best: best.collect(),
            dev,
            test,
            controls,
            sha256: encode_hex(&Sha256::digest(weights.bytes)),
        };
        self.folder.write_summary(&summary)?;
        let selected_step = match self.selection {
            SelectedWeights::Best => self.best.map(|it| it.step),
            SelectedWeights::Last => Some(self.n_steps),
        };
        let card = ModelCard {
            request: self.request,
            summary: &summary,
            data_sha256: self.data_sha256,
            selected: self.curve.iter().find(|it| Some(it.step) == selected_step),
            weights_file: weights.file,
            importances: weights.importances,
        };
        self.folder
            .write("README.md", card.to_markdown().as_bytes())?;
        Ok(summary)
    }
}
