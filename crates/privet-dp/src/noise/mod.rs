//! Sampling of noise: a file per law, the source of randomness an argument.
//!
//! | law | file | exact? |
//! |---|---|---|
//! | Bernoulli(e⁻ˣ), x rational or dyadic | [`bernoulli`] | yes |
//! | discrete Laplace, ∝ e^(−∣k∣/s) | [`DiscreteLaplace`] | yes |
//! | discrete Gaussian, ∝ e^(−k²/2σ²) | [`DiscreteGaussian`] | yes |
//! | Gaussian on a fine grid | [`GridGaussian`] | yes; [`grid_distance`] to the rounded Gaussian |
//! | exponential mechanism on integer scores | [`choose_by_weight`] | yes |
//! | the same over signed columns whose scores change one at a time | [`SignedChoice`] | yes |
//! | the same over very many candidates, few of them scored | [`choose_lazily`] | yes |
//! | uniform shuffle, subset, Poisson subset | [`subset`] | yes |
//! | a secret number of runs: negative binomial, Poisson | [`runs`] | yes |
//! | ℓ2-Laplace vector, ∝ e^(−‖b‖/s) | [`L2Laplace`] | in real arithmetic |
//! | Gumbel, report noisy max on real scores | [`Gumbel`] | in real arithmetic |
//! *Exact* means: if the source's words are independent and uniform, the output has precisely the stated
//! law. Every accept/reject comparison is decided by an f64 interval that is proved to contain the true
//! value or, if the interval cannot decide, by integer arithmetic of growing precision on lazily drawn
//! further bits. The two integer laws live on ∣k∣ < 2⁶² (see their files; at every accepted scale the
//! mass outside is below e^(−1000)). [`Source`] states the assumption on the words themselves.
//!
//! *In real arithmetic* means: the stated law is the formula's on real numbers; the f64 result is
//! rounded, and a certificate that rests on it says so.
//!
//! The number of words used, and so the running time, depends on the drawn noise but never on data,
//! except in [`choose_by_weight`], [`choose_lazily`] and [`SignedChoice`], whose files state the
//! dependence.

mod discrete_gaussian;
mod discrete_laplace;
mod exact;
mod grid_gaussian;
mod gumbel;
mod l2_laplace;
mod lazy_choice;
mod sample;
mod signed_choice;
mod source;

pub mod bernoulli;
pub mod runs;
pub mod subset;

pub use discrete_gaussian::{DiscreteGaussian, SIGMA};
pub use discrete_laplace::{DiscreteLaplace, LAPLACE_SCALE};
pub use grid_gaussian::{GRID_NOISE_SCALE, GridGaussian, grid_distance, grid_ratio};
pub use gumbel::{Gumbel, RATE, choose_by_weight, report_noisy_max};
pub use l2_laplace::{L2Laplace, NOISE_SCALE};
pub use lazy_choice::{MOST_CANDIDATES, Part, Parts, choose_lazily};
pub use sample::SampleKey;
pub use signed_choice::SignedChoice;
pub use source::{FixedSeed, Origin, Source, SystemRandom};

/// Reason for drawing no noise. Carries settings and public sizes, never a value read from records.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoiseError {
    /// A scale, rate or probability lies outside its range.
    #[error(transparent)]
    Setting(#[from] privet_core::Error),
    /// The operating system gave no random bytes; there is no weaker fall-back.
    #[error("the operating system gave no random bytes: {reason}")]
    NoEntropy {
        /// The operating system's error.
        reason: String,
    },
    /// A larger subset was requested than there are items.
    #[error("a subset of {wanted} items was asked of {available}: at most {available} is accepted")]
    SubsetTooLarge {
        /// The requested number of items.
        wanted: usize,
        /// The available number of items.
        available: usize,
    },
    /// A sampling rate with more digits than the drawn bits resolve.
    #[error("a sampling rate below {least} is not accepted")]
    SmallProbability {
        /// The smallest accepted rate.
        least: f64,
    },
    /// A choice among no candidates.
    #[error("no candidates to choose from: at least one is needed")]
    NoCandidates,
    /// A choice among more candidates than are accepted.
    #[error("{candidates} candidates to choose from: fewer are accepted")]
    TooManyCandidates {
        /// The number of candidates.
        candidates: usize,
    },
    /// A score is NaN or infinite.
    #[error("the score of candidate {index} is not finite: finite scores are accepted")]
    ScoreNotFinite {
        /// Index of the candidate.
        index: usize,
    },
    /// A ratio with denominator zero.
    #[error("{numerator}/0 is not a number: a denominator of at least 1 is accepted")]
    ZeroDenominator {
        /// The given numerator.
        numerator: u64,
    },
}
