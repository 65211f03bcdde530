//! T5: an encoder that reads a text and a decoder that generates another, token by token.
//!
//! Raffel et al. (JMLR 2020), arXiv:1910.10683; the later form with gated layers is T5 v1.1
//! (Shazeer 2020, arXiv:2002.05202), which includes Flan-T5. Tensor names follow
//! `T5ForConditionalGeneration` of Hugging Face transformers. candle-transformers' T5 is not used
//! because its encoder has no padding mask, so that the texts of a padded batch silently change
//! each other's scores. Here nothing is padded: texts are concatenated.
//!
//! The differences from BERT: positions are relative, in buckets of distances whose biases are
//! added to the attention scores; attention is not divided by `√d`; normalization divides by the
//! root mean square, before each part; there are no other biases.
//!
//! Shapes: `t` tokens of all texts, `l` tokens of one text, `r` sequences that the decoder
//! generates at once, `h` units of the model, `a` heads of `d` units, `i = a d` (which need not be
//! `h`), `m` units of the feed-forward layer, `v` tokens of the vocabulary.

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

use crate::device::DeviceAndPrecision;
use crate::error::Error;
use crate::model_files::ModelFileContents;
use crate::tokenization::EncoderInput;
use crate::weights::ModelWeights;
use parameters::T5Weights;

/// The maximum number of input tokens. All distances beyond the last bucket have the same bias, so
/// the model has no limit itself; attention needs memory for the square of the number.
const MOST_PIECES: usize = 4_096;

/// A T5 in main memory.
pub(crate) struct T5 {
    parameters: T5Weights,
}

impl T5 {
    /// Reads the tensors. The computation runs on the CPU only.
    pub(crate) fn load(
        files: &ModelFileContents,
        config: T5Config,
        computing: impl Into<DeviceAndPrecision>,
    ) -> Result<T5, Error> {
        computing.into().require_cpu_f32("a T5")?;
        let weights = ModelWeights::from_safetensors_bytes(&files.weights, "")?;
        Ok(T5 {
            parameters: T5Weights::load(&weights, config)?,
        })
    }

    pub(crate) fn config(&self) -> &T5Config {
        &self.parameters.config
    }

    /// Returns the normalized states of every token of every text: `[t, h]`. Runs on one thread,
    /// except for products with `parallelism`.
    pub(crate) fn encode(&self, texts: &[EncoderInput<'_>], parallelism: Parallelism) -> Vec<f32> {
        encoder::run_t5_encoder(&self.parameters, texts, parallelism)
    }

    /// Returns the keys and values of a text's states `[l, h]` for cross-attention.
    pub(crate) fn compute_cross_attention_cache(
        &self,
        states: &[f32],
        parallelism: Parallelism,
    ) -> CrossAttentionCache {
        CrossAttentionCache::compute(&self.parameters, states, parallelism)
    }

    /// Returns the decoder for at most `max_new` tokens.
    pub(crate) fn create_decoder(&self, max_new: usize) -> T5Decoder<'_> {
        T5Decoder::with_max_new_tokens(&self.parameters, max_new)
    }

    /// Returns an error for tokens of another model.
    pub(crate) fn check_token_ids(&self, ids: &[u32], max_tokens: usize) -> Result<(), Error> {
        let v = self.config().vocab_size;
        let foreign = |reason| Err(Error::InvalidTokens { reason });
        if !(1..=max_tokens).contains(&ids.len()) {
            return foreign(format!("{} tokens, not 1 to {max_tokens}", ids.len()));
        }
        match ids.iter().find(|&&id| id as usize >= v) {
            Some(id) => foreign(format!("id {id} of {v}")),
            None => Ok(()),
        }
    }
}

/// Returns an error for a maximum number of tokens that leaves no room for a text or exceeds
/// [`MOST_PIECES`].
pub(crate) fn check_t5_max_tokens(found: usize, least: usize) -> Result<(), Error> {
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
