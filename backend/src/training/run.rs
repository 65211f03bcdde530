//! Trains a ranker from the first update, or from its last checkpoint, to the result.

use std::time::{Duration, Instant};

use neural::training::{
    EvaluationOutcome, SelectedWeights, TrainingError, TrainingInput, TrainingRecipe, TrainingRun,
};
use neural::{ForwardMode, InteractionConfig, InteractionNetwork, InteractionRanker, PreparedPair};
use sha2::{Digest, Sha256};
use shared::collection::encode_hex;
use shared::training::{LearningCurvePoint, TrainingSummary};

use super::examples::{CandidatesOfSplits, SplitCandidates};
use super::folder::{self, TrainingFolder};
use super::negatives::{PoolRankings, select_teacher_scores};
use super::perturbation::PerturbedTexts;
use super::prepared_training::{PreparedTraining, SelectedModel};
use super::request::{ModelToTrain, NetworkToTrain};
use super::{TrainingObserver, TrainingRequest, lambdamart, words};
use crate::collection_files::CollectionWithReadReport;
use crate::error::Error;
use crate::pipeline;

/// The weights that were selected so far.
const WEIGHTS: &str = "model.safetensors";

/// The time between two checkpoints, apart from those at evaluations.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(5);

/// Trains a ranker, continuing from the checkpoint in the folder of the request. Returns the
/// result, or `None` if the observer has canceled.
pub(crate) fn train(
    request: &TrainingRequest,
    loaded: &CollectionWithReadReport,
    observer: &dyn TrainingObserver,
) -> Result<Option<TrainingSummary>, Error> {
    match &request.model {
        ModelToTrain::Network(model) => train_network(request, model, loaded, observer),
        ModelToTrain::LambdaMart(recipe) => lambdamart::train(request, recipe, loaded, observer),
    }
}

fn train_network(
    request: &TrainingRequest,
    model: &NetworkToTrain,
    loaded: &CollectionWithReadReport,
    observer: &dyn TrainingObserver,
) -> Result<Option<TrainingSummary>, Error> {
    let recipe = &model.recipe;
    let collection = &loaded.collection;
    let CandidatesOfSplits {
        training,
        dev,
        test,
        pools,
        files,
    } = CandidatesOfSplits::select(request, loaded, recipe.words.vectors.as_deref())?;
    let vectors = files.vectors.clone();
    let rankings = PoolRankings {
        collection,
        pools: &pools,
        pool: &request.pool,
        run: files.run.as_ref(),
    };
    let examples = training.examples(recipe.sampling.unit);
    let examples = rankings.select_negatives(examples, &training, &recipe.sampling)?;
    let examples = training.add_preferences(examples)?;
    let teacher = request.teacher.as_deref();
    let teacher = teacher.map(|it| pipeline::read_score_file(it, &loaded.folder));
    let select_scores = |it| select_teacher_scores(it, &examples, &training, collection);
    let teacher_scores = teacher.transpose()?.map(select_scores).transpose()?;
    drop(pools);
    let vocabulary = words::build_vocabulary(collection, &recipe.words, vectors.as_deref())?;
    let config = InteractionConfig::from_recipe(model.kind, recipe, vocabulary.dimensions())?;
    let model_error = || Error::model_error_converter("that is trained");
    let network = InteractionNetwork::with_random_weights(config, vocabulary, request.seed)
        .map_err(model_error())?;
    let mut hash = Sha256::new();
    hash.update(network.config().to_json());
    hash.update(collection.content_hash());
    let vocabulary = network.vocabulary();
    for number in vocabulary.idf().iter().chain(vocabulary.vectors()) {
        hash.update(number.to_le_bytes());
    }
    for word in vocabulary.words() {
        hash.update(word);
        hash.update([0]);
    }
    for split in [&training, &dev] {
        split.add_to_hash(collection, &mut hash);
    }
    for row in examples.rows() {
        hash.update((row as u64).to_le_bytes());
    }
    for score in teacher_scores.iter().flatten() {
        hash.update(score.to_le_bytes());
    }

    let input = TrainingInput {
        recipe: recipe.clone(),
        examples,
        teacher_scores,
        data_sha256: encode_hex(&hash.finalize()),
        seed: request.seed,
    };
    let folder = TrainingFolder::open(request.out.clone())?;
    folder.ensure_without(folder::LAMBDAMART_CHECKPOINT)?;
    let (run, curve) = match folder.read_checkpoint()? {
        None => {
            folder.write("config.json", network.config().to_json().as_bytes())?;
            let tokenizer = InteractionRanker::tokenizer_json(network.vocabulary().words());
            folder.write("tokenizer.json", &tokenizer)?;
            folder.write("recipe.toml", recipe.to_toml().as_bytes())?;
            (TrainingRun::start(input, network.variables())?, Vec::new())
        }
        Some(checkpoint) => {
            let run = TrainingRun::resume(input, network.variables(), &checkpoint)
                .map_err(|it| folder_of_other_training(it, request))?;
            (run, folder.read_curve(checkpoint.progress.evaluated_step)?)
        }
    };
    let prepare = |it| PerturbedTexts::prepare(it, collection, &training, &network);
    let perturbed = recipe.regularizer.as_ref().map(prepare);
    let files = (!run.is_finished()).then_some(files);
    let (data, splits, curve) = ((request, collection), [training, dev], (folder, curve));
    let prepared = PreparedTraining::prepare(data, splits, network, files, curve)?;
    let mut work = TrainingWork {
        recipe,
        prepared,
        perturbed,
        run,
    };
    match work.run_to_end(observer)? {
        true => work.summarize(test).map(Some),
        false => Ok(None),
    }
}

/// A training in progress.
struct TrainingWork<'a> {
    recipe: &'a TrainingRecipe,
    prepared: PreparedTraining<'a, InteractionNetwork>,
    /// For a recipe with a regularizer.
    perturbed: Option<PerturbedTexts>,
    run: TrainingRun,
}

impl TrainingWork<'_> {
    /// Makes all updates that are left; returns whether it was not canceled.
    fn run_to_end(&mut self, observer: &dyn TrainingObserver) -> Result<bool, Error> {
        let seed = self.prepared.request.seed;
        let (mut counted, mut saved) = (Instant::now(), Instant::now());
        while !self.run.is_finished() {
            let (network, pairs) = (&self.prepared.ranker, &self.prepared.training.pairs);
            let perturbed = self.perturbed.as_ref();
            let forward = |rows: &[usize], step: u64| {
                if let Some(perturbed) = perturbed {
                    return perturbed.forward(network, pairs, rows, (seed, step));
                }
                let pairs: Vec<&PreparedPair> = rows.iter().map(|it| &pairs[*it]).collect();
                let scores = network.forward(&pairs, ForwardMode::Training { seed, step })?;
                Ok(scores.into())
            };
            self.run.advance(&forward)?;
            let is_due = self.run.is_evaluation_due();
            if is_due {
                let point = self.evaluate()?;
                observer.evaluated(&point);
            }
            observer.updated(self.run.progress().step, self.run.n_updates());
            self.run.add_seconds(counted.elapsed().as_secs_f64());
            counted = Instant::now();
            let is_canceled = observer.is_canceled();
            if is_due || is_canceled || saved.elapsed() > CHECKPOINT_INTERVAL {
                let folder = &self.prepared.folder;
                folder.write_checkpoint(&self.run.checkpoint()?)?;
                saved = Instant::now();
            }
            if is_canceled {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds a point to the learning curve and keeps the weights if they are selected.
    fn evaluate(&mut self) -> Result<LearningCurvePoint, Error> {
        let selection = &self.recipe.selection;
        let loss = self.run.mean_loss().unwrap_or_default();
        let point = (self.prepared).evaluate(self.run.progress().step, loss)?;
        let value = point.dev[selection.measure.name()];
        let outcome = self.run.record_evaluation(value)?;
        if outcome == EvaluationOutcome::Best || selection.weights == SelectedWeights::Last {
            let weights = self.prepared.ranker.to_safetensors();
            let weights = weights.map_err(Error::model_error_converter("that is trained"))?;
            self.prepared.folder.write(WEIGHTS, &weights)?;
        }
        self.prepared.add_to_curve(&point)?;
        Ok(point)
    }

    /// Evaluates the selected weights and writes the result.
    fn summarize(&self, test: Option<SplitCandidates>) -> Result<TrainingSummary, Error> {
        let weights = self.prepared.folder.read_selected(WEIGHTS)?;
        let trained = &self.prepared.ranker;
        let words = trained.vocabulary().words().to_vec();
        let config = trained.config().to_json();
        let network = InteractionNetwork::load(config.as_bytes(), &weights, words)
            .map_err(Error::model_error_converter("that is trained"))?;
        let (progress, selection) = (self.run.progress(), &self.recipe.selection);
        let model = SelectedModel {
            file: WEIGHTS,
            bytes: &weights,
            n_parameters: network.n_parameters() as u64,
            importances: &[],
            n_steps: progress.step,
            seconds: progress.seconds,
            data_sha256: &progress.data_sha256,
            measure: selection.measure,
            best: progress.best,
            selection: selection.weights,
        };
        self.prepared.write_result(&network, test, &model)
    }
}

/// Names the folder in the error that its checkpoint is of another training.
fn folder_of_other_training(error: TrainingError, request: &TrainingRequest) -> Error {
    match error {
        TrainingError::OtherTraining { what, .. } => Error::OtherTraining {
            folder: request.out.clone(),
            what,
        },
        other => other.into(),
    }
}
