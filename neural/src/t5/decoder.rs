//! The decoder: states for the next token of some texts that are being generated.
//!
//! Keys and values of earlier tokens are cached, so a step costs one token of each text. Every
//! number is summed independently (see [`RowIndependentProduct`]), so that the generated text does
//! not depend on the other texts.

use std::borrow::Cow;

use gemm::Parallelism;
use pulp::Arch;

use super::kernels::{AttentionKeysAndValues, RowIndependentProduct, T5SimdRowOperation};
use super::parameters::{
    CrossAttentionParameters, FeedForwardLayer, SelfAttentionParameters, T5Weights,
};
use super::relative_position;
use crate::bert_cpu::{MatrixRowsMut, StridedMatrixView, multiply_matrices};

/// The keys and values of an input text for cross-attention.
pub(crate) struct CrossAttentionCache {
    /// For each layer `[l, 2i]`: each token's key, then its value.
    layers: Vec<Vec<f32>>,
}

/// A text that is being generated.
pub(crate) struct DecodingState {
    /// Keys and values of the earlier tokens, for each layer `[n, 2i]`.
    past: Vec<Vec<f32>>,
    /// The next input token of the decoder.
    pub(crate) last: u32,
}

/// The decoder with the position biases for a maximum length.
pub(crate) struct T5Decoder<'a> {
    model: &'a T5Weights,
    arch: Arch,
    /// The bias of each distance to an earlier token, `[a, max_new]`.
    position_biases: Vec<f32>,
}

impl CrossAttentionCache {
    /// Computes the keys and values of a text's states `[l, h]`.
    pub(super) fn compute(
        model: &T5Weights,
        states: &[f32],
        parallelism: Parallelism,
    ) -> CrossAttentionCache {
        let layers = model.decoder.iter();
        let layers = layers.map(|it| look_up_of(model, &it.cross, states, parallelism));
        CrossAttentionCache {
            layers: layers.collect(),
        }
    }
}

/// Computes the keys and values of a text's states `[l, h]` for one layer, `[l, 2i]`.
fn look_up_of(
    model: &T5Weights,
    cross: &CrossAttentionParameters,
    states: &[f32],
    parallelism: Parallelism,
) -> Vec<f32> {
    let (h, i) = (model.config.d_model, model.config.all_heads_width());
    let l = states.len() / h;
    let mut pairs = vec![0.0; l * 2 * i];
    let states = StridedMatrixView::with_row_stride(states, [l, h], h);
    let weight = StridedMatrixView::with_row_stride(&cross.memory, [2 * i, h], h).transposed();
    multiply_matrices(
        states,
        weight,
        MatrixRowsMut::new(&mut pairs, 2 * i),
        parallelism,
    );
    pairs
}

impl T5Decoder<'_> {
    /// Creates a decoder for at most `max_new` tokens.
    pub(super) fn with_max_new_tokens(model: &T5Weights, max_new: usize) -> T5Decoder<'_> {
        let heads = model.config.num_heads;
        let (table, buckets) = (&model.decoder_position_biases, model.config.buckets);
        T5Decoder {
            model,
            arch: Arch::new(),
            position_biases: relative_position::decoder_position_biases(
                table, heads, buckets, max_new,
            ),
        }
    }

    /// Returns a text before its first token.
    pub(crate) fn initial_decoding_state(&self) -> DecodingState {
        DecodingState {
            past: vec![Vec::new(); self.model.decoder.len()],
            last: self.model.config.decoder_start_token_id,
        }
    }

    /// Reads the last token of each text, with the cross-attention keys and values of its input.
    /// Returns the states for the next tokens, `[r, h]`.
    pub(crate) fn compute_next_token_states(
        &self,
        lines: &mut [&mut DecodingState],
        memories: &[&CrossAttentionCache],
    ) -> Vec<f32> {
        self.run(lines, |at| {
            let each = memories.iter();
            each.map(|it| Cow::Borrowed(it.layers[at].as_slice()))
                .collect()
        })
    }

    /// Runs the first step for inputs with these states, each `[l, h]`. The result is the same as
    /// with [`CrossAttentionCache::compute`], but keys and values are in memory for only one layer
    /// at a time.
    pub(crate) fn compute_first_token_states(
        &self,
        texts: &[&[f32]],
        parallelism: Parallelism,
    ) -> Vec<f32> {
        let mut lines: Vec<DecodingState> = texts
            .iter()
            .map(|_| self.initial_decoding_state())
            .collect();
        self.run(&mut lines.iter_mut().collect::<Vec<_>>(), |at| {
            let cross = &self.model.decoder[at].cross;
            let each = texts.iter();
            each.map(|it| Cow::Owned(look_up_of(self.model, cross, it, parallelism)))
                .collect()
        })
    }

    /// Runs a step, given each text's cross-attention keys and values in a layer, `[l, 2i]`.
    fn run<'m>(
        &self,
        lines: &mut [&mut DecodingState],
        pairs_of: impl Fn(usize) -> Vec<Cow<'m, [f32]>>,
    ) -> Vec<f32> {
        let h = self.model.config.d_model;
        let mut hidden = Vec::with_capacity(lines.len() * h);
        for line in lines.iter() {
            hidden.extend_from_slice(&self.model.token_embeddings[line.last as usize * h..][..h]);
        }
        for (at, layer) in self.model.decoder.iter().enumerate() {
            self.look_back(at, &layer.attention, lines, &mut hidden);
            let pairs = pairs_of(at);
            let memories: Vec<AttentionKeysAndValues<'_>> = pairs
                .iter()
                .map(|pairs| AttentionKeysAndValues {
                    keys_values: pairs,
                    position_biases: None,
                })
                .collect();
            self.look_up(&layer.cross, &memories, &mut hidden);
            self.feed(&layer.feed, &mut hidden);
        }
        let mut hidden = self.norm(&hidden, &self.model.decoder_norm);
        if self.model.config.scales_output {
            let factor = (h as f32).sqrt().recip();
            hidden.iter_mut().for_each(|it| *it *= factor);
        }
        hidden
    }

    /// Computes the logits of the whole vocabulary, `[r, v]`, from states `[r, h]`.
    pub(crate) fn vocabulary_logits(&self, states: &[f32]) -> Vec<f32> {
        let h = self.model.config.d_model;
        self.linear(states, h, self.model.output_weights())
    }

    /// Computes the logit of one token from one state `[h]`.
    pub(crate) fn token_logit(&self, state: &[f32], token: u32) -> f64 {
        let h = self.model.config.d_model;
        let word = &self.model.output_weights()[token as usize * h..][..h];
        let each = state.iter().zip(word);
        each.map(|(&x, &y)| f64::from(x) * f64::from(y)).sum()
    }

    /// Adds self-attention over the generated tokens.
    fn look_back(
        &self,
        at: usize,
        part: &SelfAttentionParameters,
        lines: &mut [&mut DecodingState],
        hidden: &mut [f32],
    ) {
        let i = self.model.config.all_heads_width();
        let normed = self.norm(hidden, &part.norm); // [r, h]
        let qkv = self.linear(&normed, self.model.config.d_model, &part.qkv); // [r, 3i]
        let mut queries = Vec::with_capacity(lines.len() * i);
        for (line, qkv) in lines.iter_mut().zip(qkv.chunks_exact(3 * i)) {
            queries.extend_from_slice(&qkv[..i]);
            line.past[at].extend_from_slice(&qkv[i..]);
        }
        let seen: Vec<AttentionKeysAndValues<'_>> = lines
            .iter()
            .map(|line| AttentionKeysAndValues {
                keys_values: &line.past[at],
                position_biases: Some(&self.position_biases),
            })
            .collect();
        self.gather(&queries, &seen, &part.out, hidden);
    }

    /// Adds cross-attention over the input tokens.
    fn look_up(
        &self,
        part: &CrossAttentionParameters,
        memories: &[AttentionKeysAndValues<'_>],
        hidden: &mut [f32],
    ) {
        let normed = self.norm(hidden, &part.norm); // [r, h]
        let queries = self.linear(&normed, self.model.config.d_model, &part.query); // [r, i]
        self.gather(&queries, memories, &part.out, hidden);
    }

    /// Adds the attention output of the queries `[r, i]` to the states `[r, h]`.
    fn gather(
        &self,
        queries: &[f32],
        seen: &[AttentionKeysAndValues<'_>],
        out: &[f32],
        hidden: &mut [f32],
    ) {
        let heads = self.model.config.num_heads;
        let mut gathered = vec![0.0; queries.len()];
        let step = T5SimdRowOperation::Gather(queries, seen, heads, &mut gathered); // [r, i]
        self.arch.dispatch(step);
        let more = self.linear(&gathered, self.model.config.all_heads_width(), out); // [r, h]
        self.arch.dispatch(T5SimdRowOperation::Add(hidden, &more));
    }

    fn feed(&self, part: &FeedForwardLayer, hidden: &mut [f32]) {
        let config = &self.model.config;
        let (h, m) = (config.d_model, config.d_ff);
        let normed = self.norm(hidden, &part.norm); // [r, h]
        let width = part.up.len() / h; // m or 2m
        let mut wide = self.linear(&normed, h, &part.up); // [r, width]
        self.arch.dispatch(T5SimdRowOperation::Activate(
            &mut wide,
            width,
            config.feed_forward,
        ));
        let mut more = vec![0.0; hidden.len()];
        self.arch
            .dispatch(T5SimdRowOperation::Multiply(RowIndependentProduct {
                x: &wide,
                stride: width,
                weight: &part.down,
                inputs: m,
                y: &mut more,
            })); // [r, h]
        self.arch.dispatch(T5SimdRowOperation::Add(hidden, &more));
    }

    fn norm(&self, x: &[f32], scale: &[f32]) -> Vec<f32> {
        let mut y = vec![0.0; x.len()];
        let eps = self.model.config.layer_norm_epsilon;
        self.arch
            .dispatch(T5SimdRowOperation::Norm(x, scale, eps, &mut y));
        y
    }

    /// Computes `x Wᵀ` of rows of `inputs` numbers.
    fn linear(&self, x: &[f32], inputs: usize, weight: &[f32]) -> Vec<f32> {
        let mut y = vec![0.0; x.len() / inputs * (weight.len() / inputs)];
        self.arch
            .dispatch(T5SimdRowOperation::Multiply(RowIndependentProduct {
                x,
                stride: inputs,
                weight,
                inputs,
                y: &mut y,
            }));
        y
    }
}
