//! Correction for multiple testing in a table of many cells.
//!
//! This is Holm's step-down procedure (Scandinavian Journal of Statistics 6, 1979). With the `m`
//! p-values in ascending order, `p̃(i) = max over j <= i of min(1, (m - j + 1) p(j))`. It bounds
//! the probability of any false finding in the whole table by the level, whatever the dependence
//! between the tests, and so also if rankers share their queries.

/// The level of the tests: a cell whose corrected `p` is not below it is not distinguishable from
/// chance. At most one table in twenty then has a false finding, as in the reproduced papers.
pub const FAMILY_WISE_ERROR_RATE: f64 = 0.05;

/// Returns the p-values after Holm's correction, in the order of `ps`.
pub fn holm_correction(ps: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..ps.len()).collect();
    order.sort_by(|&a, &b| ps[a].total_cmp(&ps[b]));
    let mut corrected = vec![0.0; ps.len()];
    let mut so_far = 0.0_f64;
    for (n_before, &at) in order.iter().enumerate() {
        let n_left = (ps.len() - n_before) as f64;
        so_far = so_far.max((n_left * ps[at]).min(1.0));
        corrected[at] = so_far;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: .005 × 4, .01 × 3, then .03 × 2 and .04 × 1 = .04, which must not be less than the
    /// .06 before it. R's `p.adjust(c(.01, .04, .03, .005), "holm")` gives the same.
    #[test]
    fn a_larger_p_never_ends_below_a_smaller_one() {
        let found = holm_correction(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        assert!(
            found
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-12),
            "{found:?}"
        );
    }

    #[test]
    fn nothing_exceeds_one_and_a_single_test_stays() {
        assert_eq!(holm_correction(&[0.6, 0.7]), [1.0, 1.0]);
        assert_eq!(holm_correction(&[0.2]), [0.2]);
        assert!(holm_correction(&[]).is_empty());
    }
}
