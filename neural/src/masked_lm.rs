//! The masked language modeling head: for each position a logit of every token of the vocabulary.
//! For BERT, DistilBERT, RoBERTa and ModernBERT, with the tensor names of Hugging Face's
//! `…ForMaskedLM`.

use crate::bert::{LayerNorm, LinearLayer};
use crate::bert_cpu;
use crate::config::{EncoderConfig, EncoderFamily};
use crate::cross_encoder::load_modern_bert_head;
use crate::error::Error;
use crate::weights::ModelWeights;

/// Computes `l_v = w_v · norm(gelu(x W + b)) + b_v` from a hidden state `x`, for each token `v`.
pub(crate) struct MaskedLmHead {
    dense: LinearLayer,
    norm: LayerNorm,
    /// `[vocabulary, h]`: the token embeddings, or separate output embeddings if the file says that
    /// they are not tied.
    pub(crate) output_embeddings: Vec<f32>,
    /// `[vocabulary]`.
    pub(crate) bias: Vec<f32>,
}

impl MaskedLmHead {
    /// Reads the head; `head` has the tensor names outside of the encoder.
    pub(crate) fn load(
        encoder: &ModelWeights<'_>,
        head: &ModelWeights<'_>,
        config: &EncoderConfig,
    ) -> Result<MaskedLmHead, Error> {
        let (h, v) = (config.hidden_size, config.vocab_size);
        let mut words = "embeddings.word_embeddings.weight";
        let output = match config.family {
            EncoderFamily::Bert => "cls.predictions.decoder",
            EncoderFamily::DistilBert => "vocab_projector",
            EncoderFamily::Roberta => "lm_head.decoder",
            EncoderFamily::ModernBert | EncoderFamily::Electra => "decoder",
        };
        let named = |dense: &str, norm: &str, bias: &str| {
            // Untied output embeddings have a bias of their own, which transformers uses.
            let own = format!("{output}.bias");
            let bias = match !config.ties_embeddings && head.has_tensor(&own) {
                true => &own,
                false => bias,
            };
            Ok::<_, Error>((
                LinearLayer::load(head, dense, h, h)?,
                LayerNorm::load(head, norm, h, config)?,
                head.read_tensor(bias, &[v])?,
            ))
        };
        let (dense, norm, bias) = match config.family {
            EncoderFamily::Bert => named(
                "cls.predictions.transform.dense",
                "cls.predictions.transform.LayerNorm",
                "cls.predictions.bias",
            )?,
            EncoderFamily::DistilBert => named(
                "vocab_transform",
                "vocab_layer_norm",
                "vocab_projector.bias",
            )?,
            EncoderFamily::Roberta => named("lm_head.dense", "lm_head.layer_norm", "lm_head.bias")?,
            EncoderFamily::ModernBert => {
                words = "embeddings.tok_embeddings.weight";
                let (dense, norm) = load_modern_bert_head(head, config)?;
                let bias = match config.modern.as_ref().is_some_and(|it| it.decoder_bias) {
                    true => head.read_tensor("decoder.bias", &[v])?,
                    false => vec![0.0; v],
                };
                (dense, norm, bias)
            }
            EncoderFamily::Electra => {
                return Err(Error::Unsupported {
                    field: "model_type",
                    found: "electra".to_owned(),
                    expected: "bert, distilbert, modernbert or roberta, to weigh the vocabulary"
                        .to_owned(),
                });
            }
        };
        Ok(MaskedLmHead {
            dense,
            norm,
            bias,
            output_embeddings: match config.ties_embeddings {
                true => encoder.read_tensor(words, &[v, h])?,
                false => head.read_tensor(&format!("{output}.weight"), &[v, h])?,
            },
        })
    }

    /// Computes all but the last product, `[t, h]` to `[t, h]`.
    pub(crate) fn transform_hidden_states(&self, hidden: &[f32]) -> Vec<f32> {
        bert_cpu::apply_dense_gelu_norm(hidden, &self.dense, &self.norm)
    }
}
