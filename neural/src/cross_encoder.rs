//! A cross-encoder: a query and a text are read together, and a head on the first token gives the
//! score (Nogueira and Cho 2019, arXiv:1901.04085).

use crate::bert::{LayerNorm, LinearLayer};
use crate::config::{EncoderConfig, EncoderFamily, HeadPooling, check_bound};
use crate::device::ComputeTarget;
use crate::encoder::Encoder;
use crate::error::Error;
use crate::model_files::ModelFiles;
use crate::ranker_config::Architecture;
use crate::tokenization::{
    EncoderInput, InputRole, InputTokenizer, TokenLimits, TokenizedPair, TokenizedText,
};
use crate::weights::ModelWeights;

/// A ranker that reads query and text together.
pub struct CrossEncoder {
    cutter: InputTokenizer,
    encoder: Encoder,
    head: Head,
    fingerprint: String,
}

impl CrossEncoder {
    /// Whether `config.json` says that the folder holds one: an encoder with a classification
    /// head of one or two labels.
    pub fn is_in(config: &[u8]) -> bool {
        EncoderConfig::parse(config)
            .is_ok_and(|it| it.has_classification_head && (1..=2).contains(&it.n_labels))
    }

    /// Reads and checks the files and puts the weights where `device` says. Query and text
    /// together have at most `max_pieces` tokens, special ones among them.
    pub fn load(
        files: &ModelFiles,
        max_pieces: usize,
        device: ComputeTarget,
    ) -> Result<Self, Error> {
        let config = EncoderConfig::parse(&files.config)?;
        // Special tokens, and one of each.
        let least = 4 + config.family.n_separators();
        check_bound(max_pieces, least, &config)?;
        if !(1..=2).contains(&config.n_labels) {
            return Err(Error::Unsupported {
                field: "num_labels",
                found: config.n_labels.to_string(),
                expected: "1, or 2 of which the second says relevant".to_owned(),
            });
        }
        let sides = files
            .ranker_config_for(Architecture::CrossEncoder)?
            .input_settings(max_pieces, &config)?;
        let cutter = InputTokenizer::load(&files.tokenizer, config.vocab_size, max_pieces)?;
        let weights = ModelWeights::open(&files.weights, config.family.tensor_prefix())?;
        let head = Head::load(&weights, &config)?;
        let cutter = cutter.with_separators(config.family.n_separators());
        let cutter = cutter.with_settings(sides.bounds, sides.prompts)?;
        // Of a pair that is too long, each side may lose all but this.
        cutter.check_prompts(TokenLimits::uniform(
            (max_pieces - 2 - config.family.n_separators()) / 2,
        ))?;
        Ok(CrossEncoder {
            encoder: Encoder::load(&weights, config, max_pieces, device)?,
            cutter,
            head,
            fingerprint: files.fingerprint("cross-encoder", max_pieces),
        })
    }

    /// The pieces of a query or of a text.
    pub fn tokenize(&self, side: InputRole, text: &str) -> Result<TokenizedText, Error> {
        self.cutter.tokenize(side, text)
    }

    /// Both together; where they are too long the longer one loses its end first.
    pub fn tokenize_pair(&self, query: &TokenizedText, text: &TokenizedText) -> TokenizedPair {
        self.cutter.tokenize_pair(query, text)
    }

    /// The score of each pair, higher is better; always finite. Of one label its logit, of two the
    /// logarithm of the softmax of the second, as monoBERT has it.
    pub fn score(&self, batch: &[&TokenizedPair]) -> Result<Vec<f64>, Error> {
        let inputs: Vec<EncoderInput<'_>> = batch
            .iter()
            .map(|it| EncoderInput {
                ids: &it.ids,
                second_segment_start: it.document_start,
                n_attended: it.ids.len(),
            })
            .collect();
        let states = self.encoder.forward(&inputs)?;
        let scores = states.by_input().into_iter().map(|it| {
            let score = self.head.score(it);
            score.is_finite().then_some(score).ok_or(Error::NotFinite)
        });
        scores.collect()
    }

    /// How many layers there are, and how many heads each has.
    pub fn attention_shape(&self) -> (usize, usize) {
        self.encoder.attention_shape()
    }

    /// How much each piece of a pair takes of each other in a layer, `[pieces, pieces]` row by row,
    /// by one of its heads or by the mean of them; each row sums to 1. None where there is no such
    /// layer or head, and of a ModernBERT or on a GPU, where the weights are not kept.
    pub fn attention(
        &self,
        pair: &TokenizedPair,
        layer: usize,
        head: Option<usize>,
    ) -> Result<Option<Vec<f32>>, Error> {
        let input = EncoderInput {
            ids: &pair.ids,
            second_segment_start: pair.document_start,
            n_attended: pair.ids.len(),
        };
        let Some(all) = self.encoder.attention(input, layer)? else {
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

    /// A token as it stands in the vocabulary.
    pub fn piece(&self, id: u32) -> String {
        self.cutter.piece(id)
    }

    /// Labels of the head: of one the score is a logit, of two a log-probability.
    pub fn n_labels(&self) -> usize {
        self.head.out.bias.len()
    }

    /// Names the ranker: SHA-256 in hex over the files and the bound on tokens.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}

/// From the hidden states to the score.
struct Head {
    /// Of all but ModernBERT the first token stands for both.
    pooling: HeadPooling,
    /// `h` to `h`, and what is done to each number.
    dense: LinearLayer,
    activation: fn(f64) -> f64,
    /// What is done to all of them.
    norm: Option<LayerNorm>,
    /// `h` to one or two labels.
    out: LinearLayer,
}

impl Head {
    fn load(weights: &ModelWeights<'_>, config: &EncoderConfig) -> Result<Head, Error> {
        let (h, labels) = (config.hidden_size, config.n_labels);
        let bare = weights.without_prefix();
        let of_head = |name: &str, outputs| LinearLayer::load(&bare, name, h, outputs);
        let gelu = |it: f64| it / 2.0 * (1.0 + libm::erf(it / std::f64::consts::SQRT_2));
        let (mut pooling, mut norm) = (HeadPooling::Cls, None);
        let (dense, activation, out): (_, fn(f64) -> f64, _) = match config.family {
            // The pooler is a part of the encoder's file.
            EncoderFamily::Bert => (
                LinearLayer::load(weights, "pooler.dense", h, h)?,
                libm::tanh,
                "classifier",
            ),
            EncoderFamily::DistilBert => (
                of_head("pre_classifier", h)?,
                |it| it.max(0.0),
                "classifier",
            ),
            EncoderFamily::Roberta => (
                of_head("classifier.dense", h)?,
                libm::tanh,
                "classifier.out_proj",
            ),
            EncoderFamily::Electra => {
                (of_head("classifier.dense", h)?, gelu, "classifier.out_proj")
            }
            EncoderFamily::ModernBert => {
                let (dense, own) = modern_head(&bare, config)?;
                norm = Some(own);
                if let Some(modern) = &config.modern {
                    pooling = modern.pooling;
                }
                (dense, gelu, "classifier")
            }
        };
        Ok(Head {
            pooling,
            dense,
            activation,
            norm,
            out: of_head(out, labels)?,
        })
    }

    /// `h`.
    fn width(&self) -> usize {
        self.dense.bias.len()
    }

    /// Of the states of all tokens, `[t, h]`.
    fn score(&self, states: &[f32]) -> f64 {
        let h = self.width();
        let read = match self.pooling {
            HeadPooling::Cls => &states[..h],
            HeadPooling::Mean => states,
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
            [not, relevant] => log_softmax_first(relevant, not),
            _ => f64::NAN,
        }
    }
}

/// Of two logits the logarithm of the softmax of the first; at most 0.
pub(crate) fn log_softmax_first(of: f64, other: f64) -> f64 {
    let most = of.max(other);
    of - most - libm::log(libm::exp(of - most) + libm::exp(other - most))
}

/// What the heads of ModernBERT begin with.
pub(crate) fn modern_head(
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

/// Zero mean and unit variance, then scale and shift, in f64.
fn normalise(norm: &LayerNorm, x: &mut [f64]) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let variance = x.iter().map(|it| (it - mean) * (it - mean)).sum::<f64>() / n;
    let factor = 1.0 / (variance + f64::from(norm.eps)).sqrt();
    for (x, (&scale, &shift)) in x.iter_mut().zip(norm.scale.iter().zip(&norm.shift)) {
        *x = (*x - mean) * factor * f64::from(scale) + f64::from(shift);
    }
}
