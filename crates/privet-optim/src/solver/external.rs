//! Adapter for any other optimiser.
//!
//! An outside optimiser receives F as a function with a gradient and returns a point, at which our own
//! solver starts: if it is as good as claimed, one pass certifies it; if not, it is polished until it
//! is. Nothing the optimiser returns is trusted.

use super::certificate::evaluate;
use super::point::Point;
use super::{Certified, Problem, SolveError, SolverOptions, minimise};
use crate::sum::Records;

/// The objective F for outside optimisers.
pub trait Objective {
    /// Number of coordinates.
    fn dimension(&self) -> usize;
    /// Returns F(θ) and ∇F(θ).
    fn value_and_gradient(&self, theta: &[f64]) -> Result<(f64, Vec<f64>), SolveError>;
}

/// An optimiser from another library. Implementers need to guarantee nothing about their answer.
pub trait OutsideOptimizer {
    /// Returns the best point found from `start`.
    fn minimise(&mut self, objective: &dyn Objective, start: Vec<f64>) -> Vec<f64>;
}

impl<R: Records + ?Sized> Objective for Problem<'_, R> {
    fn dimension(&self) -> usize {
        self.records.columns()
    }

    fn value_and_gradient(&self, theta: &[f64]) -> Result<(f64, Vec<f64>), SolveError> {
        if theta.len() != self.dimension() {
            return Err(SolveError::Length {
                what: "theta",
                columns: self.dimension(),
                given: theta.len(),
            });
        }
        let evaluation = evaluate(self, Point::new(theta.to_vec()), false)?;
        Ok((evaluation.value, evaluation.gradient))
    }
}

/// Runs [`minimise`] from the point that `optimizer` found. An answer of the wrong length or with
/// entries that are not finite is ignored. A penalty of the problem is not shown to the optimiser.
pub fn minimise_with<R: Records + ?Sized>(
    problem: &Problem<'_, R>,
    tolerance: f64,
    options: &SolverOptions<'_>,
    optimizer: &mut dyn OutsideOptimizer,
) -> Result<Certified, SolveError> {
    problem.check(tolerance)?;
    let columns = problem.records.columns();
    let start = options.start.map_or_else(|| vec![0.0; columns], <[f64]>::to_vec);
    let found = optimizer.minimise(problem, start);
    let usable = found.len() == columns && found.iter().all(|t| t.is_finite());
    let start = if usable { Some(&found[..]) } else { options.start };
    minimise(problem, tolerance, &SolverOptions { start, ..*options })
}
