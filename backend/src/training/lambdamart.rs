//! Trains LambdaMART (Burges 2010): regression trees over ranking features, grown by a library.
//!
//! Trees are grown a few at a time. After each of these evaluations the trees are written, read
//! again and continued, so that an interrupted training ends with the same bits. Nothing is drawn
//! at random.

mod checkpoint;
pub(super) mod recipe;

use std::time::Instant;

use hessboost::config::TrainingParams;
use hessboost::data::DMatrix;
use hessboost::error::HessboostError;
use hessboost::training::Trainer;
use neural::training::{BestEvaluation, SelectedWeights, TrainingError};
use sha2::{Digest, Sha256};
use shared::collection::encode_hex;
use shared::error::Error as InputError;
use shared::score::ranking_features::{
    N_RANKING_FEATURES, RankingFeature, RankingFeatureExtractor, RankingFeatureStatistics,
    RankingFeatureValues,
};
use shared::text::Analyzer;
use shared::training::{LearningCurvePoint, TrainingSummary};

use super::examples::{CandidatesOfSplits, SplitCandidates, measure_values};
use super::folder::{self, TrainingFolder};
use super::prepared_training::{PreparedTraining, SelectedModel};
use super::ranker_in_training::RankerToEvaluate;
use super::{TrainingObserver, TrainingRequest};
use crate::collection_files::CollectionWithReadReport;
use crate::error::Error;
use crate::models::{LAMBDAMART_FILES, LambdaMartConfig, LambdaMartTrees};
use crate::pipeline::{self, ParallelExecutor};
use checkpoint::LambdaMartCheckpoint;
pub(crate) use recipe::LambdaMartRecipe;

/// The highest grade; the gain of a document is 2 to its grade, minus 1.
const MAX_GRADE: i32 = 31;

/// Trains LambdaMART, continuing from the checkpoint in the folder of the request. Returns the
/// result, or `None` if the observer has canceled.
pub(super) fn train(
    request: &TrainingRequest,
    recipe: &LambdaMartRecipe,
    loaded: &CollectionWithReadReport,
    observer: &dyn TrainingObserver,
) -> Result<Option<TrainingSummary>, Error> {
    if !request.augmentation.instances.is_empty() {
        let reason = "instances are pairs, but LambdaMART learns from grades; leave them out, or \
                      train a network";
        return Err(InputError::conflicting_value("augment", reason).into());
    }
    let collection = &loaded.collection;
    let CandidatesOfSplits {
        training,
        dev,
        test,
        pools: _,
        files,
    } = CandidatesOfSplits::select(request, loaded, recipe.features.vectors.as_deref())?;
    let index = pipeline::build_index_with_tokens(
        collection,
        &Analyzer::default(),
        ParallelExecutor::default(),
    )?;
    let vectors = files.vectors.as_deref();
    let statistics = RankingFeatureStatistics::from_index(&index, vectors, &collection.queries);
    drop(index);
    let rankers = recipe.lexical_rankers()?;
    let written = [
        LambdaMartConfig::new(rankers).to_json(),
        serde_json::to_vec(&statistics).expect("statistics have finite numbers"),
    ];
    let mut hash = Sha256::new();
    written.iter().for_each(|it| hash.update(it));
    hash.update(collection.content_hash());
    for split in [&training, &dev] {
        split.add_to_hash(collection, &mut hash);
    }
    let data_sha256 = encode_hex(&hash.finalize());
    let matrix_rows = MatrixRows::of(&training)?;

    let folder = TrainingFolder::open(request.out.clone())?;
    folder.ensure_without(folder::CHECKPOINT)?;
    let (checkpoint, curve) = match LambdaMartCheckpoint::read(&folder)? {
        None => {
            for (name, bytes) in LAMBDAMART_FILES.iter().zip(&written) {
                folder.write(name, bytes)?;
            }
            folder.write("recipe.toml", recipe.to_toml().as_bytes())?;
            let begun = LambdaMartCheckpoint::begin(recipe, data_sha256, request.seed);
            (begun, Vec::new())
        }
        Some(checkpoint) => {
            checkpoint.check_training(recipe, &data_sha256, request)?;
            let curve = folder.read_curve(checkpoint.n_trees)?;
            (checkpoint, curve)
        }
    };
    let features = RankingFeatureExtractor::new(statistics, rankers)?;
    let ranker = TreesInTraining {
        features,
        trees: checkpoint.trees()?,
    };
    let files = (!checkpoint.is_finished).then_some(files);
    let (data, splits, curve) = ((request, collection), [training, dev], (folder, curve));
    let prepared = PreparedTraining::prepare(data, splits, ranker, files, curve)?;
    let matrix = matrix_rows.matrix(&prepared.training.pairs);
    let mut work = LambdaMartWork {
        recipe,
        matrix: matrix.map_err(library_error)?,
        parameters: recipe.library_parameters()?,
        prepared,
        checkpoint,
    };
    match work.run_to_end(observer)? {
        true => work.summarize(test).map(Some),
        false => Ok(None),
    }
}

/// The trees grown so far, with the features that they read.
struct TreesInTraining {
    features: RankingFeatureExtractor,
    /// `None` before the first tree; all scores are 0 then.
    trees: Option<LambdaMartTrees>,
}

impl RankerToEvaluate for TreesInTraining {
    type Pair = RankingFeatureValues;

    fn name(&self) -> &str {
        "lambdamart"
    }

    fn reads_titles(&self) -> bool {
        true
    }

    fn prepare_pair(&self, query: &str, document: &str) -> Result<RankingFeatureValues, Error> {
        let [query, document] = [query, document].map(|it| self.features.word_numbers(it));
        Ok(self.features.compute(&query, &document))
    }

    fn score_pairs(&self, pairs: &[&RankingFeatureValues]) -> Result<Vec<f64>, Error> {
        match &self.trees {
            None => Ok(vec![0.0; pairs.len()]),
            Some(trees) => {
                let scores = trees.score(pairs);
                scores.map_err(Error::model_error_converter("that is trained"))
            }
        }
    }
}

/// The grades of the training documents, and the number of documents of each query.
struct MatrixRows {
    grades: Vec<f32>,
    group_sizes: Vec<usize>,
}

impl MatrixRows {
    fn of(training: &SplitCandidates) -> Result<MatrixRows, Error> {
        let mut group_sizes = vec![0; training.queries.len()];
        let mut grades = Vec::with_capacity(training.rows.len());
        for row in &training.rows {
            if row.grade > MAX_GRADE {
                let reason = format!(
                    "a document has the grade {}, but LambdaMART takes at most {MAX_GRADE}",
                    row.grade
                );
                return Err(InputError::unsupported_value("qrels", reason).into());
            }
            group_sizes[row.query] += 1;
            grades.push(row.grade.max(0) as f32);
        }
        Ok(MatrixRows {
            grades,
            group_sizes,
        })
    }

    /// Returns the matrix of features. Each document is a group of its own for splits, so that the
    /// library bounds the number of documents of a leaf.
    fn matrix(&self, pairs: &[RankingFeatureValues]) -> Result<DMatrix, HessboostError> {
        let documents: Vec<u64> = (0..pairs.len() as u64).collect();
        DMatrix::from_dense(pairs.as_flattened(), pairs.len(), N_RANKING_FEATURES)?
            .with_labels(&self.grades)?
            .with_group_sizes(&self.group_sizes)?
            .with_split_groups(&documents)
    }
}

/// Grows trees after those that there are.
fn grow_trees(
    parameters: &TrainingParams,
    matrix: &DMatrix,
    before: Option<&LambdaMartTrees>,
    n_trees: usize,
) -> Result<LambdaMartTrees, Error> {
    let mut trainer = Trainer::new(parameters, matrix, n_trees);
    if let Some(before) = before {
        trainer = trainer.init_model(before.as_boosted_model());
    }
    let grown = trainer.train().map_err(library_error)?;
    LambdaMartTrees::from_training(&grown.model)
        .map_err(Error::model_error_converter("that is trained"))
}

/// Converts an error of the library, which means that it cannot use the candidates.
fn library_error(error: HessboostError) -> Error {
    let reason = error.to_string();
    TrainingError::InvalidExamples { reason }.into()
}

/// A training in progress.
struct LambdaMartWork<'a> {
    recipe: &'a LambdaMartRecipe,
    prepared: PreparedTraining<'a, TreesInTraining>,
    matrix: DMatrix,
    parameters: TrainingParams,
    checkpoint: LambdaMartCheckpoint,
}

impl LambdaMartWork<'_> {
    /// Grows all trees that are left; returns whether it was not canceled.
    fn run_to_end(&mut self, observer: &dyn TrainingObserver) -> Result<bool, Error> {
        let n_trees = self.recipe.boosting.n_trees as u64;
        let mut counted = Instant::now();
        while !self.checkpoint.is_finished {
            let rest = n_trees - self.checkpoint.n_trees;
            let n_grown = rest.min(self.recipe.selection.evaluation_interval as u64);
            let before = self.prepared.ranker.trees.as_ref();
            let trees = grow_trees(&self.parameters, &self.matrix, before, n_grown as usize)?;
            self.prepared.ranker.trees = Some(trees);
            self.checkpoint.n_trees += n_grown;
            let point = self.evaluate()?;
            observer.evaluated(&point);
            observer.updated(self.checkpoint.n_trees, n_trees);
            self.checkpoint.seconds += counted.elapsed().as_secs_f64();
            counted = Instant::now();
            self.checkpoint.write(&self.prepared.folder)?;
            if observer.is_canceled() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds a point to the learning curve and keeps the trees if they are selected.
    fn evaluate(&mut self) -> Result<LearningCurvePoint, Error> {
        let PreparedTraining {
            ranker, training, ..
        } = &self.prepared;
        let training = measure_values(&training.evaluate(ranker)?.mean);
        let selection = &self.recipe.selection;
        let step = self.checkpoint.n_trees;
        let point = self.prepared.evaluate(step, 1.0 - training["nDCG@10"])?;
        let value = point.dev[selection.measure.name()];
        let trees = ranker.trees.as_ref().expect("trees were grown");
        let trees = trees
            .to_json()
            .map_err(Error::model_error_converter("that is trained"))?;
        let best = self.checkpoint.best.filter(|it| it.value >= value);
        if best.is_none() || selection.trees == SelectedWeights::Last {
            self.prepared.folder.write(LAMBDAMART_FILES[2], &trees)?;
        }
        let best = best.unwrap_or(BestEvaluation { step, value });
        self.checkpoint.best = Some(best);
        let interval = selection.evaluation_interval as u64;
        let n_without_better = (step - best.step).div_ceil(interval);
        let is_stopped = selection
            .patience
            .is_some_and(|it| n_without_better >= it as u64);
        self.checkpoint.is_finished = is_stopped || step >= self.recipe.boosting.n_trees as u64;
        self.checkpoint.set_trees(trees);
        self.prepared.add_to_curve(&point)?;
        Ok(point)
    }

    /// Evaluates the selected trees and writes the result.
    fn summarize(&mut self, test: Option<SplitCandidates>) -> Result<TrainingSummary, Error> {
        let bytes = self.prepared.folder.read_selected(LAMBDAMART_FILES[2])?;
        let trees = LambdaMartTrees::from_json(&bytes);
        let trees = trees.map_err(Error::model_error_converter("that is trained"))?;
        let mut importances: Vec<(RankingFeature, f64)> = trees.feature_importances();
        importances.sort_by(|a, b| b.1.total_cmp(&a.1));
        let model = SelectedModel {
            file: LAMBDAMART_FILES[2],
            bytes: &bytes,
            n_parameters: trees.n_leaves() as u64,
            importances: &importances,
            n_steps: self.checkpoint.n_trees,
            seconds: self.checkpoint.seconds,
            data_sha256: &self.checkpoint.data_sha256,
            measure: self.recipe.selection.measure,
            best: self.checkpoint.best,
            selection: self.recipe.selection.trees,
        };
        self.prepared.ranker.trees = Some(trees);
        self.prepared
            .write_result(&self.prepared.ranker, test, &model)
    }
}

#[cfg(test)]
mod tests;
