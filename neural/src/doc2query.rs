//! doc2query with T5: queries that a text may answer, to be added to it before it is indexed.
//!
//! Nogueira and Lin (2019), "From doc2query to docTTTTTquery": a T5 reads the text and writes
//! queries, each token drawn from the `k` likeliest in proportion to their probabilities.
//!
//! A draw is decided by a number in [0, 1) that depends on the seed, the text, the number of the
//! query and the place of the token, and on nothing else; the logits that it falls on do not
//! depend on other texts and queries either. So a text gets the same queries alone and among
//! others, in any order, on any number of threads.

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::device::ComputeTarget;
use crate::error::Error;
use crate::model_files::ModelFiles;
use crate::ranker_config::RankerConfig;
use crate::t5::{self, CrossAttentionCache, DecodingState, T5, T5Config, T5Tokenizer};
use crate::tokenization::{EncoderInput, InputRole};

/// Queries of a text that are written at once: weights are read once for all of them, and their
/// keys and values are in memory together.
const QUERIES_PER_PASS: usize = 16;

/// How queries are generated: seed, top-k sampling, count and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GenerationConfig {
    /// Of the draws.
    pub seed: u64,
    /// Each token is one of so many; 1 always takes the likeliest.
    pub top_k: usize,
    /// Queries of a text.
    pub n_queries: usize,
    /// A query has at most so many tokens, its end among them.
    pub max_new_tokens: usize,
}

impl GenerationConfig {
    /// The most queries of a text.
    pub const MAX_QUERIES: usize = 1_000;

    /// The most pieces of a query.
    pub const MAX_NEW_TOKENS: usize = 512;

    /// As docTTTTTquery draws, with so many queries.
    pub fn docttttt_defaults(n_queries: usize, seed: u64) -> GenerationConfig {
        GenerationConfig {
            seed,
            top_k: 10,
            n_queries,
            max_new_tokens: 64,
        }
    }
}

/// A query that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedQuery {
    /// In the vocabulary; the last is the token that ends a text, or the query was cut off.
    pub ids: Vec<u32>,
    /// Without special tokens; may be empty.
    pub text: String,
}

/// The queries of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedQueries {
    /// In the order of their numbers.
    pub queries: Vec<GeneratedQuery>,
    /// Whether the end of the text was left out, to keep to the bound.
    pub truncated: bool,
}

/// A T5 that writes queries.
pub struct Doc2Query {
    model: T5,
    words: T5Tokenizer,
    max_pieces: usize,
    fingerprint: String,
}

impl Doc2Query {
    /// Reads and checks the files. Of a text at most `max_pieces` tokens are read, its end among
    /// them. Computes on the CPU only.
    pub fn load(
        files: &ModelFiles,
        max_pieces: usize,
        device: ComputeTarget,
    ) -> Result<Self, Error> {
        let config = T5Config::read(&files.config)?;
        if files.ranker_config()? != RankerConfig::default() {
            let reason = "nothing can be set of a T5 that writes queries; take the lines out";
            return Err(Error::RankerConfig {
                reason: reason.to_owned(),
            });
        }
        t5::check_bound(max_pieces, 2)?;
        Ok(Doc2Query {
            words: T5Tokenizer::load(&files.tokenizer, config.vocab_size)?,
            model: T5::load(files, config, device)?,
            max_pieces,
            fingerprint: files.fingerprint("doc2query", max_pieces),
        })
    }

    /// The queries of each text, in order; texts are shared among the threads.
    pub fn generate(
        &self,
        texts: &[&str],
        sampling: &GenerationConfig,
    ) -> Result<Vec<GeneratedQueries>, Error> {
        sampling.check(self.model.config().vocab_size)?;
        let each = texts.par_iter().map(|it| self.write_of(it, sampling));
        each.collect()
    }

    /// Names what writes: SHA-256 in hex over the files and the bound on tokens.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn write_of(&self, text: &str, sampling: &GenerationConfig) -> Result<GeneratedQueries, Error> {
        let pieces = self
            .words
            .tokenize(InputRole::Document, text, self.max_pieces - 1)?;
        let mut ids = pieces.ids;
        ids.push(self.model.config().eos_token_id);
        let input = EncoderInput::single_segment(&ids);
        let states = self.model.encode(&[input], gemm::Parallelism::None); // [l, h]
        let memory = self
            .model
            .cross_attention_cache(&states, gemm::Parallelism::None);
        let draws = Draws::of(sampling, text);
        let mut queries = Vec::with_capacity(sampling.n_queries);
        let numbers: Vec<usize> = (0..sampling.n_queries).collect();
        for numbers in numbers.chunks(QUERIES_PER_PASS) {
            queries.extend(self.write_some(&memory, numbers, &draws)?);
        }
        let queries = queries.into_iter().map(|ids| {
            let text = self.words.decode(&ids)?.trim().to_owned();
            Ok(GeneratedQuery { ids, text })
        });
        Ok(GeneratedQueries {
            queries: queries.collect::<Result<_, Error>>()?,
            truncated: pieces.truncated,
        })
    }

    /// The queries of these numbers, in their order.
    fn write_some(
        &self,
        memory: &CrossAttentionCache,
        numbers: &[usize],
        draws: &Draws<'_>,
    ) -> Result<Vec<Vec<u32>>, Error> {
        let max_new = draws.sampling.max_new_tokens;
        let decoder = self.model.decoder(max_new);
        let mut written = vec![Vec::new(); numbers.len()];
        let mut lines: Vec<(usize, DecodingState)> = (0..numbers.len())
            .map(|at| (at, decoder.start_sequence()))
            .collect();
        for step in 0..max_new {
            let mut open: Vec<&mut DecodingState> = lines.iter_mut().map(|it| &mut it.1).collect();
            let memories = vec![memory; open.len()];
            let states = decoder.step(&mut open, &memories);
            let logits = decoder.logits(&states);
            let each = logits.chunks_exact(self.model.config().vocab_size);
            for ((at, line), logits) in lines.iter_mut().zip(each) {
                line.last = draws.piece(logits, numbers[*at], step)?;
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

impl GenerationConfig {
    fn check(&self, vocab_size: usize) -> Result<(), Error> {
        for (what, found, most) in [
            ("pieces to draw from (k)", self.top_k, vocab_size),
            (
                "queries of a text",
                self.n_queries,
                GenerationConfig::MAX_QUERIES,
            ),
            (
                "pieces of a query",
                self.max_new_tokens,
                GenerationConfig::MAX_NEW_TOKENS,
            ),
        ] {
            if !(1..=most).contains(&found) {
                return Err(Error::Sampling { what, found, most });
            }
        }
        Ok(())
    }
}

/// What decides the draws of one text.
struct Draws<'a> {
    sampling: &'a GenerationConfig,
    /// SHA-256 of the text.
    text: [u8; 32],
}

impl Draws<'_> {
    fn of<'a>(sampling: &'a GenerationConfig, text: &str) -> Draws<'a> {
        Draws {
            sampling,
            text: Sha256::digest(text).into(),
        }
    }

    /// The token that is drawn for a place of a query, from logits `[v]`.
    fn piece(&self, logits: &[f32], query: usize, place: usize) -> Result<u32, Error> {
        if !logits.iter().all(|it| it.is_finite()) {
            return Err(Error::NotFinite);
        }
        Ok(draw(logits, self.sampling.top_k, self.number(query, place)))
    }

    /// In [0, 1): 53 bits of SHA-256 over seed, text, query and place, little-endian.
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

/// The first of the `k` likeliest tokens at which their probabilities, summed from the likeliest
/// on, exceed `number`; of equal ones the first in the vocabulary.
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
    for (&piece, weight) in order.iter().zip(&weights) {
        sum += weight / total;
        if sum > number {
            return piece;
        }
    }
    // Rounding may leave the sum a little below 1.
    order[k - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_falls_on_the_piece_whose_share_it_is_in() {
        // Shares of the three likeliest: 1/2 of token 3, 1/4 each of tokens 1 and 4.
        let logits = [-9.0, 0.0, -0.5, std::f32::consts::LN_2, 0.0];
        for (number, piece) in [
            (0.0, 3),
            (0.499, 3),
            (0.501, 1),
            (0.749, 1),
            (0.751, 4),
            (1.0 - f64::EPSILON, 4),
        ] {
            assert_eq!(draw(&logits, 3, number), piece, "{number}");
        }
        assert_eq!(draw(&logits, 1, 0.999), 3);
        // Of equal ones the first: tokens 1 and 4 are as likely.
        assert_eq!(draw(&logits, 2, 0.999), 1);
        assert_eq!(draw(&logits, usize::MAX, 0.999_99), 0);
    }

    #[test]
    fn numbers_lie_evenly_and_each_by_itself() {
        let sampling = GenerationConfig::docttttt_defaults(1, 7);
        let draws = Draws::of(&sampling, "a river");
        let mut numbers: Vec<f64> = (0..100)
            .flat_map(|query| (0..100).map(move |place| (query, place)))
            .map(|(query, place)| draws.number(query, place))
            .collect();
        numbers.sort_by(f64::total_cmp);
        assert!(numbers[0] >= 0.0 && numbers[9_999] < 1.0);
        assert!(numbers.windows(2).all(|it| it[0] < it[1]));
        // Kolmogorov and Smirnov: 1.95 / √n is exceeded once in a thousand.
        let far = numbers.iter().zip(0..).map(|(it, at)| {
            let even = (f64::from(at) + 0.5) / 10_000.0;
            (it - even).abs()
        });
        let far = far.fold(0.0, f64::max);
        assert!(far < 0.0195, "{far}");
        let other = GenerationConfig::docttttt_defaults(1, 8);
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
