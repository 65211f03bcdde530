//! Operations on rows of numbers between the large products, in loops that the compiler vectorizes
//! for the CPU at hand (`pulp` selects the code at run time).

// Plain loops over numbers, since iterator adaptors are not always inlined into their caller and
// then do not use its SIMD instructions: a sixth of the speed.
#![allow(clippy::needless_range_loop)]

use pulp::{Simd, WithSimd};

use super::config::FeedForwardKind;
use crate::bert_cpu::{exp_of_nonpositive, reduce_in_lanes, softmax_rows};

/// A pass over rows, compiled once for each SIMD instruction set.
pub(super) enum T5SimdRowOperation<'a> {
    /// `y = x / √(mean(x²) + eps) ∘ scale`: rows, scale, eps, and the output.
    Norm(&'a [f32], &'a [f32], f32, &'a mut [f32]),
    /// `y = y + x`.
    Add(&'a mut [f32], &'a [f32]),
    /// `softmax` of each row, after adding the position biases of one head: scores `[l, l]` of the
    /// tokens of a text, and biases `[2n - 1]` with `n >= l`.
    Softmax(&'a mut [f32], &'a [f32]),
    /// The activation of rows of this many units, in place; with a gate the output is the first
    /// half of each row.
    Activate(&'a mut [f32], usize, FeedForwardKind),
    /// `y = x Wᵀ`.
    Multiply(RowIndependentProduct<'a>),
    /// The attention output of each row: queries, keys and values, number of heads, and the output.
    Gather(
        &'a [f32],
        &'a [AttentionKeysAndValues<'a>],
        usize,
        &'a mut [f32],
    ),
}

/// `y = x Wᵀ`, where every number is summed independently in a fixed order: the result of a row
/// does not depend on the other rows, so a generated text is the same alone and among others.
/// (`gemm` splits sums by the shape of the whole product.)
pub(super) struct RowIndependentProduct<'a> {
    /// The rows, `stride` apart.
    pub(super) x: &'a [f32],
    pub(super) stride: usize,
    /// `[outputs, inputs]`.
    pub(super) weight: &'a [f32],
    pub(super) inputs: usize,
    /// `[rows, outputs]`.
    pub(super) y: &'a mut [f32],
}

/// The keys and values that one row attends to.
pub(super) struct AttentionKeysAndValues<'a> {
    /// `[n, 2i]`: for each token the key, then the value.
    pub(super) keys_values: &'a [f32],
    /// For each head, the biases of the distances from the last token back: `[a, ≥ n]`; `None`
    /// without relative positions.
    pub(super) position_biases: Option<&'a [f32]>,
}

impl WithSimd for T5SimdRowOperation<'_> {
    type Output = ();

    // Everything below is inlined into one function per instruction set; otherwise it would be
    // compiled for the least of them.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match self {
            T5SimdRowOperation::Norm(x, scale, eps, y) => norm(x, scale, eps, y),
            T5SimdRowOperation::Add(y, x) => y.iter_mut().zip(x).for_each(|(y, x)| *y += x),
            T5SimdRowOperation::Softmax(scores, distances) => softmax_all(scores, distances),
            T5SimdRowOperation::Activate(rows, width, how) => activate(rows, width, how),
            T5SimdRowOperation::Multiply(product) => multiply(simd, product),
            T5SimdRowOperation::Gather(queries, seen, heads, gathered) => {
                gather(simd, queries, seen, heads, gathered);
            }
        }
    }
}

#[inline(always)]
fn norm(x: &[f32], scale: &[f32], eps: f32, y: &mut [f32]) {
    let h = scale.len();
    for (x, y) in x.chunks_exact(h).zip(y.chunks_exact_mut(h)) {
        let mean = reduce_in_lanes(x, 0.0, |x| x * x, |a, b| a + b) / h as f32;
        let factor = 1.0 / (mean + eps).sqrt();
        for ((y, x), scale) in y.iter_mut().zip(x).zip(scale) {
            *y = x * factor * scale;
        }
    }
}

#[inline(always)]
fn softmax_all(scores: &mut [f32], distances: &[f32]) {
    let last = distances.len() / 2; // where distance 0 is
    let l = scores.len().isqrt();
    for (at, row) in scores.chunks_exact_mut(l).enumerate() {
        let distances = &distances[last - at..][..l];
        row.iter_mut().zip(distances).for_each(|(x, it)| *x += it);
        softmax_rows(row, l);
    }
}

#[inline(always)]
fn activate(rows: &mut [f32], width: usize, how: FeedForwardKind) {
    match how {
        FeedForwardKind::Relu => rows.iter_mut().for_each(|x| {
            // NaN stays NaN.
            *x = if *x < 0.0 { 0.0 } else { *x };
        }),
        FeedForwardKind::GatedGelu => {
            for row in rows.chunks_exact_mut(width) {
                let (active, gate) = row.split_at_mut(width / 2);
                for (x, gate) in active.iter_mut().zip(gate) {
                    *x = gelu(*x) * *gate;
                }
            }
        }
    }
}

/// Computes `x/2 (1 + tanh(√(2/π) (x + 0.044715 x³)))` (Hendrycks and Gimpel 2016), which is
/// `x / (1 + e^-2y)` for the argument `y` of the tangent.
#[inline(always)]
fn gelu(x: f32) -> f32 {
    let y = 0.797_884_6 * (x + 0.044_715 * x * x * x);
    let e = exp_of_nonpositive(-2.0 * y.abs());
    let part = if y < 0.0 { e } else { 1.0 };
    x * (part / (1.0 + e))
}

#[inline(always)]
fn multiply<S: Simd>(simd: S, product: RowIndependentProduct<'_>) {
    let RowIndependentProduct {
        x,
        stride,
        weight,
        inputs,
        y,
    } = product;
    let outputs = weight.len() / inputs;
    let mut first = 0;
    // Weights are read once for four rows.
    for y in y.chunks_mut(4 * outputs) {
        let x = &x[first * stride..];
        match y.len() / outputs {
            4 => multiply_few::<S, 4>(simd, x, stride, weight, y),
            3 => multiply_few::<S, 3>(simd, x, stride, weight, y),
            2 => multiply_few::<S, 2>(simd, x, stride, weight, y),
            _ => multiply_few::<S, 1>(simd, x, stride, weight, y),
        }
        first += 4;
    }
}

/// Computes the product of `N` rows with `weight`, into the columns of `y`.
#[inline(always)]
fn multiply_few<S: Simd, const N: usize>(
    simd: S,
    x: &[f32],
    stride: usize,
    weight: &[f32],
    y: &mut [f32],
) {
    let outputs = y.len() / N;
    let inputs = weight.len() / outputs;
    let mut rows: [&[f32]; N] = [x; N];
    for at in 0..N {
        rows[at] = &x[at * stride..][..inputs];
    }
    for output in 0..outputs {
        let sums = dots(simd, rows, &weight[output * inputs..][..inputs]);
        for at in 0..N {
            y[at * outputs + output] = sums[at];
        }
    }
}

/// Computes the inner product of each row with `weight`: lane by lane, then over the lanes, then
/// the remaining numbers.
#[inline(always)]
fn dots<S: Simd, const N: usize>(simd: S, rows: [&[f32]; N], weight: &[f32]) -> [f32; N] {
    let (weights, last) = S::as_simd_f32s(weight);
    let n = weights.len();
    let mut lanes = [simd.splat_f32s(0.0); N];
    let mut heads: [&[S::f32s]; N] = [&[]; N];
    let mut tails: [&[f32]; N] = [&[]; N];
    for at in 0..N {
        let (head, tail) = S::as_simd_f32s(rows[at]);
        (heads[at], tails[at]) = (&head[..n], tail);
    }
    for step in 0..n {
        for at in 0..N {
            lanes[at] = simd.mul_add_f32s(heads[at][step], weights[step], lanes[at]);
        }
    }
    let mut sums = [0.0; N];
    for at in 0..N {
        sums[at] = simd.reduce_sum_f32s(lanes[at]);
        for step in 0..last.len() {
            sums[at] += tails[at][step] * last[step];
        }
    }
    sums
}

/// Computes for each row and head `Σ softmax(q · k + bias) v`.
#[inline(always)]
fn gather<S: Simd>(
    simd: S,
    queries: &[f32],
    seen: &[AttentionKeysAndValues<'_>],
    heads: usize,
    gathered: &mut [f32],
) {
    let inner = queries.len() / seen.len();
    let d = inner / heads;
    let mut scores = Vec::new();
    for (row, seen) in seen.iter().enumerate() {
        let n = seen.keys_values.len() / (2 * inner);
        for head in 0..heads {
            let own = row * inner + head * d;
            let query = &queries[own..][..d];
            scores.clear();
            scores.resize(n, 0.0);
            for (at, score) in scores.iter_mut().enumerate() {
                let key = &seen.keys_values[at * 2 * inner + head * d..][..d];
                [*score] = dots(simd, [key], query);
            }
            if let Some(distances) = seen.position_biases {
                let of_head = &distances[head * (distances.len() / heads)..];
                for (score, it) in scores.iter_mut().rev().zip(of_head) {
                    *score += it;
                }
            }
            softmax_rows(&mut scores, n);
            let gathered = &mut gathered[own..][..d];
            gathered.fill(0.0);
            for (at, weight) in scores.iter().enumerate() {
                let value = &seen.keys_values[at * 2 * inner + inner + head * d..][..d];
                for (sum, x) in gathered.iter_mut().zip(value) {
                    *sum += weight * x;
                }
            }
        }
    }
}
