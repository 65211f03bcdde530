//! A cross-encoder: query and document are encoded together, and a head on the first token returns
//! the score (Nogueira and Cho 2019, arXiv:1901.04085).

use crate::bert::{LayerNorm, LinearLayer};
use crate::config::{ClassifierPooling, EncoderConfig, EncoderFamily, check_max_tokens};
use crate::device::DeviceAndPrecision;
use crate::encoder::TransformerEncoder;
use crate::error::Error;
use crate::model_files::ModelFileContents;
use crate::ranker_config::RankerArchitecture;
use crate::tokenization::{
    EncoderInput, InputTokenizer, QueryDocumentTokenSequence, QueryOrDocumentRole, TokenLimits,
    TokenizedText,
};
use crate::weights::ModelWeights;

/// A ranker that encodes query and document together.
pub struct CrossEncoder {
    cutter: InputTokenizer,
    encoder: TransformerEncoder,
    head: Head,
    fingerprint: String,
}

impl CrossEncoder {
    /// Whether `config.json` describes a cross-encoder: an encoder with a classification head of
    /// one or two labels.
    pub fn is_supported_config(config: &[u8]) -> bool {
        EncoderConfig::parse(config)
            .is_ok_and(|it| it.has_classification_head && (1..=2).contains(&it.n_labels))
    }

    /// Reads and checks the files and loads the weights on the device. Query and document together
    /// have at most `max_tokens` tokens, including special ones.
    pub fn load(
        files: &ModelFileContents,
        max_tokens: usize,
        device: DeviceAndPrecision,
    ) -> Result<Self, Error> {
        let config = EncoderConfig::parse(&files.config)?;
        // The special tokens, and one token of each text.
        let least = 4 + config.family.n_pair_separators();
        check_max_tokens(max_tokens, least, &config)?;
        if !(1..=2).contains(&config.n_labels) {
            return Err(Error::Unsupported {
                field: "num_labels",
                found: config.n_labels.to_string(),
                expected: "1, or 2 of which the second says relevant".to_owned(),
            });
        }
        let sides = files
            .ranker_config_if_architecture_matches(RankerArchitecture::CrossEncoder)?
            .token_limits_and_prompts(max_tokens, &config)?;
        let cutter = InputTokenizer::load(&files.tokenizer, config.vocab_size, max_tokens)?;
        let weights =
            ModelWeights::from_safetensors_bytes(&files.weights, config.family.tensor_prefix())?;
        let head = Head::load(&weights, &config)?;
        let cutter = cutter.with_pair_separator_count(config.family.n_pair_separators());
        let cutter = cutter.with_limits_and_prompts(sides.bounds, sides.prompts)?;
        // In a pair that is too long, each side is cut to at least this.
        cutter.check_prompts_fit(TokenLimits::uniform(
            (max_tokens - 2 - config.family.n_pair_separators()) / 2,
        ))?;
        Ok(CrossEncoder {
            encoder: TransformerEncoder::load(&weights, config, max_tokens, device)?,
            cutter,
            head,
            fingerprint: files.fingerprint_for_use("cross-encoder", max_tokens),
        })
    }

    /// Returns the tokens of a query or of a document.
    pub fn tokenize(&self, side: QueryOrDocumentRole, text: &str) -> Result<TokenizedText, Error> {
        self.cutter.tokenize(side, text)
    }

    /// Joins both; if they are too long, the longer one is truncated first.
    pub fn join_tokenized_pair(
        &self,
        query: &TokenizedText,
        text: &TokenizedText,
    ) -> QueryDocumentTokenSequence {
        self.cutter.join_tokenized_pair(query, text)
    }

    /// Returns the score of each pair, higher is better; always finite. With one label it is the
    /// logit, with two the log-softmax of the second, as in monoBERT.
    pub fn score_pairs(&self, batch: &[&QueryDocumentTokenSequence]) -> Result<Vec<f64>, Error> {
        let inputs: Vec<EncoderInput<'_>> = batch
            .iter()
            .map(|it| EncoderInput {
                ids: &it.ids,
                second_segment_start: it.document_start,
                n_attended: it.ids.len(),
            })
            .collect();
        let states = self.encoder.forward(&inputs)?;
        let scores = states.split_by_input().into_iter().map(|it| {
            let score = self.head.score(it);
            score.is_finite().then_some(score).ok_or(Error::NotFinite)
        });
        scores.collect()
    }

    /// Returns the number of layers and the number of heads of each.
    pub fn n_layers_and_heads(&self) -> (usize, usize) {
        self.encoder.n_layers_and_heads()
    }

    /// Returns the attention weights between the tokens of a pair in a layer, `[tokens, tokens]`
    /// row by row, of one head or the mean of all; each row sums to 1. `None` if there is no such
    /// layer or head, and for ModernBERT or on a GPU, where the weights are not stored.
    pub fn layer_attention_weights(
        &self,
        pair: &QueryDocumentTokenSequence,
        layer: usize,
        head: Option<usize>,
    ) -> Result<Option<Vec<f32>>, Error> {
        let input = EncoderInput {
            ids: &pair.ids,
            second_segment_start: pair.document_start,
            n_attended: pair.ids.len(),
        };
        let Some(all) = self.encoder.layer_attention_weights(input, layer)? else {
            return Ok(None);
        };
        let each: Vec<&[f32]> = all.chunks_exact(pair.ids.len().pow(2)).collect();
        Ok(match head {
            Some(head) => each.get(head).map(|it| it.to_vec()),
            None => {
                let n = each.len() as f32;
                let places = 0..pair.ids.len().pow(2);
                Some(
                    places
                        .map(|at| each.iter().map(|it| it[at]).sum::<f32>() / n)
                        .collect(),
                )
            }
        })
    }

    /// Returns a token as in the vocabulary.
    pub fn id_to_token(&self, id: u32) -> String {
        self.cutter.id_to_token(id)
    }

    /// Returns the number of labels of the head: with one the score is a logit, with two a
    /// log-probability.
    pub fn n_labels(&self) -> usize {
        self.head.out.bias.len()
    }

    /// Returns the fingerprint of the ranker: SHA-256 in hex over the files of the model and the
    /// maximum number of tokens.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}

/// The activation between the two layers of a classification head.
#[derive(Clone, Copy)]
pub(crate) enum HeadActivation {
    Tanh,
    Relu,
    Gelu,
}

/// The names of the two layers of a classification head, and the activation between them.
pub(crate) struct ClassificationHead {
    /// `h` to `h`. That of a BERT is the pooler, a part of the encoder.
    pub(crate) dense: &'static str,
    pub(crate) activation: HeadActivation,
    /// `h` to one or two labels.
    pub(crate) out: &'static str,
}

impl ClassificationHead {
    /// Returns the head that a family of encoders has.
    pub(crate) fn of(family: EncoderFamily) -> ClassificationHead {
        let (dense, activation, out) = match family {
            EncoderFamily::Bert => ("pooler.dense", HeadActivation::Tanh, "classifier"),
            EncoderFamily::DistilBert => ("pre_classifier", HeadActivation::Relu, "classifier"),
            EncoderFamily::Roberta => (
                "classifier.dense",
                HeadActivation::Tanh,
                "classifier.out_proj",
            ),
            EncoderFamily::Electra => (
                "classifier.dense",
                HeadActivation::Gelu,
                "classifier.out_proj",
            ),
            EncoderFamily::ModernBert => ("head.dense", HeadActivation::Gelu, "classifier"),
        };
        ClassificationHead {
            dense,
            activation,
            out,
        }
    }
}

/// The classification head, from hidden states to the score.
struct Head {
    /// Always the first token, except for ModernBERT.
    pooling: ClassifierPooling,
    /// `h` to `h`, followed by the activation.
    dense: LinearLayer,
    activation: fn(f64) -> f64,
    /// The normalization after the activation, if there is one.
    norm: Option<LayerNorm>,
    /// `h` to one or two labels.
    out: LinearLayer,
}

impl Head {
    fn load(weights: &ModelWeights<'_>, config: &EncoderConfig) -> Result<Head, Error> {
        let (h, labels) = (config.hidden_size, config.n_labels);
        let bare = weights.without_tensor_prefix();
        let of_head = |name: &str, outputs| LinearLayer::load(&bare, name, h, outputs);
        let (mut pooling, mut norm) = (ClassifierPooling::Cls, None);
        let names = ClassificationHead::of(config.family);
        let dense = match config.family {
            // The pooler is part of the encoder's file.
            EncoderFamily::Bert => LinearLayer::load(weights, names.dense, h, h)?,
            EncoderFamily::DistilBert | EncoderFamily::Roberta | EncoderFamily::Electra => {
                of_head(names.dense, h)?
            }
            EncoderFamily::ModernBert => {
                let (dense, own) = load_modern_bert_head(&bare, config)?;
                norm = Some(own);
                if let Some(modern) = &config.modern {
                    pooling = modern.pooling;
                }
                dense
            }
        };
        let activation: fn(f64) -> f64 = match names.activation {
            HeadActivation::Tanh => libm::tanh,
            HeadActivation::Relu => |it| it.max(0.0),
            HeadActivation::Gelu => {
                |it| it / 2.0 * (1.0 + libm::erf(it / std::f64::consts::SQRT_2))
            }
        };
        Ok(Head {
            pooling,
            dense,
            activation,
            norm,
            out: of_head(names.out, labels)?,
        })
    }

    /// Returns `h`.
    fn width(&self) -> usize {
        self.dense.bias.len()
    }

    /// Computes the score from the states of all tokens, `[t, h]`.
    fn score(&self, states: &[f32]) -> f64 {
        let h = self.width();
        let read = match self.pooling {
            ClassifierPooling::Cls => &states[..h],
            ClassifierPooling::Mean => states,
        };
        let mut hidden = vec![0.0; h];
        for state in read.chunks_exact(h) {
            let each = hidden.iter_mut().zip(state);
            each.for_each(|(sum, &it)| *sum += f64::from(it));
        }
        let n = read.len() / h;
        hidden.iter_mut().for_each(|it| *it /= n as f64);
        let pooled = self.dense.apply(&hidden);
        let mut pooled: Vec<f64> = pooled.into_iter().map(self.activation).collect();
        if let Some(norm) = &self.norm {
            normalise(norm, &mut pooled);
        }
        match self.out.apply(&pooled)[..] {
            [logit] => logit,
            [not, relevant] => log_softmax_of_first_logit(relevant, not),
            _ => f64::NAN,
        }
    }
}

/// Returns the log-softmax of the first of two logits; at most 0.
pub(crate) fn log_softmax_of_first_logit(of: f64, other: f64) -> f64 {
    let most = of.max(other);
    of - most - libm::log(libm::exp(of - most) + libm::exp(other - most))
}

/// Reads the dense layer and the normalization with which the heads of ModernBERT begin.
pub(crate) fn load_modern_bert_head(
    bare: &ModelWeights<'_>,
    config: &EncoderConfig,
) -> Result<(LinearLayer, LayerNorm), Error> {
    let (h, modern) = (config.hidden_size, config.modern.as_ref());
    let (dense, norm) = ("head.dense", "head.norm");
    Ok((
        match modern.is_some_and(|it| it.classifier_bias) {
            true => LinearLayer::load(bare, dense, h, h)?,
            false => LinearLayer::load_without_bias(bare, dense, h, h)?,
        },
        match modern.is_some_and(|it| it.norm_bias) {
            true => LayerNorm::load(bare, norm, h, config)?,
            false => LayerNorm::load_without_shift(bare, norm, h, config)?,
        },
    ))
}

/// Normalizes to zero mean and unit variance, then scales and shifts, in f64.
fn normalise(norm: &LayerNorm, x: &mut [f64]) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let variance = x.iter().map(|it| (it - mean) * (it - mean)).sum::<f64>() / n;
    let factor = 1.0 / (variance + f64::from(norm.eps)).sqrt();
    for (x, (&scale, &shift)) in x.iter_mut().zip(norm.scale.iter().zip(&norm.shift)) {
        *x = (*x - mean) * factor * f64::from(scale) + f64::from(shift);
    }
}
