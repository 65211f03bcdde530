//! From hidden states to vectors, and from the vectors of two texts to a score.
//!
//! Shapes: `n` kept tokens, `h` hidden units.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::maxsim::InnerProductMatrix;
use crate::sentence_transformers::{BiEncoderHead, VectorSimilarity};
use crate::tokenization::{InputTokenizer, TokenizedText};

/// How two encoded texts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmbeddingRankerKind {
    /// One vector per text, from all its tokens by [`TokenPooling`], including `[CLS]` and `[SEP]`
    /// (Reimers and Gurevych, EMNLP 2019). The score is the cosine, from -1 to 1, or the inner
    /// product if the model's files say so.
    BiEncoder,
    /// One vector per token, without `[CLS]` and `[SEP]` on both sides. The score is the sum over
    /// the query's tokens of the best cosine with a token of the document:
    /// `s(q, d) = Σᵢ maxⱼ cos(qᵢ, dⱼ)` (Formal, Piwowarski and Clinchant, ECIR 2021, equation 1,
    /// after Khattab and Zaharia, SIGIR 2020). From -n to n for a query of n tokens.
    ///
    /// The encoder is used as it is, not trained for late interaction as ColBERT is; results have
    /// to say so.
    LateInteraction,
}

impl EmbeddingRankerKind {
    /// Lists all embedding kinds: the bi-encoder and late interaction.
    pub const ALL: &[EmbeddingRankerKind] = &[
        EmbeddingRankerKind::BiEncoder,
        EmbeddingRankerKind::LateInteraction,
    ];
}

/// How the vectors of all tokens are combined into one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TokenPooling {
    /// The vector of the first token, `[CLS]`.
    Cls,
    /// The mean of the vectors.
    #[default]
    Mean,
    /// The element-wise maximum of the vectors.
    Max,
}

impl TokenPooling {
    /// Reads `1_Pooling/config.json` of a sentence-transformers folder.
    pub fn from_pooling_config_json(json: &[u8]) -> Result<TokenPooling, Error> {
        let unknown = |found: String| Error::Pooling { found };
        let config: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(json).map_err(|it| unknown(it.to_string()))?;
        let mut found: Vec<String> = Vec::new();
        for (key, value) in &config {
            match (key.strip_prefix("pooling_mode"), value) {
                // Each mode has its own key, or one key has them all.
                (Some(mode), serde_json::Value::Bool(true)) => {
                    found.push(mode.trim_start_matches('_').to_owned());
                }
                (Some(""), serde_json::Value::String(mode)) => found.push(mode.clone()),
                _ => {}
            }
        }
        match found.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["cls_token" | "cls"] => Ok(TokenPooling::Cls),
            ["mean_tokens" | "mean"] => Ok(TokenPooling::Mean),
            ["max_tokens" | "max"] => Ok(TokenPooling::Max),
            _ => Err(unknown(found.join(", "))),
        }
    }

    /// Returns the display name of the pooling method: `CLS`, `mean` or `max`.
    pub fn display_name(self) -> &'static str {
        match self {
            TokenPooling::Cls => "CLS",
            TokenPooling::Mean => "mean",
            TokenPooling::Max => "max",
        }
    }

    /// Pools hidden states `[n, h]` into one vector.
    fn pool(self, hidden: &[f32], width: usize) -> Vec<f32> {
        match self {
            TokenPooling::Cls => hidden[..width].to_vec(),
            TokenPooling::Mean => mean(hidden, width),
            TokenPooling::Max => {
                let mut most = hidden[..width].to_vec();
                for row in hidden.chunks_exact(width) {
                    let pairs = most.iter_mut().zip(row);
                    // NaN is propagated, so that it is detected.
                    pairs.for_each(|(most, &it)| {
                        if it > *most || it.is_nan() {
                            *most = it;
                        }
                    });
                }
                most
            }
        }
    }
}

/// The vectors of an encoded text: one for a bi-encoder, one per token for late interaction.
#[derive(Clone, Debug, PartialEq)]
pub struct SingleOrMultiVectorEncoding {
    /// `[n, h]`, row-major; `n` is 1 for a bi-encoder.
    numbers: Vec<f32>,
    width: usize,
    /// The id and span of each kept token, for late interaction; empty for a bi-encoder.
    tokens: Vec<(u32, (u32, u32))>,
}

impl SingleOrMultiVectorEncoding {
    /// Returns the vectors. They have unit length, except for a bi-encoder that uses the inner
    /// product; vectors of zeros stay zero.
    pub fn vectors(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.numbers.chunks_exact(self.width)
    }

    /// Creates an encoded text from the hidden states of all tokens, `[tokens, h]`.
    pub(crate) fn from_hidden_states(
        matching: EmbeddingRankerKind,
        sentence: &BiEncoderHead,
        hidden: &[f32],
        text: &TokenizedText,
    ) -> Result<SingleOrMultiVectorEncoding, Error> {
        let width = hidden.len() / text.ids.len();
        match matching {
            EmbeddingRankerKind::BiEncoder => {
                let numbers =
                    sentence.apply_steps_after_pooling(sentence.pooling.pool(hidden, width));
                let width = numbers.len();
                let encoded = SingleOrMultiVectorEncoding {
                    numbers,
                    width,
                    tokens: Vec::new(),
                };
                encoded.normed(sentence.similarity)
            }
            EmbeddingRankerKind::LateInteraction => {
                let inner = 1..text.ids.len() - 1;
                let ids = text.ids[inner.clone()].iter().copied();
                let encoded = SingleOrMultiVectorEncoding {
                    numbers: hidden[inner.start * width..inner.end * width].to_vec(),
                    width,
                    tokens: ids.zip(text.spans.iter().copied()).collect(),
                };
                encoded.normed(VectorSimilarity::Cosine)
            }
        }
    }

    /// Creates unit vectors of tokens from vectors `[n, width]`.
    pub(crate) fn from_unnormalized_token_vectors(
        numbers: Vec<f32>,
        width: usize,
        tokens: Vec<(u32, (u32, u32))>,
    ) -> Result<SingleOrMultiVectorEncoding, Error> {
        let encoded = SingleOrMultiVectorEncoding {
            numbers,
            width,
            tokens,
        };
        encoded.normed(VectorSimilarity::Cosine)
    }

    /// Normalizes the vectors to unit length if the similarity is the cosine; returns an error if
    /// one is not finite.
    fn normed(
        mut self,
        similarity: VectorSimilarity,
    ) -> Result<SingleOrMultiVectorEncoding, Error> {
        for vector in self.numbers.chunks_exact_mut(self.width) {
            let norm = dot(vector, vector).sqrt();
            if !norm.is_finite() {
                return Err(Error::NotFinite);
            }
            if norm > 0.0 && similarity == VectorSimilarity::Cosine {
                vector
                    .iter_mut()
                    .for_each(|number| *number = (f64::from(*number) / norm) as f32);
            }
        }
        Ok(self)
    }

    /// Returns the ids of the tokens that have a vector; none for a bi-encoder.
    pub fn vector_token_ids(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.tokens.iter().map(|it| it.0)
    }

    /// Returns the spans in the text, in characters, of the tokens that have a vector; both ends
    /// are 0 for a special token.
    pub fn vector_token_char_spans(&self) -> impl ExactSizeIterator<Item = (u32, u32)> + '_ {
        self.tokens.iter().map(|it| it.1)
    }

    /// Returns for each vector of this query its greatest cosine with one of the document, from -1
    /// to 1, and the index of that vector, the first of several.
    /// [`crate::SingleOrMultiVectorRanker::score`] sums these cosines. `None` for a document
    /// without tokens.
    pub fn best_cosines_with_indices(
        &self,
        text: &SingleOrMultiVectorEncoding,
    ) -> Vec<Option<(f32, usize)>> {
        let best = self.products(text).row_maxima_with_indices().into_iter();
        best.map(|it| it.map(|(most, at)| (most.max(MIN_COSINE), at)))
            .collect()
    }

    fn products(&self, text: &SingleOrMultiVectorEncoding) -> InnerProductMatrix {
        InnerProductMatrix::compute(&self.numbers, &text.numbers, self.width)
    }

    fn words(&self, cutter: &InputTokenizer) -> Vec<SubwordToken> {
        let tokens = self.tokens.iter().map(|&(id, (start, end))| SubwordToken {
            token: cutter.id_to_token(id),
            start: start as usize,
            end: end as usize,
        });
        tokens.collect()
    }
}

/// A token with its position in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubwordToken {
    /// The token as in the vocabulary, for example `##ing`.
    pub token: String,
    /// The position of the first character in the text (in Unicode scalar values); equal to `end`
    /// for a special token.
    pub start: usize,
    /// One past the last character.
    pub end: usize,
}

/// The cosines of all pairs of tokens in a late interaction; the score sums the maximum of each
/// row.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenPairCosines {
    /// The tokens of the query: the rows.
    pub query: Vec<SubwordToken>,
    /// The tokens of the document: the columns.
    pub document: Vec<SubwordToken>,
    /// `cosines[row][column]`, from -1 to 1.
    pub cosines: Vec<Vec<f64>>,
}

/// Returns the score of two texts encoded with the same `matching`.
pub(crate) fn score_encoded_pair(
    matching: EmbeddingRankerKind,
    similarity: VectorSimilarity,
    query: &SingleOrMultiVectorEncoding,
    text: &SingleOrMultiVectorEncoding,
) -> f64 {
    match (matching, similarity) {
        (EmbeddingRankerKind::BiEncoder, VectorSimilarity::Cosine) => {
            cosine(&query.numbers, &text.numbers)
        }
        (EmbeddingRankerKind::BiEncoder, VectorSimilarity::Dot) => {
            dot(&query.numbers, &text.numbers)
        }
        (EmbeddingRankerKind::LateInteraction, _) => max_sim_score(query, text),
    }
}

/// Returns the sum over the query's vectors of the best cosine with one of the document's.
pub(crate) fn max_sim_score(
    query: &SingleOrMultiVectorEncoding,
    text: &SingleOrMultiVectorEncoding,
) -> f64 {
    let most = query.products(text).row_maxima_with_floor(MIN_COSINE);
    most.into_iter().map(f64::from).sum()
}

/// Returns the cosines behind that sum.
pub(crate) fn token_pair_cosines(
    cutter: &InputTokenizer,
    query: &SingleOrMultiVectorEncoding,
    text: &SingleOrMultiVectorEncoding,
) -> TokenPairCosines {
    let products = query.products(text);
    let row = |at: usize| {
        let row = products.products_of_query_vector(at).map(f64::from);
        row.map(|it| it.clamp(-1.0, 1.0)).collect()
    };
    TokenPairCosines {
        query: query.words(cutter),
        document: text.words(cutter),
        cosines: (0..query.vectors().len()).map(row).collect(),
    }
}

/// Returns the cosine of two unit vectors, limited to -1 to 1 against the rounding to f32.
fn cosine(a: &[f32], b: &[f32]) -> f64 {
    dot(a, b).clamp(-1.0, 1.0)
}

/// The best cosine in a document without tokens, so that such a document never ranks above another.
const MIN_COSINE: f32 = -1.0;

/// Returns the mean of the rows of `[n, h]`.
fn mean(hidden: &[f32], width: usize) -> Vec<f32> {
    let mut sums = vec![0.0f64; width];
    for row in hidden.chunks_exact(width) {
        sums.iter_mut()
            .zip(row)
            .for_each(|(sum, &number)| *sum += f64::from(number));
    }
    let n = (hidden.len() / width) as f64;
    sums.into_iter().map(|sum| (sum / n) as f32).collect()
}

/// Returns the inner product, summed in eight lanes and these in order: the same bits on every CPU.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f64 {
    let mut lanes = [0.0f64; 8];
    let (a_eights, a_rest) = a.as_chunks::<8>();
    let (b_eights, b_rest) = b.as_chunks::<8>();
    for (a, b) in a_eights.iter().zip(b_eights) {
        for lane in 0..8 {
            lanes[lane] += f64::from(a[lane]) * f64::from(b[lane]);
        }
    }
    for (lane, (&a, &b)) in a_rest.iter().zip(b_rest).enumerate() {
        lanes[lane] += f64::from(a) * f64::from(b);
    }
    lanes.iter().sum()
}
