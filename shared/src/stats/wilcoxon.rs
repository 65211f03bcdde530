//! Wilcoxon's signed-rank test over queries (Biometrics Bulletin 1, 1945) of a difference in
//! effectiveness between two rankers, as in Rennings, Moraes and Hauff (ECIR 2019, table 2).
//!
//! Queries without a difference are left out. The absolute differences of the other `n` queries are
//! ranked, equal ones with their mean rank; `W` is the smaller of the sums of ranks of positive and
//! negative differences. `p` is two-sided by the normal approximation, without a continuity
//! correction: `z = (W - n (n + 1) / 4) / √((n (n + 1) (2 n + 1) - Σ (t³ - t) / 2) / 24)` with `t`
//! the sizes of groups of equal ranks, and `p = 2 Φ(z)`.

/// Returns the two-sided `p` for paired values; 1 if no pair differs.
pub fn wilcoxon_signed_rank_p_value(first: &[f64], second: &[f64]) -> f64 {
    let differences = first.iter().zip(second).map(|(a, b)| a - b);
    let mut leads: Vec<f64> = differences.filter(|it| *it != 0.0).collect();
    if leads.is_empty() {
        return 1.0;
    }
    leads.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let (mut above, mut below, mut ties, mut before) = (0.0, 0.0, 0.0, 0.0);
    for alike in leads.chunk_by(|a, b| a.abs() == b.abs()) {
        let t = alike.len() as f64;
        let rank = before + (t + 1.0) / 2.0;
        let n_above = alike.iter().filter(|it| **it > 0.0).count() as f64;
        above += rank * n_above;
        below += rank * (t - n_above);
        ties += t * t * t - t;
        before += t;
    }
    let n = leads.len() as f64;
    let mean = n * (n + 1.0) / 4.0;
    let variance = (n * (n + 1.0) * (2.0 * n + 1.0) - ties / 2.0) / 24.0;
    let z = (f64::min(above, below) - mean) / variance.sqrt();
    // 2 Φ(z) = erfc(-z / √2).
    libm::erfc(-z / std::f64::consts::SQRT_2).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy 1.17.1, `wilcoxon(x, y, method="approx")`: W = 4, p = .028401837044201694 for the
    /// first pair, with a difference of 0 and equal ones; W = 205, p = .5716457836721114 for x = i
    /// / 7 and y = (37 i mod 31) / 6, i from 1 to 30.
    #[test]
    fn p_is_that_of_scipy() {
        let x = [
            0.52, 0.44, 0.61, 0.30, 0.75, 0.20, 0.55, 0.41, 0.66, 0.38, 0.47, 0.59,
        ];
        let y = [
            0.48, 0.44, 0.50, 0.33, 0.60, 0.25, 0.41, 0.41, 0.52, 0.30, 0.47, 0.40,
        ];
        let found = wilcoxon_signed_rank_p_value(&x, &y);
        assert!((found - 0.028_401_837_044_201_694).abs() < 1e-12, "{found}");
        let x: Vec<f64> = (1..=30).map(|it| f64::from(it) / 7.0).collect();
        let y: Vec<f64> = (1..=30).map(|it| f64::from(it * 37 % 31) / 6.0).collect();
        let found = wilcoxon_signed_rank_p_value(&x, &y);
        assert!((found - 0.571_645_783_672_111_4).abs() < 1e-12, "{found}");
    }

    #[test]
    fn level_rankers_and_one_alone_differ_by_chance() {
        assert_eq!(wilcoxon_signed_rank_p_value(&[0.5, 0.2], &[0.5, 0.2]), 1.0);
        assert_eq!(wilcoxon_signed_rank_p_value(&[], &[]), 1.0);
        // One difference: W = 0, z = -1, p = .317.
        assert!(
            (wilcoxon_signed_rank_p_value(&[0.5], &[0.2]) - 0.317_310_507_862_914_1).abs() < 1e-12
        );
    }
}
