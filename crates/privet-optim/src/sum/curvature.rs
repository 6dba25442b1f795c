//! Curvature Σℓ″xxᵀ, summed exactly: independent of the order of the rows, for sums that are released.
//!
//! **Claim.** Of each row, entries are truncated toward zero to multiples of 2^(e−15), 2^e ≥ R, and ℓ″
//! at θ, clipped to [0, c] and set to 0 where |ℓ′| exceeds the bound to which gradients clip it, toward
//! zero to multiples of 2^(a−16), 2^a ≥ c. The returned sum is exact: the same for any order of rows,
//! any number of threads and any sharding. One record's contribution, as a whole matrix, is w·xxᵀ with
//! 0 ≤ w ≤ c and ‖x‖ ≤ R, of Frobenius norm at most cR².
//!
//! *Proof.* w·x_j·x_k is a multiple of q = 2^(a−16)·2^(2(e−15)) of size at most 2⁴⁶q. Sums of at most
//! 2⁷ of them are exact in f64; they are then added as integers of 128 bits. Truncation toward zero
//! increases no norm and no weight. Margins are those of [`super::ExactGradient`], exact. ∎
//!
//! - Tested by `curvature_is_exact_in_any_order_and_near_the_true_one`.

use super::exact::{ExactPlan, ExactSum, exact_point, exponent_above};
use super::gradient::ROWS_PER_PART;
use super::{Block, Statistic};
use crate::kernel::{Kernel, dispatch};
use crate::loss::Loss;
use serde::{Deserialize, Serialize};

/// Rows whose exact products are summed in f64 before conversion to integers.
const FLIGHT: usize = 128;
/// Bits of a weight and of an entry.
const BITS: (i32, i32) = (16, 15);

/// The exact sum Σ trunc(ℓ″)·trunc(x)trunc(x)ᵀ at θ: the upper triangle of a row-major square matrix;
/// the part below it is unspecified ([`super::ExactGram::mirror`] fills it).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExactCurvature {
    /// The loss ℓ.
    pub loss: Loss,
    /// The point θ.
    pub theta: Vec<f64>,
    /// The radius R to which rows were clipped and truncated.
    pub radius: f64,
    /// The bound to which |ℓ′| is clipped; beyond it the curvature is 0.
    pub slope: f64,
}

impl ExactCurvature {
    /// The units to which weights and entries are truncated.
    fn units(&self) -> (f64, f64) {
        let (weight, entry) = BITS;
        let below = |x: f64, bits: i32| 2_f64.powi(exponent_above(x) - bits);
        (below(self.loss.curvature(), weight), below(self.radius, entry))
    }

    /// The unit of the sum's integers, a power of two.
    pub fn unit(&self) -> f64 {
        let (weight, entry) = self.units();
        weight * entry * entry
    }
}

impl Statistic for ExactCurvature {
    type Sum = ExactSum;
    const NAME: &'static str = "exact-curvature";

    fn bound(&self, radius: f64) -> f64 {
        self.loss.smoothness(radius)
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
        let theta = exact_point(&self.theta);
        let mut sum = vec![0.0; block.columns() * block.columns()];
        for rows in block.parts(FLIGHT) {
            sum.fill(0.0);
            let fine = dispatch(Pass { statistic: self, theta: &theta, rows, sum: &mut sum });
            into.take(&sum, self.unit(), rows.rows(), fine);
        }
    }

    fn merge(&self, into: &mut ExactSum, other: ExactSum) {
        into.merge(other);
    }
}

struct Pass<'a> {
    statistic: &'a ExactCurvature,
    theta: &'a [f64],
    rows: Block<'a>,
    sum: &'a mut [f64],
}

impl Kernel for Pass<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<const F: bool>(self) -> bool {
        let ExactCurvature { loss, radius, slope, .. } = self.statistic;
        let ((weight_unit, entry_unit), most) = (self.statistic.units(), loss.curvature());
        let columns = self.rows.columns();
        let (mut margins, mut slopes, mut weights) =
            ([0.0; ROWS_PER_PART], [0.0; ROWS_PER_PART], [0.0; ROWS_PER_PART]);
        let mut entries: Vec<(usize, f64)> = Vec::new();
        let mut fine = true;
        for part in self.rows.parts(ROWS_PER_PART) {
            let margins = &mut margins[..part.rows()];
            let (slopes, weights) = (&mut slopes[..part.rows()], &mut weights[..part.rows()]);
            part.margins::<F>(self.theta, margins);
            // Without fused operations: the same on every processor.
            loss.derivatives::<false>(margins, part.labels(), slopes);
            loss.second_derivatives::<false>(margins, part.labels(), weights);
            fine &= part.on_grid(ExactPlan::feature_unit(*radius));
            for row in 0..part.rows() {
                // The test is "within?", so that a NaN has weight 0.
                let within = slopes[row].abs() <= *slope && weights[row] > 0.0;
                let weight = if within { weights[row].min(most) } else { 0.0 };
                let weight = (weight / weight_unit).trunc() * weight_unit;
                if weight == 0.0 {
                    continue;
                }
                entries.clear();
                part.for_entries(row, |column, x| {
                    entries.push((column, (x / entry_unit).trunc() * entry_unit));
                });
                for (at, (j, x)) in entries.iter().enumerate() {
                    for (k, y) in &entries[at..] {
                        self.sum[j * columns + k] += weight * (x * y);
                    }
                }
            }
        }
        fine
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sum::{Hessian, InMemory, Sums};
    use crate::testing::{Lcg, dense, random_csr, select_rows};
    use privet_data::matrix::Matrix;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn curvature_is_exact_in_any_order_and_near_the_true_one(seed in any::<u64>(), size in 0.1..20.0_f64) {
            let mut random = Lcg(seed);
            let (rows, columns) = (300, 9);
            let csr = random_csr(&mut random, rows, columns, 4);
            let labels: Vec<f64> = (0..rows).map(|_| random.sign()).collect();
            let theta: Vec<f64> = (0..columns).map(|_| size * random.centred()).collect();
            let statistic =
                ExactCurvature { loss: Loss::Logistic, theta: theta.clone(), radius: 1.0, slope: 1.0 };
            let sum = |matrix: &Matrix, labels: &[f64]| {
                InMemory::new(matrix, labels).unwrap().sum(&statistic).unwrap()
            };
            let whole = sum(&csr, &labels);
            prop_assert_eq!(&whole, &sum(&dense(&csr), &labels));
            let order: Vec<usize> = (0..rows).rev().collect();
            let turned: Vec<f64> = order.iter().map(|row| labels[*row]).collect();
            prop_assert_eq!(&whole, &sum(&select_rows(&csr, &order), &turned));
            let hessian = Hessian { loss: Loss::Logistic, theta, stride: 1 };
            let true_one = InMemory::new(&csr, &labels).unwrap().sum(&hessian).unwrap();
            let found = whole.to_f64(statistic.unit()).unwrap();
            for j in 0..columns {
                for k in j..columns {
                    let at = j * columns + k;
                    prop_assert!((found[at] - true_one[at]).abs() <= 1e-3 * rows as f64, "{j} {k}");
                }
            }
            // For one record, within cR².
            let one = sum(&select_rows(&csr, &[0]), &labels[..1]).to_f64(statistic.unit()).unwrap();
            let mut square = 0.0;
            for j in 0..columns {
                for k in j..columns {
                    square += one[j * columns + k].powi(2) * if j == k { 1.0 } else { 2.0 };
                }
            }
            prop_assert!(square.sqrt() <= 0.25 * (1.0 + 1e-12));
        }
    }
}
