//! Student's t-test of one sample: whether the mean of differences is 0.
//!
//! `t = m / (s / √n)` with the mean `m` and the standard deviation `s` (n − 1 in its denominator)
//! of `n` differences, two-sided, with `n − 1` degrees of freedom. For differences of pairs this is
//! the paired t-test. Each difference is a unit.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::bootstrap::standard_deviation;

/// The test of a mean against 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OneSampleTTestResult {
    /// The t statistic; infinite if all differences are equal and not 0.
    pub t: f64,
    /// The two-sided p-value.
    pub p: f64,
}

/// Tests the mean of differences against 0; `None` for fewer than two, or if all of them are 0.
pub fn one_sample_t_test(differences: &[f64]) -> Option<OneSampleTTestResult> {
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let deviation = standard_deviation(differences);
    if differences.len() < 2 || (mean == 0.0 && deviation == 0.0) {
        return None;
    }
    let t = mean / (deviation / n.sqrt());
    Some(OneSampleTTestResult {
        t,
        p: two_sided(t, n - 1.0),
    })
}

/// Returns `P(|T| ≥ |t|)` of Student's distribution: the regularized incomplete beta function `I(ν
/// / (ν + t²); ν / 2, 1 / 2)`.
fn two_sided(t: f64, freedom: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    let x = freedom / (freedom + t * t);
    let (a, b) = (freedom / 2.0, 0.5);
    // The continued fraction converges quickly below (a + 1) / (a + b + 2), and I(x; a, b) is 1 -
    // I(1 - x; b, a).
    if x < (a + 1.0) / (a + b + 2.0) {
        incomplete_beta(x, 1.0 - x, a, b)
    } else {
        1.0 - incomplete_beta(t * t / (freedom + t * t), x, b, a)
    }
}

/// Returns `I(x; a, b)` by its continued fraction (Abramowitz and Stegun, Handbook of Mathematical
/// Functions, 26.5.8), evaluated from the left as in Lentz (Applied Optics 15, 1976). `rest` is 1 −
/// x.
fn incomplete_beta(x: f64, rest: f64, a: f64, b: f64) -> f64 {
    /// Far more than needed for t distributions.
    const MOST_STEPS: u32 = 10_000;
    const TINY: f64 = 1e-300;

    if x == 0.0 {
        return 0.0;
    }
    let log_beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    let front = libm::exp(a * libm::log(x) + b * libm::log(rest) - log_beta) / a;
    let away = |it: f64| if it.abs() < TINY { TINY } else { it };
    let (mut c, mut d) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for step in 1..MOST_STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for numerator in [even, odd] {
            d = 1.0 / away(1.0 + numerator * d);
            c = away(1.0 + numerator / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twice `scipy.stats.t.sf(|t|, df)`, SciPy 1.17.1.
    #[test]
    fn tails_are_those_of_scipy() {
        for (t, freedom, expected) in [
            (2.0, 10.0, 0.073_388_034_770_740_37),
            (0.5, 3.0, 0.651_447_964_848_151),
            (12.0, 42.0, 3.706_245_241_150_908e-15),
            (-3.2, 5_000.0, 0.001_382_866_434_680_459_1),
            (38.0, 5_072.0, 2.849_659_946_583_784_6e-278),
            (1e-3, 7.0, 0.999_230_017_244_998_8),
        ] {
            let found = two_sided(t, freedom);
            assert!(
                (found - expected).abs() <= 1e-10 * expected,
                "{t} {freedom}: {found:e} for {expected:e}"
            );
        }
    }

    /// `scipy.stats.ttest_1samp(…, 0)`.
    #[test]
    fn a_sample_is_tested_against_0() {
        let found = one_sample_t_test(&[0.3, -0.1, 0.7, 0.2, 0.0, -0.4, 0.9, 0.25]).unwrap();
        assert!((found.t - 1.557_389_453_019_900_4).abs() < 1e-12);
        assert!((found.p - 0.163_335_773_822_063_8).abs() < 1e-12);
    }

    #[test]
    fn what_does_not_vary_is_certain_or_nothing() {
        assert_eq!(one_sample_t_test(&[]), None);
        assert_eq!(one_sample_t_test(&[1.0]), None);
        assert_eq!(one_sample_t_test(&[0.0, 0.0]), None);
        assert_eq!(one_sample_t_test(&[1.0, 1.0]).unwrap().p, 0.0);
        // The mean of these is rounded.
        assert_eq!(one_sample_t_test(&[0.1; 3]).unwrap().t, f64::INFINITY);
    }
}
