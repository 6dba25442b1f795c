//! Private empirical risk minimisation with linear models.
//!
//! | file | learner |
//! |---|---|
//! | [`gd`] | noisy gradient descent, `--method gd` |
//! | [`sgd`] | the same on a random part of the records at each step, `--method sgd` |
//! | [`psgd`] | permutation descent, noise on the result, `--method psgd` |
//! | [`psgd_strong`] | the same with a ridge, `--method psgd-strong` |
//! | [`frank_wolfe`] | Frank–Wolfe over the ℓ1 ball, `--method frank-wolfe` |
//! | [`simplex`] | entropy-regularised, released by sampling, `--method simplex` |
//! | [`amp`] | Approximate Minima Perturbation, `--method amp` |
//! | [`objective`] | objective perturbation, `--method objective` |
//! | [`output`] | output perturbation, `--method output` |
//! | [`ssp`] | least squares from noised moments, `--method ssp` |
//! | [`linear`] | linear regression in a ball, `--method linear` |
//! | [`rotated`] | the same with a regulariser made of the data, `--method linear-rotated` |
//! | [`sample_aggregate`] | the mean of many small fits, `--method sample-aggregate` |
//! | [`plain`] | no noise at all, `--method non-private` |
//! | `predicted` | what a plan expects to lose |
//! | `descent` | how noised gradients become a model |
//! | [`ridge`] | how much to regularise, from public facts |
//!
//! All of them minimise, for each linear problem,
//! F(θ) = Σℓ(⟨xᵢ,θ⟩; yᵢ) + (λ/2)‖θ‖² (+ ⟨b,θ⟩), in the sum form, the intercept being an ordinary
//! coordinate. Two classes are one problem with labels ∓1; K > 2 classes are K problems, one class
//! against the rest, and a record touches all of them, so the accountant composes K events. [`gd`] fits
//! all classes in one descent.

pub mod amp;
mod descent;
pub mod frank_wolfe;
pub mod gd;
pub mod linear;
mod minimum;
pub mod objective;
pub mod output;
pub mod penalty;
pub mod permutation;
pub mod plain;
pub(crate) mod predicted;
pub mod psgd;
pub mod psgd_strong;
mod reach;
pub mod ridge;
pub mod rotated;
pub mod sample_aggregate;
pub mod sgd;
pub mod simplex;
pub mod ssp;
mod watch;

use crate::LearnError;
use crate::facts::Facts;
use privet_core::Budget;
use privet_dp::account::{self, AccountError, Event};
use privet_dp::gate::GateError;

/// The smallest noise scale at which all problems together meet the budget. No scale below `floor`
/// can (the noise that the Gaussian, or pure, part alone needs), so none is looked at.
pub(crate) fn calibrated(
    facts: &Facts,
    budget: &Budget,
    floor: f64,
    event_for: impl Fn(f64) -> Result<Event, GateError>,
) -> Result<f64, LearnError> {
    event_for(floor)?;
    // An event that cannot be made at some far scale is one that the accountant refuses.
    let event = |scale| event_for(scale).unwrap_or(Event::All(vec![]));
    let search = floor * (1.0 - 1e-6)..=floor * SEARCH;
    let found = account::calibrate(budget, search, |scale| facts.repeated(event(scale)));
    found.map_err(|error| match error {
        AccountError::OutOfReach { epsilon, .. } if epsilon > ACCOUNTED => LearnError::NotCovered {
            what: format!("epsilon = {epsilon}: e to its power is more than can be accounted for"),
            instead: "give an epsilon up to 600 (above 20 or so it promises next to nothing), or \
                      method non-private",
        },
        error => error.into(),
    })
}

/// Up to here e^ε leaves room for what is multiplied by it.
const ACCOUNTED: f64 = 600.0;

/// How far above the floor noise scales are looked for, as a factor.
const SEARCH: f64 = 1e4;

/// The papers split a budget evenly between the problems.
pub(crate) fn evenly_split(facts: &Facts, budget: &Budget) -> (f64, f64) {
    let share = f64::from(facts.problems);
    (budget.epsilon() / share, budget.delta() / share)
}

/// The note of every learner that draws continuous noise.
pub(crate) const CONTINUOUS_NOISE: &str = "the noise is continuous and drawn in floating point: \
     the guarantee is proved in real arithmetic";
