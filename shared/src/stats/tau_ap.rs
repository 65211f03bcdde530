//! Rank correlation weighted toward the top: τ_AP of Yilmaz, Aslam and Robertson (SIGIR 2008), and
//! with ties τ_AP,a and τ_AP,b of Urbano and Marrero (ICTIR 2017).
//!
//! Items have scores in both rankings; higher is better. `x` is the reference and `y` is evaluated:
//! its ranks determine the weights. With the items in the order of `y`, ranks from 1, and `C(i)`
//! the number of items above rank `i` that the reference also ranks above item `i`:
//!
//! `τ_AP = 2 / (n − 1) · Σ_{i = 2..n} C(i) / (i − 1) − 1`, from −1 to 1.

/// Returns the correlation of two rankings of the same items: τ_AP without ties, τ_AP,a with ties
/// only in `y`, else τ_AP,b. `None` for fewer than two items, or if all scores of `y` are tied.
pub fn tau_ap_allowing_ties(x: &[f64], y: &[f64]) -> Option<f64> {
    let n = x.len().min(y.len());
    let (x, y) = (&x[..n], &y[..n]);
    if n < 2 || y.iter().all(|it| *it == y[0]) {
        return None;
    }
    match is_tied(x) {
        true => tau_ap_b(x, y),
        false => tau_ap_a(x, y),
    }
}

/// Returns τ_AP,a, for ties in the evaluated ranking only: the expectation of τ_AP over all orders
/// of tied items. Without ties it is τ_AP. `None` for fewer than two items.
pub fn tau_ap_a(x: &[f64], y: &[f64]) -> Option<f64> {
    let n = x.len().min(y.len());
    if n < 2 {
        return None;
    }
    let order = ordered(&y[..n]);
    let mut sum = 0.0;
    for (first, group) in groups(&order, y) {
        let t = group.len();
        // The items above the group, at each of its ranks.
        let above = &order[..first];
        if first > 0 {
            let ranks = (first..first + t).map(|above| 1.0 / above as f64);
            let mean = ranks.sum::<f64>() / t as f64;
            for &item in group {
                sum += concordant(x, above, item) as f64 * mean;
            }
        }
        // Within the group all orders are equally likely: half of the items above are concordant.
        let within = (1..t).map(|k| k as f64 / (first + k) as f64);
        sum += within.sum::<f64>() / 2.0;
    }
    Some(2.0 * sum / (n - 1) as f64 - 1.0)
}

/// Returns τ_AP,b, for ties in both rankings: only items above a tied group count, and both
/// directions are averaged. `None` if all scores of one ranking are tied.
pub fn tau_ap_b(x: &[f64], y: &[f64]) -> Option<f64> {
    let n = x.len().min(y.len());
    let one = |x: &[f64], y: &[f64]| {
        let order = ordered(y);
        let (mut sum, mut n_below) = (0.0, 0);
        for (first, group) in groups(&order, y) {
            if first == 0 {
                continue;
            }
            n_below += group.len();
            for &item in group {
                sum += concordant(x, &order[..first], item) as f64 / first as f64;
            }
        }
        (n_below > 0).then(|| 2.0 * sum / n_below as f64 - 1.0)
    };
    let (x, y) = (&x[..n], &y[..n]);
    Some((one(x, y)? + one(y, x)?) / 2.0)
}

/// Returns the indexes of items, the best first.
fn ordered(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    order
}

/// Returns groups of items with the same score, each with the number of items above it.
fn groups<'a>(order: &'a [usize], scores: &'a [f64]) -> impl Iterator<Item = (usize, &'a [usize])> {
    let mut first = 0;
    order
        .chunk_by(|&a, &b| scores[a] == scores[b])
        .map(move |group| {
            let at = first;
            first += group.len();
            (at, group)
        })
}

/// Returns the number of items of `above` that the reference ranks above `item`.
fn concordant(x: &[f64], above: &[usize], item: usize) -> usize {
    above.iter().filter(|&&it| x[it] > x[item]).count()
}

fn is_tied(scores: &[f64]) -> bool {
    let order = ordered(scores);
    order.windows(2).any(|it| scores[it[0]] == scores[it[1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: [f64; 10] = [
        0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992,
    ];
    const Y: [f64; 10] = [
        0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988,
    ];

    fn near(found: Option<f64>, expected: f64) {
        let found = found.unwrap();
        assert!((found - expected).abs() < 5e-5, "{found} is not {expected}");
    }

    /// The examples of ircor and pyircor, the code of Urbano and Marrero.
    #[test]
    fn the_worked_examples_of_the_published_code() {
        let tenth = |it: f64| (it * 10.0).round() / 10.0;
        let (x, y) = (X.map(tenth), Y.map(tenth));
        near(tau_ap_allowing_ties(&X, &Y), 0.8519);
        near(tau_ap_b(&X, &Y), 0.8333);
        near(tau_ap_allowing_ties(&X, &y), 0.7454);
        near(tau_ap_allowing_ties(&x, &y), 0.7321);

        let ascending = [0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94];
        let other = [0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94];
        let (x, y) = (ascending, other);
        // R rounds a half to the even neighbor.
        let fifth = |it: f64| (it * 5.0).round_ties_even() / 5.0;
        near(tau_ap_allowing_ties(&x, &y), 0.7491);
        near(tau_ap_allowing_ties(&x, &y.map(fifth)), 0.6075);
        near(tau_ap_allowing_ties(&x.map(fifth), &y.map(fifth)), 0.6270);
    }

    #[test]
    fn the_same_and_the_opposite_ranking_are_the_bounds() {
        let turned = X.map(|it| -it);
        near(tau_ap_allowing_ties(&X, &X), 1.0);
        near(tau_ap_allowing_ties(&X, &turned), -1.0);
        // The measure is not symmetric: the ranks of the evaluated ranking determine the weights.
        assert_ne!(tau_ap_allowing_ties(&X, &Y), tau_ap_allowing_ties(&Y, &X));
    }

    /// The expectation of τ_AP over both orders of a tie.
    #[test]
    fn a_tie_is_the_mean_of_its_orders() {
        let (mut one, mut other, mut tied) = (Y, Y, Y);
        (one[2], one[0]) = (0.82, 0.81);
        (other[2], other[0]) = (0.81, 0.82);
        (tied[2], tied[0]) = (0.815, 0.815);
        let mean = (tau_ap_allowing_ties(&X, &one).unwrap()
            + tau_ap_allowing_ties(&X, &other).unwrap())
            / 2.0;
        near(tau_ap_allowing_ties(&X, &tied), mean);
    }

    #[test]
    fn one_place_for_all_agrees_with_nothing() {
        assert_eq!(tau_ap_allowing_ties(&X, &[0.5; 10]), None);
        near(tau_ap_a(&X, &[0.5; 10]), 0.0);
        assert_eq!(tau_ap_b(&[0.5; 10], &Y), None);
        assert_eq!(tau_ap_allowing_ties(&[1.0], &[1.0]), None);
        assert_eq!(tau_ap_allowing_ties(&[], &[]), None);
    }
}
