//! The gradient of the joint (multinomial) logistic loss, summed exactly.
//!
//! ℓ(θ; x, y) = ln Σ_k e^{⟨x,θ_k⟩} − ⟨x,θ_y⟩ has the gradient (π − e_y)xᵀ, π the softmax of the K
//! margins: one vector of features for each class, all K·p numbers in one sum.
//!
//! **Claim.** With features as in [`super::ExactGradient`] (‖x‖₂ ≤ R on the grid that R implies), the
//! returned sum is the same for any order of rows, threads and sharding, and one record's contribution
//! has norm at most **S·R**, S ≤ √2 the norm that π − e_y is clipped to, in the arithmetic used.
//!
//! *Proof.* Multipliers are integers in units of 2⁻²¹, none larger than 2²¹. The sum of their squares is
//! exact in f64 (at most 2⁴³ for any π, with a relative error of at most K·2⁻⁵³ for any input). Where it
//! exceeds (2²¹S)² they are multiplied by less than (1 − 10⁻¹³)·2²¹S over its root and truncated toward
//! zero, which cannot enlarge them; nor can a weight of at most 1. So ‖m xᵀ‖ = ‖m‖‖x‖ ≤ S·R, for any
//! rounding of π. Since |m_k| ≤ 1, the sums of 2⁹ rows are exact in f64 as they are there, a = 0. 2⁹
//! such sums, each at most 2⁵³ units, are exact in 64-bit integers, and are then added in 128 bits. ∎
//!
//! **Layout.** The K numbers of a column lie side by side, in panels of W ≤ 16 classes: an entry of a
//! row is read once for W margins and once for W sums, all in vector registers. The softmax itself is
//! computed over [`ROWS_PER_PART`] rows at a time, one class after another, so it is vectorised too. A
//! pass over z stored entries takes 2Kz multiply-adds and reads the matrix once; no other cost is as
//! large.
//!
//! - The label of class k of K is k/K ([`SoftmaxGradient::label`]), so that it fits [`super::Records`].
//! - Margins are exact, as those of [`super::ExactGradient`] are, at θ truncated by the norm of all
//!   classes together; π is computed without fused operations. So both are the same on every processor
//!   and for dense and sparse storage of a row: `storage_does_not_matter`.
//! - The Hessian is at most R²/2, and its trace at most R².
//! - Tested by `agrees_with_a_plain_gradient`, `agrees_with_integers`,
//!   `order_does_not_matter_and_no_record_exceeds_its_bound`, `the_largest_terms_do_not_overflow`.

use super::exact::{ExactPlan, ExactSum, FLIGHT, exact_point};
use super::gradient::ROWS_PER_PART;
use super::{Block, Statistic};
use crate::kernel::exponential::exp_nonpositive;
use crate::kernel::{Kernel, dispatch};
use serde::{Deserialize, Serialize};

/// The number 1 in units of multipliers.
const ONE_IN_UNITS: f64 = 2_097_152.0;

/// The largest number of classes in a panel: four vectors of four lanes.
const MOST_PANEL_CLASSES: usize = 16;

/// Flights of rows that are added in 64 bits: 2⁹·2⁵³ units are in range.
const FLIGHTS: usize = 512;

/// The exact sum Σ (π − e_y)xᵀ at θ, multipliers truncated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SoftmaxGradient {
    /// The number of classes K.
    pub classes: usize,
    /// The point θ, class after class.
    pub theta: Vec<f64>,
    /// The radius R to which rows were clipped and truncated.
    pub radius: f64,
    /// The bound S to which ‖π − e_y‖ is clipped; above 0. At √2 nothing is clipped.
    pub slope: f64,
    /// The weight of a record of each class, from 0 to 1; empty if all are 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<f64>,
}

impl SoftmaxGradient {
    /// The label of a class.
    pub fn label(code: u32, classes: usize) -> f64 {
        f64::from(code) / classes as f64
    }

    /// The class of a label.
    pub fn class(label: f64, classes: usize) -> usize {
        (label * classes as f64).round() as usize
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

    /// The sum is of integers.
    fn grain(&self, _columns: usize) -> Option<usize> {
        Some(1)
    }

    fn add(&self, block: Block<'_>, into: &mut ExactSum) {
        let panels = self.classes.div_ceil(MOST_PANEL_CLASSES).max(1);
        match self.classes.div_ceil(panels) {
            0..=4 => self.add_in_panels::<4>(block, into),
            5..=8 => self.add_in_panels::<8>(block, into),
            9..=12 => self.add_in_panels::<12>(block, into),
            _ => self.add_in_panels::<MOST_PANEL_CLASSES>(block, into),
        }
    }

    fn merge(&self, into: &mut ExactSum, other: ExactSum) {
        into.merge(other);
    }
}

impl SoftmaxGradient {
    fn add_in_panels<const W: usize>(&self, block: Block<'_>, into: &mut ExactSum) {
        let (plan, columns) = (self.plan(), block.columns());
        assert_eq!(self.theta.len(), self.classes * columns, "θ must have an entry per column");
        let length = self.classes.div_ceil(W) * columns;
        let place = |class: usize, column: usize| (class / W * columns + column, class % W);
        let mut theta = vec![[0.0; W]; length];
        let point = exact_point(&self.theta);
        for (class, values) in point.chunks_exact(columns.max(1)).enumerate() {
            for (column, value) in values.iter().enumerate() {
                let (entry, lane) = place(class, column);
                theta[entry][lane] = *value;
            }
        }
        let mut sums = vec![[0.0; W]; length];
        for flights in block.parts(FLIGHTS * FLIGHT) {
            let mut totals = vec![[0_i64; W]; length];
            for rows in flights.parts(FLIGHT) {
                let pass =
                    SoftmaxPass { statistic: self, plan, theta: &theta, rows, sums: &mut sums };
                // Sums of features off the grid have no guarantee, and may not fit.
                let fine = dispatch(pass);
                into.note(rows.rows(), fine);
                for (total, sum) in totals.iter_mut().zip(&mut sums) {
                    for lane in 0..W {
                        total[lane] +=
                            if fine { (sum[lane] / plan.feature_unit) as i64 } else { 0 };
                    }
                    *sum = [0.0; W];
                }
            }
            into.add_units(|index| {
                let (entry, lane) = place(index / columns, index % columns);
                totals[entry][lane]
            });
        }
    }
}

/// Adds Σ m·xᵀ over at most [`FLIGHT`] rows, m in units; returns true if all features are on the grid.
struct SoftmaxPass<'a, const W: usize> {
    statistic: &'a SoftmaxGradient,
    plan: ExactPlan,
    theta: &'a [[f64; W]],
    rows: Block<'a>,
    sums: &'a mut [[f64; W]],
}

impl<const W: usize> Kernel for SoftmaxPass<'_, W> {
    type Output = bool;

    #[inline(always)]
    fn run<const F: bool>(self) -> bool {
        let columns = self.rows.columns().max(1);
        let SoftmaxGradient { classes, slope, ref weights, .. } = *self.statistic;
        // Class after class, so that each class's multipliers lie together.
        let mut table = vec![[0.0; ROWS_PER_PART]; classes];
        let mut lanes = [[0.0; W]; ROWS_PER_PART];
        let mut fine = true;
        for part in self.rows.parts(ROWS_PER_PART) {
            let lanes = &mut lanes[..part.rows()];
            for (theta, table) in self.theta.chunks_exact(columns).zip(table.chunks_mut(W)) {
                part.dots::<F, W>(theta, lanes);
                for (lane, margins) in table.iter_mut().enumerate() {
                    margins
                        .iter_mut()
                        .zip(&*lanes)
                        .for_each(|(margin, lanes)| *margin = lanes[lane]);
                }
            }
            multipliers(&mut table, part.labels(), slope, weights);
            for (sums, table) in self.sums.chunks_exact_mut(columns).zip(table.chunks(W)) {
                lanes.fill([0.0; W]);
                for (lane, m) in table.iter().enumerate() {
                    lanes.iter_mut().zip(m).for_each(|(lanes, m)| lanes[lane] = *m);
                }
                part.scatter_all::<F, W>(lanes, sums);
            }
            fine &= part.on_grid(self.plan.feature_unit);
        }
        fine
    }
}

/// Turns margins, class after class, into clipped and truncated multipliers in units.
#[inline(always)]
fn multipliers(table: &mut [[f64; ROWS_PER_PART]], labels: &[f64], slope: f64, weights: &[f64]) {
    let (mut largest, mut totals, mut squares) =
        ([f64::MIN; ROWS_PER_PART], [0.0; ROWS_PER_PART], [0.0; ROWS_PER_PART]);
    for margins in &*table {
        for (largest, &margin) in largest.iter_mut().zip(margins) {
            *largest = if margin > *largest { margin } else { *largest };
        }
    }
    for values in &mut *table {
        for ((value, largest), total) in values.iter_mut().zip(&largest).zip(&mut totals) {
            *value = exp_nonpositive::<false>((*value - largest).min(0.0));
            *total += *value;
        }
    }
    for values in &mut *table {
        for (value, total) in values.iter_mut().zip(&totals) {
            *value = (*value / total * ONE_IN_UNITS).trunc().clamp(0.0, ONE_IN_UNITS);
        }
    }
    let classes = table.len() as f64;
    for (row, label) in labels.iter().enumerate() {
        if let Some(values) = table.get_mut((label * classes).round() as usize) {
            values[row] -= ONE_IN_UNITS;
        }
    }
    for values in &*table {
        squares.iter_mut().zip(values).for_each(|(square, m)| *square += m * m);
    }
    let limit = (slope * ONE_IN_UNITS).powi(2) * (1.0 - 1e-15);
    let mut factors = squares
        .map(|found| if found > limit { (limit / found).sqrt() * (1.0 - 1e-12) } else { 1.0 });
    for (factor, label) in factors.iter_mut().zip(labels) {
        let weight = weights.get((label * classes).round() as usize);
        // The test is "within?", so that a NaN weight counts as 0.
        *factor *= weight.map_or(1.0, |w| if (0.0..=1.0).contains(w) { *w } else { 0.0 });
    }
    for values in table {
        values.iter_mut().zip(&factors).for_each(|(m, factor)| *m = (*m * factor).trunc());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sum::{InMemory, Sums};
    use crate::testing::{Lcg, random_csr, random_dense, select_rows};
    use privet_data::matrix::{DenseMatrix, Matrix};
    use proptest::prelude::*;

    /// One for each width of a panel, and two that need several panels.
    const CLASSES: [usize; 8] = [3, 4, 5, 9, 13, 16, 17, 37];

    fn case(
        seed: u64,
        sparse: bool,
        classes: usize,
        size: f64,
    ) -> (Matrix, Vec<f64>, SoftmaxGradient) {
        let mut random = Lcg(seed);
        let (rows, columns) = (1300, 6);
        let matrix = if sparse {
            random_csr(&mut random, rows, columns, 3)
        } else {
            random_dense(&mut random, rows, columns)
        };
        let class = |random: &mut Lcg| (random.next() % classes as u64) as u32;
        let labels =
            (0..rows).map(|_| SoftmaxGradient::label(class(&mut random), classes)).collect();
        let theta = (0..classes * columns).map(|_| size * random.centred()).collect();
        (
            matrix,
            labels,
            SoftmaxGradient { classes, theta, radius: 1.0, slope: 2_f64.sqrt(), weights: vec![] },
        )
    }

    /// The definition, one record and one integer at a time.
    fn slowly(statistic: &SoftmaxGradient, matrix: &Matrix, row: usize, label: f64) -> Vec<i128> {
        let (classes, columns) = (statistic.classes, matrix.columns());
        let (point, features) = (exact_point(&statistic.theta), matrix.dense_row(row));
        let margin = |theta: &[f64]| {
            features.iter().zip(theta).fold(0.0, |sum, (x, t)| sum + f64::from(*x) * t)
        };
        let margins: Vec<f64> = point.chunks(columns).map(margin).collect();
        let largest = margins.iter().fold(f64::MIN, |a, &b| if b > a { b } else { a });
        let powers: Vec<f64> =
            margins.iter().map(|m| exp_nonpositive::<false>((m - largest).min(0.0))).collect();
        let total: f64 = powers.iter().fold(0.0, |a, b| a + b);
        let mut m: Vec<i128> = powers
            .iter()
            .map(|e| ((e / total * ONE_IN_UNITS) as i128).clamp(0, ONE_IN_UNITS as i128))
            .collect();
        let class = SoftmaxGradient::class(label, classes);
        if class < classes {
            m[class] -= ONE_IN_UNITS as i128;
        }
        let limit = (statistic.slope * ONE_IN_UNITS).powi(2) * (1.0 - 1e-15);
        let squares = m.iter().map(|m| m * m).sum::<i128>() as f64;
        let clipped = (limit / squares).sqrt() * (1.0 - 1e-12);
        let factor = if squares > limit { clipped } else { 1.0 };
        let factor = factor * statistic.weights.get(class).unwrap_or(&1.0);
        m.iter_mut().for_each(|m| *m = (*m as f64 * factor) as i128);
        let features = matrix.dense_row(row);
        let units = |x: &f32| (f64::from(*x) / statistic.plan().feature_unit) as i128;
        m.iter().flat_map(|m| features.iter().map(move |x| m * units(x))).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn storage_does_not_matter(seed in any::<u64>(), pick in 0..CLASSES.len(), size in 0.1..100.0_f64) {
            let (csr, labels, statistic) = case(seed, true, CLASSES[pick], size);
            let dense = crate::testing::dense(&csr);
            let [one, other] = [&csr, &dense]
                .map(|matrix| InMemory::new(matrix, &labels).unwrap().sum(&statistic).unwrap());
            prop_assert!(one.units().is_some());
            prop_assert_eq!(one, other);
        }

        /// Extreme θ as well: then π is 0 and 1 and the bound is met with equality.
        #[test]
        fn order_does_not_matter_and_no_record_exceeds_its_bound(
            seed in any::<u64>(), sparse in any::<bool>(),
            classes in prop::sample::select(CLASSES.to_vec()), slope in 0.1..1.5_f64,
            size in prop::sample::select(vec![0.0, 1.0, 1e3, 1e6, f64::MAX, f64::INFINITY, f64::NAN]),
            cut in 0_usize..1300
        ) {
            let (matrix, labels, mut statistic) = case(seed, sparse, classes, size);
            statistic.slope = slope;
            let whole = InMemory::new(&matrix, &labels).unwrap().sum(&statistic).unwrap();
            prop_assert!(whole.units().is_some());
            let order: Vec<usize> = (0..labels.len()).rev().collect();
            let reversed = select_rows(&matrix, &order);
            let reversed_labels: Vec<f64> = order.iter().map(|&i| labels[i]).collect();
            let mut again = statistic.zero(matrix.columns());
            statistic.add(Block::new(&reversed, cut, &reversed_labels[cut..]), &mut again);
            let mut rest = statistic.zero(matrix.columns());
            statistic.add(Block::new(&reversed, 0, &reversed_labels[..cut]), &mut rest);
            statistic.merge(&mut again, rest);
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
        fn agrees_with_integers(
            seed in any::<u64>(), sparse in any::<bool>(), slope in 0.1..1.5_f64,
            classes in prop::sample::select(CLASSES.to_vec()), rows in 1_usize..700,
            size in prop::sample::select(vec![0.0, 3.0, 1e3, 1e6])
        ) {
            let (matrix, labels, mut statistic) = case(seed, sparse, classes, size);
            statistic.slope = slope;
            if seed % 2 == 0 {
                statistic.weights = (1..=classes).map(|class| 1.0 / class as f64).collect();
            }
            let mut found = statistic.zero(matrix.columns());
            statistic.add(Block::new(&matrix, 0, &labels[..rows]), &mut found);
            let mut expected = vec![0; statistic.theta.len()];
            for (row, label) in labels[..rows].iter().enumerate() {
                let one = slowly(&statistic, &matrix, row, *label);
                expected.iter_mut().zip(one).for_each(|(sum, x)| *sum += x);
            }
            prop_assert_eq!(found.units().unwrap(), &expected[..]);
        }

        #[test]
        fn agrees_with_a_plain_gradient(
            seed in any::<u64>(), sparse in any::<bool>(),
            classes in prop::sample::select(CLASSES.to_vec())
        ) {
            let (matrix, labels, statistic) = case(seed, sparse, classes, 3.0);
            let found = InMemory::new(&matrix, &labels).unwrap().sum(&statistic).unwrap();
            let found = found.to_f64(statistic.unit()).unwrap();
            let columns = matrix.columns();
            let mut expected = vec![0.0; classes * columns];
            for (i, &label) in labels.iter().enumerate() {
                let row: Vec<f64> = matrix.dense_row(i).iter().map(|x| f64::from(*x)).collect();
                let score = |k: usize| -> f64 {
                    row.iter().zip(&statistic.theta[k * columns..]).map(|(x, t)| x * t).sum()
                };
                let total: f64 = (0..classes).map(|k| score(k).exp()).sum();
                for k in 0..classes {
                    let hit = f64::from(u8::from(SoftmaxGradient::label(k as u32, classes) == label));
                    let m = score(k).exp() / total - hit;
                    expected[k * columns..].iter_mut().zip(&row).for_each(|(e, x)| *e += m * x);
                }
            }
            // A unit of 2⁻²¹ for each of 1,300 rows.
            for (a, b) in found.iter().zip(&expected) {
                prop_assert!((a - b).abs() <= 1300.0 / ONE_IN_UNITS, "{a} {b}");
            }
        }
    }

    /// Every term of the largest size, over more rows than a 64-bit partial sum holds.
    #[test]
    fn the_largest_terms_do_not_overflow() {
        let rows = FLIGHTS * FLIGHT + 700;
        let matrix = Matrix::Dense(DenseMatrix::new(vec![1.0; rows], rows, 1));
        let statistic = SoftmaxGradient {
            classes: 3,
            theta: vec![1e6, 0.0, 0.0],
            radius: 1.0,
            slope: 2_f64.sqrt() * (1.0 + 1e-9),
            weights: vec![],
        };
        let mut sum = statistic.zero(1);
        let labels = vec![SoftmaxGradient::label(2, 3); rows];
        statistic.add(Block::new(&matrix, 0, &labels), &mut sum);
        let whole = rows as i128 * (1 << 44);
        assert_eq!(sum.units().unwrap(), [whole, 0, -whole]);
        assert_eq!(sum.rows(), rows as u64);
    }

    #[test]
    fn features_off_the_grid_are_noticed() {
        for bad in [1e-9, 1e30, f32::MAX] {
            let matrix = Matrix::Dense(DenseMatrix::new([[bad, 0.5]; 600].concat(), 600, 2));
            let statistic = SoftmaxGradient {
                classes: 3,
                theta: vec![1.0; 6],
                radius: 1.0,
                slope: 1.0,
                weights: vec![],
            };
            let sum = InMemory::new(&matrix, &[0.0; 600]).unwrap().sum(&statistic).unwrap();
            assert!(sum.units().is_none());
        }
    }
}
