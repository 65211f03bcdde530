//! From hidden states to unit vectors, and from two texts' vectors to a score.
//!
//! Shapes: `n` kept tokens, `h` hidden units.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::maxsim::InnerProducts;
use crate::sentence_transformers::{EmbeddingHead, Similarity};
use crate::tokenization::{InputTokenizer, TokenizedText};

/// How two encoded texts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmbeddingKind {
    /// One vector a text, from all its tokens as [`Pooling`] says, `[CLS]` and `[SEP]` included
    /// (Reimers and Gurevych, EMNLP 2019). The score is the cosine, from -1 to 1, or
    /// the inner product where the model's files say so.
    BiEncoder,
    /// One vector a token, `[CLS]` and `[SEP]` left out on both sides. The score is the sum over
    /// the query's pieces of the best cosine with a piece of the text: `s(q, d) = Σᵢ maxⱼ
    /// cos(qᵢ, dⱼ)` (Formal, Piwowarski and Clinchant, ECIR 2021, equation 1, after Khattab and
    /// Zaharia, SIGIR 2020). From -n to n for a query of n tokens.
    ///
    /// The encoder is taken as it is, not trained for this use as ColBERT is; results have to say
    /// so.
    LateInteraction,
}

impl EmbeddingKind {
    /// Lists all embedding kinds: the bi-encoder and late interaction.
    pub const ALL: &[EmbeddingKind] = &[EmbeddingKind::BiEncoder, EmbeddingKind::LateInteraction];
}

/// How the vectors of all tokens become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pooling {
    /// That of the first token, `[CLS]`.
    Cls,
    /// Their mean.
    #[default]
    Mean,
    /// The greatest of each number.
    Max,
}

impl Pooling {
    /// Reads `1_Pooling/config.json` of a sentence-transformers folder.
    pub fn parse(json: &[u8]) -> Result<Pooling, Error> {
        let unknown = |found: String| Error::Pooling { found };
        let config: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(json).map_err(|it| unknown(it.to_string()))?;
        let mut found: Vec<String> = Vec::new();
        for (key, value) in &config {
            match (key.strip_prefix("pooling_mode"), value) {
                // Each mode of its own key, or all under one.
                (Some(mode), serde_json::Value::Bool(true)) => {
                    found.push(mode.trim_start_matches('_').to_owned());
                }
                (Some(""), serde_json::Value::String(mode)) => found.push(mode.clone()),
                _ => {}
            }
        }
        match found.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["cls_token" | "cls"] => Ok(Pooling::Cls),
            ["mean_tokens" | "mean"] => Ok(Pooling::Mean),
            ["max_tokens" | "max"] => Ok(Pooling::Max),
            _ => Err(unknown(found.join(", "))),
        }
    }

    /// Returns the display name of the pooling method: `CLS`, `mean` or `max`.
    pub fn name(self) -> &'static str {
        match self {
            Pooling::Cls => "CLS",
            Pooling::Mean => "mean",
            Pooling::Max => "max",
        }
    }

    /// From `[n, h]`.
    fn pool(self, hidden: &[f32], width: usize) -> Vec<f32> {
        match self {
            Pooling::Cls => hidden[..width].to_vec(),
            Pooling::Mean => mean(hidden, width),
            Pooling::Max => {
                let mut most = hidden[..width].to_vec();
                for row in hidden.chunks_exact(width) {
                    let pairs = most.iter_mut().zip(row);
                    // What is no number stays none, to be found.
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

/// What a text is to a model: one unit vector, or one a token.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedText {
    /// `[n, h]`, row-major; `n` is 1 for a bi-encoder.
    numbers: Vec<f32>,
    width: usize,
    /// Id and span of each kept token, for late interaction; empty for a bi-encoder.
    pieces: Vec<(u32, (u32, u32))>,
}

impl EncodedText {
    /// The vectors, of as many numbers as the model has hidden units; of unit length but for a
    /// bi-encoder that is compared by the inner product. A vector of zeros stays one.
    pub fn vectors(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.numbers.chunks_exact(self.width)
    }

    /// From the hidden states of all tokens, `[pieces, h]`.
    pub(crate) fn new(
        matching: EmbeddingKind,
        sentence: &EmbeddingHead,
        hidden: &[f32],
        text: &TokenizedText,
    ) -> Result<EncodedText, Error> {
        let width = hidden.len() / text.ids.len();
        match matching {
            EmbeddingKind::BiEncoder => {
                let numbers = sentence.apply_modules(sentence.pooling.pool(hidden, width));
                let width = numbers.len();
                let encoded = EncodedText {
                    numbers,
                    width,
                    pieces: Vec::new(),
                };
                encoded.normed(sentence.similarity)
            }
            EmbeddingKind::LateInteraction => {
                let inner = 1..text.ids.len() - 1;
                let ids = text.ids[inner.clone()].iter().copied();
                let encoded = EncodedText {
                    numbers: hidden[inner.start * width..inner.end * width].to_vec(),
                    width,
                    pieces: ids.zip(text.spans.iter().copied()).collect(),
                };
                encoded.normed(Similarity::Cosine)
            }
        }
    }

    /// Unit vectors of tokens, from vectors `[n, width]`.
    pub(crate) fn from_token_vectors(
        numbers: Vec<f32>,
        width: usize,
        pieces: Vec<(u32, (u32, u32))>,
    ) -> Result<EncodedText, Error> {
        let encoded = EncodedText {
            numbers,
            width,
            pieces,
        };
        encoded.normed(Similarity::Cosine)
    }

    /// Of unit length where they are compared by their cosine; refuses what is no number.
    fn normed(mut self, similarity: Similarity) -> Result<EncodedText, Error> {
        for vector in self.numbers.chunks_exact_mut(self.width) {
            let norm = dot(vector, vector).sqrt();
            if !norm.is_finite() {
                return Err(Error::NotFinite);
            }
            if norm > 0.0 && similarity == Similarity::Cosine {
                vector
                    .iter_mut()
                    .for_each(|number| *number = (f64::from(*number) / norm) as f32);
            }
        }
        Ok(self)
    }

    /// The ids of the tokens that have a vector, in the model's vocabulary; none of a bi-encoder.
    pub fn token_ids(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.pieces.iter().map(|it| it.0)
    }

    /// Where the tokens that have a vector stand in the text, in characters; a special token
    /// stands nowhere: both are 0.
    pub fn token_spans(&self) -> impl ExactSizeIterator<Item = (u32, u32)> + '_ {
        self.pieces.iter().map(|it| it.1)
    }

    /// For each vector of this query the greatest cosine with one of a text, from -1 to 1, and the
    /// place of that among the text's, of several the first: what [`crate::EmbeddingModel::score`]
    /// sums. None of a text without tokens.
    pub fn best_matches(&self, text: &EncodedText) -> Vec<Option<(f32, usize)>> {
        let best = self.products(text).row_argmax().into_iter();
        best.map(|it| it.map(|(most, at)| (most.max(MIN_COSINE), at)))
            .collect()
    }

    fn products(&self, text: &EncodedText) -> InnerProducts {
        InnerProducts::compute(&self.numbers, &text.numbers, self.width)
    }

    fn words(&self, cutter: &InputTokenizer) -> Vec<SubwordToken> {
        let pieces = self.pieces.iter().map(|&(id, (start, end))| SubwordToken {
            token: cutter.piece(id),
            start: start as usize,
            end: end as usize,
        });
        pieces.collect()
    }
}

/// A token of a text, as it stands in the vocabulary and in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubwordToken {
    /// As in the vocabulary, `##ing`.
    pub token: String,
    /// First character in the text (in Unicode scalar values); of a special token `end`.
    pub start: usize,
    /// One past the last character.
    pub end: usize,
}

/// What a late interaction is made of: every cosine, of which the score takes each row's best.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenMatches {
    /// The query's tokens: the rows.
    pub query: Vec<SubwordToken>,
    /// The text's tokens: the columns.
    pub document: Vec<SubwordToken>,
    /// `cosines[row][column]`, from -1 to 1.
    pub cosines: Vec<Vec<f64>>,
}

/// The score of two texts encoded with the same `matching`.
pub(crate) fn score(
    matching: EmbeddingKind,
    similarity: Similarity,
    query: &EncodedText,
    text: &EncodedText,
) -> f64 {
    match (matching, similarity) {
        (EmbeddingKind::BiEncoder, Similarity::Cosine) => cosine(&query.numbers, &text.numbers),
        (EmbeddingKind::BiEncoder, Similarity::Dot) => dot(&query.numbers, &text.numbers),
        (EmbeddingKind::LateInteraction, _) => max_sim_score(query, text),
    }
}

/// The sum over the query's vectors of the best cosine with one of the text's.
pub(crate) fn max_sim_score(query: &EncodedText, text: &EncodedText) -> f64 {
    let most = query.products(text).row_maxima(MIN_COSINE);
    most.into_iter().map(f64::from).sum()
}

/// What that sum is made of.
pub(crate) fn matches(
    cutter: &InputTokenizer,
    query: &EncodedText,
    text: &EncodedText,
) -> TokenMatches {
    let products = query.products(text);
    let row = |at: usize| {
        let row = products.row(at).map(f64::from);
        row.map(|it| it.clamp(-1.0, 1.0)).collect()
    };
    TokenMatches {
        query: query.words(cutter),
        document: text.words(cutter),
        cosines: (0..query.vectors().len()).map(row).collect(),
    }
}

/// Of two unit vectors; their rounding to f32 shall not show as more than 1.
fn cosine(a: &[f32], b: &[f32]) -> f64 {
    dot(a, b).clamp(-1.0, 1.0)
}

/// What a query token finds in a text without tokens: so such a text is never above another.
const MIN_COSINE: f32 = -1.0;

/// The mean of the rows of `[n, h]`.
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

/// The inner product, summed in eight lanes and these in order: the same bits on every machine.
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
