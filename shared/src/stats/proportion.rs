//! Proportions of few items, and differences of two proportions, with 95 % intervals that hold
//! where a bootstrap fails: for few items, or if all or none of them count.
//!
//! Wilson's score interval (JASA 22, 1927) of `r` of `n`, with `p = r / n` and `z = Φ⁻¹(.975)`:
//! `(p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n)`.
//!
//! The difference `p₂ − p₁` of two independent proportions with Wilson's bounds `[l, u]` has the
//! bounds `p₂ − p₁ − √((p₂ − l₂)² + (u₁ − p₁)²)` and `p₂ − p₁ + √((u₂ − p₂)² + (p₁ − l₁)²)`
//! (Newcombe, Statistics in Medicine 17, 1998, 873–890, method 10).
//!
//! The items must be independent, such as the answers of one person to one item each.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::EstimateWithInterval;
use super::correlation::Z_975;

/// A count out of a total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Proportion {
    /// The number of items that count, at most `total`.
    pub n: u64,
    /// The number of all items.
    #[serde(alias = "of")]
    pub total: u64,
}

impl Proportion {
    /// Adds one item, which counts if `holds`.
    pub fn add_item(&mut self, holds: bool) {
        self.n += u64::from(holds);
        self.total += 1;
    }
}

/// Returns the proportion, from 0 to 1, with Wilson's interval; `None` if the total is 0.
pub fn wilson_interval(share: Proportion) -> Option<EstimateWithInterval> {
    if share.total == 0 {
        return None;
    }
    let n = share.total as f64;
    let p = share.n as f64 / n;
    let square = Z_975 * Z_975;
    let centre = p + square / (2.0 * n);
    let half = Z_975 * (p * (1.0 - p) / n + square / (4.0 * n * n)).sqrt();
    let scale = 1.0 + square / n;
    // Exact bounds for none and all, which rounding could miss.
    let low = if share.n == 0 { 0.0 } else { centre - half };
    let high = if share.n == share.total {
        scale
    } else {
        centre + half
    };
    Some(EstimateWithInterval {
        value: p,
        interval: [low / scale, high / scale],
    })
}

/// Returns the second proportion minus the first, from −1 to 1, with Newcombe's interval; `None` if
/// a total is 0.
pub fn newcombe_interval(first: Proportion, second: Proportion) -> Option<EstimateWithInterval> {
    let (first, second) = (wilson_interval(first)?, wilson_interval(second)?);
    let ([l1, u1], [l2, u2]) = (first.interval, second.interval);
    let (p1, p2) = (first.value, second.value);
    let far = |a: f64, b: f64| (a * a + b * b).sqrt();
    Some(EstimateWithInterval {
        value: p2 - p1,
        interval: [
            p2 - p1 - far(p2 - l2, u1 - p1),
            p2 - p1 + far(u2 - p2, p1 - l1),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(n: u64, of: u64) -> Proportion {
        Proportion { n, total: of }
    }

    fn near(found: [f64; 2], printed: [f64; 2]) {
        for (found, printed) in found.iter().zip(printed) {
            assert!(
                (found - printed).abs() < 0.000_05,
                "{found} is not {printed}"
            );
        }
    }

    /// Newcombe, Statistics in Medicine 17, 1998, 857–872, table I, method 3. statsmodels 0.15,
    /// `proportion_confint(r, n, method="wilson")`, gives the same.
    #[test]
    fn shares_have_the_bounds_that_newcombe_prints() {
        for (share, printed) in [
            (of(81, 263), [0.2553, 0.3662]),
            (of(15, 148), [0.0624, 0.1605]),
            (of(0, 20), [0.0, 0.1611]),
            (of(1, 29), [0.0061, 0.1718]),
        ] {
            near(wilson_interval(share).unwrap().interval, printed);
        }
        assert_eq!(wilson_interval(of(0, 20)).unwrap().interval[0], 0.0);
        assert_eq!(wilson_interval(of(20, 20)).unwrap().interval[1], 1.0);
        assert_eq!(wilson_interval(of(0, 0)), None);
    }

    /// Newcombe, Statistics in Medicine 17, 1998, 873–890, table II, method 10. statsmodels 0.15,
    /// `confint_proportions_2indep(…, method="newcomb")`, gives the same.
    #[test]
    fn differences_have_the_bounds_that_newcombe_prints() {
        for (first, second, printed) in [
            (of(48, 80), of(56, 70), [0.0524, 0.3339]),
            (of(3, 10), of(9, 10), [0.1705, 0.8090]),
            (of(2, 7), of(6, 7), [0.0582, 0.8062]),
            (of(0, 29), of(5, 56), [-0.0381, 0.1926]),
            (of(0, 20), of(10, 10), [0.6791, 1.0]),
        ] {
            near(newcombe_interval(first, second).unwrap().interval, printed);
        }
        assert_eq!(newcombe_interval(of(0, 0), of(1, 2)), None);
    }
}
