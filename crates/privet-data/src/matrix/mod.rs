//! Matrices of encoded rows, each row already clipped and truncated.
//!
//! Values are stored as `f32` without loss: a row's entries are multiples of `2^(e−23)` where `2^e` is
//! the least power of two that is at least the clipping radius (see the crate's `bound` module), so 24
//! bits hold them exactly. All arithmetic on them is done in `f64`.

mod builder;
mod csr;
mod dense;

pub use builder::MatrixBuilder;
pub use csr::CsrMatrix;
pub use dense::DenseMatrix;

use std::fmt;

/// Rows of features, dense or sparse.
#[derive(Clone)]
pub enum Matrix {
    /// Row-major.
    Dense(DenseMatrix),
    /// Compressed rows.
    Csr(CsrMatrix),
}

impl Matrix {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Dense(m) => m.rows(),
            Self::Csr(m) => m.rows(),
        }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Self::Dense(m) => m.columns(),
            Self::Csr(m) => m.columns(),
        }
    }

    /// The same rows restricted to these columns, in ascending order.
    pub fn only(&self, columns: &[usize]) -> Self {
        match self {
            Self::Dense(m) => {
                let row = |row: usize| columns.iter().map(move |column| m.row(row)[*column]);
                let values = (0..m.rows()).flat_map(row).collect();
                Self::Dense(DenseMatrix::new(values, m.rows(), columns.len()))
            }
            Self::Csr(m) => {
                let mut place = vec![None; m.columns()];
                for (new, old) in columns.iter().enumerate() {
                    place[*old] = Some(new as u32);
                }
                let (mut starts, mut indices, mut values) = (vec![0], vec![], vec![]);
                for row in 0..m.rows() {
                    let (old, entries) = m.row(row);
                    for (old, value) in old.iter().zip(entries) {
                        if let Some(new) = place[*old as usize] {
                            indices.push(new);
                            values.push(*value);
                        }
                    }
                    starts.push(indices.len());
                }
                Self::Csr(CsrMatrix::new(starts, indices, values, columns.len()))
            }
        }
    }

    /// Bytes that one pass over all rows reads.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Dense(m) => m.bytes(),
            Self::Csr(m) => m.bytes(),
        }
    }
}

/// Shape only: the values are private.
impl fmt::Debug for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if matches!(self, Self::Dense(_)) { "dense" } else { "csr" };
        write!(f, "Matrix({kind}, {} columns, values withheld)", self.columns())
    }
}
