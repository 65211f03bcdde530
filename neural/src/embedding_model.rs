//! A neural ranker that compares encoded texts: tokenizer, encoder and comparison in one.

use std::sync::Arc;

use crate::colbert::Colbert;
use crate::config::EncoderConfig;
use crate::cross_encoder::CrossEncoder;
use crate::device::DeviceAndPrecision;
use crate::embedding::{
    self, EmbeddingRankerKind, SingleOrMultiVectorEncoding, TokenPairCosines, TokenPooling,
};
use crate::encoder::TransformerEncoder;
use crate::error::Error;
use crate::model_files::ModelFileContents;
use crate::ranker_config::{NeuralRankerConfig, RankerArchitecture, TokenLimitsAndPrompts};
use crate::sentence_transformers::{BiEncoderHead, VectorSimilarity};
use crate::tokenization::{InputTokenizer, QueryOrDocumentRole, TokenizedText};
use crate::weights::ModelWeights;

/// A bi-encoder or late-interaction ranker on a device. It can be shared by many threads and
/// returns the same numbers to each.
pub struct SingleOrMultiVectorRanker {
    cutter: InputTokenizer,
    encoder: Arc<TransformerEncoder>,
    matching: EmbeddingRankerKind,
    sentence: BiEncoderHead,
    fingerprint: String,
}

impl SingleOrMultiVectorRanker {
    /// Reads and checks the files and loads the weights on the device of `computing`. A text has at
    /// most `max_tokens` tokens, including `[CLS]` and `[SEP]`.
    pub fn load(
        files: &ModelFileContents,
        matching: EmbeddingRankerKind,
        max_tokens: usize,
        computing: impl Into<DeviceAndPrecision>,
    ) -> Result<SingleOrMultiVectorRanker, Error> {
        let parts = SingleOrMultiVectorRankerParts::read(files, matching, max_tokens)?;
        let weights = ModelWeights::from_safetensors_bytes(
            &files.weights,
            parts.config.family.tensor_prefix(),
        )?;
        let bound = parts.sides.bounds.larger_limit();
        let encoder = TransformerEncoder::load(&weights, parts.config.clone(), bound, computing)?;
        parts.around(Arc::new(encoder))
    }

    /// Returns a ranker on the same files with another kind of comparison. Both share one encoder,
    /// so [`SingleOrMultiVectorRanker::encode_for_models`] needs only one forward pass. `None` if
    /// this model was loaded from other files or with another maximum number of tokens.
    pub fn for_kind_sharing_encoder(
        &self,
        files: &ModelFileContents,
        matching: EmbeddingRankerKind,
        max_tokens: usize,
    ) -> Result<Option<SingleOrMultiVectorRanker>, Error> {
        if files.fingerprint_for_use(name(self.matching), max_tokens) != self.fingerprint {
            return Ok(None);
        }
        let parts = SingleOrMultiVectorRankerParts::read(files, matching, max_tokens)?;
        parts.around(self.encoder.clone()).map(Some)
    }

    /// Whether another model tokenizes every text in the same way and shares the encoder.
    pub fn encodes_identically_to(&self, other: &SingleOrMultiVectorRanker) -> bool {
        Arc::ptr_eq(&self.encoder, &other.encoder) && self.cutter.tokenizes_like(&other.cutter)
    }

    /// Returns the tokens of `text`, and whether it was truncated.
    pub fn tokenize(&self, side: QueryOrDocumentRole, text: &str) -> Result<TokenizedText, Error> {
        self.cutter.tokenize(side, text)
    }

    /// Encodes all texts of the batch in one forward pass. The result depends on the other texts
    /// only by rounding (1e-6), and is the same when the same batch is encoded again with as many
    /// threads.
    pub fn encode(
        &self,
        batch: &[&TokenizedText],
    ) -> Result<Vec<SingleOrMultiVectorEncoding>, Error> {
        let mut each = self.encode_for_models(&[self], batch)?;
        Ok(each.pop().unwrap_or_default())
    }

    /// Encodes like [`SingleOrMultiVectorRanker::encode`] for several models with the same encoding
    /// ([`SingleOrMultiVectorRanker::encodes_identically_to`]) in one forward pass. Each result has
    /// the same bits as that of the model alone.
    pub fn encode_for_models(
        &self,
        models: &[&SingleOrMultiVectorRanker],
        batch: &[&TokenizedText],
    ) -> Result<Vec<Vec<SingleOrMultiVectorEncoding>>, Error> {
        let foreign = |reason: String| Err(Error::InvalidTokens { reason });
        if !models.iter().all(|it| it.encodes_identically_to(self)) {
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
        let states = states.split_by_input();
        let of = |model: &&SingleOrMultiVectorRanker| {
            let each = states.iter().zip(batch);
            each.map(|(own, text)| {
                SingleOrMultiVectorEncoding::from_hidden_states(
                    model.matching,
                    &model.sentence,
                    own,
                    text,
                )
            })
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
    pub fn score(
        &self,
        query: &SingleOrMultiVectorEncoding,
        text: &SingleOrMultiVectorEncoding,
    ) -> f64 {
        embedding::score_encoded_pair(self.matching, self.sentence.similarity, query, text)
    }

    /// Returns the cosines behind the score of late interaction; `None` for a bi-encoder.
    pub fn token_pair_cosines(
        &self,
        query: &SingleOrMultiVectorEncoding,
        text: &SingleOrMultiVectorEncoding,
    ) -> Option<TokenPairCosines> {
        match self.matching {
            EmbeddingRankerKind::BiEncoder => None,
            EmbeddingRankerKind::LateInteraction => {
                Some(embedding::token_pair_cosines(&self.cutter, query, text))
            }
        }
    }

    /// Returns how two texts are compared.
    pub fn ranker_kind(&self) -> EmbeddingRankerKind {
        self.matching
    }

    /// Returns a token as in the vocabulary.
    pub fn id_to_token(&self, id: u32) -> String {
        self.cutter.id_to_token(id)
    }

    /// Returns the pooling of a bi-encoder.
    pub fn pooling(&self) -> TokenPooling {
        self.sentence.pooling
    }

    /// Returns the similarity of a bi-encoder.
    pub fn similarity_measure(&self) -> VectorSimilarity {
        self.sentence.similarity
    }

    /// Returns the fingerprint of the ranker: SHA-256 in hex over the files, the kind and the
    /// maximum number of tokens. Two models with the same fingerprint give the same scores in the
    /// same [`crate::FloatPrecision`], up to rounding on other devices; the fingerprint does not
    /// include the precision.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}

/// Returns the name of a kind in fingerprints.
fn name(matching: EmbeddingRankerKind) -> &'static str {
    match matching {
        EmbeddingRankerKind::BiEncoder => "bi-encoder",
        EmbeddingRankerKind::LateInteraction => "late-interaction",
    }
}

/// The parts of a model other than its encoder.
struct SingleOrMultiVectorRankerParts {
    config: EncoderConfig,
    matching: EmbeddingRankerKind,
    sentence: BiEncoderHead,
    sides: TokenLimitsAndPrompts,
    cutter: InputTokenizer,
    fingerprint: String,
}

impl SingleOrMultiVectorRankerParts {
    fn read(
        files: &ModelFileContents,
        matching: EmbeddingRankerKind,
        max_tokens: usize,
    ) -> Result<SingleOrMultiVectorRankerParts, Error> {
        let config = EncoderConfig::parse_with_max_tokens(&files.config, max_tokens)?;
        let declared = files.ranker_config_if_architecture_matches(match matching {
            EmbeddingRankerKind::BiEncoder => RankerArchitecture::BiEncoder,
            EmbeddingRankerKind::LateInteraction => RankerArchitecture::LateInteraction,
        })?;
        let mut sides = declared.token_limits_and_prompts(max_tokens, &config)?;
        let sentence = match matching {
            EmbeddingRankerKind::BiEncoder => {
                check_use(&files.config, &declared)?;
                let sentence = BiEncoderHead::from_files(files, config.hidden_size)?;
                sides.prompts = BiEncoderHead::resolve_prompts(files)?;
                sentence
            }
            // Its vectors are those of tokens, and these files are about the vector of a text.
            EmbeddingRankerKind::LateInteraction => BiEncoderHead::default(),
        };
        Ok(SingleOrMultiVectorRankerParts {
            cutter: InputTokenizer::load(&files.tokenizer, config.vocab_size, max_tokens)?,
            config,
            matching,
            sentence,
            sides,
            fingerprint: files.fingerprint_for_use(name(matching), max_tokens),
        })
    }

    fn around(self, encoder: Arc<TransformerEncoder>) -> Result<SingleOrMultiVectorRanker, Error> {
        let TokenLimitsAndPrompts { bounds, prompts } = self.sides;
        Ok(SingleOrMultiVectorRanker {
            encoder,
            cutter: self.cutter.with_limits_and_prompts(bounds, prompts)?,
            matching: self.matching,
            sentence: self.sentence,
            fingerprint: self.fingerprint,
        })
    }
}

/// Returns an error for a cross-encoder or a ColBERT, whose mean vectors are meaningless, unless
/// `ranker.toml` declares a bi-encoder.
fn check_use(config: &[u8], declared: &NeuralRankerConfig) -> Result<(), Error> {
    if declared.architecture == Some(RankerArchitecture::BiEncoder) {
        return Ok(());
    }
    let (found, ending) = match (
        CrossEncoder::is_supported_config(config),
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
        check::<SingleOrMultiVectorRanker>();
    }
}
