//! Gradients of variables: their values, and clipping by their norm.

use candle_core::backprop::GradStore;
use candle_core::{CpuStorage, Storage, Tensor, Var};
use rayon::prelude::*;

use super::error::TrainingError;

/// The number of elements that one thread works on at a time; it is fixed, so that sums have the
/// same bits with any number of threads.
pub(super) const CHUNK: usize = 1 << 14;

/// Scales the gradients of all variables such that their common Euclidean norm is at most
/// `max_norm`, as `clip_grad_norm_` of PyTorch does: by the smaller of 1 and
/// `max_norm` / (norm + 10⁻⁶). Returns the norm before, the root of the sum of squares over all
/// elements. To be called after the backward pass.
pub fn clip_gradient_norm(
    variables: &[(String, Var)],
    gradients: &mut GradStore,
    max_norm: f64,
) -> Result<f64, TrainingError> {
    let mut sum = 0.0;
    for variable in variables {
        sum += read_gradient(variable, gradients, sum_of_squares)?;
    }
    let norm = libm::sqrt(sum);
    let scale = max_norm / (norm + 1e-6);
    if scale < 1.0 {
        for (name, variable) in variables {
            let gradient = find_gradient(name, variable, gradients)?;
            let scaled = gradient.affine(scale, 0.0)?;
            gradients.insert(variable, scaled);
        }
    }
    Ok(norm)
}

/// Returns the gradient of a variable, or an error if the loss does not depend on it.
fn find_gradient<'a>(
    name: &str,
    variable: &Var,
    gradients: &'a GradStore,
) -> Result<&'a Tensor, TrainingError> {
    gradients
        .get(variable)
        .ok_or_else(|| TrainingError::MissingGradient {
            name: name.to_owned(),
        })
}

/// Calls `read` with the elements of the gradient of a variable, in row-major order, without a copy
/// where they are on the CPU.
pub(super) fn read_gradient<T>(
    (name, variable): &(String, Var),
    gradients: &GradStore,
    read: impl FnOnce(&[f32]) -> T,
) -> Result<T, TrainingError> {
    let gradient = find_gradient(name, variable, gradients)?;
    {
        let (storage, layout) = gradient.storage_and_layout();
        if let (Storage::Cpu(CpuStorage::F32(values)), Some((start, end))) =
            (&*storage, layout.contiguous_offsets())
        {
            return Ok(read(&values[start..end]));
        }
    }
    Ok(read(&gradient.flatten_all()?.to_vec1::<f32>()?))
}

/// Returns the sum of squares in double precision: over chunks, and then of their sums in order.
fn sum_of_squares(values: &[f32]) -> f64 {
    let of_chunk =
        |chunk: &[f32]| -> f64 { chunk.iter().map(|it| f64::from(*it) * f64::from(*it)).sum() };
    let sums: Vec<f64> = values.par_chunks(CHUNK).map(of_chunk).collect();
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Device;

    fn gradient_values(variable: &(String, Var), gradients: &GradStore) -> Vec<f32> {
        read_gradient(variable, gradients, <[f32]>::to_vec).unwrap()
    }

    /// Two variables with the gradients (3, 0) and (4).
    fn variables_and_gradients() -> (Vec<(String, Var)>, GradStore) {
        let var = |values: &[f32]| Var::new(values, &Device::Cpu).unwrap();
        let (one, other) = (var(&[1.5, 0.0]), var(&[2.0]));
        let loss = (one.sqr().unwrap().sum_all().unwrap()
            + other.sqr().unwrap().sum_all().unwrap())
        .unwrap();
        let gradients = loss.backward().unwrap();
        let variables = vec![("one".to_owned(), one), ("other".to_owned(), other)];
        (variables, gradients)
    }

    #[test]
    fn long_gradients_get_the_largest_norm() {
        let (variables, mut gradients) = variables_and_gradients();
        let norm = clip_gradient_norm(&variables, &mut gradients, 1.0).unwrap();
        assert_eq!(norm, 5.0);
        let of = |at: usize| gradient_values(&variables[at], &gradients);
        assert!((of(0)[0] - 0.6).abs() < 1e-6 && of(0)[1] == 0.0);
        assert!((of(1)[0] - 0.8).abs() < 1e-6);
    }

    #[test]
    fn short_gradients_keep_their_bits() {
        for max_norm in [5.1, f64::INFINITY] {
            let (variables, mut gradients) = variables_and_gradients();
            assert_eq!(
                clip_gradient_norm(&variables, &mut gradients, max_norm).unwrap(),
                5.0
            );
            assert_eq!(gradient_values(&variables[0], &gradients), [3.0, 0.0]);
            assert_eq!(gradient_values(&variables[1], &gradients), [4.0]);
        }
    }

    #[test]
    fn a_variable_without_a_gradient_is_an_error() {
        let (mut variables, mut gradients) = variables_and_gradients();
        let unused = Var::new(&[1.0_f32], &Device::Cpu).unwrap();
        variables.push(("unused".to_owned(), unused));
        let error = clip_gradient_norm(&variables, &mut gradients, 1.0).unwrap_err();
        assert!(error.to_string().contains("`unused` has no gradient"));
    }

    #[test]
    fn sums_do_not_depend_on_the_number_of_threads() {
        let values: Vec<f32> = (0..100_000).map(|it| (it as f32).sin()).collect();
        let with_threads = |n_threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
            let pool = pool.build().unwrap();
            pool.install(|| sum_of_squares(&values)).to_bits()
        };
        assert_eq!(with_threads(1), with_threads(3));
    }
}
