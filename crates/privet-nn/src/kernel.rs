//! Products of matrices, each number of the result added up in the order of the inner index, whatever the
//! sizes: what is computed for one example has the same bits beside any others.

/// A matrix of any strides.
#[derive(Clone, Copy)]
pub(crate) struct Strided<'a> {
    pub values: &'a [f32],
    pub row: usize,
    pub column: usize,
}

/// C = A·B, or C += A·B: A is (rows × inner) by its strides, B (inner × columns) and C (rows × columns) are
/// dense, row by row.
pub(crate) fn product(
    (rows, columns, inner): (usize, usize, usize),
    a: Strided,
    b: &[f32],
    c: &mut [f32],
    accumulate: bool,
) {
    for i in 0..rows {
        let result = &mut c[i * columns..(i + 1) * columns];
        if !accumulate {
            result.fill(0.0);
        }
        for l in 0..inner {
            let factor = a.values[i * a.row + l * a.column];
            for (total, value) in result.iter_mut().zip(&b[l * columns..(l + 1) * columns]) {
                *total += factor * value;
            }
        }
    }
}

/// Rows become columns.
pub(crate) fn transpose(rows: usize, columns: usize, from: &[f32], to: &mut [f32]) {
    for (i, row) in from[..rows * columns].chunks_exact(columns).enumerate() {
        for (j, value) in row.iter().enumerate() {
            to[j * rows + i] = *value;
        }
    }
}
