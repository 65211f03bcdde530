//! The configuration of a T5, from `config.json`.

use serde::Deserialize;

use crate::config::{check_dimension_range, check_no_custom_code, read_model_type};
use crate::error::{Error, unsupported_value};

/// The configuration of the forward pass.
#[derive(Clone, Debug)]
pub(crate) struct T5Config {
    pub(crate) vocab_size: usize,
    /// `h`, the units of the model.
    pub(crate) d_model: usize,
    /// `d`, the units of a head.
    pub(crate) d_kv: usize,
    /// `m`, the units of the feed-forward layer.
    pub(crate) d_ff: usize,
    pub(crate) num_heads: usize,
    pub(crate) num_layers: usize,
    pub(crate) num_decoder_layers: usize,
    pub(crate) buckets: RelativePositionBuckets,
    pub(crate) layer_norm_epsilon: f32,
    pub(crate) feed_forward: FeedForwardKind,
    /// Whether states are multiplied by `h^-½` before the logits, as in models with tied output
    /// embeddings.
    pub(crate) scales_output: bool,
    /// The first input of the decoder; that of padding.
    pub(crate) decoder_start_token_id: u32,
    /// The token at the end of an input or an output.
    pub(crate) eos_token_id: u32,
}

/// How relative positions map to buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RelativePositionBuckets {
    /// `relative_attention_num_buckets`.
    pub(crate) n_buckets: usize,
    /// `relative_attention_max_distance`: all distances from there on share a bucket.
    pub(crate) max_distance: usize,
}

/// The two forms of the feed-forward layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeedForwardKind {
    /// `relu(x W) U`, of T5 v1.0.
    Relu,
    /// `(gelu(x W) ∘ x V) U`, of T5 v1.1.
    GatedGelu,
}

/// The fields of the file. Missing fields have the defaults of transformers.
#[derive(Deserialize)]
struct Fields {
    vocab_size: usize,
    d_model: usize,
    d_kv: usize,
    d_ff: usize,
    num_heads: usize,
    num_layers: usize,
    num_decoder_layers: Option<usize>,
    #[serde(default = "n_buckets")]
    relative_attention_num_buckets: usize,
    #[serde(default = "max_distance")]
    relative_attention_max_distance: usize,
    #[serde(default = "epsilon")]
    layer_norm_epsilon: f64,
    feed_forward_proj: Option<String>,
    tie_word_embeddings: Option<bool>,
    /// The form of transformers 5.
    scale_decoder_outputs: Option<bool>,
    decoder_start_token_id: Option<u32>,
    pad_token_id: Option<u32>,
    eos_token_id: Option<u32>,
    is_encoder_decoder: Option<bool>,
    auto_map: Option<serde_json::Value>,
}

fn n_buckets() -> usize {
    32
}

fn max_distance() -> usize {
    128
}

fn epsilon() -> f64 {
    1e-6
}

impl T5Config {
    /// Parses `config.json`; returns an error for models that the forward pass would compute
    /// incorrectly.
    pub(crate) fn parse(json: &[u8]) -> Result<T5Config, Error> {
        let found = read_model_type(json)?;
        if found != "t5" {
            return Err(unsupported_value("model_type", &found, "t5"));
        }
        let fields: Fields = serde_json::from_slice(json).map_err(Error::Config)?;
        fields.check()?;
        let feed_forward = match fields.feed_forward_proj.as_deref() {
            None | Some("relu") => FeedForwardKind::Relu,
            Some("gated-gelu") => FeedForwardKind::GatedGelu,
            Some(other) => {
                return Err(unsupported_value(
                    "feed_forward_proj",
                    &other,
                    "relu or gated-gelu",
                ));
            }
        };
        let tied = fields.tie_word_embeddings.unwrap_or(true);
        Ok(T5Config {
            vocab_size: fields.vocab_size,
            d_model: fields.d_model,
            d_kv: fields.d_kv,
            d_ff: fields.d_ff,
            num_heads: fields.num_heads,
            num_layers: fields.num_layers,
            num_decoder_layers: fields.num_decoder_layers.unwrap_or(fields.num_layers),
            buckets: RelativePositionBuckets {
                n_buckets: fields.relative_attention_num_buckets,
                max_distance: fields.relative_attention_max_distance,
            },
            layer_norm_epsilon: fields.layer_norm_epsilon as f32,
            feed_forward,
            scales_output: fields.scale_decoder_outputs.unwrap_or(tied),
            decoder_start_token_id: fields.start(),
            eos_token_id: fields.end(),
        })
    }

    /// Whether the file declares a T5 with an output; other fields are not checked.
    pub(crate) fn is_generative_config(json: &[u8]) -> bool {
        #[derive(Deserialize)]
        struct Kind {
            model_type: String,
            architectures: Vec<String>,
        }
        serde_json::from_slice::<Kind>(json).is_ok_and(|it| {
            // The second is the older name of the first.
            let names = ["T5ForConditionalGeneration", "T5WithLMHeadModel"];
            it.model_type == "t5"
                && it
                    .architectures
                    .iter()
                    .any(|it| names.contains(&it.as_str()))
        })
    }

    /// Returns `i`, the units of all heads.
    pub(crate) fn all_heads_width(&self) -> usize {
        self.num_heads * self.d_kv
    }
}

impl Fields {
    fn start(&self) -> u32 {
        let start = self.decoder_start_token_id.or(self.pad_token_id);
        start.unwrap_or(0)
    }

    fn end(&self) -> u32 {
        self.eos_token_id.unwrap_or(1)
    }

    fn check(&self) -> Result<(), Error> {
        check_no_custom_code(self.auto_map.as_ref())?;
        if self.is_encoder_decoder == Some(false) {
            return Err(unsupported_value("is_encoder_decoder", &false, "true"));
        }
        let n_decoder = self.num_decoder_layers.unwrap_or(self.num_layers);
        check_dimension_range(&[
            ("vocab_size", self.vocab_size),
            ("d_model", self.d_model),
            ("d_kv", self.d_kv),
            ("d_ff", self.d_ff),
            ("num_heads", self.num_heads),
            ("num_layers", self.num_layers),
            ("num_decoder_layers", n_decoder),
        ])?;
        let n = self.relative_attention_num_buckets;
        if !(4..=65_536).contains(&n) || !n.is_multiple_of(4) {
            let expected = "a multiple of 4, at most 65536: half of them are for each direction, \
                            and half of these for one distance each";
            return Err(unsupported_value(
                "relative_attention_num_buckets",
                &n,
                expected,
            ));
        }
        let most = self.relative_attention_max_distance;
        if most <= n / 2 || most > 1 << 24 {
            let expected = format!("above {}, half of the buckets, to 2^24", n / 2);
            return Err(unsupported_value(
                "relative_attention_max_distance",
                &most,
                &expected,
            ));
        }
        let eps = self.layer_norm_epsilon;
        if !(eps > 0.0 && eps < 1.0) {
            return Err(unsupported_value(
                "layer_norm_epsilon",
                &eps,
                "between 0 and 1",
            ));
        }
        for (field, id) in [
            ("decoder_start_token_id", self.start()),
            ("eos_token_id", self.end()),
        ] {
            if id as usize >= self.vocab_size {
                let expected = format!("below vocab_size, {}", self.vocab_size);
                return Err(unsupported_value(field, &id, &expected));
            }
        }
        Ok(())
    }
}
