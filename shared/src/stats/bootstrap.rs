//! The fraction of instances that agree with an axiom, with the bounds that other queries
//! would have given.
//!
//! Percentile bootstrap with queries as units (Efron and Tibshirani, An Introduction to the
//! Bootstrap, 1993, chapter 13): draw as many queries as there are, with replacement, count
//! again, and take the 2.5th and 97.5th percentile of [`N_RESAMPLES`] such counts. With `a(q)`
//! agreeing among `j(q)` judged instances of query `q`, one pass gives
//!
//! - over instances (*micro*): `Σ a(q) / Σ j(q)`,
//! - over queries (*macro*): the mean of `a(q) / j(q)`,
//! - `p`, two-sided, against a micro fraction of .5: twice the share of draws on the far side
//!   of .5, with one added to count and draws so that it is never 0 (Davison and Hinkley,
//!   Bootstrap Methods and their Application, 1997, section 4.2).
//!
//! Two things the percentile bootstrap cannot know. Where every instance agrees, so does
//! every draw, and the interval has no width. And from very few queries it learns too little
//! of how queries differ: our deviations are that `p` is not below `2^(1 - n)`, the least that
//! a test by the signs of `n` queries can give, and that a single query bounds nothing, so
//! that its intervals are [0, 1].

use rand_core::RngCore;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use super::permutation::PairedVerdictCounts;
use crate::stats::Estimate;
use crate::stats::quantile::quantile;

/// How often queries are drawn. The share beyond a bound, .025, is then known to ± .0016
/// (√(.025 × .975 / 10,000)).
pub const N_RESAMPLES: usize = 10_000;

/// State from which the draws start; any would do, and one has to be fixed.
pub const SEED: u128 = 42;

/// Stream of the generator; with [`SEED`] the start of PCG's own reference output (O'Neill,
/// HMC-CS-2014-0905, `pcg64_srandom(42, 54)`).
pub const STREAM: u128 = 54;

/// What was counted for one query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerdictCounts {
    /// Judged instances that agree with the claim.
    pub n_agreeing: u64,
    /// Instances with a verdict.
    pub n_verdicts: u64,
}

/// A fraction over instances and over queries, with bounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SatisfiedFraction {
    /// Over instances, so that a query weighs as many as it has.
    #[serde(alias = "micro")]
    pub micro_average: Estimate,
    /// Mean over queries of the fraction within each, so that all weigh the same.
    #[serde(alias = "over_queries")]
    pub macro_average: Estimate,
    /// Two-sided, against a micro fraction of .5.
    pub p: f64,
    /// Queries with at least one judged instance; the others have no part.
    pub n_queries: u64,
    /// The least distance from .5 that so many queries of this kind would have shown four times
    /// in five, at the level .05: 2.80 standard errors of the micro fraction (Cohen, Statistical
    /// Power Analysis, 1988). None for a single query, and where every draw is the same.
    #[serde(alias = "detectable")]
    pub detectable_difference: Option<f64>,
}

/// Counts of each query to fractions with bounds; none where nothing was judged.
pub fn bootstrap_fraction(queries: &[VerdictCounts]) -> Option<SatisfiedFraction> {
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
    Some(SatisfiedFraction {
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

fn standard_deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|it| (it - mean) * (it - mean)).sum();
    (squares / (n - 1.0)).sqrt()
}

/// The mean of one number for each query, with the bounds that other queries would have given.
/// None without a query.
pub fn bootstrap_mean(values: &[f64]) -> Option<Estimate> {
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

/// Difference of two fractions over the same instances, with the bounds that other queries
/// would have given: drawn as for [`bootstrap_fraction`]. None without a query.
pub(super) fn bootstrap_difference(queries: &[PairedVerdictCounts]) -> Option<Estimate> {
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
        return Some(Estimate { value, interval });
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

fn estimate(value: f64, draws: Vec<f64>, n_queries: usize) -> Estimate {
    if n_queries == 1 {
        return Estimate {
            value,
            interval: [0.0, 1.0],
        };
    }
    Estimate {
        value,
        interval: percentiles(draws),
    }
}

/// The 2.5th and 97.5th percentile of at least one draw.
pub(crate) fn percentiles(mut draws: Vec<f64>) -> [f64; 2] {
    draws.sort_unstable_by(f64::total_cmp);
    [0.025, 0.975].map(|q| quantile(&draws, q).expect("there is at least one draw"))
}

/// One query, or the sum of several. The counts are whole numbers far below 2^53, so their
/// sums are exact in any order.
#[derive(Debug, Clone, Copy, Default)]
struct Unit {
    agreeing: f64,
    judged: f64,
    fraction: f64,
}

impl Unit {
    fn new(query: &VerdictCounts) -> Unit {
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

/// Numbers below `n`, two from each output of the generator: the high half of the product of
/// 32 random bits with `n`. A number is then off its fair share by less than `n / 2^32`.
pub(crate) struct BootstrapSampler {
    generator: Pcg64,
    n: u64,
}

impl BootstrapSampler {
    /// Of so many units, from the reference stream.
    pub(crate) fn new(n: usize) -> BootstrapSampler {
        BootstrapSampler::with_stream(n, STREAM)
    }

    /// Where two kinds of units are drawn side by side, the second needs a stream of its own.
    pub(crate) fn with_stream(n: usize, stream: u128) -> BootstrapSampler {
        BootstrapSampler {
            generator: Pcg64::new(SEED, stream),
            n: n as u64,
        }
    }

    /// Calls `take` with the places of as many units as there are, drawn with replacement.
    pub(crate) fn for_each_index(&mut self, mut take: impl FnMut(usize)) {
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

    /// Sum of `n` units drawn with replacement. Both halves of a pair have a sum of their
    /// own, so that the additions do not wait for each other.
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
