//! What the trainings of networks and of LambdaMART have in common: candidates that are prepared,
//! evaluations, the learning curve, the summary and the model card.

use neural::training::{BestEvaluation, SelectedWeights, SelectionMeasure};
use sha2::{Digest, Sha256};
use shared::collection::{Collection, encode_hex};
use shared::score::ranking_features::RankingFeature;
use shared::study::preparation::ParsedInputFiles;
use shared::training::{LearningCurvePoint, TrainingSummary};

use super::TrainingRequest;
use super::axiom_profile::AxiomInstances;
use super::examples::{PreparedCandidates, SplitCandidates, measure_values, standard_errors};
use super::folder::TrainingFolder;
use super::model_card::ModelCard;
use super::ranker_in_training::RankerToEvaluate;
use crate::error::Error;

/// A ranker in training with its candidates, its axioms, its folder and its learning curve.
pub(super) struct PreparedTraining<'a, R: RankerToEvaluate> {
    pub request: &'a TrainingRequest,
    collection: &'a Collection,
    pub ranker: R,
    pub training: PreparedCandidates<'a, R>,
    dev: PreparedCandidates<'a, R>,
    axioms: AxiomInstances<R>,
    pub folder: TrainingFolder,
    curve: Vec<LearningCurvePoint>,
}

/// The weights or trees that are the result of a training, and how they came about.
pub(super) struct SelectedModel<'a> {
    pub file: &'static str,
    pub bytes: &'a [u8],
    /// The number of weights or leaves.
    pub n_parameters: u64,
    /// The importance of each feature of LambdaMART, the highest first; empty for networks.
    pub importances: &'a [(RankingFeature, f64)],
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

impl<'a, R: RankerToEvaluate> PreparedTraining<'a, R> {
    /// Prepares the candidates for training and development, and mines the instances of the axioms
    /// with the files that these need. Without files, which a finished training does not need, no
    /// instances are mined.
    pub(super) fn prepare(
        (request, collection): (&'a TrainingRequest, &'a Collection),
        [training, dev]: [SplitCandidates; 2],
        ranker: R,
        files: Option<ParsedInputFiles>,
        (folder, curve): (TrainingFolder, Vec<LearningCurvePoint>),
    ) -> Result<PreparedTraining<'a, R>, Error> {
        let training = PreparedCandidates::prepare(collection, training, &ranker)?;
        let dev = PreparedCandidates::prepare(collection, dev, &ranker)?;
        let axioms = match files {
            None => AxiomInstances::none(),
            Some(files) => {
                let mining = (request.pool.clone(), files);
                AxiomInstances::mine(collection, dev.candidates(), &ranker, mining)?
            }
        };
        Ok(PreparedTraining {
            request,
            collection,
            ranker,
            training,
            dev,
            axioms,
            folder,
            curve,
        })
    }

    /// Evaluates the ranker on the development queries and on the axioms.
    pub(super) fn evaluate(&self, step: u64, loss: f64) -> Result<LearningCurvePoint, Error> {
        let dev = measure_values(&self.dev.evaluate(&self.ranker)?.mean);
        Ok(LearningCurvePoint {
            step,
            loss,
            axioms: self.axioms.compute_profile(&self.ranker)?,
            dev,
        })
    }

    /// Adds a point to the learning curve and writes the curve.
    pub(super) fn add_to_curve(&mut self, point: &LearningCurvePoint) -> Result<(), Error> {
        self.curve.push(point.clone());
        self.folder.write_curve(&self.curve)
    }

    /// Evaluates the selected weights or trees, which `ranker` has, and writes the summary and the
    /// model card. The controls are those of the test queries, or else of the development queries.
    pub(super) fn write_result(
        &self,
        ranker: &R,
        test: Option<SplitCandidates>,
        model: &SelectedModel<'_>,
    ) -> Result<TrainingSummary, Error> {
        let prepare = |it| PreparedCandidates::prepare(self.collection, it, ranker);
        let test = test.map(prepare).transpose()?;
        let dev = self.dev.evaluate(ranker)?;
        let test_values = test.as_ref().map(|it| it.evaluate(ranker)).transpose()?;
        let controlled = test.as_ref().unwrap_or(&self.dev);
        let mut controls = controlled.evaluate_controls(
            ranker,
            Some(self.training.candidates()),
            self.request.seed,
        )?;
        controls.standard_error = standard_errors(test_values.as_ref().unwrap_or(&dev));
        let best = model.best.iter().flat_map(|it| {
            let value = serde_json::Number::from_f64(it.value).expect("measures are finite");
            [
                ("step".to_owned(), it.step.into()),
                (model.measure.name().to_owned(), value),
            ]
        });
        let summary = TrainingSummary {
            model: self.request.model.name().to_owned(),
            parameters: model.n_parameters,
            steps: model.n_steps,
            seconds: model.seconds,
            best: best.collect(),
            dev: measure_values(&dev.mean),
            test: test_values.map(|it| measure_values(&it.mean)),
            controls,
            sha256: encode_hex(&Sha256::digest(model.bytes)),
        };
        self.folder.write_summary(&summary)?;
        let selected_step = match model.selection {
            SelectedWeights::Best => model.best.map(|it| it.step),
            SelectedWeights::Last => Some(model.n_steps),
        };
        let card = ModelCard {
            request: self.request,
            summary: &summary,
            data_sha256: model.data_sha256,
            selected: self.curve.iter().find(|it| Some(it.step) == selected_step),
            weights_file: model.file,
            importances: model.importances,
        };
        self.folder
            .write("README.md", card.to_markdown().as_bytes())?;
        Ok(summary)
    }
}
