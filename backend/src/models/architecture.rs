//! The architectures of neural rankers. Each method has one match over the architectures.

use neural::{
    Colbert, CrossEncoder, EpicDocumentStates, EpicQueryWeights, EpicRanker, InteractionRanker,
    MonoT5, QueryDocumentTokenSequence, QueryOrDocumentRole, SingleOrMultiVectorEncoding,
    SingleOrMultiVectorRanker, SparseVector, Splade, TokenizedText,
};

use crate::models::document_expansion::DocumentExpander;
use crate::models::lambdamart::LambdaMartRanker;

/// A neural ranker that encodes query and document separately, reads them together, or reads the
/// document only, to expand it.
pub(super) enum SeparateOrJointInputModel {
    Independent(Box<SeparateInputEncoder>),
    Joint(JointInputModel),
    Expanded(Box<DocumentExpander>),
}

/// A model that reads query and document as one input.
pub(super) enum JointInputModel {
    Cross(Box<CrossEncoder>),
    Mono(Box<MonoT5>),
    Interaction(Box<InteractionRanker>),
    LambdaMart(Box<LambdaMartRanker>),
}

/// A model that encodes query and document separately.
pub(super) enum SeparateInputEncoder {
    Dense(SingleOrMultiVectorRanker),
    Sparse(Splade),
    Colbert(Colbert),
    Epic(EpicRanker),
}

impl SeparateOrJointInputModel {
    pub(super) fn as_separate_input_encoder(&self) -> Option<&SeparateInputEncoder> {
        match self {
            SeparateOrJointInputModel::Independent(it) => Some(it),
            SeparateOrJointInputModel::Joint(_) | SeparateOrJointInputModel::Expanded(_) => None,
        }
    }

    /// Returns the fingerprint of the model and its use.
    pub(super) fn fingerprint(&self) -> &str {
        match self {
            Self::Independent(it) => match &**it {
                SeparateInputEncoder::Dense(it) => it.fingerprint(),
                SeparateInputEncoder::Sparse(it) => it.fingerprint(),
                SeparateInputEncoder::Colbert(it) => it.fingerprint(),
                SeparateInputEncoder::Epic(it) => it.fingerprint(),
            },
            Self::Joint(it) => match it {
                JointInputModel::Cross(it) => it.fingerprint(),
                JointInputModel::Mono(it) => it.fingerprint(),
                JointInputModel::Interaction(it) => it.fingerprint(),
                JointInputModel::LambdaMart(it) => it.fingerprint(),
            },
            Self::Expanded(it) => it.fingerprint(),
        }
    }

    pub(super) fn tokenize(
        &self,
        side: QueryOrDocumentRole,
        text: &str,
    ) -> Result<TokenizedText, neural::Error> {
        match self {
            Self::Independent(it) => match &**it {
                SeparateInputEncoder::Dense(it) => it.tokenize(side, text),
                SeparateInputEncoder::Sparse(it) => it.tokenize(side, text),
                SeparateInputEncoder::Colbert(it) => it.tokenize(side, text),
                SeparateInputEncoder::Epic(it) => it.tokenize(side, text),
            },
            Self::Joint(it) => match it {
                JointInputModel::Cross(it) => it.tokenize(side, text),
                JointInputModel::Mono(it) => it.tokenize(side, text),
                JointInputModel::Interaction(it) => it.tokenize(side, text),
                JointInputModel::LambdaMart(it) => Ok(it.tokenize(side, text)),
            },
            Self::Expanded(it) => it.tokenize(side, text),
        }
    }
}

/// The encoding of a query or document.
pub(super) enum EncodedInput {
    Dense(SingleOrMultiVectorEncoding),
    Sparse(SparseVector),
    EpicQueryWeights(EpicQueryWeights),
    EpicText(EpicDocumentStates),
}

impl SeparateInputEncoder {
    /// Encodes tokenized inputs, which are all queries or all documents, according to `side`.
    pub(super) fn encode(
        &self,
        side: QueryOrDocumentRole,
        tokens: &[&TokenizedText],
    ) -> Result<Vec<EncodedInput>, neural::Error> {
        Ok(match self {
            SeparateInputEncoder::Dense(it) => it
                .encode(tokens)?
                .into_iter()
                .map(EncodedInput::Dense)
                .collect(),
            SeparateInputEncoder::Sparse(it) => it
                .encode(tokens)?
                .into_iter()
                .map(EncodedInput::Sparse)
                .collect(),
            SeparateInputEncoder::Colbert(it) => it
                .encode(tokens)?
                .into_iter()
                .map(EncodedInput::Dense)
                .collect(),
            SeparateInputEncoder::Epic(it) => match side {
                QueryOrDocumentRole::Query => {
                    let queries = it.encode_queries(tokens)?.into_iter();
                    queries.map(EncodedInput::EpicQueryWeights).collect()
                }
                QueryOrDocumentRole::Document => {
                    let texts = it.encode_documents(tokens)?.into_iter();
                    texts.map(EncodedInput::EpicText).collect()
                }
            },
        })
    }

    pub(super) fn score_encoded_pair(&self, query: &EncodedInput, text: &EncodedInput) -> f64 {
        match (self, query, text) {
            (Self::Dense(it), EncodedInput::Dense(query), EncodedInput::Dense(text)) => {
                it.score(query, text)
            }
            (Self::Sparse(it), EncodedInput::Sparse(query), EncodedInput::Sparse(text)) => {
                it.score_sparse_vectors(query, text)
            }
            (Self::Colbert(it), EncodedInput::Dense(query), EncodedInput::Dense(text)) => {
                it.score(query, text)
            }
            (
                Self::Epic(it),
                EncodedInput::EpicQueryWeights(query),
                EncodedInput::EpicText(text),
            ) => it.score(query, text),
            // The encodings are of another model; NaN is rejected wherever scores are used.
            _ => f64::NAN,
        }
    }

    pub(super) fn token_pair_cosines(
        &self,
        query: &EncodedInput,
        text: &EncodedInput,
    ) -> Option<neural::TokenPairCosines> {
        match (self, query, text) {
            (Self::Dense(it), EncodedInput::Dense(query), EncodedInput::Dense(text)) => {
                it.token_pair_cosines(query, text)
            }
            (Self::Colbert(it), EncodedInput::Dense(query), EncodedInput::Dense(text)) => {
                Some(it.token_pair_cosines(query, text))
            }
            _ => None,
        }
    }
}

impl JointInputModel {
    pub(super) fn join_tokenized_pair(
        &self,
        query: &TokenizedText,
        text: &TokenizedText,
    ) -> QueryDocumentTokenSequence {
        match self {
            JointInputModel::Cross(it) => it.join_tokenized_pair(query, text),
            JointInputModel::Mono(it) => it.join_tokenized_pair(query, text),
            JointInputModel::Interaction(it) => it.join_tokenized_pair(query, text),
            JointInputModel::LambdaMart(it) => it.join_tokenized_pair(query, text),
        }
    }

    pub(super) fn score_pairs(
        &self,
        pairs: &[&QueryDocumentTokenSequence],
    ) -> Result<Vec<f64>, neural::Error> {
        match self {
            JointInputModel::Cross(it) => it.score_pairs(pairs),
            JointInputModel::Mono(it) => it.score_pairs(pairs),
            JointInputModel::Interaction(it) => it.score_pairs(pairs),
            JointInputModel::LambdaMart(it) => it.score_pairs(pairs),
        }
    }
}
