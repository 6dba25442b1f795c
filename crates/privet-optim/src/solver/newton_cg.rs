//! Newton directions by conjugate gradients, for many columns.
//!
//! Solves H·d = −g with passes that multiply H by a vector, preconditioned by H's diagonal, until
//! ‖H·d + g‖ ≤ η‖g‖ with η = min(0.1, √(‖g‖/‖g₀‖)) (Dembo, Eisenstat & Steihaug 1982), so that the
//! outer loop converges superlinearly. Every iterate of the inner loop is a descent direction.

use super::{Problem, SolveError, add_scaled, dot, norm};
use crate::sum::{HessianDiagonal, HessianVector, Records, Sums};

/// The largest number of inner iterations.
const MOST_INNER_ITERATIONS: usize = 250;

/// Returns an approximate −H⁻¹g.
pub(super) fn direction<R: Records + ?Sized>(
    problem: &Problem<'_, R>,
    theta: &[f64],
    gradient: &[f64],
    diagonal: &[f64],
    forcing: f64,
) -> Result<Vec<f64>, SolveError> {
    let goal = forcing * norm(gradient);
    let mut product =
        HessianVector { loss: problem.loss, theta: theta.to_vec(), direction: Vec::new() };
    let precondition = |r: &[f64]| r.iter().zip(diagonal).map(|(r, d)| r / d).collect::<Vec<_>>();
    let mut found = vec![0.0; gradient.len()];
    let mut residual: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut z = precondition(&residual);
    let mut search = z.clone();
    let mut energy = dot(&residual, &z);
    for _ in 0..MOST_INNER_ITERATIONS.min(2 * gradient.len() + 1) {
        product.direction = search.clone();
        let mut image = problem.records.sum(&product)?;
        add_scaled(&mut image, problem.ridge, &search);
        let curvature = dot(&search, &image);
        if curvature <= 0.0 || curvature.is_nan() {
            break;
        }
        let step = energy / curvature;
        add_scaled(&mut found, step, &search);
        add_scaled(&mut residual, -step, &image);
        if norm(&residual) <= goal {
            break;
        }
        z = precondition(&residual);
        let next = dot(&residual, &z);
        let keep = next / energy;
        energy = next;
        for (s, z) in search.iter_mut().zip(&z) {
            *s = z + keep * *s;
        }
    }
    Ok(found)
}

/// The diagonal diag(XᵀWX) + λ at θ.
pub(super) fn diagonal<R: Records + ?Sized>(
    problem: &Problem<'_, R>,
    theta: &[f64],
) -> Result<Vec<f64>, SolveError> {
    let statistic = HessianDiagonal { loss: problem.loss, theta: theta.to_vec() };
    let mut diagonal = problem.records.sum(&statistic)?;
    diagonal.iter_mut().for_each(|d| *d += problem.ridge);
    Ok(diagonal)
}
