//! ModernBERT: the last hidden state of every token of some texts, without padding.
//!
//! Warner et al. (2024), arXiv:2412.13663. Tensor names follow `ModernBertModel` of Hugging Face
//! transformers. The differences from BERT: positions rotate queries and keys (Su et al. 2021,
//! arXiv:2104.09864) instead of being embeddings; most layers attend only to near tokens;
//! normalization comes before each part, except the first; the feed-forward layer is
//! `(gelu(x W) ∘ x V) U` (Shazeer 2020); biases are optional.
//!
//! Shapes: `t` tokens of all texts of a share, `l` tokens of one text, `h` hidden units, `d` units
//! of a head, `m` units of the feed-forward layer.

use pulp::{Arch, Simd, WithSimd};

use crate::bert::{LayerNorm, LinearLayer};
use crate::bert_cpu::{
    self, CpuForwardPass, MatrixRowsMut, StridedMatrixView, gelu, multiply_matrices,
    reduce_in_lanes,
};
use crate::config::{AttentionWindow, EncoderConfig, ModernBertSpecificConfig};
use crate::error::Error;
use crate::tokenization::EncoderInput;
use crate::weights::ModelWeights;

/// The number of queries whose attention scores are computed at once, to limit memory for long
/// texts.
const BLOCK: usize = 128;

/// The parameters of the model.
pub(crate) struct ModernBertWeights {
    hidden_size: usize,
    heads: usize,
    /// `[vocabulary, h]`.
    words: Vec<f32>,
    word_norm: LayerNorm,
    layers: Vec<Layer>,
    last_norm: LayerNorm,
    /// The rotations of layers with global attention, and of those with local attention.
    turns: [RotaryTable; 2],
}

struct Layer {
    reach: AttentionWindow,
    /// `None` in the first layer, whose input is already normalized.
    norm: Option<LayerNorm>,
    /// `h` to queries, keys, values: `3h`. Queries are already divided by `√d`.
    qkv: LinearLayer,
    /// `h` to `h`.
    out: LinearLayer,
    feed_norm: LayerNorm,
    /// `h` to the input of the activation and the gate: `2m`.
    up: LinearLayer,
    /// `m` to `h`.
    down: LinearLayer,
}

/// Rotary position embedding: the rotation of each pair of units of a head at each position.
struct RotaryTable {
    /// `[positions, d/2]`.
    cos: Vec<f32>,
    sin: Vec<f32>,
}

impl RotaryTable {
    /// Computes the rotations: at position `p`, pair `i` is rotated by `p θ^(-2i/d)`, in f32 as the
    /// models were trained.
    fn of(theta: f32, d: usize, n_positions: usize) -> RotaryTable {
        let rates = (0..d).step_by(2);
        let rates = rates.map(|unit| 1.0 / libm::powf(theta, unit as f32 / d as f32));
        let rates: Vec<f32> = rates.collect();
        let angles = (0..n_positions)
            .flat_map(|at| rates.iter().map(move |rate| f64::from(at as f32 * rate)));
        RotaryTable {
            cos: angles.clone().map(|it| libm::cos(it) as f32).collect(),
            sin: angles.map(|it| libm::sin(it) as f32).collect(),
        }
    }
}

impl ModernBertWeights {
    /// Reads the tensors; texts have at most `max_tokens` tokens.
    pub(crate) fn load(
        weights: &ModelWeights<'_>,
        config: &EncoderConfig,
        modern: &ModernBertSpecificConfig,
        max_tokens: usize,
    ) -> Result<ModernBertWeights, Error> {
        let (h, m) = (config.hidden_size, config.intermediate_size);
        let d = h / config.num_attention_heads;
        let norm = |name: &str| match modern.norm_bias {
            true => LayerNorm::load(weights, name, h, config),
            false => LayerNorm::load_without_shift(weights, name, h, config),
        };
        let with_bias = [modern.attention_bias, modern.mlp_bias];
        let [attention, mlp] = with_bias.map(|it| match it {
            true => LinearLayer::load,
            false => LinearLayer::load_without_bias,
        });
        let layer = |(at, &reach): (usize, &AttentionWindow)| {
            let of = |name: &str| format!("layers.{at}.{name}");
            let mut qkv = attention(weights, &of("attn.Wqkv"), h, 3 * h)?;
            qkv.scale_first_outputs(h, 1.0 / (d as f32).sqrt());
            Ok(Layer {
                reach,
                norm: match at {
                    0 => None,
                    _ => Some(norm(&of("attn_norm"))?),
                },
                qkv,
                out: attention(weights, &of("attn.Wo"), h, h)?,
                feed_norm: norm(&of("mlp_norm"))?,
                up: mlp(weights, &of("mlp.Wi"), h, 2 * m)?,
                down: mlp(weights, &of("mlp.Wo"), m, h)?,
            })
        };
        let words = "embeddings.tok_embeddings.weight";
        Ok(ModernBertWeights {
            hidden_size: h,
            heads: config.num_attention_heads,
            words: weights.read_tensor(words, &[config.vocab_size, h])?,
            word_norm: norm("embeddings.norm")?,
            layers: modern
                .attention_windows
                .iter()
                .enumerate()
                .map(layer)
                .collect::<Result<_, Error>>()?,
            last_norm: norm("final_norm")?,
            turns: [modern.global_rope_theta, modern.local_rope_theta]
                .map(|it| RotaryTable::of(it, d, max_tokens)),
        })
    }
}

/// Returns the last hidden state of every token of every text, concatenated: `[Σ tokens, h]`.
pub(crate) fn run_modern_bert(model: &ModernBertWeights, texts: &[EncoderInput<'_>]) -> Vec<f32> {
    bert_cpu::forward_in_parallel_shares(texts, model.hidden_size, |texts, parallelism, hidden| {
        CpuForwardPass {
            model,
            texts,
            arch: Arch::new(),
            parallelism,
        }
        .run(hidden);
    })
}

impl CpuForwardPass<'_, ModernBertWeights> {
    /// Computes the last hidden states `[t, h]`.
    fn run(&self, states: &mut [f32]) {
        let h = self.model.hidden_size;
        let t = states.len() / h;
        let widest = self.model.layers.iter().map(|it| it.up.bias.len()).max();
        let longest = self.texts.iter().map(|it| it.ids.len()).max();
        let mut wide = vec![0.0; t * widest.unwrap_or(0).max(3 * h)];
        let mut hidden = vec![0.0; t * h];
        let mut gathered = vec![0.0; t * h];
        let mut scores = vec![0.0; BLOCK * longest.unwrap_or(0)];

        let ids = self.texts.iter().flat_map(|it| it.ids);
        for (&id, state) in ids.zip(states.chunks_exact_mut(h)) {
            state.copy_from_slice(&self.model.words[id as usize * h..][..h]);
        }
        self.norm(states, &self.model.word_norm, &mut hidden); // [t, h]
        for layer in &self.model.layers {
            match &layer.norm {
                Some(norm) => self.norm(&hidden, norm, states), // [t, h]
                None => states.copy_from_slice(&hidden),
            }
            let qkv = &mut wide[..t * 3 * h];
            self.linear(
                StridedMatrixView::with_row_stride(states, [t, h], h),
                &layer.qkv,
                qkv,
            ); // [t, 3h]
            self.turn(layer, qkv);
            self.attend(layer.reach, qkv, &mut scores, &mut gathered); // [t, h]
            self.linear(
                StridedMatrixView::with_row_stride(&gathered, [t, h], h),
                &layer.out,
                states,
            ); // [t, h]
            self.arch
                .dispatch(Step::Add(&mut hidden, states, &layer.out.bias));

            self.norm(&hidden, &layer.feed_norm, states); // [t, h]
            let width = layer.up.bias.len(); // 2m
            let wide = &mut wide[..t * width];
            self.linear(
                StridedMatrixView::with_row_stride(states, [t, h], h),
                &layer.up,
                wide,
            ); // [t, 2m]
            self.arch.dispatch(Step::Gelu(wide, &layer.up.bias));
            let active = StridedMatrixView::with_row_stride(wide, [t, width / 2], width);
            self.linear(active, &layer.down, states); // [t, h]
            self.arch
                .dispatch(Step::Add(&mut hidden, states, &layer.down.bias));
        }
        self.norm(&hidden, &self.model.last_norm, states);
    }

    fn norm(&self, x: &[f32], norm: &LayerNorm, y: &mut [f32]) {
        self.arch.dispatch(Step::Norm(x, norm, y));
    }

    /// Computes `y = x W`, without the bias.
    fn linear(&self, x: StridedMatrixView<'_>, linear: &LinearLayer, y: &mut [f32]) {
        let outputs = linear.bias.len();
        let weight =
            StridedMatrixView::with_row_stride(&linear.weight, [x.n_columns(), outputs], outputs);
        multiply_matrices(x, weight, MatrixRowsMut::new(y, outputs), self.parallelism);
    }

    /// Adds the bias to queries, keys and values `[t, 3h]`, and rotates queries and keys.
    fn turn(&self, layer: &Layer, qkv: &mut [f32]) {
        let h = self.model.hidden_size;
        let d = h / self.model.heads;
        let [all, near] = &self.model.turns;
        let turns = match layer.reach {
            AttentionWindow::Global => all,
            AttentionWindow::Local(_) => near,
        };
        let mut rest = qkv;
        for text in self.texts {
            let (own, others) = rest.split_at_mut(text.ids.len() * 3 * h);
            rest = others;
            self.arch
                .dispatch(Step::Turn(own, &layer.qkv.bias, turns, d));
        }
    }

    /// Computes attention within each text: queries, keys and values `[t, 3h]` to `[t, h]`.
    fn attend(
        &self,
        reach: AttentionWindow,
        qkv: &[f32],
        scores: &mut [f32],
        gathered: &mut [f32],
    ) {
        let h = self.model.hidden_size;
        let d = h / self.model.heads;
        let mut first = 0;
        for l in self.texts.iter().map(|text| text.ids.len()) {
            for from in (0..l).step_by(BLOCK) {
                let to = (from + BLOCK).min(l);
                let seen = match reach {
                    AttentionWindow::Global => 0..l,
                    AttentionWindow::Local(n) => from.saturating_sub(n)..(to + n).min(l),
                };
                let (rows, keys) = (to - from, seen.len());
                let scores = &mut scores[..rows * keys];
                for head in (0..h).step_by(d) {
                    let part = |part: usize, at: usize, n: usize| {
                        let from = (first + at) * 3 * h + part * h + head;
                        StridedMatrixView::with_row_stride(&qkv[from..], [n, d], 3 * h)
                    };
                    let query = part(0, from, rows); // [rows, d]
                    let key = part(1, seen.start, keys); // [keys, d]
                    let value = part(2, seen.start, keys); // [keys, d]
                    let matrix = MatrixRowsMut::new(scores, keys);
                    // [rows, keys]
                    multiply_matrices(query, key.transposed(), matrix, self.parallelism);
                    // The index of the first query among the keys.
                    let step = Step::Softmax(scores, keys, from - seen.start, reach);
                    self.arch.dispatch(step);
                    let weights = StridedMatrixView::with_row_stride(scores, [rows, keys], keys);
                    let gathered =
                        MatrixRowsMut::new(&mut gathered[(first + from) * h + head..], h);
                    multiply_matrices(weights, value, gathered, self.parallelism); // [rows, d]
                }
            }
            first += l;
        }
    }
}

/// A pass over rows, compiled once for each SIMD instruction set.
enum Step<'a> {
    /// `y = norm(x)`.
    Norm(&'a [f32], &'a LayerNorm, &'a mut [f32]),
    /// `y = y + x + b`.
    Add(&'a mut [f32], &'a [f32], &'a [f32]),
    /// `x = gelu(x + b) ∘ (y + c)`, where a row is `x` and `y`, and a bias `b` and `c`.
    Gelu(&'a mut [f32], &'a [f32]),
    /// Adds the bias to the rows `[l, 3h]` of a text and rotates heads of this many units.
    Turn(&'a mut [f32], &'a [f32], &'a RotaryTable, usize),
    /// `softmax` of each row over its window, and zeros elsewhere: rows, their width, and the
    /// column of the first row itself.
    Softmax(&'a mut [f32], usize, usize, AttentionWindow),
}

impl WithSimd for Step<'_> {
    type Output = ();

    // Everything below is inlined into one function per instruction set; otherwise it would be
    // compiled for the least of them.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        match self {
            Step::Norm(x, how, y) => norm(x, how, y),
            Step::Add(y, x, bias) => add(y, x, bias),
            Step::Gelu(rows, bias) => activate(rows, bias),
            Step::Turn(rows, bias, turns, d) => turn(rows, bias, turns, d),
            Step::Softmax(rows, width, at, reach) => softmax(rows, width, at, reach),
        }
    }
}

#[inline(always)]
fn norm(x: &[f32], how: &LayerNorm, y: &mut [f32]) {
    let h = how.scale.len();
    for (x, y) in x.chunks_exact(h).zip(y.chunks_exact_mut(h)) {
        let mean = reduce_in_lanes(x, 0.0, |x| x, |a, b| a + b) / h as f32;
        let sum = reduce_in_lanes(x, 0.0, |x| (x - mean) * (x - mean), |a, b| a + b);
        let factor = 1.0 / (sum / h as f32 + how.eps).sqrt();
        let each = y.iter_mut().zip(x);
        for ((y, x), (scale, shift)) in each.zip(how.scale.iter().zip(&how.shift)) {
            *y = (x - mean) * factor * scale + shift;
        }
    }
}

#[inline(always)]
fn add(y: &mut [f32], x: &[f32], bias: &[f32]) {
    let h = bias.len();
    for (y, x) in y.chunks_exact_mut(h).zip(x.chunks_exact(h)) {
        for ((y, x), b) in y.iter_mut().zip(x).zip(bias) {
            *y += x + b;
        }
    }
}

#[inline(always)]
fn activate(rows: &mut [f32], bias: &[f32]) {
    let m = bias.len() / 2;
    for row in rows.chunks_exact_mut(2 * m) {
        let (active, gate) = row.split_at_mut(m);
        let biases = bias[..m].iter().zip(&bias[m..]);
        for ((x, gate), (b, c)) in active.iter_mut().zip(gate).zip(biases) {
            *x = gelu(*x + b) * (*gate + c);
        }
    }
}

#[inline(always)]
fn turn(rows: &mut [f32], bias: &[f32], turns: &RotaryTable, d: usize) {
    let (h, half) = (bias.len() / 3, d / 2);
    let each = turns.cos.chunks_exact(half);
    let each = each.zip(turns.sin.chunks_exact(half));
    for (row, (cos, sin)) in rows.chunks_exact_mut(3 * h).zip(each) {
        row.iter_mut().zip(bias).for_each(|(x, b)| *x += b);
        for head in row[..2 * h].chunks_exact_mut(d) {
            let (xs, ys) = head.split_at_mut(half);
            for ((x, y), (cos, sin)) in xs.iter_mut().zip(ys).zip(cos.iter().zip(sin)) {
                (*x, *y) = (*x * cos - *y * sin, *y * cos + *x * sin);
            }
        }
    }
}

#[inline(always)]
fn softmax(rows: &mut [f32], width: usize, at: usize, reach: AttentionWindow) {
    for (at, row) in (at..).zip(rows.chunks_exact_mut(width)) {
        let near = match reach {
            AttentionWindow::Global => 0..width,
            AttentionWindow::Local(n) => at.saturating_sub(n)..(at + n + 1).min(width),
        };
        row[..near.start].fill(0.0);
        row[near.end..].fill(0.0);
        bert_cpu::softmax_rows(&mut row[near.clone()], near.len());
    }
}
