//! The number of records in each of several cells: integers.
//!
//! A record is in the cell of a column if its entry there is not zero, and in the cell of its class if
//! its entry in the marker column is not zero. It is in at most one cell: of several columns the first
//! counts. A row that is zero everywhere, the null record, is in none.

use super::{Block, ExactSum, SoftmaxGradient, Statistic};
use privet_data::matrix::Matrix;
use serde::{Deserialize, Serialize};

/// The number of records in each cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Occupied {
    /// One cell per column.
    Columns {
        /// The first of these columns.
        first: usize,
        /// The number of columns.
        count: usize,
    },
    /// One cell per class, of rows labelled by [`super::Labels::Joint`].
    Classes {
        /// The number of classes.
        count: usize,
        /// The column that marks a record as present.
        marker: usize,
    },
}

impl Occupied {
    /// The number of cells.
    pub fn cells(&self) -> usize {
        match self {
            Self::Columns { count, .. } | Self::Classes { count, .. } => *count,
        }
    }

    /// The cell of each row, if it is in one.
    pub fn of_rows(&self, features: &Matrix, labels: &[f64]) -> Vec<Option<usize>> {
        let block = Block::new(features, 0, labels);
        labels.iter().enumerate().map(|(row, label)| self.cell(&block, row, *label)).collect()
    }

    fn cell(&self, block: &Block<'_>, row: usize, label: f64) -> Option<usize> {
        match *self {
            Self::Columns { first, count } => {
                block.first_entry(row, first..first + count).map(|column| column - first)
            }
            Self::Classes { count, marker } => block
                .first_entry(row, marker..marker + 1)
                .map(|_| SoftmaxGradient::class(label, count)),
        }
    }
}

impl Statistic for Occupied {
    type Sum = ExactSum;
    const NAME: &'static str = "occupied";

    fn bound(&self, _radius: f64) -> f64 {
        1.0
    }
    fn zero(&self, _columns: usize) -> ExactSum {
        ExactSum::zero(self.cells())
    }
    fn bytes(&self, _columns: usize) -> usize {
        16 * self.cells() + 64
    }

    /// The sum is of integers.
    fn grain(&self, _columns: usize) -> Option<usize> {
        Some(1)
    }

    fn add(&self, block: Block<'_>, into: &mut ExactSum) {
        let mut counts = vec![0_i64; self.cells()];
        for (row, label) in block.labels().iter().enumerate() {
            let cell = self.cell(&block, row, *label);
            if let Some(count) = cell.and_then(|cell| counts.get_mut(cell)) {
                *count += 1;
            }
        }
        into.note(block.rows(), true);
        into.add_units(|cell| counts[cell]);
    }

    fn merge(&self, into: &mut ExactSum, other: ExactSum) {
        into.merge(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet_data::matrix::{CsrMatrix, DenseMatrix};

    #[test]
    fn a_record_is_in_one_cell_at_most() {
        let rows = [[0.0, 1.0, 0.0, 1.0], [0.0; 4], [0.0, 0.5, 0.5, 1.0], [0.0, 0.0, 1.0, 1.0]];
        let dense = DenseMatrix::new(rows.concat(), 4, 4);
        let (starts, indices) = (vec![0, 2, 2, 5, 7], vec![1, 3, 1, 2, 3, 2, 3]);
        let values = vec![1.0, 1.0, 0.5, 0.5, 1.0, 1.0, 1.0];
        let sparse = CsrMatrix::new(starts, indices, values, 4);
        let labels: Vec<f64> = [0, 0, 1, 2].map(|class| SoftmaxGradient::label(class, 3)).into();
        for matrix in [Matrix::Dense(dense), Matrix::Csr(sparse)] {
            let count = |statistic: Occupied| {
                let mut sum = statistic.zero(4);
                statistic.add(Block::new(&matrix, 0, &labels), &mut sum);
                sum.into_units().unwrap()
            };
            assert_eq!(count(Occupied::Columns { first: 1, count: 2 }), [2, 1]);
            assert_eq!(count(Occupied::Classes { count: 3, marker: 3 }), [1, 1, 1]);
        }
    }
}
