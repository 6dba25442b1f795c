//! Builds a matrix row by row, and selects rows of one.

use super::{CsrMatrix, DenseMatrix, Matrix};
use crate::schema::Storage;
use std::collections::HashSet;

/// Collects rows of (column, value) pairs into either kind of matrix.
pub struct MatrixBuilder {
    columns: usize,
    rows: usize,
    kind: Kind,
}

enum Kind {
    Dense(Vec<f32>),
    Csr { starts: Vec<usize>, indices: Vec<u32>, values: Vec<f32> },
}

impl MatrixBuilder {
    /// An empty matrix with this many columns.
    pub fn new(storage: Storage, columns: usize) -> Self {
        let kind = match storage {
            Storage::Dense => Kind::Dense(Vec::new()),
            Storage::Csr => Kind::Csr { starts: vec![0], indices: Vec::new(), values: Vec::new() },
        };
        Self { columns, rows: 0, kind }
    }

    /// Adds one row. Columns must increase; values must fit `f32`, as clipped ones do.
    ///
    /// # Panics
    /// If a column is too large.
    pub fn push(&mut self, row: &[(u32, f64)]) {
        self.rows += 1;
        match &mut self.kind {
            Kind::Dense(values) => {
                let start = values.len();
                values.resize(start + self.columns, 0.0);
                let target = &mut values[start..];
                row.iter().for_each(|&(column, value)| target[column as usize] = value as f32);
            }
            Kind::Csr { starts, indices, values } => {
                for &(column, value) in row.iter().filter(|(_, value)| *value != 0.0) {
                    indices.push(column);
                    values.push(value as f32);
                }
                starts.push(indices.len());
            }
        }
    }

    /// Appends all rows of another builder of the same storage, which is left empty.
    #[cfg(feature = "parquet")]
    pub(crate) fn append(&mut self, other: &mut Self) {
        self.rows += std::mem::take(&mut other.rows);
        match (&mut self.kind, &mut other.kind) {
            (Kind::Dense(values), Kind::Dense(more)) => values.append(more),
            (
                Kind::Csr { starts, indices, values },
                Kind::Csr { starts: s, indices: i, values: v },
            ) => {
                let before = indices.len();
                starts.extend(s.drain(1..).map(|start| before + start));
                indices.append(i);
                values.append(v);
            }
            _ => unreachable!("one storage a table"),
        }
    }

    /// Number of rows so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the matrix.
    ///
    /// # Panics
    /// If the columns of a sparse row did not increase.
    pub fn finish(self) -> Matrix {
        match self.kind {
            Kind::Dense(mut values) => {
                values.shrink_to_fit();
                Matrix::Dense(DenseMatrix::new(values, self.rows, self.columns))
            }
            Kind::Csr { starts, mut indices, mut values } => {
                indices.shrink_to_fit();
                values.shrink_to_fit();
                Matrix::Csr(CsrMatrix::new(starts, indices, values, self.columns))
            }
        }
    }
}

impl Matrix {
    /// The rows of these indices, in the order given.
    ///
    /// # Panics
    /// If a row does not exist.
    pub fn select(&self, rows: &[usize]) -> Matrix {
        match self {
            Self::Dense(matrix) => {
                let mut values = Vec::with_capacity(rows.len() * matrix.columns());
                rows.iter().for_each(|&row| values.extend_from_slice(matrix.row(row)));
                Self::Dense(DenseMatrix::new(values, rows.len(), matrix.columns()))
            }
            Self::Csr(matrix) => {
                let mut starts = Vec::with_capacity(rows.len() + 1);
                starts.push(0);
                let (mut indices, mut values) = (Vec::new(), Vec::new());
                for &row in rows {
                    let (columns, entries) = matrix.row(row);
                    indices.extend_from_slice(columns);
                    values.extend_from_slice(entries);
                    starts.push(indices.len());
                }
                Self::Csr(CsrMatrix::new(starts, indices, values, matrix.columns()))
            }
        }
    }

    /// The same matrix with zeros in these rows.
    ///
    /// # Panics
    /// If a row does not exist.
    pub fn without_entries_of(&self, rows: &[usize]) -> Matrix {
        match self {
            Self::Dense(matrix) => {
                let (mut values, columns) = (matrix.values().to_vec(), matrix.columns());
                rows.iter().for_each(|row| values[row * columns..][..columns].fill(0.0));
                Self::Dense(DenseMatrix::new(values, matrix.rows(), columns))
            }
            Self::Csr(matrix) => {
                let mut builder = MatrixBuilder::new(Storage::Csr, matrix.columns());
                let emptied: HashSet<&usize> = rows.iter().collect();
                for row in 0..matrix.rows() {
                    let (columns, entries) = matrix.row(row);
                    let entries = entries.iter().map(|value| f64::from(*value));
                    let kept = columns.iter().copied().zip(entries);
                    let kept = kept.filter(|_| !emptied.contains(&row));
                    builder.push(&kept.collect::<Vec<_>>());
                }
                builder.finish()
            }
        }
    }

    /// The stored entries of one row.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn entries(&self, row: usize) -> Vec<(u32, f32)> {
        match self {
            Self::Dense(matrix) => (0..).zip(matrix.row(row).iter().copied()).collect(),
            Self::Csr(matrix) => {
                let (columns, entries) = matrix.row(row);
                columns.iter().copied().zip(entries.iter().copied()).collect()
            }
        }
    }

    /// One row with its zeros.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn dense_row(&self, row: usize) -> Vec<f32> {
        match self {
            Self::Dense(matrix) => matrix.row(row).to_vec(),
            Self::Csr(matrix) => {
                let mut values = vec![0.0; matrix.columns()];
                let (columns, entries) = matrix.row(row);
                columns.iter().zip(entries).for_each(|(&c, &v)| values[c as usize] = v);
                values
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_storages_hold_the_same_rows() {
        let rows: [&[(u32, f64)]; 3] = [&[(0, 0.5), (2, -1.0)], &[], &[(1, 0.25), (2, 0.0)]];
        let build = |storage| {
            let mut builder = MatrixBuilder::new(storage, 3);
            rows.iter().for_each(|row| builder.push(row));
            builder.finish()
        };
        let (dense, csr) = (build(Storage::Dense), build(Storage::Csr));
        for row in 0..3 {
            assert_eq!(dense.dense_row(row), csr.dense_row(row));
        }
        for matrix in [dense, csr] {
            let taken = matrix.select(&[2, 0]);
            assert_eq!(taken.rows(), 2);
            assert_eq!(taken.dense_row(0), [0.0, 0.25, 0.0]);
            assert_eq!(taken.dense_row(1), [0.5, 0.0, -1.0]);
            let emptied = matrix.without_entries_of(&[0]);
            assert_eq!(emptied.rows(), 3);
            assert_eq!(emptied.dense_row(0), [0.0, 0.0, 0.0]);
            assert_eq!(emptied.dense_row(2), [0.0, 0.25, 0.0]);
        }
    }
}
