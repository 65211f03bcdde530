//! Self-attention within each text, and its gradient.

use pulp::Arch;
use rayon::prelude::*;

use super::dense::{product, strided, view};
use super::{DropoutPlace, EncoderPass};
use crate::bert_cpu::{MatrixRowsMut, StridedMatrixView, softmax_rows};
use crate::dropout::Dropout;

impl EncoderPass<'_> {
    /// Computes attention within each text: queries, keys and values `[n, 3h]` to `[n, h]`.
    pub(super) fn attend(&self, qkv: &[f32], layer: usize) -> Vec<f32> {
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
    pub(super) fn attend_backward(&self, qkv: &[f32], gradient: &[f32], layer: usize) -> Vec<f32> {
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
