//! Mechanisms: the only code that opens a [`crate::gate::Private`] value.
//!
//! Each one knows its own event, so that plan and execution cannot disagree: the planner asks
//! `mechanism.event()`, and running the same mechanism records that very event.
//!
//! | mechanism | adds | event |
//! |---|---|---|
//! | [`Gaussian`] | Gaussian noise on a fine grid | exact Gaussian curve, finite arithmetic |
//! | [`Continual`] | correlated Gaussian noise to the running sums of a stream, step by step | exact Gaussian curve, finite arithmetic |
//! | [`Individual`] | Gaussian noise to many sums, of which a unit that has spent its share stays out | exact Gaussian curve, finite arithmetic |
//! | [`SampledGaussian`] | the same to a sum over a secret random part of the records | sampled Gaussian, finite arithmetic |
//! | [`ShuffledGaussian`] | Gaussian noise to what was computed from records in a secret random order | exact Gaussian curve, finite arithmetic |
//! | [`Laplace`] | discrete Laplace noise on a grid | pure, finite arithmetic |
//! | [`L2Laplace`] | noise of density ∝ exp(−‖b‖/s) | pure, real arithmetic |
//! | [`NoisyMoments`] | Gaussian or discrete Laplace noise to stacked second moments | as those two, finite arithmetic |
//! | [`RotatedObjective`] | a random linear term inside a quadratic, small eigenvalues raised | (ε, δ), real arithmetic |
//! | [`Selection`] | exponential or Laplace noise to the scores of signed columns, again and again | composed bounded range or pure, finite arithmetic |
//! | [`Choice`] | exponential weights to the scores of a list, once | bounded range, finite arithmetic |
//! | [`Stability`] | discrete Laplace noise to a distance, which lets a stable answer out | pure and a leak of δ, finite arithmetic |
//! | [`StableHistogram`] | Gaussian noise to counts by keys that nobody listed, of which large ones are named | exact Gaussian curve and a leak of δ, finite arithmetic |
//! | [`SparseVector`] | discrete Laplace or exponential noise to a threshold and to each answer compared with it | pure, once for each answer below, finite arithmetic |
//! | [`StableAnswers`] | the same to distances, which let stable answers out, any number of them | that and a leak of δ, finite arithmetic |
//! | [`EstimatedAnswers`] | the same, ended by what a noised number says | (ε, δ), finite arithmetic |
//! | [`NoisyArgmax`], [`ConfidentArgmax`] | Gaussian noise to votes by class, of which the largest is named | exact Gaussian curve, finite arithmetic |
//! | [`AgreedLabels`] | the same to a batch, let out if a noised distance says that voters agree | (ε, δ), finite arithmetic |
//! | [`shares`] | the first of these among parties, each of whom shows its sum to nobody | as alone |
//! | [`PerturbedObjective`] | a random linear term inside an objective | objective perturbation, AMP |

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
pub use sparse_vector::{Comparing, QUERY_RATIO, SparseVector};
pub use stability::{Proxied, RELEASED, Stability};
pub use stable_answers::{Answering, Heard, StableAnswers, ln_overlap};
pub use stable_histogram::StableHistogram;
