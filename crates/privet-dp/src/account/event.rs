//! The events that privacy is charged for.
//!
//! An [`Event`] is plain data: a tree whose leaves each name the neighbour relation and the unit they
//! were charged for. The accountant bounds its privacy loss. Planner, session, certificate and verifier
//! share the same tree.
//!
//! **Contract.** Certificates hold events permanently, so:
//! - the meaning of a kind, of each of its fields and of their units never changes once a version with it
//!   is out; a sharper theorem may lower what a kind is charged, a broken one raises it (and is announced);
//! - a new fact is a new kind, or a wrapper ([`Event::UpTo`], [`Event::BestOf`]), never a new field that
//!   changes the meaning of the old ones;
//! - a kind is never removed, and its written form (names, numbers as JSON numbers) stays:
//!   `tests/golden` of `privet-learn` holds files of every released version, which must keep verifying;
//! - a reader refuses an event that it does not know, and never skips it.

use crate::continual::{Factor, Participation};
use privet_core::{Neighbours, Unit};
use serde::{Deserialize, Serialize};

/// The privacy loss of one mechanism, or of a composition of several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Event {
    /// A single use of a mechanism.
    Use {
        /// The neighbour relation that the sensitivity was derived for.
        neighbours: Neighbours,
        /// The unit that the sensitivity was derived for.
        unit: Unit,
        /// The mechanism and its parameters.
        cost: Cost,
    },
    /// All of these events; each may be chosen after seeing the results of those before.
    All(Vec<Event>),
    /// The same event `count` times, with fresh randomness each time.
    Repeat {
        /// The number of repetitions.
        count: u32,
        /// The repeated event.
        event: Box<Event>,
    },
    /// The same event at most `count` times, charged as `count` times. The actual number may depend on
    /// the answers: composition is adaptive, and doing nothing is post-processing.
    UpTo {
        /// Upper bound on the number of repetitions.
        count: u32,
        /// The repeated event.
        event: Box<Event>,
    },
    /// Repeat and select: the event is run a secret random number of times, and only the run with the
    /// best score is shown, neither the others nor their number ([`super::selected`]).
    Selected {
        /// The law of the number of runs.
        law: Runs,
        /// One run, its score included.
        event: Box<Event>,
    },
    /// As [`Event::Selected`], where each run uses one of several candidates, drawn uniformly and
    /// independently of the records; the candidate of the best run is shown.
    BestOf {
        /// The law of the number of runs.
        law: Runs,
        /// One run of each candidate, its score included.
        candidates: Vec<Event>,
    },
}

/// The law of a secret random number of runs, of which the best is shown.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Runs {
    /// Truncated negative binomial: Pr[K = k] ∝ (1 − γ)ᵏ·∏_{l<k}(l + η)/(l + 1) on k ≥ 1; geometric at
    /// η = 1, logarithmic at η = 0.
    NegativeBinomial {
        /// The parameter η, above −1.
        eta: f64,
        /// The parameter γ, in (0, 1).
        gamma: f64,
    },
    /// Poisson; if the number of runs is 0, a fixed public answer is shown.
    Poisson {
        /// The mean number of runs.
        mean: f64,
    },
}

impl Cost {
    /// The number of draws that carry it out: the steps of a stream, otherwise 1.
    pub fn draws(&self) -> u32 {
        match self {
            Self::ContinualGaussian { steps, .. } | Self::IndividualGaussian { steps, .. } => {
                *steps
            }
            _ => 1,
        }
    }

    /// The part that must stay secret, if any ([`Event::hides`]).
    pub fn hides(&self) -> Option<&'static str> {
        match self {
            Self::PoissonGaussian { .. } | Self::WithoutReplacementGaussian { .. } => {
                Some("which records were drawn")
            }
            Self::Objective(_) | Self::ApproximateMinima { .. } => {
                Some("the linear term inside the objective")
            }
            Self::Gaussian { .. }
            | Self::JointGaussian { .. }
            | Self::Laplace { .. }
            | Self::L2Laplace { .. }
            | Self::Pure { .. }
            | Self::BoundedRange { .. }
            | Self::ZeroConcentrated { .. }
            | Self::Approximate { .. } => None,
            Self::ContinualGaussian { .. } => Some("the sums before their noise"),
            Self::AboveThreshold { .. } => Some("the noise of the threshold"),
            Self::IndividualGaussian { .. } => Some("who has spent their share"),
        }
    }
}

impl Event {
    /// The part that must stay secret for the theorem to hold, in words. `None` if every answer is
    /// released as it is.
    pub fn hides(&self) -> Option<&'static str> {
        match self {
            Self::Use { cost, .. } => cost.hides(),
            Self::All(parts) => parts.iter().find_map(Self::hides),
            Self::Repeat { event, .. } | Self::UpTo { event, .. } => event.hides(),
            Self::Selected { .. } | Self::BestOf { .. } => {
                Some("all runs but the best, and how many there were")
            }
        }
    }

    /// The cost of a single use, repeated or not; `None` for several different uses.
    pub fn single_cost(&self) -> Option<&Cost> {
        match self {
            Self::Use { cost, .. } => Some(cost),
            Self::Repeat { event, .. } | Self::UpTo { event, .. } => event.single_cost(),
            Self::All(_) | Self::Selected { .. } | Self::BestOf { .. } => None,
        }
    }
}

/// The kinds of mechanism that the accountant knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Cost {
    /// f(D) + N(0, noise_scale² I), ‖f(D) − f(D′)‖₂ ≤ sensitivity.
    Gaussian {
        /// ℓ2 sensitivity, rounding to the grid included.
        sensitivity: f64,
        /// Standard deviation σ of each coordinate's noise.
        noise_scale: f64,
        /// `Some` if the noise is a discrete Gaussian on a fine grid that replaces the continuous one;
        /// its distance is charged.
        grid: Option<Grid>,
    },
    /// As [`Cost::Gaussian`], with noise drawn jointly by servers, none of which learns it. The noise,
    /// together with the view of any coalition of all servers but one, is within total variation
    /// `distance`, to a feasible observer, of the discrete Gaussian on the grid.
    JointGaussian {
        /// ℓ2 sensitivity, rounding to the grid included.
        sensitivity: f64,
        /// Standard deviation σ of each coordinate's noise.
        noise_scale: f64,
        /// As in [`Cost::Gaussian`].
        grid: Grid,
        /// Total variation distance of all coordinates together, the possible gain of a cheating server
        /// included.
        distance: f64,
    },
    /// Σ_{i∈S} gᵢ + N(0, noise_scale² I), where every record is in S independently with probability
    /// `rate`, anew for each use. Neither S nor its size is released or divided by. *Not* for batches
    /// cut from a shuffled data set: see [`super::sampled`].
    PoissonGaussian {
        /// The sampling rate q, in (0, 1].
        rate: f64,
        /// ℓ2 bound on the contribution gᵢ of one record (a clipping norm), rounding to the grid
        /// included, under *both* relations: the accountant doubles it for replace-one. At rate 1 the
        /// cost is [`Cost::Gaussian`] of this sensitivity under add/remove, of twice this under
        /// replace-one.
        sensitivity: f64,
        /// Standard deviation σ of each coordinate's noise.
        noise_scale: f64,
        /// As in [`Cost::Gaussian`].
        grid: Option<Grid>,
    },
    /// Σ_{i∈S} gᵢ + N(0, noise_scale² I), where S is a uniformly random set of `batch` of the
    /// `population` records, anew for each use. Replace-one only.
    WithoutReplacementGaussian {
        /// The public number of records n.
        population: u64,
        /// The batch size |S|.
        batch: u64,
        /// ℓ2 bound on the *difference* g − g′ of two records' contributions (twice a clipping norm),
        /// rounding to the grid included.
        sensitivity: f64,
        /// Standard deviation σ of each coordinate's noise.
        noise_scale: f64,
        /// As in [`Cost::Gaussian`].
        grid: Option<Grid>,
    },
    /// f(D) + Laplace(noise_scale) in every coordinate, ‖f(D) − f(D′)‖₁ ≤ sensitivity.
    Laplace {
        /// ℓ1 sensitivity.
        sensitivity: f64,
        /// Scale of each coordinate's noise.
        noise_scale: f64,
        /// `Some(step)` if values and noise are multiples of this step (discrete Laplace); `None` for
        /// the continuous law. The two differ: at sensitivity = step the discrete one is exactly
        /// randomised response, which composes worse than the continuous one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<f64>,
    },
    /// f(D) + b, density of b ∝ exp(−‖b‖₂ / noise_scale), ‖f(D) − f(D′)‖₂ ≤ sensitivity.
    L2Laplace {
        /// ℓ2 sensitivity.
        sensitivity: f64,
        /// Scale of the noise vector's norm.
        noise_scale: f64,
    },
    /// Any ε-DP mechanism.
    Pure {
        /// The privacy parameter ε.
        epsilon: f64,
    },
    /// The exponential mechanism and others of bounded range: the log-ratio's range is at most `range`.
    BoundedRange {
        /// Width of the range of the privacy loss.
        range: f64,
    },
    /// Any ρ-zCDP mechanism.
    ZeroConcentrated {
        /// The zCDP parameter ρ.
        rho: f64,
    },
    /// Any (ε, δ)-DP mechanism.
    Approximate {
        /// The privacy parameter ε.
        epsilon: f64,
        /// The privacy parameter δ.
        delta: f64,
    },
    /// C·g + N(0, noise_scale² I), row by row, g a stream of `steps` contributions that may depend on
    /// the rows released before; ‖C(g − g′)‖₂ ≤ sensitivity for every sequence of answers.
    ContinualGaussian {
        /// The matrix C.
        factor: Factor,
        /// The number of steps n.
        steps: u32,
        /// The steps in which a unit may take part.
        participation: Participation,
        /// ℓ2 sensitivity of all rows together, all rounding included.
        sensitivity: f64,
        /// Standard deviation σ of each coordinate of each row.
        noise_scale: f64,
        /// As in [`Cost::Gaussian`], of all rows together.
        grid: Grid,
    },
    /// Sparse vector technique: of a series of queries, each chosen after the previous comparisons,
    /// reports for each whether its answer is above a threshold, until the first that is not. One noise
    /// on the threshold serves all queries, and each answer has its own. An answer changes by at most
    /// `sensitivity`.
    AboveThreshold {
        /// The law of both noises.
        law: ThresholdNoise,
        /// Sensitivity of one answer.
        sensitivity: f64,
        /// Scale of the threshold's noise.
        noise_scale: f64,
        /// Scale of each answer's noise.
        query_noise_scale: f64,
    },
    /// `steps` releases fₜ + N(0, noise_scale² I), each fₜ chosen by the answers before it. A unit is
    /// left out where the sum of its squared contributions would exceed a limit
    /// ([`crate::mechanism::Individual`]): between neighbours the squared changes add up to at most
    /// sensitivity², for every sequence of answers.
    IndividualGaussian {
        /// The number of releases.
        steps: u32,
        /// ℓ2 sensitivity of all releases together, all rounding included.
        sensitivity: f64,
        /// Standard deviation σ of each coordinate of each release.
        noise_scale: f64,
        /// As in [`Cost::Gaussian`], of all releases together.
        grid: Grid,
    },
    /// Release of the exact minimiser of Σℓ + (λ/2)‖θ‖² + ⟨b, θ⟩.
    Objective(ObjectiveCost),
    /// Approximate Minima Perturbation: release of θ̃ + noise, where θ̃ is within
    /// `output_sensitivity` / 2 of the exact minimiser.
    ApproximateMinima {
        /// The perturbed objective.
        objective: ObjectiveCost,
        /// 2(γ + η)/λ + rounding: bound on the distance between the errors of two data sets.
        output_sensitivity: f64,
        /// The noise added to θ̃.
        output: OutputNoise,
    },
}

/// The law of the noises of [`Cost::AboveThreshold`], on the integers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdNoise {
    /// Two-sided, ∝ e^(−|k|/s).
    Laplace,
    /// One-sided, ∝ e^(−k/s) on k ≥ 0: it lowers the threshold, and it lowers each answer.
    #[default]
    Exponential,
}

/// A fine grid on which a discrete Gaussian replaces a continuous one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Distance between neighbouring points, a power of two.
    pub step: f64,
    /// The number of drawn coordinates.
    pub coordinates: u64,
}

/// The parameters of Σℓ(⟨xᵢ,θ⟩; yᵢ) + (λ/2)‖θ‖² + ⟨b,θ⟩ that its privacy depends on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectiveCost {
    /// The loss.
    pub loss: LossShape,
    /// Bound R on every ‖xᵢ‖₂, bias included.
    pub radius: f64,
    /// The ridge λ, of the sum (not the mean).
    pub ridge: f64,
    /// The law of the linear term b.
    pub noise: ObjectiveNoise,
}

/// Public facts of a loss ℓ(u; y), convex and C^{1,1} in u.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossShape {
    /// Lipschitz constant L ≥ |ℓ′|.
    pub lipschitz: f64,
    /// Curvature bound c ≥ ℓ″.
    pub curvature: f64,
    /// [`Sign::Fixed`] if ℓ′(·; y) never changes its sign, for every y.
    pub sign: Sign,
    /// True if ℓ″ ≤ 4c·p(1 − p) where |ℓ′| = L·p, as for the logistic loss.
    pub logistic: bool,
}

/// The sign of ℓ′(·; y), for a given y.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sign {
    /// Fixed: it never changes (any monotone margin loss).
    Fixed,
    /// It may change.
    Any,
}

/// The law of the linear term b.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ObjectiveNoise {
    /// N(0, noise_scale² I).
    Gaussian {
        /// Standard deviation σ of each coordinate of b.
        noise_scale: f64,
        /// As in [`Cost::Gaussian`]; the rounding itself is charged to the tolerance.
        grid: Option<Grid>,
    },
    /// Density ∝ exp(−‖b‖₂ / noise_scale).
    L2Laplace {
        /// Scale s of the norm of b.
        noise_scale: f64,
    },
}

/// The law of the noise added to an approximate minimiser.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum OutputNoise {
    /// N(0, noise_scale² I).
    Gaussian {
        /// Standard deviation τ of each coordinate's noise.
        noise_scale: f64,
        /// As in [`Cost::Gaussian`].
        grid: Option<Grid>,
    },
    /// Density ∝ exp(−‖·‖₂ / noise_scale).
    L2Laplace {
        /// Scale of the noise vector's norm.
        noise_scale: f64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_stay_secret_is_named_wherever_it_is() {
        let leaf =
            |cost| Event::Use { neighbours: Neighbours::AddRemove, unit: Unit::Record, cost };
        let plain = leaf(Cost::Pure { epsilon: 1.0 });
        let sampled = leaf(Cost::PoissonGaussian {
            rate: 0.1,
            sensitivity: 1.0,
            noise_scale: 1.0,
            grid: None,
        });
        assert_eq!(plain.hides(), None);
        let steps = Event::Repeat { count: 3, event: Box::new(sampled) };
        assert_eq!(
            Event::All(vec![plain.clone(), steps]).hides(),
            Some("which records were drawn")
        );
        let best = Event::Selected { law: Runs::Poisson { mean: 3.0 }, event: Box::new(plain) };
        assert!(best.hides().is_some_and(|words| words.contains("all runs but the best")));
    }
}
