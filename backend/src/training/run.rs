//! Trains a ranker from the first update, or from its last checkpoint, to the result.

use std::time::{Duration, Instant};

use neural::training::{
    EvaluationOutcome, SelectedWeights, TrainingError, TrainingExamples, TrainingInput,
    TrainingRecipe, TrainingRun, UpdateScores,
};
use neural::{
    Device, FineTunedRanker, ForwardMode, InteractionConfig, InteractionNetwork, PreparedPair,
    TokenizedPair,
};
use sha2::{Digest, Sha256};
use shared::collection::{Collection, encode_hex};
use shared::study::preparation::ParsedInputFiles;
use shared::training::{LearningCurvePoint, TrainingSummary};

use super::examples::{CandidatesOfSplits, SplitCandidates};
use super::folder::{self, TrainingFolder};
use super::negatives::{PoolRankings, select_teacher_scores};
use super::perturbation::PerturbedTexts;
use super::prepared_training::{PreparedTraining, SelectedModel};
use super::ranker_in_training::{NetworkInTraining, RankerToEvaluate};
use super::request::{EncoderToTrain, ModelToTrain, NetworkToTrain};
use super::{TrainingObserver, TrainingRequest, lambdamart, words};
use crate::collection_files::CollectionWithReadReport;
use crate::error::Error;
use crate::{models, pipeline};

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
        ModelToTrain::Encoder(model) => train_encoder(request, model, loaded, observer),
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
    let vectors = request.model.word_vectors();
    let selected = SelectedExamples::select(request, recipe, loaded, vectors)?;
    let words = recipe.words_and_network()?.0;
    let vectors = selected.files.vectors.clone();
    let vocabulary = words::build_vocabulary(collection, words, vectors.as_deref())?;
    let config = InteractionConfig::from_recipe(model.kind, recipe, vocabulary.dimensions())?;
    let network = InteractionNetwork::with_random_weights(config, vocabulary, request.seed)
        .map_err(Error::model_error_converter("that is trained"))?;
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
    let prepare = |it| PerturbedTexts::prepare(it, collection, &selected.training, &network);
    let perturbed = recipe.regularizer.as_ref().map(prepare);
    let seed = request.seed;
    let compute = |network: &InteractionNetwork, pairs: &[PreparedPair], rows: &[usize], step| {
        match &perturbed {
            Some(perturbed) => perturbed.forward(network, pairs, rows, (seed, step)),
            None => compute_scores_of_rows(network, pairs, rows, (seed, step)),
        }
    };
    selected.train(network, hash, &compute, observer)
}

fn train_encoder(
    request: &TrainingRequest,
    model: &EncoderToTrain,
    loaded: &CollectionWithReadReport,
    observer: &dyn TrainingObserver,
) -> Result<Option<TrainingSummary>, Error> {
    let recipe = &model.recipe;
    let (name, files) = models::read_encoder_files(&model.from)?;
    let settings = recipe.encoder()?.clone();
    let (device, seed) = (Device::Cpu, request.seed);
    let ranker = FineTunedRanker::from_encoder(model.kind, settings, &files, device, seed)
        .map_err(Error::model_error_converter(&name))?;
    let selected = SelectedExamples::select(request, recipe, loaded, None)?;
    let mut hash = Sha256::new();
    hash.update(files.fingerprint_for_use(model.kind.name(), 0));
    for (_, file) in ranker.named_files() {
        hash.update(file);
    }
    hash.update(loaded.collection.content_hash());
    let compute = |ranker: &FineTunedRanker, pairs: &[TokenizedPair], rows: &[usize], step| {
        compute_scores_of_rows(ranker, pairs, rows, (seed, step))
    };
    selected.train(ranker, hash, &compute, observer)
}

/// Computes the scores of rows for an update of a training with this seed.
fn compute_scores_of_rows<R: NetworkInTraining>(
    ranker: &R,
    pairs: &[R::Pair],
    rows: &[usize],
    (seed, step): (u64, u64),
) -> Result<UpdateScores, neural::Error> {
    let pairs: Vec<&R::Pair> = rows.iter().map(|it| &pairs[*it]).collect();
    ranker.compute_scores(&pairs, ForwardMode::Training { seed, step })
}

type PairOf<R> = <R as RankerToEvaluate>::Pair;
type ScoresOfUpdate = Result<UpdateScores, neural::Error>;

/// Computes the scores of the rows of an update, given by its number.
type ComputeScores<'a, R> = dyn Fn(&R, &[PairOf<R>], &[usize], u64) -> ScoresOfUpdate + 'a;

/// The examples of a training, and the queries to evaluate on.
struct SelectedExamples<'a> {
    request: &'a TrainingRequest,
    recipe: &'a TrainingRecipe,
    collection: &'a Collection,
    training: SplitCandidates,
    dev: SplitCandidates,
    test: Option<SplitCandidates>,
    files: ParsedInputFiles,
    examples: TrainingExamples,
    teacher_scores: Option<Vec<f32>>,
}

impl<'a> SelectedExamples<'a> {
    fn select(
        request: &'a TrainingRequest,
        recipe: &'a TrainingRecipe,
        loaded: &'a CollectionWithReadReport,
        vectors: Option<&str>,
    ) -> Result<SelectedExamples<'a>, Error> {
        let collection = &loaded.collection;
        let CandidatesOfSplits {
            training,
            dev,
            test,
            pools,
            files,
        } = CandidatesOfSplits::select(request, loaded, vectors)?;
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
        Ok(SelectedExamples {
            request,
            recipe,
            collection,
            training,
            dev,
            test,
            files,
            examples,
            teacher_scores,
        })
    }

    /// Trains a ranker; `hash` has all that its scores depend on besides the examples.
    fn train<R: NetworkInTraining>(
        self,
        ranker: R,
        mut hash: Sha256,
        compute_scores: &ComputeScores<'_, R>,
        observer: &dyn TrainingObserver,
    ) -> Result<Option<TrainingSummary>, Error> {
        let SelectedExamples {
            request,
            recipe,
            collection,
            ..
        } = self;
        for split in [&self.training, &self.dev] {
            split.add_to_hash(collection, &mut hash);
        }
        for row in self.examples.rows() {
            hash.update((row as u64).to_le_bytes());
        }
        for score in self.teacher_scores.iter().flatten() {
            hash.update(score.to_le_bytes());
        }
        let input = TrainingInput {
            recipe: recipe.clone(),
            examples: self.examples,
            teacher_scores: self.teacher_scores,
            data_sha256: encode_hex(&hash.finalize()),
            seed: request.seed,
        };
        let folder = TrainingFolder::open(request.out.clone())?;
        folder.ensure_without(folder::LAMBDAMART_CHECKPOINT)?;
        let (run, curve) = match folder.read_checkpoint()? {
            None => {
                for (name, bytes) in ranker.files() {
                    folder.write(name, &bytes)?;
                }
                folder.write("recipe.toml", recipe.to_toml().as_bytes())?;
                (TrainingRun::start(input, ranker.variables())?, Vec::new())
            }
            Some(checkpoint) => {
                let run = TrainingRun::resume(input, ranker.variables(), &checkpoint)
                    .map_err(|it| folder_of_other_training(it, request))?;
                (run, folder.read_curve(checkpoint.progress.evaluated_step)?)
            }
        };
        let files = (!run.is_finished()).then_some(self.files);
        let (data, splits) = ((request, collection), [self.training, self.dev]);
        let curve = (folder, curve);
        let prepared = PreparedTraining::prepare(data, splits, ranker, files, curve)?;
        let mut work = TrainingWork {
            recipe,
            prepared,
            run,
        };
        match work.run_to_end(compute_scores, observer)? {
            true => work.summarize(self.test).map(Some),
            false => Ok(None),
        }
    }
}

/// A training in progress.
struct TrainingWork<'a, R: NetworkInTraining> {
    recipe: &'a TrainingRecipe,
    prepared: PreparedTraining<'a, R>,
    run: TrainingRun,
}

impl<R: NetworkInTraining> TrainingWork<'_, R> {
    /// Makes all updates that are left; returns whether it was not canceled.
    fn run_to_end(
        &mut self,
        compute_scores: &ComputeScores<'_, R>,
        observer: &dyn TrainingObserver,
    ) -> Result<bool, Error> {
        let (mut counted, mut saved) = (Instant::now(), Instant::now());
        let mut interval = CHECKPOINT_INTERVAL;
        while !self.run.is_finished() {
            let (ranker, pairs) = (&self.prepared.ranker, &self.prepared.training.pairs);
            let forward = |rows: &[usize], step| compute_scores(ranker, pairs, rows, step);
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
            if is_due || is_canceled || saved.elapsed() > interval {
                let folder = &self.prepared.folder;
                folder.write_checkpoint(&self.run.checkpoint()?)?;
                // A large checkpoint takes a while, and is written less often.
                interval = CHECKPOINT_INTERVAL.max(counted.elapsed() * 20);
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
        let of_model = || Error::model_error_converter("that is trained");
        let selection = &self.recipe.selection;
        let loss = self.run.mean_loss().unwrap_or_default();
        let weights = self.prepared.ranker.to_weights().map_err(of_model())?;
        let update = self.prepared.ranker.update_scorer(&weights);
        update.map_err(of_model())?;
        let point = (self.prepared).evaluate(self.run.progress().step, loss)?;
        let value = point.dev[selection.measure.name()];
        let outcome = self.run.record_evaluation(value)?;
        if outcome == EvaluationOutcome::Best || selection.weights == SelectedWeights::Last {
            self.prepared.folder.write(WEIGHTS, &weights)?;
        }
        self.prepared.add_to_curve(&point)?;
        Ok(point)
    }

    /// Evaluates the selected weights and writes the result.
    fn summarize(&mut self, test: Option<SplitCandidates>) -> Result<TrainingSummary, Error> {
        let weights = self.prepared.folder.read_selected(WEIGHTS)?;
        let load = self.prepared.ranker.use_weights(&weights);
        load.map_err(Error::model_error_converter("that is trained"))?;
        let (progress, selection) = (self.run.progress(), &self.recipe.selection);
        let model = SelectedModel {
            file: WEIGHTS,
            bytes: &weights,
            n_parameters: self.prepared.ranker.n_parameters() as u64,
            importances: &[],
            n_steps: progress.step,
            seconds: progress.seconds,
            data_sha256: &progress.data_sha256,
            measure: selection.measure,
            best: progress.best,
            selection: selection.weights,
        };
        self.prepared
            .write_result(&self.prepared.ranker, test, &model)
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
