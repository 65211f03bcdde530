//! Forward and backward pass of an encoder on the CPU in f32, without padding.
//!
//! It computes what `graph` computes with candle's operations, in a fraction of the time: texts are
//! concatenated, so that nothing is computed for padding; bias, GELU, dropout, residual and
//! normalization are one pass over memory each; products and rows are divided among all threads.
//! They are divided at fixed places and sums are added in a fixed order, so that the bits do not
//! depend on the number of threads.
//!
//! The forward pass keeps queries, keys and values, the inputs of products and what a normalization
//! needs. Attention weights and GELU are computed again in the backward pass.
//!
//! Shapes: `n` tokens of all texts, `l` tokens of one text, `e` units of an embedding, `h` hidden
//! units, `a` heads of `d` units, `m` units of the intermediate layer.

use pulp::Arch;
use rayon::prelude::*;

use super::parameters::{EncoderParameters, LayerParameters};
use crate::bert_cpu::{
    MatrixRowsMut, StridedMatrixView, gelu, gelu_slope, multiply_matrices, reduce_in_lanes,
    softmax_rows,
};
use crate::config::EncoderConfig;
use crate::dropout::Dropout;
use crate::interaction::ForwardMode;
use crate::tokenization::EncoderInput;

/// The number of rows that one thread works on at a time.
const ROWS: usize = 128;

/// An encoder with its numbers, and the texts of a batch.
pub(super) struct EncoderPass<'a> {
    pub(super) config: &'a EncoderConfig,
    pub(super) parameters: &'a EncoderParameters<&'a [f32]>,
    pub(super) texts: &'a [EncoderInput<'a>],
    pub(super) mode: ForwardMode,
    /// The probability that an element is dropped, from 0 to below 1.
    pub(super) dropout: f32,
}

/// What the backward pass needs of a forward pass.
pub(super) struct EncoderTape {
    embedding: NormTape,
    layers: Vec<LayerTape>,
    /// The last hidden states, `[n, h]`.
    pub(super) hidden: Vec<f32>,
}

struct LayerTape {
    /// The input of the layer, `[n, h]`.
    input: Vec<f32>,
    /// Weights of queries, keys and values, `[3h, h]`.
    qkv_weight: Vec<f32>,
    /// `[n, 3h]`.
    qkv: Vec<f32>,
    /// What attention gathers, `[n, h]`.
    gathered: Vec<f32>,
    out_norm: NormTape,
    /// The input of the intermediate layer, `[n, h]`.
    middle: Vec<f32>,
    /// The intermediate layer before GELU, `[n, m]`.
    up: Vec<f32>,
    down_norm: NormTape,
}

/// The rows of a normalization with mean 0 and variance 1, and the factor of each.
struct NormTape {
    normalized: Vec<f32>,
    factors: Vec<f32>,
}

/// The places of dropout in an encoder; each has its own stream of random numbers.
#[derive(Clone, Copy)]
enum DropoutPlace {
    Embeddings,
    Attention,
    Out,
    Down,
}

impl EncoderPass<'_> {
    /// Computes the last hidden states, and keeps what the backward pass needs.
    pub(super) fn forward(&self) -> EncoderTape {
        let (e, h) = (self.config.embedding_size, self.config.hidden_size);
        let parameters = self.parameters;
        let mut embedded = self.sum_embeddings(); // [n, e]
        let embedding = self.normalize(&mut embedded, &parameters.norm);
        self.drop(DropoutPlace::Embeddings, 0, &mut embedded, e);
        let mut hidden = match &parameters.projection {
            Some(projection) => linear(&embedded, projection, e),
            None => embedded,
        };
        let mut layers = Vec::with_capacity(parameters.layers.len());
        for (number, layer) in parameters.layers.iter().enumerate() {
            let parts = [&layer.query, &layer.key, &layer.value];
            let qkv_weight = parts.map(|it| it[0]).concat();
            let qkv_bias = parts.map(|it| it[1]).concat();
            let qkv = linear(&hidden, &[&qkv_weight, &qkv_bias], h); // [n, 3h]
            let gathered = self.attend(&qkv, number); // [n, h]
            let mut middle = linear(&gathered, &layer.out, h);
            self.drop(DropoutPlace::Out, number, &mut middle, h);
            add(&mut middle, &hidden);
            let out_norm = self.normalize(&mut middle, &layer.out_norm);
            let up = linear(&middle, &layer.up, h); // [n, m]
            let mut states = linear(&gelu_of(&up), &layer.down, self.config.intermediate_size);
            self.drop(DropoutPlace::Down, number, &mut states, h);
            add(&mut states, &middle);
            let down_norm = self.normalize(&mut states, &layer.down_norm);
            layers.push(LayerTape {
                input: std::mem::replace(&mut hidden, states),
                qkv_weight,
                qkv,
                gathered,
                out_norm,
                middle,
                up,
                down_norm,
            });
        }
        EncoderTape {
            embedding,
            layers,
            hidden,
        }
    }

    /// Computes the gradient of each parameter from that of the last hidden states, `[n, h]`.
    pub(super) fn backward(
        &self,
        tape: EncoderTape,
        hidden_gradient: Vec<f32>,
    ) -> EncoderParameters<Vec<f32>> {
        let e = self.config.embedding_size;
        let mut gradient = hidden_gradient;
        let mut layers = Vec::with_capacity(tape.layers.len());
        let with_numbers = self.parameters.layers.iter().zip(tape.layers).enumerate();
        for (number, (layer, tape)) in with_numbers.rev() {
            let (of_input, of_layer) = self.layer_backward(number, layer, tape, gradient);
            gradient = of_input;
            layers.push(of_layer);
        }
        layers.reverse();
        let projection = self.parameters.projection.as_ref().map(|projection| {
            let embedded = self.embedded_again(&tape.embedding);
            let of_projection = weight_and_bias_gradients(&gradient, &embedded, e);
            gradient = input_gradient(&gradient, projection[0], e);
            of_projection
        });
        self.drop(DropoutPlace::Embeddings, 0, &mut gradient, e);
        let norm = self.normalize_backward(&mut gradient, &tape.embedding, &self.parameters.norm);
        let [words, positions, segments] = self.embedding_gradients(&gradient);
        EncoderParameters {
            words,
            positions,
            segments: self.parameters.segments.is_some().then_some(segments),
            norm,
            projection,
            layers,
        }
    }

    /// Computes the gradients of a layer's input and parameters from that of its output.
    fn layer_backward(
        &self,
        number: usize,
        layer: &LayerParameters<&[f32]>,
        tape: LayerTape,
        mut gradient: Vec<f32>,
    ) -> (Vec<f32>, LayerParameters<Vec<f32>>) {
        let (h, m) = (self.config.hidden_size, self.config.intermediate_size);
        let down_norm = self.normalize_backward(&mut gradient, &tape.down_norm, &layer.down_norm);
        let mut of_down = gradient.clone();
        self.drop(DropoutPlace::Down, number, &mut of_down, h);
        let down = weight_and_bias_gradients(&of_down, &gelu_of(&tape.up), m);
        let mut of_up = input_gradient(&of_down, layer.down[0], m);
        multiply_by_gelu_slope(&mut of_up, &tape.up);
        let up = weight_and_bias_gradients(&of_up, &tape.middle, h);
        add(&mut gradient, &input_gradient(&of_up, layer.up[0], h));

        let out_norm = self.normalize_backward(&mut gradient, &tape.out_norm, &layer.out_norm);
        let mut of_out = gradient.clone();
        self.drop(DropoutPlace::Out, number, &mut of_out, h);
        let out = weight_and_bias_gradients(&of_out, &tape.gathered, h);
        let of_gathered = input_gradient(&of_out, layer.out[0], h);
        let of_qkv = self.attend_backward(&tape.qkv, &of_gathered, number); // [n, 3h]
        let [weight, bias] = weight_and_bias_gradients(&of_qkv, &tape.input, h);
        add(&mut gradient, &input_gradient(&of_qkv, &tape.qkv_weight, h));
        let part = |at: usize| {
            let weight = weight[at * h * h..(at + 1) * h * h].to_vec();
            [weight, bias[at * h..(at + 1) * h].to_vec()]
        };
        let gradients = LayerParameters {
            query: part(0),
            key: part(1),
            value: part(2),
            out,
            out_norm,
            up,
            down,
            down_norm,
        };
        (gradient, gradients)
    }

    /// Returns the row of each embedding for each token: word, position and segment.
    fn embedding_rows(&self) -> impl Iterator<Item = [usize; 3]> {
        let last = self.config.type_vocab_size.saturating_sub(1);
        self.texts.iter().flat_map(move |text| {
            let ids = text.ids.iter().enumerate();
            ids.map(move |(at, &id)| {
                let segment = text.segment_of_token(at).min(last);
                [id as usize, self.config.first_position + at, segment]
            })
        })
    }

    /// Returns the sums of the embeddings of word, position and segment, `[n, e]`.
    fn sum_embeddings(&self) -> Vec<f32> {
        let e = self.config.embedding_size;
        let parameters = self.parameters;
        let none = vec![0.0; e];
        let segments = parameters.segments.unwrap_or(&none);
        let mut sums =
            Vec::with_capacity(e * self.texts.iter().map(|it| it.ids.len()).sum::<usize>());
        for [word, position, segment] in self.embedding_rows() {
            let word = &parameters.words[word * e..][..e];
            let position = &parameters.positions[position * e..][..e];
            let segment = &segments[segment * e..][..e];
            let parts = word.iter().zip(position).zip(segment);
            sums.extend(parts.map(|((word, position), segment)| word + (position + segment)));
        }
        sums
    }

    /// Adds the gradient of each token to the embeddings of its word, position and segment.
    fn embedding_gradients(&self, gradient: &[f32]) -> [Vec<f32>; 3] {
        let e = self.config.embedding_size;
        let n_rows = [
            self.config.vocab_size,
            self.config.max_positions,
            self.config.type_vocab_size.max(1),
        ];
        let mut sums = n_rows.map(|it| vec![0.0; it * e]);
        for (rows, gradient) in self.embedding_rows().zip(gradient.chunks_exact(e)) {
            for (sums, row) in sums.iter_mut().zip(rows) {
                let sums = &mut sums[row * e..][..e];
                sums.iter_mut()
                    .zip(gradient)
                    .for_each(|(sum, it)| *sum += it);
            }
        }
        sums
    }

    /// Computes the embeddings after normalization and dropout again.
    fn embedded_again(&self, tape: &NormTape) -> Vec<f32> {
        let e = self.config.embedding_size;
        let [scale, shift] = self.parameters.norm;
        let mut embedded = tape.normalized.clone();
        for row in embedded.chunks_exact_mut(e) {
            for ((x, scale), shift) in row.iter_mut().zip(scale).zip(shift) {
                *x = *x * scale + shift;
            }
        }
        self.drop(DropoutPlace::Embeddings, 0, &mut embedded, e);
        embedded
    }

    /// Normalizes each row, and returns what the backward pass needs.
    fn normalize(&self, rows: &mut [f32], [scale, shift]: &[&[f32]; 2]) -> NormTape {
        let width = scale.len();
        let eps = self.config.layer_norm_eps as f32;
        let mut normalized = vec![0.0; rows.len()];
        let mut factors = vec![0.0; rows.len() / width];
        let arch = Arch::new();
        rows.par_chunks_mut(ROWS * width)
            .zip(normalized.par_chunks_mut(ROWS * width))
            .zip(factors.par_chunks_mut(ROWS))
            .for_each(|((rows, normalized), factors)| {
                arch.dispatch(|| {
                    let rows = rows.chunks_exact_mut(width);
                    let rows = rows.zip(normalized.chunks_exact_mut(width)).zip(factors);
                    for ((row, normalized), factor) in rows {
                        let mean = reduce_in_lanes(row, 0.0, |x| x, |a, b| a + b) / width as f32;
                        let square = |x: f32| (x - mean) * (x - mean);
                        let sum = reduce_in_lanes(row, 0.0, square, |a, b| a + b);
                        *factor = 1.0 / (sum / width as f32 + eps).sqrt();
                        let outputs = row.iter_mut().zip(normalized);
                        for (((x, y), scale), shift) in outputs.zip(*scale).zip(*shift) {
                            *y = (*x - mean) * *factor;
                            *x = *y * scale + shift;
                        }
                    }
                });
            });
        NormTape {
            normalized,
            factors,
        }
    }

    /// Replaces the gradient of a normalization's output by that of its input; returns the
    /// gradients of scale and shift.
    fn normalize_backward(
        &self,
        gradient: &mut [f32],
        tape: &NormTape,
        [scale, _]: &[&[f32]; 2],
    ) -> [Vec<f32>; 2] {
        let width = scale.len();
        let arch = Arch::new();
        let of_chunk = |((gradient, normalized), factors): ((&mut [f32], &[f32]), &[f32])| {
            let (mut of_scale, mut of_shift) = (vec![0.0; width], vec![0.0; width]);
            let mut scaled = vec![0.0; width];
            let mut weighted = vec![0.0; width];
            arch.dispatch(|| {
                let rows = gradient.chunks_exact_mut(width);
                let rows = rows.zip(normalized.chunks_exact(width)).zip(factors);
                for ((gradient, normalized), factor) in rows {
                    for at in 0..width {
                        of_shift[at] += gradient[at];
                        of_scale[at] += gradient[at] * normalized[at];
                        scaled[at] = gradient[at] * scale[at];
                        weighted[at] = scaled[at] * normalized[at];
                    }
                    let mean = |numbers: &[f32]| {
                        reduce_in_lanes(numbers, 0.0, |x| x, |a, b| a + b) / width as f32
                    };
                    let (mean, mean_weighted) = (mean(&scaled), mean(&weighted));
                    for at in 0..width {
                        gradient[at] =
                            (scaled[at] - mean - normalized[at] * mean_weighted) * factor;
                    }
                }
            });
            [of_scale, of_shift]
        };
        let chunks = gradient
            .par_chunks_mut(ROWS * width)
            .zip(tape.normalized.par_chunks(ROWS * width))
            .zip(tape.factors.par_chunks(ROWS));
        let parts: Vec<[Vec<f32>; 2]> = chunks.map(of_chunk).collect();
        let mut sums = [vec![0.0; width], vec![0.0; width]];
        for part in parts {
            for (sum, part) in sums.iter_mut().zip(part) {
                sum.iter_mut().zip(part).for_each(|(sum, it)| *sum += it);
            }
        }
        sums
    }

    fn dropout(&self, place: DropoutPlace, layer: usize) -> Option<Dropout> {
        // The head has the streams before 8.
        let stream = 8 + 4 * layer as u64 + place as u64;
        Dropout::for_layer(self.mode, stream, self.dropout)
    }

    /// Drops elements of rows, or of their gradients.
    fn drop(&self, place: DropoutPlace, layer: usize, rows: &mut [f32], width: usize) {
        let Some(dropout) = self.dropout(place, layer) else {
            return;
        };
        let size = 2 * ROWS * width;
        let chunks = rows.par_chunks_mut(size).enumerate();
        chunks.for_each(|(chunk, rows)| dropout.multiply(chunk * size, rows));
    }

    /// Computes attention within each text: queries, keys and values `[n, 3h]` to `[n, h]`.
    fn attend(&self, qkv: &[f32], layer: usize) -> Vec<f32> {
        let h = self.config.hidden_size;
        let mut gathered = vec![0.0; qkv.len() / 3];
        self.for_each_text(&mut gathered, h, |text, gathered| {
            let heads = self.heads(text, qkv, layer);
            let mut weights = vec![0.0; heads.l * heads.seen];
            for head in 0..self.config.num_attention_heads {
                heads.weights(head, &mut weights);
                heads.drop(head, &mut weights);
                let weights = view(&weights, heads.l, heads.seen);
                let rows = MatrixRowsMut::new(&mut gathered[head * heads.d..], h);
                product(weights, heads.part(2, head, heads.seen), rows); // [l, d]
            }
        });
        gathered
    }

    /// Computes the gradient of queries, keys and values, `[n, 3h]`, from that of what attention
    /// gathers.
    fn attend_backward(&self, qkv: &[f32], gradient: &[f32], layer: usize) -> Vec<f32> {
        let h = self.config.hidden_size;
        let mut of_qkv = vec![0.0; qkv.len()];
        let arch = Arch::new();
        self.for_each_text(&mut of_qkv, 3 * h, |text, of_qkv| {
            let heads = self.heads(text, qkv, layer);
            let AttentionHeads { l, seen, d, .. } = heads;
            let gradient = &gradient[text.first * h..];
            let mut weights = vec![0.0; l * seen];
            let mut of_weights = vec![0.0; l * seen];
            for head in 0..self.config.num_attention_heads {
                let gradient = strided(&gradient[head * d..], l, d, h);
                heads.weights(head, &mut weights);
                let values = heads.part(2, head, seen).transposed();
                let rows = MatrixRowsMut::new(&mut of_weights, seen);
                product(gradient, values, rows); // [l, seen]
                heads.drop(head, &mut of_weights);
                let mut dropped = weights.clone();
                heads.drop(head, &mut dropped);
                let dropped = view(&dropped, l, seen).transposed();
                let rows = MatrixRowsMut::new(&mut of_qkv[2 * h + head * d..], 3 * h);
                product(dropped, gradient, rows); // [seen, d]
                arch.dispatch(|| {
                    let rows = weights.chunks_exact(seen);
                    for (row, of_row) in rows.zip(of_weights.chunks_exact_mut(seen)) {
                        let products = row.iter().zip(&*of_row);
                        let sum: f32 = products.map(|(weight, it)| weight * it).sum();
                        for (of_score, weight) in of_row.iter_mut().zip(row) {
                            *of_score = weight * (*of_score - sum) * heads.scale;
                        }
                    }
                });
                let of_scores = view(&of_weights, l, seen);
                let rows = MatrixRowsMut::new(&mut of_qkv[head * d..], 3 * h);
                product(of_scores, heads.part(1, head, seen), rows); // [l, d]
                let rows = MatrixRowsMut::new(&mut of_qkv[h + head * d..], 3 * h);
                product(of_scores.transposed(), heads.part(0, head, l), rows); // [seen, d]
            }
        });
        of_qkv
    }

    /// Calls `run` for each text with its rows of `numbers`.
    fn for_each_text(
        &self,
        numbers: &mut [f32],
        width: usize,
        run: impl Fn(TextPlace, &mut [f32]) + Sync,
    ) {
        let (mut rest, mut first, mut first_pair) = (numbers, 0, 0);
        let mut tasks = Vec::with_capacity(self.texts.len());
        for (number, text) in self.texts.iter().enumerate() {
            let (own, others) = rest.split_at_mut(text.ids.len() * width);
            let place = TextPlace {
                number,
                first,
                first_pair,
            };
            tasks.push((place, own));
            rest = others;
            first += text.ids.len();
            let n_pairs = (text.ids.len() * text.n_attended).next_multiple_of(2);
            first_pair += n_pairs * self.config.num_attention_heads;
        }
        let tasks = tasks.into_par_iter();
        tasks.for_each(|(place, numbers)| run(place, numbers));
    }

    fn heads<'a>(&self, place: TextPlace, qkv: &'a [f32], layer: usize) -> AttentionHeads<'a> {
        let h = self.config.hidden_size;
        let d = h / self.config.num_attention_heads;
        let text = &self.texts[place.number];
        AttentionHeads {
            qkv: &qkv[place.first * 3 * h..],
            l: text.ids.len(),
            seen: text.n_attended,
            h,
            d,
            scale: 1.0 / (d as f32).sqrt(),
            dropout: self.dropout(DropoutPlace::Attention, layer),
            first_pair: place.first_pair,
        }
    }
}

/// The place of a text in a batch.
#[derive(Clone, Copy)]
struct TextPlace {
    number: usize,
    /// The number of tokens before it.
    first: usize,
    /// The number of random numbers for attention before it.
    first_pair: usize,
}

/// The attention heads of a layer for one text.
struct AttentionHeads<'a> {
    /// `[l, 3h]`, followed by those of later texts.
    qkv: &'a [f32],
    l: usize,
    /// The number of tokens, from the first, that can be attended to.
    seen: usize,
    h: usize,
    d: usize,
    /// `1 / √d`.
    scale: f32,
    dropout: Option<Dropout>,
    first_pair: usize,
}

impl<'a> AttentionHeads<'a> {
    /// Returns a head's queries (0), keys (1) or values (2) of the first `n` tokens.
    fn part(&self, part: usize, head: usize, n: usize) -> StridedMatrixView<'a> {
        let first = part * self.h + head * self.d;
        strided(&self.qkv[first..], n, self.d, 3 * self.h)
    }

    /// Computes the attention weights of a head before dropout, `[l, seen]`.
    fn weights(&self, head: usize, weights: &mut [f32]) {
        let keys = self.part(1, head, self.seen).transposed();
        let rows = MatrixRowsMut::new(weights, self.seen);
        product(self.part(0, head, self.l), keys, rows);
        Arch::new().dispatch(|| {
            weights.iter_mut().for_each(|it| *it *= self.scale);
            softmax_rows(weights, self.seen);
        });
    }

    /// Drops weights of a head, or of their gradients.
    fn drop(&self, head: usize, weights: &mut [f32]) {
        if let Some(dropout) = self.dropout {
            let first = self.first_pair + head * weights.len().next_multiple_of(2);
            dropout.multiply(first, weights);
        }
    }
}

fn view(numbers: &[f32], rows: usize, columns: usize) -> StridedMatrixView<'_> {
    strided(numbers, rows, columns, columns)
}

fn strided(numbers: &[f32], rows: usize, columns: usize, stride: usize) -> StridedMatrixView<'_> {
    StridedMatrixView::with_row_stride(numbers, [rows, columns], stride)
}

/// Computes a product on the thread of the caller.
fn product(a: StridedMatrixView<'_>, b: StridedMatrixView<'_>, y: MatrixRowsMut<'_>) {
    multiply_matrices(a, b, y, gemm::Parallelism::None);
}

/// Computes the product of two matrices in parallel.
fn parallel_product(a: StridedMatrixView<'_>, b: StridedMatrixView<'_>) -> Vec<f32> {
    let width = b.n_columns();
    let mut y = vec![0.0; a.n_rows() * width];
    let chunks = y.par_chunks_mut(ROWS * width).enumerate();
    chunks.for_each(|(chunk, y)| {
        let a = a.rows_from(chunk * ROWS, y.len() / width);
        product(a, b, MatrixRowsMut::new(y, width));
    });
    y
}

/// Computes `x Wᵀ + b` of rows with `inputs` columns.
fn linear(x: &[f32], [weight, bias]: &[&[f32]; 2], inputs: usize) -> Vec<f32> {
    let outputs = bias.len();
    let weight = view(weight, outputs, inputs).transposed();
    let mut y = parallel_product(view(x, x.len() / inputs, inputs), weight);
    let arch = Arch::new();
    y.par_chunks_mut(ROWS * outputs).for_each(|rows| {
        arch.dispatch(|| {
            for row in rows.chunks_exact_mut(outputs) {
                row.iter_mut().zip(*bias).for_each(|(y, bias)| *y += bias);
            }
        });
    });
    y
}

/// Computes the gradient of a dense layer's input from that of its output.
fn input_gradient(gradient: &[f32], weight: &[f32], inputs: usize) -> Vec<f32> {
    let outputs = weight.len() / inputs;
    let rows = gradient.len() / outputs;
    parallel_product(view(gradient, rows, outputs), view(weight, outputs, inputs))
}

/// Computes the gradients of a dense layer's weight and bias.
fn weight_and_bias_gradients(gradient: &[f32], x: &[f32], inputs: usize) -> [Vec<f32>; 2] {
    let n = x.len() / inputs;
    let outputs = gradient.len() / n;
    let transposed = view(gradient, n, outputs).transposed();
    let of_weight = parallel_product(transposed, view(x, n, inputs));
    let parts: Vec<Vec<f32>> = gradient
        .par_chunks(ROWS * outputs)
        .map(|rows| {
            let mut sums = vec![0.0; outputs];
            for row in rows.chunks_exact(outputs) {
                sums.iter_mut().zip(row).for_each(|(sum, it)| *sum += it);
            }
            sums
        })
        .collect();
    let mut of_bias = vec![0.0; outputs];
    for part in parts {
        of_bias
            .iter_mut()
            .zip(part)
            .for_each(|(sum, it)| *sum += it);
    }
    [of_weight, of_bias]
}

fn add(sums: &mut [f32], numbers: &[f32]) {
    const SIZE: usize = ROWS * 128;
    let chunks = sums.par_chunks_mut(SIZE).zip(numbers.par_chunks(SIZE));
    chunks.for_each(|(sums, numbers)| {
        sums.iter_mut()
            .zip(numbers)
            .for_each(|(sum, it)| *sum += it);
    });
}

fn gelu_of(x: &[f32]) -> Vec<f32> {
    const SIZE: usize = ROWS * 128;
    let mut y = x.to_vec();
    let arch = Arch::new();
    let chunks = y.par_chunks_mut(SIZE);
    chunks.for_each(|y| arch.dispatch(|| y.iter_mut().for_each(|it| *it = gelu(*it))));
    y
}

fn multiply_by_gelu_slope(gradient: &mut [f32], x: &[f32]) {
    const SIZE: usize = ROWS * 128;
    let arch = Arch::new();
    let chunks = gradient.par_chunks_mut(SIZE).zip(x.par_chunks(SIZE));
    chunks.for_each(|(gradient, x)| {
        arch.dispatch(|| {
            let pairs = gradient.iter_mut().zip(x);
            pairs.for_each(|(gradient, &x)| *gradient *= gelu_slope(x));
        });
    });
}
