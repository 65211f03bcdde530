//! Scales: from numbers to positions and color steps.

/// Returns the step of the diverging scale for a fraction: `round(10 (fraction − .5))`, from −5 to
/// 5, with halves rounded away from 0 so that both sides are symmetric.
pub fn diverging_color_step_of_fraction(fraction: f64) -> i8 {
    // .45 less .5 is slightly less than .05 in binary; rounding to nine digits restores the value.
    let meant = ((fraction - 0.5) * 1e9).round() / 1e9;
    (10.0 * meant).round().clamp(-5.0, 5.0) as i8
}

/// Returns the step of the same scale for an effect from −1 to 1: `round(5 effect)`.
pub fn diverging_color_step_of_effect(effect: f64) -> i8 {
    diverging_color_step_of_fraction((effect + 1.0) / 2.0)
}

/// A linear scale from numbers to pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearScale {
    /// The two numbers at the ends.
    pub domain: [f64; 2],
    /// The positions of the ends.
    pub range: [f64; 2],
}

impl LinearScale {
    /// Returns the position of a number.
    pub fn pixel_position(&self, value: f64) -> f64 {
        let ([from, to], [left, right]) = (self.domain, self.range);
        if from == to {
            return left;
        }
        left + (value - from) / (to - from) * (right - left)
    }

    /// Returns about `n` round numbers in the domain, and the number of decimals that they need.
    /// Steps are 1, 2 or 5 times a power of ten, whichever is nearest on a logarithmic scale.
    pub fn ticks_and_decimals(&self, n: usize) -> (Vec<f64>, u8) {
        let [from, to] = self.domain;
        let raw = (to - from) / n as f64;
        if !raw.is_finite() || raw <= 0.0 {
            return (Vec::new(), 0);
        }
        let exponent = libm::floor(libm::log10(raw));
        let unit = libm::pow(10.0, exponent);
        // The logarithmic midpoint of two of 1, 2, 5 and 10, squared, is their product.
        let (step, exponent) = match (raw / unit) * (raw / unit) {
            ..2.0 => (unit, exponent),
            ..10.0 => (2.0 * unit, exponent),
            ..50.0 => (5.0 * unit, exponent),
            _ => (10.0 * unit, exponent + 1.0),
        };
        let (first, last) = (
            libm::ceil(from / step) as i64,
            libm::floor(to / step) as i64,
        );
        let ticks = (first..=last).map(|it| it as f64 * step).collect();
        (ticks, (-exponent).clamp(0.0, 9.0) as u8)
    }
}
