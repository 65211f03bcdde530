//! GloVe: word vectors trained on a collection (Pennington, Socher & Manning, EMNLP 2014).
//!
//! X_ij is the number of times that words i and j occur within a window of each other, each time
//! weighted by one over their distance. Vectors w, w̃ and biases b, b̃ are fitted to
//!
//! Σ f(X_ij) (w_i·w̃_j + b_i + b̃_j − ln X_ij)², f(x) = min(1, (x / x_max)^α),
//!
//! by AdaGrad; the vector of a word is w + w̃.
//!
//! The words are divided into [`STRATA`] strata, and so the pairs into blocks. A round takes one
//! block of each stratum of w, no two of which share a stratum of w̃ (as in Gemulla et al., KDD
//! 2011). The shards of a round have no data in common, so the result has the same bits on any
//! number of threads. A pass over all pairs has as many rounds as there are strata.

mod cooccurrence;

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use super::WordVectors;
use crate::error::Error;
use crate::index::Index;
use crate::text::vocabulary::TokenNo;
pub use cooccurrence::{CooccurrenceCounts, GloveCorpus};

/// The number of strata of words, and of rounds per pass.
pub const STRATA: usize = 16;

/// The hyperparameters of GloVe training.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GloveSettings {
    /// The number of dimensions of a vector.
    pub n_dims: usize,
    /// The window: the number of words on each side that are neighbors, after rare words are
    /// removed.
    pub window: usize,
    /// The minimum number of occurrences of a word with a vector.
    pub min_count: u32,
    /// x_max, the co-occurrence count from which a pair has full weight.
    pub x_max: f64,
    /// α, the exponent of the weight below x_max.
    pub alpha: f64,
    /// The learning rate of AdaGrad.
    pub learning_rate: f64,
    /// The number of passes over all pairs.
    pub n_epochs: u32,
    /// The seed of the initial vectors and of the order of pairs.
    pub seed: u64,
}

impl Default for GloveSettings {
    /// The settings of the paper (section 4.2), except for 50 dimensions and an x_max for
    /// collections far smaller than its 6 billion words.
    fn default() -> GloveSettings {
        GloveSettings {
            n_dims: 50,
            window: 10,
            min_count: 5,
            x_max: 10.0,
            alpha: 0.75,
            learning_rate: 0.05,
            n_epochs: 25,
            seed: 42,
        }
    }
}

impl GloveSettings {
    /// Returns an error if the settings cannot be used for training.
    pub fn validate(&self) -> Result<(), Error> {
        let refuse = |reason: &str| Err(Error::out_of_range("vectors", reason));
        if !(1..=1000).contains(&self.n_dims) || !(1..=100).contains(&self.window) {
            return refuse("dimensions must be 1 to 1,000, the window 1 to 100 words");
        }
        let positive = [self.x_max, self.alpha, self.learning_rate];
        if positive.iter().any(|it| !it.is_finite() || *it <= 0.0) {
            return refuse("x_max, alpha and rate must be above 0");
        }
        if self.n_epochs == 0 {
            return refuse("at least one epoch is needed");
        }
        Ok(())
    }
}

/// Trains GloVe vectors round by round.
pub struct GloveTrainer<'a> {
    index: &'a Index,
    settings: GloveSettings,
    /// The words with vectors, frequent ones first.
    words: Vec<TokenNo>,
    /// The strata of w.
    mains: Vec<VectorStratum>,
    /// The strata of w̃, starting with that of the first shard of the next round.
    contexts: Vec<VectorStratum>,
    /// The blocks of each round, one for each shard.
    blocks: Vec<Vec<Vec<GloveStep>>>,
    n_pairs: usize,
    n_rounds: u32,
    /// The cost of the current pass so far; `mean_cost_of_each_pass` has those of the finished
    /// passes.
    cost: f64,
    costs: Vec<f64>,
}

/// The vectors and biases of one stratum of words on one side, and AdaGrad's sums of squares.
struct VectorStratum {
    /// Words × (dimensions and bias).
    values: Vec<f64>,
    squares: Vec<f64>,
}

/// The training step of a pair of words.
#[derive(Debug, Clone, Copy)]
struct GloveStep {
    /// The rows of w and w̃ in their strata.
    rows: [u32; 2],
    /// ln X.
    log: f32,
    /// f(X).
    weight: f32,
}

/// A part of a round that can be trained independently of the others.
pub struct GloveTrainingShard<'a> {
    settings: &'a GloveSettings,
    main: &'a mut VectorStratum,
    context: &'a mut VectorStratum,
    block: &'a mut [GloveStep],
    seed: u64,
}

impl<'a> GloveTrainer<'a> {
    /// Starts training with random vectors.
    pub fn from_corpus_and_cooccurrences(
        corpus: GloveCorpus<'a>,
        counted: Vec<CooccurrenceCounts>,
    ) -> GloveTrainer<'a> {
        let GloveCorpus {
            index,
            settings,
            words,
            ..
        } = corpus;
        let pairs = cooccurrence::merge_cooccurrence_counts(counted);
        let mut random = Pcg64::seed_from_u64(settings.seed);
        let mut side = || VectorStratum::deal(words.len(), settings.n_dims, &mut random);
        let (mains, contexts) = (side(), side());
        let mut blocks = vec![vec![Vec::new(); STRATA]; STRATA];
        for pair in &pairs {
            let [i, j] = pair.words.map(|it| it as usize);
            let mut add = |i: usize, j: usize| {
                let (main, context) = (i % STRATA, j % STRATA);
                let round = (context + STRATA - main) % STRATA;
                blocks[round][main].push(settings.step([i, j], pair.weighted_count()));
            };
            add(i, j);
            if i != j {
                add(j, i);
            }
        }
        GloveTrainer {
            index,
            settings,
            words,
            mains,
            contexts,
            blocks,
            n_pairs: pairs.len(),
            n_rounds: 0,
            cost: 0.0,
            costs: Vec::new(),
        }
    }

    /// Returns the number of finished rounds and of all rounds.
    pub fn finished_and_total_rounds(&self) -> (u32, u32) {
        (self.n_rounds, self.settings.n_epochs * STRATA as u32)
    }

    /// Returns the number of pairs of words that co-occur.
    pub fn n_cooccurring_pairs(&self) -> usize {
        self.n_pairs
    }

    /// Returns for each finished pass the mean of the weighted squared errors before each step.
    pub fn mean_cost_of_each_pass(&self) -> &[f64] {
        &self.costs
    }

    /// Trains the next round: `train` calls [`GloveTrainingShard::train`] for each shard, in any
    /// order and on any threads, and returns their results in the order of the shards.
    pub fn train_round(&mut self, train: impl FnOnce(Vec<GloveTrainingShard<'_>>) -> Vec<f64>) {
        let round = self.n_rounds as usize % STRATA;
        let first = u64::from(self.n_rounds) * STRATA as u64;
        let mains = self.mains.iter_mut().zip(&mut self.contexts);
        let shards = mains.zip(&mut self.blocks[round]).zip(first..);
        let shards = shards.map(|(((main, context), block), number)| GloveTrainingShard {
            settings: &self.settings,
            main,
            context,
            block,
            seed: self.settings.seed.wrapping_add(1 + number),
        });
        self.cost += train(shards.collect()).iter().sum::<f64>();
        self.contexts.rotate_left(1);
        self.n_rounds += 1;
        if (self.n_rounds as usize).is_multiple_of(STRATA) {
            let steps = self.blocks.iter().flatten().map(Vec::len);
            let n_steps: usize = steps.sum();
            self.costs.push(self.cost / n_steps.max(1) as f64);
            self.cost = 0.0;
        }
    }

    /// Trains all remaining rounds on one thread.
    pub fn train_remaining_rounds(&mut self) {
        while self.finished_and_total_rounds().0 < self.finished_and_total_rounds().1 {
            self.train_round(|shards| shards.into_iter().map(GloveTrainingShard::train).collect());
        }
    }

    /// Returns w + w̃ of every word. Call it only between passes, since w̃ is assigned to other
    /// words during a pass.
    pub fn into_word_vectors(self) -> WordVectors {
        let n_dims = self.settings.n_dims;
        let mut vectors = WordVectors::with_dimensions(n_dims);
        for (at, &token) in self.words.iter().enumerate() {
            let begin = at / STRATA * (n_dims + 1);
            let row = begin..begin + n_dims;
            let (main, context) = (&self.mains[at % STRATA], &self.contexts[at % STRATA]);
            let sums = main.values[row.clone()].iter().zip(&context.values[row]);
            let vector: Vec<f32> = sums.map(|(w, c)| (w + c) as f32).collect();
            // A vector of zeros, or with a number that is not finite, is left out.
            let _ = vectors.add_word(self.index.vocabulary().unstemmed_token(token), &vector);
        }
        vectors
    }
}

impl VectorStratum {
    /// Divides words into strata, with random numbers drawn word after word.
    fn deal(n_words: usize, n_dims: usize, random: &mut Pcg64) -> Vec<VectorStratum> {
        let mut strata: Vec<VectorStratum> = Vec::new();
        strata.resize_with(STRATA, || VectorStratum {
            values: Vec::new(),
            squares: Vec::new(),
        });
        for word in 0..n_words {
            let stratum = &mut strata[word % STRATA];
            for _ in 0..=n_dims {
                stratum.values.push((unit(random) - 0.5) / n_dims as f64);
                stratum.squares.push(1.0);
            }
        }
        strata
    }
}

impl GloveSettings {
    /// Returns the training step for w of the first word and w̃ of the second.
    fn step(&self, words: [usize; 2], x: f64) -> GloveStep {
        let weight = if x < self.x_max {
            libm::pow(x / self.x_max, self.alpha)
        } else {
            1.0
        };
        GloveStep {
            rows: words.map(|it| (it / STRATA) as u32),
            log: libm::log(x) as f32,
            weight: weight as f32,
        }
    }
}

impl GloveTrainingShard<'_> {
    /// Performs every step of the block; returns the sum of the weighted squared errors before
    /// each.
    pub fn train(self) -> f64 {
        let GloveTrainingShard {
            settings,
            main,
            context,
            block,
            seed,
        } = self;
        shuffle(block, &mut Pcg64::seed_from_u64(seed));
        let width = settings.n_dims + 1;
        let mut cost = 0.0;
        for step in block {
            let [i, j] = step.rows.map(|it| it as usize * width);
            cost += step.make(
                settings.learning_rate,
                (
                    &mut main.values[i..i + width],
                    &mut main.squares[i..i + width],
                ),
                (
                    &mut context.values[j..j + width],
                    &mut context.squares[j..j + width],
                ),
            );
        }
        cost
    }
}

/// The values of a row, and their sums of squares.
type Row<'a> = (&'a mut [f64], &'a mut [f64]);

impl GloveStep {
    /// Performs one step of AdaGrad for w and w̃; returns the weighted squared error before it.
    fn make(&self, rate: f64, (w, w_squares): Row<'_>, (c, c_squares): Row<'_>) -> f64 {
        let n_dims = w.len() - 1;
        let (w_squares, c, c_squares) = (
            &mut w_squares[..=n_dims],
            &mut c[..=n_dims],
            &mut c_squares[..=n_dims],
        );
        let product = super::dot(&w[..n_dims], &c[..n_dims]);
        let error = product + w[n_dims] + c[n_dims] - f64::from(self.log);
        let weight = f64::from(self.weight);
        let slope = weight * error * rate;
        for at in 0..n_dims {
            let (of_w, of_c) = (slope * c[at], slope * w[at]);
            w[at] -= of_w / w_squares[at].sqrt();
            c[at] -= of_c / c_squares[at].sqrt();
            w_squares[at] += of_w * of_w;
            c_squares[at] += of_c * of_c;
        }
        w[n_dims] -= slope / w_squares[n_dims].sqrt();
        c[n_dims] -= slope / c_squares[n_dims].sqrt();
        w_squares[n_dims] += slope * slope;
        c_squares[n_dims] += slope * slope;
        weight * error * error
    }
}

/// Returns a random number from 0 to 1, excluding 1.
fn unit(random: &mut Pcg64) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

fn shuffle(steps: &mut [GloveStep], random: &mut Pcg64) {
    for at in (1..steps.len()).rev() {
        let below = at as u128 + 1;
        let pick = (u128::from(random.next_u64()) * below) >> 64;
        steps.swap(at, pick as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::IndexBuilder;
    use crate::text::Analyzer;
    use crate::word_vectors::BagOfWordsEmbedding;

    fn index(texts: &[&str]) -> Index {
        let mut builder = IndexBuilder::with_analyzer(Analyzer::default()).with_stored_tokens();
        texts.iter().for_each(|it| builder.add_document(it));
        builder.finish().unwrap()
    }

    #[test]
    fn a_step_is_that_of_the_paper() {
        let settings = GloveSettings::default();
        let step = settings.step([0, 1], 2.0);
        let mut w = [0.1, -0.2, 0.05];
        let mut w_squares = [1.0, 4.0, 1.0];
        let mut c = [0.4, 0.1, 0.02];
        let mut c_squares = [1.0; 3];
        // By hand: w·w̃ = .1·.4 − .2·.1, plus both biases; the second sum of squares of w started
        // at 4.
        let cost = step.make(
            settings.learning_rate,
            (&mut w, &mut w_squares),
            (&mut c, &mut c_squares),
        );
        // ln X and f(X) are kept as single-precision numbers.
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-7, "{found}");
        let (error, weight) = (
            0.02 + 0.05 + 0.02 - std::f64::consts::LN_2,
            0.299_069_756_244_244_14, // .2^.75
        );
        close(cost, weight * error * error);
        let slope = 0.05 * weight * error;
        close(w[0], 0.1 - slope * 0.4);
        close(w[1], -0.2 - slope * 0.1 / 2.0);
        close(w[2], 0.05 - slope);
        close(c[0], 0.4 - slope * 0.1);
        close(w_squares[0], 1.0 + slope * 0.4 * slope * 0.4);
    }

    #[test]
    fn a_pass_steps_once_for_each_pair_of_words_each_way() {
        let texts: Vec<String> = (0..40)
            .map(|it| format!("w{it} w{}", it * 7 % 40))
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let index = index(&texts);
        let settings = GloveSettings {
            n_dims: 1,
            min_count: 1,
            ..GloveSettings::default()
        };
        let corpus = GloveCorpus::with_frequent_words(&index, settings).unwrap();
        let counted = corpus.count_cooccurrences_in_docs(0..40);
        let mut expected: Vec<[u32; 2]> = Vec::new();
        for pair in cooccurrence::merge_cooccurrence_counts(vec![counted.clone()]) {
            let [i, j] = pair.words;
            expected.push([i, j]);
            if i != j {
                expected.push([j, i]);
            }
        }
        expected.sort_unstable();
        let trainer = GloveTrainer::from_corpus_and_cooccurrences(corpus, vec![counted]);
        let mut found: Vec<[u32; 2]> = Vec::new();
        for (round, blocks) in trainer.blocks.iter().enumerate() {
            for (main, block) in blocks.iter().enumerate() {
                let context = (main + round) % STRATA;
                let word = |row: u32, stratum: usize| row * STRATA as u32 + stratum as u32;
                let words = block.iter();
                found.extend(words.map(|it| [word(it.rows[0], main), word(it.rows[1], context)]));
            }
        }
        found.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn words_of_one_company_come_near_each_other_and_any_order_of_shards_gives_the_same_bits() {
        let mut texts = Vec::new();
        for at in 0..60 {
            texts.push(match at % 4 {
                0 => "the river carries boats past the bank",
                1 => "a stream carries boats past the bank",
                2 => "bread needs flour water and salt",
                _ => "dough needs flour water and salt",
            });
        }
        let index = index(&texts);
        let settings = GloveSettings {
            n_dims: 8,
            min_count: 1,
            ..GloveSettings::default()
        };
        let trainer = |parts: &[std::ops::Range<u32>]| {
            let corpus = GloveCorpus::with_frequent_words(&index, settings).unwrap();
            let counted = parts
                .iter()
                .map(|it| corpus.count_cooccurrences_in_docs(it.clone()))
                .collect();
            GloveTrainer::from_corpus_and_cooccurrences(corpus, counted)
        };
        let mut forwards = trainer(&[0..1, 1..60]);
        forwards.train_remaining_rounds();
        let costs = forwards.mean_cost_of_each_pass().to_vec();
        assert_eq!(costs.len(), settings.n_epochs as usize);
        assert!(costs.last().unwrap() < &(costs[0] / 4.0), "{costs:?}");
        let mut backwards = trainer(&[20..60, 0..20]);
        while backwards.finished_and_total_rounds().0 < backwards.finished_and_total_rounds().1 {
            backwards.train_round(|shards| {
                let mut costs: Vec<f64> = shards
                    .into_iter()
                    .rev()
                    .map(GloveTrainingShard::train)
                    .collect();
                costs.reverse();
                costs
            });
        }
        assert_eq!(backwards.mean_cost_of_each_pass(), costs);
        let vectors = forwards.into_word_vectors();
        assert_eq!(backwards.into_word_vectors(), vectors);
        let like = |a: &str, b: &str| {
            let bag =
                |word: &str| BagOfWordsEmbedding::from_rows(&vectors, [vectors.row_of_word(word)]);
            bag(a).similarity(&bag(b)).unwrap()
        };
        assert!(like("river", "stream") > like("river", "dough") + 0.3);
        assert!(like("bread", "dough") > like("bread", "stream") + 0.3);
    }

    #[test]
    fn what_cannot_be_trained_is_refused() {
        let index = index(&["a b"]);
        let refused = |settings| {
            let corpus = GloveCorpus::with_frequent_words(&index, settings);
            corpus.err().map(|it| it.to_string())
        };
        assert!(
            refused(GloveSettings::default())
                .unwrap()
                .contains("occur 5 times")
        );
        let none = GloveSettings {
            n_dims: 0,
            ..GloveSettings::default()
        };
        assert!(refused(none).unwrap().contains("dimensions"));
    }
}
