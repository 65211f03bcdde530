//! The spectra of token vectors: how much the vectors of a token depend on the context.
//!
//! With the vectors of a token as the rows of `X`, `[n, h]`, not centered, and its singular values
//! `λ_1 ≥ λ_2 ≥ …`, the spectral ratio is `λ_1 / Σ λ_k`: 1 if all vectors have one direction
//! (Formal, Piwowarski and Clinchant, ECIR 2021, section 4.3). To save memory, the vectors of a
//! token are stored only while there are fewer than `h` of them. After that `X^T X` is summed, in
//! f64 and in the order of the texts; the singular values are the square roots of its eigenvalues.

use std::collections::BTreeMap;

use faer::{Mat, Par, Side};
use rayon::prelude::*;

use crate::embedding::SingleOrMultiVectorEncoding;

/// Accumulates the vectors of some tokens, text by text.
#[derive(Debug, Clone)]
pub struct TokenSpectrumAccumulator {
    /// The number of dimensions, once there is a vector.
    width: usize,
    of: BTreeMap<u32, Sums>,
}

/// The accumulated vectors of a token.
#[derive(Debug, Clone)]
enum Sums {
    /// The vectors `[n, h]`, while there are few.
    Vectors(Vec<f32>),
    /// The lower triangle of `X^T X`, row by row, and the number of vectors.
    Products(Vec<f64>, u64),
}

/// The spectrum of the vectors of a token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenSpectralRatio {
    /// The number of vectors.
    pub n: u64,
    /// λ_1 / Σ λ_k, above 0 and at most 1.
    pub ratio: f64,
}

impl TokenSpectrumAccumulator {
    /// Creates an accumulator without vectors for the tokens with the given ids; other tokens are
    /// ignored.
    pub fn for_tokens(tokens: impl IntoIterator<Item = u32>) -> TokenSpectrumAccumulator {
        let none = |it| (it, Sums::Vectors(Vec::new()));
        TokenSpectrumAccumulator {
            width: 1,
            of: tokens.into_iter().map(none).collect(),
        }
    }

    /// Adds the vectors of some texts, all of one model. Tokens are processed in parallel, each in
    /// the order of the texts.
    pub fn add_texts(&mut self, texts: &[&SingleOrMultiVectorEncoding]) {
        let mut widths = texts.iter().filter_map(|it| it.vectors().next());
        if let Some(vector) = widths.next() {
            self.width = vector.len();
        }
        let mut found: BTreeMap<u32, Vec<&[f32]>> = BTreeMap::new();
        for text in texts {
            for (id, vector) in text.vector_token_ids().zip(text.vectors()) {
                if self.of.contains_key(&id) {
                    found.entry(id).or_default().push(vector);
                }
            }
        }
        let width = self.width;
        self.of.par_iter_mut().for_each(|(id, sums)| {
            for vector in found.get(id).into_iter().flatten() {
                sums.add(vector, width);
            }
        });
    }

    /// Returns the number of vectors of a token.
    pub fn n_vectors_of_token(&self, token: u32) -> u64 {
        self.of.get(&token).map_or(0, |it| it.n(self.width))
    }

    /// Returns the spectra of all tokens with at least `floor` vectors, by token id.
    pub fn spectral_ratios_of_frequent_tokens(
        &self,
        floor: u64,
    ) -> BTreeMap<u32, TokenSpectralRatio> {
        let each = self.of.par_iter();
        let found = each.filter_map(|(&id, sums)| {
            let n = sums.n(self.width);
            let enough = n >= floor.max(1);
            let ratio = enough.then(|| sums.ratio(self.width)).flatten()?;
            Some((id, TokenSpectralRatio { n, ratio }))
        });
        found.collect()
    }
}

impl Sums {
    fn n(&self, width: usize) -> u64 {
        match self {
            Sums::Vectors(numbers) => (numbers.len() / width) as u64,
            Sums::Products(_, n) => *n,
        }
    }

    fn add(&mut self, vector: &[f32], width: usize) {
        match self {
            // The lower triangle in f64 takes as much memory as `h` vectors in f32.
            Sums::Vectors(numbers) if numbers.len() < width * width => {
                numbers.extend_from_slice(vector);
            }
            Sums::Vectors(numbers) => {
                let mut products = vec![0.0; width * (width + 1) / 2];
                for row in numbers.chunks_exact(width) {
                    add_product(&mut products, row);
                }
                add_product(&mut products, vector);
                let n = (numbers.len() / width) as u64 + 1;
                *self = Sums::Products(products, n);
            }
            Sums::Products(products, n) => {
                add_product(products, vector);
                *n += 1;
            }
        }
    }

    /// Returns the spectral ratio; `None` if every vector is zero.
    fn ratio(&self, width: usize) -> Option<f64> {
        let (order, products) = match self {
            Sums::Products(products, _) => (width, products.clone()),
            // The nonzero eigenvalues of `X X^T` are those of `X^T X`, and it is smaller.
            Sums::Vectors(numbers) => {
                let rows: Vec<&[f32]> = numbers.chunks_exact(width).collect();
                let products = (0..rows.len())
                    .flat_map(|a| (0..=a).map(move |b| (a, b)))
                    .map(|(a, b)| crate::embedding::dot(rows[a], rows[b]));
                (rows.len(), products.collect())
            }
        };
        let at = |row: usize, column: usize| {
            let (row, column) = (row.max(column), row.min(column));
            products[row * (row + 1) / 2 + column]
        };
        let square = Mat::from_fn(order, order, at);
        // Sequential, for the same bits whatever else runs.
        faer::set_global_parallelism(Par::Seq);
        let eigenvalues = square.self_adjoint_eigenvalues(Side::Lower).ok()?;
        let most = eigenvalues.iter().copied().fold(0.0, f64::max);
        // A zero eigenvalue with a rounding error would add its square root.
        let least = most * order as f64 * f64::EPSILON;
        let kept = eigenvalues.into_iter().filter(|&it| it > least);
        let sum: f64 = kept.map(f64::sqrt).sum();
        (sum > 0.0).then(|| most.sqrt() / sum)
    }
}

fn add_product(products: &mut [f64], vector: &[f32]) {
    let vector: Vec<f64> = vector.iter().map(|&it| f64::from(it)).collect();
    let mut rest = products;
    for (at, &a) in vector.iter().enumerate() {
        let Some((row, others)) = rest.split_at_mut_checked(at + 1) else {
            return;
        };
        row.iter_mut()
            .zip(&vector)
            .for_each(|(sum, b)| *sum += a * b);
        rest = others;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maxsim::tests::random_numbers;

    fn ratio(numbers: &[f32], width: usize) -> f64 {
        let mut sums = Sums::Vectors(Vec::new());
        for vector in numbers.chunks_exact(width) {
            sums.add(vector, width);
        }
        sums.ratio(width).unwrap()
    }

    /// From numpy 1.26.4: `s = np.linalg.svd(x, compute_uv=False); s[0] / s.sum()`.
    #[test]
    fn ratios_are_those_of_numpy() {
        for (rows, width, expected) in [
            (3, 8, 0.525_351_329_943_335_4),
            (40, 8, 0.272_385_315_533_408_17),
            (200, 16, 0.192_703_603_247_142_75),
        ] {
            let numbers = random_numbers(rows * width, 7);
            let shifted: Vec<f32> = numbers.iter().map(|it| it + 0.5).collect();
            let found = ratio(&shifted, width);
            assert!((found - expected).abs() < 1e-9, "{rows} × {width}: {found}");
        }
    }

    #[test]
    fn one_direction_is_one_and_orthogonal_vectors_share() {
        assert!((ratio(&[1.0, 2.0, 2.0, 4.0, -3.0, -6.0], 2) - 1.0).abs() < 1e-9);
        let found = ratio(&[1.0, 0.0, 0.0, 1.0], 2);
        assert!((found - 0.5).abs() < 1e-12);
        assert_eq!(Sums::Vectors(vec![0.0; 6]).ratio(2), None);
    }
}
