//! Access to the internals of a ranker: the token vectors of late interaction, and the attention of
//! cross-encoders.

use neural::{EmbeddingRankerKind, QueryOrDocumentRole, SingleOrMultiVectorEncoding};
use shared::api::{AttentionResponse, GetAttentionRequest};
use shared::error::{Error as InputError, ErrorFieldName};

use crate::error::Error;
use crate::models::architecture::{
    EncodedInput, JointInputModel, SeparateInputEncoder, SeparateOrJointInputModel,
};
use crate::models::passages::LongDocumentStrategy;
use crate::models::{NeuralRanker, TOKEN_BUDGET};

impl NeuralRanker {
    /// Returns an error unless the ranker has a vector for each token and reads documents without
    /// passages.
    pub(crate) fn ensure_late_interaction_without_passages(&self) -> Result<(), Error> {
        let is_late = match self.reader.as_separate_input_encoder() {
            Some(SeparateInputEncoder::Dense(it)) => {
                it.ranker_kind() == EmbeddingRankerKind::LateInteraction
            }
            Some(SeparateInputEncoder::Colbert(_)) => true,
            Some(SeparateInputEncoder::Sparse(_) | SeparateInputEncoder::Epic(_)) | None => false,
        };
        match is_late && self.passages == LongDocumentStrategy::Truncate {
            true => Ok(()),
            false => {
                let reason = "has no vector for each token of a whole text; take one in late \
                              interaction (`NAME:late`) or a ColBERT (`NAME:colbert`)";
                let ranker = ErrorFieldName::with_display_name("ranker", &self.about.spec);
                Err(InputError::unsupported_value(ranker, reason).into())
            }
        }
    }

    /// Plans batches of documents and returns the indices of each batch. Each document occurs once.
    pub(crate) fn plan_document_batches(&self, texts: &[String]) -> Result<Vec<Vec<u32>>, Error> {
        let each: Vec<(u32, u32)> = (0..texts.len() as u32).map(|it| (0, it)).collect();
        self.plan_scoring_batches(texts, &each, TOKEN_BUDGET)
    }

    /// Returns the token vectors of some texts that fit into one batch.
    pub(crate) fn token_vectors(
        &self,
        side: QueryOrDocumentRole,
        texts: &[&str],
    ) -> Result<Vec<SingleOrMultiVectorEncoding>, Error> {
        self.ensure_late_interaction_without_passages()?;
        let tokens = self.tokenize_texts(side, texts)?;
        let tokens: Vec<_> = tokens.iter().collect();
        let encode =
            |batch: &[&neural::TokenizedText]| match self.reader.as_separate_input_encoder() {
                Some(model) => model.encode(side, batch),
                None => Ok(Vec::new()),
            };
        let vectors = self.run_in_token_batches(&tokens, encode)?.into_iter();
        let dense = vectors.filter_map(|it| match it {
            EncodedInput::Dense(it) => Some(it),
            EncodedInput::Sparse(_)
            | EncodedInput::EpicQueryWeights(_)
            | EncodedInput::EpicText(_) => None,
        });
        Ok(dense.collect())
    }

    /// Returns the token ids of texts without special tokens, as far as the model reads them.
    pub(crate) fn token_ids_without_special(&self, texts: &[&str]) -> Result<Vec<Vec<u32>>, Error> {
        let cut = self
            .tokenize_texts(QueryOrDocumentRole::Document, texts)?
            .into_iter();
        // Special tokens have no span in the text: one is at the end, the others at the beginning.
        let inner = cut.map(|it| {
            let n_before = it.ids.len().saturating_sub(it.spans.len() + 1);
            let each = it.ids.into_iter().skip(n_before).zip(it.spans);
            each.map(|it| it.0).collect()
        });
        Ok(inner.collect())
    }

    /// Returns for each document how many bytes of it the ranker reads with a query, from its
    /// beginning; none if it reads the whole document, or passages from all over it.
    pub(crate) fn n_bytes_read(
        &self,
        query: &str,
        documents: &[&str],
    ) -> Result<Vec<Option<u32>>, Error> {
        let query = self
            .tokenize_texts(QueryOrDocumentRole::Query, &[query])?
            .remove(0);
        let each = documents.iter().map(|document| {
            let parts = self.passages.split_document(document);
            let [passage] = parts.passages[..] else {
                return Ok(None);
            };
            let tokens = self
                .tokenize_texts(QueryOrDocumentRole::Document, &[passage])?
                .remove(0);
            let n_read = match &*self.reader {
                SeparateOrJointInputModel::Joint(model) => {
                    model.join_tokenized_pair(&query, &tokens).n_document_tokens
                }
                SeparateOrJointInputModel::Independent(_) => tokens.spans.len(),
                // The words of the whole document are counted.
                SeparateOrJointInputModel::Expanded(_) => return Ok(None),
            };
            if !parts.truncated && !tokens.truncated && n_read >= tokens.spans.len() {
                return Ok(None);
            }
            let last = n_read.checked_sub(1).and_then(|it| tokens.spans.get(it));
            let end = last.map_or(0, |it| it.1 as usize);
            let end = passage.char_indices().nth(end);
            let end = end.map_or(passage.len(), |it| it.0);
            let begin = passage.as_ptr() as usize - document.as_ptr() as usize;
            Ok(Some((begin + end) as u32))
        });
        each.collect()
    }

    /// Returns the attention weights of a cross-encoder for a pair: of one layer (default: the
    /// last) and of one head (default: the mean of all heads).
    pub(crate) fn attention_weights(
        &self,
        asked: &GetAttentionRequest,
    ) -> Result<AttentionResponse, Error> {
        let refuse = |field: ErrorFieldName, reason: String| {
            Err::<AttentionResponse, Error>(InputError::unsupported_value(field, reason).into())
        };
        let ranker = || ErrorFieldName::with_display_name("ranker", &self.about.spec);
        let SeparateOrJointInputModel::Joint(JointInputModel::Cross(model)) = &*self.reader else {
            let reason = "is no cross-encoder; attention between query and text is shown of one \
                          (`NAME:cross`)";
            return refuse(ranker(), reason.to_owned());
        };
        let (n_layers, n_heads) = model.n_layers_and_heads();
        let head = asked.head;
        let layer = asked.layer.unwrap_or((n_layers - 1) as u32);
        if layer as usize >= n_layers {
            return refuse("layer".into(), format!("{layer} is not below {n_layers}"));
        }
        if head.is_some_and(|it| it as usize >= n_heads) {
            return refuse("head".into(), format!("it is not below {n_heads}"));
        }
        let query = self
            .tokenize_texts(QueryOrDocumentRole::Query, &[asked.query.as_str()])?
            .remove(0);
        let text = self
            .tokenize_texts(QueryOrDocumentRole::Document, &[asked.document.as_str()])?
            .remove(0);
        let pair = model.join_tokenized_pair(&query, &text);
        let found =
            model.layer_attention_weights(&pair, layer as usize, head.map(|it| it as usize));
        let Some(weights) = found.map_err(Error::model_error_converter(&self.about.spec))? else {
            let reason = "computes attention in a way that does not show it; load the model on \
                          the CPU in f32, and no ModernBERT";
            return refuse(ranker(), reason.to_owned());
        };
        Ok(AttentionResponse {
            ranker: self.about.clone(),
            n_layers: n_layers as u32,
            n_heads: n_heads as u32,
            layer,
            head,
            tokens: pair.ids.iter().map(|&it| model.id_to_token(it)).collect(),
            document_start: pair.document_start as u32,
            weights: weights
                .chunks_exact(pair.ids.len())
                .map(<[f32]>::to_vec)
                .collect(),
            truncated: pair.truncated,
        })
    }

    /// Returns a token as it is written in the vocabulary.
    pub(crate) fn id_to_token(&self, id: u32) -> String {
        match self.reader.as_separate_input_encoder() {
            Some(SeparateInputEncoder::Dense(it)) => it.id_to_token(id),
            Some(SeparateInputEncoder::Colbert(it)) => it.id_to_token(id),
            Some(SeparateInputEncoder::Sparse(_) | SeparateInputEncoder::Epic(_)) | None => {
                id.to_string()
            }
        }
    }
}
