//! Factorised Hessians.
//!
//! H(θ) = XᵀWX + λI, W = diag(ℓ″), by Cholesky. A line search and the certificate correct an inaccurate
//! direction, so a factor may come from a part of the rows or from an earlier θ.

use super::{Problem, SolveError};
use crate::sum::{Hessian, Records, Sums};
use faer::linalg::solvers::{Llt, Solve};
use faer::{MatMut, MatRef, Side};

/// The Cholesky factor, H = LLᵀ.
pub(super) struct Factor(Llt<f64>);

/// The matrix XᵀWX at θ, as the upper triangle of a row-major matrix.
pub(super) fn gram<R: Records + ?Sized>(
    problem: &Problem<'_, R>,
    theta: &[f64],
    stride: u32,
) -> Result<Vec<f64>, SolveError> {
    let hessian = Hessian { loss: problem.loss, theta: theta.to_vec(), stride };
    Ok(problem.records.sum(&hessian)?)
}

impl Factor {
    /// The factor of the Hessian at θ; see [`Hessian`] for `stride`.
    pub fn at<R: Records + ?Sized>(
        problem: &Problem<'_, R>,
        theta: &[f64],
        stride: u32,
    ) -> Result<Self, SolveError> {
        Ok(Self::of(gram(problem, theta, stride)?, theta.len(), problem.ridge))
    }

    /// The factor of gram + ridge·I. When rounding spoils definiteness the ridge is raised until it
    /// holds: directions remain descent directions, but shorter.
    pub fn of(mut gram: Vec<f64>, columns: usize, ridge: f64) -> Self {
        let mut added = ridge;
        (0..columns).for_each(|j| gram[j * columns + j] += ridge);
        loop {
            let matrix = MatRef::from_column_major_slice(&gram, columns, columns);
            if let Ok(factor) = Llt::new(matrix, Side::Lower) {
                return Self(factor);
            }
            let largest = (0..columns).fold(added, |m, j| m.max(gram[j * columns + j]));
            let more = (9.0 * added).max(1e-12 * largest);
            (0..columns).for_each(|j| gram[j * columns + j] += more);
            added += more;
        }
    }

    /// Replaces the vector by H⁻¹·vector.
    pub fn solve(&self, vector: &mut [f64]) {
        let columns = vector.len();
        self.0.solve_in_place(MatMut::from_column_major_slice_mut(vector, columns, 1));
    }
}
