//! The gradient of the joint (multinomial) logistic loss, summed exactly.
//!
//! ℓ(θ; x, y) = ln Σ_k e^{⟨x,θ_k⟩} − ⟨x,θ_y⟩ has the gradient (π − e_y)xᵀ, π the softmax of the K
//! margins: one vector of features for each class, all K·p numbers in one sum.
//!
//! **Claim.** With features as in [`super::ExactGradient`] (‖x‖₂ ≤ R on the grid that R promises), the
//! returned sum is the same for any order of rows, threads and sharding, and one record's
//! contribution has norm at most **S·R**, S ≤ √2 the norm that π − e_y is clipped to, in the
//! arithmetic used.
//!
//! *Proof.* Multipliers are integers in units of 2⁻²¹, none larger than 2²¹. The sum of their squares
//! is exact in f64; where it exceeds (2²¹S)² they are scaled down and truncated toward zero, and
//! should the new sum still exceed it, all become 0. So ‖m xᵀ‖ = ‖m‖‖x‖ ≤ S·R, whatever the rounding
//! of π. Since |m_k| ≤ 1, the sums are exact as they are there, a = 0. ∎
//!
//! - The label of class k of K is k/K ([`SoftmaxGradient::label`]), so that it fits [`super::Records`].
//! - No fused operations in margins and π: the same on every processor for one storage of the row.
//! - The Hessian is at most R²/2, and its trace at most R².
//! - Tested by `agrees_with_a_plain_gradient`, `order_does_not_matter_and_no_record_exceeds_its_bound`.

use super::exact::{ExactPlan, ExactSum, FLIGHT, on_grid};
use super::gradient::PART;
use super::{Block, Statistic};
use crate::kernel::exponential::exp_nonpositive;
use crate::kernel::{Kernel, dispatch};
use serde::{Deserialize, Serialize};

/// 1 in units of multipliers.
const ONE: f64 = 2_097_152.0;

/// Σ (π − e_y)xᵀ at θ, multipliers truncated, exactly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SoftmaxGradient {
    /// K.
    pub classes: usize,
    /// θ, class after class.
    pub theta: Vec<f64>,
    /// R, the radius rows were clipped and truncated for.
    pub radius: f64,
    /// S, what ‖π − e_y‖ is clipped to; above 0. At √2 nothing is clipped.
    pub slope: f64,
}

impl SoftmaxGradient {
    /// The label that stands for a class.
    pub fn label(code: u32, classes: usize) -> f64 {
        f64::from(code) / classes as f64
    }

    /// The unit of the sum's integers, a power of two.
    pub fn unit(&self) -> f64 {
        self.plan().unit()
    }

    fn plan(&self) -> ExactPlan {
        ExactPlan::new(1.0, self.radius)
    }
}

impl Statistic for SoftmaxGradient {
    type Sum = ExactSum;
    const NAME: &'static str = "softmax-gradient";

    fn bound(&self, radius: f64) -> f64 {
        self.slope * radius
    }
    fn zero(&self, columns: usize) -> ExactSum {
        ExactSum::zero(self.classes * columns)
    }
    fn bytes(&self, columns: usize) -> usize {
        24 * self.classes * columns + 64
    }

    fn add(&self, block: Block<'_>, into: &mut ExactSum) {
        let plan = self.plan();
        let mut sum = vec![0.0; self.classes * block.columns()];
        for rows in block.parts(FLIGHT) {
            sum.fill(0.0);
            let fine = dispatch(SoftmaxPass { statistic: self, plan, rows, sum: &mut sum });
            into.take(&sum, plan.unit(), rows.rows(), fine);
        }
    }

    fn merge(&self, into: &mut ExactSum, other: ExactSum) {
        into.merge(other);
    }
}

struct SoftmaxPass<'a> {
    statistic: &'a SoftmaxGradient,
    plan: ExactPlan,
    rows: Block<'a>,
    sum: &'a mut [f64],
}

impl Kernel for SoftmaxPass<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<const F: bool>(self) -> bool {
        let (classes, columns) = (self.statistic.classes, self.rows.columns());
        // Class after class, so that each class's multipliers lie together.
        let mut table = vec![0.0; classes * PART];
        let mut row = vec![0.0; classes];
        let mut fine = true;
        for part in self.rows.parts(PART) {
            let count = part.rows();
            for (k, margins) in table.chunks_exact_mut(PART).enumerate() {
                let theta = &self.statistic.theta[k * columns..(k + 1) * columns];
                part.margins::<false>(theta, &mut margins[..count]);
            }
            for (i, label) in part.labels().iter().enumerate() {
                for (k, value) in row.iter_mut().enumerate() {
                    *value = table[k * PART + i];
                }
                let label = (label * classes as f64).round() as usize;
                multipliers(&mut row, label, self.statistic.slope);
                for (k, value) in row.iter().enumerate() {
                    table[k * PART + i] = *value;
                }
            }
            for (k, sum) in self.sum.chunks_exact_mut(columns.max(1)).enumerate().take(classes) {
                part.accumulate::<F>(&table[k * PART..k * PART + count], sum);
            }
            if let Some(values) = part.dense() {
                fine &= on_grid(values, self.plan.feature_unit);
            }
            for row in part.sparse() {
                fine &= on_grid(row.values(), self.plan.feature_unit);
            }
        }
        fine
    }
}

/// Margins become clipped and truncated multipliers of class `label`.
#[inline(always)]
fn multipliers(row: &mut [f64], label: usize, slope: f64) {
    let largest = row.iter().fold(f64::MIN, |a, &b| if b > a { b } else { a });
    let mut total = 0.0;
    for value in row.iter_mut() {
        *value = exp_nonpositive::<false>((*value - largest).min(0.0));
        total += *value;
    }
    for (k, value) in row.iter_mut().enumerate() {
        let share = (*value / total * ONE).trunc().clamp(0.0, ONE);
        *value = if k == label { share - ONE } else { share };
    }
    // Whole numbers that share out 2²¹, so that their squares add up to 2⁴³ at most: exact.
    let squares = |row: &[f64]| row.iter().map(|m| m * m).sum::<f64>();
    let (limit, found) = ((slope * ONE).powi(2) * (1.0 - 1e-15), squares(row));
    if found > limit {
        let factor = (limit / found).sqrt() * (1.0 - 1e-12);
        row.iter_mut().for_each(|m| *m = (*m * factor).trunc());
        if squares(row) > limit {
            row.fill(0.0);
        }
    }
    row.iter_mut().for_each(|m| *m /= ONE);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sum::{InMemory, Records};
    use crate::testing::{Lcg, random_csr, random_dense, select_rows};
    use privet_data::matrix::Matrix;
    use proptest::prelude::*;

    const CLASSES: usize = 4;

    fn case(seed: u64, sparse: bool, size: f64) -> (Matrix, Vec<f64>, SoftmaxGradient) {
        let mut random = Lcg(seed);
        let (rows, columns) = (1300, 6);
        let matrix = if sparse {
            random_csr(&mut random, rows, columns, 3)
        } else {
            random_dense(&mut random, rows, columns)
        };
        let class = |random: &mut Lcg| (random.next() % CLASSES as u64) as u32;
        let labels =
            (0..rows).map(|_| SoftmaxGradient::label(class(&mut random), CLASSES)).collect();
        let theta = (0..CLASSES * columns).map(|_| size * random.centred()).collect();
        (
            matrix,
            labels,
            SoftmaxGradient { classes: CLASSES, theta, radius: 1.0, slope: 2_f64.sqrt() },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// Extreme θ as well: then π is 0 and 1 and the bound is met with equality.
        #[test]
        fn order_does_not_matter_and_no_record_exceeds_its_bound(
            seed in any::<u64>(), sparse in any::<bool>(),
            size in prop::sample::select(vec![0.0, 1.0, 1e3, 1e6]), slope in 0.1..1.5_f64
        ) {
            let (matrix, labels, mut statistic) = case(seed, sparse, size);
            statistic.slope = slope;
            let whole = InMemory::new(&matrix, &labels).unwrap().sum(&statistic).unwrap();
            prop_assert!(whole.units().is_some());
            let order: Vec<usize> = (0..labels.len()).rev().collect();
            let reversed = select_rows(&matrix, &order);
            let reversed_labels: Vec<f64> = order.iter().map(|&i| labels[i]).collect();
            let again = InMemory::new(&reversed, &reversed_labels).unwrap().sum(&statistic).unwrap();
            prop_assert_eq!(&whole, &again);
            for i in 0..60 {
                let mut one = statistic.zero(matrix.columns());
                statistic.add(Block::new(&matrix, i, &labels[i..=i]), &mut one);
                let vector = one.to_f64(statistic.unit()).unwrap();
                let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
                prop_assert!(norm <= statistic.bound(1.0) * (1.0 + 1e-12), "{norm}");
            }
        }

        #[test]
        fn agrees_with_a_plain_gradient(seed in any::<u64>(), sparse in any::<bool>()) {
            let (matrix, labels, statistic) = case(seed, sparse, 3.0);
            let found = InMemory::new(&matrix, &labels).unwrap().sum(&statistic).unwrap();
            let found = found.to_f64(statistic.unit()).unwrap();
            let columns = matrix.columns();
            let mut expected = vec![0.0; CLASSES * columns];
            for (i, &label) in labels.iter().enumerate() {
                let mut row = vec![0.0; columns];
                match &matrix {
                    Matrix::Dense(m) => row.iter_mut().zip(m.row(i)).for_each(|(a, b)| *a = f64::from(*b)),
                    Matrix::Csr(m) => {
                        let (places, values) = m.row(i);
                        places.iter().zip(values).for_each(|(j, x)| row[*j as usize] = f64::from(*x));
                    }
                }
                let score = |k: usize| -> f64 {
                    row.iter().zip(&statistic.theta[k * columns..]).map(|(x, t)| x * t).sum()
                };
                let total: f64 = (0..CLASSES).map(|k| score(k).exp()).sum();
                for k in 0..CLASSES {
                    let hit = f64::from(u8::from(SoftmaxGradient::label(k as u32, CLASSES) == label));
                    let m = score(k).exp() / total - hit;
                    expected[k * columns..].iter_mut().zip(&row).for_each(|(e, x)| *e += m * x);
                }
            }
            // A unit of 2⁻²¹ for each of 1,300 rows.
            for (a, b) in found.iter().zip(&expected) {
                prop_assert!((a - b).abs() <= 1300.0 / ONE, "{a} {b}");
            }
        }
    }
}
