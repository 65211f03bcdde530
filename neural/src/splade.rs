//! SPLADE: a text as weights of all tokens of the vocabulary, including those that do not occur in
//! it (Formal, Piwowarski and Clinchant, SIGIR 2021; with the maximum, arXiv:2109.10086).
//!
//! The masked language modeling head has a logit `l_v` for each token `v` at each position. The
//! weight of `v` in the text is `max ln(1 + max(0, l_v))` over all positions, and the score of two
//! texts is the inner product of their weights.

use rayon::prelude::*;

use crate::bert_cpu;
use crate::config::EncoderConfig;
use crate::device::DeviceAndPrecision;
use crate::encoder::TransformerEncoder;
use crate::error::Error;
use crate::masked_lm::MaskedLmHead;
use crate::model_files::ModelFileContents;
use crate::ranker_config::RankerArchitecture;
use crate::tokenization::{InputTokenizer, QueryOrDocumentRole, TokenizedText};
use crate::weights::ModelWeights;

/// A text as weights of tokens of the vocabulary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseVector {
    /// Id and weight, above 0, in the order of ids.
    weights: Vec<(u32, f32)>,
}

impl SparseVector {
    /// Returns id and weight, above 0, in the order of ids.
    pub fn token_weights(&self) -> &[(u32, f32)] {
        &self.weights
    }
}

/// An encoder with its masked language modeling head.
pub struct Splade {
    cutter: InputTokenizer,
    encoder: TransformerEncoder,
    head: MaskedLmHead,
    hidden_size: usize,
    fingerprint: String,
}

impl Splade {
    /// Whether `config.json` describes an encoder with a masked language modeling head. The folder
    /// does not tell whether it was trained as SPLADE.
    pub fn is_supported_config(config: &[u8]) -> bool {
        EncoderConfig::parse(config).is_ok_and(|it| it.has_masked_lm_head)
    }

    /// Reads and checks the files and loads the encoder on the device. A text has at most
    /// `max_tokens` tokens, including special ones.
    pub fn load(
        files: &ModelFileContents,
        max_tokens: usize,
        device: DeviceAndPrecision,
    ) -> Result<Self, Error> {
        let config = EncoderConfig::parse_with_max_tokens(&files.config, max_tokens)?;
        let sides = files
            .ranker_config_if_architecture_matches(RankerArchitecture::Splade)?
            .token_limits_and_prompts(max_tokens, &config)?;
        let (h, v) = (config.hidden_size, config.vocab_size);
        let cutter = InputTokenizer::load(&files.tokenizer, v, max_tokens)?;
        let weights =
            ModelWeights::from_safetensors_bytes(&files.weights, config.family.tensor_prefix())?;
        let head = MaskedLmHead::load(&weights, &weights.without_tensor_prefix(), &config)?;
        Ok(Splade {
            head,
            hidden_size: h,
            encoder: TransformerEncoder::load(
                &weights,
                config,
                sides.bounds.larger_limit(),
                device,
            )?,
            cutter: cutter.with_limits_and_prompts(sides.bounds, sides.prompts)?,
            fingerprint: files.fingerprint_for_use("splade", max_tokens),
        })
    }

    /// Returns the tokens of `text`, and whether it was truncated.
    pub fn tokenize(&self, side: QueryOrDocumentRole, text: &str) -> Result<TokenizedText, Error> {
        self.cutter.tokenize(side, text)
    }

    /// Computes the weights of each text.
    pub fn encode(&self, batch: &[&TokenizedText]) -> Result<Vec<SparseVector>, Error> {
        let states = self.encoder.forward_texts(batch)?;
        let each = states.split_by_input().into_par_iter();
        each.map(|it| self.weigh(it)).collect()
    }

    /// Returns the inner product of the weights; at least 0, always finite.
    pub fn score_sparse_vectors(&self, query: &SparseVector, text: &SparseVector) -> f64 {
        let (mut sum, mut at) = (0.0, 0);
        for &(id, weight) in &query.weights {
            while text.weights.get(at).is_some_and(|it| it.0 < id) {
                at += 1;
            }
            if let Some(&(same, other)) = text.weights.get(at)
                && same == id
            {
                sum += f64::from(weight) * f64::from(other);
            }
        }
        sum
    }

    /// Returns the token as in the vocabulary, for example `##ing`.
    pub fn id_to_token(&self, id: u32) -> String {
        self.cutter.id_to_token(id)
    }

    /// Returns the fingerprint of the ranker: SHA-256 in hex over the files of the model and the
    /// maximum number of tokens.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Computes the weights from the hidden states of a text, `[t, h]`.
    fn weigh(&self, hidden: &[f32]) -> Result<SparseVector, Error> {
        let transformed = self.head.transform_hidden_states(hidden); // [t, h]
        let words = &self.head.output_embeddings;
        // [v]
        let most = bert_cpu::max_product_per_vocabulary_row(&transformed, words, self.hidden_size);
        let mut weights = Vec::new();
        for ((most, bias), id) in most.into_iter().zip(&self.head.bias).zip(0..) {
            let logit = f64::from(most) + f64::from(*bias);
            if !logit.is_finite() {
                return Err(Error::NotFinite);
            }
            if logit > 0.0 {
                weights.push((id, libm::log1p(logit) as f32));
            }
        }
        Ok(SparseVector { weights })
    }
}
