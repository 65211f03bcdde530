//! How a satisfied fraction differs between two studies, whose queries may be the same, others, or
//! partly the same.
//!
//! A percentile bootstrap in up to three strata (Davison and Hinkley, Bootstrap Methods and their
//! Application, 1997, section 3.2): queries of both studies, of the first alone and of the second
//! alone. From each stratum as many queries are drawn, with replacement, as it has; a query of both
//! studies brings its instances of both, so that the studies are compared query by query where they
//! can be. A draw gives `Σ a₂(q) / Σ j₂(q) − Σ a₁(q) / Σ j₁(q)` over the drawn queries, with
//! `a(q)` agreeing among `j(q)` instances with a verdict. Draws in which a study has no verdict are
//! left out.

use super::EstimateWithInterval;
use super::bootstrap::{
    BootstrapSampler, N_RESAMPLES, QueryVerdictCounts, STREAM, percentile_interval,
};

/// The verdicts on the queries of two studies, by whether both studies have the query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PairedAndUnpairedCounts {
    /// The queries of both studies.
    pub shared: Vec<[QueryVerdictCounts; 2]>,
    /// The queries that only one study has, for each study.
    pub unshared: [Vec<QueryVerdictCounts>; 2],
}

/// A fraction in two studies, and how much it differs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SatisfiedFractionChange {
    /// The fraction over instances in each study.
    pub fractions: [f64; 2],
    /// The second minus the first, from −1 to 1. If a study has verdicts on a single query, the
    /// interval is the whole range.
    pub difference: EstimateWithInterval,
    /// Two-sided, against no difference, from the same draws as the interval: `2 (1 + min(draws ≤
    /// 0, draws ≥ 0)) / (1 + draws)`, at most 1, and at least what a randomization test could give:
    /// `2 / (2^s · C(u₁ + u₂, u₁))` with `s` queries that have verdicts in both studies, and `u₁`
    /// and `u₂` that have them in one.
    pub p: f64,
}

/// Returns the change of the fraction; `None` if a study has no verdict.
pub fn bootstrap_fraction_change(
    counts: &PairedAndUnpairedCounts,
) -> Option<SatisfiedFractionChange> {
    let none = QueryVerdictCounts {
        n_agreeing: 0,
        n_verdicts: 0,
    };
    let [first, second] = &counts.unshared;
    let strata = [
        counts.shared.clone(),
        first.iter().map(|&it| [it, none]).collect(),
        second.iter().map(|&it| [none, it]).collect(),
    ];
    let strata: Vec<Vec<CountSums>> = strata
        .into_iter()
        .map(|stratum| {
            let units = stratum.iter().map(CountSums::of_query);
            units.filter(|it| it.judged != [0.0; 2]).collect()
        })
        .filter(|stratum: &Vec<CountSums>| !stratum.is_empty())
        .collect();
    let units = || strata.iter().flatten();
    let fractions = CountSums::sum(units()).fractions()?;
    let value = fractions[1] - fractions[0];
    let n_queries = [0, 1].map(|study| units().filter(|it| it.judged[study] > 0.0).count());
    if n_queries.contains(&1) {
        return Some(SatisfiedFractionChange {
            fractions,
            difference: EstimateWithInterval {
                value,
                interval: [-1.0, 1.0],
            },
            p: 1.0,
        });
    }
    // Each stratum has its own random stream.
    let mut samplers: Vec<BootstrapSampler> = strata
        .iter()
        .zip(STREAM..)
        .map(|(stratum, stream)| BootstrapSampler::with_random_stream(stratum.len(), stream))
        .collect();
    let draws = (0..N_RESAMPLES).filter_map(|_| {
        let mut sums = CountSums::default();
        for (stratum, sampler) in strata.iter().zip(&mut samplers) {
            sampler.for_each_drawn_index(|at| sums.add(&stratum[at]));
        }
        sums.fractions().map(|[first, second]| second - first)
    });
    let draws: Vec<f64> = draws.collect();
    if draws.is_empty() {
        return None;
    }
    let n_below = draws.iter().filter(|&&it| it <= 0.0).count();
    let n_above = draws.iter().filter(|&&it| it >= 0.0).count();
    let p = 2.0 * (1 + n_below.min(n_above)) as f64 / (draws.len() + 1) as f64;
    Some(SatisfiedFractionChange {
        fractions,
        p: p.max(least_p_value(units())).min(1.0),
        difference: EstimateWithInterval {
            value,
            interval: percentile_interval(draws),
        },
    })
}

/// Returns the smallest p-value of a randomization test: verdicts of queries that have them in both
/// studies may be exchanged, the other queries may be dealt to the two studies in any way.
fn least_p_value<'a>(units: impl Iterator<Item = &'a CountSums>) -> f64 {
    let (mut n_arrangements, mut n_dealt) = (1.0, [0.0; 2]);
    for unit in units {
        match unit.judged.map(|it| it > 0.0) {
            [true, true] => n_arrangements *= 2.0,
            [is_first, _] => {
                // C(n + 1, k + 1) = C(n, k) (n + 1) / (k + 1).
                let n = &mut n_dealt[usize::from(!is_first)];
                *n += 1.0;
                let k = *n;
                n_arrangements *= (n_dealt[0] + n_dealt[1]) / k;
            }
        }
    }
    2.0 / n_arrangements
}

/// The counts of one query in both studies, or the sums of several. They are integers far below
/// 2^53, so that sums are exact in any order.
#[derive(Debug, Clone, Copy, Default)]
struct CountSums {
    agreeing: [f64; 2],
    judged: [f64; 2],
}

impl CountSums {
    fn of_query(counts: &[QueryVerdictCounts; 2]) -> CountSums {
        CountSums {
            agreeing: counts.map(|it| it.n_agreeing as f64),
            judged: counts.map(|it| it.n_verdicts as f64),
        }
    }

    fn sum<'a>(all: impl Iterator<Item = &'a CountSums>) -> CountSums {
        let mut sums = CountSums::default();
        all.for_each(|it| sums.add(it));
        sums
    }

    fn add(&mut self, other: &CountSums) {
        for study in 0..2 {
            self.agreeing[study] += other.agreeing[study];
            self.judged[study] += other.judged[study];
        }
    }

    /// Returns the fraction of each study; `None` if one has no verdict.
    fn fractions(&self) -> Option<[f64; 2]> {
        let fraction = |study: usize| {
            (self.judged[study] > 0.0).then(|| self.agreeing[study] / self.judged[study])
        };
        Some([fraction(0)?, fraction(1)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::randomization::{TwoRankerSatisfiedCounts, compare_satisfied_fractions};

    fn counts(n_agreeing: u64, n_verdicts: u64) -> QueryVerdictCounts {
        QueryVerdictCounts {
            n_agreeing,
            n_verdicts,
        }
    }

    /// Checks value, interval and p against figures that another program computed, within the
    /// error of 10,000 draws.
    fn check(input: &PairedAndUnpairedCounts, value: f64, interval: [f64; 2], p: f64) {
        let found = bootstrap_fraction_change(input).unwrap();
        let near = |found: f64, expected: f64, within: f64| (found - expected).abs() <= within;
        assert!(near(found.difference.value, value, 1e-12), "{found:?}");
        for (bound, expected) in found.difference.interval.into_iter().zip(interval) {
            assert!(near(bound, expected, 0.012), "{found:?}");
        }
        assert!(near(found.p, p, 0.012), "{found:?}");
    }

    #[test]
    fn queries_of_both_studies_are_drawn_together() {
        let shared = [
            [counts(9, 10), counts(7, 10)],
            [counts(4, 10), counts(2, 9)],
            [counts(30, 40), counts(31, 40)],
            [counts(2, 4), counts(1, 5)],
            [counts(5, 5), counts(3, 6)],
            [counts(0, 0), counts(1, 2)],
            [counts(1, 6), counts(1, 6)],
        ];
        let input = PairedAndUnpairedCounts {
            shared: shared.to_vec(),
            ..PairedAndUnpairedCounts::default()
        };
        // The interval is exact, from all 1,716 multisets of draws with their probabilities; p is
        // 2 / (2^6 · 1), a bit more than the exact .03105.
        check(&input, -0.09025641025641026, [-0.29647, -0.00606], 0.03125);
    }

    #[test]
    fn queries_of_one_study_are_drawn_by_themselves() {
        let first = [(9, 10), (4, 10), (30, 40), (2, 4), (5, 5), (6, 7)];
        let second = [(3, 9), (10, 22), (4, 9), (5, 11), (1, 3), (8, 20), (5, 8)];
        let input = PairedAndUnpairedCounts {
            shared: Vec::new(),
            unshared: [
                first
                    .map(|(agreeing, judged)| counts(agreeing, judged))
                    .to_vec(),
                second
                    .map(|(agreeing, judged)| counts(agreeing, judged))
                    .to_vec(),
            ],
        };
        // Exact, from all 462 × 1,716 pairs of multisets.
        check(&input, -0.29781771501925547, [-0.44204, -0.12292], 0.00249);
    }

    #[test]
    fn some_queries_are_shared() {
        let input = PairedAndUnpairedCounts {
            shared: vec![
                [counts(9, 10), counts(7, 10)],
                [counts(4, 10), counts(2, 9)],
                [counts(12, 20), counts(9, 17)],
                [counts(3, 8), counts(4, 9)],
            ],
            unshared: [
                vec![counts(6, 10), counts(5, 9), counts(9, 12)],
                vec![counts(2, 8), counts(3, 7), counts(5, 12)],
            ],
        };
        // The interval is exact; p is 2 / (2^4 · C(6, 3)), since no draw is above 0.
        check(&input, -0.1631504922644163, [-0.23973, -0.09524], 0.00625);
        assert_eq!(bootstrap_fraction_change(&input).unwrap().p, 0.00625);
    }

    #[test]
    fn over_the_same_instances_the_interval_is_that_of_two_rankers_of_a_study() {
        let counted: [[u64; 3]; 5] = [[9, 7, 10], [4, 2, 10], [30, 31, 40], [2, 1, 4], [5, 3, 6]];
        let rankers = counted.map(|[second, first, n_verdicts]| TwoRankerSatisfiedCounts {
            n_agreeing_first: second,
            n_agreeing_second: first,
            n_verdicts,
        });
        let input = PairedAndUnpairedCounts {
            shared: counted
                .map(|[second, first, n]| [counts(first, n), counts(second, n)])
                .to_vec(),
            ..PairedAndUnpairedCounts::default()
        };
        let found = bootstrap_fraction_change(&input).unwrap().difference;
        let expected = compare_satisfied_fractions(&rankers).unwrap().micro_average;
        let bounds = |it: EstimateWithInterval| [it.value, it.interval[0], it.interval[1]];
        for (found, expected) in bounds(found).into_iter().zip(bounds(expected)) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn few_queries_bound_nothing() {
        let mut input = PairedAndUnpairedCounts {
            shared: vec![[counts(1, 2), counts(2, 2)], [counts(3, 3), counts(0, 0)]],
            ..PairedAndUnpairedCounts::default()
        };
        let found = bootstrap_fraction_change(&input).unwrap();
        assert_eq!(found.difference.interval, [-1.0, 1.0]);
        assert_eq!(found.p, 1.0);
        input.shared[1][1] = counts(3, 3);
        assert!(bootstrap_fraction_change(&input).unwrap().p >= 0.5);
        input.shared = vec![[counts(1, 2), counts(0, 0)]];
        assert_eq!(bootstrap_fraction_change(&input), None);
    }
}
