//! Consecutive rows of a matrix with their labels: the input of a kernel.

use crate::kernel::csr::{Row, Rows};
use crate::kernel::dense;
use privet_data::matrix::Matrix;
use std::ops::Range;

/// Consecutive rows with their labels.
#[derive(Clone, Copy)]
pub struct Block<'a> {
    matrix: &'a Matrix,
    first: usize,
    labels: &'a [f64],
    /// The unit of a grid that every feature is known to lie on.
    grid: Option<f64>,
}

impl<'a> Block<'a> {
    /// Rows `first .. first + labels.len()`.
    ///
    /// # Panics
    /// If the matrix has fewer rows.
    pub fn new(matrix: &'a Matrix, first: usize, labels: &'a [f64]) -> Self {
        assert!(first + labels.len() <= matrix.rows(), "block exceeds its matrix");
        Self { matrix, first, labels, grid: None }
    }

    /// The same rows, all of them known to lie on the grid of this unit.
    pub(super) fn known_on_grid(self, unit: Option<f64>) -> Self {
        Self { grid: unit, ..self }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// Number of features.
    pub fn columns(&self) -> usize {
        self.matrix.columns()
    }

    /// The rows' labels.
    pub fn labels(&self) -> &'a [f64] {
        self.labels
    }

    /// A part of the block.
    pub fn part(&self, rows: Range<usize>) -> Self {
        Self { first: self.first + rows.start, labels: &self.labels[rows], ..*self }
    }

    /// Parts of at most `rows` rows.
    pub fn parts(self, rows: usize) -> impl Iterator<Item = Self> {
        let total = self.rows();
        (0..total).step_by(rows).map(move |start| self.part(start..total.min(start + rows)))
    }

    /// The values of a dense block, row after row; `None` for a sparse one.
    pub(crate) fn dense(&self) -> Option<&'a [f32]> {
        match self.matrix {
            Matrix::Dense(m) => {
                let columns = m.columns();
                Some(&m.values()[self.first * columns..(self.first + self.rows()) * columns])
            }
            Matrix::Csr(_) => None,
        }
    }

    /// Each row of a sparse block; none for a dense one.
    #[inline(always)]
    pub(crate) fn sparse(&self) -> impl Iterator<Item = Row<'a>> {
        match self.matrix {
            Matrix::Csr(m) => Rows::new(m, self.first, self.rows()),
            Matrix::Dense(_) => Rows::none(),
        }
        .iter()
    }

    /// The first of these columns in which a row is not zero.
    pub(super) fn first_entry(&self, row: usize, columns: Range<usize>) -> Option<usize> {
        match self.matrix {
            Matrix::Dense(m) => {
                let values = m.row(self.first + row);
                columns.into_iter().find(|column| values.get(*column).is_some_and(|x| *x != 0.0))
            }
            Matrix::Csr(m) => {
                let (places, values) = m.row(self.first + row);
                let mut entries = places.iter().zip(values);
                let found =
                    entries.find(|(place, x)| columns.contains(&(**place as usize)) && **x != 0.0);
                found.map(|(place, _)| *place as usize)
            }
        }
    }

    /// Calls `each` for every entry of a row that is not 0, with its column, in order.
    pub(super) fn for_entries(&self, row: usize, mut each: impl FnMut(usize, f64)) {
        match self.matrix {
            Matrix::Dense(m) => {
                let some = m.row(self.first + row).iter().enumerate().filter(|(_, x)| **x != 0.0);
                some.for_each(|(column, x)| each(column, f64::from(*x)));
            }
            Matrix::Csr(m) => {
                let (places, values) = m.row(self.first + row);
                places.iter().zip(values).for_each(|(at, x)| each(*at as usize, f64::from(*x)));
            }
        }
    }

    /// The entry of a row in a column.
    pub(super) fn entry(&self, row: usize, column: usize) -> f64 {
        let entry = match self.matrix {
            Matrix::Dense(m) => m.row(self.first + row).get(column).copied(),
            Matrix::Csr(m) => {
                let (places, values) = m.row(self.first + row);
                places.binary_search(&(column as u32)).ok().map(|at| values[at])
            }
        };
        entry.map_or(0.0, f64::from)
    }

    /// Computes margins[i] = ⟨row i, vector⟩.
    #[inline(always)]
    pub(crate) fn margins<const F: bool>(&self, vector: &[f64], margins: &mut [f64]) {
        if let Some(values) = self.dense() {
            dense::margins::<F>(values, self.columns(), vector, margins);
        } else {
            for (row, margin) in self.sparse().zip(margins) {
                *margin = row.dot::<F>(vector);
            }
        }
    }

    /// Adds sum += Σ multipliers[i] · row i.
    #[inline(always)]
    pub(crate) fn accumulate<const F: bool>(&self, multipliers: &[f64], sum: &mut [f64]) {
        if let Some(values) = self.dense() {
            dense::accumulate::<F>(values, self.columns(), multipliers, sum);
        } else {
            for (row, &m) in self.sparse().zip(multipliers) {
                row.scatter::<F>(m, sum);
            }
        }
    }

    /// Computes margins[i] = ⟨row i, v⟩ for each of `W` vectors that lie side by side, as in
    /// [`dense::dots`].
    #[inline(always)]
    pub(crate) fn dots<const F: bool, const W: usize>(
        &self,
        table: &[[f64; W]],
        margins: &mut [[f64; W]],
    ) {
        match self.dense() {
            // As many sums as fit 16 registers of four lanes, or nearly so.
            Some(values) if W <= 8 => {
                dense::dots::<F, W, 4>(values, self.columns(), table, margins)
            }
            Some(values) => dense::dots::<F, W, 2>(values, self.columns(), table, margins),
            None => {
                for (row, margins) in self.sparse().zip(margins) {
                    *margins = row.dots::<F, W>(table);
                }
            }
        }
    }

    /// Adds sums += Σ row i·multipliers[i]ᵀ, laid out as the table of [`Block::dots`].
    #[inline(always)]
    pub(crate) fn scatter_all<const F: bool, const W: usize>(
        &self,
        multipliers: &[[f64; W]],
        sums: &mut [[f64; W]],
    ) {
        if let Some(values) = self.dense() {
            dense::scatter_all::<F, W>(values, self.columns(), multipliers, sums);
        } else {
            for (row, m) in self.sparse().zip(multipliers) {
                row.scatter_all::<F, W>(m, sums);
            }
        }
    }

    /// True if every feature is a multiple of `unit`, a power of two, and at most 2²³ units large.
    #[inline(always)]
    pub(crate) fn on_grid(&self, unit: f64) -> bool {
        if self.grid == Some(unit) {
            return true;
        }
        let inverse = 1.0 / unit;
        let fine = |values: &[f32]| {
            values.iter().fold(true, |ok, &x| {
                let k = f64::from(x) * inverse;
                ok & (k == k.trunc()) & (k.abs() <= 8_388_608.0)
            })
        };
        match self.dense() {
            Some(values) => fine(values),
            None => self.entries().is_none_or(fine),
        }
    }

    /// The stored values of a sparse block, row after row; `None` for a dense one.
    fn entries(&self) -> Option<&'a [f32]> {
        match self.matrix {
            Matrix::Csr(m) => {
                let (from, to) = (m.starts()[self.first], m.starts()[self.first + self.rows()]);
                Some(&m.values()[from..to])
            }
            Matrix::Dense(_) => None,
        }
    }
}
