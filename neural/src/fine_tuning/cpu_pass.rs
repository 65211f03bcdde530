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

mod attention;
mod dense;

use pulp::Arch;
use rayon::prelude::*;

use self::dense::{
    add, gelu_of, input_gradient, linear, multiply_by_gelu_slope, weight_and_bias_gradients,
};
use super::parameters::{EncoderParameters, LayerParameters};
use crate::bert_cpu::reduce_in_lanes;
use crate::config::EncoderConfig;
use crate::dropout::{Dropout, ForwardMode};
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
}
