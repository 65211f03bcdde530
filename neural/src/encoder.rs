//! An encoder of any family on a device.

use crate::bert::{BertParameters, CandleBert};
use crate::bert_cpu;
use crate::config::EncoderConfig;
use crate::device::DeviceAndPrecision;
use crate::error::Error;
use crate::modern_bert;
use crate::tokenization::{EncoderInput, TokenizedText};
use crate::weights::ModelWeights;

/// An encoder with its weights loaded.
pub(crate) struct TransformerEncoder {
    pass: Pass,
    hidden_size: usize,
    vocab_size: usize,
    max_tokens: usize,
    /// The number of layers, and of heads in each.
    heads: (usize, usize),
}

/// The forward pass of the family and the device.
enum Pass {
    Fused(BertParameters),
    Plain(CandleBert),
    Modern(modern_bert::ModernBertWeights),
}

/// The last hidden state of every token, input after input: `[Σ tokens, h]`.
pub(crate) struct LastHiddenStates {
    numbers: Vec<f32>,
    hidden_size: usize,
    /// The number of tokens of each input.
    lengths: Vec<usize>,
}

impl LastHiddenStates {
    /// Returns the states of each input, `[tokens, h]`.
    pub(crate) fn split_by_input(&self) -> Vec<&[f32]> {
        let mut rest = self.numbers.as_slice();
        let own = self.lengths.iter().map(|n| {
            let (own, others) = rest.split_at(n * self.hidden_size);
            rest = others;
            own
        });
        own.collect()
    }
}

impl TransformerEncoder {
    /// Loads the weights on the device; an input has at most `max_tokens` tokens.
    pub(crate) fn load(
        weights: &ModelWeights<'_>,
        config: EncoderConfig,
        max_tokens: usize,
        computing: impl Into<DeviceAndPrecision>,
    ) -> Result<TransformerEncoder, Error> {
        let (hidden_size, vocab_size) = (config.hidden_size, config.vocab_size);
        let heads = (config.num_hidden_layers, config.num_attention_heads);
        let computing = computing.into();
        let pass = match &config.modern {
            Some(modern) => {
                computing.require_cpu_f32("a ModernBERT")?;
                let parameters =
                    modern_bert::ModernBertWeights::load(weights, &config, modern, max_tokens)?;
                Pass::Modern(parameters)
            }
            None if computing.is_cpu_f32() => Pass::Fused(BertParameters::load(weights, config)?),
            None => {
                let parameters = BertParameters::load(weights, config)?;
                let device = computing.device.open_candle_device()?;
                Pass::Plain(CandleBert::from_parameters(
                    parameters,
                    &device,
                    computing.precision.candle_dtype(),
                )?)
            }
        };
        Ok(TransformerEncoder {
            pass,
            hidden_size,
            vocab_size,
            max_tokens,
            heads,
        })
    }

    /// Encodes texts in one batch, each as its own input.
    pub(crate) fn forward_texts(
        &self,
        batch: &[&TokenizedText],
    ) -> Result<LastHiddenStates, Error> {
        let inputs: Vec<EncoderInput<'_>> = batch
            .iter()
            .map(|it| EncoderInput::from_tokenized_text(it))
            .collect();
        self.forward(&inputs)
    }

    /// Encodes all inputs in one batch; returns an error for tokens of another model.
    pub(crate) fn forward(&self, inputs: &[EncoderInput<'_>]) -> Result<LastHiddenStates, Error> {
        inputs.iter().try_for_each(|it| self.check(it.ids))?;
        let numbers = match &self.pass {
            Pass::Fused(parameters) => bert_cpu::run_bert_on_cpu(parameters, inputs),
            Pass::Plain(bert) => bert.forward(inputs)?,
            Pass::Modern(parameters) => modern_bert::run_modern_bert(parameters, inputs),
        };
        Ok(LastHiddenStates {
            numbers,
            hidden_size: self.hidden_size,
            lengths: inputs.iter().map(|it| it.ids.len()).collect(),
        })
    }

    /// Returns the number of layers and the number of heads in each.
    pub(crate) fn n_layers_and_heads(&self) -> (usize, usize) {
        self.heads
    }

    /// Returns the attention weights of all heads of a layer for one input, `[a, l, l]`; `None` if
    /// there is no such layer, or if the forward pass does not provide them.
    pub(crate) fn layer_attention_weights(
        &self,
        input: EncoderInput<'_>,
        layer: usize,
    ) -> Result<Option<Vec<f32>>, Error> {
        self.check(input.ids)?;
        Ok(match &self.pass {
            Pass::Fused(parameters) => bert_cpu::layer_attention_weights(parameters, input, layer),
            Pass::Plain(_) | Pass::Modern(_) => None,
        })
    }

    fn check(&self, ids: &[u32]) -> Result<(), Error> {
        let foreign = |reason| Err(Error::InvalidTokens { reason });
        if !(2..=self.max_tokens).contains(&ids.len()) {
            return foreign(format!(
                "{} tokens, not 2 to {}",
                ids.len(),
                self.max_tokens
            ));
        }
        match ids.iter().find(|&&id| id as usize >= self.vocab_size) {
            Some(id) => foreign(format!("id {id} of {}", self.vocab_size)),
            None => Ok(()),
        }
    }
}
