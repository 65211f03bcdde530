//! Pearson's r of two values, with its 95 % interval by Fisher's transformation (Metron 1, 1921):
//! `tanh(artanh r ± 1.96 / √(n - 3))`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::EstimateWithInterval;

/// The 0.975 quantile of the standard normal distribution, Φ⁻¹(0.975).
pub(super) const Z_975: f64 = 1.959_963_984_540_054;

/// Pearson's r and the number of points.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CorrelationWithSampleSize {
    /// Pearson's r, from −1 to 1.
    pub r: EstimateWithInterval,
    /// The number of points.
    pub n: u64,
}

/// Returns Pearson's r; `None` for fewer than four points, which give no interval, or if one of the
/// values is constant.
pub fn pearson_correlation(points: &[[f64; 2]]) -> Option<CorrelationWithSampleSize> {
    let n = points.len();
    if n < 4 {
        return None;
    }
    let mean = |of: usize| points.iter().map(|it| it[of]).sum::<f64>() / n as f64;
    let means = [mean(0), mean(1)];
    let product = |a: usize, b: usize| -> f64 {
        let each = points.iter();
        each.map(|it| (it[a] - means[a]) * (it[b] - means[b])).sum()
    };
    let scale = (product(0, 0) * product(1, 1)).sqrt();
    if scale <= 0.0 {
        return None;
    }
    let r = (product(0, 1) / scale).clamp(-1.0, 1.0);
    let half = Z_975 / (n as f64 - 3.0).sqrt();
    let bound = |by: f64| libm::tanh(libm::atanh(r) + by);
    Some(CorrelationWithSampleSize {
        r: EstimateWithInterval {
            value: r,
            interval: [bound(-half), bound(half)],
        },
        n: n as u64,
    })
}

/// Returns the line `slope · x + intercept` with the smallest sum of squared differences in `y`;
/// `None` for fewer than two different `x`.
pub fn fit_least_squares_line(points: &[[f64; 2]]) -> Option<RegressionLine> {
    let n = points.len() as f64;
    let mean = |of: usize| points.iter().map(|it| it[of]).sum::<f64>() / n;
    let [x, y] = [mean(0), mean(1)];
    let spread: f64 = points.iter().map(|it| (it[0] - x) * (it[0] - x)).sum();
    let along = points.iter().map(|it| (it[0] - x) * (it[1] - y));
    let slope = along.sum::<f64>() / spread;
    (spread > 0.0).then_some(RegressionLine {
        slope,
        intercept: y - slope * x,
    })
}

/// A least-squares regression line, `y = slope · x + intercept`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RegressionLine {
    /// The increase of y when x increases by 1.
    pub slope: f64,
    /// The value of y at x = 0.
    pub intercept: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `pearsonr` of scipy 1.17.1 and its `confidence_interval()`, for MAP and the mean of the five
    /// axiomatic scores that Rennings, Moraes and Hauff print (table 2): .4281, [−.5876, .9200].
    #[test]
    fn r_and_its_interval_are_those_of_scipy() {
        let printed = [
            [0.52, 0.73 + 0.98 + 1.00 + 0.80 + 0.80],
            [0.54, 0.87 + 0.63 + 0.94 + 0.68 + 0.68],
            [0.25, 0.69 + 0.56 + 0.48 + 0.19 + 0.47],
            [0.44, 0.79 + 0.58 + 0.63 + 0.00 + 0.19],
            [0.55, 0.84 + 0.60 + 0.76 + 0.05 + 0.12],
            [0.57, 0.85 + 0.56 + 0.69 + 0.38 + 0.47],
        ];
        let points = printed.map(|[map, sum]| [map, sum / 5.0]);
        let found = pearson_correlation(&points).unwrap();
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(near(found.r.value, 0.428_128_142_510_638_3), "{found:?}");
        assert!(
            near(found.r.interval[0], -0.587_593_965_281_945_2),
            "{found:?}"
        );
        assert!(
            near(found.r.interval[1], 0.920_024_769_809_081_9),
            "{found:?}"
        );
        assert_eq!(found.n, 6);
    }

    /// Padigela, Zamani and Croft (2019), table 4, who give a slope of about .33 and an intercept
    /// of about −.21.
    #[test]
    fn a_line_through_printed_means_is_the_printed_line() {
        let means = [0.17, 0.45, 0.77, 1.1, 1.44, 1.78, 2.13, 2.46, 2.8, 3.12];
        let points = means.iter().zip(1..).map(|(y, x)| [f64::from(x), *y]);
        let line = fit_least_squares_line(&points.collect::<Vec<_>>()).unwrap();
        assert!((line.slope - 0.332_606_060_606).abs() < 1e-9, "{line:?}");
        assert!(
            (line.intercept + 0.207_333_333_333).abs() < 1e-9,
            "{line:?}"
        );
        assert_eq!(fit_least_squares_line(&[[1.0, 2.0], [1.0, 3.0]]), None);
        assert_eq!(fit_least_squares_line(&[]), None);
    }

    #[test]
    fn few_points_and_constants_correlate_with_nothing() {
        let line = [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0], [3.0, 4.0]];
        assert_eq!(pearson_correlation(&line[..3]), None);
        assert_eq!(pearson_correlation(&line.map(|it| [it[0], 1.0])), None);
        assert_eq!(pearson_correlation(&line).unwrap().r.interval, [1.0, 1.0]);
    }
}
