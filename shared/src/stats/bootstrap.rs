//! The fraction of instances that agree with an axiom, with its bootstrap interval over queries.
//!
//! This is a percentile bootstrap with queries as units (Efron and Tibshirani, An Introduction to
//! the Bootstrap, 1993, chapter 13): draw as many queries as there are, with replacement, compute
//! the fraction, and take the 2.5th and 97.5th percentile of [`N_RESAMPLES`] such fractions. With
//! `a(q)` agreeing among `j(q)` instances of query `q` that have a verdict, one pass gives
//!
//! - over instances (*micro*): `Σ a(q) / Σ j(q)`,
//! - over queries (*macro*): the mean of `a(q) / j(q)`,
//! - `p`, two-sided, against a micro fraction of .5: twice the share of draws on the far side of
//!   .5, with one added to count and draws so that it is never 0 (Davison and Hinkley, Bootstrap
//!   Methods and their Application, 1997, section 4.2).
//!
//! The percentile bootstrap has two limitations. If every instance agrees, so does every draw, and
//! the interval has no width. And very few queries show too little of how queries differ. As
//! deviations, `p` is therefore at least `2^(1 - n)`, the smallest value of a sign test with `n`
//! queries, and the intervals of a single query are [0, 1].

use rand_core::RngCore;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::randomization::TwoRankerSatisfiedCounts;
use crate::stats::EstimateWithInterval;
use crate::stats::quantile::quantile_of_sorted;

/// The number of draws. A tail share of .025 is then known to ± .0016 (√(.025 × .975 / 10,000)).
pub const N_RESAMPLES: usize = 10_000;

/// The seed of the draws; the choice is arbitrary, but fixed.
pub const SEED: u128 = 42;

/// The stream of the generator; with [`SEED`] it starts PCG's own reference output (O'Neill,
/// HMC-CS-2014-0905, `pcg64_srandom(42, 54)`).
pub const STREAM: u128 = 54;

/// The verdicts of one query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryVerdictCounts {
    /// The number of instances that agree with the claim.
    pub n_agreeing: u64,
    /// The number of instances with a verdict.
    pub n_verdicts: u64,
}

/// A fraction over instances and over queries, with intervals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SatisfiedFractionEstimates {
    /// The fraction over instances, so that a query weighs as much as it has instances.
    #[serde(alias = "micro")]
    pub micro_average: EstimateWithInterval,
    /// The mean over queries of the fraction within each query, so that all queries weigh the same.
    #[serde(alias = "over_queries")]
    pub macro_average: EstimateWithInterval,
    /// The two-sided p-value against a micro fraction of .5.
    pub p: f64,
    /// The number of queries with at least one verdict; the others are left out.
    pub n_queries: u64,
    /// The smallest distance from .5 that this number of queries would show with 80 % power at
    /// level .05: 2.80 standard errors of the micro fraction (Cohen, Statistical Power Analysis,
    /// 1988). `None` for a single query, or if all draws are equal.
    #[serde(alias = "detectable")]
    pub detectable_difference: Option<f64>,
}

/// Returns the fraction with intervals from the verdicts of each query; `None` without a verdict.
pub fn bootstrap_fraction(queries: &[QueryVerdictCounts]) -> Option<SatisfiedFractionEstimates> {
    let units: Vec<Unit> = queries
        .iter()
        .filter(|it| it.n_verdicts > 0)
        .map(Unit::new)
        .collect();
    if units.is_empty() {
        return None;
    }
    let whole = units.iter().fold(Unit::default(), |sum, it| sum.plus(it));
    let mut micro = Vec::with_capacity(N_RESAMPLES);
    let mut over_queries = Vec::with_capacity(N_RESAMPLES);
    let mut draws = BootstrapSampler::new(units.len());
    for _ in 0..N_RESAMPLES {
        let drawn = draws.sum(&units);
        micro.push(drawn.micro());
        over_queries.push(drawn.over_queries(units.len()));
    }
    let n = units.len();
    Some(SatisfiedFractionEstimates {
        detectable_difference: (n > 1)
            .then(|| POWER * standard_deviation(&micro))
            .filter(|it| *it > 0.0),
        p: p_against_half(&micro, n),
        micro_average: estimate(whole.micro(), micro, n),
        macro_average: estimate(whole.over_queries(n), over_queries, n),
        n_queries: n as u64,
    })
}

/// Φ⁻¹(.975) + Φ⁻¹(.8).
const POWER: f64 = 1.959_963_984_540_054 + 0.841_621_233_572_914_3;

/// Returns the sample standard deviation (divided by n − 1); exactly 0 if all values are equal, and
/// NaN with fewer than two values.
pub(crate) fn standard_deviation(values: &[f64]) -> f64 {
    // The mean of equal values may be rounded to another value.
    if values.len() > 1 && values.iter().all(|it| *it == values[0]) {
        return 0.0;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|it| (it - mean) * (it - mean)).sum();
    (squares / (n - 1.0)).sqrt()
}

/// Returns the mean of one number for each query, with its bootstrap interval over queries; `None`
/// without queries.
pub fn bootstrap_mean(values: &[f64]) -> Option<EstimateWithInterval> {
    if values.is_empty() {
        return None;
    }
    let unit = |&agreeing: &f64| Unit {
        agreeing,
        judged: 1.0,
        fraction: 0.0,
    };
    let units: Vec<Unit> = values.iter().map(unit).collect();
    let whole = units.iter().fold(Unit::default(), |sum, it| sum.plus(it));
    let mut draws = BootstrapSampler::new(units.len());
    let drawn = (0..N_RESAMPLES).map(|_| draws.sum(&units).micro());
    Some(estimate(whole.micro(), drawn.collect(), units.len()))
}

/// Returns the mean of differences from −1 to 1, one for each query, with its interval, which is
/// the whole range for a single query; `None` without queries.
pub fn bootstrap_mean_difference(differences: &[f64]) -> Option<EstimateWithInterval> {
    let mean = bootstrap_mean(differences)?;
    Some(match differences.len() {
        1 => EstimateWithInterval {
            interval: [-1.0, 1.0],
            ..mean
        },
        _ => mean,
    })
}

/// Returns the difference of two fractions over the same instances, with its bootstrap interval
/// over queries, drawn as for [`bootstrap_fraction`]; `None` without queries.
pub(super) fn bootstrap_fraction_difference(
    queries: &[TwoRankerSatisfiedCounts],
) -> Option<EstimateWithInterval> {
    if queries.is_empty() {
        return None;
    }
    let units: Vec<Unit> = queries
        .iter()
        .map(|it| Unit {
            agreeing: it.n_agreeing_first as f64 - it.n_agreeing_second as f64,
            judged: it.n_verdicts as f64,
            fraction: 0.0,
        })
        .collect();
    let whole = units.iter().fold(Unit::default(), |sum, it| sum.plus(it));
    let value = whole.micro();
    if units.len() == 1 {
        let interval = [-1.0, 1.0];
        return Some(EstimateWithInterval { value, interval });
    }
    let mut draws = BootstrapSampler::new(units.len());
    let drawn = (0..N_RESAMPLES).map(|_| draws.sum(&units).micro());
    Some(estimate(value, drawn.collect(), units.len()))
}

fn p_against_half(micro: &[f64], n_queries: usize) -> f64 {
    let n_below = micro.iter().filter(|&&it| it <= 0.5).count();
    let n_above = micro.iter().filter(|&&it| it >= 0.5).count();
    let p = 2.0 * (1 + n_below.min(n_above)) as f64 / (micro.len() + 1) as f64;
    let least = libm::exp2(1.0 - n_queries as f64);
    p.max(least).min(1.0)
}

fn estimate(value: f64, draws: Vec<f64>, n_queries: usize) -> EstimateWithInterval {
    if n_queries == 1 {
        return EstimateWithInterval {
            value,
            interval: [0.0, 1.0],
        };
    }
    EstimateWithInterval {
        value,
        interval: percentile_interval(draws),
    }
}

/// Returns the 2.5th and 97.5th percentile of at least one draw.
pub(crate) fn percentile_interval(mut draws: Vec<f64>) -> [f64; 2] {
    draws.sort_unstable_by(f64::total_cmp);
    [0.025, 0.975].map(|q| quantile_of_sorted(&draws, q).expect("there is at least one draw"))
}

/// The counts of one query, or the sums of several. Counts are integers far below 2^53, so their
/// sums are exact in any order.
#[derive(Debug, Clone, Copy, Default)]
struct Unit {
    agreeing: f64,
    judged: f64,
    fraction: f64,
}

impl Unit {
    fn new(query: &QueryVerdictCounts) -> Unit {
        let (agreeing, judged) = (query.n_agreeing as f64, query.n_verdicts as f64);
        Unit {
            agreeing,
            judged,
            fraction: agreeing / judged,
        }
    }

    fn plus(self, other: &Unit) -> Unit {
        Unit {
            agreeing: self.agreeing + other.agreeing,
            judged: self.judged + other.judged,
            fraction: self.fraction + other.fraction,
        }
    }

    fn micro(self) -> f64 {
        self.agreeing / self.judged
    }

    fn over_queries(self, n: usize) -> f64 {
        self.fraction / n as f64
    }
}

/// Draws numbers below `n`, two from each output of the generator: the high half of the product of
/// 32 random bits with `n`. The probability of a number is off by less than `n / 2^32`.
pub(crate) struct BootstrapSampler {
    generator: Pcg64,
    n: u64,
}

impl BootstrapSampler {
    /// Creates a sampler of `n` units with the reference stream.
    pub(crate) fn new(n: usize) -> BootstrapSampler {
        BootstrapSampler::with_random_stream(n, STREAM)
    }

    /// Creates a sampler with another stream, for a second kind of unit that is drawn at the same
    /// time.
    pub(crate) fn with_random_stream(n: usize, stream: u128) -> BootstrapSampler {
        BootstrapSampler {
            generator: Pcg64::new(SEED, stream),
            n: n as u64,
        }
    }

    /// Calls `take` with the indexes of `n` units, drawn with replacement.
    pub(crate) fn for_each_drawn_index(&mut self, mut take: impl FnMut(usize)) {
        for _ in 0..self.n / 2 {
            self.pair().into_iter().for_each(&mut take);
        }
        if !self.n.is_multiple_of(2) {
            take(self.pair()[0]);
        }
    }

    fn pair(&mut self) -> [usize; 2] {
        let bits = self.generator.next_u64();
        let below_n = |bits: u64| ((bits * self.n) >> 32) as usize;
        [below_n(bits >> 32), below_n(bits & 0xffff_ffff)]
    }

    /// Returns the sum of `n` units drawn with replacement. The two halves of a pair have separate
    /// sums, so that the additions do not wait for each other.
    fn sum(&mut self, units: &[Unit]) -> Unit {
        let (mut left, mut right) = (Unit::default(), Unit::default());
        for _ in 0..units.len() / 2 {
            let [a, b] = self.pair();
            left = left.plus(&units[a]);
            right = right.plus(&units[b]);
        }
        if units.len() % 2 == 1 {
            left = left.plus(&units[self.pair()[0]]);
        }
        left.plus(&right)
    }
}

#[cfg(test)]
mod tests;
