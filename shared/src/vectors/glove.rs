//! GloVe: word vectors trained on the collection at hand (Pennington, Socher & Manning, EMNLP
//! 2014).
//!
//! X_ij is how often words i and j stand within a window of each other, each time weighted by
//! one over their distance. Vectors w, w̃ and biases b, b̃ are fitted to
//!
//! Σ f(X_ij) (w_i·w̃_j + b_i + b̃_j − ln X_ij)², f(x) = min(1, (x / x_max)^α),
//!
//! by AdaGrad, pair after pair in a seeded order; the vector of a word is w + w̃. One thread, and
//! the same bits everywhere.

use hashbrown::HashTable;
use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64;
use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};

use std::hash::Hasher;

use super::Vectors;
use crate::error::Error;
use crate::index::{DocNo, Index};
use crate::text::vocabulary::TokenNo;

/// How vectors are trained.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Dimensions of a vector.
    pub n_dims: usize,
    /// Words to each side that are neighbours; rare words are taken out before.
    pub window: usize,
    /// A word that occurs less often has no vector.
    pub min_count: u32,
    /// x_max, from which on a pair has full weight.
    pub x_max: f64,
    /// α, the power below it.
    pub alpha: f64,
    /// Learning rate of AdaGrad.
    pub rate: f64,
    /// Passes over all pairs.
    pub n_epochs: u32,
    /// Of the first vectors and of the order of pairs.
    pub seed: u64,
}

impl Default for Settings {
    /// As the paper has them (section 4.2), with 50 dimensions and a x_max for collections far
    /// smaller than its 6 billion words.
    fn default() -> Settings {
        Settings {
            n_dims: 50,
            window: 10,
            min_count: 5,
            x_max: 10.0,
            alpha: 0.75,
            rate: 0.05,
            n_epochs: 25,
            seed: 42,
        }
    }
}

impl Settings {
    /// Refuses what cannot be trained.
    pub fn check(&self) -> Result<(), Error> {
        let refuse = |reason: &str| Err(Error::setting("vectors", reason));
        if !(1..=1000).contains(&self.n_dims) || !(1..=100).contains(&self.window) {
            return refuse("1 to 1,000 dimensions and a window of 1 to 100 words are taken");
        }
        let positive = [self.x_max, self.alpha, self.rate];
        if positive.iter().any(|it| !it.is_finite() || *it <= 0.0) {
            return refuse("x_max, alpha and rate must be above 0");
        }
        if self.n_epochs == 0 {
            return refuse("at least one pass is needed");
        }
        Ok(())
    }
}

/// Two words with X_ij; the first is not after the second.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pair {
    words: [u32; 2],
    x: f64,
}

/// Vectors in training.
pub struct Trainer<'a> {
    index: &'a Index,
    settings: Settings,
    /// Frequent words first.
    words: Vec<TokenNo>,
    pairs: Vec<Pair>,
    /// w, then w̃.
    sides: [Side; 2],
    random: Pcg64,
    n_done: u32,
}

/// The vectors of one side with their biases, and the sums of squares of AdaGrad.
struct Side {
    /// Words × (dimensions and bias).
    values: Vec<f64>,
    squares: Vec<f64>,
}

impl<'a> Trainer<'a> {
    /// Counts neighbours; `index` must keep tokens.
    pub fn new(index: &'a Index, settings: Settings) -> Result<Trainer<'a>, Error> {
        settings.check()?;
        let words = frequent(index, settings.min_count);
        if words.len() < 2 {
            return Err(Error::setting(
                "vectors",
                format!(
                    "fewer than two words occur {} times; take a lower least count",
                    settings.min_count
                ),
            ));
        }
        let pairs = neighbours(index, &words, settings.window);
        let mut random = Pcg64::seed_from_u64(settings.seed);
        let width = settings.n_dims + 1;
        let mut side = || Side {
            values: (0..words.len() * width)
                .map(|_| (unit(&mut random) - 0.5) / settings.n_dims as f64)
                .collect(),
            squares: vec![1.0; words.len() * width],
        };
        let sides = [side(), side()];
        Ok(Trainer {
            index,
            settings,
            words,
            pairs,
            sides,
            random,
            n_done: 0,
        })
    }

    /// Passes made and to make.
    pub fn progress(&self) -> (u32, u32) {
        (self.n_done, self.settings.n_epochs)
    }

    /// How many pairs of words are neighbours.
    pub fn n_pairs(&self) -> usize {
        self.pairs.len()
    }

    /// One pass over all pairs; the mean of their weighted squared errors before each step.
    pub fn epoch(&mut self) -> f64 {
        shuffle(&mut self.pairs, &mut self.random);
        let mut cost = 0.0;
        let mut n_steps = 0_u64;
        for at in 0..self.pairs.len() {
            let Pair { words: [i, j], x } = self.pairs[at];
            cost += self.step(i, j, x);
            n_steps += 1;
            if i != j {
                cost += self.step(j, i, x);
                n_steps += 1;
            }
        }
        self.n_done += 1;
        cost / n_steps.max(1) as f64
    }

    /// One step of AdaGrad for w_i and w̃_j.
    fn step(&mut self, i: u32, j: u32, x: f64) -> f64 {
        let Settings {
            n_dims,
            x_max,
            alpha,
            rate,
            ..
        } = self.settings;
        let width = n_dims + 1;
        let [main, context] = &mut self.sides;
        let (i, j) = (i as usize * width, j as usize * width);
        let (w, w_squares) = (
            &mut main.values[i..i + width],
            &mut main.squares[i..i + width],
        );
        let (c, c_squares) = (
            &mut context.values[j..j + width],
            &mut context.squares[j..j + width],
        );
        let product = super::dot(&w[..n_dims], &c[..n_dims]);
        let error = product + w[n_dims] + c[n_dims] - libm::log(x);
        let weight = if x < x_max {
            libm::pow(x / x_max, alpha)
        } else {
            1.0
        };
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

    /// w + w̃ of every word.
    pub fn finish(self) -> Vectors {
        let n_dims = self.settings.n_dims;
        let mut vectors = Vectors::new(n_dims);
        let [main, context] = &self.sides;
        for (at, &token) in self.words.iter().enumerate() {
            let row = at * (n_dims + 1)..at * (n_dims + 1) + n_dims;
            let sums = main.values[row.clone()].iter().zip(&context.values[row]);
            let vector: Vec<f32> = sums.map(|(w, c)| (w + c) as f32).collect();
            // A word that trained to zeros, or to nothing finite, has no meaning to tell.
            let _ = vectors.push(self.index.vocabulary().token(token), &vector);
        }
        vectors
    }
}

/// Tokens that occur so often, the most frequent first, equal ones in the order of their letters.
fn frequent(index: &Index, min_count: u32) -> Vec<TokenNo> {
    let vocabulary = index.vocabulary();
    let mut counts = vec![0_u32; vocabulary.n_tokens()];
    for doc in 0..index.n_docs() as DocNo {
        for &token in index.tokens(doc).expect("the index keeps tokens") {
            counts[token as usize] += 1;
        }
    }
    let all = 0..counts.len() as TokenNo;
    let mut words: Vec<TokenNo> = all
        .filter(|&it| counts[it as usize] >= min_count.max(1))
        .collect();
    words.sort_by(|&a, &b| {
        let more = counts[b as usize].cmp(&counts[a as usize]);
        more.then_with(|| vocabulary.token(a).cmp(vocabulary.token(b)))
    });
    words
}

/// All pairs of neighbours with X, in the order of their words.
fn neighbours(index: &Index, words: &[TokenNo], window: usize) -> Vec<Pair> {
    let mut place: Vec<Option<u32>> = vec![None; index.vocabulary().n_tokens()];
    for (at, &token) in words.iter().enumerate() {
        place[token as usize] = Some(at as u32);
    }
    let mut pairs: Vec<Pair> = Vec::new();
    // Only looked up, never walked: its order decides nothing.
    let mut found: HashTable<u32> = HashTable::new();
    let mut text = Vec::new();
    for doc in 0..index.n_docs() as DocNo {
        let tokens = index.tokens(doc).expect("the index keeps tokens");
        text.clear();
        text.extend(tokens.iter().filter_map(|&it| place[it as usize]));
        for (at, &word) in text.iter().enumerate() {
            for (distance, &before) in text[..at].iter().rev().take(window).enumerate() {
                let words = [word.min(before), word.max(before)];
                // A word beside itself is a neighbour both ways.
                let ways = if word == before { 2.0 } else { 1.0 };
                let x = ways / (distance + 1) as f64;
                let same = |&it: &u32| pairs[it as usize].words == words;
                match found.find(hash(words), same) {
                    Some(&it) => pairs[it as usize].x += x,
                    None => {
                        let number = pairs.len() as u32;
                        pairs.push(Pair { words, x });
                        let again = |&it: &u32| hash(pairs[it as usize].words);
                        found.insert_unique(hash(words), number, again);
                    }
                }
            }
        }
    }
    pairs.sort_unstable_by_key(|it| it.words);
    pairs
}

fn hash(words: [u32; 2]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(u64::from(words[0]) << 32 | u64::from(words[1]));
    hasher.finish()
}

/// From 0 to 1, 1 excluded.
fn unit(random: &mut Pcg64) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

fn shuffle(pairs: &mut [Pair], random: &mut Pcg64) {
    for at in (1..pairs.len()).rev() {
        let below = at as u128 + 1;
        let pick = (u128::from(random.next_u64()) * below) >> 64;
        pairs.swap(at, pick as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::IndexBuilder;
    use crate::text::Analyzer;
    use crate::vectors::Bag;

    fn index(texts: &[&str]) -> Index {
        let mut builder = IndexBuilder::new(Analyzer::default()).keeping_tokens();
        texts.iter().for_each(|it| builder.add(it));
        builder.finish().unwrap()
    }

    #[test]
    fn neighbours_weigh_one_over_their_distance() {
        let index = index(&["a b c", "b a b rare"]);
        let words = frequent(&index, 1);
        let named: Vec<&str> = words
            .iter()
            .map(|&it| index.vocabulary().token(it))
            .collect();
        assert_eq!(named, ["b", "a", "c", "rare"]);
        let x = |a: u32, b: u32| {
            let pairs = neighbours(&index, &words[..3], 2);
            pairs.iter().find(|it| it.words == [a, b]).map(|it| it.x)
        };
        // b and b two apart in the second text, both ways; `rare` is taken out before.
        assert_eq!(x(0, 0), Some(1.0));
        assert_eq!(x(0, 1), Some(3.0));
        assert_eq!((x(0, 2), x(1, 2), x(2, 2)), (Some(1.0), Some(0.5), None));
    }

    #[test]
    fn a_step_is_that_of_the_paper() {
        let index = index(&["a b"]);
        let settings = Settings {
            n_dims: 2,
            min_count: 1,
            ..Settings::default()
        };
        let mut trainer = Trainer::new(&index, settings).unwrap();
        let side = |values: [f64; 6]| Side {
            values: values.to_vec(),
            squares: vec![1.0, 4.0, 1.0, 1.0, 1.0, 1.0],
        };
        trainer.sides = [
            side([0.1, -0.2, 0.05, 0.0, 0.0, 0.0]),
            side([0.3, 0.2, -0.05, 0.4, 0.1, 0.02]),
        ];
        // By hand: w·w̃ = .1·.4 − .2·.1, then both biases; the second square of w began at 4.
        let cost = trainer.step(0, 1, 2.0);
        let close =
            |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
        let (error, weight) = (
            0.02 + 0.05 + 0.02 - std::f64::consts::LN_2,
            0.299_069_756_244_244_14, // .2^.75
        );
        close(cost, weight * error * error);
        let slope = 0.05 * weight * error;
        close(trainer.sides[0].values[0], 0.1 - slope * 0.4);
        close(trainer.sides[0].values[1], -0.2 - slope * 0.1 / 2.0);
        close(trainer.sides[0].values[2], 0.05 - slope);
        close(trainer.sides[1].values[3], 0.4 - slope * 0.1);
        close(trainer.sides[0].squares[0], 1.0 + slope * 0.4 * slope * 0.4);
    }

    #[test]
    fn words_of_one_company_come_near_each_other_and_a_seed_gives_the_same_bits() {
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
        let settings = Settings {
            n_dims: 8,
            min_count: 1,
            ..Settings::default()
        };
        let train = || {
            let mut trainer = Trainer::new(&index, settings).unwrap();
            let costs: Vec<f64> = (0..settings.n_epochs).map(|_| trainer.epoch()).collect();
            (trainer.finish(), costs)
        };
        let (vectors, costs) = train();
        assert!(costs.last().unwrap() < &(costs[0] / 4.0), "{costs:?}");
        assert_eq!(train().0, vectors);
        let like = |a: &str, b: &str| {
            let bag = |word: &str| Bag::of(&vectors, [vectors.row(word)]);
            bag(a).similarity(&bag(b)).unwrap()
        };
        assert!(like("river", "stream") > like("river", "dough") + 0.3);
        assert!(like("bread", "dough") > like("bread", "stream") + 0.3);
    }

    #[test]
    fn what_cannot_be_trained_is_refused() {
        let index = index(&["a b"]);
        let refused = |settings| {
            Trainer::new(&index, settings)
                .err()
                .map(|it| it.to_string())
        };
        assert!(
            refused(Settings::default())
                .unwrap()
                .contains("occur 5 times")
        );
        let none = Settings {
            n_dims: 0,
            ..Settings::default()
        };
        assert!(refused(none).unwrap().contains("dimensions"));
    }
}
