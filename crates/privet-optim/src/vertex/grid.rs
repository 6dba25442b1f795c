//! Features as small integers, by row and by column.
//!
//! A feature x becomes k = trunc(clamp(x, −τ, τ)/unit) with unit = 2^(e−14), 2^e the least power of two
//! that is at least τ: a pure function of x with |k| ≤ K = ⌊τ/unit⌋ ≤ 2¹⁴, exactly (division by a power
//! of two is exact). Sixteen bits hold it, and an entry takes six bytes (two in a dense matrix).
//!
//! Sparse rows are stored twice, by row and by column, so that listing the rows of a column and the
//! columns of a row both cost only the entries listed.

use crate::sum::exponent_above;
use privet_data::matrix::Matrix;

/// Bits of the largest feature.
const BITS: i32 = 14;

/// The grid to which features are rounded: public, from the bound alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FeatureGrid {
    bound: f64,
    unit: f64,
    largest: u32,
}

impl FeatureGrid {
    /// The grid for features clamped to ±`bound`, a number from 1e-60 to 1e60; any other bound is
    /// clamped to these.
    pub fn new(bound: f64) -> Self {
        let bound = if bound.is_nan() { 1.0 } else { bound.clamp(1e-60, 1e60) };
        let unit = 2_f64.powi(exponent_above(bound) - BITS);
        Self { bound, unit, largest: (bound / unit) as u32 }
    }

    /// The bound τ.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// The unit of the grid.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// The largest number of units K of a feature.
    pub fn largest(&self) -> u32 {
        self.largest
    }

    /// The number of units k of a feature; 0 for a value that is not finite.
    pub fn units(&self, x: f32) -> i16 {
        let x = f64::from(x);
        if x.is_finite() { (x.clamp(-self.bound, self.bound) / self.unit) as i16 } else { 0 }
    }
}

/// Rows of integers.
pub struct GridMatrix {
    grid: FeatureGrid,
    rows: usize,
    columns: usize,
    entries: Entries,
}

enum Entries {
    /// Row after row.
    Dense(Vec<i16>),
    Sparse {
        by_row: Compressed,
        by_column: Compressed,
    },
}

/// Compressed lines: line i owns `at[starts[i]..starts[i + 1]]` and the values there.
struct Compressed {
    starts: Vec<usize>,
    at: Vec<u32>,
    values: Vec<i16>,
}

impl Compressed {
    fn line(&self, line: usize) -> impl Iterator<Item = (usize, i16)> {
        let range = self.starts[line]..self.starts[line + 1];
        self.at[range.clone()].iter().map(|at| *at as usize).zip(self.values[range].iter().copied())
    }

    /// The same entries by the other index, in order.
    fn transpose(&self, lines: usize) -> Self {
        let mut starts = vec![0; lines + 1];
        self.at.iter().for_each(|at| starts[*at as usize + 1] += 1);
        for line in 0..lines {
            starts[line + 1] += starts[line];
        }
        let mut next = starts.clone();
        let (mut at, mut values) = (vec![0; self.at.len()], vec![0; self.at.len()]);
        for line in 0..self.starts.len() - 1 {
            for (other, value) in self.line(line) {
                at[next[other]] = line as u32;
                values[next[other]] = value;
                next[other] += 1;
            }
        }
        Self { starts, at, values }
    }
}

/// Shape only: the values are private.
impl std::fmt::Debug for GridMatrix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GridMatrix({} columns, values withheld)", self.columns)
    }
}

impl GridMatrix {
    /// Rounds every feature. `None` if there are 2³² rows or more.
    pub fn new(matrix: &Matrix, grid: FeatureGrid) -> Option<Self> {
        let (rows, columns) = (matrix.rows(), matrix.columns());
        u32::try_from(rows).ok()?;
        let entries = match matrix {
            Matrix::Dense(dense) => {
                Entries::Dense(dense.values().iter().map(|x| grid.units(*x)).collect())
            }
            Matrix::Csr(csr) => {
                let mut by_row = Compressed { starts: vec![0], at: vec![], values: vec![] };
                for row in 0..rows {
                    let (indices, values) = csr.row(row);
                    for (column, value) in indices.iter().zip(values) {
                        let units = grid.units(*value);
                        if units != 0 {
                            by_row.at.push(*column);
                            by_row.values.push(units);
                        }
                    }
                    by_row.starts.push(by_row.at.len());
                }
                let by_column = by_row.transpose(columns);
                Entries::Sparse { by_row, by_column }
            }
        };
        Some(Self { grid, rows, columns, entries })
    }

    /// The grid of the features.
    pub fn grid(&self) -> FeatureGrid {
        self.grid
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// True if rows are stored with their zeros.
    pub fn is_dense(&self) -> bool {
        matches!(self.entries, Entries::Dense(_))
    }

    /// One entry of a dense matrix; 0 for a sparse one.
    pub fn dense_entry(&self, row: usize, column: usize) -> i16 {
        match &self.entries {
            Entries::Dense(values) => values[row * self.columns + column],
            Entries::Sparse { .. } => 0,
        }
    }

    /// Calls `visit` with the row and units of every non-zero entry of a column.
    pub fn for_column(&self, column: usize, mut visit: impl FnMut(usize, i16)) {
        match &self.entries {
            Entries::Dense(values) => {
                let entries = values.iter().skip(column).step_by(self.columns.max(1)).enumerate();
                entries.filter(|(_, k)| **k != 0).for_each(|(row, k)| visit(row, *k));
            }
            Entries::Sparse { by_column, .. } => {
                by_column.line(column).for_each(|(row, k)| visit(row, k));
            }
        }
    }

    /// Calls `visit` with the column and units of the non-zero entries of a row (and, in a dense
    /// matrix, of some that are zero).
    #[inline]
    pub fn for_row(&self, row: usize, mut visit: impl FnMut(usize, i16)) {
        match &self.entries {
            Entries::Dense(values) => {
                let line = &values[row * self.columns..(row + 1) * self.columns];
                line.iter().enumerate().for_each(|(column, k)| visit(column, *k));
            }
            Entries::Sparse { by_row, .. } => {
                by_row.line(row).for_each(|(column, k)| visit(column, k));
            }
        }
    }

    /// Adds sums += factor · row.
    #[inline]
    pub fn add_row(&self, row: usize, factor: i64, sums: &mut [i64]) {
        match &self.entries {
            Entries::Dense(values) => {
                let line = &values[row * self.columns..(row + 1) * self.columns];
                sums.iter_mut().zip(line).for_each(|(sum, k)| *sum += factor * i64::from(*k));
            }
            Entries::Sparse { by_row, .. } => {
                by_row.line(row).for_each(|(column, k)| sums[column] += factor * i64::from(k));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Lcg, random_csr};
    use privet_data::matrix::DenseMatrix;
    use proptest::prelude::*;

    proptest! {
        /// Never above the bound, never farther from the clamped value than a unit, towards zero.
        #[test]
        fn units_stay_within_the_bound(x in any::<f32>(), bound in 1e-3_f64..1e3) {
            let grid = FeatureGrid::new(bound);
            let k = grid.units(x);
            prop_assert!(f64::from(k).abs() * grid.unit() <= bound);
            prop_assert!(u32::from(k.unsigned_abs()) <= grid.largest() && grid.largest() <= 1 << 14);
            if x.is_finite() {
                let clamped = f64::from(x).clamp(-bound, bound);
                let gap = clamped.abs() - f64::from(k).abs() * grid.unit();
                prop_assert!((0.0..grid.unit()).contains(&gap), "{x} {k}");
            }
        }
    }

    #[test]
    fn rows_and_columns_hold_the_same_entries_in_both_storages() {
        let csr = random_csr(&mut Lcg(5), 40, 9, 4);
        let rows: Vec<f32> = (0..40).flat_map(|row| csr.dense_row(row)).collect();
        let dense = Matrix::Dense(DenseMatrix::new(rows, 40, 9));
        let grid = FeatureGrid::new(0.3);
        let [sparse, dense] = [csr, dense].map(|matrix| GridMatrix::new(&matrix, grid).unwrap());
        let by_row = |matrix: &GridMatrix| {
            let mut all = vec![];
            for row in 0..40 {
                matrix.for_row(row, |column, k| {
                    if k != 0 {
                        all.push((row, column, k))
                    }
                });
            }
            all
        };
        let by_column = |matrix: &GridMatrix| {
            let mut all = vec![];
            (0..9)
                .for_each(|column| matrix.for_column(column, |row, k| all.push((row, column, k))));
            all.sort_unstable();
            all
        };
        let all = by_row(&sparse);
        assert!(all.len() > 100);
        assert_eq!([&by_row(&dense), &by_column(&sparse), &by_column(&dense)], [&all, &all, &all]);
    }
}
