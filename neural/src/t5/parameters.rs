//! The parameters of a T5, in the layout of its file: weights are `[outputs, inputs]`.

use super::config::{FeedForwardKind, T5Config};
use crate::error::Error;
use crate::weights::ModelWeights;

/// The scale of a normalization, over `h` units.
pub(super) type RmsNormWeights = Vec<f32>;

/// The parameters of encoder and decoder.
pub(super) struct T5Weights {
    pub(super) config: T5Config,
    /// `[v, h]`.
    pub(super) token_embeddings: Vec<f32>,
    /// `[v, h]`; `None` if the output is tied to `token_embeddings`.
    output_embeddings: Option<Vec<f32>>,
    pub(super) encoder: Vec<T5EncoderLayer>,
    /// `[buckets, a]`.
    pub(super) encoder_position_biases: Vec<f32>,
    pub(super) encoder_norm: RmsNormWeights,
    pub(super) decoder: Vec<T5DecoderLayer>,
    /// `[buckets, a]`.
    pub(super) decoder_position_biases: Vec<f32>,
    pub(super) decoder_norm: RmsNormWeights,
}

/// One encoder layer: self-attention and feed-forward.
pub(super) struct T5EncoderLayer {
    pub(super) attention: SelfAttentionParameters,
    pub(super) feed: FeedForwardLayer,
}

/// One decoder layer: self-attention, cross-attention and feed-forward.
pub(super) struct T5DecoderLayer {
    pub(super) attention: SelfAttentionParameters,
    pub(super) cross: CrossAttentionParameters,
    pub(super) feed: FeedForwardLayer,
}

/// Attention from a text to itself.
pub(super) struct SelfAttentionParameters {
    pub(super) norm: RmsNormWeights,
    /// Queries, keys, values: `[3i, h]`.
    pub(super) qkv: Vec<f32>,
    /// `[h, i]`.
    pub(super) out: Vec<f32>,
}

/// Attention from the generated text to the input text.
pub(super) struct CrossAttentionParameters {
    pub(super) norm: RmsNormWeights,
    /// `[i, h]`.
    pub(super) query: Vec<f32>,
    /// Keys, values: `[2i, h]`.
    pub(super) memory: Vec<f32>,
    /// `[h, i]`.
    pub(super) out: Vec<f32>,
}

/// The two dense layers of a feed-forward block.
pub(super) struct FeedForwardLayer {
    pub(super) norm: RmsNormWeights,
    /// `[m, h]`, with a gate `[2m, h]`: the input of the activation, then the gate.
    pub(super) up: Vec<f32>,
    /// `[h, m]`.
    pub(super) down: Vec<f32>,
}

impl T5Weights {
    pub(super) fn load(weights: &ModelWeights<'_>, config: T5Config) -> Result<T5Weights, Error> {
        let (v, h) = (config.vocab_size, config.d_model);
        let tables = [config.buckets.n_buckets, config.num_heads];
        let own_output = match weights.has_tensor("lm_head.weight") || !config.scales_output {
            true => Some(weights.read_tensor("lm_head.weight", &[v, h])?),
            false => None,
        };
        let distances = |stack: &str| {
            let attention = format!("{stack}.block.0.layer.0.SelfAttention");
            weights.read_tensor(
                &format!("{attention}.relative_attention_bias.weight"),
                &tables,
            )
        };
        let norm =
            |stack: &str| weights.read_tensor(&format!("{stack}.final_layer_norm.weight"), &[h]);
        let part = |layer: String| Part {
            weights,
            config: &config,
            layer,
        };
        let encoder = (0..config.num_layers).map(|at| {
            let of = |layer: usize| part(format!("encoder.block.{at}.layer.{layer}"));
            Ok(T5EncoderLayer {
                attention: of(0).self_attention()?,
                feed: of(1).feed()?,
            })
        });
        let decoder = (0..config.num_decoder_layers).map(|at| {
            let of = |layer: usize| part(format!("decoder.block.{at}.layer.{layer}"));
            Ok(T5DecoderLayer {
                attention: of(0).self_attention()?,
                cross: of(1).cross_attention()?,
                feed: of(2).feed()?,
            })
        });
        Ok(T5Weights {
            token_embeddings: weights.read_tensor("shared.weight", &[v, h])?,
            output_embeddings: own_output,
            encoder: encoder.collect::<Result<_, Error>>()?,
            encoder_position_biases: distances("encoder")?,
            encoder_norm: norm("encoder")?,
            decoder: decoder.collect::<Result<_, Error>>()?,
            decoder_position_biases: distances("decoder")?,
            decoder_norm: norm("decoder")?,
            config,
        })
    }

    /// Returns the output weights `[v, h]`, from states to logits.
    pub(super) fn output_weights(&self) -> &[f32] {
        self.output_embeddings
            .as_deref()
            .unwrap_or(&self.token_embeddings)
    }
}

/// A part of a layer, with its tensors by name.
struct Part<'a> {
    weights: &'a ModelWeights<'a>,
    config: &'a T5Config,
    layer: String,
}

impl Part<'_> {
    fn self_attention(&self) -> Result<SelfAttentionParameters, Error> {
        let (h, i) = (self.config.d_model, self.config.all_heads_width());
        Ok(SelfAttentionParameters {
            norm: self.norm()?,
            qkv: self.joined("SelfAttention", &["q", "k", "v"], [i, h])?,
            out: self.matrix("SelfAttention.o", [h, i])?,
        })
    }

    fn cross_attention(&self) -> Result<CrossAttentionParameters, Error> {
        let (h, i) = (self.config.d_model, self.config.all_heads_width());
        Ok(CrossAttentionParameters {
            norm: self.norm()?,
            query: self.matrix("EncDecAttention.q", [i, h])?,
            memory: self.joined("EncDecAttention", &["k", "v"], [i, h])?,
            out: self.matrix("EncDecAttention.o", [h, i])?,
        })
    }

    fn feed(&self) -> Result<FeedForwardLayer, Error> {
        let (h, m) = (self.config.d_model, self.config.d_ff);
        let up: &[&str] = match self.config.feed_forward {
            FeedForwardKind::Relu => &["wi"],
            FeedForwardKind::GatedGelu => &["wi_0", "wi_1"],
        };
        Ok(FeedForwardLayer {
            norm: self.norm()?,
            up: self.joined("DenseReluDense", up, [m, h])?,
            down: self.matrix("DenseReluDense.wo", [h, m])?,
        })
    }

    fn norm(&self) -> Result<RmsNormWeights, Error> {
        let name = format!("{}.layer_norm.weight", self.layer);
        self.weights.read_tensor(&name, &[self.config.d_model])
    }

    /// Reads some matrices and joins their outputs one after another.
    fn joined(&self, of: &str, names: &[&str], shape: [usize; 2]) -> Result<Vec<f32>, Error> {
        let mut joined = Vec::new();
        for name in names {
            joined.extend(self.matrix(&format!("{of}.{name}"), shape)?);
        }
        Ok(joined)
    }

    fn matrix(&self, name: &str, shape: [usize; 2]) -> Result<Vec<f32>, Error> {
        let name = format!("{}.{name}.weight", self.layer);
        self.weights.read_tensor(&name, &shape)
    }
}
