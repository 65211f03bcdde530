//! What is done to rows of numbers between the large products, in loops that the compiler
//! vectorises for the machine at hand (`pulp` chooses at run time).

use pulp::{Simd, WithSimd};

use super::config::FeedForward;
use crate::fused::{exp, fold, softmax};

/// One pass over rows, compiled once for each vector unit.
pub(super) enum Step<'a> {
    /// `y = x / √(mean(x²) + eps) ∘ scale`: rows, scale, eps, and where they go.
    Norm(&'a [f32], &'a [f32], f32, &'a mut [f32]),
    /// `y = y + x`.
    Add(&'a mut [f32], &'a [f32]),
    /// Scores of `l` pieces with each other to weights that sum to one in each row; before that
    /// the distances of one head are added: scores `[l, l]`, and `[2n - 1]` with `n >= l`.
    Softmax(&'a mut [f32], &'a [f32]),
    /// Rows of so many units through the activation, in place; with a gate the first half of each
    /// row is what comes out.
    Activate(&'a mut [f32], usize, FeedForward),
    /// `y = x Wᵀ`.
    Multiply(Product<'a>),
    /// What each row gathers from what it looks up.
    Gather(&'a [f32], &'a [Seen<'a>], usize, &'a mut [f32]),
}

/// `y = x Wᵀ`, every number by itself in a fixed order of sums: a row's result does not depend on
/// the rows beside it, so a text is written alike alone and among others. (`gemm` cuts sums by the
/// shape of the whole.)
pub(super) struct Product<'a> {
    /// Rows that are `stride` apart.
    pub(super) x: &'a [f32],
    pub(super) stride: usize,
    /// `[outputs, inputs]`.
    pub(super) weight: &'a [f32],
    pub(super) inputs: usize,
    /// `[rows, outputs]`.
    pub(super) y: &'a mut [f32],
}

/// Keys and values that one row looks up.
pub(super) struct Seen<'a> {
    /// `[n, 2i]`: each the key, then the value.
    pub(super) pairs: &'a [f32],
    /// For each head, what is added at the distances from the last pair back: `[a, ≥ n]`; none
    /// where there are no distances.
    pub(super) distances: Option<&'a [f32]>,
}

impl WithSimd for Step<'_> {
    type Output = ();

    // Everything below is inlined into one function a vector unit, or it would be compiled for the
    // least of them.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        match self {
            Step::Norm(x, scale, eps, y) => norm(x, scale, eps, y),
            Step::Add(y, x) => y.iter_mut().zip(x).for_each(|(y, x)| *y += x),
            Step::Softmax(scores, distances) => softmax_all(scores, distances),
            Step::Activate(rows, width, how) => activate(rows, width, how),
            Step::Multiply(product) => multiply(product),
            Step::Gather(queries, seen, heads, gathered) => {
                gather(queries, seen, heads, gathered);
            }
        }
    }
}

#[inline(always)]
fn norm(x: &[f32], scale: &[f32], eps: f32, y: &mut [f32]) {
    let h = scale.len();
    for (x, y) in x.chunks_exact(h).zip(y.chunks_exact_mut(h)) {
        let mean = fold(x, 0.0, |x| x * x, |a, b| a + b) / h as f32;
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
        softmax(row, l);
    }
}

#[inline(always)]
fn activate(rows: &mut [f32], width: usize, how: FeedForward) {
    match how {
        FeedForward::Relu => rows.iter_mut().for_each(|x| {
            // What is not a number stays so.
            *x = if *x < 0.0 { 0.0 } else { *x };
        }),
        FeedForward::GatedGelu => {
            for row in rows.chunks_exact_mut(width) {
                let (active, gate) = row.split_at_mut(width / 2);
                for (x, gate) in active.iter_mut().zip(gate) {
                    *x = gelu(*x) * *gate;
                }
            }
        }
    }
}

/// `x/2 (1 + tanh(√(2/π) (x + 0.044715 x³)))` (Hendrycks and Gimpel 2016), which is
/// `x / (1 + e^-2y)` for `y` inside the tangent.
#[inline(always)]
fn gelu(x: f32) -> f32 {
    let y = 0.797_884_6 * (x + 0.044_715 * x * x * x);
    let e = exp(-2.0 * y.abs());
    let part = if y < 0.0 { e } else { 1.0 };
    x * (part / (1.0 + e))
}

#[inline(always)]
fn multiply(product: Product<'_>) {
    let Product {
        x,
        stride,
        weight,
        inputs,
        y,
    } = product;
    let outputs = weight.len() / inputs;
    let row = |at: usize| &x[at * stride..][..inputs];
    let fours = y.chunks_mut(4 * outputs);
    for (first, y) in (0..).step_by(4).zip(fours) {
        for (output, weight) in weight.chunks_exact(inputs).enumerate() {
            match y.len() / outputs {
                4 => {
                    let sums = dots([0, 1, 2, 3].map(|at| row(first + at)), weight);
                    for (at, sum) in sums.into_iter().enumerate() {
                        y[at * outputs + output] = sum;
                    }
                }
                few => {
                    for at in 0..few {
                        [y[at * outputs + output]] = dots([row(first + at)], weight);
                    }
                }
            }
        }
    }
}

/// The product of each row with `weight`, in sixteen lanes and then these.
#[inline(always)]
fn dots<const N: usize>(rows: [&[f32]; N], weight: &[f32]) -> [f32; N] {
    let mut lanes = [[0.0; 16]; N];
    let (sixteens, rest) = weight.as_chunks::<16>();
    for (at, weight) in sixteens.iter().enumerate() {
        for (lanes, row) in lanes.iter_mut().zip(rows) {
            let row = &row[16 * at..][..16];
            for ((lane, x), weight) in lanes.iter_mut().zip(row).zip(weight) {
                *lane += x * weight;
            }
        }
    }
    for (lanes, row) in lanes.iter_mut().zip(rows) {
        let row = &row[weight.len() - rest.len()..];
        for ((lane, x), weight) in lanes.iter_mut().zip(row).zip(rest) {
            *lane += x * weight;
        }
    }
    lanes.map(|lanes| lanes.into_iter().sum())
}

/// For each row and head: `Σ softmax(q · k + distance) v`.
#[inline(always)]
fn gather(queries: &[f32], seen: &[Seen<'_>], heads: usize, gathered: &mut [f32]) {
    let inner = queries.len() / seen.len();
    let d = inner / heads;
    let mut scores = Vec::new();
    let rows = queries
        .chunks_exact(inner)
        .zip(gathered.chunks_exact_mut(inner));
    for ((query, gathered), seen) in rows.zip(seen) {
        let pairs = seen.pairs.chunks_exact(2 * inner);
        for head in 0..heads {
            let own = head * d..(head + 1) * d;
            let query = &query[own.clone()];
            scores.clear();
            scores.extend(pairs.clone().map(|pair| {
                let [score] = dots([&pair[own.clone()]], query);
                score
            }));
            if let Some(distances) = seen.distances {
                let of_head = &distances[head * (distances.len() / heads)..];
                let back = scores.iter_mut().rev();
                back.zip(of_head).for_each(|(score, it)| *score += it);
            }
            let n = scores.len();
            softmax(&mut scores, n);
            let gathered = &mut gathered[own];
            gathered.fill(0.0);
            for (pair, weight) in pairs.clone().zip(&scores) {
                let value = &pair[inner + head * d..][..d];
                gathered
                    .iter_mut()
                    .zip(value)
                    .for_each(|(sum, x)| *sum += weight * x);
            }
        }
    }
}
