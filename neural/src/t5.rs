//! T5: an encoder that reads a text and a decoder that writes another, token by token.
//!
//! Raffel et al. (JMLR 2020), arXiv:1910.10683; the later form with gated layers is T5 v1.1
//! (Shazeer 2020, arXiv:2002.05202), to which Flan-T5 belongs. Tensor names follow
//! `T5ForConditionalGeneration` of Hugging Face transformers. candle-transformers' T5 is not used
//! because its encoder takes no padding mask, so that the texts of a padded batch silently change
//! each other's scores. Here nothing is padded: texts stand one after another.
//!
//! What sets it apart from BERT: positions are known by their distance alone, in buckets that
//! grow with it, as a number added to each attention score; attention is not divided by `√d`;
//! normalization is by the root of the mean square, before each part; there are no biases.
//!
//! Shapes: `t` pieces of all texts, `l` pieces of one text, `r` rows that the decoder writes at
//! once, `h` units of the model, `a` heads of `d` units, `i = a d` (which need not be `h`), `m`
//! units of the feed forward layer, `v` pieces of the vocabulary.

mod config;
mod relative_position;
mod parameters;
mod kernels;
mod encoder;
mod decoder;
mod tokenizer;

pub(crate) use config::T5Config;
pub(crate) use decoder::{CrossAttentionCache, DecodingState, T5Decoder};
pub(crate) use tokenizer::T5Tokenizer;

use gemm::Parallelism;

use crate::device::ComputeTarget;
use crate::error::Error;
use crate::model_files::ModelFiles;
use crate::tokenization::EncoderInput;
use crate::weights::ModelWeights;
use parameters::T5Parameters;

/// The most tokens that are read at once. Distances beyond the last bucket are all alike, so the
/// model has no bound of its own; attention takes their square in memory.
const MOST_PIECES: usize = 4_096;

/// A T5 in the memory of the CPU.
pub(crate) struct T5 {
    parameters: T5Parameters,
}

impl T5 {
    /// Reads the tensors. There is a path for the CPU alone.
    pub(crate) fn load(
        files: &ModelFiles,
        config: T5Config,
        computing: impl Into<ComputeTarget>,
    ) -> Result<T5, Error> {
        computing.into().require_default("a T5")?;
        let weights = ModelWeights::open(&files.weights, "")?;
        Ok(T5 {
            parameters: T5Parameters::load(&weights, config)?,
        })
    }

    pub(crate) fn config(&self) -> &T5Config {
        &self.parameters.config
    }

    /// The states of every piece of every text, normalized: `[t, h]`. One thread, unless the
    /// products are given more.
    pub(crate) fn encode(&self, texts: &[EncoderInput<'_>], parallelism: Parallelism) -> Vec<f32> {
        encoder::forward(&self.parameters, texts, parallelism)
    }

    /// What the decoder looks up of a text: keys and values of its states `[l, h]`.
    pub(crate) fn cross_attention_cache(
        &self,
        states: &[f32],
        parallelism: Parallelism,
    ) -> CrossAttentionCache {
        CrossAttentionCache::compute(&self.parameters, states, parallelism)
    }

    /// The decoder, for at most so many tokens.
    pub(crate) fn decoder(&self, max_new: usize) -> T5Decoder<'_> {
        T5Decoder::new(&self.parameters, max_new)
    }

    /// Refuses tokens that another model has made.
    pub(crate) fn check(&self, ids: &[u32], max_pieces: usize) -> Result<(), Error> {
        let v = self.config().vocab_size;
        let foreign = |reason| Err(Error::InvalidTokens { reason });
        if !(1..=max_pieces).contains(&ids.len()) {
            return foreign(format!("{} pieces, not 1 to {max_pieces}", ids.len()));
        }
        match ids.iter().find(|&&id| id as usize >= v) {
            Some(id) => foreign(format!("id {id} of {v}")),
            None => Ok(()),
        }
    }
}

/// Refuses a bound on tokens that leaves no room for a text, or is beyond all use.
pub(crate) fn check_bound(found: usize, least: usize) -> Result<(), Error> {
    match (least..=MOST_PIECES).contains(&found) {
        true => Ok(()),
        false => Err(Error::MaxTokens {
            found,
            least,
            most: MOST_PIECES,
        }),
    }
}

#[cfg(test)]
pub(crate) mod tests;
