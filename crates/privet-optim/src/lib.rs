//! Losses, passes over rows, and solvers that prove their tolerance.
//!
//! Everything is in the **sum** form F(θ) = Σℓ(⟨xᵢ,θ⟩; yᵢ) + (λ/2)‖θ‖² + ⟨b,θ⟩. This crate knows
//! nothing of privacy.
//!
//! - [`loss`]: losses ℓ, with the constants that a learner needs.
//! - [`sum`]: sums over records, and the back ends that compute them.
//! - [`kernel`]: the inner loops.
//! - [`lasso`]: ℓ1-penalised fits within a box, in a number of steps known beforehand.
//! - [`passes`]: minibatch descent over rows in a given order, with a bound on its rounding.
//! - [`vertex`]: scores of single columns along a path, updated at the cost of the entries that change.
//! - [`approximate`]: a quadratic with approximate eigenvalues in a ball, with a proved distance to its
//!   minimiser.
//! - [`solver`]: minimisers, each of which ends in a proof that the tolerance is met.
//! - [`spectrum`]: symmetric matrices by their eigenvalues.

pub mod approximate;
pub mod double_double;
pub mod kernel;
pub mod lasso;
pub mod loss;
pub mod passes;
pub mod solver;
pub mod spectrum;
pub mod sum;
#[cfg(test)]
mod testing;
pub mod vertex;

pub use loss::Loss;
pub use solver::{Certified, Method, Penalty, Problem, SolveError, SolverOptions, minimise};
pub use sum::{InMemory, OnDisk, Records, Statistic, Sums, Table};
