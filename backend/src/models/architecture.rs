//! The architectures of neural rankers. Each method has one match over the architectures.

use neural::{
    Colbert, CrossEncoder, EmbeddingModel, EncodedText, Epic, EpicDocument, EpicQuery, InputRole,
    MonoT5, SparseVector, Splade, TokenizedPair, TokenizedText,
};

/// A neural ranker that encodes query and document separately, or reads them together.
pub(super) enum ScoringModel {
    Independent(Box<IndependentEncoder>),
    Joint(JointEncoder),
}

/// A model that reads query and document as one input.
pub(super) enum JointEncoder {
    Cross(Box<CrossEncoder>),
    Mono(Box<MonoT5>),
}

/// A model that encodes query and document separately.
pub(super) enum IndependentEncoder {
    Dense(EmbeddingModel),
    Sparse(Splade),
    Colbert(Colbert),
    Epic(Epic),
}

impl ScoringModel {
    pub(super) fn independent(&self) -> Option<&IndependentEncoder> {
        match self {
            ScoringModel::Independent(it) => Some(it),
            ScoringModel::Joint(_) => None,
        }
    }
}

/// The encoding of a query or document.
pub(super) enum EncodedInput {
    Dense(EncodedText),
    Sparse(SparseVector),
    EpicQuery(EpicQuery),
    EpicText(EpicDocument),
}

impl IndependentEncoder {
    /// Returns the fingerprint of the model and its use.
    pub(super) fn fingerprint(&self) -> &str {
        match self {
            IndependentEncoder::Dense(it) => it.fingerprint(),
            IndependentEncoder::Sparse(it) => it.fingerprint(),
            IndependentEncoder::Colbert(it) => it.fingerprint(),
            IndependentEncoder::Epic(it) => it.fingerprint(),
        }
    }

    pub(super) fn tokenize(
        &self,
        side: InputRole,
        text: &str,
    ) -> Result<TokenizedText, neural::Error> {
        match self {
            IndependentEncoder::Dense(it) => it.tokenize(side, text),
            IndependentEncoder::Sparse(it) => it.tokenize(side, text),
            IndependentEncoder::Colbert(it) => it.tokenize(side, text),
            IndependentEncoder::Epic(it) => it.tokenize(side, text),
        }
    }

    /// Encodes tokenized inputs, which are all queries or all documents, according to `side`.
    pub(super) fn encode(
        &self,
        side: InputRole,
        tokens: &[&TokenizedText],
    ) -> Result<Vec<EncodedInput>, neural::Error> {
        Ok(match self {
            IndependentEncoder::Dense(it) => it
                .encode(tokens)?
                .into_iter()
                .map(EncodedInput::Dense)
                .collect(),
            IndependentEncoder::Sparse(it) => it
                .encode(tokens)?
                .into_iter()
                .map(EncodedInput::Sparse)
                .collect(),
            IndependentEncoder::Colbert(it) => it
                .encode(tokens)?
                .into_iter()
                .map(EncodedInput::Dense)
                .collect(),
            IndependentEncoder::Epic(it) => match side {
                InputRole::Query => {
                    let queries = it.encode_queries(tokens)?.into_iter();
                    queries.map(EncodedInput::EpicQuery).collect()
                }
                InputRole::Document => {
                    let texts = it.encode_documents(tokens)?.into_iter();
                    texts.map(EncodedInput::EpicText).collect()
                }
            },
        })
    }

    pub(super) fn score(&self, query: &EncodedInput, text: &EncodedInput) -> f64 {
        match (self, query, text) {
            (
                IndependentEncoder::Dense(it),
                EncodedInput::Dense(query),
                EncodedInput::Dense(text),
            ) => it.score(query, text),
            (
                IndependentEncoder::Sparse(it),
                EncodedInput::Sparse(query),
                EncodedInput::Sparse(text),
            ) => it.score(query, text),
            (
                IndependentEncoder::Colbert(it),
                EncodedInput::Dense(query),
                EncodedInput::Dense(text),
            ) => it.score(query, text),
            (
                IndependentEncoder::Epic(it),
                EncodedInput::EpicQuery(query),
                EncodedInput::EpicText(text),
            ) => it.score(query, text),
            // The encodings are of another model; NaN is rejected wherever scores are used.
            _ => f64::NAN,
        }
    }

    pub(super) fn matches(
        &self,
        query: &EncodedInput,
        text: &EncodedInput,
    ) -> Option<neural::TokenMatches> {
        match (self, query, text) {
            (
                IndependentEncoder::Dense(it),
                EncodedInput::Dense(query),
                EncodedInput::Dense(text),
            ) => it.matches(query, text),
            (
                IndependentEncoder::Colbert(it),
                EncodedInput::Dense(query),
                EncodedInput::Dense(text),
            ) => Some(it.matches(query, text)),
            _ => None,
        }
    }
}

impl JointEncoder {
    pub(super) fn tokenize(
        &self,
        side: InputRole,
        text: &str,
    ) -> Result<TokenizedText, neural::Error> {
        match self {
            JointEncoder::Cross(it) => it.tokenize(side, text),
            JointEncoder::Mono(it) => it.tokenize(side, text),
        }
    }

    pub(super) fn tokenize_pair(
        &self,
        query: &TokenizedText,
        text: &TokenizedText,
    ) -> TokenizedPair {
        match self {
            JointEncoder::Cross(it) => it.tokenize_pair(query, text),
            JointEncoder::Mono(it) => it.tokenize_pair(query, text),
        }
    }

    pub(super) fn score(&self, pairs: &[&TokenizedPair]) -> Result<Vec<f64>, neural::Error> {
        match self {
            JointEncoder::Cross(it) => it.score(pairs),
            JointEncoder::Mono(it) => it.score(pairs),
        }
    }

    /// Returns the fingerprint of the model and its use.
    pub(super) fn fingerprint(&self) -> &str {
        match self {
            JointEncoder::Cross(it) => it.fingerprint(),
            JointEncoder::Mono(it) => it.fingerprint(),
        }
    }
}
