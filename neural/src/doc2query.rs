//! doc2query with T5: generates queries that a document may answer, to add to it before indexing.
//!
//! Nogueira and Lin (2019), "From doc2query to docTTTTTquery": a T5 reads the document and
//! generates queries, drawing each token from the `k` most probable ones in proportion to their
//! probabilities.
//!
//! Each draw is determined by a number in [0, 1) that depends only on the seed, the document, the
//! number of the query and the position of the token; the logits do not depend on other documents
//! and queries either. So a document gets the same queries alone and among others, in any order, on
//! any number of threads.

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::device::DeviceAndPrecision;
use crate::error::Error;
use crate::model_files::ModelFileContents;
use crate::ranker_config::RankerArchitecture;
use crate::t5::{self, CrossAttentionCache, DecodingState, T5, T5Config, T5Tokenizer};
use crate::tokenization::{EncoderInput, QueryOrDocumentRole, TokenizedText};

/// The number of queries of a document that are generated at once: the weights are read once for
/// all of them, and their keys and values are in memory together.
const QUERIES_PER_PASS: usize = 16;

/// How queries are generated: seed, top-k sampling, count and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryGenerationConfig {
    /// The seed of the random draws.
    pub seed: u64,
    /// The number of most probable tokens to draw from; 1 always takes the most probable.
    pub top_k: usize,
    /// The number of queries per document.
    pub n_queries: usize,
    /// The maximum number of tokens of a query, including the end token.
    pub max_new_tokens: usize,
}

impl QueryGenerationConfig {
    /// The largest number of queries per document.
    pub const MAX_QUERIES: usize = 1_000;

    /// The largest maximum number of tokens of a query.
    pub const MAX_NEW_TOKENS: usize = 512;

    /// Returns the settings of docTTTTTquery with `n_queries` queries.
    pub fn doctttttquery_defaults(n_queries: usize, seed: u64) -> QueryGenerationConfig {
        QueryGenerationConfig {
            seed,
            top_k: 10,
            n_queries,
            max_new_tokens: 64,
        }
    }
}

/// A query that the model generated for a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedQueryWithTokens {
    /// The token ids; the last is the end token unless the query was cut off.
    pub ids: Vec<u32>,
    /// The text without special tokens; may be empty.
    pub text: String,
}

/// The generated queries of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedQueries {
    /// The queries, in order.
    pub queries: Vec<GeneratedQueryWithTokens>,
    /// Whether the end of the document was left out because of the maximum number of tokens.
    pub truncated: bool,
}

/// A T5 that generates queries.
pub struct Doc2Query {
    model: T5,
    words: T5Tokenizer,
    max_tokens: usize,
    fingerprint: String,
}

impl Doc2Query {
    /// Reads and checks the files. At most `max_tokens` tokens of a document are read, including
    /// the end token. Computes on the CPU only.
    pub fn load(
        files: &ModelFileContents,
        max_tokens: usize,
        device: DeviceAndPrecision,
    ) -> Result<Self, Error> {
        let config = T5Config::parse(&files.config)?;
        files
            .ranker_config_if_architecture_matches(RankerArchitecture::Doc2Query)?
            .check_no_limits_or_prompts("a T5 that generates queries")?;
        t5::check_t5_max_tokens(max_tokens, 2)?;
        Ok(Doc2Query {
            words: T5Tokenizer::load(&files.tokenizer, config.vocab_size)?,
            model: T5::load(files, config, device)?,
            max_tokens,
            fingerprint: files.fingerprint_for_use("doc2query", max_tokens),
        })
    }

    /// Generates the queries of each document, in order, in parallel over documents.
    pub fn generate_queries_per_document(
        &self,
        texts: &[&str],
        sampling: &QueryGenerationConfig,
    ) -> Result<Vec<GeneratedQueries>, Error> {
        sampling.check(self.model.config().vocab_size)?;
        let each = texts.par_iter().map(|it| self.write_of(it, sampling));
        each.collect()
    }

    /// Returns the tokens of a document that the model reads, without the end token.
    pub fn tokenize_document(&self, text: &str) -> Result<TokenizedText, Error> {
        self.words.tokenize_without_end_token(
            QueryOrDocumentRole::Document,
            text,
            self.max_tokens - 1,
        )
    }

    /// Returns the fingerprint of the generator: SHA-256 in hex over the files and the maximum
    /// number of tokens.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn write_of(
        &self,
        text: &str,
        sampling: &QueryGenerationConfig,
    ) -> Result<GeneratedQueries, Error> {
        let tokens = self.tokenize_document(text)?;
        let mut ids = tokens.ids;
        ids.push(self.model.config().eos_token_id);
        let input = EncoderInput::single_segment(&ids);
        let states = self.model.encode(&[input], gemm::Parallelism::None); // [l, h]
        let memory = self
            .model
            .compute_cross_attention_cache(&states, gemm::Parallelism::None);
        let draws = Draws::of(sampling, text);
        let mut queries = Vec::with_capacity(sampling.n_queries);
        let numbers: Vec<usize> = (0..sampling.n_queries).collect();
        for numbers in numbers.chunks(QUERIES_PER_PASS) {
            queries.extend(self.write_some(&memory, numbers, &draws)?);
        }
        let queries = queries.into_iter().map(|ids| {
            let text = self.words.decode(&ids)?.trim().to_owned();
            Ok(GeneratedQueryWithTokens { ids, text })
        });
        Ok(GeneratedQueries {
            queries: queries.collect::<Result<_, Error>>()?,
            truncated: tokens.truncated,
        })
    }

    /// Generates the queries with these numbers, in order.
    fn write_some(
        &self,
        memory: &CrossAttentionCache,
        numbers: &[usize],
        draws: &Draws<'_>,
    ) -> Result<Vec<Vec<u32>>, Error> {
        let max_new = draws.sampling.max_new_tokens;
        let decoder = self.model.create_decoder(max_new);
        let mut written = vec![Vec::new(); numbers.len()];
        let mut lines: Vec<(usize, DecodingState)> = (0..numbers.len())
            .map(|at| (at, decoder.initial_decoding_state()))
            .collect();
        for step in 0..max_new {
            let mut open: Vec<&mut DecodingState> = lines.iter_mut().map(|it| &mut it.1).collect();
            let memories = vec![memory; open.len()];
            let states = decoder.compute_next_token_states(&mut open, &memories);
            let logits = decoder.vocabulary_logits(&states);
            let each = logits.chunks_exact(self.model.config().vocab_size);
            for ((at, line), logits) in lines.iter_mut().zip(each) {
                line.last = draws.token(logits, numbers[*at], step)?;
                written[*at].push(line.last);
            }
            lines.retain(|it| it.1.last != self.model.config().eos_token_id);
            if lines.is_empty() {
                break;
            }
        }
        Ok(written)
    }
}

impl QueryGenerationConfig {
    fn check(&self, vocab_size: usize) -> Result<(), Error> {
        for (setting, found, most) in [
            ("top_k", self.top_k, vocab_size),
            (
                "n_queries",
                self.n_queries,
                QueryGenerationConfig::MAX_QUERIES,
            ),
            (
                "max_new_tokens",
                self.max_new_tokens,
                QueryGenerationConfig::MAX_NEW_TOKENS,
            ),
        ] {
            if !(1..=most).contains(&found) {
                return Err(Error::Sampling {
                    setting,
                    found,
                    most,
                });
            }
        }
        Ok(())
    }
}

/// The random draws of one document.
struct Draws<'a> {
    sampling: &'a QueryGenerationConfig,
    /// SHA-256 of the document's text.
    text: [u8; 32],
}

impl Draws<'_> {
    fn of<'a>(sampling: &'a QueryGenerationConfig, text: &str) -> Draws<'a> {
        Draws {
            sampling,
            text: Sha256::digest(text).into(),
        }
    }

    /// Draws the token at a position of a query, from logits `[v]`.
    fn token(&self, logits: &[f32], query: usize, place: usize) -> Result<u32, Error> {
        if !logits.iter().all(|it| it.is_finite()) {
            return Err(Error::NotFinite);
        }
        Ok(draw(logits, self.sampling.top_k, self.number(query, place)))
    }

    /// Returns a number in [0, 1): 53 bits of SHA-256 over seed, text, query and position,
    /// little-endian.
    fn number(&self, query: usize, place: usize) -> f64 {
        let mut hash = Sha256::new();
        hash.update(self.sampling.seed.to_le_bytes());
        hash.update(self.text);
        hash.update((query as u32).to_le_bytes());
        hash.update((place as u32).to_le_bytes());
        let bytes = hash.finalize();
        let (first, _) = bytes.split_first_chunk().expect("32 bytes are more than 8");
        (u64::from_le_bytes(*first) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Returns the first of the `k` most probable tokens at which their cumulative probability, in
/// descending order, exceeds `number`; ties are in the order of the vocabulary.
fn draw(logits: &[f32], k: usize, number: f64) -> u32 {
    let mut order: Vec<u32> = (0..logits.len() as u32).collect();
    let by_logit = |a: &u32, b: &u32| {
        let (x, y) = (logits[*a as usize], logits[*b as usize]);
        y.total_cmp(&x).then(a.cmp(b))
    };
    let k = k.min(order.len());
    if k < order.len() {
        order.select_nth_unstable_by(k, by_logit);
        order.truncate(k);
    }
    order.sort_unstable_by(by_logit);
    let most = logits[order[0] as usize];
    let weights: Vec<f64> = order
        .iter()
        .map(|&it| libm::exp(f64::from(logits[it as usize]) - f64::from(most)))
        .collect();
    let total: f64 = weights.iter().sum();
    let mut sum = 0.0;
    for (&token, weight) in order.iter().zip(&weights) {
        sum += weight / total;
        if sum > number {
            return token;
        }
    }
    // Because of rounding the sum may be slightly below 1.
    order[k - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_falls_on_the_token_whose_share_it_is_in() {
        // Probabilities of the three most probable: 1/2 for token 3, 1/4 each for tokens 1 and 4.
        let logits = [-9.0, 0.0, -0.5, std::f32::consts::LN_2, 0.0];
        for (number, token) in [
            (0.0, 3),
            (0.499, 3),
            (0.501, 1),
            (0.749, 1),
            (0.751, 4),
            (1.0 - f64::EPSILON, 4),
        ] {
            assert_eq!(draw(&logits, 3, number), token, "{number}");
        }
        assert_eq!(draw(&logits, 1, 0.999), 3);
        // Ties are in the order of the vocabulary: tokens 1 and 4 are equally probable.
        assert_eq!(draw(&logits, 2, 0.999), 1);
        assert_eq!(draw(&logits, usize::MAX, 0.999_99), 0);
    }

    #[test]
    fn numbers_lie_evenly_and_each_by_itself() {
        let sampling = QueryGenerationConfig::doctttttquery_defaults(1, 7);
        let draws = Draws::of(&sampling, "a river");
        let mut numbers: Vec<f64> = (0..100)
            .flat_map(|query| (0..100).map(move |place| (query, place)))
            .map(|(query, place)| draws.number(query, place))
            .collect();
        numbers.sort_by(f64::total_cmp);
        assert!(numbers[0] >= 0.0 && numbers[9_999] < 1.0);
        assert!(numbers.windows(2).all(|it| it[0] < it[1]));
        // Kolmogorov-Smirnov test: 1.95 / √n is exceeded once in a thousand.
        let far = numbers.iter().zip(0..).map(|(it, at)| {
            let even = (f64::from(at) + 0.5) / 10_000.0;
            (it - even).abs()
        });
        let far = far.fold(0.0, f64::max);
        assert!(far < 0.0195, "{far}");
        let other = QueryGenerationConfig::doctttttquery_defaults(1, 8);
        assert_ne!(
            Draws::of(&other, "a river").number(0, 0),
            draws.number(0, 0)
        );
        assert_ne!(
            Draws::of(&sampling, "a sea").number(0, 0),
            draws.number(0, 0)
        );
    }
}
