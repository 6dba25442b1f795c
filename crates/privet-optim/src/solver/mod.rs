//! Minimisers of F(θ) = Σℓ(⟨xᵢ,θ⟩; yᵢ) + (λ/2)‖θ‖² + ⟨b,θ⟩, each ending in a proof.
//!
//! [`minimise`] takes a [`Problem`] and the tolerance γ on the norm of the **sum-form** gradient (a
//! tolerance of 1/n² for the mean is 1/n here), and returns a [`Certified`] point or an error. It never
//! returns a point that merely looks converged.
//!
//! - `certificate`: the gradient with a bound on its own error; the only constructor of [`Certified`].
//! - `point`: θ to 106 bits.
//! - `descent`: the loop all smooth solvers share, with its line search.
//! - `newton`, `lbfgs`, `newton_cg`: computation of directions.
//! - `penalty`: ℓ1, elastic net, groups, box, ball and simplex: proximal maps, smallest subgradients.
//! - `proximal`: the loop with a penalty; `model`, `active`: its Newton steps.
//! - `external`: any other optimiser; its answer is checked and polished.
//!
//! F is λ-strongly convex with λ > 0, so the tolerance can always be met; [`minimise`] refuses
//! tolerances finer than double-double arithmetic resolves. That refusal depends on the records (their
//! number and norms): to avoid revealing it, check [`Sizes::finest_tolerance`] with public bounds
//! beforehand.

mod active;
mod certificate;
mod descent;
mod external;
mod lbfgs;
mod model;
mod newton;
mod newton_cg;
mod penalty;
mod point;
mod proximal;

pub use certificate::{Certified, Sizes};
pub use external::{Objective, OutsideOptimizer, minimise_with};
pub use penalty::{BALL_RADIUS, GROUP_WEIGHT, L1_WEIGHT, L2_WEIGHT, Penalty, SIMPLEX_TOTAL};

use crate::Loss;
use crate::sum::{Records, RecordsError};
use privet_core::Range;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Limits on the ridge λ.
pub const RIDGE: Range = Range::open("ridge", 0.0, f64::INFINITY);
/// Limits on the gradient tolerance γ.
pub const TOLERANCE: Range = Range::open("gradient_tolerance", 0.0, f64::INFINITY);
/// The objective F, with the penalty or constraint on θ.
pub struct Problem<'a, R: Records + ?Sized> {
    /// The rows.
    pub records: &'a R,
    /// The loss ℓ.
    pub loss: Loss,
    /// The ridge λ > 0, of the sum form.
    pub ridge: f64,
    /// The linear term b; `None` is zero.
    pub linear: Option<&'a [f64]>,
    /// The penalty or constraint.
    pub penalty: &'a Penalty,
}

impl<R: Records + ?Sized> Clone for Problem<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: Records + ?Sized> Copy for Problem<'_, R> {}

/// Shows neither records nor b, which together with θ would reveal their gradient.
impl<R: Records + ?Sized> fmt::Debug for Problem<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Problem")
            .field("loss", &self.loss)
            .field("ridge", &self.ridge)
            .field("penalty", &self.penalty)
            .finish_non_exhaustive()
    }
}

impl<'a, R: Records + ?Sized> Problem<'a, R> {
    /// The problem Σℓ + (λ/2)‖θ‖².
    pub fn new(records: &'a R, loss: Loss, ridge: f64) -> Self {
        Self { records, loss, ridge, linear: None, penalty: &Penalty::None }
    }

    /// Adds the linear term ⟨b, θ⟩.
    pub fn with_linear(self, linear: &'a [f64]) -> Self {
        Self { linear: Some(linear), ..self }
    }

    /// Adds a penalty or constraint.
    pub fn with_penalty(self, penalty: &'a Penalty) -> Self {
        Self { penalty, ..self }
    }

    fn check(&self, tolerance: f64) -> Result<(), SolveError> {
        self.loss.check()?;
        RIDGE.check(self.ridge)?;
        TOLERANCE.check(tolerance)?;
        let columns = self.records.columns();
        self.penalty.check(columns)?;
        // With the elastic net's part.
        RIDGE.check(self.ridge + self.penalty.convexity())?;
        if let Some(linear) = self.linear {
            if linear.len() != columns {
                return Err(SolveError::Length { what: "linear", columns, given: linear.len() });
            }
            if let Some(position) = linear.iter().position(|b| !b.is_finite()) {
                return Err(SolveError::NotFinite { what: "linear", position });
            }
        }
        if !self.records.labels_accepted(self.loss) {
            return Err(SolveError::Labels { accepted: self.loss.labels() });
        }
        let floor = certificate::finest_tolerance(self);
        if tolerance < floor {
            return Err(SolveError::TooFine { tolerance, floor });
        }
        Ok(())
    }
}

/// The source of directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Newton when a p × p matrix is small beside the data, L-BFGS otherwise.
    #[default]
    Auto,
    /// Factorised Hessians, each kept while it is useful, corrected by L-BFGS pairs.
    Newton,
    /// Limited-memory BFGS on a diagonal.
    Lbfgs,
    /// Newton directions by preconditioned conjugate gradients.
    NewtonCg,
}

/// Options of a solver.
#[derive(Clone, Copy, Default)]
pub struct SolverOptions<'a> {
    /// The method.
    pub method: Method,
    /// The start; zero when `None`.
    pub start: Option<&'a [f64]>,
    /// A monitor that is called with the progress and may stop the solver.
    pub monitor: Option<&'a dyn Monitor>,
}

/// The state after one iteration. Derived from records: for the operator only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Gradient evaluations so far.
    pub iteration: u32,
    /// Norm of the (smallest sub)gradient.
    pub gradient_norm: f64,
    /// The gradient tolerance γ.
    pub tolerance: f64,
    /// True if evaluation is in double-double.
    pub precise: bool,
}

/// Observes a solver; a stopped solver returns [`SolveError::Stopped`] and no point.
pub trait Monitor: Sync {
    /// Called after each evaluation; `false` stops the solver.
    fn proceed(&self, progress: Progress) -> bool;
}

/// Stops once the flag is set, e.g. by Ctrl-C.
impl Monitor for std::sync::atomic::AtomicBool {
    fn proceed(&self, _progress: Progress) -> bool {
        !self.load(std::sync::atomic::Ordering::Relaxed)
    }
}

/// The reason there is no certified point.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// A setting is out of range.
    #[error(transparent)]
    Setting(#[from] privet_core::Error),
    /// A vector has the wrong length.
    #[error("{what} has {given} entries, but the rows have {columns} columns")]
    Length {
        /// The vector.
        what: &'static str,
        /// Columns of the rows.
        columns: usize,
        /// Entries given.
        given: usize,
    },
    /// A vector's entry is NaN or infinite.
    #[error("entry {position} of {what} is not a finite number")]
    NotFinite {
        /// The vector.
        what: &'static str,
        /// The entry, from 0.
        position: usize,
    },
    /// The box is empty or infinite.
    #[error("a box from {low} to {high} is not accepted: both finite, and low below high")]
    Box {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// The groups do not partition the coordinates.
    #[error(
        "the groups cover {given} columns, but the rows have {columns}: sizes of at least 1 that add up"
    )]
    Groups {
        /// Columns of the rows.
        columns: usize,
        /// Sum of the sizes.
        given: u64,
    },
    /// A simplex without coordinates holds no point.
    #[error("a simplex needs at least one column")]
    EmptySimplex,
    /// A label does not suit the loss.
    #[error("a label does not suit the loss: accepted are {accepted}")]
    Labels {
        /// The accepted labels.
        accepted: &'static str,
    },
    /// The tolerance is finer than can be proved with 106 bits. The floor depends on the records.
    #[error("gradient tolerance {tolerance} is finer than arithmetic resolves: at least {floor}")]
    TooFine {
        /// The requested tolerance.
        tolerance: f64,
        /// The finest accepted tolerance.
        floor: f64,
    },
    /// The records failed.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// The monitor stopped the solver.
    #[error("stopped on request")]
    Stopped,
    /// The tolerance was not met: a bug, since it can always be met.
    #[error("gradient tolerance not met within {limit} evaluations; please report this")]
    NotCertified {
        /// The limit.
        limit: u32,
    },
}

/// Returns a point at which the norm of the sum-form gradient (with a penalty: of the smallest
/// subgradient) is proved to be at most `tolerance`.
pub fn minimise<R: Records + ?Sized>(
    problem: &Problem<'_, R>,
    tolerance: f64,
    options: &SolverOptions<'_>,
) -> Result<Certified, SolveError> {
    problem.check(tolerance)?;
    let columns = problem.records.columns();
    let start = options.start.map_or_else(|| vec![0.0; columns], <[f64]>::to_vec);
    if start.len() != columns {
        return Err(SolveError::Length { what: "start", columns, given: start.len() });
    }
    if let Some(position) = start.iter().position(|t| !t.is_finite()) {
        return Err(SolveError::NotFinite { what: "start", position });
    }
    let mut left = Penalty::None;
    let problem = &problem.split_elastic_net(&mut left);
    match problem.penalty {
        Penalty::None => descent::descend(problem, tolerance, options, start),
        _ => proximal::descend(problem, tolerance, options, start),
    }
}

/// Entries of a vector that one thread processes at a time.
const ENTRIES_PER_THREAD: usize = 1 << 18;

/// Euclidean inner product; long vectors are summed by stretches, added in order, so the number of
/// threads does not matter.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    if a.len() <= ENTRIES_PER_THREAD {
        return dot_of_stretch(a, b);
    }
    let stretches = a.par_chunks(ENTRIES_PER_THREAD).zip(b.par_chunks(ENTRIES_PER_THREAD));
    let sums: Vec<f64> = stretches.map(|(a, b)| dot_of_stretch(a, b)).collect();
    sums.iter().sum()
}

fn dot_of_stretch(a: &[f64], b: &[f64]) -> f64 {
    let (a_chunks, a_rest) = a.as_chunks::<4>();
    let (b_chunks, b_rest) = b.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let tail: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + tail
}

/// Euclidean norm, free of overflow.
pub(crate) fn norm(a: &[f64]) -> f64 {
    let largest = a.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return if a.iter().any(|x| x.is_nan()) { f64::NAN } else { largest };
    }
    if (1e-140..1e140).contains(&largest) {
        return dot(a, a).sqrt();
    }
    let scaled: Vec<f64> = a.iter().map(|x| x / largest).collect();
    largest * dot(&scaled, &scaled).sqrt()
}

/// Adds into += factor · vector.
pub(crate) fn add_scaled(into: &mut [f64], factor: f64, vector: &[f64]) {
    let add = |(into, vector): (&mut [f64], &[f64])| {
        into.iter_mut().zip(vector).for_each(|(i, v)| *i += factor * v);
    };
    match into.len() <= ENTRIES_PER_THREAD {
        true => add((into, vector)),
        false => into
            .par_chunks_mut(ENTRIES_PER_THREAD)
            .zip(vector.par_chunks(ENTRIES_PER_THREAD))
            .for_each(add),
    }
}

#[cfg(test)]
mod tests;
