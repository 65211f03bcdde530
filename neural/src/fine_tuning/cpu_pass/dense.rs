//! Products, dense layers and passes over all numbers, with their gradients, in parallel.

use pulp::Arch;
use rayon::prelude::*;

use super::ROWS;
use crate::bert_cpu::{MatrixRowsMut, StridedMatrixView, gelu, gelu_slope, multiply_matrices};

pub(super) fn view(numbers: &[f32], rows: usize, columns: usize) -> StridedMatrixView<'_> {
    strided(numbers, rows, columns, columns)
}

pub(super) fn strided(
    numbers: &[f32],
    rows: usize,
    columns: usize,
    stride: usize,
) -> StridedMatrixView<'_> {
    StridedMatrixView::with_row_stride(numbers, [rows, columns], stride)
}

/// Computes a product on the thread of the caller.
pub(super) fn product(a: StridedMatrixView<'_>, b: StridedMatrixView<'_>, y: MatrixRowsMut<'_>) {
    multiply_matrices(a, b, y, gemm::Parallelism::None);
}

/// Computes the product of two matrices in parallel.
pub(super) fn parallel_product(a: StridedMatrixView<'_>, b: StridedMatrixView<'_>) -> Vec<f32> {
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
pub(super) fn linear(x: &[f32], [weight, bias]: &[&[f32]; 2], inputs: usize) -> Vec<f32> {
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
pub(super) fn input_gradient(gradient: &[f32], weight: &[f32], inputs: usize) -> Vec<f32> {
    let outputs = weight.len() / inputs;
    let rows = gradient.len() / outputs;
    parallel_product(view(gradient, rows, outputs), view(weight, outputs, inputs))
}

/// Computes the gradients of a dense layer's weight and bias.
pub(super) fn weight_and_bias_gradients(
    gradient: &[f32],
    x: &[f32],
    inputs: usize,
) -> [Vec<f32>; 2] {
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

pub(super) fn add(sums: &mut [f32], numbers: &[f32]) {
    const SIZE: usize = ROWS * 128;
    let chunks = sums.par_chunks_mut(SIZE).zip(numbers.par_chunks(SIZE));
    chunks.for_each(|(sums, numbers)| {
        sums.iter_mut()
            .zip(numbers)
            .for_each(|(sum, it)| *sum += it);
    });
}

pub(super) fn gelu_of(x: &[f32]) -> Vec<f32> {
    const SIZE: usize = ROWS * 128;
    let mut y = x.to_vec();
    let arch = Arch::new();
    let chunks = y.par_chunks_mut(SIZE);
    chunks.for_each(|y| arch.dispatch(|| y.iter_mut().for_each(|it| *it = gelu(*it))));
    y
}

pub(super) fn multiply_by_gelu_slope(gradient: &mut [f32], x: &[f32]) {
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
