//! Paired test of the difference between two rankers in how often they agree with an axiom.
//!
//! This is a randomization test with queries as units (Smucker, Allan and Carterette, CIKM 2007):
//! if the rankers were equal, the two counts of a query could be exchanged. With `a(q)` and `b(q)`
//! agreeing among the `j(q)` instances on which both have a verdict, the statistic is
//! `T = Σ (a(q) - b(q)) / Σ j(q)`, the difference of their fractions over instances; an exchange
//! flips the sign of `a(q) - b(q)`. `p` is two-sided: the share of exchanges with `|T*| >= |T|`,
//! over all `2^n` of them if these are at most [`N_RESAMPLES`], else over that many random ones and
//! the observed one (so that `p` is never 0).
//!
//! The interval of `T` is the percentile bootstrap of [`super::bootstrap`]; the effect size is
//! Cohen's `d` for pairs, the mean of `(a(q) - b(q)) / j(q)` over its standard deviation.

use rand_core::RngCore;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::EstimateWithInterval;
use super::bootstrap::{
    N_RESAMPLES, SEED, STREAM, bootstrap_fraction_difference, standard_deviation,
};

/// The verdicts of two rankers on one query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TwoRankerSatisfiedCounts {
    /// The number of instances on which the first ranker agrees with the claim.
    pub n_agreeing_first: u64,
    /// The number of instances on which the second ranker agrees with the claim.
    pub n_agreeing_second: u64,
    /// The number of instances on which both rankers have a verdict.
    pub n_verdicts: u64,
}

/// The difference between two rankers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SatisfiedFractionDifference {
    /// The fraction of the first ranker minus that of the second, over the same instances.
    #[serde(alias = "micro")]
    pub micro_average: EstimateWithInterval,
    /// The two-sided p-value, by exchanging the rankers within queries.
    pub p: f64,
    /// `p` after the correction for all tests of a table.
    pub p_holm: f64,
    /// Cohen's d for pairs; `None` if all queries have the same difference.
    pub effect_size: Option<f64>,
    /// The number of instances on which both rankers have a verdict.
    #[serde(alias = "n_judged")]
    pub n_verdicts: u64,
    /// The number of queries with such an instance.
    pub n_queries: u64,
}

/// Compares two rankers; `None` without an instance on which both have a verdict.
pub fn compare_satisfied_fractions(
    queries: &[TwoRankerSatisfiedCounts],
) -> Option<SatisfiedFractionDifference> {
    let units: Vec<TwoRankerSatisfiedCounts> = queries
        .iter()
        .copied()
        .filter(|it| it.n_verdicts > 0)
        .collect();
    let micro = bootstrap_fraction_difference(&units)?;
    let p = p_of(&units);
    Some(SatisfiedFractionDifference {
        micro_average: micro,
        p,
        p_holm: p,
        effect_size: effect_size(&units),
        n_verdicts: units.iter().map(|it| it.n_verdicts).sum(),
        n_queries: units.len() as u64,
    })
}

/// Returns the two-sided `p` of the mean of one difference for each query, from −1 to 1, by the
/// same exchanges; 1 if all are 0. Differences are rounded to multiples of 2⁻⁴⁰, so that their sums
/// are exact.
pub fn randomization_p_value_of_mean(differences: &[f64]) -> f64 {
    const STEPS: f64 = (1_u64 << 40) as f64;
    let steps = differences.iter().map(|it| (it * STEPS).round() as i64);
    exchanged(steps.collect())
}

fn p_of(units: &[TwoRankerSatisfiedCounts]) -> f64 {
    let lead =
        |it: &TwoRankerSatisfiedCounts| it.n_agreeing_first as i64 - it.n_agreeing_second as i64;
    exchanged(units.iter().map(lead).collect())
}

/// Returns the share of exchanges with a sum at least as far from 0. Differences are integers, so
/// that sums are exact and ties with the observed sum are detected.
fn exchanged(mut leads: Vec<i64>) -> f64 {
    leads.retain(|&it| it != 0);
    let observed = leads.iter().sum::<i64>().abs();
    let n = leads.len();
    if n < 63 && (1_u64 << n) <= N_RESAMPLES as u64 {
        let all = 1_u64 << n;
        let far = (0..all).filter(|&signs| turned(&leads, |at| signs >> at & 1).abs() >= observed);
        return far.count() as f64 / all as f64;
    }
    let mut generator = Pcg64::new(SEED, STREAM);
    let far = (0..N_RESAMPLES).filter(|_| {
        let mut bits = 0;
        let sum = turned(&leads, |at| {
            if at % 64 == 0 {
                bits = generator.next_u64();
            }
            bits >> (at % 64) & 1
        });
        sum.abs() >= observed
    });
    (1 + far.count()) as f64 / (N_RESAMPLES + 1) as f64
}

/// Returns the sum with the signs flipped where `sign` returns 1.
fn turned(leads: &[i64], mut sign: impl FnMut(usize) -> u64) -> i64 {
    let each = leads.iter().enumerate();
    each.map(|(at, lead)| if sign(at) == 1 { -lead } else { *lead })
        .sum()
}

fn effect_size(units: &[TwoRankerSatisfiedCounts]) -> Option<f64> {
    let leads: Vec<f64> = units
        .iter()
        .map(|it| (it.n_agreeing_first as f64 - it.n_agreeing_second as f64) / it.n_verdicts as f64)
        .collect();
    let mean = leads.iter().sum::<f64>() / leads.len() as f64;
    let deviation = standard_deviation(&leads);
    (deviation > 0.0).then(|| mean / deviation)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(first: &[u64], second: &[u64], judged: &[u64]) -> Vec<TwoRankerSatisfiedCounts> {
        let pairs = first.iter().zip(second).zip(judged);
        pairs
            .map(|((&first, &second), &judged)| TwoRankerSatisfiedCounts {
                n_agreeing_first: first,
                n_agreeing_second: second,
                n_verdicts: judged,
            })
            .collect()
    }

    fn ten() -> Vec<TwoRankerSatisfiedCounts> {
        units(
            &[3, 5, 2, 8, 0, 7, 4, 6, 9, 1],
            &[2, 5, 4, 5, 1, 3, 4, 4, 6, 2],
            &[10, 8, 6, 9, 4, 8, 7, 6, 10, 3],
        )
    }

    /// scipy 1.17.1, `permutation_test((a, b), statistic, permutation_type="samples",
    /// n_resamples=inf)` with the statistic above: T = .12676056338028170, p = .25. Cohen's d is
    /// `d.mean() / d.std(ddof=1)` of NumPy 2 over (a - b) / j: .21604152487074857.
    #[test]
    fn every_exchange_is_tried_where_there_are_few() {
        let found = compare_satisfied_fractions(&ten()).unwrap();
        assert!((found.micro_average.value - 0.126_760_563_380_281_7).abs() < 1e-15);
        assert_eq!(found.p, 0.25);
        assert!((found.effect_size.unwrap() - 0.216_041_524_870_748_57).abs() < 1e-12);
        assert_eq!((found.n_verdicts, found.n_queries), (71, 10));
        let [low, high] = found.micro_average.interval;
        assert!(low < found.micro_average.value && found.micro_average.value < high);
    }

    #[test]
    fn many_queries_are_drawn_and_give_nearly_the_same() {
        // The same ten queries and forty without a difference, which change no sum.
        let mut level = ten();
        level.extend(units(&[5; 40], &[5; 40], &[9; 40]));
        assert_eq!(compare_satisfied_fractions(&level).unwrap().p, 0.25);
        // Twenty queries with a difference of one each: of 2^20 exchanges two are as far from 0.
        let clear = units(&[2; 20], &[1; 20], &[3; 20]);
        let p = compare_satisfied_fractions(&clear).unwrap().p;
        assert!(p <= 3.0 / 10_001.0, "{p}");
        // Ten positive and ten negative differences: every exchange is at least as far from 0.
        let mut even = units(&[2; 10], &[1; 10], &[3; 10]);
        even.extend(units(&[1; 10], &[2; 10], &[3; 10]));
        assert_eq!(compare_satisfied_fractions(&even).unwrap().p, 1.0);
    }

    /// The observed sum is 1, that is 8 eighths; every pattern of signs is counted here.
    #[test]
    fn a_mean_of_differences_is_tested_by_the_same_exchanges() {
        let p = randomization_p_value_of_mean(&[0.5, 0.25, 0.25, 0.125, -0.125]);
        let mut n_far = 0;
        for signs in 0..32_u32 {
            let eighths = [4, 2, 2, 1, -1_i32].iter().enumerate();
            let turned = eighths.map(|(at, it)| if signs >> at & 1 == 1 { -it } else { *it });
            n_far += u32::from(turned.sum::<i32>().abs() >= 8);
        }
        assert_eq!(p, f64::from(n_far) / 32.0);
        assert_eq!(randomization_p_value_of_mean(&[]), 1.0);
        assert_eq!(randomization_p_value_of_mean(&[0.0, 0.0]), 1.0);
        assert_eq!(randomization_p_value_of_mean(&[1.0]), 1.0);
    }

    /// The sums of these differences are rounded.
    #[test]
    fn equal_differences_have_no_effect_size() {
        let of = |n_queries: usize, n_verdicts: u64| {
            let queries = units(
                &vec![2; n_queries],
                &vec![1; n_queries],
                &vec![n_verdicts; n_queries],
            );
            compare_satisfied_fractions(&queries).unwrap().effect_size
        };
        for n_queries in 2..40 {
            assert_eq!([of(n_queries, 10), of(n_queries, 3)], [None, None]);
        }
        let mixed = units(&[2, 4, 3], &[1, 2, 2], &[10, 20, 10]);
        assert_eq!(
            compare_satisfied_fractions(&mixed).unwrap().effect_size,
            None
        );
    }

    #[test]
    fn alike_rankers_do_not_differ() {
        let found = compare_satisfied_fractions(&units(&[1, 2], &[1, 2], &[3, 3])).unwrap();
        assert_eq!(
            (found.micro_average.value, found.p, found.effect_size),
            (0.0, 1.0, None)
        );
        assert_eq!(
            compare_satisfied_fractions(&[TwoRankerSatisfiedCounts::default()]),
            None
        );
        // A single query gives no interval.
        let one = compare_satisfied_fractions(&units(&[3], &[1], &[3])).unwrap();
        assert_eq!((one.p, one.effect_size), (1.0, None));
        assert_eq!(one.micro_average.interval, [-1.0, 1.0]);
    }
}
