//! The inner products of all vectors of a query with all vectors of a document, for late
//! interaction.
//!
//! Each product is summed in f32 from its first number to its last, in a register of its own, so it
//! has the same bits on every run, whatever the other vectors are. On CPUs with fused multiply-add
//! the last bits differ from those on other CPUs. The vectors of the query are side by side in the
//! registers, so that no sum goes across a register.
//!
//! Shapes: `q` vectors of the query, `t` of the document, `h` numbers each.

use pulp::{Arch, Simd, WithSimd};

/// The number of document vectors that are processed at once. With two registers of query vectors
/// this makes twelve sums, which fit in sixteen registers with their operands.
const AT_ONCE: usize = 6;

/// The inner products of all query vectors with all document vectors.
pub(crate) struct InnerProductMatrix {
    /// The products `[t, columns]`, of which the first `q` columns are used.
    numbers: Vec<f32>,
    columns: usize,
    n_query: usize,
}

impl InnerProductMatrix {
    /// Computes the products of `[q, h]` and `[t, h]`.
    pub(crate) fn compute(query: &[f32], text: &[f32], width: usize) -> InnerProductMatrix {
        Arch::new().dispatch(Pass { query, text, width })
    }

    /// Returns the maximum of each query vector, at least `least`.
    pub(crate) fn row_maxima_with_floor(&self, least: f32) -> Vec<f32> {
        let mut most = vec![least; self.columns];
        if self.columns > 0 {
            for row in self.numbers.chunks_exact(self.columns) {
                let both = most.iter_mut().zip(row);
                both.for_each(|(most, &it)| *most = if it > *most { it } else { *most });
            }
        }
        most.truncate(self.n_query);
        most
    }

    /// Returns for each query vector its maximum with the index in the document, the first of
    /// several; `None` for a document without vectors.
    pub(crate) fn row_maxima_with_indices(&self) -> Vec<Option<(f32, usize)>> {
        let best = |query: usize| {
            let mut best: Option<(f32, usize)> = None;
            for (at, it) in self.products_of_query_vector(query).enumerate() {
                if best.is_none_or(|(most, _)| it > most) {
                    best = Some((it, at));
                }
            }
            best
        };
        match self.columns {
            0 => Vec::new(),
            _ => (0..self.n_query).map(best).collect(),
        }
    }

    /// Writes the products as `[t, q]`.
    pub(crate) fn copy_rows_to(&self, rows: &mut [f32]) {
        if self.n_query > 0 {
            let rows = rows.chunks_exact_mut(self.n_query);
            for (row, products) in rows.zip(self.numbers.chunks_exact(self.columns)) {
                row.copy_from_slice(&products[..self.n_query]);
            }
        }
    }

    /// Iterates over the products of a query vector, in the order of the document.
    pub(crate) fn products_of_query_vector(&self, query: usize) -> impl Iterator<Item = f32> {
        let rows = self.numbers.chunks_exact(self.columns);
        rows.map(move |row| row[query])
    }
}

struct Pass<'a> {
    query: &'a [f32],
    text: &'a [f32],
    width: usize,
}

impl WithSimd for Pass<'_> {
    type Output = InnerProductMatrix;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> InnerProductMatrix {
        let Pass { query, text, width } = self;
        let n_query = query.len() / width;
        let side = 2 * S::F32_LANES;
        let columns = n_query.next_multiple_of(side);
        let mut numbers = vec![0.0; text.len() / width * columns];
        let mut turned = vec![0.0; width * side];
        for (first, queries) in (0..columns).step_by(side).zip(query.chunks(side * width)) {
            // `[h, side]`; columns after the last vector keep their values, which are not used.
            for (at, row) in queries.chunks_exact(width).enumerate() {
                let places = turned[at..].iter_mut().step_by(side);
                places.zip(row).for_each(|(place, &it)| *place = it);
            }
            let (registers, _) = S::as_simd_f32s(&turned);
            let mut places = numbers.chunks_mut(columns);
            let texts = text.chunks(AT_ONCE * width);
            for texts in texts {
                let mut of = |at: usize, sums: [S::f32s; 2]| {
                    let _ = at;
                    let place = places.next().expect("a row for each vector of the text");
                    let (place, _) = S::as_mut_simd_f32s(&mut place[first..first + side]);
                    place.copy_from_slice(&sums);
                };
                if texts.len() == AT_ONCE * width {
                    let sums = sums::<S, AT_ONCE>(simd, registers, texts);
                    sums.into_iter().enumerate().for_each(|(at, it)| of(at, it));
                } else {
                    for (at, text) in texts.chunks_exact(width).enumerate() {
                        let [sums] = sums::<S, 1>(simd, registers, text);
                        of(at, sums);
                    }
                }
            }
        }
        InnerProductMatrix {
            numbers,
            columns,
            n_query,
        }
    }
}

/// Computes the products of `N` document vectors, `[N, h]`, with two registers of query vectors,
/// `[h, 2]`.
#[inline(always)]
fn sums<S: Simd, const N: usize>(simd: S, query: &[S::f32s], text: &[f32]) -> [[S::f32s; 2]; N] {
    let (pairs, _) = query.as_chunks::<2>();
    let width = pairs.len();
    assert_eq!(text.len(), N * width);
    let rows: [&[f32]; N] = std::array::from_fn(|at| &text[at * width..][..width]);
    let mut sums = [[simd.splat_f32s(0.0); 2]; N];
    for (at, [first, second]) in pairs.iter().enumerate() {
        for (sums, row) in sums.iter_mut().zip(&rows) {
            let number = simd.splat_f32s(row[at]);
            sums[0] = simd.mul_add_e_f32s(*first, number, sums[0]);
            sums[1] = simd.mul_add_e_f32s(*second, number, sums[1]);
        }
    }
    sums
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns numbers from -1 to 1 from a simple random generator.
    pub(crate) fn random_numbers(n: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let next = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        };
        (0..n).map(next).collect()
    }

    #[test]
    fn every_product_is_that_of_its_two_vectors() {
        for (q, t, h) in [
            (1, 1, 1),
            (3, 7, 5),
            (32, 180, 128),
            (33, 6, 24),
            (17, 13, 64),
        ] {
            let (query, text) = (random_numbers(q * h, 7), random_numbers(t * h, 8));
            let products = InnerProductMatrix::compute(&query, &text, h);
            let most = products.row_maxima_with_floor(f32::NEG_INFINITY);
            assert_eq!(most.len(), q);
            for (at, query) in query.chunks_exact(h).enumerate() {
                let row: Vec<f32> = products.products_of_query_vector(at).collect();
                assert_eq!(row.len(), t);
                for (text, &found) in text.chunks_exact(h).zip(&row) {
                    let pairs = query.iter().zip(text);
                    let sum: f64 = pairs.map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
                    assert!((f64::from(found) - sum).abs() < 1e-5, "{found} {sum}");
                }
                let greatest = row.into_iter().fold(f32::NEG_INFINITY, f32::max);
                assert_eq!(most[at], greatest);
                let place = products
                    .products_of_query_vector(at)
                    .position(|it| it == greatest);
                assert_eq!(
                    products.row_maxima_with_indices()[at],
                    Some((greatest, place.unwrap()))
                );
            }
        }
    }

    #[test]
    fn a_product_does_not_depend_on_where_its_vectors_stand() {
        let (query, text) = (random_numbers(20 * 24, 1), random_numbers(11 * 24, 2));
        let all = InnerProductMatrix::compute(&query, &text, 24);
        for q in 0..20 {
            for (t, found) in all.products_of_query_vector(q).enumerate() {
                let alone =
                    InnerProductMatrix::compute(&query[q * 24..][..24], &text[t * 24..][..24], 24);
                assert_eq!(
                    alone.products_of_query_vector(0).collect::<Vec<_>>(),
                    [found]
                );
            }
        }
    }

    #[test]
    fn nothing_has_no_products() {
        assert!(
            InnerProductMatrix::compute(&[], &random_numbers(8, 3), 4)
                .row_maxima_with_floor(-1.0)
                .is_empty()
        );
        let nothing = InnerProductMatrix::compute(&random_numbers(8, 3), &[], 4);
        assert_eq!(nothing.row_maxima_with_floor(-1.0), [-1.0; 2]);
        assert_eq!(nothing.row_maxima_with_indices(), [None; 2]);
    }
}
