//! A neural ranker: tokenizer, encoder and matching in one.

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

/// A neural ranker on a device. Used from many threads at once, it gives each the same numbers.
pub struct EmbeddingModel {
    cutter: InputTokenizer,
    encoder: Arc<Encoder>,
    matching: EmbeddingKind,
    sentence: EmbeddingHead,
    fingerprint: String,
}

impl EmbeddingModel {
    /// Reads and checks the files and puts the weights where `computing` says. A text has at most
    /// `max_pieces` tokens, `[CLS]` and `[SEP]` among them.
    pub fn load(
        files: &ModelFiles,
        matching: EmbeddingKind,
        max_pieces: usize,
        computing: impl Into<ComputeTarget>,
    ) -> Result<EmbeddingModel, Error> {
        let parts = EmbeddingModelParts::read(files, matching, max_pieces)?;
        let weights = ModelWeights::open(&files.weights, parts.config.family.tensor_prefix())?;
        let bound = parts.sides.bounds.max();
        let encoder = Encoder::load(&weights, parts.config.clone(), bound, computing)?;
        parts.around(Arc::new(encoder))
    }

    /// The same files, compared otherwise: both share one encoder, so
    /// [`EmbeddingModel::encode_for_models`] serves both with one forward pass. None where this
    /// model was loaded from other files or with another bound.
    pub fn with_kind(
        &self,
        files: &ModelFiles,
        matching: EmbeddingKind,
        max_pieces: usize,
    ) -> Result<Option<EmbeddingModel>, Error> {
        if files.fingerprint(name(self.matching), max_pieces) != self.fingerprint {
            return Ok(None);
        }
        let parts = EmbeddingModelParts::read(files, matching, max_pieces)?;
        parts.around(self.encoder.clone()).map(Some)
    }

    /// Whether another model reads every text in the same tokens with the same encoder.
    pub fn has_same_encoding(&self, other: &EmbeddingModel) -> bool {
        Arc::ptr_eq(&self.encoder, &other.encoder) && self.cutter.tokenizes_like(&other.cutter)
    }

    /// The pieces of `text`, and whether it was too long.
    pub fn tokenize(&self, side: InputRole, text: &str) -> Result<TokenizedText, Error> {
        self.cutter.tokenize(side, text)
    }

    /// One forward pass over all texts of the batch. An answer depends on the other texts by
    /// rounding only (1e-6), and not at all on when the same batch is encoded again with as many
    /// threads.
    pub fn encode(&self, batch: &[&TokenizedText]) -> Result<Vec<EncodedText>, Error> {
        let mut each = self.encode_for_models(&[self], batch)?;
        Ok(each.pop().unwrap_or_default())
    }

    /// As [`EmbeddingModel::encode`], for each of the models, which all read as this one
    /// ([`EmbeddingModel::has_same_encoding`]): one forward pass for all of them, and the bits that
    /// each would have by itself.
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
            // Of the ids themselves the encoder knows.
            if text.spans.len() + 2 != text.ids.len() {
                let (ids, spans) = (text.ids.len(), text.spans.len());
                return foreign(format!("{ids} pieces, {spans} spans"));
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

    /// The score of `text` for `query`, higher is better; always finite. Summed in a fixed order.
    ///
    /// A bi-encoder also has a vector for an empty text. In late interaction an empty text has no
    /// tokens and scores -1, the least cosine, for each piece of the query: no text is below it.
    /// An empty query scores 0 with every text.
    pub fn score(&self, query: &EncodedText, text: &EncodedText) -> f64 {
        embedding::score(self.matching, self.sentence.similarity, query, text)
    }

    /// What a late interaction's score is made of; `None` for a bi-encoder.
    pub fn matches(&self, query: &EncodedText, text: &EncodedText) -> Option<TokenMatches> {
        match self.matching {
            EmbeddingKind::BiEncoder => None,
            EmbeddingKind::LateInteraction => Some(embedding::matches(&self.cutter, query, text)),
        }
    }

    /// How two texts are compared.
    pub fn kind(&self) -> EmbeddingKind {
        self.matching
    }

    /// A token as it stands in the vocabulary.
    pub fn piece(&self, id: u32) -> String {
        self.cutter.piece(id)
    }

    /// How a bi-encoder makes one vector of all.
    pub fn pooling(&self) -> Pooling {
        self.sentence.pooling
    }

    /// How a bi-encoder compares two vectors.
    pub fn similarity(&self) -> Similarity {
        self.sentence.similarity
    }

    /// Names the ranker: SHA-256 in hex over the files, the matching and the bound on tokens. Two
    /// models with the same fingerprint give the same scores in the same [`crate::Precision`], up
    /// to rounding on other devices; in how many bits they compute it does not tell.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}

/// As it enters a fingerprint.
fn name(matching: EmbeddingKind) -> &'static str {
    match matching {
        EmbeddingKind::BiEncoder => "bi-encoder",
        EmbeddingKind::LateInteraction => "late-interaction",
    }
}

/// Everything of a model but its encoder.
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
        max_pieces: usize,
    ) -> Result<EmbeddingModelParts, Error> {
        let config = EncoderConfig::parse(&files.config)?;
        check_bound(max_pieces, 3, &config)?;
        let declared = files.ranker_config_for(match matching {
            EmbeddingKind::BiEncoder => Architecture::BiEncoder,
            EmbeddingKind::LateInteraction => Architecture::LateInteraction,
        })?;
        let mut sides = declared.input_settings(max_pieces, &config)?;
        let sentence = match matching {
            EmbeddingKind::BiEncoder => {
                check_use(&files.config, &declared)?;
                let sentence = EmbeddingHead::read(files, config.hidden_size)?;
                sides.prompts = EmbeddingHead::prompts(files)?;
                sentence
            }
            // Its vectors are those of tokens, before anything that these files say.
            EmbeddingKind::LateInteraction => EmbeddingHead::default(),
        };
        Ok(EmbeddingModelParts {
            cutter: InputTokenizer::load(&files.tokenizer, config.vocab_size, max_pieces)?,
            config,
            matching,
            sentence,
            sides,
            fingerprint: files.fingerprint(name(matching), max_pieces),
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

/// A mean over what a cross-encoder or a ColBERT makes of tokens is a number that says nothing,
/// unless somebody says that it does.
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
