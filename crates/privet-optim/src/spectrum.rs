//! Symmetric matrices by their eigenvalues: solving with a filtered spectrum.
//!
//! A = QΛQᵀ. Where A is known with noise only, A⁻¹b is useless in the directions where noise dominates;
//! a filter h replaces each eigenvalue: Q·h(Λ)·Qᵀb.

use crate::double_double::DoubleDouble;
use faer::linalg::solvers::SelfAdjointEigen;
use faer::{Mat, MatRef, Side};

/// The decomposition A = QΛQᵀ.
pub struct Spectrum {
    values: Vec<f64>,
    vectors: Mat<f64>,
}

/// Withheld: A may be derived from records, without noise.
impl std::fmt::Debug for Spectrum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Spectrum({} columns, values withheld)", self.values.len())
    }
}

impl Spectrum {
    /// The decomposition of a symmetric row-major matrix, of which the lower triangle is read; `None`
    /// when it is empty or has an entry that is not finite, or when the iteration does not converge.
    pub fn of(matrix: &[f64], columns: usize) -> Option<Self> {
        if columns == 0
            || matrix.len() != columns * columns
            || !matrix.iter().all(|x| x.is_finite())
        {
            return None;
        }
        let matrix = MatRef::from_row_major_slice(matrix, columns, columns);
        let found = SelfAdjointEigen::new(matrix, Side::Lower).ok()?;
        let values = (0..columns).map(|i| found.S()[i]).collect();
        Some(Self { values, vectors: found.U().to_owned() })
    }

    /// The eigenvalues, ascending.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The largest eigenvalues with their vectors, the largest first. The sign of a vector is chosen so
    /// that its entry of largest magnitude is positive.
    pub fn largest(&self, count: usize) -> Vec<(f64, Vec<f64>)> {
        let places = (0..self.values.len()).rev().take(count);
        let pair = |i: usize| {
            let mut vector: Vec<f64> = self.vectors.col(i).iter().copied().collect();
            let largest =
                vector.iter().fold(0.0, |a: f64, b| if b.abs() > a.abs() { *b } else { a });
            if largest < 0.0 {
                vector.iter_mut().for_each(|entry| *entry = -*entry);
            }
            (self.values[i], vector)
        };
        places.map(pair).collect()
    }

    /// Coordinates in the eigenbasis, Qᵀ·vector.
    pub fn coordinates(&self, vector: &[f64]) -> Vec<f64> {
        let column = |i: usize| self.vectors.col(i).iter().zip(vector).map(|(q, x)| q * x).sum();
        (0..self.values.len()).map(column).collect()
    }

    /// The vector with these coordinates, Q·coordinates.
    pub fn combination(&self, coordinates: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.values.len()];
        for (i, c) in coordinates.iter().enumerate() {
            sum.iter_mut().zip(self.vectors.col(i).iter()).for_each(|(s, q)| *s += c * q);
        }
        sum
    }

    /// The defects ‖A − QΛQᵀ‖_F and ‖QᵀQ − I‖_F of the computed arrays, in `f64`.
    pub(crate) fn defects(&self, matrix: &[f64]) -> (f64, f64) {
        let (q, columns) = (&self.vectors, self.values.len());
        let scaled = Mat::from_fn(columns, columns, |i, j| q[(i, j)] * self.values[j]);
        let product = &scaled * q.transpose();
        let squares = q.transpose() * q;
        let (mut residual, mut skew) = (0.0, 0.0);
        for i in 0..columns {
            for j in 0..columns {
                residual += (matrix[i * columns + j] - product[(i, j)]).powi(2);
                skew += (squares[(i, j)] - f64::from(u8::from(i == j))).powi(2);
            }
        }
        (residual.sqrt(), skew.sqrt())
    }

    /// The product Q·diag(values)·Qᵀ·vector in double-double, for the computed arrays.
    pub(crate) fn precise_product(&self, vector: &[f64], values: &[f64]) -> Vec<DoubleDouble> {
        let mut sum = vec![DoubleDouble::ZERO; values.len()];
        for (i, value) in values.iter().enumerate() {
            let column = self.vectors.col(i);
            let along = column
                .iter()
                .zip(vector)
                .fold(DoubleDouble::ZERO, |along, (q, x)| along + DoubleDouble::from(*q).times(*x));
            let along = along.times(*value);
            sum.iter_mut().zip(column.iter()).for_each(|(s, q)| *s = *s + along.times(*q));
        }
        sum
    }

    /// The filtered vector Q·h(Λ)·Qᵀ·vector.
    pub fn apply_filter(&self, vector: &[f64], filter: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut coordinates = self.coordinates(vector);
        coordinates.iter_mut().zip(&self.values).for_each(|(c, value)| *c *= filter(*value));
        self.combination(&coordinates)
    }

    /// The filtered matrix Q·h(Λ)·Qᵀ, row-major.
    pub fn filtered_matrix(&self, filter: impl Fn(f64) -> f64) -> Vec<f64> {
        let (q, columns) = (&self.vectors, self.values.len());
        let own: Vec<f64> = self.values.iter().map(|value| filter(*value)).collect();
        let scaled = Mat::from_fn(columns, columns, |i, j| q[(i, j)] * own[j]);
        let product = &scaled * q.transpose();
        (0..columns * columns).map(|place| product[(place / columns, place % columns)]).collect()
    }

    /// The norms √(Σₛ ‖D^½·Q·cₛ(Λ)·Qᵀeⱼ‖²) for each j, D the diagonal of `weights` and cₛ(λ) entry s of
    /// `responses(λ)`.
    pub fn weighed_lengths(
        &self,
        weights: &[f64],
        responses: impl Fn(f64) -> Vec<f64>,
    ) -> Vec<f64> {
        let (q, columns) = (&self.vectors, self.values.len());
        let each: Vec<Vec<f64>> = self.values.iter().map(|value| responses(*value)).collect();
        let steps = each.iter().map(Vec::len).min().unwrap_or(0);
        let each = Mat::from_fn(steps, columns, |s, i| each[i][s]);
        let weight = |j: usize| weights.get(j).copied().unwrap_or(1.0);
        let weighed = Mat::from_fn(columns, columns, |j, i| weight(j) * q[(j, i)]);
        let (products, between) = (each.transpose() * &each, q.transpose() * &weighed);
        let together = Mat::from_fn(columns, columns, |i, k| products[(i, k)] * between[(i, k)]);
        let left = q * &together;
        let square = |j: usize| (0..columns).map(|i| left[(j, i)] * q[(j, i)]).sum::<f64>();
        (0..columns).map(|j| square(j).max(0.0).sqrt()).collect()
    }

    /// The column norms ‖Q·h(Λ)·Qᵀeⱼ‖₂ for each j.
    pub fn filtered_lengths(&self, filter: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut squares = vec![0.0; self.values.len()];
        for (i, value) in self.values.iter().enumerate() {
            let own = filter(*value).powi(2);
            squares.iter_mut().zip(self.vectors.col(i).iter()).for_each(|(s, q)| *s += own * q * q);
        }
        squares.into_iter().map(f64::sqrt).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Lcg;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// The filter h(λ) = λ multiplies by A; h(λ) = 1/λ inverts it.
        #[test]
        fn a_filter_acts_on_eigenvalues(seed in any::<u64>(), columns in 1_usize..40) {
            let mut random = Lcg(seed);
            let mut matrix = vec![0.0; columns * columns];
            for j in 0..columns {
                for k in 0..=j {
                    let x = random.centred() + if j == k { 2.0 * columns as f64 } else { 0.0 };
                    matrix[j * columns + k] = x;
                    matrix[k * columns + j] = x;
                }
            }
            let vector: Vec<f64> = (0..columns).map(|_| random.centred()).collect();
            let spectrum = Spectrum::of(&matrix, columns).unwrap();
            prop_assert!(spectrum.values().is_sorted());
            let product = spectrum.apply_filter(&vector, |value| value);
            for (row, found) in matrix.chunks(columns).zip(&product) {
                let expected: f64 = row.iter().zip(&vector).map(|(a, x)| a * x).sum();
                prop_assert!((found - expected).abs() < 1e-9 * columns as f64);
            }
            let back = spectrum.apply_filter(&product, |value| 1.0 / value);
            for (found, expected) in back.iter().zip(&vector) {
                prop_assert!((found - expected).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn nothing_of_the_matrix_is_printed() {
        let spectrum = Spectrum::of(&[3.25, 0.0, 0.0, 3.25], 2).unwrap();
        assert!(!format!("{spectrum:?}").contains("3.25"));
    }

    #[test]
    fn what_is_no_matrix_is_refused() {
        assert!(Spectrum::of(&[1.0, 2.0], 1).is_none());
        assert!(Spectrum::of(&[f64::NAN], 1).is_none());
        assert!(Spectrum::of(&[], 0).is_none());
    }
}
