//! KNRM and Conv-KNRM: kernels count how many document terms have a certain cosine with a query
//! term.
//!
//! Xiong, Dai, Callan, Liu and Power, "End-to-end neural ad-hoc ranking with kernel pooling", SIGIR
//! 2017; Dai, Xiong, Callan and Liu, "Convolutional neural networks for soft-matching n-grams in
//! ad-hoc search", WSDM 2018. Both as `OpenNIR` implements them, without the factor .01, the tanh
//! and the ReLU of the papers:
//!
//! `s = w · φ + b`, `φₖ = Σᵢ ln(10⁻⁶ + Σⱼ exp(-(mᵢⱼ - μₖ)² / 2σₖ²))`
//!
//! with the cosine `mᵢⱼ` of query term `i` and document term `j`. Conv-KNRM has vectors of n-grams
//! of each length from 1 to `g` at each term, and features `φ` for each pair of lengths; n-grams
//! that extend beyond the last term are filled up with zeros.
//!
//! Shapes: `b` pairs, `n` terms of all queries and documents, `s` vectors of `f` numbers per term,
//! `k` kernels. The terms of a pair are adjacent: first those of the query, then the document's.

use std::sync::OnceLock;

use candle_core::{Device, Result, Tensor};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::bert_cpu::exp_of_nonpositive;
use crate::interaction::config::{ConvKernelPoolingConfig, KernelPoolingConfig, NetworkVariant};
use crate::interaction::layers::{
    CandleOperation, CpuOperation, Gradients, InputNumbers, add_multiple_to, add_to, apply_linear,
    gradient_of, read_numbers, scale_rows_to_unit_length,
};
use crate::interaction::{ForwardPass, InitialValues, VariableShape};
use crate::maxsim::InnerProductMatrix;

/// Added to a sum of kernels before its logarithm.
const LEAST_SUM: f32 = 1e-6;

/// The number of cosines that are computed side by side.
const LANES: usize = 8;

/// Fills rows of cosines up to a multiple of [`LANES`]: its kernels are below 10⁻³⁷.
const NO_COSINE: f32 = 1e4;

/// Returns the trained variables of KNRM.
pub(super) fn knrm_variable_shapes(sizes: &KernelPoolingConfig) -> Vec<VariableShape> {
    let mut shapes = kernel_variable_shapes(&sizes.kernel_means, &sizes.kernel_widths);
    shapes.extend(linear_variable_shapes(
        "output",
        1,
        sizes.kernel_means.len(),
    ));
    shapes
}

/// Returns the trained variables of Conv-KNRM. A row of `convolution.2.weight` has the weights of
/// the dimensions of the first term, then those of the second.
pub(super) fn conv_knrm_variable_shapes(
    sizes: &ConvKernelPoolingConfig,
    dimensions: usize,
) -> Vec<VariableShape> {
    let mut shapes = kernel_variable_shapes(&sizes.kernel_means, &sizes.kernel_widths);
    for n_terms in 1..=sizes.max_ngram_terms {
        let name = format!("convolution.{n_terms}");
        shapes.extend(linear_variable_shapes(
            &name,
            sizes.filters,
            n_terms * dimensions,
        ));
    }
    let n_matrices = sizes.max_ngram_terms * sizes.max_ngram_terms;
    shapes.extend(linear_variable_shapes(
        "output",
        1,
        n_matrices * sizes.kernel_means.len(),
    ));
    shapes
}

fn kernel_variable_shapes(means: &[f32], widths: &[f32]) -> Vec<VariableShape> {
    let given = |numbers: &[f32]| InitialValues::Given(numbers.to_vec());
    vec![
        VariableShape::new("kernel.means", &[means.len()], given(means)),
        VariableShape::new("kernel.widths", &[widths.len()], given(widths)),
    ]
}

/// Weight and bias, uniform in ±`1/√inputs` as PyTorch's `Linear` and `Conv1d`.
fn linear_variable_shapes(name: &str, outputs: usize, inputs: usize) -> [VariableShape; 2] {
    let uniform = || InitialValues::Uniform(1.0 / (inputs as f32).sqrt());
    [
        VariableShape::new(&format!("{name}.weight"), &[outputs, inputs], uniform()),
        VariableShape::new(&format!("{name}.bias"), &[outputs], uniform()),
    ]
}

/// Computes the score of each pair by KNRM, `[b]`.
pub(super) fn forward_knrm(pass: &ForwardPass<'_>) -> Result<Tensor> {
    let [means, widths, weight, bias] = &pass.variables[..] else {
        unreachable!("the variables are those of `knrm_variable_shapes`")
    };
    let vectors = concatenate_ngram_vectors(pass, 1)?; // [n, d]
    let features = vectors.apply_op3(means, widths, KernelPoolingOp::new(pass, 1))?; // [b, k]
    apply_linear(&features, weight, bias)?.flatten_all() // [b]
}

/// Computes the score of each pair by Conv-KNRM, `[b]`.
pub(super) fn forward_conv_knrm(
    pass: &ForwardPass<'_>,
    sizes: &ConvKernelPoolingConfig,
) -> Result<Tensor> {
    let [means, widths, convolutions @ .., weight, bias] = &pass.variables[..] else {
        unreachable!("the variables are those of `conv_knrm_variable_shapes`")
    };
    let s = sizes.max_ngram_terms;
    let terms = concatenate_ngram_vectors(pass, s)?; // [n, s d]
    let mut vectors = Vec::new();
    for (at, parameters) in convolutions.chunks_exact(2).enumerate() {
        let ngrams = terms.narrow(1, 0, (at + 1) * pass.config.dimensions)?;
        let filtered = apply_linear(&ngrams, &parameters[0], &parameters[1])?;
        vectors.push(scale_rows_to_unit_length(&filtered)?); // [n, f]
    }
    let vectors = Tensor::cat(&vectors, 1)?; // [n, s f]
    let features = vectors.apply_op3(means, widths, KernelPoolingOp::new(pass, s))?; // [b, s s k]
    apply_linear(&features, weight, bias)?.flatten_all() // [b]
}

/// Returns the vectors of each term and the `n_terms - 1` after it in the same text, `[n, s d]`.
fn concatenate_ngram_vectors(pass: &ForwardPass<'_>, n_terms: usize) -> Result<Tensor> {
    let texts = || pass.pairs.iter().flat_map(|it| [&it.query, &it.document]);
    let n: usize = texts().map(Vec::len).sum();
    let width = n_terms * pass.config.dimensions;
    let mut vectors = Vec::with_capacity(n * width);
    for text in texts() {
        for at in 0..text.len() {
            for term in at..at + n_terms {
                let id = text.get(term).copied().unwrap_or(0);
                vectors.extend_from_slice(pass.vocabulary.vector(id));
            }
        }
    }
    Tensor::from_vec(vectors, (n, width), &Device::Cpu)
}

/// The lengths of the texts of a pair.
#[derive(Clone, Copy, Debug)]
struct PairLengths {
    query: usize,
    document: usize,
    /// The number of document terms that are missing and are counted with the cosine 0.
    counted_padding: usize,
}

/// The features `[b, s s k]` of unit vectors `[n, s f]`, means `[k]` and widths `[k]`.
struct KernelPoolingOp {
    pairs: Vec<PairLengths>,
    /// The number of vectors per term.
    s: usize,
    /// Cosines and sums of kernels of each pair, for the backward pass.
    cosines_and_sums: OnceLock<Vec<CosinesAndKernelSums>>,
}

/// The cosines of a pair and their kernels.
struct CosinesAndKernelSums {
    /// `[s, s, query, width]`, where `width` is the document length as a multiple of [`LANES`].
    cosines: Vec<f32>,
    width: usize,
    /// `[s, s, query, k]`.
    sums: Vec<f32>,
}

impl KernelPoolingOp {
    fn new(pass: &ForwardPass<'_>, s: usize) -> CandleOperation<KernelPoolingOp> {
        let lengths = |pair: &&super::PreparedPair| PairLengths {
            query: pair.query.len(),
            document: pair.document.len(),
            counted_padding: match pass.config.variant {
                NetworkVariant::AsPublished => pass.config.max_document_terms - pair.document.len(),
                NetworkVariant::AsIntended
                | NetworkVariant::Capreolus
                | NetworkVariant::OpenNir => 0,
            },
        };
        CandleOperation(KernelPoolingOp {
            pairs: pass.pairs.iter().map(lengths).collect(),
            s,
            cosines_and_sums: OnceLock::new(),
        })
    }

    /// Iterates over the vectors of each pair, first those of the query.
    fn vectors_of_pairs<'a>(&self, mut vectors: &'a [f32], width: usize) -> Vec<[&'a [f32]; 2]> {
        let mut take = |n_terms: usize| {
            let (taken, rest) = vectors.split_at(n_terms * width);
            vectors = rest;
            taken
        };
        let each = self.pairs.iter();
        each.map(|it| [take(it.query), take(it.document)]).collect()
    }
}

impl CpuOperation<3> for KernelPoolingOp {
    const NAME: &'static str = "kernel-pooling";

    fn compute(&self, inputs: [InputNumbers<'_>; 3]) -> (Vec<f32>, (usize, usize)) {
        let [(vectors, dims), (means, _), (widths, _)] = inputs;
        let n_features = self.s * self.s * means.len();
        let mut features = vec![0.0; self.pairs.len() * n_features];
        let pairs = self.vectors_of_pairs(vectors, dims[1]);
        let each = features.par_chunks_exact_mut(n_features).zip(pairs);
        let each = each.zip(&self.pairs);
        let saved = each.map(|((features, [query, document]), &lengths)| {
            let (cosines, width) = self.compute_cosines(query, document, lengths);
            let n_sums = self.s * self.s * lengths.query * means.len();
            let mut saved = CosinesAndKernelSums {
                cosines,
                width,
                sums: vec![0.0; n_sums],
            };
            Arch::new().dispatch(KernelSums {
                saved: &mut saved,
                padding: lengths.counted_padding as f32,
                means,
                widths,
            });
            let rows = saved.sums.chunks_exact(lengths.query.max(1) * means.len());
            for (features, sums) in features.chunks_exact_mut(means.len()).zip(rows) {
                for sums in sums.chunks_exact(means.len()) {
                    let places = features.iter_mut().zip(sums);
                    places.for_each(|(place, sum)| *place += libm::logf(sum + LEAST_SUM));
                }
            }
            saved
        });
        let saved = saved.collect();
        let _ = self.cosines_and_sums.set(saved);
        (features, (self.pairs.len(), n_features))
    }

    fn compute_gradients(&self, inputs: [&Tensor; 3], gradient: &Tensor) -> Gradients<3> {
        let [vectors, means, widths] = inputs;
        let saved = self
            .cosines_and_sums
            .get()
            .expect("forward comes before backward");
        let row_width = vectors.dims()[1];
        let is_trained = vectors.track_op();
        let mut of_vectors = vec![0.0; if is_trained { vectors.elem_count() } else { 0 }];
        let k = means.elem_count();
        let of_kernels: Vec<[Vec<f32>; 2]> = read_numbers(vectors, |vectors| {
            read_numbers(means, |means| {
                read_numbers(widths, |widths| {
                    read_numbers(gradient, |gradient| {
                        let pairs = self.vectors_of_pairs(vectors, row_width);
                        let mut rest = &mut of_vectors[..];
                        let mut places = Vec::new();
                        for pair in &self.pairs {
                            let n_terms = if is_trained {
                                pair.query + pair.document
                            } else {
                                0
                            };
                            let taken = std::mem::take(&mut rest);
                            let (place, others) = taken.split_at_mut(n_terms * row_width);
                            rest = others;
                            places.push(place);
                        }
                        let each = pairs.par_iter().zip(&self.pairs).zip(saved).zip(places);
                        let each = each.zip(gradient.par_chunks_exact(self.s * self.s * k));
                        each.map(|((((vectors, lengths), saved), place), gradient)| {
                            let pair = KernelGradients {
                                saved,
                                padding: PairLengths::padding(*lengths),
                                means,
                                widths,
                                gradient,
                            };
                            let (of_cosines, of_kernels) = Arch::new().dispatch(pair);
                            if is_trained {
                                Arch::new().dispatch(VectorGradients {
                                    vectors: *vectors,
                                    lengths: *lengths,
                                    s: self.s,
                                    of_cosines: &of_cosines,
                                    width: saved.width,
                                    place,
                                });
                            }
                            of_kernels
                        })
                        .collect()
                    })
                })
            })
        })????;
        let mut sums = [vec![0.0; k], vec![0.0; k]];
        for of_kernels in &of_kernels {
            let both = sums.iter_mut().zip(of_kernels);
            both.for_each(|(sum, it)| add_to(sum, it));
        }
        let [of_means, of_widths] = sums;
        let of_vectors = match is_trained {
            true => gradient_of(vectors, of_vectors)?,
            false => None,
        };
        Ok([
            of_vectors,
            gradient_of(means, of_means)?,
            gradient_of(widths, of_widths)?,
        ])
    }
}

impl PairLengths {
    fn padding(self) -> f32 {
        self.counted_padding as f32
    }
}

impl KernelPoolingOp {
    /// Computes the cosines of a pair `[s, s, query, width]`, and `width`.
    fn compute_cosines(
        &self,
        query: &[f32],
        document: &[f32],
        lengths: PairLengths,
    ) -> (Vec<f32>, usize) {
        let s = self.s;
        let width = lengths.document.next_multiple_of(LANES);
        let mut cosines = vec![NO_COSINE; s * s * lengths.query * width];
        if cosines.is_empty() {
            return (cosines, width);
        }
        let f = query.len() / (lengths.query * s);
        let n_columns = lengths.document * s;
        let mut products = vec![0.0; lengths.query * s * n_columns];
        // Side by side are the vectors of the document, of which there are more.
        InnerProductMatrix::compute(document, query, f).copy_rows_to(&mut products);
        for (row, products) in products.chunks_exact(n_columns).enumerate() {
            let (term, of_query) = (row / s, row % s);
            for (column, product) in products.iter().enumerate() {
                let (other, of_document) = (column / s, column % s);
                let matrix = of_query * s + of_document;
                cosines[(matrix * lengths.query + term) * width + other] = *product;
            }
        }
        (cosines, width)
    }
}

/// Computes the sums of kernels over the document.
struct KernelSums<'a> {
    saved: &'a mut CosinesAndKernelSums,
    padding: f32,
    means: &'a [f32],
    widths: &'a [f32],
}

impl WithSimd for KernelSums<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let k = self.means.len();
        let CosinesAndKernelSums {
            cosines,
            width,
            sums,
        } = self.saved;
        for (row, sums) in sums.chunks_exact_mut(k).enumerate() {
            let (cosines, _) = cosines[row * *width..][..*width].as_chunks::<LANES>();
            for (sum, (&mean, &kernel_width)) in
                sums.iter_mut().zip(self.means.iter().zip(self.widths))
            {
                let scale = 1.0 / kernel_width;
                let mut lanes = [0.0_f32; LANES];
                for cosines in cosines {
                    for (lane, cosine) in lanes.iter_mut().zip(cosines) {
                        let z = (cosine - mean) * scale;
                        *lane += exp_of_nonpositive(-0.5 * z * z);
                    }
                }
                let z = -mean * scale;
                let of_padding = self.padding * exp_of_nonpositive(-0.5 * z * z);
                *sum = lanes.into_iter().sum::<f32>() + of_padding;
            }
        }
    }
}

/// Computes the gradients of cosines, means and widths of a pair.
struct KernelGradients<'a> {
    saved: &'a CosinesAndKernelSums,
    padding: f32,
    means: &'a [f32],
    widths: &'a [f32],
    /// `[s, s, k]`.
    gradient: &'a [f32],
}

impl WithSimd for KernelGradients<'_> {
    type Output = (Vec<f32>, [Vec<f32>; 2]);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> (Vec<f32>, [Vec<f32>; 2]) {
        let k = self.means.len();
        let saved = self.saved;
        let mut of_cosines = vec![0.0; saved.cosines.len()];
        let mut of_means = vec![0.0; k];
        let mut of_widths = vec![0.0; k];
        let n_matrices = self.gradient.len() / k;
        let n_rows = saved.sums.len() / k;
        for row in 0..n_rows {
            let gradient = &self.gradient[row * n_matrices / n_rows * k..][..k];
            let sums = &saved.sums[row * k..][..k];
            let places = row * saved.width..(row + 1) * saved.width;
            let (cosines, _) = saved.cosines[places.clone()].as_chunks::<LANES>();
            let (of_cosines, _) = of_cosines[places].as_chunks_mut::<LANES>();
            for at in 0..k {
                let (mean, scale) = (self.means[at], 1.0 / self.widths[at]);
                let of_sum = gradient[at] / (sums[at] + LEAST_SUM) * scale;
                let (mut firsts, mut squares) = ([0.0_f32; LANES], [0.0_f32; LANES]);
                for (cosines, of_cosines) in cosines.iter().zip(of_cosines.iter_mut()) {
                    for lane in 0..LANES {
                        let z = (cosines[lane] - mean) * scale;
                        let ez = exp_of_nonpositive(-0.5 * z * z) * z;
                        of_cosines[lane] -= of_sum * ez;
                        firsts[lane] += ez;
                        squares[lane] += ez * z;
                    }
                }
                let z = -mean * scale;
                let of_padding = self.padding * exp_of_nonpositive(-0.5 * z * z) * z;
                of_means[at] += of_sum * (firsts.into_iter().sum::<f32>() + of_padding);
                of_widths[at] += of_sum * (squares.into_iter().sum::<f32>() + of_padding * z);
            }
        }
        (of_cosines, [of_means, of_widths])
    }
}

/// Computes the gradients of the vectors of a pair from those of its cosines.
struct VectorGradients<'a> {
    /// `[query, s, f]` and `[document, s, f]`.
    vectors: [&'a [f32]; 2],
    lengths: PairLengths,
    s: usize,
    of_cosines: &'a [f32],
    width: usize,
    /// `[query + document, s, f]`.
    place: &'a mut [f32],
}

impl WithSimd for VectorGradients<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let [query, document] = self.vectors;
        let PairLengths {
            query: n_query,
            document: n_document,
            ..
        } = self.lengths;
        if n_query == 0 || n_document == 0 {
            return;
        }
        let s = self.s;
        let f = query.len() / (n_query * s);
        let (of_query, of_document) = self.place.split_at_mut(query.len());
        for (row, of_query) in of_query.chunks_exact_mut(f).enumerate() {
            let query = &query[row * f..][..f];
            let (term, of_set) = (row / s, row % s);
            for set in 0..s {
                let matrix = of_set * s + set;
                let of_cosines = &self.of_cosines[(matrix * n_query + term) * self.width..];
                for (other, &of_cosine) in of_cosines[..n_document].iter().enumerate() {
                    let at = (other * s + set) * f;
                    add_multiple_to(of_query, of_cosine, &document[at..][..f]);
                    add_multiple_to(&mut of_document[at..][..f], of_cosine, query);
                }
            }
        }
    }
}
