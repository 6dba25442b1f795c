//! Gradient sums, summed exactly: independent of the order of their terms, for sums that are released.
//!
//! Floating-point sums can exceed the sensitivity derived for real numbers, because rounding depends
//! on the order and on the other terms (Casacuberta et al., CCS 2022). Here no addition rounds.
//!
//! **Claim.** With ‖x‖∞ ≤ 2^e and every feature a multiple of 2^(e−23) (`privet-data` truncates so),
//! and the multiplier m = ℓ′, clipped to [−L, L] and truncated toward zero to a multiple of 2^(a−21),
//! |m| ≤ 2^a, the returned sum is the same for any order of rows, any number of threads and any
//! sharding, and one record's contribution has norm at most LR.
//!
//! *Proof.* m·x_j is a multiple of q = 2^(a+e−44) with |m·x_j| ≤ 2⁴⁴q. Sums of at most 2⁹ such terms
//! are multiples of q of size at most 2⁵³q, hence exact in f64. They are then added as integers of
//! 128 bits, which holds 2⁸³ rows. Integer addition is associative. Truncation toward zero only
//! shrinks |m| ≤ L. ∎
//!
//! - e: 2^e is the least power of two that is at least `radius`; a likewise for L.
//! - L: `slope`. Below the loss's own Lipschitz constant it makes the tails of ℓ linear: the sum is
//!   still the gradient of a convex loss.
//!
//! **Margins** ⟨x, θ⟩ are exact as well, at θ truncated to multiples of 2^(t−30), 2^t ≥ ‖θ‖₂ (which
//! changes none of its entries by more than 2·10⁻⁹ of its norm): so they are the same for dense and
//! sparse storage of a row, in any order of its entries, with fused operations or without. *Proof.*
//! x_jθ_j is a multiple of 2^(e−23)·2^(t−30) = 2⁻⁵³·2^(e+t), and for any set of entries, the sum of its
//! products is at most ‖x‖₂‖θ‖₂ ≤ 2^(e+t), so that no partial sum is rounded. ∎ It matters where the
//! storage was chosen from the records: otherwise one record could change the last bit of others'
//! margins, and by it their multipliers.
//!
//! - Multipliers are computed record by record without fused operations: the same on every processor.
//! - Tested by `order_and_sharding_do_not_matter`, `storage_does_not_matter`, `agrees_with_integers`.

use super::gradient::ROWS_PER_PART;
use super::{Block, Statistic};
use crate::kernel::{Kernel, dispatch};
use crate::loss::Loss;
use serde::{Deserialize, Serialize};

/// Rows whose exact products are summed in f64 before conversion to integers.
pub(super) const FLIGHT: usize = 512;

/// The exact sum Σ trunc(ℓ′)·x at θ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExactGradient {
    /// The loss ℓ.
    pub loss: Loss,
    /// The point θ.
    pub theta: Vec<f64>,
    /// The radius R to which rows were clipped and truncated.
    pub radius: f64,
    /// The bound L to which |ℓ′| is clipped; above 0.
    pub slope: f64,
}

/// A partial sum: integers in units of [`ExactGradient::unit`].
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExactSum {
    pub(super) units: Vec<i128>,
    pub(super) rows: u64,
    pub(super) on_grid: bool,
}

/// The least exponent e with 2^e ≥ x, for finite x > 0.
pub(crate) fn exponent_above(x: f64) -> i32 {
    let mut e = x.log2().ceil() as i32;
    while 2f64.powi(e) < x {
        e += 1;
    }
    while 2f64.powi(e - 1) >= x {
        e -= 1;
    }
    e
}

/// The units of multipliers and features.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExactPlan {
    /// The unit of multipliers, 2^a/2²¹, to which they are truncated.
    pub multiplier_unit: f64,
    /// The unit of features, 2^e/2²³, of which they are multiples.
    pub feature_unit: f64,
}

impl ExactPlan {
    /// The units for multipliers of at most `lipschitz` and rows of norm at most `radius`.
    pub fn new(lipschitz: f64, radius: f64) -> Self {
        Self {
            multiplier_unit: 2f64.powi(exponent_above(lipschitz) - 21),
            feature_unit: Self::feature_unit(radius),
        }
    }

    /// The unit of features in rows of norm at most `radius`.
    pub fn feature_unit(radius: f64) -> f64 {
        2f64.powi(exponent_above(radius) - 23)
    }

    /// The unit of the sum's integers, a power of two.
    pub fn unit(self) -> f64 {
        self.multiplier_unit * self.feature_unit
    }
}

/// The truncated θ at which margins are exact: see the module's documentation. One that is not finite
/// stays as it is.
pub(super) fn exact_point(theta: &[f64]) -> Vec<f64> {
    let norm = theta.iter().map(|x| x * x).sum::<f64>().sqrt() * (1.0 + 1e-6);
    if !(norm.is_finite() && norm > f64::MIN_POSITIVE) {
        return theta.to_vec();
    }
    let unit = 2f64.powi(exponent_above(norm) - 30);
    theta.iter().map(|x| (x / unit).trunc() * unit).collect()
}

impl ExactGradient {
    fn plan(&self) -> ExactPlan {
        ExactPlan::new(self.slope, self.radius)
    }

    /// The unit of the sum's integers, a power of two.
    pub fn unit(&self) -> f64 {
        self.plan().unit()
    }
}

impl ExactSum {
    /// A sum of integers that were added elsewhere, over this many rows whose features were on the
    /// grid.
    pub fn of_units(units: Vec<i128>, rows: u64) -> Self {
        Self { units, rows, on_grid: true }
    }

    pub(super) fn zero(length: usize) -> Self {
        Self { units: vec![0; length], rows: 0, on_grid: true }
    }

    /// Adds an exact sum over a flight of rows.
    pub(super) fn take(&mut self, sum: &[f64], unit: f64, rows: usize, on_grid: bool) {
        self.note(rows, on_grid);
        // At most 2⁵³ units, so nothing is cut off.
        self.add_units(|index| (sum[index] / unit) as i64);
    }

    /// Counts rows, and notes if their features were not on the grid.
    pub(super) fn note(&mut self, rows: usize, on_grid: bool) {
        self.on_grid &= on_grid;
        self.rows += rows as u64;
    }

    /// Adds to every coordinate, in units.
    pub(super) fn add_units(&mut self, units: impl Fn(usize) -> i64) {
        for (index, total) in self.units.iter_mut().enumerate() {
            *total += i128::from(units(index));
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.on_grid &= other.on_grid;
        self.rows += other.rows;
        for (total, s) in self.units.iter_mut().zip(&other.units) {
            *total += s;
        }
    }

    /// Returns the sum in units; `None` as for [`ExactSum::units`].
    pub fn into_units(self) -> Option<Vec<i128>> {
        self.on_grid.then_some(self.units)
    }

    /// The sum in units; `None` when a feature was not on the grid that the radius implies, since the
    /// sum then has no guarantee.
    pub fn units(&self) -> Option<&[i128]> {
        self.on_grid.then_some(&self.units)
    }

    /// The number of rows added.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The sum as f64, each coordinate rounded once (so no longer exact beyond 2⁵³ units).
    pub fn to_f64(&self, unit: f64) -> Option<Vec<f64>> {
        Some(self.units()?.iter().map(|&k| k as f64 * unit).collect())
    }
}

impl Statistic for ExactGradient {
    type Sum = ExactSum;
    const NAME: &'static str = "exact-gradient";

    fn bound(&self, radius: f64) -> f64 {
        self.slope * radius
    }
    fn zero(&self, columns: usize) -> ExactSum {
        ExactSum::zero(columns)
    }
    fn bytes(&self, columns: usize) -> usize {
        24 * columns + 64
    }

    /// The sum is of integers.
    fn grain(&self, _columns: usize) -> Option<usize> {
        Some(1)
    }

    fn add(&self, block: Block<'_>, into: &mut ExactSum) {
        let (plan, theta) = (self.plan(), exact_point(&self.theta));
        let mut sum = vec![0.0; block.columns()];
        for rows in block.parts(FLIGHT) {
            sum.fill(0.0);
            let pass = ExactPass { statistic: self, plan, theta: &theta, rows, sum: &mut sum };
            let fine = dispatch(pass);
            into.take(&sum, plan.unit(), rows.rows(), fine);
        }
    }

    fn merge(&self, into: &mut ExactSum, other: ExactSum) {
        into.merge(other);
    }
}

struct ExactPass<'a> {
    statistic: &'a ExactGradient,
    plan: ExactPlan,
    theta: &'a [f64],
    rows: Block<'a>,
    sum: &'a mut [f64],
}

impl Kernel for ExactPass<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<const F: bool>(self) -> bool {
        let ExactGradient { loss, slope, .. } = self.statistic;
        let (mut margins, mut multipliers) = ([0.0; ROWS_PER_PART], [0.0; ROWS_PER_PART]);
        let mut fine = true;
        // Both are powers of two, so that a product with the inverse is the quotient.
        let (unit, per_unit) = (self.plan.multiplier_unit, 1.0 / self.plan.multiplier_unit);
        for part in self.rows.parts(ROWS_PER_PART) {
            let margins = &mut margins[..part.rows()];
            let multipliers = &mut multipliers[..part.rows()];
            part.margins::<F>(self.theta, margins);
            loss.derivatives::<false>(margins, part.labels(), multipliers);
            for m in multipliers.iter_mut() {
                // Not `clamp`, which would let a NaN pass and corrupt the terms of other records.
                *m = (m.max(-slope).min(*slope) * per_unit).trunc() * unit;
            }
            part.accumulate::<F>(multipliers, self.sum);
            fine &= part.on_grid(self.plan.feature_unit);
        }
        fine
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sum::{InMemory, Sums};
    use crate::testing::{Lcg, random_csr, random_dense};
    use privet_data::matrix::Matrix;
    use proptest::prelude::*;

    #[test]
    fn exponents_are_least() {
        for (x, e) in [(1.0, 0), (1.1, 1), (0.5, -1), (2.0, 1), (3.0, 2), (1e-3, -9)] {
            assert_eq!(exponent_above(x), e, "{x}");
        }
    }

    /// Rows of `matrix` in another order.
    fn reordered(matrix: &Matrix, order: &[usize]) -> Matrix {
        crate::testing::select_rows(matrix, order)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn order_and_sharding_do_not_matter(seed in any::<u64>(), sparse in any::<bool>(), cut in 0.0..1.0_f64) {
            let mut random = Lcg(seed);
            let (rows, columns) = (1500, 7);
            let matrix = if sparse {
                random_csr(&mut random, rows, columns, 3)
            } else {
                random_dense(&mut random, rows, columns)
            };
            let labels: Vec<f64> = (0..rows).map(|_| random.sign()).collect();
            let theta = (0..columns).map(|_| 3.0 * random.centred()).collect();
            let statistic = ExactGradient { loss: Loss::Logistic, theta, radius: 1.0, slope: 0.5 };
            let whole = InMemory::new(&matrix, &labels).unwrap().sum(&statistic).unwrap();
            prop_assert!(whole.units().is_some());

            let mut order: Vec<usize> = (0..rows).collect();
            for i in (1..rows).rev() {
                order.swap(i, (random.next() % (i as u64 + 1)) as usize);
            }
            let shuffled = reordered(&matrix, &order);
            let shuffled_labels: Vec<f64> = order.iter().map(|&i| labels[i]).collect();
            let cut = (cut * rows as f64) as usize;
            let mut merged = statistic.zero(columns);
            statistic.add(Block::new(&shuffled, cut, &shuffled_labels[cut..]), &mut merged);
            let mut other = statistic.zero(columns);
            statistic.add(Block::new(&shuffled, 0, &shuffled_labels[..cut]), &mut other);
            statistic.merge(&mut merged, other);
            prop_assert_eq!(&whole, &merged);
        }

        /// Not even at points where ℓ′ lies on the edge between two multipliers.
        #[test]
        fn storage_does_not_matter(seed in any::<u64>(), size in 0.1..300.0_f64) {
            let mut random = Lcg(seed);
            let (rows, columns) = (200, 37);
            let csr = random_csr(&mut random, rows, columns, 9);
            let dense = crate::testing::dense(&csr);
            let labels: Vec<f64> = (0..rows).map(|_| random.sign()).collect();
            let theta: Vec<f64> = (0..columns).map(|_| size * random.centred()).collect();
            let point = exact_point(&theta);
            prop_assert!(theta.iter().zip(&point).all(|(a, b)| (a - b).abs() <= 1e-8 * size));
            for row in 0..rows {
                let (indices, values) = match &csr { Matrix::Csr(m) => m.row(row), _ => unreachable!() };
                let exact = indices.iter().zip(values).rev().fold(0.0, |sum, (j, x)| {
                    sum + f64::from(*x) * point[*j as usize]
                });
                let Matrix::Dense(all) = &dense else { unreachable!() };
                for found in [
                    crate::kernel::dense::dot::<false>(all.row(row), &point),
                    crate::kernel::dense::dot::<true>(all.row(row), &point),
                ] {
                    prop_assert_eq!(found, exact);
                }
            }
            let statistic = ExactGradient { loss: Loss::Logistic, theta, radius: 1.0, slope: 0.375 };
            let [one, other] = [&csr, &dense]
                .map(|matrix| InMemory::new(matrix, &labels).unwrap().sum(&statistic).unwrap());
            prop_assert!(one.units().is_some());
            prop_assert_eq!(one, other);
        }

        #[test]
        fn agrees_with_integers(seed in any::<u64>()) {
            let mut random = Lcg(seed);
            let (rows, columns) = (600, 5);
            let matrix = random_dense(&mut random, rows, columns);
            let labels: Vec<f64> = (0..rows).map(|_| random.sign()).collect();
            let theta: Vec<f64> = (0..columns).map(|_| random.centred()).collect();
            let statistic =
                ExactGradient { loss: Loss::HuberSvm { h: 0.5 }, theta: theta.clone(), radius: 1.0, slope: 1.0 };
            let found = InMemory::new(&matrix, &labels).unwrap().sum(&statistic).unwrap();
            let Matrix::Dense(dense) = &matrix else { unreachable!() };
            let mut expected = vec![0_i128; columns];
            for (i, &y) in labels.iter().enumerate() {
                let u = crate::kernel::dense::dot::<false>(dense.row(i), &exact_point(&theta));
                let m = (statistic.loss.derivative(u, y) * 2_097_152.0).trunc() as i128;
                for (e, &x) in expected.iter_mut().zip(dense.row(i)) {
                    *e += m * (f64::from(x) * 8_388_608.0) as i128;
                }
            }
            prop_assert_eq!(found.units().unwrap(), &expected[..]);
        }
    }

    /// Points that no descent reaches, at which margins are infinite or NaN.
    #[test]
    fn no_point_is_too_large() {
        let values = vec![0.5, -0.5, 0.25, 0.75, -1.0, 0.0, 0.0, 0.0];
        let matrix = Matrix::Dense(privet_data::matrix::DenseMatrix::new(values, 4, 2));
        let labels = [1.0, -1.0, -1.0, 1.0];
        for huge in [1e300, f64::MAX, f64::INFINITY, f64::NAN] {
            for theta in [vec![huge, huge], vec![-huge, huge], vec![0.0, huge]] {
                for loss in [Loss::Logistic, Loss::HuberSvm { h: 0.5 }, Loss::SQUARED] {
                    let statistic =
                        ExactGradient { loss, theta: theta.clone(), radius: 1.0, slope: 0.375 };
                    let whole = InMemory::new(&matrix, &labels).unwrap().sum(&statistic).unwrap();
                    let mut pieces = statistic.zero(2);
                    for i in 0..4 {
                        let mut one = statistic.zero(2);
                        statistic.add(Block::new(&matrix, i, &labels[i..=i]), &mut one);
                        let vector = one.to_f64(statistic.unit()).unwrap();
                        assert!(vector[0].hypot(vector[1]) <= statistic.bound(1.0), "{vector:?}");
                        statistic.merge(&mut pieces, one);
                    }
                    assert_eq!(pieces, whole);
                }
            }
        }
    }

    /// Along θ itself, where products reach the bound of the proof: one bit more of θ and they round.
    #[test]
    fn margins_are_exact_where_they_are_largest() {
        let mut random = Lcg(5);
        for _ in 0..50 {
            let theta: Vec<f64> = (0..400).map(|_| random.centred()).collect();
            let norm = theta.iter().map(|x| x * x).sum::<f64>().sqrt();
            // Just below a power of two, as the row's norm is just below the radius.
            let theta: Vec<f64> = theta.iter().map(|x| 0.999 * x / norm).collect();
            let features: Vec<f64> =
                theta.iter().map(|x| (x * 8_388_608.0).trunc() / 8_388_608.0).collect();
            let sums = |point: &[f64]| {
                let terms = || features.iter().zip(point).map(|(x, t)| x * t);
                (terms().fold(0.0, |a, b| a + b), terms().rev().fold(0.0, |a, b| a + b))
            };
            let (one, other) = sums(&exact_point(&theta));
            assert_eq!(one, other);
        }
        let unit = 2f64.powi(-31);
        let finer = exact_point(&[0.999, 3.0 * unit]);
        assert_eq!(finer[1], 2.0 * unit, "multiples of 2^-30, not of 2^-31");
    }

    #[test]
    fn features_off_the_grid_are_noticed() {
        let matrix = Matrix::Dense(privet_data::matrix::DenseMatrix::new(vec![1e-9, 0.5], 1, 2));
        let statistic =
            ExactGradient { loss: Loss::Logistic, theta: vec![0.0; 2], radius: 1.0, slope: 1.0 };
        let sum = InMemory::new(&matrix, &[1.0]).unwrap().sum(&statistic).unwrap();
        assert!(sum.units().is_none());
        let looked_at = InMemory::new(&matrix, &[1.0]).unwrap().on_grid_of(1.0);
        assert!(looked_at.sum(&statistic).unwrap().units().is_none());
        // On the grid of one radius is not on the grid of another.
        let matrix = Matrix::Dense(privet_data::matrix::DenseMatrix::new(vec![0.5, 1.0], 1, 2));
        let looked_at = InMemory::new(&matrix, &[1.0]).unwrap().on_grid_of(1.0);
        assert!(looked_at.sum(&statistic).unwrap().units().is_some());
        let small = ExactGradient { radius: 0.25, ..statistic };
        assert!(looked_at.sum(&small).unwrap().units().is_none());
    }
}
