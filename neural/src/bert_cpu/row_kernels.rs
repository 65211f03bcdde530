//! Passes over rows of numbers: bias, GELU, softmax and normalization, in loops that the compiler
//! vectorizes.

use pulp::{Simd, WithSimd};

use crate::bert::LayerNorm;

/// A pass over rows in place, compiled once for each SIMD instruction set.
pub(super) enum BertSimdRowPass<'a> {
    /// `x = x + b`: rows and bias.
    Bias(&'a mut [f32], &'a [f32]),
    /// `x = gelu(x + b)`, `gelu(x) = x/2 (1 + erf(x/√2))`: rows and bias.
    Gelu(&'a mut [f32], &'a [f32]),
    /// `softmax` of each row: rows and their width.
    Softmax(&'a mut [f32], usize),
    /// `y = norm(y + x + b)`: rows of `y`, rows of `x`, bias.
    AddNorm(&'a mut [f32], &'a [f32], &'a [f32], &'a LayerNorm),
}

impl WithSimd for BertSimdRowPass<'_> {
    type Output = ();

    // Everything below is inlined into one function per instruction set; otherwise it would be
    // compiled for the least of them.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        match self {
            BertSimdRowPass::Bias(rows, bias) => add_bias(rows, bias),
            BertSimdRowPass::Gelu(rows, bias) => activate(rows, bias),
            BertSimdRowPass::Softmax(rows, width) => softmax_rows(rows, width),
            BertSimdRowPass::AddNorm(y, x, bias, norm) => add_norm(y, x, bias, norm),
        }
    }
}

#[inline(always)]
fn add_bias(rows: &mut [f32], bias: &[f32]) {
    for row in rows.chunks_exact_mut(bias.len()) {
        row.iter_mut().zip(bias).for_each(|(x, b)| *x += b);
    }
}

#[inline(always)]
fn activate(rows: &mut [f32], bias: &[f32]) {
    for row in rows.chunks_exact_mut(bias.len()) {
        for (x, b) in row.iter_mut().zip(bias) {
            *x = gelu(*x + b);
        }
    }
}

#[inline(always)]
pub(crate) fn softmax_rows(rows: &mut [f32], width: usize) {
    for row in rows.chunks_exact_mut(width) {
        let most = reduce_in_lanes(
            row,
            f32::NEG_INFINITY,
            |x| x,
            |a, b| if b > a { b } else { a },
        );
        row.iter_mut()
            .for_each(|x| *x = exp_of_nonpositive(*x - most));
        let sum = reduce_in_lanes(row, 0.0, |x| x, |a, b| a + b);
        row.iter_mut().for_each(|x| *x /= sum);
    }
}

#[inline(always)]
fn add_norm(y: &mut [f32], x: &[f32], bias: &[f32], norm: &LayerNorm) {
    let h = bias.len();
    for (row, x) in y.chunks_exact_mut(h).zip(x.chunks_exact(h)) {
        for ((y, x), b) in row.iter_mut().zip(x).zip(bias) {
            *y += x + b;
        }
        let mean = reduce_in_lanes(row, 0.0, |y| y, |a, b| a + b) / h as f32;
        let sum = reduce_in_lanes(row, 0.0, |y| (y - mean) * (y - mean), |a, b| a + b);
        let factor = 1.0 / (sum / h as f32 + norm.eps).sqrt();
        for ((y, scale), shift) in row.iter_mut().zip(&norm.scale).zip(&norm.shift) {
            *y = (*y - mean) * factor * scale + shift;
        }
    }
}

/// Reduces all numbers in sixteen lanes and then the lanes, always in the same order.
#[inline(always)]
pub(crate) fn reduce_in_lanes(
    numbers: &[f32],
    neutral: f32,
    each: impl Fn(f32) -> f32,
    combine: impl Fn(f32, f32) -> f32,
) -> f32 {
    let mut lanes = [neutral; 16];
    let (sixteens, rest) = numbers.as_chunks::<16>();
    for numbers in sixteens {
        for (lane, &number) in lanes.iter_mut().zip(numbers) {
            *lane = combine(*lane, each(number));
        }
    }
    for (lane, &number) in lanes.iter_mut().zip(rest) {
        *lane = combine(*lane, each(number));
    }
    lanes.into_iter().fold(neutral, combine)
}

/// Computes `eˣ` for `x <= 0`, with a relative error of 2e-7; below x = −87 it is constant. After
/// Cephes' `expf` (Moshier 1992), written so that it vectorizes.
#[inline(always)]
pub(crate) fn exp_of_nonpositive(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0; // 1.5 · 2²³: adding it rounds to an integer in the low bits
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let x = if x < -87.0 { -87.0 } else { x }; // what is not a number stays so
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = x - n * LN_2_HIGH - n * LN_2_LOW;
    let mut p = 1.987_569_1e-4;
    p = p * r + 1.398_199_9e-3;
    p = p * r + 8.333_452e-3;
    p = p * r + 4.166_579_6e-2;
    p = p * r + 1.666_666_5e-1;
    p = p * r + 5e-1;
    let two_to_n = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    (p * r * r + r + 1.0) * two_to_n
}

/// Computes the exact GELU activation, `x/2 (1 + erf(x/√2))`.
#[inline(always)]
pub(crate) fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// Computes the derivative of [`gelu`], `(1 + erf(x/√2))/2 + x φ(x)`, with the density φ of the
/// standard normal distribution.
#[inline(always)]
pub(crate) fn gelu_slope(x: f32) -> f32 {
    const ROOT: f32 = 0.398_942_3; // 1 / √(2π)
    let density = ROOT * exp_of_nonpositive(-0.5 * x * x);
    0.5 * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2)) + x * density
}

/// Computes the error function with an error of 5e-7: a quotient of polynomials in `x²`, as in
/// Eigen's and XLA's `erf` for f32. Beyond 3.74 it is 1 in f32.
#[inline(always)]
pub(super) fn erf(x: f32) -> f32 {
    const MOST: f32 = 3.743_921_2;
    let x = if x > MOST { MOST } else { x };
    let x = if x < -MOST { -MOST } else { x };
    let z = x * x;
    let mut p = 2.290_506_6e-4;
    p = p * z + 3.408_291e-3;
    p = p * z + 5.095_569_5e-2;
    p = p * z + 1.852_083_2e-1;
    p = p * z + std::f32::consts::FRAC_2_SQRT_PI;
    let mut q = -1.179_160_3e-7;
    q = q * z + 2.354_796_6e-5;
    q = q * z + 1.017_962_6e-3;
    q = q * z + 1.407_047e-2;
    q = q * z + 1.109_850_5e-1;
    q = q * z + 4.974_692_5e-1;
    q = q * z + 1.0;
    x * p / q
}
