//! EPIC: weights of the tokens in a query, and weights of all tokens of the vocabulary for a
//! document (MacAvaney, Nardini, Perego, Tonellotto, Goharian and Frieder, SIGIR 2020,
//! arXiv:2004.14245).
//!
//! With `a(x) = ln(1 + softplus(x))` and hidden states `x` of the tokens between `[CLS]` and
//! `[SEP]`:
//!
//! - query: token `v` has the weight `Σᵢ a(w_q·xᵢ + b_q)` over its positions `i`;
//! - document: token `v` has the weight `σ(w_c·x_CLS + b_c) · maxⱼ a(w_d·xⱼ + b_d) · a(l_jv)`,
//!   where `l_jv` is the logit of `v` at position `j` from the masked language modeling head; all
//!   its tokens are in the second segment;
//! - the score is the inner product of both.
//!
//! This is what the authors' code computes (`onir/rankers/epic.py` of OpenNIR, with the encoding
//! `sep`): only the code shows that a token that occurs twice in a query counts twice, and that
//! documents are in the second segment. Its pruning of documents to some tokens is for indexes and
//! does not affect re-ranking. Tensor names are those of its checkpoints, which have to be saved as
//! safetensors first: `encoder.bert.bert.*`, `encoder.bert.cls.predictions.*`, `query_salience`,
//! `doc_salience` and `doc_quality`, each with `weight` and `bias`. The same names without
//! `encoder.bert.`, as in a `BertForMaskedLM` with three more layers, are accepted too.
//!
//! A document is stored as the transformed states of its tokens, and weights are computed only for
//! the tokens of a query: thousands of times fewer than there are in the vocabulary.
//!
//! Shapes: `t` tokens of a text without `[CLS]` and `[SEP]`, `h` hidden units.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::bert::LinearLayer;
use crate::config::{EncoderConfig, EncoderFamily};
use crate::device::DeviceAndPrecision;
use crate::embedding::dot;
use crate::encoder::TransformerEncoder;
use crate::error::Error;
use crate::masked_lm::MaskedLmHead;
use crate::model_files::ModelFileContents;
use crate::ranker_config::RankerArchitecture;
use crate::tokenization::{EncoderInput, InputTokenizer, QueryOrDocumentRole, TokenizedText};
use crate::weights::ModelWeights;

/// An encoder that predicts the importance of tokens.
pub struct EpicRanker {
    cutter: InputTokenizer,
    encoder: TransformerEncoder,
    head: MaskedLmHead,
    query_salience: LinearLayer,
    text_salience: LinearLayer,
    quality: LinearLayer,
    hidden_size: usize,
    fingerprint: String,
}

/// The tokens of a query with their weights.
#[derive(Clone, Debug, PartialEq)]
pub struct EpicQueryWeights {
    weights: Vec<(u32, f64)>,
}

impl EpicQueryWeights {
    /// Returns id and weight, above 0, in the order of ids.
    pub fn token_weights(&self) -> &[(u32, f64)] {
        &self.weights
    }
}

/// An encoded document, from which the weight of any token can be computed.
#[derive(Clone, Debug, PartialEq)]
pub struct EpicDocumentStates {
    /// The transformed states `[t, h]`: all but the last product of the masked language modeling
    /// head.
    transformed: Vec<f32>,
    /// The salience of each token, `[t]`.
    salience: Vec<f64>,
    quality: f64,
}

impl EpicDocumentStates {
    /// Returns the quality of the document as a whole, from 0 to 1.
    pub fn quality(&self) -> f64 {
        self.quality
    }
}

impl EpicRanker {
    /// Reads and checks the files and loads the encoder on the device. A query or a document has at
    /// most `max_tokens` tokens, including special ones.
    pub fn load(
        files: &ModelFileContents,
        max_tokens: usize,
        device: DeviceAndPrecision,
    ) -> Result<Self, Error> {
        let config = EncoderConfig::parse_with_max_tokens(&files.config, max_tokens)?;
        if config.family != EncoderFamily::Bert {
            return Err(Error::Unsupported {
                field: "model_type",
                found: config.family.model_type().to_owned(),
                expected: "bert, the encoder of EPIC".to_owned(),
            });
        }
        let sides = files
            .ranker_config_if_architecture_matches(RankerArchitecture::Epic)?
            .token_limits_and_prompts(max_tokens, &config)?;
        let cutter = InputTokenizer::load(&files.tokenizer, config.vocab_size, max_tokens)?;
        let theirs = ModelWeights::from_safetensors_bytes(&files.weights, "encoder.bert.bert.")?;
        let (weights, head) = match theirs.uses_tensor_prefix() {
            true => {
                let head = theirs.with_tensor_prefix("encoder.bert.");
                (theirs, head)
            }
            false => {
                let weights = ModelWeights::from_safetensors_bytes(
                    &files.weights,
                    config.family.tensor_prefix(),
                )?;
                let head = weights.without_tensor_prefix();
                (weights, head)
            }
        };
        let (h, bare) = (config.hidden_size, head.without_tensor_prefix());
        let head = MaskedLmHead::load(&weights, &head, &config)?;
        if head
            .output_embeddings
            .iter()
            .chain(&head.bias)
            .any(|it| !it.is_finite())
        {
            return Err(Error::NotFinite);
        }
        Ok(EpicRanker {
            cutter: cutter.with_limits_and_prompts(sides.bounds, sides.prompts)?,
            head,
            query_salience: LinearLayer::load(&bare, "query_salience", h, 1)?,
            text_salience: LinearLayer::load(&bare, "doc_salience", h, 1)?,
            quality: LinearLayer::load(&bare, "doc_quality", h, 1)?,
            encoder: TransformerEncoder::load(
                &weights,
                config,
                sides.bounds.larger_limit(),
                device,
            )?,
            hidden_size: h,
            fingerprint: files.fingerprint_for_use("epic", max_tokens),
        })
    }

    /// Returns the tokens of a query or of a document.
    pub fn tokenize(&self, side: QueryOrDocumentRole, text: &str) -> Result<TokenizedText, Error> {
        self.cutter.tokenize(side, text)
    }

    /// Computes the weights of each query.
    pub fn encode_queries(&self, batch: &[&TokenizedText]) -> Result<Vec<EpicQueryWeights>, Error> {
        let states = self.encoder.forward_texts(batch)?;
        let each = states.split_by_input().into_iter().zip(batch);
        let made = each.map(|(hidden, tokens)| {
            let mut weights = BTreeMap::new();
            let rows = hidden.chunks_exact(self.hidden_size);
            let inner = 1..tokens.ids.len() - 1;
            for (&id, row) in tokens
                .ids
                .iter()
                .zip(rows)
                .take(inner.end)
                .skip(inner.start)
            {
                *weights.entry(id).or_insert(0.0) += activate(said(&self.query_salience, row)?);
            }
            Ok(EpicQueryWeights {
                weights: weights.into_iter().collect(),
            })
        });
        made.collect()
    }

    /// Encodes documents, from which weights are computed later.
    pub fn encode_documents(
        &self,
        batch: &[&TokenizedText],
    ) -> Result<Vec<EpicDocumentStates>, Error> {
        let inputs = batch.iter().map(|it| EncoderInput {
            second_segment_start: 0,
            ..EncoderInput::from_tokenized_text(it)
        });
        let inputs: Vec<EncoderInput<'_>> = inputs.collect();
        let states = self.encoder.forward(&inputs)?;
        let each = states.split_by_input().into_par_iter();
        let made = each.map(|hidden| {
            let h = self.hidden_size;
            let inner = &hidden[h..hidden.len() - h]; // [t, h]
            let salience = inner
                .chunks_exact(h)
                .map(|it| said(&self.text_salience, it));
            let salience: Vec<f64> = salience
                .map(|it| it.map(activate))
                .collect::<Result<_, _>>()?;
            let transformed = match inner {
                [] => Vec::new(),
                inner => self.head.transform_hidden_states(inner),
            };
            if transformed.iter().any(|it| !it.is_finite()) {
                return Err(Error::NotFinite);
            }
            Ok(EpicDocumentStates {
                transformed,
                salience,
                quality: 1.0 / (1.0 + libm::exp(-said(&self.quality, &hidden[..h])?)),
            })
        });
        made.collect()
    }

    /// Returns the inner product of the weights; at least 0, always finite, and 0 for an empty
    /// document.
    pub fn score(&self, query: &EpicQueryWeights, text: &EpicDocumentStates) -> f64 {
        let each = query.weights.iter();
        each.map(|&(id, weight)| weight * self.document_token_weight(text, id))
            .sum()
    }

    /// Returns the weight of a token of the vocabulary, which need not occur in the document.
    pub fn document_token_weight(&self, text: &EpicDocumentStates, id: u32) -> f64 {
        let (h, id) = (self.hidden_size, id as usize);
        let (words, biases) = (&self.head.output_embeddings, &self.head.bias);
        let (Some(word), Some(&bias)) = (words.chunks_exact(h).nth(id), biases.get(id)) else {
            return 0.0;
        };
        let bias = f64::from(bias);
        let rows = text.transformed.chunks_exact(h).zip(&text.salience);
        let each = rows.map(|(row, salience)| salience * activate(dot(row, word) + bias));
        text.quality * each.fold(0.0, f64::max)
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
}

/// Computes `w·x + b`; returns an error if it is not finite.
fn said(linear: &LinearLayer, x: &[f32]) -> Result<f64, Error> {
    let sum = dot(&linear.weight, x) + f64::from(linear.bias[0]);
    sum.is_finite().then_some(sum).ok_or(Error::NotFinite)
}

/// Computes `ln(1 + softplus(x))`, where `softplus(x) = ln(1 + eˣ)`.
fn activate(x: f64) -> f64 {
    libm::log1p(x.max(0.0) + libm::log1p(libm::exp(-x.abs())))
}
