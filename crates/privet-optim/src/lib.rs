//! Losses, passes over rows, and solvers that prove their tolerance.
//!
//! Everything is in the **sum** form F(θ) = Σℓ(⟨xᵢ,θ⟩; yᵢ) + (λ/2)‖θ‖² + ⟨b,θ⟩. This crate knows
//! nothing of privacy.
//!
//! - [`loss`]: ℓ, with the constants a learner needs.
//! - [`sum`]: what can be asked of records, and the in-memory back end.
//! - [`kernel`]: the inner loops.
//! - [`lasso`]: sums of absolute weights within a box, in a number of steps known beforehand.
//! - [`passes`]: minibatch descent over rows in a given order, with a bound on its rounding.
//! - [`vertex`]: scores of single columns along a path, at the cost of what changes.
//! - [`raised`]: a quadratic with raised eigenvalues in a ball, with a proof of how near.
//! - [`solver`]: minimisers, each of which ends in a proof that the tolerance is met.
//! - [`spectrum`]: symmetric matrices by their eigenvalues.

pub mod double_double;
pub mod kernel;
pub mod lasso;
pub mod loss;
pub mod passes;
pub mod raised;
pub mod solver;
pub mod spectrum;
pub mod sum;
#[cfg(test)]
mod testing;
pub mod vertex;

pub use loss::Loss;
pub use solver::{Certified, Method, Penalty, Problem, SolveError, SolverOptions, minimise};
pub use sum::{InMemory, OnDisk, Records, Statistic, Sums, Table};
