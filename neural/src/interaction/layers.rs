//! Layers with gradients that candle has not, or has only as several passes over single numbers.
//!
//! A row of a result has the same bits whatever the other rows are, and nothing depends on the
//! number of threads.
//!
//! Shapes: `n` rows, `i` inputs, `o` outputs.

use std::sync::OnceLock;

use candle_core::{
    CpuStorage, CustomOp1, CustomOp2, CustomOp3, Device, Layout, Result, Shape, Storage, Tensor,
};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::bert_cpu::reduce_in_lanes;
use crate::dropout::Dropout;
use crate::maxsim::InnerProductMatrix;

/// The number of rows of a product that a thread computes at once.
const ROWS_AT_ONCE: usize = 128;

/// The number of elements of a pass that a thread computes at once; even, as [`Dropout`] needs.
const ELEMENTS_AT_ONCE: usize = 8192;

/// Returns the numbers of a contiguous storage.
pub(super) fn stored_numbers<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    match (storage.as_slice::<f32>()?, layout.contiguous_offsets()) {
        (numbers, Some((start, end))) => Ok(&numbers[start..end]),
        (_, None) => candle_core::bail!("a layer needs contiguous numbers"),
    }
}

/// Calls `read` with the numbers of a tensor in row-major order.
pub(super) fn read_numbers<T>(tensor: &Tensor, read: impl FnOnce(&[f32]) -> T) -> Result<T> {
    let tensor = tensor.contiguous()?;
    let (storage, layout) = tensor.storage_and_layout();
    match &*storage {
        Storage::Cpu(storage) => Ok(read(stored_numbers(storage, layout)?)),
        Storage::Cuda(_) | Storage::Metal(_) => candle_core::bail!("a layer computes on the CPU"),
    }
}

/// The numbers and the dimensions of a contiguous tensor.
pub(super) type InputNumbers<'a> = (&'a [f32], &'a [usize]);

/// The gradient of each input of an operation; nothing for an input that is not trained.
pub(super) type Gradients<const N: usize> = Result<[Option<Tensor>; N]>;

/// An operation on the CPU of `N` contiguous tensors, with its own backward pass.
pub(super) trait CpuOperation<const N: usize> {
    const NAME: &'static str;

    /// Computes the numbers and the shape of the output.
    fn compute(&self, inputs: [InputNumbers<'_>; N]) -> (Vec<f32>, (usize, usize));

    /// Computes the gradient of each input that is trained, from the gradient of the output.
    fn compute_gradients(&self, inputs: [&Tensor; N], gradient: &Tensor) -> Gradients<N>;
}

/// Returns the gradient of a trained input from its numbers.
pub(super) fn gradient_of(input: &Tensor, numbers: Vec<f32>) -> Result<Option<Tensor>> {
    Tensor::from_vec(numbers, input.shape(), &Device::Cpu).map(Some)
}

/// A [`CpuOperation`] that candle can apply.
pub(super) struct CandleOperation<T>(pub(super) T);

impl<T: CpuOperation<2>> CustomOp2 for CandleOperation<T> {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn cpu_fwd(
        &self,
        a: &CpuStorage,
        a_layout: &Layout,
        b: &CpuStorage,
        b_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let a = (stored_numbers(a, a_layout)?, a_layout.dims());
        let b = (stored_numbers(b, b_layout)?, b_layout.dims());
        let (output, shape) = self.0.compute([a, b]);
        Ok((CpuStorage::F32(output), shape.into()))
    }

    fn bwd(
        &self,
        a: &Tensor,
        b: &Tensor,
        _: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        Ok(self.0.compute_gradients([a, b], gradient)?.into())
    }
}

impl<T: CpuOperation<3>> CustomOp3 for CandleOperation<T> {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn cpu_fwd(
        &self,
        a: &CpuStorage,
        a_layout: &Layout,
        b: &CpuStorage,
        b_layout: &Layout,
        c: &CpuStorage,
        c_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let a = (stored_numbers(a, a_layout)?, a_layout.dims());
        let b = (stored_numbers(b, b_layout)?, b_layout.dims());
        let c = (stored_numbers(c, c_layout)?, c_layout.dims());
        let (output, shape) = self.0.compute([a, b, c]);
        Ok((CpuStorage::F32(output), shape.into()))
    }

    fn bwd(
        &self,
        a: &Tensor,
        b: &Tensor,
        c: &Tensor,
        _: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        Ok(self.0.compute_gradients([a, b, c], gradient)?.into())
    }
}

/// Computes `x wᵀ + b` of `x` `[n, i]`, `w` `[o, i]` and `b` `[o]`; the result is `[n, o]`.
pub(super) fn apply_linear(input: &Tensor, weight: &Tensor, bias: &Tensor) -> Result<Tensor> {
    let weight = weight.contiguous()?;
    input
        .contiguous()?
        .apply_op3(&weight, bias, CandleOperation(LinearOp))
}

struct LinearOp;

impl CpuOperation<3> for LinearOp {
    const NAME: &'static str = "linear";

    fn compute(&self, inputs: [InputNumbers<'_>; 3]) -> (Vec<f32>, (usize, usize)) {
        let [(input, dims), (weight, _), (bias, _)] = inputs;
        (compute_linear(input, weight, bias), (dims[0], bias.len()))
    }

    fn compute_gradients(&self, inputs: [&Tensor; 3], gradient: &Tensor) -> Gradients<3> {
        let [input, weight, bias] = inputs;
        let of_input = match input.track_op() {
            true => Some(gradient.matmul(weight)?),
            false => None,
        };
        let mut of_bias = vec![0.0; bias.elem_count()];
        read_numbers(gradient, |gradient| {
            for row in gradient.chunks_exact(of_bias.len()) {
                add_to(&mut of_bias, row);
            }
        })?;
        let of_weight = Some(gradient.t()?.matmul(input)?);
        Ok([of_input, of_weight, gradient_of(bias, of_bias)?])
    }
}

/// Adds the numbers of `row` to those of `sum`.
#[inline(always)]
pub(super) fn add_to(sum: &mut [f32], row: &[f32]) {
    sum.iter_mut().zip(row).for_each(|(sum, it)| *sum += it);
}

/// Adds the numbers of `row`, times `factor`, to those of `sum`.
#[inline(always)]
pub(super) fn add_multiple_to(sum: &mut [f32], factor: f32, row: &[f32]) {
    sum.iter_mut()
        .zip(row)
        .for_each(|(sum, it)| *sum += factor * it);
}

/// Returns the inner product of two vectors, summed in sixteen lanes.
#[inline(always)]
pub(super) fn inner_product(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0; 16];
    let (a_lanes, a_rest) = a.as_chunks::<16>();
    let (b_lanes, b_rest) = b.as_chunks::<16>();
    for (a, b) in a_lanes.iter().zip(b_lanes) {
        for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += a * b;
        }
    }
    for (lane, (a, b)) in lanes.iter_mut().zip(a_rest.iter().zip(b_rest)) {
        *lane += a * b;
    }
    lanes.into_iter().sum()
}

/// Computes `x wᵀ + b`, each sum in a fixed order.
fn compute_linear(input: &[f32], weight: &[f32], bias: &[f32]) -> Vec<f32> {
    let n_outputs = bias.len();
    let n_inputs = weight.len() / n_outputs;
    let mut output = vec![0.0; input.len() / n_inputs * n_outputs];
    let rows = output.par_chunks_mut(ROWS_AT_ONCE * n_outputs);
    let inputs = input.par_chunks(ROWS_AT_ONCE * n_inputs);
    rows.zip(inputs).for_each(|(output, input)| {
        if n_outputs == 1 {
            let (weight, bias) = (weight, bias[0]);
            Arch::new().dispatch(RowProducts {
                input,
                weight,
                bias,
                output,
            });
            return;
        }
        let products = InnerProductMatrix::compute(weight, input, n_inputs);
        products.copy_rows_to(output);
        output
            .chunks_exact_mut(n_outputs)
            .for_each(|row| add_to(row, bias));
    });
    output
}

/// The products of each row with the same vector.
struct RowProducts<'a> {
    input: &'a [f32],
    weight: &'a [f32],
    bias: f32,
    output: &'a mut [f32],
}

impl WithSimd for RowProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let rows = self.input.chunks_exact(self.weight.len());
        for (output, row) in self.output.iter_mut().zip(rows) {
            *output = self.bias + inner_product(row, self.weight);
        }
    }
}

/// A function of each element, before dropout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Activation {
    /// The element itself.
    Identity,
    /// The hyperbolic tangent of the element.
    Tanh,
    /// The element itself if it is above 0, or else 0.
    Relu,
}

/// Computes the activation of each element, with dropout.
pub(super) fn activate(
    input: &Tensor,
    activation: Activation,
    dropout: Option<Dropout>,
) -> Result<Tensor> {
    if activation == Activation::Identity && dropout.is_none() {
        return Ok(input.clone());
    }
    input.contiguous()?.apply_op1(ActivationOp {
        activation,
        dropout,
        slopes: OnceLock::new(),
    })
}

struct ActivationOp {
    activation: Activation,
    dropout: Option<Dropout>,
    /// The derivative of each element, for the backward pass.
    slopes: OnceLock<Vec<f32>>,
}

impl CustomOp1 for ActivationOp {
    fn name(&self) -> &'static str {
        "activation-with-dropout"
    }

    fn cpu_fwd(&self, input: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let input = stored_numbers(input, layout)?;
        let mut output = vec![0.0; input.len()];
        let mut slopes = vec![0.0; input.len()];
        let chunks = output.par_chunks_mut(ELEMENTS_AT_ONCE);
        let chunks = chunks.zip(slopes.par_chunks_mut(ELEMENTS_AT_ONCE));
        let chunks = chunks.zip(input.par_chunks(ELEMENTS_AT_ONCE));
        chunks
            .enumerate()
            .for_each(|(at, ((output, slopes), input))| {
                Arch::new().dispatch(ActivationPass {
                    activation: self.activation,
                    dropout: self.dropout,
                    first: at * ELEMENTS_AT_ONCE,
                    input,
                    output,
                    slopes,
                });
            });
        // A second forward pass of the same operation has the same slopes.
        let _ = self.slopes.set(slopes);
        Ok((CpuStorage::F32(output), layout.shape().clone()))
    }

    fn bwd(&self, input: &Tensor, _: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let slopes = self.slopes.get().expect("forward comes before backward");
        let product = |gradient: &[f32]| {
            let both = gradient.iter().zip(slopes);
            both.map(|(gradient, slope)| gradient * slope).collect()
        };
        let of_input: Vec<f32> = read_numbers(gradient, product)?;
        gradient_of(input, of_input)
    }
}

/// The activation of consecutive elements and their derivatives.
pub(super) struct ActivationPass<'a> {
    pub(super) activation: Activation,
    pub(super) dropout: Option<Dropout>,
    /// The index of the first element, even.
    pub(super) first: usize,
    pub(super) input: &'a [f32],
    pub(super) output: &'a mut [f32],
    pub(super) slopes: &'a mut [f32],
}

impl WithSimd for ActivationPass<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        match self.dropout {
            Some(dropout) => dropout.write_factors(self.first, self.slopes),
            None => self.slopes.fill(1.0),
        }
        let places = self.output.iter_mut().zip(self.slopes.iter_mut());
        match self.activation {
            Activation::Identity => {
                for ((output, slope), input) in places.zip(self.input) {
                    *output = input * *slope;
                }
            }
            Activation::Tanh => {
                for ((output, slope), input) in places.zip(self.input) {
                    let it = tanh(*input);
                    *output = it * *slope;
                    *slope *= 1.0 - it * it;
                }
            }
            Activation::Relu => {
                for ((output, slope), input) in places.zip(self.input) {
                    // At 0 the slope is 0, as in PyTorch.
                    *slope = if *input > 0.0 { *slope } else { 0.0 };
                    *output = input * *slope;
                }
            }
        }
    }
}

/// Computes the hyperbolic tangent with an error of 4e-7: a quotient of polynomials in `x²`, as in
/// Eigen's and XLA's `tanh` for f32. Beyond 7.9 it is 1 in f32.
#[inline(always)]
fn tanh(x: f32) -> f32 {
    const MOST: f32 = 7.905_311;
    let x = if x > MOST { MOST } else { x };
    let x = if x < -MOST { -MOST } else { x };
    let z = x * x;
    let mut p = -2.760_768_4e-16;
    p = p * z + 2.000_188e-13;
    p = p * z - 8.604_672e-11;
    p = p * z + 5.122_297e-8;
    p = p * z + 1.485_722_3e-5;
    p = p * z + 6.372_619_3e-4;
    p = p * z + 4.893_524_6e-3;
    let mut q = 1.198_258_4e-6;
    q = q * z + 1.185_347_1e-4;
    q = q * z + 2.268_434_6e-3;
    q = q * z + 4.893_525e-3;
    x * p / q
}

/// Scales each row of `[n, i]` to length 1; a row of zeros stays.
pub(super) fn scale_rows_to_unit_length(input: &Tensor) -> Result<Tensor> {
    input.contiguous()?.apply_op1(UnitLengthOp {
        lengths: OnceLock::new(),
    })
}

struct UnitLengthOp {
    /// The length of each row, for the backward pass.
    lengths: OnceLock<Vec<f32>>,
}

/// The least length by which a row is divided, as in PyTorch's `normalize`.
const LEAST_LENGTH: f32 = 1e-12;

impl CustomOp1 for UnitLengthOp {
    fn name(&self) -> &'static str {
        "unit-length"
    }

    fn cpu_fwd(&self, input: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let input = stored_numbers(input, layout)?;
        let width = layout.dims()[1];
        let mut output = input.to_vec();
        let scale = |row: &mut [f32]| {
            let square = reduce_in_lanes(row, 0.0, |it| it * it, |a, b| a + b);
            let length = square.sqrt().max(LEAST_LENGTH);
            row.iter_mut().for_each(|it| *it /= length);
            length
        };
        let lengths = output.par_chunks_exact_mut(width).map(scale).collect();
        let _ = self.lengths.set(lengths);
        Ok((CpuStorage::F32(output), layout.shape().clone()))
    }

    fn bwd(&self, input: &Tensor, unit: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let lengths = self.lengths.get().expect("forward comes before backward");
        let width = input.dims()[1];
        let mut of_input = vec![0.0; input.elem_count()];
        read_numbers(unit, |unit| {
            read_numbers(gradient, |gradient| {
                let rows = of_input.par_chunks_exact_mut(width).zip(lengths);
                let rows = rows.zip(unit.par_chunks_exact(width));
                let rows = rows.zip(gradient.par_chunks_exact(width));
                rows.for_each(|(((of_input, length), unit), gradient)| {
                    let along = match *length > LEAST_LENGTH {
                        true => inner_product(unit, gradient),
                        false => 0.0,
                    };
                    for (place, (unit, gradient)) in
                        of_input.iter_mut().zip(unit.iter().zip(gradient))
                    {
                        *place = (gradient - along * unit) / length;
                    }
                });
            })
        })??;
        gradient_of(input, of_input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hyperbolic_tangent_is_as_exact_as_f32_needs() {
        for step in -40_000..=40_000_i32 {
            let x = step as f32 / 4_000.0;
            let exact = libm::tanh(f64::from(x));
            assert!(
                (f64::from(tanh(x)) - exact).abs() < 4e-7,
                "{x}: {} {exact}",
                tanh(x)
            );
        }
        assert_eq!(tanh(0.0), 0.0);
        assert_eq!(tanh(f32::INFINITY), tanh(8.0));
        assert!(tanh(f32::NAN).is_nan());
    }

    #[test]
    fn an_inner_product_has_all_its_terms() {
        for n in [0, 1, 15, 16, 17, 50] {
            let a: Vec<f32> = (0..n).map(|it| it as f32).collect();
            let expected: f32 = a.iter().map(|it| it * it).sum();
            assert_eq!(inner_product(&a, &a), expected);
        }
    }
}
