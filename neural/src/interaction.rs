//! Rankers over the interactions of query terms with document terms: DRMM, aNMM, Duet,
//! MatchPyramid, KNRM and Conv-KNRM.
//!
//! They are small and made to be trained: scores are tensors with a graph, from which `backward`
//! computes the gradients of all variables.
//! Everything that is random is a function of a seed and of what it is for, and no result depends
//! on the number of threads. They compute on the CPU in f32.
//!
//! A text is a list of ids of an [`InteractionVocabulary`]. A query and a document are first made
//! into a [`PreparedPair`], once for all epochs of a training run.

mod config;
mod vocabulary;
mod ranker;
mod layers;
mod term_histogram;
mod kernel_pooling;
mod match_pyramid;
mod duet;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use candle_core::{Device, Tensor, Var};

use crate::dropout::ForwardMode;
use crate::error::{Error, unsupported_value};
use crate::interaction::term_histogram::BinContent;
use crate::random::RandomStream;
use crate::weights::ModelWeights;
pub use config::{
    ConvKernelPoolingConfig, DuetConfig, HistogramNetworkConfig, InteractionConfig,
    InteractionNetworkConfig, InteractionRankerKind, KernelPoolingConfig, MatchPyramidConfig,
    NetworkVariant,
};
pub use ranker::InteractionRanker;
pub use vocabulary::InteractionVocabulary;

/// The names of the tensors of the vocabulary in `model.safetensors`.
const WORD_VECTORS: &str = "vocabulary.vectors";
const IDF: &str = "vocabulary.idf";

/// The number of pairs that are scored at once.
const BATCH_SIZE: usize = 256;

/// A query and a document as a ranker needs them.
#[derive(Clone, Debug, PartialEq)]
pub struct PreparedPair {
    /// At most `max_query_terms` ids.
    query: Vec<u32>,
    /// At most `max_document_terms` ids.
    document: Vec<u32>,
    /// `[query, bins]` over all terms of the document, for DRMM and aNMM; empty for others.
    histograms: Vec<f32>,
}

/// A network over the interactions of query terms with document terms, which are given by ids.
pub struct InteractionNetwork {
    config: InteractionConfig,
    vocabulary: Arc<InteractionVocabulary>,
    variables: Vec<(String, Var)>,
}

/// What a network computes scores from.
struct ForwardPass<'a> {
    config: &'a InteractionConfig,
    vocabulary: &'a InteractionVocabulary,
    /// In the order of the network's variable shapes.
    variables: Vec<Tensor>,
    pairs: &'a [&'a PreparedPair],
    mode: ForwardMode,
}

/// The name, shape and initial values of a trained variable.
struct VariableShape {
    name: String,
    shape: Vec<usize>,
    values: InitialValues,
}

/// The values of a variable before training.
enum InitialValues {
    /// All numbers are 0.
    Zeros,
    /// Random numbers, uniform between minus and plus this bound.
    Uniform(f32),
    /// These numbers in row-major order.
    Given(Vec<f32>),
}

impl VariableShape {
    fn new(name: &str, shape: &[usize], values: InitialValues) -> VariableShape {
        VariableShape {
            name: name.to_owned(),
            shape: shape.to_vec(),
            values,
        }
    }
}

/// Uniform in ±`√(6 / (inputs + outputs))` (Glorot and Bengio, AISTATS 2010). A convolution has an
/// input and an output for each place in its kernel.
fn uniform_glorot(inputs: usize, outputs: usize) -> InitialValues {
    InitialValues::Uniform((6.0 / (inputs + outputs) as f32).sqrt())
}

impl InteractionNetwork {
    /// Creates a ranker with random weights. The same seed gives the same weights on every machine.
    pub fn with_random_weights(
        config: InteractionConfig,
        vocabulary: impl Into<Arc<InteractionVocabulary>>,
        seed: u64,
    ) -> Result<InteractionNetwork, Error> {
        let vocabulary = vocabulary.into();
        check_dimensions(&config, &vocabulary)?;
        let make_variable = |(index, it): (usize, VariableShape)| {
            let n = it.shape.iter().product();
            let values = match it.values {
                InitialValues::Zeros => vec![0.0; n],
                InitialValues::Given(values) => values,
                InitialValues::Uniform(bound) => {
                    RandomStream::select(seed, &[index as u64]).uniform_numbers(n, bound)
                }
            };
            let variable = Var::from_vec(values, it.shape, &Device::Cpu)?;
            Ok((it.name, variable))
        };
        let shapes = variable_shapes(&config, &vocabulary).into_iter();
        let variables = shapes.enumerate().map(make_variable);
        Ok(InteractionNetwork {
            variables: variables.collect::<Result<_, Error>>()?,
            config,
            vocabulary,
        })
    }

    /// Reads the contents of `config.json` and `model.safetensors`, which
    /// [`InteractionNetwork::to_safetensors`] wrote. `words` has the words in the order of their
    /// ids, from 1.
    pub fn load(
        config: &[u8],
        weights: &[u8],
        words: Vec<String>,
    ) -> Result<InteractionNetwork, Error> {
        let config = InteractionConfig::parse(config)?;
        let weights = ModelWeights::from_safetensors_bytes(weights, "")?;
        let read = |name: &str, shape: &[usize]| {
            let values = weights.read_tensor(name, shape)?;
            match values.iter().all(|it| it.is_finite()) {
                true => Ok(values),
                false => Err(Error::NotFinite),
            }
        };
        let (n_words, d) = (words.len(), config.dimensions);
        let vectors = read(WORD_VECTORS, &[n_words, d])?;
        let vocabulary = InteractionVocabulary::new(words, &read(IDF, &[n_words])?, &vectors, d)?;
        let read_variable = |it: VariableShape| {
            let values = read(&it.name, &it.shape)?;
            let variable = Var::from_vec(values, it.shape, &Device::Cpu)?;
            Ok((it.name, variable))
        };
        let shapes = variable_shapes(&config, &vocabulary).into_iter();
        Ok(InteractionNetwork {
            variables: shapes.map(read_variable).collect::<Result<_, Error>>()?,
            config,
            vocabulary: Arc::new(vocabulary),
        })
    }

    /// Returns the trained variables, and the vectors and inverse document frequencies of the
    /// words, as a safetensors file.
    pub fn to_safetensors(&self) -> Result<Vec<u8>, Error> {
        let vocabulary = &self.vocabulary;
        let (n_words, d) = (vocabulary.words().len(), vocabulary.dimensions());
        let vectors = Tensor::from_slice(&vocabulary.vectors()[d..], (n_words, d), &Device::Cpu)?;
        let idf = Tensor::from_slice(&vocabulary.idf()[1..], n_words, &Device::Cpu)?;
        let trained = self.variables.iter();
        let trained = trained.map(|(name, it)| (name.as_str(), it.as_tensor()));
        let tensors = trained.chain([(WORD_VECTORS, &vectors), (IDF, &idf)]);
        Ok(safetensors::serialize(tensors, None).map_err(candle_core::Error::from)?)
    }

    /// Returns the configuration, which is saved as `config.json`.
    pub fn config(&self) -> &InteractionConfig {
        &self.config
    }

    /// Returns the words with their vectors before training.
    pub fn vocabulary(&self) -> &Arc<InteractionVocabulary> {
        &self.vocabulary
    }

    /// Returns the trained variables with their names, always in the same order.
    pub fn variables(&self) -> &[(String, Var)] {
        &self.variables
    }

    /// Returns the number of trained weights.
    pub fn n_parameters(&self) -> usize {
        self.variables.iter().map(|(_, it)| it.elem_count()).sum()
    }

    /// Prepares a query and a document, given by the ids of their terms. Padding and ids that the
    /// vocabulary does not have are left out.
    pub fn prepare(&self, query: &[u32], document: &[u32]) -> PreparedPair {
        let n_words = self.vocabulary.words().len();
        let is_word = |id: &&u32| **id > 0 && **id as usize <= n_words;
        let query = query.iter().filter(is_word);
        let query: Vec<u32> = query.take(self.config.max_query_terms).copied().collect();
        let mut document: Vec<u32> = document.iter().filter(is_word).copied().collect();
        let histograms = |bins, content| {
            term_histogram::compute_histograms(&self.vocabulary, &query, &document, bins, content)
        };
        let histograms = match &self.config.network {
            InteractionNetworkConfig::Drmm(it) => {
                histograms(it.bins, BinContent::of_drmm(self.config.variant))
            }
            InteractionNetworkConfig::Anmm(it) => histograms(it.bins, BinContent::CosineSum),
            InteractionNetworkConfig::Duet(_)
            | InteractionNetworkConfig::MatchPyramid(_)
            | InteractionNetworkConfig::Knrm(_)
            | InteractionNetworkConfig::ConvKnrm(_) => Vec::new(),
        };
        document.truncate(self.config.max_document_terms);
        PreparedPair {
            query,
            document,
            histograms,
        }
    }

    /// Computes the score of each pair, `[n]`, unbounded.
    pub fn forward(&self, pairs: &[&PreparedPair], mode: ForwardMode) -> Result<Tensor, Error> {
        if pairs.is_empty() {
            return Ok(Tensor::zeros(0, candle_core::DType::F32, &Device::Cpu)?);
        }
        let tensor = |(_, it): &(String, Var)| match mode {
            ForwardMode::Inference => it.as_detached_tensor(),
            ForwardMode::Training { .. } => it.as_tensor().clone(),
        };
        let pass = ForwardPass {
            config: &self.config,
            vocabulary: &self.vocabulary,
            variables: self.variables.iter().map(tensor).collect(),
            pairs,
            mode,
        };
        let scores = match &self.config.network {
            InteractionNetworkConfig::Drmm(it) | InteractionNetworkConfig::Anmm(it) => {
                term_histogram::forward(&pass, it)
            }
            InteractionNetworkConfig::Duet(it) => duet::forward(&pass, it),
            InteractionNetworkConfig::MatchPyramid(it) => match_pyramid::forward(&pass, it),
            InteractionNetworkConfig::Knrm(_) => kernel_pooling::forward_knrm(&pass),
            InteractionNetworkConfig::ConvKnrm(it) => kernel_pooling::forward_conv_knrm(&pass, it),
        };
        Ok(scores?)
    }

    /// Computes the score of each pair, always finite. The score of a pair has the same bits
    /// whatever the other pairs are.
    pub fn score(&self, pairs: &[&PreparedPair]) -> Result<Vec<f32>, Error> {
        let mut scores = Vec::with_capacity(pairs.len());
        for pairs in pairs.chunks(BATCH_SIZE) {
            scores.extend(
                self.forward(pairs, ForwardMode::Inference)?
                    .to_vec1::<f32>()?,
            );
        }
        match scores.iter().all(|it| it.is_finite()) {
            true => Ok(scores),
            false => Err(Error::NotFinite),
        }
    }
}

fn check_dimensions(
    config: &InteractionConfig,
    vocabulary: &InteractionVocabulary,
) -> Result<(), Error> {
    config.check()?;
    if config.dimensions != vocabulary.dimensions() {
        let expected = format!("{}, as in the vocabulary", vocabulary.dimensions());
        return Err(unsupported_value(
            "dimensions",
            &config.dimensions,
            &expected,
        ));
    }
    Ok(())
}

fn variable_shapes(
    config: &InteractionConfig,
    vocabulary: &InteractionVocabulary,
) -> Vec<VariableShape> {
    match &config.network {
        InteractionNetworkConfig::Drmm(it) | InteractionNetworkConfig::Anmm(it) => {
            term_histogram::variable_shapes(it)
        }
        InteractionNetworkConfig::Duet(it) => duet::variable_shapes(it, config),
        InteractionNetworkConfig::MatchPyramid(it) => {
            match_pyramid::variable_shapes(it, vocabulary)
        }
        InteractionNetworkConfig::Knrm(it) => kernel_pooling::knrm_variable_shapes(it),
        InteractionNetworkConfig::ConvKnrm(it) => {
            kernel_pooling::conv_knrm_variable_shapes(it, config.dimensions)
        }
    }
}
