//! Second moments Σxxᵀ, summed exactly: independent of the order of the rows, for sums that are
//! released.
//!
//! **Claim.** With every feature a multiple of u = 2^(e−23) and ‖x‖∞ ≤ 2^e (`privet-data` truncates
//! so), the returned sum is exact: the same for any order of rows, any number of threads and any
//! sharding. One record's contribution, as a whole matrix, has Frobenius norm ‖x‖² ≤ R².
//!
//! *Proof.* x_j·x_k is a multiple of q = u² of size at most 2⁴⁶q. Sums of at most 2⁷ such products are
//! multiples of q of size at most 2⁵³q, hence exact in f64, fused or not and in any order. They are
//! then added as integers of 128 bits. ‖xxᵀ‖_F² = Σ_j Σ_k x_j²x_k² = ‖x‖⁴. ∎
//!
//! - e: 2^e is the least power of two that is at least `radius`
//! - Tested by `moments_are_those_of_integers_in_any_order`.

use super::exact::{ExactPlan, ExactSum};
use super::{Block, Statistic};
use crate::kernel::{Kernel, dense, dispatch};
use serde::{Deserialize, Serialize};

/// Rows whose exact products are summed in f64 before conversion to integers.
const FLIGHT: usize = 128;

/// The exact sum Σxxᵀ: the upper triangle of a row-major square matrix; the part below it is
/// unspecified ([`ExactGram::mirror`] fills it).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExactGram {
    /// The radius R to which rows were clipped and truncated.
    pub radius: f64,
}

impl ExactGram {
    fn feature_unit(self) -> f64 {
        // The multiplier is 1.
        ExactPlan::feature_unit(self.radius)
    }

    /// The unit of the sum's integers, a power of two.
    pub fn unit(self) -> f64 {
        let unit = self.feature_unit();
        unit * unit
    }

    /// Copies the upper triangle of a row-major square matrix to the lower one.
    pub fn mirror<T: Copy>(matrix: &mut [T], columns: usize) {
        for j in 0..columns {
            for k in 0..j {
                matrix[j * columns + k] = matrix[k * columns + j];
            }
        }
    }
}

impl Statistic for ExactGram {
    type Sum = ExactSum;
    const NAME: &'static str = "exact-gram";

    fn bound(&self, radius: f64) -> f64 {
        radius * radius
    }
    fn zero(&self, columns: usize) -> ExactSum {
        ExactSum::zero(columns * columns)
    }
    fn bytes(&self, columns: usize) -> usize {
        24 * columns * columns + 64
    }

    /// The sum is of integers.
    fn grain(&self, _columns: usize) -> Option<usize> {
        Some(1)
    }

    fn add(&self, block: Block<'_>, into: &mut ExactSum) {
        let mut sum = vec![0.0; block.columns() * block.columns()];
        for rows in block.parts(FLIGHT) {
            sum.fill(0.0);
            let fine = dispatch(GramPass { unit: self.feature_unit(), rows, sum: &mut sum });
            into.take(&sum, self.unit(), rows.rows(), fine);
        }
    }

    fn merge(&self, into: &mut ExactSum, other: ExactSum) {
        into.merge(other);
    }
}

struct GramPass<'a> {
    unit: f64,
    rows: Block<'a>,
    sum: &'a mut [f64],
}

impl Kernel for GramPass<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<const F: bool>(self) -> bool {
        let columns = self.rows.columns();
        if let Some(values) = self.rows.dense() {
            let mut scratch = vec![0.0; dense::gram_scratch(columns)];
            for values in values.chunks(dense::GRAM_ROWS * columns.max(1)) {
                let weights = [1.0; dense::GRAM_ROWS];
                let weights = &weights[..values.len() / columns.max(1)];
                dense::gram::<F>(values, columns, weights, &mut scratch, self.sum);
            }
        }
        for row in self.rows.sparse() {
            row.rank_one::<F>(1.0, self.sum);
        }
        self.rows.on_grid(self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sum::{InMemory, Sums};
    use crate::testing::{Lcg, random_csr, random_dense, select_rows};
    use privet_data::matrix::Matrix;
    use proptest::prelude::*;

    fn moments(matrix: &Matrix) -> Vec<i128> {
        let labels = vec![1.0; matrix.rows()];
        let records = InMemory::new(matrix, &labels).unwrap();
        let mut sum = records.sum(&ExactGram { radius: 1.0 }).unwrap().into_units().unwrap();
        ExactGram::mirror(&mut sum, matrix.columns());
        sum
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn moments_are_those_of_integers_in_any_order(
            seed in any::<u64>(), sparse in any::<bool>(), columns in 1_usize..20
        ) {
            let mut random = Lcg(seed);
            let rows = 3000;
            let matrix = if sparse {
                random_csr(&mut random, rows, columns, 3)
            } else {
                random_dense(&mut random, rows, columns)
            };
            let mut expected = vec![0_i128; columns * columns];
            for i in 0..rows {
                let mut row = vec![0_i128; columns];
                let whole = |x: f32| (f64::from(x) * 8_388_608.0) as i128;
                match &matrix {
                    Matrix::Dense(m) => {
                        row.iter_mut().zip(m.row(i)).for_each(|(r, x)| *r = whole(*x));
                    }
                    Matrix::Csr(m) => {
                        let (indices, values) = m.row(i);
                        for (j, x) in indices.iter().zip(values) {
                            row[*j as usize] = whole(*x);
                        }
                    }
                }
                for (j, a) in row.iter().enumerate() {
                    for (k, b) in row.iter().enumerate() {
                        expected[j * columns + k] += a * b;
                    }
                }
            }
            prop_assert_eq!(&moments(&matrix), &expected);
            let mut order: Vec<usize> = (0..rows).collect();
            for i in (1..rows).rev() {
                order.swap(i, (random.next() % (i as u64 + 1)) as usize);
            }
            prop_assert_eq!(moments(&select_rows(&matrix, &order)), expected);
        }
    }

    #[test]
    fn full_rows_do_not_overflow_and_odd_features_are_noticed() {
        let ones = Matrix::Dense(privet_data::matrix::DenseMatrix::new(vec![1.0; 5000], 5000, 1));
        assert_eq!(moments(&ones), [5000_i128 << 46]);
        let odd = Matrix::Dense(privet_data::matrix::DenseMatrix::new(vec![1e-9, 0.5], 1, 2));
        let records = InMemory::new(&odd, &[1.0]).unwrap();
        assert!(records.sum(&ExactGram { radius: 1.0 }).unwrap().units().is_none());
    }
}
