//! The encoder: states of every token of some texts, concatenated without padding.

use gemm::Parallelism;
use pulp::Arch;

use super::kernels::T5SimdRowOperation;
use super::parameters::{T5EncoderLayer, T5Weights};
use super::relative_position;
use crate::bert_cpu::{MatrixRowsMut, StridedMatrixView, multiply_matrices};
use crate::tokenization::EncoderInput;

/// Returns the normalized last states, `[t, h]`.
pub(super) fn run_t5_encoder(
    model: &T5Weights,
    texts: &[EncoderInput<'_>],
    parallelism: Parallelism,
) -> Vec<f32> {
    let lengths = texts.iter().map(|it| it.ids.len());
    let longest = lengths.clone().max().unwrap_or(0);
    let t: usize = lengths.sum();
    let h = model.config.d_model;
    let (i, m) = (model.config.all_heads_width(), model.config.d_ff);
    let heads = model.config.num_heads;
    let table = &model.encoder_position_biases;
    let pass = Pass {
        model,
        texts,
        arch: Arch::new(),
        parallelism,
        distances: relative_position::encoder_position_biases(
            table,
            heads,
            model.config.buckets,
            longest.max(1),
        ),
    };
    let mut hidden = Vec::with_capacity(t * h);
    for &id in texts.iter().flat_map(|it| it.ids) {
        hidden.extend_from_slice(&model.token_embeddings[id as usize * h..][..h]);
    }
    let mut room = Room {
        wide: vec![0.0; t * (3 * i).max(2 * m)],
        gathered: vec![0.0; t * i],
        narrow: vec![0.0; t * h],
        scores: vec![0.0; longest * longest],
    };
    for layer in &model.encoder {
        pass.layer(layer, &mut hidden, &mut room);
    }
    pass.norm(&hidden, &model.encoder_norm, &mut room.narrow);
    room.narrow
}

/// The forward pass of some texts through the layers.
struct Pass<'a> {
    model: &'a T5Weights,
    texts: &'a [EncoderInput<'a>],
    arch: Arch,
    parallelism: Parallelism,
    /// The bias of each distance, `[a, 2n - 1]`.
    distances: Vec<f32>,
}

/// Buffers that are overwritten in each layer.
struct Room {
    wide: Vec<f32>,
    /// `[t, i]`.
    gathered: Vec<f32>,
    /// `[t, h]`.
    narrow: Vec<f32>,
    scores: Vec<f32>,
}

impl Pass<'_> {
    fn layer(&self, layer: &T5EncoderLayer, hidden: &mut [f32], room: &mut Room) {
        let config = &self.model.config;
        let (h, i, m) = (config.d_model, config.all_heads_width(), config.d_ff);
        let t = hidden.len() / h;
        let Room {
            wide,
            gathered,
            narrow,
            scores,
        } = room;

        self.norm(hidden, &layer.attention.norm, narrow); // [t, h]
        let qkv = &mut wide[..t * 3 * i];
        let states = StridedMatrixView::with_row_stride(narrow, [t, h], h);
        self.linear(states, &layer.attention.qkv, qkv); // [t, 3i]
        self.attend(qkv, scores, gathered); // [t, i]
        let gathered = StridedMatrixView::with_row_stride(gathered, [t, i], i);
        self.linear(gathered, &layer.attention.out, narrow); // [t, h]
        self.arch.dispatch(T5SimdRowOperation::Add(hidden, narrow));

        self.norm(hidden, &layer.feed.norm, narrow); // [t, h]
        let width = layer.feed.up.len() / h; // m or 2m
        let wide = &mut wide[..t * width];
        let states = StridedMatrixView::with_row_stride(narrow, [t, h], h);
        self.linear(states, &layer.feed.up, wide); // [t, width]
        self.arch.dispatch(T5SimdRowOperation::Activate(
            wide,
            width,
            config.feed_forward,
        ));
        let active = StridedMatrixView::with_row_stride(wide, [t, m], width);
        self.linear(active, &layer.feed.down, narrow); // [t, h]
        self.arch.dispatch(T5SimdRowOperation::Add(hidden, narrow));
    }

    fn norm(&self, x: &[f32], scale: &[f32], y: &mut [f32]) {
        let eps = self.model.config.layer_norm_epsilon;
        self.arch
            .dispatch(T5SimdRowOperation::Norm(x, scale, eps, y));
    }

    /// Computes `y = x Wᵀ`.
    fn linear(&self, x: StridedMatrixView<'_>, weight: &[f32], y: &mut [f32]) {
        let inputs = x.n_columns();
        let outputs = weight.len() / inputs;
        let weight = StridedMatrixView::with_row_stride(weight, [outputs, inputs], inputs);
        let y = MatrixRowsMut::new(y, outputs);
        multiply_matrices(x, weight.transposed(), y, self.parallelism);
    }

    /// Computes attention within each text: queries, keys and values `[t, 3i]` to `[t, i]`.
    fn attend(&self, qkv: &[f32], scores: &mut [f32], gathered: &mut [f32]) {
        let i = self.model.config.all_heads_width();
        let d = self.model.config.d_kv;
        let heads = self.model.config.num_heads;
        let of_heads = self.distances.chunks_exact(self.distances.len() / heads);
        let mut first = 0;
        for l in self.texts.iter().map(|text| text.ids.len()) {
            let scores = &mut scores[..l * l];
            for (head, distances) in (0..i).step_by(d).zip(of_heads.clone()) {
                let part = |part: usize| {
                    StridedMatrixView::with_row_stride(
                        &qkv[first * 3 * i + part * i + head..],
                        [l, d],
                        3 * i,
                    )
                };
                let [query, key, value] = [part(0), part(1), part(2)]; // [l, d] each
                let matrix = MatrixRowsMut::new(scores, l);
                multiply_matrices(query, key.transposed(), matrix, self.parallelism); // [l, l]
                self.arch
                    .dispatch(T5SimdRowOperation::Softmax(scores, distances));
                let weights = StridedMatrixView::with_row_stride(scores, [l, l], l);
                let gathered = MatrixRowsMut::new(&mut gathered[first * i + head..], i);
                multiply_matrices(weights, value, gathered, self.parallelism); // [l, d]
            }
            first += l;
        }
    }
}
