//! The head for masked tokens: what each place would hold, as a number for each piece of the
//! vocabulary. Of BERT, DistilBERT, RoBERTa and
//! ModernBERT, by the names of Hugging Face's `…ForMaskedLM`.

use crate::bert::{LayerNorm, LinearLayer};
use crate::bert_cpu;
use crate::config::{EncoderConfig, EncoderFamily};
use crate::cross_encoder::modern_head;
use crate::error::Error;
use crate::weights::ModelWeights;

/// `l_v = w_v · norm(gelu(x W + b)) + b_v` of a hidden state `x`, for each token `v`.
pub(crate) struct MaskedLmHead {
    dense: LinearLayer,
    norm: LayerNorm,
    /// `[vocabulary, h]`: what a token is read as, or where the file says that they differ what
    /// it is predicted by.
    pub(crate) output_embeddings: Vec<f32>,
    /// `[vocabulary]`.
    pub(crate) bias: Vec<f32>,
}

impl MaskedLmHead {
    /// `head` has the names beside those of the encoder.
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
            // What is not tied has a bias of its own too, which the reference then adds.
            let own = format!("{output}.bias");
            let bias = match !config.ties_embeddings && head.has(&own) {
                true => &own,
                false => bias,
            };
            Ok::<_, Error>((
                LinearLayer::load(head, dense, h, h)?,
                LayerNorm::load(head, norm, h, config)?,
                head.tensor(bias, &[v])?,
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
                let (dense, norm) = modern_head(head, config)?;
                let bias = match config.modern.as_ref().is_some_and(|it| it.decoder_bias) {
                    true => head.tensor("decoder.bias", &[v])?,
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
                true => encoder.tensor(words, &[v, h])?,
                false => head.tensor(&format!("{output}.weight"), &[v, h])?,
            },
        })
    }

    /// `[t, h]` to `[t, h]`: all but the last product.
    pub(crate) fn transform(&self, hidden: &[f32]) -> Vec<f32> {
        bert_cpu::transform(hidden, &self.dense, &self.norm)
    }
}
