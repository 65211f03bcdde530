//! The tables of a recipe.

use serde::{Deserialize, Serialize};

use super::tables::{LossTable, OptimizerTable};
use crate::interaction::NetworkVariant;
use crate::training::losses::LossFunction;
use crate::training::optimizer::OptimizerConfig;
use crate::training::sampling::{SamplingOrder, TrainingExamples};
use crate::training::schedule::LearningRateDecay;

/// The table `[words]`: which words of a text the network reads, and their vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WordSettings {
    /// The file of word vectors; without it all vectors are random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vectors: Option<String>,
    /// The number of elements of a word vector.
    pub dimensions: usize,
    /// The maximum number of terms of a query.
    pub max_query_terms: usize,
    /// The maximum number of terms of a document.
    pub max_document_terms: usize,
    /// The number of occurrences in the collection below which a word is unknown.
    pub min_word_frequency: usize,
    /// Whether a document is its title and its body, or its body alone.
    pub read_titles: bool,
    /// Whether English stop words are removed.
    pub remove_stop_words: bool,
    /// Where the numbers are from.
    pub source: String,
}

/// The table `[network]`: what the recipes of the same network differ in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkSettings {
    /// Which published network it is, and whether the defects of the published code are kept.
    pub variant: NetworkVariant,
    /// Whether the word vectors are trained.
    pub train_vectors: bool,
    /// The probability that an element is dropped during training, from 0 to below 1.
    pub dropout: f64,
    /// Where the numbers are from.
    pub source: String,
}

/// The table `[sampling]`: the examples of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SamplingSettings {
    /// What an example is made from.
    pub unit: ExampleUnit,
    /// The order in which examples are drawn.
    pub order: SamplingOrder,
    /// The number of examples in a batch.
    pub batch_size: usize,
    /// The number of negatives of each positive.
    pub n_negatives: usize,
    /// Where negatives are from.
    pub negatives: NegativeSource,
    /// The number of documents at the top of a ranking from which negatives are drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub negative_depth: Option<usize>,
    /// How far below the score of the positive a hard negative must be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hard_negative_margin: Option<f64>,
    /// Where the numbers are from.
    pub source: String,
}

/// What a training example is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExampleUnit {
    /// Each pair of a document with a higher and one with a lower grade is an example.
    Pair,
    /// Each relevant document is an example; its negatives are drawn.
    Positive,
    /// Each query is an example; one of its relevant documents and its negatives are drawn.
    Query,
}

impl ExampleUnit {
    /// Makes examples of the candidates of each query, given as row and grade.
    pub fn examples_from_grades(self, queries: &[Vec<(usize, i32)>]) -> TrainingExamples {
        match self {
            ExampleUnit::Pair => TrainingExamples::pairs_from_grades(queries),
            ExampleUnit::Positive => TrainingExamples::positive_groups_from_grades(queries),
            ExampleUnit::Query => TrainingExamples::query_groups_from_grades(queries),
        }
    }
}

/// Where the negatives of an example are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NegativeSource {
    /// The documents that the qrels list with a lower grade.
    Judged,
    /// Random documents among the first `negative_depth` of a ranking.
    Random,
    /// The first `negative_depth` documents of a ranking whose scores are at least
    /// `hard_negative_margin` below those of the positives.
    Hard,
}

/// The table `[loss]`: the loss and its margin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "LossTable", into = "LossTable")]
pub struct LossSettings {
    /// The loss over the scores of a batch.
    pub function: LossFunction,
    /// Where the numbers are from.
    pub source: String,
}

/// The table `[optimizer]`: the method and its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "OptimizerTable", into = "OptimizerTable")]
pub struct OptimizerSettings {
    /// The optimizer with its numbers.
    pub config: OptimizerConfig,
    /// The largest norm of all gradients together; infinite if they are not clipped.
    pub max_gradient_norm: f64,
    /// Where the numbers are from.
    pub source: String,
}

/// The table `[schedule]`: the number of updates and their learning rates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduleSettings {
    /// The largest number of epochs; the ranker is evaluated after each.
    pub epochs: u64,
    /// The number of updates in an epoch; by default the number of examples divided by the size of
    /// a batch, rounded up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updates_per_epoch: Option<u64>,
    /// The share of all updates in which the learning rate rises linearly.
    pub warmup_fraction: f64,
    /// The change of the learning rate after the warm-up.
    pub decay: LearningRateDecay,
    /// Where the numbers are from.
    pub source: String,
}

/// The table `[selection]`: which weights are the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelectionSettings {
    /// The weights that are the result.
    pub weights: SelectedWeights,
    /// The measure on the development queries.
    pub measure: SelectionMeasure,
    /// The number of epochs without a better value after which training stops early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience_epochs: Option<u64>,
    /// Where the numbers are from.
    pub source: String,
}

/// Which weights of a training are its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SelectedWeights {
    /// Those of the first epoch with the highest value of the measure.
    Best,
    /// Those after the last update.
    Last,
}

/// A measure of effectiveness on the development queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SelectionMeasure {
    /// Average precision of the whole ranking.
    #[serde(rename = "AP")]
    AveragePrecision,
    /// Reciprocal rank of the first relevant document.
    #[serde(rename = "RR")]
    ReciprocalRank,
    /// Reciprocal rank within the first ten documents.
    #[serde(rename = "RR@10")]
    ReciprocalRankAt10,
    /// Normalized discounted cumulative gain of the first ten documents.
    #[serde(rename = "nDCG@10")]
    NdcgAt10,
}

impl SelectionMeasure {
    /// Returns the name of the measure, for example `nDCG@10`.
    pub fn name(self) -> &'static str {
        match self {
            SelectionMeasure::AveragePrecision => "AP",
            SelectionMeasure::ReciprocalRank => "RR",
            SelectionMeasure::ReciprocalRankAt10 => "RR@10",
            SelectionMeasure::NdcgAt10 => "nDCG@10",
        }
    }
}
