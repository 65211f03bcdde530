//! Duet: a local model over exact matches and a distributed model over word vectors, whose scores
//! are added.
//!
//! Mitra, Diaz and Craswell, "Learning to match using local and distributed representations of text
//! for web search", WWW 2017, as `MatchZoo` 1.0 implements it, with windows of the distributed
//! model of three terms and frozen word vectors.
//!
//! - Local: `xₚ = tanh(b + Σᵢⱼ W[j, i - p + l] [qᵢ = dⱼ])` at each query place `p`, with a kernel
//!   as long as the document and `l = ⌊(m - 1) / 2⌋`; hidden units with tanh; linear.
//! - Distributed: convolutions with tanh over query and document, the maximum over all places of
//!   the query and a linear layer, the maximum over windows of the document and a second
//!   convolution with tanh, of one place; the element-wise product; hidden units; linear.
//!
//! Dropout follows each activation. In the published code padding of the query equals padding of
//! the document, so the local model sees the lengths of both.
//!
//! Shapes: `b` pairs, `q` and `m` places of query and document with padding, `f` filters, `h`
//! hidden units, `w` windows of the document.

use std::sync::OnceLock;

use candle_core::{CpuStorage, CustomOp1, Device, Layout, Result, Shape, Tensor};
use pulp::Arch;
use rayon::prelude::*;

use crate::dropout::Dropout;
use crate::interaction::config::{DuetConfig, InteractionConfig, NetworkVariant};
use crate::interaction::layers::{
    Activation, ActivationPass, CandleOperation, CpuOperation, Gradients, InputNumbers, activate,
    add_to, apply_linear, gradient_of, read_numbers, stored_numbers,
};
use crate::interaction::{ForwardPass, InitialValues, PreparedPair, VariableShape, uniform_glorot};

/// The number of parts in which gradients are summed. It is fixed, so that sums have the same bits
/// with any number of threads.
const N_PARTS: usize = 4;

/// The layers with dropout, each with random numbers of its own.
#[derive(Clone, Copy)]
enum DropoutLayer {
    LocalConvolution,
    LocalHidden,
    QueryConvolution,
    DocumentConvolution,
    WindowConvolution,
    DistributedHidden,
}

/// Returns the trained variables of both models.
///
/// `local.convolution.weight` is `[m, m, f]`: document place, place in the kernel, filter. A row of
/// the other convolutions has the dimensions of the first term of the window, then of the next. The
/// inputs of hidden units are places with all filters each.
pub(super) fn variable_shapes(
    sizes: &DuetConfig,
    config: &InteractionConfig,
) -> Vec<VariableShape> {
    let (f, h) = (sizes.filters, sizes.hidden_units);
    let (q, m) = (config.max_query_terms, config.max_document_terms);
    let window = sizes.window_terms * config.dimensions;
    let window_outputs = sizes.window_terms * f;
    let n_windows = m / sizes.pooled_terms;
    let local = uniform_glorot(m * m, m * f);
    let layer = |name: &str, outputs: usize, inputs: usize, values: InitialValues| {
        [
            VariableShape::new(&format!("{name}.weight"), &[outputs, inputs], values),
            VariableShape::new(&format!("{name}.bias"), &[outputs], InitialValues::Zeros),
        ]
    };
    let dense = |name: &str, outputs: usize, inputs: usize| {
        layer(name, outputs, inputs, uniform_glorot(inputs, outputs))
    };
    let convolution = |name: &str| layer(name, f, window, uniform_glorot(window, window_outputs));
    let mut shapes = vec![
        VariableShape::new("local.convolution.weight", &[m, m, f], local),
        VariableShape::new("local.convolution.bias", &[f], InitialValues::Zeros),
    ];
    shapes.extend(dense("local.hidden", h, q * f));
    shapes.extend(dense("local.output", 1, h));
    shapes.extend(convolution("query.convolution"));
    shapes.extend(dense("query.linear", f, f));
    shapes.extend(convolution("document.convolution"));
    shapes.extend(dense("document.window", f, f));
    shapes.extend(dense("distributed.hidden", h, n_windows * f));
    shapes.extend(dense("distributed.output", 1, h));
    shapes
}

/// Computes the score of each pair, `[b]`.
pub(super) fn forward(pass: &ForwardPass<'_>, sizes: &DuetConfig) -> Result<Tensor> {
    let (layers, _) = pass.variables.as_chunks::<2>();
    let [
        local,
        local_hidden,
        local_output,
        query,
        query_linear,
        document,
        window,
        hidden,
        output,
    ] = layers
    else {
        unreachable!("the variables are those of `variable_shapes`")
    };
    let (b, f) = (pass.pairs.len(), sizes.filters);
    let (q, m) = (pass.config.max_query_terms, pass.config.max_document_terms);
    let dropout = |layer: DropoutLayer| Dropout::for_layer(pass.mode, layer as u64, sizes.dropout);
    let linear = |input: &Tensor, [weight, bias]: &[Tensor; 2]| apply_linear(input, weight, bias);

    let matches = MatchConvolutionOp::new(pass);
    let x = local[0].apply_op2(&local[1], CandleOperation(matches))?; // [b, q f]
    let x = activate(
        &x,
        Activation::Tanh,
        dropout(DropoutLayer::LocalConvolution),
    )?;
    let x = linear(&x, local_hidden)?; // [b, h]
    let x = activate(&x, Activation::Tanh, dropout(DropoutLayer::LocalHidden))?;
    let local_score = linear(&x, local_output)?; // [b, 1]

    let windows = |side: fn(&PreparedPair) -> &[u32], places: usize, pooled: usize| {
        TermWindows::gather(pass, side, [sizes.window_terms, places, pooled])
    };
    let of_query = windows(|it| &it.query, q, q)?;
    let x = apply_linear(&of_query.vectors, &query[0], &query[1])?;
    let x = of_query.pool(&x, dropout(DropoutLayer::QueryConvolution))?; // [b, f]
    let query = linear(&x, query_linear)?;

    let of_document = windows(|it| &it.document, m, sizes.pooled_terms)?;
    let x = apply_linear(&of_document.vectors, &document[0], &document[1])?;
    let x = of_document.pool(&x, dropout(DropoutLayer::DocumentConvolution))?; // [b w, f]
    let x = linear(&x, window)?;
    let x = activate(
        &x,
        Activation::Tanh,
        dropout(DropoutLayer::WindowConvolution),
    )?;

    let x = x.reshape((b, (), f))?.broadcast_mul(&query.unsqueeze(1)?)?; // [b, w, f]
    let x = linear(&x.flatten_from(1)?, hidden)?; // [b, h]
    let x = activate(
        &x,
        Activation::Identity,
        dropout(DropoutLayer::DistributedHidden),
    )?;
    (local_score + linear(&x, output)?)?.flatten_all() // [b]
}

/// The convolution `[b, q f]` of the matrix of exact matches, of weights `[m, m, f]` and bias
/// `[f]`.
///
/// The matrix is not computed: a match adds a row of weights at each place. The matches of padding
/// are a rectangle, so that for all document places together the sum of their rows is added.
struct MatchConvolutionOp {
    pairs: Vec<Matches>,
    q: usize,
    m: usize,
    variant: NetworkVariant,
}

/// The exact matches of a pair.
struct Matches {
    /// Places in query and document with the same term.
    places: Vec<[usize; 2]>,
    lengths: [usize; 2],
}

impl MatchConvolutionOp {
    fn new(pass: &ForwardPass<'_>) -> MatchConvolutionOp {
        let matches = |pair: &&PreparedPair| {
            let mut places = Vec::new();
            for (i, term) in pair.query.iter().enumerate() {
                let same = pair
                    .document
                    .iter()
                    .enumerate()
                    .filter(|(_, it)| *it == term);
                places.extend(same.map(|(j, _)| [i, j]));
            }
            Matches {
                places,
                lengths: [pair.query.len(), pair.document.len()],
            }
        };
        MatchConvolutionOp {
            pairs: pass.pairs.iter().map(matches).collect(),
            q: pass.config.max_query_terms,
            m: pass.config.max_document_terms,
            variant: pass.config.variant,
        }
    }

    /// The query places of padding that match padding of the document.
    fn padding(&self, pair: &Matches) -> std::ops::Range<usize> {
        match self.variant {
            NetworkVariant::AsPublished if pair.lengths[1] < self.m => pair.lengths[0]..self.q,
            NetworkVariant::AsPublished
            | NetworkVariant::AsIntended
            | NetworkVariant::Capreolus
            | NetworkVariant::OpenNir => 0..0,
        }
    }

    /// The place in the kernel at which query place `i` meets the output at place `p`.
    fn kernel_place(&self, i: usize, p: usize) -> Option<usize> {
        let place = (i + (self.m - 1) / 2).checked_sub(p)?;
        (place < self.m).then_some(place)
    }
}

impl CpuOperation<2> for MatchConvolutionOp {
    const NAME: &'static str = "match-convolution";

    fn compute(
        &self,
        [(weight, _), (bias, _)]: [InputNumbers<'_>; 2],
    ) -> (Vec<f32>, (usize, usize)) {
        let (q, m, f) = (self.q, self.m, bias.len());
        // The sums of the weights of all document places from j on, `[m, m, f]`.
        let mut from_place = weight.to_vec();
        if self.variant == NetworkVariant::AsPublished {
            for j in (0..m - 1).rev() {
                let (sums, next) = from_place[j * m * f..].split_at_mut(m * f);
                add_to(sums, &next[..m * f]);
            }
        }
        let mut output = vec![0.0; self.pairs.len() * q * f];
        let rows = output.par_chunks_exact_mut(q * f).zip(&self.pairs);
        rows.for_each(|(output, pair)| {
            for (p, output) in output.chunks_exact_mut(f).enumerate() {
                output.copy_from_slice(bias);
                let mut add_row = |weights: &[f32], i: usize, j: usize| {
                    if let Some(k) = self.kernel_place(i, p) {
                        add_to(output, &weights[(j * m + k) * f..][..f]);
                    }
                };
                for &[i, j] in &pair.places {
                    add_row(weight, i, j);
                }
                for i in self.padding(pair) {
                    add_row(&from_place, i, pair.lengths[1]);
                }
            }
        });
        (output, (self.pairs.len(), q * f))
    }

    fn compute_gradients(&self, inputs: [&Tensor; 2], gradient: &Tensor) -> Gradients<2> {
        let [weight, bias] = inputs;
        let (q, m, f) = (self.q, self.m, bias.elem_count());
        let part = self.pairs.len().div_ceil(N_PARTS).max(1);
        // Of weights, of their sums from a place on, and of the bias.
        let parts: Vec<[Vec<f32>; 3]> = read_numbers(gradient, |gradient| {
            let parts = self.pairs.par_chunks(part);
            let parts = parts.zip(gradient.par_chunks(part * q * f));
            let of_part = |(pairs, gradient): (&[Matches], &[f32])| {
                let mut of_weight = vec![0.0; m * m * f];
                let mut from_place = vec![0.0; m * m * f];
                let mut of_bias = vec![0.0; f];
                for (pair, gradient) in pairs.iter().zip(gradient.chunks_exact(q * f)) {
                    for (p, gradient) in gradient.chunks_exact(f).enumerate() {
                        add_to(&mut of_bias, gradient);
                        let add_row = |sums: &mut [f32], i: usize, j: usize| {
                            if let Some(k) = self.kernel_place(i, p) {
                                add_to(&mut sums[(j * m + k) * f..][..f], gradient);
                            }
                        };
                        for &[i, j] in &pair.places {
                            add_row(&mut of_weight, i, j);
                        }
                        for i in self.padding(pair) {
                            add_row(&mut from_place, i, pair.lengths[1]);
                        }
                    }
                }
                [of_weight, from_place, of_bias]
            };
            parts.map(of_part).collect()
        })?;
        let mut of_weight = vec![0.0; m * m * f];
        let mut from_place = vec![0.0; m * m * f];
        let mut of_bias = vec![0.0; f];
        for part in &parts {
            add_to(&mut of_weight, &part[0]);
            add_to(&mut from_place, &part[1]);
            add_to(&mut of_bias, &part[2]);
        }
        for j in 0..m {
            if j > 0 {
                let (before, sums) = from_place[(j - 1) * m * f..].split_at_mut(m * f);
                add_to(&mut sums[..m * f], before);
            }
            add_to(
                &mut of_weight[j * m * f..][..m * f],
                &from_place[j * m * f..][..m * f],
            );
        }
        Ok([gradient_of(weight, of_weight)?, gradient_of(bias, of_bias)?])
    }
}

/// The word vectors of windows around each place of a text, and how places are pooled.
struct TermWindows {
    /// `[n + 1, window d]`: windows with at least one term, and zeros for padding.
    vectors: Tensor,
    /// The row of each place that is pooled, pair by pair.
    rows: Vec<u32>,
    /// The number of adjacent places that are pooled.
    pooled: usize,
}

impl TermWindows {
    /// Gathers the windows of the texts on one side. `sizes` are the number of terms of a window,
    /// of places, and of pooled places; places that do not fill the last pool are not used.
    fn gather(
        pass: &ForwardPass<'_>,
        side: fn(&PreparedPair) -> &[u32],
        sizes: [usize; 3],
    ) -> Result<TermWindows> {
        const PADDING: u32 = u32::MAX;
        let [window, places, pooled] = sizes;
        let d = pass.config.dimensions;
        let mut vectors = Vec::new();
        let mut rows = Vec::with_capacity(pass.pairs.len() * places);
        let mut n_rows = 0;
        for pair in pass.pairs {
            let text = side(pair);
            for place in 0..places / pooled * pooled {
                // The window begins `window / 2` places before.
                let terms = (place..place + window).map(|it| it.checked_sub(window / 2));
                let terms = terms.map(|it| it.and_then(|it| text.get(it)).copied());
                if terms.clone().all(|it| it.is_none()) {
                    rows.push(PADDING);
                    continue;
                }
                for term in terms {
                    vectors.extend_from_slice(pass.vocabulary.vector(term.unwrap_or(0)));
                }
                rows.push(n_rows);
                n_rows += 1;
            }
        }
        vectors.resize((n_rows as usize + 1) * window * d, 0.0);
        for row in &mut rows {
            *row = if *row == PADDING { n_rows } else { *row };
        }
        Ok(TermWindows {
            vectors: Tensor::from_vec(vectors, (n_rows as usize + 1, window * d), &Device::Cpu)?,
            rows,
            pooled,
        })
    }

    /// Applies tanh and dropout at each place to the filters `[n + 1, f]` of its window, and takes
    /// the maximum over pooled places; the result is `[b w, f]`.
    fn pool(self, filters: &Tensor, dropout: Option<Dropout>) -> Result<Tensor> {
        filters.apply_op1(TanhMaximumOp {
            rows: self.rows,
            pooled: self.pooled,
            dropout,
            saved: OnceLock::new(),
        })
    }
}

/// The maxima of tanh and dropout over pooled places. The gradient goes to the first maximum.
struct TanhMaximumOp {
    rows: Vec<u32>,
    pooled: usize,
    dropout: Option<Dropout>,
    /// Row and derivative of each maximum, for the backward pass.
    saved: OnceLock<Vec<(u32, f32)>>,
}

impl CustomOp1 for TanhMaximumOp {
    fn name(&self) -> &'static str {
        "tanh-maximum"
    }

    fn cpu_fwd(&self, filters: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let filters = stored_numbers(filters, layout)?;
        let f = layout.dims()[1];
        let n_maxima = self.rows.len() / self.pooled;
        let mut maxima = vec![f32::NEG_INFINITY; n_maxima * f];
        let mut saved = vec![(0, 0.0); n_maxima * f];
        let each = maxima
            .par_chunks_exact_mut(f)
            .zip(saved.par_chunks_exact_mut(f));
        let each = each.zip(self.rows.par_chunks_exact(self.pooled));
        // Dropout counts pairs of elements: a place begins with an even one.
        let even = f.next_multiple_of(2);
        each.enumerate().for_each(|(at, ((maxima, saved), rows))| {
            let mut both = vec![0.0; 2 * f];
            let (values, slopes) = both.split_at_mut(f);
            for (place, &row) in (at * self.pooled..).zip(rows) {
                Arch::new().dispatch(ActivationPass {
                    activation: Activation::Tanh,
                    dropout: self.dropout,
                    first: place * even,
                    input: &filters[row as usize * f..][..f],
                    output: values,
                    slopes,
                });
                let found = values.iter().zip(slopes.iter());
                for ((most, saved), (&value, &slope)) in
                    maxima.iter_mut().zip(saved.iter_mut()).zip(found)
                {
                    if value > *most {
                        (*most, *saved) = (value, (row, slope));
                    }
                }
            }
        });
        let _ = self.saved.set(saved);
        Ok((CpuStorage::F32(maxima), Shape::from((n_maxima, f))))
    }

    fn bwd(&self, filters: &Tensor, _: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let saved = self.saved.get().expect("forward comes before backward");
        let f = filters.dims()[1];
        let mut of_filters = vec![0.0; filters.elem_count()];
        read_numbers(gradient, |gradient| {
            let rows = saved.chunks_exact(f).zip(gradient.chunks_exact(f));
            for (saved, gradient) in rows {
                for (filter, (&(row, slope), gradient)) in saved.iter().zip(gradient).enumerate() {
                    of_filters[row as usize * f + filter] += slope * gradient;
                }
            }
        })?;
        gradient_of(filters, of_filters)
    }
}
