//! Inner loops over compressed rows, arithmetic in f64.
//!
//! The cost is gathering from θ and scattering into the gradient, one entry at a time; four independent
//! sums hide the latency of the gathers. Checking each column against the vector's length would take a
//! third of the time, so it is done once per matrix: [`Rows`] is proof that every column is in range,
//! and the only place where checks are left out.

use super::fma;
use privet_data::matrix::CsrMatrix;

/// Consecutive rows of a matrix whose columns are all below [`Rows::columns`]: `CsrMatrix` checks that
/// when it is constructed and cannot be changed afterwards.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    starts: &'a [usize],
    indices: &'a [u32],
    values: &'a [f32],
    columns: usize,
}

/// One row of [`Rows`], with the same guarantee.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    indices: &'a [u32],
    values: &'a [f32],
    columns: usize,
}

impl<'a> Rows<'a> {
    /// Rows `first .. first + count`.
    pub fn new(matrix: &'a CsrMatrix, first: usize, count: usize) -> Self {
        Self {
            starts: &matrix.starts()[first..=first + count],
            indices: matrix.indices(),
            values: matrix.values(),
            columns: matrix.columns(),
        }
    }

    /// No rows.
    pub fn none() -> Self {
        Self { starts: &[], indices: &[], values: &[], columns: 0 }
    }

    /// The rows, one after another.
    #[inline(always)]
    pub fn iter(self) -> impl Iterator<Item = Row<'a>> {
        self.starts.windows(2).map(move |w| Row {
            indices: &self.indices[w[0]..w[1]],
            values: &self.values[w[0]..w[1]],
            columns: self.columns,
        })
    }
}

impl<'a> Row<'a> {
    /// The row's columns.
    #[inline(always)]
    pub fn indices(self) -> &'a [u32] {
        self.indices
    }

    /// The row's values.
    #[inline(always)]
    pub fn values(self) -> &'a [f32] {
        self.values
    }

    /// The inner product ⟨row, vector⟩, with at most `entries + 4` roundings between any product and
    /// the result.
    ///
    /// # Panics
    /// If the vector does not have as many entries as the matrix has columns.
    #[inline(always)]
    pub fn dot<const F: bool>(self, vector: &[f64]) -> f64 {
        assert_eq!(vector.len(), self.columns, "θ must have an entry per column");
        // SAFETY: every index is below `columns`, which is the vector's length.
        let at = |j: u32| unsafe { *vector.get_unchecked(j as usize) };
        let (index_fours, index_rest) = self.indices.as_chunks::<4>();
        let (value_fours, value_rest) = self.values.as_chunks::<4>();
        let mut sums = [0.0; 4];
        for (j, x) in index_fours.iter().zip(value_fours) {
            for lane in 0..4 {
                sums[lane] = fma::<F>(f64::from(x[lane]), at(j[lane]), sums[lane]);
            }
        }
        let mut tail = 0.0;
        for (&j, &x) in index_rest.iter().zip(value_rest) {
            tail = fma::<F>(f64::from(x), at(j), tail);
        }
        (sums[0] + sums[2]) + (sums[1] + sums[3]) + tail
    }

    /// Adds sum += multiplier · row.
    ///
    /// # Panics
    /// As [`Row::dot`].
    #[inline(always)]
    pub fn scatter<const F: bool>(self, multiplier: f64, sum: &mut [f64]) {
        assert_eq!(sum.len(), self.columns, "the sum must have an entry per column");
        let (index_fours, index_rest) = self.indices.as_chunks::<4>();
        let (value_fours, value_rest) = self.values.as_chunks::<4>();
        for (j, x) in index_fours.iter().zip(value_fours) {
            let products = x.map(|x| multiplier * f64::from(x));
            for lane in 0..4 {
                // SAFETY: every index is below `columns`, which is the sum's length.
                let s = unsafe { sum.get_unchecked_mut(j[lane] as usize) };
                *s += products[lane];
            }
        }
        for (&j, &x) in index_rest.iter().zip(value_rest) {
            // SAFETY: every index is below `columns`, which is the sum's length.
            let s = unsafe { sum.get_unchecked_mut(j as usize) };
            *s = fma::<F>(multiplier, f64::from(x), *s);
        }
    }

    /// The inner products ⟨row, v⟩ for each of `W` vectors that lie side by side: `table[j]` holds
    /// entry j of each. Two sums per vector, over every second entry, hide the latency of additions.
    ///
    /// # Panics
    /// If the table does not have as many entries as the matrix has columns.
    #[inline(always)]
    pub fn dots<const F: bool, const W: usize>(self, table: &[[f64; W]]) -> [f64; W] {
        assert_eq!(table.len(), self.columns, "θ must have an entry per column");
        // SAFETY: every index is below `columns`, which is the table's length.
        let at = |j: u32| unsafe { table.get_unchecked(j as usize) };
        let (index_pairs, index_rest) = self.indices.as_chunks::<2>();
        let (value_pairs, value_rest) = self.values.as_chunks::<2>();
        let (mut even, mut odd) = ([0.0; W], [0.0; W]);
        for (j, x) in index_pairs.iter().zip(value_pairs) {
            let (x, y, a, b) = (f64::from(x[0]), f64::from(x[1]), at(j[0]), at(j[1]));
            for lane in 0..W {
                even[lane] = fma::<F>(x, a[lane], even[lane]);
                odd[lane] = fma::<F>(y, b[lane], odd[lane]);
            }
        }
        for (&j, &x) in index_rest.iter().zip(value_rest) {
            let (x, a) = (f64::from(x), at(j));
            for lane in 0..W {
                even[lane] = fma::<F>(x, a[lane], even[lane]);
            }
        }
        for lane in 0..W {
            even[lane] += odd[lane];
        }
        even
    }

    /// Adds sums += row·multipliersᵀ, laid out as the table of [`Row::dots`].
    ///
    /// # Panics
    /// As [`Row::dots`].
    #[inline(always)]
    pub fn scatter_all<const F: bool, const W: usize>(
        self,
        multipliers: &[f64; W],
        sums: &mut [[f64; W]],
    ) {
        assert_eq!(sums.len(), self.columns, "the sum must have an entry per column");
        for (&j, &x) in self.indices.iter().zip(self.values) {
            let x = f64::from(x);
            // SAFETY: every index is below `columns`, which is the sums' length.
            let s = unsafe { sums.get_unchecked_mut(j as usize) };
            for lane in 0..W {
                s[lane] = fma::<F>(multipliers[lane], x, s[lane]);
            }
        }
    }

    /// Adds gram += weight · row rowᵀ, upper triangle of a row-major square matrix. Columns increase
    /// within a row, so the pairs from each entry onwards are that triangle.
    ///
    /// # Panics
    /// If the matrix is not columns × columns.
    #[inline(always)]
    pub fn rank_one<const F: bool>(self, weight: f64, gram: &mut [f64]) {
        assert_eq!(gram.len(), self.columns * self.columns, "the Gram matrix must be square");
        let (mut indices, mut values) = (self.indices, self.values);
        while let (Some((&j, later)), Some((&x, rest))) =
            (indices.split_first(), values.split_first())
        {
            let multiplier = weight * f64::from(x);
            let start = j as usize * self.columns;
            for (&k, &z) in indices.iter().zip(values) {
                // SAFETY: j and k are below `columns`, so j·columns + k is below columns².
                let s = unsafe { gram.get_unchecked_mut(start + k as usize) };
                *s = fma::<F>(multiplier, f64::from(z), *s);
            }
            (indices, values) = (later, rest);
        }
    }
}
