//! The bins of the histogram of a list of instances.

use super::MarginHistogram;

/// The approximate number of bins of a histogram.
const BINS: f64 = 40.0;

/// Rounds up to 1, 2 or 5 times a power of ten.
fn round_width(width: f64) -> f64 {
    if !(width > 0.0 && width.is_finite()) {
        return 0.0;
    }
    let mut unit = 1.0;
    while unit > width {
        unit /= 10.0;
    }
    while unit * 10.0 <= width {
        unit *= 10.0;
    }
    let steps = [1.0, 2.0, 5.0, 10.0].map(|it| it * unit);
    steps
        .into_iter()
        .find(|&it| it >= width)
        .unwrap_or(unit * 10.0)
}

/// The bins of a histogram.
#[derive(Clone, Copy)]
pub(super) struct Bins {
    /// The number of the first bin.
    first: f64,
    width: f64,
    pub(super) n: usize,
}

impl Bins {
    /// Returns bins of round width from the lowest to the highest margin, with an edge at 0.
    /// `least` is at most 0 and `most` at least 0; there is no bin if both are 0.
    pub(super) fn for_range(least: f64, most: f64) -> Bins {
        let width = round_width((most - least) / BINS);
        if width <= 0.0 {
            return Bins {
                first: 0.0,
                width: 1.0,
                n: 0,
            };
        }
        let first = libm::floor(least / width);
        let last = libm::floor(most / width);
        Bins {
            first,
            width,
            n: (last - first) as usize + 1,
        }
    }

    /// Returns the index of the bin of a margin.
    pub(super) fn index_of(self, margin: f64) -> usize {
        (libm::floor(margin / self.width) - self.first) as usize
    }

    pub(super) fn into_histogram(self, counts: Vec<u64>, n_tied: u64) -> MarginHistogram {
        MarginHistogram {
            lower_edge: self.first * self.width,
            bin_width: self.width,
            counts,
            n_tied,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_round_widths() {
        for (width, round) in [(0.03, 0.05), (1.0, 1.0), (1.1, 2.0), (700.0, 1000.0)] {
            assert!((round_width(width) - round).abs() < 1e-9 * round, "{width}");
        }
    }
}
