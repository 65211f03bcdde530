//! The forward pass of BERT on the CPU, without padding and with few passes over memory.
//!
//! It computes the same function as [`crate::bert::CandleBert`]. It exists because candle's
//! operations other than products use one scalar thread, copy queries, keys and values separately,
//! and allocate a new buffer for every step. Here:
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

mod matrix;
mod row_kernels;

use gemm::Parallelism;
use pulp::Arch;
use rayon::prelude::*;

use crate::bert::{BertParameters, LayerNorm, LinearLayer};
use crate::tokenization::EncoderInput;

pub(crate) use matrix::{MatrixRowsMut, StridedMatrixView, multiply_matrices};
use row_kernels::BertSimdRowPass;
pub(crate) use row_kernels::{exp_of_nonpositive, gelu, gelu_slope, reduce_in_lanes, softmax_rows};

/// The number of tokens that one thread takes through all layers: large enough that packing weights
/// for a product pays off, small enough that the buffers stay in the cache.
const TOKENS_PER_SHARE: usize = 512;

/// Returns the last hidden state of every token of every text, concatenated: `[Σ tokens, h]`.
pub(crate) fn run_bert_on_cpu(model: &BertParameters, texts: &[EncoderInput<'_>]) -> Vec<f32> {
    let arch = Arch::new();
    forward_in_parallel_shares(
        texts,
        model.config.hidden_size,
        |texts, parallelism, hidden| {
            CpuForwardPass {
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
pub(crate) fn layer_attention_weights(
    model: &BertParameters,
    text: EncoderInput<'_>,
    layer: usize,
) -> Option<Vec<f32>> {
    let h = model.config.hidden_size;
    let texts = [text];
    let pass = CpuForwardPass {
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
pub(crate) fn forward_in_parallel_shares(
    texts: &[EncoderInput<'_>],
    h: usize,
    run: impl Fn(&[EncoderInput<'_>], Parallelism, &mut [f32]) + Sync,
) -> Vec<f32> {
    let n_tokens: usize = texts.iter().map(|text| text.ids.len()).sum();
    let (shares, parallelism) = split_texts_among_threads(texts);
    let mut hidden = vec![0.0; n_tokens * h];
    let mut rest = hidden.as_mut_slice();
    let mut tasks = Vec::with_capacity(shares.len());
    for share in shares {
        let n_tokens: usize = share.iter().map(|text| text.ids.len()).sum();
        let (own, others) = rest.split_at_mut(n_tokens * h);
        tasks.push((share, own));
        rest = others;
    }
    let each = tasks.into_par_iter();
    each.for_each(|(share, hidden)| run(share, parallelism, hidden));
    hidden
}

/// Computes `x W` of each row, without the bias, on one thread.
pub(crate) fn multiply_rows_by_weights(x: &[f32], linear: &LinearLayer) -> Vec<f32> {
    let outputs = linear.bias.len();
    let inputs = linear.weight.len() / outputs;
    let t = x.len() / inputs;
    let mut y = vec![0.0; t * outputs];
    if t > 0 {
        let weight = StridedMatrixView::with_row_stride(&linear.weight, [inputs, outputs], outputs);
        let rows = MatrixRowsMut::new(&mut y, outputs);
        multiply_matrices(
            StridedMatrixView::with_row_stride(x, [t, inputs], inputs),
            weight,
            rows,
            Parallelism::None,
        );
    }
    y
}

/// Computes `norm(gelu(x W + b))` of each row, on one thread.
pub(crate) fn apply_dense_gelu_norm(x: &[f32], dense: &LinearLayer, norm: &LayerNorm) -> Vec<f32> {
    let mut y = multiply_rows_by_weights(x, dense);
    let arch = Arch::new();
    arch.dispatch(BertSimdRowPass::Gelu(&mut y, &dense.bias));
    let (nothing, no_bias) = (vec![0.0; y.len()], vec![0.0; dense.bias.len()]);
    arch.dispatch(BertSimdRowPass::AddNorm(&mut y, &nothing, &no_bias, norm));
    y
}

/// Returns for each of the `v` rows of `words` its greatest product with a row of `x`, both of
/// width `h`. It processes some words at a time, on one thread.
pub(crate) fn max_product_per_vocabulary_row(x: &[f32], words: &[f32], h: usize) -> Vec<f32> {
    const AT_ONCE: usize = 2_048;
    let t = x.len() / h;
    let mut most = Vec::with_capacity(words.len() / h);
    let mut logits = vec![0.0; t * AT_ONCE];
    for some in words.chunks(AT_ONCE * h) {
        let n = some.len() / h;
        let logits = &mut logits[..t * n];
        let columns = StridedMatrixView::with_row_stride(some, [n, h], h).transposed();
        let rows = MatrixRowsMut::new(logits, n);
        multiply_matrices(
            StridedMatrixView::with_row_stride(x, [t, h], h),
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
pub(crate) fn split_texts_among_threads<'a, 'b>(
    texts: &'a [EncoderInput<'b>],
) -> (Vec<&'a [EncoderInput<'b>]>, Parallelism) {
    let n_tokens: usize = texts.iter().map(|text| text.ids.len()).sum();
    let threads = rayon::current_num_threads();
    let n_shares = n_tokens
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
    let n_tokens: usize = texts.iter().map(|text| text.ids.len()).sum();
    let mut shares = Vec::with_capacity(n);
    let (mut first, mut seen) = (0, 0);
    for (index, text) in texts.iter().enumerate() {
        seen += text.ids.len();
        // The share is full when it reaches its part of all tokens.
        if seen * n >= n_tokens * (shares.len() + 1) {
            shares.push(&texts[first..=index]);
            first = index + 1;
        }
    }
    shares
}

/// The forward pass of one share through the layers of a model.
pub(crate) struct CpuForwardPass<'a, M> {
    pub(crate) model: &'a M,
    pub(crate) texts: &'a [EncoderInput<'a>],
    pub(crate) arch: Arch,
    pub(crate) parallelism: Parallelism,
}

impl CpuForwardPass<'_, BertParameters> {
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
            self.arch
                .dispatch(BertSimdRowPass::Bias(qkv, &layer.qkv.bias));
            watch(number, qkv);
            self.attend(qkv, &mut scores, &mut narrow); // [t, h]
            let out = &mut wide[..t * h];
            self.linear(&narrow, &layer.out, out); // [t, h]
            let step = BertSimdRowPass::AddNorm(hidden, out, &layer.out.bias, &layer.out_norm);
            self.arch.dispatch(step); // [t, h]

            let wide = &mut wide[..t * m];
            self.linear(hidden, &layer.up, wide); // [t, m]
            self.arch
                .dispatch(BertSimdRowPass::Gelu(wide, &layer.up.bias));
            self.linear(wide, &layer.down, &mut narrow); // [t, h]
            let step =
                BertSimdRowPass::AddNorm(hidden, &narrow, &layer.down.bias, &layer.down_norm);
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
        let n_tokens = hidden.len() / h;
        let Some(project) = &self.model.embedding_projection else {
            return self.sum_and_norm(hidden, &mut room[..n_tokens * e]);
        };
        let mut narrow = vec![0.0; n_tokens * e];
        let positions = &mut vec![0.0; n_tokens * e];
        self.sum_and_norm(&mut narrow, positions); // [t, e]
        self.linear(&narrow, project, hidden); // [t, h]
        self.arch
            .dispatch(BertSimdRowPass::Bias(hidden, &project.bias));
    }

    /// Writes the normalized sums of token and position embeddings, `[t, e]`.
    fn sum_and_norm(&self, hidden: &mut [f32], positions: &mut [f32]) {
        let e = self.model.config.embedding_size;
        let rows = hidden
            .chunks_exact_mut(e)
            .zip(positions.chunks_exact_mut(e));
        let last = self.model.position_embeddings.len() - 1;
        let tokens = self.texts.iter().flat_map(|text| {
            let ids = text.ids.iter().enumerate();
            ids.map(move |(at, &id)| (id, at, text.segment_of_token(at).min(last)))
        });
        for ((id, at, segment), (word, position)) in tokens.zip(rows) {
            word.copy_from_slice(&self.model.token_embeddings[id as usize * e..][..e]);
            position.copy_from_slice(&self.model.position_embeddings[segment][at * e..][..e]);
        }
        let bias = vec![0.0; e];
        self.arch.dispatch(BertSimdRowPass::AddNorm(
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
        let x = StridedMatrixView::with_row_stride(x, [x.len() / inputs, inputs], inputs);
        let weight = StridedMatrixView::with_row_stride(&linear.weight, [inputs, outputs], outputs);
        multiply_matrices(x, weight, MatrixRowsMut::new(y, outputs), self.parallelism);
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
                let weights = StridedMatrixView::with_row_stride(scores, [l, seen], seen);
                let gathered = MatrixRowsMut::new(&mut gathered[first * h + head * d..], h);
                multiply_matrices(weights, value, gathered, self.parallelism); // [l, d]
            }
            first += l;
        }
    }

    /// Computes the attention weights of a head for one text, `[n, n_attended]`.
    fn weights(&self, text: &TextRows<'_>, head: usize, scores: &mut [f32]) {
        let query = self.part(text, 0, head, text.n); // [n, d]
        let key = self.part(text, 1, head, text.n_attended); // [n_attended, d]
        let matrix = MatrixRowsMut::new(scores, text.n_attended);
        multiply_matrices(query, key.transposed(), matrix, self.parallelism); // [n, n_attended]
        self.arch
            .dispatch(BertSimdRowPass::Softmax(scores, text.n_attended));
    }

    /// Returns a head's queries (0), keys (1) or values (2) of the first `n` rows of a text.
    fn part<'b>(
        &self,
        text: &TextRows<'b>,
        part: usize,
        head: usize,
        n: usize,
    ) -> StridedMatrixView<'b> {
        let h = self.model.config.hidden_size;
        let d = h / self.model.config.num_attention_heads;
        StridedMatrixView::with_row_stride(&text.qkv[part * h + head * d..], [n, d], 3 * h)
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

#[cfg(test)]
mod tests;
