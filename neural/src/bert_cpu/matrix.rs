//! Products of strided matrices in buffers.

// Products of strided views use pointers; nothing else here is unsafe.
#![allow(unsafe_code)]

use gemm::Parallelism;

/// A strided matrix in a buffer: element (r, c) is at `r row_stride + c column_stride`.
#[derive(Clone, Copy)]
pub(crate) struct StridedMatrixView<'a> {
    numbers: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> StridedMatrixView<'a> {
    /// Creates a matrix with rows that are `row_stride` apart.
    pub(crate) fn with_row_stride(
        numbers: &'a [f32],
        [rows, columns]: [usize; 2],
        row_stride: usize,
    ) -> StridedMatrixView<'a> {
        StridedMatrixView {
            numbers,
            rows,
            columns,
            row_stride,
            column_stride: 1,
        }
    }

    /// Returns `n` rows from `first` on.
    pub(crate) fn rows_from(self, first: usize, n: usize) -> StridedMatrixView<'a> {
        StridedMatrixView {
            numbers: &self.numbers[first * self.row_stride..],
            rows: n,
            ..self
        }
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn n_columns(&self) -> usize {
        self.columns
    }

    pub(crate) fn transposed(self) -> StridedMatrixView<'a> {
        StridedMatrixView {
            numbers: self.numbers,
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
        }
    }

    fn is_inside(&self) -> bool {
        self.rows > 0
            && self.columns > 0
            && (self.rows - 1) * self.row_stride + (self.columns - 1) * self.column_stride
                < self.numbers.len()
    }
}

/// The destination of a product: rows that are `stride` apart.
pub(crate) struct MatrixRowsMut<'a> {
    numbers: &'a mut [f32],
    stride: usize,
}

impl<'a> MatrixRowsMut<'a> {
    pub(crate) fn new(numbers: &'a mut [f32], stride: usize) -> MatrixRowsMut<'a> {
        MatrixRowsMut { numbers, stride }
    }
}

/// Computes the matrix product `y = a b` and overwrites `y`, `[a.rows, b.columns]`; panics if the
/// shapes do not match.
pub(crate) fn multiply_matrices(
    a: StridedMatrixView<'_>,
    b: StridedMatrixView<'_>,
    y: MatrixRowsMut<'_>,
    parallelism: Parallelism,
) {
    assert!(a.is_inside() && b.is_inside() && a.columns == b.rows);
    assert!(b.columns <= y.stride);
    assert!((a.rows - 1) * y.stride + b.columns <= y.numbers.len());
    // SAFETY: the asserts above keep every element of the three matrices inside its slice, and `y`
    // is borrowed exclusively, so it overlaps neither `a` nor `b`; elements of `y` do not overlap
    // each other since a row is no longer than the stride. `y` is not read (`read_dst` false).
    // Every stride is below the length of a slice, so it fits an isize.
    unsafe {
        gemm::gemm(
            a.rows,
            b.columns,
            a.columns,
            y.numbers.as_mut_ptr(),
            1,
            y.stride as isize,
            false,
            a.numbers.as_ptr(),
            a.column_stride as isize,
            a.row_stride as isize,
            b.numbers.as_ptr(),
            b.column_stride as isize,
            b.row_stride as isize,
            0.0,
            1.0,
            false,
            false,
            false,
            parallelism,
        );
    }
}
