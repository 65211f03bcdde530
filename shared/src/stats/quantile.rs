//! Quantiles by linear interpolation.
//!
//! With `n` sorted values `x(0) … x(n-1)` and `h = (n - 1) q`, the quantile at `q` is
//! `x(⌊h⌋) + (h - ⌊h⌋) (x(⌊h⌋ + 1) - x(⌊h⌋))`: definition 7 of Hyndman and Fan (The American
//! Statistician 50, 1996), the default of R and NumPy.

/// Returns the quantile at `q` (0 to 1) of values in ascending order; `None` without values.
pub fn quantile_of_sorted(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = last as f64 * q.clamp(0.0, 1.0);
    let low = place as usize;
    let (below, above) = (sorted[low], sorted[last.min(low + 1)]);
    Some(below + (place - low as f64) * (above - below))
}

/// Returns the median of values in any order; `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    quantile_of_sorted(&sorted, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The help page of NumPy's `percentile` gives 3.5 for the median of 10 7 4 3 2 1. By the
    /// formula with n = 6: at .25 h = 1.25, 2 + .25 (3 - 2); at .9 h = 4.5, 7 + .5 (10 - 7).
    #[test]
    fn values_between_two_are_interpolated() {
        let sorted = [1.0, 2.0, 3.0, 4.0, 7.0, 10.0];
        let found = [0.0, 0.25, 0.5, 0.9, 1.0].map(|q| quantile_of_sorted(&sorted, q));
        assert_eq!(
            found,
            [Some(1.0), Some(2.25), Some(3.5), Some(8.5), Some(10.0)]
        );
    }

    #[test]
    fn one_value_is_every_quantile_and_none_is_none() {
        assert_eq!(quantile_of_sorted(&[3.0], 0.025), Some(3.0));
        assert_eq!(quantile_of_sorted(&[], 0.5), None);
    }

    #[test]
    fn the_median_needs_no_order() {
        assert_eq!(median(&[10.0, 7.0, 4.0, 3.0, 2.0, 1.0]), Some(3.5));
        assert_eq!(median(&[5.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[]), None);
    }
}
