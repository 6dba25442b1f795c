//! Mechanisms: the only code that opens a [`crate::gate::Private`] value.
//!
//! Each one knows its own event, so that plan and execution cannot disagree: the planner asks
//! `mechanism.event()`, and running the same mechanism records that very event.
//!
//! | mechanism | adds | event |
//! |---|---|---|
//! | [`Gaussian`] | Gaussian noise on a fine grid | exact Gaussian curve, finite arithmetic |
//! | [`Descent`] | Gaussian noise to each gradient on the way down | composed Gaussians, finite arithmetic |
//! | [`SampledDescent`] | the same to gradients of a secret random part of the records | composed sampled Gaussians, finite arithmetic |
//! | [`ShuffledGaussian`] | Gaussian noise to what was computed from records in a secret random order | exact Gaussian curve, finite arithmetic |
//! | [`Laplace`] | discrete Laplace noise on a grid | pure, finite arithmetic |
//! | [`L2Laplace`] | noise of density ∝ exp(−‖b‖/s) | pure, real arithmetic |
//! | [`NoisyMax`] | Gumbel noise to scores, names the largest | bounded range |
//! | [`PerturbedObjective`] | a random linear term inside an objective | objective perturbation, AMP |

mod descent;
mod gaussian;
mod grid;
mod l2_laplace;
mod laplace;
mod noisy_max;
mod objective;
mod sampled_descent;
mod shuffled;

pub use descent::{Descent, Schedule};
pub use gaussian::Gaussian;
pub use grid::Units;
pub use l2_laplace::L2Laplace;
pub use laplace::Laplace;
pub use noisy_max::NoisyMax;
pub use objective::{Distance, ObjectiveToken, OutputLaw, PerturbedObjective, SecretNoise};
pub use sampled_descent::{Draw, SampledDescent};
pub use shuffled::ShuffledGaussian;
