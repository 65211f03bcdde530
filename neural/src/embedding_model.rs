//! A neural ranker that compares encoded texts: tokenizer, encoder and comparison in one.

use std::sync::Arc;

use crate::colbert::Colbert;
use crate::config::{EncoderConfig, check_bound};
use crate::cross_encoder::CrossEncoder;
use crate::device::ComputeTarget;
use crate::embedding::{self, EmbeddingKind, EncodedText, Pooling, TokenMatches};
use crate::encoder::Encoder;
use crate::error::Error;
use crate::model_files::ModelFiles;
use crate::ranker_config::{Architecture, InputSettings, RankerConfig};
use crate::sentence_transformers::{EmbeddingHead, Similarity};
use crate::tokenization::{InputRole, InputTokenizer, TokenizedText};
use crate::weights::ModelWeights;

/// A bi-encoder or late-interaction ranker on a device. It can be shared by many threads and
/// returns the same numbers to each.
pub struct EmbeddingModel {
    cutter: InputTokenizer,
    encoder: Arc<Encoder>,
    matching: EmbeddingKind,
    sentence: EmbeddingHead,
    fingerprint: String,
}

impl EmbeddingModel {
    /// Reads and checks the files and loads the weights on the device of `computing`. A text has at
    /// most `max_tokens` tokens, including `[CLS]` and `[SEP]`.
    pub fn load(
        files: &ModelFiles,
        matching: EmbeddingKind,
        max_tokens: usize,
        computing: impl Into<ComputeTarget>,
    ) -> Result<EmbeddingModel, Error> {
        let parts = EmbeddingModelParts::read(files, matching, max_tokens)?;
        let weights = ModelWeights::open(&files.weights, parts.config.family.tensor_prefix())?;
        let bound = parts.sides.bounds.max();
        let encoder = Encoder::load(&weights, parts.config.clone(), bound, computing)?;
        parts.around(Arc::new(encoder))
    }

    /// Returns a ranker on the same files with another kind of comparison. Both share one encoder,
    /// so [`EmbeddingModel::encode_for_models`] needs only one forward pass. `None` if this model
    /// was loaded from other files or with another maximum number of tokens.
    pub fn with_kind(
        &self,
        files: &ModelFiles,
        matching: EmbeddingKind,
        max_tokens: usize,
    ) -> Result<Option<EmbeddingModel>, Error> {
        if files.fingerprint(name(self.matching), max_tokens) != self.fingerprint {
            return Ok(None);
        }
        let parts = EmbeddingModelParts::read(files, matching, max_tokens)?;
        parts.around(self.encoder.clone()).map(Some)
    }

    /// Whether another model tokenizes every text in the same way and shares the encoder.
    pub fn has_same_encoding(&self, other: &EmbeddingModel) -> bool {
        Arc::ptr_eq(&self.encoder, &other.encoder) && self.cutter.tokenizes_like(&other.cutter)
    }

    /// Returns the tokens of `text`, and whether it was truncated.
    pub fn tokenize(&self, side: InputRole, text: &str) -> Result<TokenizedText, Error> {
        self.cutter.tokenize(side, text)
    }

    /// Encodes all texts of the batch in one forward pass. The result depends on the other texts
    /// only by rounding (1e-6), and is the same when the same batch is encoded again with as many
    /// threads.
    pub fn encode(&self, batch: &[&TokenizedText]) -> Result<Vec<EncodedText>, Error> {
        let mut each = self.encode_for_models(&[self], batch)?;
        Ok(each.pop().unwrap_or_default())
    }

    /// Encodes like [`EmbeddingModel::encode`] for several models with the same encoding
    /// ([`EmbeddingModel::has_same_encoding`]) in one forward pass. Each result has the same bits
    /// as that of the model alone.
    pub fn encode_for_models(
        &self,
        models: &[&EmbeddingModel],
        batch: &[&TokenizedText],
    ) -> Result<Vec<Vec<EncodedText>>, Error> {
        let foreign = |reason: String| Err(Error::InvalidTokens { reason });
        if !models.iter().all(|it| it.has_same_encoding(self)) {
            return foreign("made for another encoder".to_owned());
        }
        for text in batch {
            // The encoder checks the ids themselves.
            if text.spans.len() + 2 != text.ids.len() {
                let (ids, spans) = (text.ids.len(), text.spans.len());
                return foreign(format!("{ids} tokens, {spans} spans"));
            }
        }
        let states = self.encoder.forward_texts(batch)?;
        let states = states.by_input();
        let of = |model: &&EmbeddingModel| {
            let each = states.iter().zip(batch);
            each.map(|(own, text)| EncodedText::new(model.matching, &model.sentence, own, text))
                .collect()
        };
        models.iter().map(of).collect()
    }

    /// Returns the score of `text` for `query`, higher is better; always finite. The order of
    /// summation is fixed.
    ///
    /// A bi-encoder also has a vector for an empty document. In late interaction, an empty document
    /// has no tokens and scores -1, the minimum cosine, for each query token: no document scores
    /// lower. An empty query scores 0 with every document.
    pub fn score(&self, query: &EncodedText, text: &EncodedText) -> f64 {
        embedding::score(self.matching, self.sentence.similarity, query, text)
    }

    /// Returns the cosines behind the score of late interaction; `None` for a bi-encoder.
    pub fn matches(&self, query: &EncodedText, text: &EncodedText) -> Option<TokenMatches> {
        match self.matching {
            EmbeddingKind::BiEncoder => None,
            EmbeddingKind::LateInteraction => Some(embedding::matches(&self.cutter, query, text)),
        }
    }

    /// Returns how two texts are compared.
    pub fn kind(&self) -> EmbeddingKind {
        self.matching
    }

    /// Returns a token as in the vocabulary.
    pub fn token(&self, id: u32) -> String {
        self.cutter.token(id)
    }

    /// Returns the pooling of a bi-encoder.
    pub fn pooling(&self) -> Pooling {
        self.sentence.pooling
    }

    /// Returns the similarity of a bi-encoder.
    pub fn similarity(&self) -> Similarity {
        self.sentence.similarity
    }

    /// Returns the fingerprint of the ranker: SHA-256 in hex over the files, the kind and the
    /// maximum number of tokens. Two models with the same fingerprint give the same scores in the
    /// same [`crate::Precision`], up to rounding on other devices; the fingerprint does not include
    /// the precision.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}

/// Returns the name of a kind in fingerprints.
fn name(matching: EmbeddingKind) -> &'static str {
    match matching {
        EmbeddingKind::BiEncoder => "bi-encoder",
        EmbeddingKind::LateInteraction => "late-interaction",
    }
}

/// The parts of a model other than its encoder.
struct EmbeddingModelParts {
    config: EncoderConfig,
    matching: EmbeddingKind,
    sentence: EmbeddingHead,
    sides: InputSettings,
    cutter: InputTokenizer,
    fingerprint: String,
}

impl EmbeddingModelParts {
    fn read(
        files: &ModelFiles,
        matching: EmbeddingKind,
        max_tokens: usize,
    ) -> Result<EmbeddingModelParts, Error> {
        let config = EncoderConfig::parse(&files.config)?;
        check_bound(max_tokens, 3, &config)?;
        let declared = files.ranker_config_for(match matching {
            EmbeddingKind::BiEncoder => Architecture::BiEncoder,
            EmbeddingKind::LateInteraction => Architecture::LateInteraction,
        })?;
        let mut sides = declared.input_settings(max_tokens, &config)?;
        let sentence = match matching {
            EmbeddingKind::BiEncoder => {
                check_use(&files.config, &declared)?;
                let sentence = EmbeddingHead::read(files, config.hidden_size)?;
                sides.prompts = EmbeddingHead::prompts(files)?;
                sentence
            }
            // Its vectors are those of tokens, and these files are about the vector of a text.
            EmbeddingKind::LateInteraction => EmbeddingHead::default(),
        };
        Ok(EmbeddingModelParts {
            cutter: InputTokenizer::load(&files.tokenizer, config.vocab_size, max_tokens)?,
            config,
            matching,
            sentence,
            sides,
            fingerprint: files.fingerprint(name(matching), max_tokens),
        })
    }

    fn around(self, encoder: Arc<Encoder>) -> Result<EmbeddingModel, Error> {
        let InputSettings { bounds, prompts } = self.sides;
        Ok(EmbeddingModel {
            encoder,
            cutter: self.cutter.with_settings(bounds, prompts)?,
            matching: self.matching,
            sentence: self.sentence,
            fingerprint: self.fingerprint,
        })
    }
}

/// Returns an error for a cross-encoder or a ColBERT, whose mean vectors are meaningless, unless
/// `ranker.toml` declares a bi-encoder.
fn check_use(config: &[u8], declared: &RankerConfig) -> Result<(), Error> {
    if declared.architecture == Some(Architecture::BiEncoder) {
        return Ok(());
    }
    let (found, ending) = match (
        CrossEncoder::is_in(config),
        Colbert::is_supported_config(config),
    ) {
        (true, _) => ("cross-encoder", ":cross"),
        (_, true) => ("ColBERT", ":colbert"),
        (false, false) => return Ok(()),
    };
    Err(Error::WrongArchitecture { found, ending })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_shared_between_threads() {
        fn check<T: Send + Sync>() {}
        check::<EmbeddingModel>();
    }
}
