//! The forward pass of BERT on the CPU, without padding and with few passes over memory.
//!
//! It computes the same function as [`crate::bert::Bert`]. It exists because candle's operations
//! other than products use one scalar thread, copy queries, keys and values separately, and
//! allocate a new buffer for every step. Here:
//!
//! - texts are concatenated, `[t, h]`, so nothing is computed for padding;
//! - they are split into shares of a few hundred tokens, and each share goes through all layers on
//!   one thread, in buffers that stay in the cache;
//! - queries, keys and values are one product, and attention reads them in place;
//! - bias, GELU, residual and normalization are one pass after the product before them, in loops
//!   that the compiler vectorizes for the CPU at hand (`pulp` selects the code at run time).
//!
//! Shapes: `t` tokens of all texts of a share, `l` tokens of one text, `h` hidden units, `d` units
//! of a head, `m` units of the intermediate layer.

// Products of strided views use pointers; nothing else here is unsafe.
#![allow(unsafe_code)]

use gemm::Parallelism;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::bert::{BertParameters, LayerNorm, LinearLayer};
use crate::tokenization::EncoderInput;

/// The number of tokens that one thread takes through all layers: large enough that packing weights
/// for a product pays off, small enough that the buffers stay in the cache.
const TOKENS_PER_SHARE: usize = 512;

/// Returns the last hidden state of every token of every text, concatenated: `[Σ tokens, h]`.
pub(crate) fn forward(model: &BertParameters, texts: &[EncoderInput<'_>]) -> Vec<f32> {
    let arch = Arch::new();
    run_in_shares(
        texts,
        model.config.hidden_size,
        |texts, parallelism, hidden| {
            ForwardPass {
                model,
                texts,
                arch,
                parallelism,
            }
            .run(hidden);
        },
    )
}

/// Returns the attention weights of every head of a layer for one text, `[a, l, l]`: the row is the
/// attending token, and each row sums to 1. `None` if there is no such layer.
pub(crate) fn attention(
    model: &BertParameters,
    text: EncoderInput<'_>,
    layer: usize,
) -> Option<Vec<f32>> {
    let h = model.config.hidden_size;
    let texts = [text];
    let pass = ForwardPass {
        model,
        texts: &texts,
        arch: Arch::new(),
        parallelism: Parallelism::None,
    };
    let (l, seen) = (text.ids.len(), text.n_attended);
    let mut found = None;
    let mut hidden = vec![0.0; l * h];
    pass.watched(&mut hidden, &mut |at, qkv| {
        if at != layer {
            return;
        }
        let rows = TextRows {
            qkv,
            n: l,
            n_attended: seen,
        };
        let heads = (0..model.config.num_attention_heads).flat_map(|head| {
            let mut scores = vec![0.0; l * seen];
            pass.weights(&rows, head, &mut scores);
            scores
        });
        found = Some(heads.collect());
    });
    found
}

/// Computes the states `[Σ tokens, h]` of all texts; `run` writes those of a share of them,
/// `[t, h]`.
pub(crate) fn run_in_shares(
    texts: &[EncoderInput<'_>],
    h: usize,
    run: impl Fn(&[EncoderInput<'_>], Parallelism, &mut [f32]) + Sync,
) -> Vec<f32> {
    let n_pieces: usize = texts.iter().map(|text| text.ids.len()).sum();
    let (shares, parallelism) = split_for_threads(texts);
    let mut hidden = vec![0.0; n_pieces * h];
    let mut rest = hidden.as_mut_slice();
    let mut tasks = Vec::with_capacity(shares.len());
    for share in shares {
        let n_pieces: usize = share.iter().map(|text| text.ids.len()).sum();
        let (own, others) = rest.split_at_mut(n_pieces * h);
        tasks.push((share, own));
        rest = others;
    }
    let each = tasks.into_par_iter();
    each.for_each(|(share, hidden)| run(share, parallelism, hidden));
    hidden
}

/// Computes `x W` of each row, without the bias, on one thread.
pub(crate) fn multiply_rows(x: &[f32], linear: &LinearLayer) -> Vec<f32> {
    let outputs = linear.bias.len();
    let inputs = linear.weight.len() / outputs;
    let t = x.len() / inputs;
    let mut y = vec![0.0; t * outputs];
    if t > 0 {
        let weight = MatrixView::new(&linear.weight, [inputs, outputs], outputs);
        let rows = MatrixRowsMut::new(&mut y, outputs);
        multiply(
            MatrixView::new(x, [t, inputs], inputs),
            weight,
            rows,
            Parallelism::None,
        );
    }
    y
}

/// Computes `norm(gelu(x W + b))` of each row, on one thread.
pub(crate) fn transform(x: &[f32], dense: &LinearLayer, norm: &LayerNorm) -> Vec<f32> {
    let h = dense.bias.len();
    let t = x.len() / h;
    let mut y = vec![0.0; t * h];
    let weight = MatrixView::new(&dense.weight, [h, h], h);
    let rows = MatrixRowsMut::new(&mut y, h);
    multiply(
        MatrixView::new(x, [t, h], h),
        weight,
        rows,
        Parallelism::None,
    );
    let arch = Arch::new();
    arch.dispatch(RowKernel::Gelu(&mut y, &dense.bias));
    let (nothing, no_bias) = (vec![0.0; t * h], vec![0.0; h]);
    arch.dispatch(RowKernel::AddNorm(&mut y, &nothing, &no_bias, norm));
    y
}

/// Returns for each of the `v` rows of `words` its greatest product with a row of `x`, both of
/// width `h`. It processes some words at a time, on one thread.
pub(crate) fn column_max(x: &[f32], words: &[f32], h: usize) -> Vec<f32> {
    const AT_ONCE: usize = 2_048;
    let t = x.len() / h;
    let mut most = Vec::with_capacity(words.len() / h);
    let mut logits = vec![0.0; t * AT_ONCE];
    for some in words.chunks(AT_ONCE * h) {
        let n = some.len() / h;
        let logits = &mut logits[..t * n];
        let columns = MatrixView::new(some, [n, h], h).transposed();
        let rows = MatrixRowsMut::new(logits, n);
        multiply(
            MatrixView::new(x, [t, h], h),
            columns,
            rows,
            Parallelism::None,
        );
        let first = most.len();
        most.extend_from_slice(&logits[..n]);
        for row in logits.chunks_exact(n).skip(1) {
            for (most, &it) in most[first..].iter_mut().zip(row) {
                if it > *most || it.is_nan() {
                    *most = it;
                }
            }
        }
    }
    most
}

/// Splits the texts into runs for the threads to process, and returns how many threads each product
/// may use.
pub(crate) fn split_for_threads<'a, 'b>(
    texts: &'a [EncoderInput<'b>],
) -> (Vec<&'a [EncoderInput<'b>]>, Parallelism) {
    let n_pieces: usize = texts.iter().map(|text| text.ids.len()).sum();
    let threads = rayon::current_num_threads();
    let n_shares = n_pieces
        .div_ceil(TOKENS_PER_SHARE)
        .next_multiple_of(threads);
    let shares = shares(texts, n_shares);
    let parallelism = match threads / shares.len().max(1) {
        0 | 1 => Parallelism::None,
        many => Parallelism::Rayon(many),
    };
    (shares, parallelism)
}

/// Splits the texts into at most `n` runs with about equally many tokens.
fn shares<'a, 'b>(texts: &'a [EncoderInput<'b>], n: usize) -> Vec<&'a [EncoderInput<'b>]> {
    let n_pieces: usize = texts.iter().map(|text| text.ids.len()).sum();
    let mut shares = Vec::with_capacity(n);
    let (mut first, mut seen) = (0, 0);
    for (index, text) in texts.iter().enumerate() {
        seen += text.ids.len();
        // The share is full when it reaches its part of all tokens.
        if seen * n >= n_pieces * (shares.len() + 1) {
            shares.push(&texts[first..=index]);
            first = index + 1;
        }
    }
    shares
}

/// The forward pass of one share through the layers of a model.
pub(crate) struct ForwardPass<'a, M> {
    pub(crate) model: &'a M,
    pub(crate) texts: &'a [EncoderInput<'a>],
    pub(crate) arch: Arch,
    pub(crate) parallelism: Parallelism,
}

impl ForwardPass<'_, BertParameters> {
    /// Computes the last hidden states `[t, h]`.
    fn run(&self, hidden: &mut [f32]) {
        self.watched(hidden, &mut |_, _| ());
    }

    /// Computes the last hidden states, and calls `watch` with the number of each layer and its
    /// queries, keys and values `[t, 3h]`.
    fn watched(&self, hidden: &mut [f32], watch: &mut dyn FnMut(usize, &[f32])) {
        let (h, m) = (
            self.model.config.hidden_size,
            self.model.config.intermediate_size,
        );
        let t = hidden.len() / h;
        let longest = self
            .texts
            .iter()
            .map(|text| text.ids.len())
            .max()
            .unwrap_or(0);
        let mut wide = vec![0.0; t * m.max(3 * h)];
        let mut narrow = vec![0.0; t * h];
        let mut scores = vec![0.0; longest * longest];

        self.embed(hidden, &mut wide); // [t, h]
        for (number, layer) in self.model.layers.iter().enumerate() {
            let qkv = &mut wide[..t * 3 * h];
            self.linear(hidden, &layer.qkv, qkv); // [t, 3h]
            self.arch.dispatch(RowKernel::Bias(qkv, &layer.qkv.bias));
            watch(number, qkv);
            self.attend(qkv, &mut scores, &mut narrow); // [t, h]
            let out = &mut wide[..t * h];
            self.linear(&narrow, &layer.out, out); // [t, h]
            let step = RowKernel::AddNorm(hidden, out, &layer.out.bias, &layer.out_norm);
            self.arch.dispatch(step); // [t, h]

            let wide = &mut wide[..t * m];
            self.linear(hidden, &layer.up, wide); // [t, m]
            self.arch.dispatch(RowKernel::Gelu(wide, &layer.up.bias));
            self.linear(wide, &layer.down, &mut narrow); // [t, h]
            let step = RowKernel::AddNorm(hidden, &narrow, &layer.down.bias, &layer.down_norm);
            self.arch.dispatch(step); // [t, h]
        }
    }

    /// Writes the normalized sums of token and position embeddings, projected to the width of the
    /// layers; `room` is overwritten.
    fn embed(&self, hidden: &mut [f32], room: &mut [f32]) {
        let (e, h) = (
            self.model.config.embedding_size,
            self.model.config.hidden_size,
        );
        let n_pieces = hidden.len() / h;
        let Some(project) = &self.model.embedding_projection else {
            return self.sum_and_norm(hidden, &mut room[..n_pieces * e]);
        };
        let mut narrow = vec![0.0; n_pieces * e];
        let positions = &mut vec![0.0; n_pieces * e];
        self.sum_and_norm(&mut narrow, positions); // [t, e]
        self.linear(&narrow, project, hidden); // [t, h]
        self.arch.dispatch(RowKernel::Bias(hidden, &project.bias));
    }

    /// Writes the normalized sums of token and position embeddings, `[t, e]`.
    fn sum_and_norm(&self, hidden: &mut [f32], positions: &mut [f32]) {
        let e = self.model.config.embedding_size;
        let rows = hidden
            .chunks_exact_mut(e)
            .zip(positions.chunks_exact_mut(e));
        let last = self.model.position_embeddings.len() - 1;
        let pieces = self.texts.iter().flat_map(|text| {
            let ids = text.ids.iter().enumerate();
            ids.map(move |(at, &id)| (id, at, text.segment(at).min(last)))
        });
        for ((id, at, segment), (word, position)) in pieces.zip(rows) {
            word.copy_from_slice(&self.model.token_embeddings[id as usize * e..][..e]);
            position.copy_from_slice(&self.model.position_embeddings[segment][at * e..][..e]);
        }
        let bias = vec![0.0; e];
        self.arch.dispatch(RowKernel::AddNorm(
            hidden,
            positions,
            &bias,
            &self.model.embedding_norm,
        ));
    }

    /// Computes `y = x W`, without the bias.
    fn linear(&self, x: &[f32], linear: &LinearLayer, y: &mut [f32]) {
        let outputs = linear.bias.len();
        let inputs = linear.weight.len() / outputs;
        let x = MatrixView::new(x, [x.len() / inputs, inputs], inputs);
        let weight = MatrixView::new(&linear.weight, [inputs, outputs], outputs);
        multiply(x, weight, MatrixRowsMut::new(y, outputs), self.parallelism);
    }

    /// Computes attention within each text: queries, keys and values `[t, 3h]` to `[t, h]`.
    fn attend(&self, qkv: &[f32], scores: &mut [f32], gathered: &mut [f32]) {
        let h = self.model.config.hidden_size;
        let d = h / self.model.config.num_attention_heads;
        let mut first = 0;
        for text in self.texts {
            let (l, seen) = (text.ids.len(), text.n_attended);
            let scores = &mut scores[..l * seen];
            let rows = TextRows {
                qkv: &qkv[first * 3 * h..],
                n: l,
                n_attended: seen,
            };
            for head in 0..h / d {
                self.weights(&rows, head, scores);
                let value = self.part(&rows, 2, head, seen); // [seen, d]
                let weights = MatrixView::new(scores, [l, seen], seen);
                let gathered = MatrixRowsMut::new(&mut gathered[first * h + head * d..], h);
                multiply(weights, value, gathered, self.parallelism); // [l, d]
            }
            first += l;
        }
    }

    /// Computes the attention weights of a head for one text, `[n, n_attended]`.
    fn weights(&self, text: &TextRows<'_>, head: usize, scores: &mut [f32]) {
        let query = self.part(text, 0, head, text.n); // [n, d]
        let key = self.part(text, 1, head, text.n_attended); // [n_attended, d]
        let matrix = MatrixRowsMut::new(scores, text.n_attended);
        multiply(query, key.transposed(), matrix, self.parallelism); // [n, n_attended]
        self.arch
            .dispatch(RowKernel::Softmax(scores, text.n_attended));
    }

    /// Returns a head's queries (0), keys (1) or values (2) of the first `n` rows of a text.
    fn part<'b>(&self, text: &TextRows<'b>, part: usize, head: usize, n: usize) -> MatrixView<'b> {
        let h = self.model.config.hidden_size;
        let d = h / self.model.config.num_attention_heads;
        MatrixView::new(&text.qkv[part * h + head * d..], [n, d], 3 * h)
    }
}

/// The queries, keys and values of one text in a batch.
struct TextRows<'a> {
    /// `[n, 3h]`, followed by those of later texts.
    qkv: &'a [f32],
    n: usize,
    /// The number of rows, from the first, that can be attended to.
    n_attended: usize,
}

/// A pass over rows in place, compiled once for each SIMD instruction set.
enum RowKernel<'a> {
    /// `x = x + b`: rows and bias.
    Bias(&'a mut [f32], &'a [f32]),
    /// `x = gelu(x + b)`, `gelu(x) = x/2 (1 + erf(x/√2))`: rows and bias.
    Gelu(&'a mut [f32], &'a [f32]),
    /// `softmax` of each row: rows and their width.
    Softmax(&'a mut [f32], usize),
    /// `y = norm(y + x + b)`: rows of `y`, rows of `x`, bias.
    AddNorm(&'a mut [f32], &'a [f32], &'a [f32], &'a LayerNorm),
}

impl WithSimd for RowKernel<'_> {
    type Output = ();

    // Everything below is inlined into one function per instruction set; otherwise it would be
    // compiled for the least of them.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        match self {
            RowKernel::Bias(rows, bias) => add_bias(rows, bias),
            RowKernel::Gelu(rows, bias) => activate(rows, bias),
            RowKernel::Softmax(rows, width) => softmax(rows, width),
            RowKernel::AddNorm(y, x, bias, norm) => add_norm(y, x, bias, norm),
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
pub(crate) fn softmax(rows: &mut [f32], width: usize) {
    for row in rows.chunks_exact_mut(width) {
        let most = fold(
            row,
            f32::NEG_INFINITY,
            |x| x,
            |a, b| if b > a { b } else { a },
        );
        row.iter_mut().for_each(|x| *x = exp(*x - most));
        let sum = fold(row, 0.0, |x| x, |a, b| a + b);
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
        let mean = fold(row, 0.0, |y| y, |a, b| a + b) / h as f32;
        let sum = fold(row, 0.0, |y| (y - mean) * (y - mean), |a, b| a + b);
        let factor = 1.0 / (sum / h as f32 + norm.eps).sqrt();
        for ((y, scale), shift) in row.iter_mut().zip(&norm.scale).zip(&norm.shift) {
            *y = (*y - mean) * factor * scale + shift;
        }
    }
}

/// A strided matrix in a buffer: element (r, c) is at `r row_stride + c column_stride`.
#[derive(Clone, Copy)]
pub(crate) struct MatrixView<'a> {
    numbers: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> MatrixView<'a> {
    /// Creates a matrix with rows that are `row_stride` apart.
    pub(crate) fn new(
        numbers: &'a [f32],
        [rows, columns]: [usize; 2],
        row_stride: usize,
    ) -> MatrixView<'a> {
        MatrixView {
            numbers,
            rows,
            columns,
            row_stride,
            column_stride: 1,
        }
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    pub(crate) fn transposed(self) -> MatrixView<'a> {
        MatrixView {
            numbers: self.numbers,
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
        }
    }

    fn is_inside(&self) -> bool {
        self.rows > 0
            && self.columns > 0
            && (self.rows - 1) * self.row_stride + (self.columns - 1) * self.column_stride
                < self.numbers.len()
    }
}

/// The destination of a product: rows that are `stride` apart.
pub(crate) struct MatrixRowsMut<'a> {
    numbers: &'a mut [f32],
    stride: usize,
}

impl<'a> MatrixRowsMut<'a> {
    pub(crate) fn new(numbers: &'a mut [f32], stride: usize) -> MatrixRowsMut<'a> {
        MatrixRowsMut { numbers, stride }
    }
}

/// Computes the matrix product `y = a b` and overwrites `y`, `[a.rows, b.columns]`; panics if the
/// shapes do not match.
pub(crate) fn multiply(
    a: MatrixView<'_>,
    b: MatrixView<'_>,
    y: MatrixRowsMut<'_>,
    parallelism: Parallelism,
) {
    assert!(a.is_inside() && b.is_inside() && a.columns == b.rows);
    assert!(b.columns <= y.stride);
    assert!((a.rows - 1) * y.stride + b.columns <= y.numbers.len());
    // SAFETY: the asserts above keep every element of the three matrices inside its slice, and `y`
    // is borrowed exclusively, so it overlaps neither `a` nor `b`; elements of `y` do not overlap
    // each other since a row is no longer than the stride. `y` is not read (`read_dst` false).
    // Every stride is below the length of a slice, so it fits an isize.
    unsafe {
        gemm::gemm(
            a.rows,
            b.columns,
            a.columns,
            y.numbers.as_mut_ptr(),
            1,
            y.stride as isize,
            false,
            a.numbers.as_ptr(),
            a.column_stride as isize,
            a.row_stride as isize,
            b.numbers.as_ptr(),
            b.column_stride as isize,
            b.row_stride as isize,
            0.0,
            1.0,
            false,
            false,
            false,
            parallelism,
        );
    }
}

/// Reduces all numbers in sixteen lanes and then the lanes, always in the same order.
#[inline(always)]
pub(crate) fn fold(
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
pub(crate) fn exp(x: f32) -> f32 {
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

/// Computes the error function with an error of 5e-7: a quotient of polynomials in `x²`, as in
/// Eigen's and XLA's `erf` for f32. Beyond 3.74 it is 1 in f32.
#[inline(always)]
fn erf(x: f32) -> f32 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::DType;

    use crate::bert::Bert;
    use crate::config::EncoderConfig;
    use crate::weights::ModelWeights;

    #[test]
    fn exp_and_erf_are_as_exact_as_f32_needs() {
        for step in -100_000..=0 {
            let x = step as f32 / 1_000.0;
            let exact = f64::from(x.max(-87.0)).exp();
            assert!(
                (f64::from(exp(x)) / exact - 1.0).abs() < 2e-7,
                "exp {x}: {}",
                exp(x)
            );
        }
        for step in -60_000..=60_000 {
            let x = step as f32 / 10_000.0;
            let exact = candle_core::cpu::erf::erf_f64(f64::from(x));
            assert!(
                (f64::from(erf(x)) - exact).abs() < 5e-7,
                "erf {x}: {}",
                erf(x)
            );
        }
        assert!(exp(f32::NEG_INFINITY) > 0.0 && exp(0.0) == 1.0 && erf(0.0) == 0.0);
    }

    /// GPUs use candle's own operations; here they run on the CPU.
    #[test]
    fn equals_the_plain_pass_in_candle() {
        macro_rules! files {
            ($name:literal) => {
                (
                    include_bytes!(concat!("../tests/fixtures/", $name, "/config.json")).as_slice(),
                    include_bytes!(concat!("../tests/fixtures/", $name, "/model.safetensors"))
                        .as_slice(),
                )
            };
        }
        for (config, weights) in [
            files!("tiny"),
            files!("roberta"),
            files!("electra"),
            files!("distilbert"),
        ] {
            let config = EncoderConfig::parse(config).unwrap();
            let weights = ModelWeights::open(weights, config.family.tensor_prefix()).unwrap();
            let model = BertParameters::load(&weights, config.clone()).unwrap();
            let ids: Vec<u32> = (0..64).map(|n| n * 37 % 101).collect();
            let texts = [(64, 20), (2, 2), (17, 0), (3, 2), (33, 33)];
            let texts = texts.map(|(n, second)| EncoderInput {
                ids: &ids[64 - n..],
                second_segment_start: second,
                // No token attends to the others.
                n_attended: n.div_ceil(2).max(second),
            });
            let fused = forward(&model, &texts);
            drop(model);
            // States are about 1. The bounds are a dozen times the last digit: 5e-4 of f16, 4e-3 of
            // bf16.
            for (dtype, bounds) in [
                (DType::F32, 0.0..2e-5),
                (DType::F16, 1e-4..1e-2),
                (DType::BF16, 1e-3..1e-1),
            ] {
                let model = BertParameters::load(&weights, config.clone()).unwrap();
                let plain = Bert::load(model, &candle_core::Device::Cpu, dtype).unwrap();
                let plain = plain.forward(&texts).unwrap();
                assert_eq!(fused.len(), plain.len());
                let apart = fused.iter().zip(&plain).map(|(a, b)| (a - b).abs());
                let worst = apart.fold(0.0, f32::max);
                println!("{dtype:?}: {worst:.1e}");
                assert!(bounds.contains(&worst), "{dtype:?}: {worst}");
            }
        }
    }

    #[test]
    fn shares_hold_every_text_once_and_are_about_equal() {
        let long = [0u32; 100];
        let texts = [2, 60, 7, 100, 50, 3, 40, 90].map(|n| EncoderInput {
            ids: &long[..n],
            second_segment_start: n,
            n_attended: n,
        });
        let lengths =
            |texts: &[EncoderInput<'_>]| texts.iter().map(|it| it.ids.len()).collect::<Vec<_>>();
        for n in 1..=10 {
            let shares = shares(&texts, n);
            assert!(shares.len() <= n);
            assert!(shares.iter().all(|share| !share.is_empty()));
            assert_eq!(lengths(&shares.concat()), lengths(&texts));
        }
        assert_eq!(
            shares(&texts, 2)
                .iter()
                .map(|s| s.len())
                .collect::<Vec<_>>(),
            [5, 3]
        );
        assert!(shares(&[], 2).is_empty());
    }
}
