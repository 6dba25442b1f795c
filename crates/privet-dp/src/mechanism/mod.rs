//! Mechanisms: the only code that opens a [`crate::gate::Private`] value.
//!
//! Each one knows its own event, so that plan and execution cannot disagree: the planner calls
//! `mechanism.event()`, and running the same mechanism records that very event. "Finite": proved for the
//! program as executed.
//!
//! | mechanism | adds | event | arithmetic |
//! |---|---|---|---|
//! | [`Gaussian`] | Gaussian noise on a fine grid | exact Gaussian curve | finite |
//! | [`Continual`] | correlated Gaussian noise to a stream's running sums | exact Gaussian curve | finite |
//! | [`Individual`] | Gaussian noise to sums without units over budget | exact Gaussian curve | finite |
//! | [`SampledGaussian`] | the same to a sum over a secret sample of records | sampled Gaussian | finite |
//! | [`ShuffledGaussian`] | the same, on records in a secret random order | exact Gaussian curve | finite |
//! | [`Laplace`] | discrete Laplace noise on a grid | pure | finite |
//! | [`L2Laplace`] | noise of density ∝ exp(−‖b‖/s) | pure | real |
//! | [`NoisyMoments`] | Gaussian or discrete Laplace noise to second moments | as those two | finite |
//! | [`RotatedObjective`] | a random linear term; small eigenvalues raised | (ε, δ) | real |
//! | [`Selection`] | noise to signed columns' scores, repeatedly | composed bounded range or pure | finite |
//! | [`Choice`] | exponential weights to a list of scores, once | bounded range | finite |
//! | [`Stability`] | discrete Laplace noise to a stable answer's distance | pure and a leak of δ | finite |
//! | [`StableHistogram`] | Gaussian noise to counts; names large keys | Gaussian and a leak of δ | finite |
//! | [`SparseVector`] | noise to a threshold and to each answer | pure, per answer below | finite |
//! | [`StableAnswers`] | the same to the distances of many answers | that and a leak of δ | finite |
//! | [`EstimatedAnswers`] | the same, with an estimated cutoff | (ε, δ) | finite |
//! | [`NoisyArgmax`], [`ConfidentArgmax`] | Gaussian noise to votes | exact Gaussian curve | finite |
//! | [`AgreedLabels`] | the same to a batch, after a noisy test of agreement | (ε, δ) | finite |
//! | [`shares`] | the first of these among parties, each with a private sum | as alone | as alone |
//! | [`PerturbedObjective`] | a random linear term inside an objective | objective perturbation, AMP | – |

mod agreed_labels;
mod choice;
mod continual;
mod estimated_answers;
mod gaussian;
mod grid;
mod individual;
pub mod joint;
mod l2_laplace;
mod laplace;
mod moments;
mod noisy_argmax;
mod objective;
mod partition;
mod rotated;
mod sampled_gaussian;
mod selection;
pub mod shares;
mod shuffled;
mod sparse_vector;
mod stability;
mod stable_answers;
mod stable_histogram;

pub use agreed_labels::AgreedLabels;
pub use choice::Choice;
pub use continual::{Continual, Stream};
pub use estimated_answers::EstimatedAnswers;
pub use gaussian::Gaussian;
pub use grid::{ExactCounts, released_step};
pub use individual::{Individual, OwnPart, Spending};
pub use l2_laplace::L2Laplace;
pub use laplace::Laplace;
pub use moments::{Moments, MomentsLaw, NoisyMoments};
pub use noisy_argmax::{ConfidentArgmax, NoisyArgmax, Votes};
pub use objective::{Distance, ObjectiveToken, OutputLaw, PerturbedObjective, SecretNoise};
pub use partition::{balanced_blocks, independent_blocks, independent_sets};
pub use rotated::{RotatedObjective, RotatedToken};
pub use sampled_gaussian::{Draw, SampledGaussian};
pub use selection::{Scores, Selection, SelectionLaw, Vertex};
pub use shuffled::ShuffledGaussian;
pub use sparse_vector::{ComparisonRun, QUERY_RATIO, SparseVector};
pub use stability::{RELEASED, Stability, WithDistance};
pub use stable_answers::{QueryAnswer, StableAnswers, StableStream, ln_overlap};
pub use stable_histogram::StableHistogram;
