//! MatchPyramid: convolutions over the matrix of inner products of query and document vectors.
//!
//! Pang, Lan, Guo, Xu, Wan and Cheng, "Text matching as image recognition", AAAI 2016, as
//! `MatchZoo` 1.0 implements it. 3 × 3 filters with zeros around the matrix and a ReLU are applied
//! to the inner products of all terms. The area of the terms, without padding, is stretched to the
//! full matrix of `max_query_terms` × `max_document_terms` by repeating rows and columns, and the
//! maximum is taken in windows of equal size. Rows and columns that do not fill a window are not
//! used. The result goes through dropout and one linear layer. The word vectors are trained too.
//!
//! Shapes: `b` pairs, `v` words, `d` dimensions, `c` filters, `w` windows.

use std::ops::Range;
use std::sync::OnceLock;

use candle_core::{Result, Tensor};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::dropout::Dropout;
use crate::interaction::config::{InteractionConfig, MatchPyramidConfig};
use crate::interaction::layers::{
    Activation, CandleOperation, CpuOperation, Gradients, InputNumbers, activate, add_multiple_to,
    add_to, apply_linear, gradient_of, inner_product, read_numbers,
};
use crate::interaction::vocabulary::InteractionVocabulary;
use crate::interaction::{ForwardPass, InitialValues, VariableShape, uniform_glorot};

/// The number of weights of a filter.
const FILTER_SIZE: usize = 9;

/// The number of filters that are computed side by side.
const LANES: usize = 16;

/// The number of parts in which gradients are summed. It is fixed, so that sums have the same bits
/// with any number of threads.
const N_PARTS: usize = 8;

/// Marks a window in which no filter is above 0.
const NOWHERE: u32 = u32::MAX;

/// Returns the trained variables. A row of `convolution.weight` belongs to one place in the filter,
/// in row-major order; `output.weight` has the windows in row-major order, with all filters each.
pub(super) fn variable_shapes(
    sizes: &MatchPyramidConfig,
    vocabulary: &InteractionVocabulary,
) -> Vec<VariableShape> {
    let c = sizes.filters;
    let n_outputs = sizes.pooled_rows * sizes.pooled_columns * c;
    let n_words = vocabulary.words().len() + 1;
    let vectors = InitialValues::Given(vocabulary.vectors().to_vec());
    let filters = uniform_glorot(FILTER_SIZE, FILTER_SIZE * c);
    vec![
        VariableShape::new(
            "vectors.weight",
            &[n_words, vocabulary.dimensions()],
            vectors,
        ),
        VariableShape::new("convolution.weight", &[FILTER_SIZE, c], filters),
        VariableShape::new("convolution.bias", &[c], InitialValues::Zeros),
        VariableShape::new(
            "output.weight",
            &[1, n_outputs],
            uniform_glorot(n_outputs, 1),
        ),
        VariableShape::new("output.bias", &[1], InitialValues::Zeros),
    ]
}

/// Computes the score of each pair, `[b]`.
pub(super) fn forward(pass: &ForwardPass<'_>, sizes: &MatchPyramidConfig) -> Result<Tensor> {
    let [vectors, filters, filter_bias, weight, bias] = &pass.variables[..] else {
        unreachable!("the variables are those of `variable_shapes`")
    };
    let or_padding = |ids: &[u32]| {
        if ids.is_empty() {
            vec![0]
        } else {
            ids.to_vec()
        }
    };
    let each = pass.pairs.iter();
    let pairs = each.map(|it| [or_padding(&it.query), or_padding(&it.document)]);
    let pooling = PooledFiltersOp {
        pairs: pairs.collect(),
        stretch: Stretch::of(pass.config, sizes),
        saved: OnceLock::new(),
    };
    let features = vectors.apply_op3(filters, filter_bias, CandleOperation(pooling))?; // [b, w c]
    let dropout = Dropout::for_layer(pass.mode, 0, sizes.dropout);
    let features = activate(&features, Activation::Identity, dropout)?;
    apply_linear(&features, weight, bias)?.flatten_all() // [b]
}

/// How rows and columns of a matrix are stretched and divided into windows.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// The number of rows and columns after stretching.
    sides: [usize; 2],
    /// The number of windows along rows and columns.
    n_windows: [usize; 2],
}

impl Stretch {
    fn of(config: &InteractionConfig, sizes: &MatchPyramidConfig) -> Stretch {
        Stretch {
            sides: [config.max_query_terms, config.max_document_terms],
            n_windows: [sizes.pooled_rows, sizes.pooled_columns],
        }
    }

    /// Returns the rows (`axis` 0) or columns (1) of an area of `length` that a window covers.
    fn window(&self, axis: usize, window: usize, length: usize) -> Range<usize> {
        let side = self.sides[axis];
        let size = side / self.n_windows[axis];
        let source = |stretched: usize| stretched * length / side;
        source(window * size)..source((window + 1) * size - 1) + 1
    }

    /// Iterates over the windows of an area in row-major order.
    fn windows(self, lengths: [usize; 2]) -> impl Iterator<Item = [Range<usize>; 2]> {
        let [rows, columns] = self.n_windows;
        (0..rows * columns).map(move |it| {
            [
                self.window(0, it / columns, lengths[0]),
                self.window(1, it % columns, lengths[1]),
            ]
        })
    }
}

/// The maxima `[b, w c]` of filters over inner products, of word vectors `[v + 1, d]`, filters
/// `[9, c]` and their biases `[c]`.
struct PooledFiltersOp {
    /// Ids of query and document; at least one, which is padding for an empty text.
    pairs: Vec<[Vec<u32>; 2]>,
    stretch: Stretch,
    saved: OnceLock<Vec<ProductsAndMaxima>>,
}

/// What the backward pass needs of a pair.
struct ProductsAndMaxima {
    products: PaddedProducts,
    /// The place `row * n_columns + column` of each maximum, `[w, c]`.
    places: Vec<u32>,
}

/// Inner products `[query + 2, document + 2]` with zeros around them.
struct PaddedProducts {
    numbers: Vec<f32>,
    lengths: [usize; 2],
}

impl PaddedProducts {
    /// The distance of two rows.
    fn stride(&self) -> usize {
        self.lengths[1] + 2
    }

    /// The indices of the nine numbers around a place.
    #[inline(always)]
    fn around(&self, row: usize, column: usize) -> [usize; FILTER_SIZE] {
        let stride = self.stride();
        std::array::from_fn(|it| (row + it / 3) * stride + column + it % 3)
    }
}

fn vector_of(vectors: &[f32], width: usize, id: u32) -> &[f32] {
    &vectors[id as usize * width..][..width]
}

impl CpuOperation<3> for PooledFiltersOp {
    const NAME: &'static str = "pooled-filters";

    fn compute(&self, inputs: [InputNumbers<'_>; 3]) -> (Vec<f32>, (usize, usize)) {
        let [(vectors, dims), (filters, _), (bias, _)] = inputs;
        let c = bias.len();
        let n_features = self.stretch.n_windows[0] * self.stretch.n_windows[1] * c;
        let mut features = vec![0.0; self.pairs.len() * n_features];
        // Blocks of filters, filled up with zeros.
        let n_blocks = c.div_ceil(LANES);
        let mut blocks = vec![[0.0; LANES]; (FILTER_SIZE + 1) * n_blocks];
        for (row, filters) in filters.chunks_exact(c).chain([bias]).enumerate() {
            let blocks = &mut blocks[row * n_blocks..][..n_blocks];
            let places = blocks.as_flattened_mut().iter_mut();
            places.zip(filters).for_each(|(place, it)| *place = *it);
        }
        let each = features.par_chunks_exact_mut(n_features).zip(&self.pairs);
        let saved = each.map(|(features, ids)| {
            let products = Arch::new().dispatch(InnerProducts {
                vectors,
                width: dims[1],
                ids,
            });
            let places = Arch::new().dispatch(FilterMaxima {
                products: &products,
                blocks: &blocks,
                c,
                stretch: self.stretch,
                features,
            });
            ProductsAndMaxima { products, places }
        });
        let saved = saved.collect();
        let _ = self.saved.set(saved);
        (features, (self.pairs.len(), n_features))
    }

    fn compute_gradients(&self, inputs: [&Tensor; 3], gradient: &Tensor) -> Gradients<3> {
        let [vectors, filters, bias] = inputs;
        let saved = self.saved.get().expect("forward comes before backward");
        let d = vectors.dims()[1];
        let c = bias.elem_count();
        let n_features = gradient.dims()[1];
        let part = self.pairs.len().div_ceil(N_PARTS).max(1);
        let parts: Vec<PartGradients> = read_numbers(vectors, |vectors| {
            read_numbers(filters, |filters| {
                read_numbers(gradient, |gradient| {
                    let parts = self.pairs.par_chunks(part).zip(saved.par_chunks(part));
                    let parts = parts.zip(gradient.par_chunks(part * n_features));
                    let of_part = |((pairs, saved), gradient): ((&[_], &[_]), &[f32])| {
                        let mut sums = PartGradients {
                            filters: vec![0.0; FILTER_SIZE * c],
                            bias: vec![0.0; c],
                            terms: Vec::new(),
                        };
                        let gradients = gradient.chunks_exact(n_features);
                        for ((ids, saved), gradient) in pairs.iter().zip(saved).zip(gradients) {
                            let pair = PairGradients {
                                vectors,
                                d,
                                filters,
                                ids,
                                saved,
                                gradient,
                            };
                            pair.add_to(&mut sums);
                        }
                        sums
                    };
                    parts.map(of_part).collect()
                })
            })
        })???;
        let mut of_vectors = vec![0.0; vectors.elem_count()];
        let mut of_filters = vec![0.0; FILTER_SIZE * c];
        let mut of_bias = vec![0.0; c];
        let ids = self.pairs.chunks(part);
        for (part, pairs) in parts.iter().zip(ids) {
            add_to(&mut of_filters, &part.filters);
            add_to(&mut of_bias, &part.bias);
            let ids = pairs.iter().flatten().flatten();
            for (&id, of_term) in ids.zip(part.terms.chunks_exact(d)) {
                if id != 0 {
                    add_to(&mut of_vectors[id as usize * d..][..d], of_term);
                }
            }
        }
        Ok([
            gradient_of(vectors, of_vectors)?,
            gradient_of(filters, of_filters)?,
            gradient_of(bias, of_bias)?,
        ])
    }
}

/// Computes the inner products of the vectors of a pair.
struct InnerProducts<'a> {
    vectors: &'a [f32],
    width: usize,
    ids: &'a [Vec<u32>; 2],
}

impl WithSimd for InnerProducts<'_> {
    type Output = PaddedProducts;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> PaddedProducts {
        let [query, document] = self.ids;
        let stride = document.len() + 2;
        let mut numbers = vec![0.0; (query.len() + 2) * stride];
        let rows = numbers.chunks_exact_mut(stride).skip(1);
        for (row, &term) in rows.zip(query) {
            let term = vector_of(self.vectors, self.width, term);
            for (place, &other) in row[1..].iter_mut().zip(document) {
                *place = inner_product(term, vector_of(self.vectors, self.width, other));
            }
        }
        PaddedProducts {
            numbers,
            lengths: [query.len(), document.len()],
        }
    }
}

/// Computes the maxima of a pair, and returns their places.
struct FilterMaxima<'a> {
    products: &'a PaddedProducts,
    /// `[10, c]` in blocks of filters: weights and bias.
    blocks: &'a [[f32; LANES]],
    c: usize,
    stretch: Stretch,
    /// `[w, c]`.
    features: &'a mut [f32],
}

impl WithSimd for FilterMaxima<'_> {
    type Output = Vec<u32>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<u32> {
        let FilterMaxima {
            products,
            blocks,
            c,
            stretch,
            features,
        } = self;
        let n_blocks = c.div_ceil(LANES);
        let [n_rows, n_columns] = products.lengths;
        let mut outputs = vec![[0.0; LANES]; n_rows * n_columns];
        let mut places = vec![NOWHERE; features.len()];
        for block in 0..n_blocks {
            let weights: [[f32; LANES]; FILTER_SIZE + 1] =
                std::array::from_fn(|row| blocks[row * n_blocks + block]);
            for row in 0..n_rows {
                for column in 0..n_columns {
                    let mut sums = weights[FILTER_SIZE];
                    let around = products.around(row, column);
                    for (weights, at) in weights.iter().zip(around) {
                        let product = products.numbers[at];
                        for lane in 0..LANES {
                            sums[lane] += weights[lane] * product;
                        }
                    }
                    outputs[row * n_columns + column] = sums;
                }
            }
            for (window, [rows, columns]) in stretch.windows(products.lengths).enumerate() {
                let mut most = [0.0_f32; LANES];
                let mut best = [NOWHERE; LANES];
                for row in rows {
                    for column in columns.clone() {
                        let at = row * n_columns + column;
                        let output = &outputs[at];
                        for lane in 0..LANES {
                            let is_more = output[lane] > most[lane];
                            best[lane] = if is_more { at as u32 } else { best[lane] };
                            most[lane] = if is_more { output[lane] } else { most[lane] };
                        }
                    }
                }
                let first = block * LANES;
                let n = LANES.min(c - first);
                features[window * c + first..][..n].copy_from_slice(&most[..n]);
                places[window * c + first..][..n].copy_from_slice(&best[..n]);
            }
        }
        places
    }
}

/// Sums of gradients over the pairs of a part.
struct PartGradients {
    filters: Vec<f32>,
    bias: Vec<f32>,
    /// The gradients of the vectors of each pair, of query terms and then of document terms.
    terms: Vec<f32>,
}

/// The backward pass of a pair.
struct PairGradients<'a> {
    vectors: &'a [f32],
    d: usize,
    filters: &'a [f32],
    ids: &'a [Vec<u32>; 2],
    saved: &'a ProductsAndMaxima,
    /// `[w, c]`.
    gradient: &'a [f32],
}

impl PairGradients<'_> {
    fn add_to(&self, sums: &mut PartGradients) {
        let products = &self.saved.products;
        let n_columns = products.lengths[1];
        let c = sums.bias.len();
        let mut of_products = vec![0.0; products.numbers.len()];
        let each = self.gradient.iter().zip(&self.saved.places).enumerate();
        for (at, (&gradient, &place)) in each {
            if gradient == 0.0 || place == NOWHERE {
                continue;
            }
            let (filter, place) = (at % c, place as usize);
            sums.bias[filter] += gradient;
            let around = products.around(place / n_columns, place % n_columns);
            for (weight, at) in (filter..).step_by(c).zip(around) {
                sums.filters[weight] += gradient * products.numbers[at];
                of_products[at] += gradient * self.filters[weight];
            }
        }
        let [query, document] = self.ids;
        let d = self.d;
        let first = sums.terms.len();
        sums.terms
            .resize(first + (query.len() + document.len()) * d, 0.0);
        let (of_query, of_document) = sums.terms[first..].split_at_mut(query.len() * d);
        let rows = of_products.chunks_exact(products.stride()).skip(1);
        for ((of_query, &term), row) in of_query.chunks_exact_mut(d).zip(query).zip(rows) {
            let others = of_document.chunks_exact_mut(d).zip(document);
            for ((of_other, &other), &of_product) in others.zip(&row[1..]) {
                if of_product != 0.0 {
                    add_multiple_to(of_query, of_product, vector_of(self.vectors, d, other));
                    add_multiple_to(of_other, of_product, vector_of(self.vectors, d, term));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_cover_the_area_of_the_terms() {
        let stretch = Stretch {
            sides: [20, 40],
            n_windows: [3, 10],
        };
        // Stretched rows 0..6, 6..12, 12..18 are rows ⌊5 r / 20⌋; columns likewise ⌊12 c / 40⌋.
        let rows: Vec<_> = (0..3).map(|it| stretch.window(0, it, 5)).collect();
        assert_eq!(rows, [0..2, 1..3, 3..5]);
        let columns: Vec<_> = (0..4).map(|it| stretch.window(1, it, 12)).collect();
        assert_eq!(columns, [0..1, 1..3, 2..4, 3..5]);
        assert_eq!(stretch.window(0, 2, 1), 0..1);
        assert_eq!(stretch.windows([20, 40]).count(), 30);
    }
}
