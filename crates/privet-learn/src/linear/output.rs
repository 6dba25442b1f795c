//! Output perturbation: minimise, then add noise.
//!
//! **Theorem** (after Chaudhuri et al. 2011; Jain & Thakurta, ICML 2014, §4.1).
//! F(θ) = Σℓ(⟨xᵢ,θ⟩; yᵢ) + (λ/2)‖θ‖², ℓ convex and L-Lipschitz, ‖xᵢ‖₂ ≤ R; a unit owns at most k
//! records. If ‖∇F(θ̃)‖₂ ≤ γ for each data set, then ‖θ̃(D) − θ̃(D′)‖₂ ≤ **2(kLR + γ)/λ** under
//! replace-one and **(kLR + 2γ)/λ** under add/remove.
//!
//! *Proof.* F is λ-strongly convex, so ⟨∇F(θ) − ∇F(θ′), θ − θ′⟩ ≥ λ‖θ − θ′‖², hence
//! ‖θ − θ′‖ ≤ ‖∇F(θ) − ∇F(θ′)‖/λ. Each θ̃ is within γ/λ of its minimiser. At the minimiser θ* of D
//! the gradient for D′ is the difference of the sums over the unit's records, of norm at most 2kLR
//! (records exchanged) or kLR (added or removed): the two minimisers are within that over λ. ∎
//!
//! Gaussian noise then has the exact Gaussian curve, ℓ2-Laplace noise is pure
//! ([`privet_dp::mechanism`]). No smoothness is needed.
//!
//! The same bound holds with any convex penalty or set that does not depend on the data on top of the
//! ridge; the proof is in [`super::penalty`]. Among parties each minimises on its own rows, and the mean
//! of their minimisers, weighted by declared rows, has the same bound (`party_share.rs`).
//!
//! - λ `ridge` (of the sum, not the mean; plus the elastic net's l2), L `loss.lipschitz()`, R `Facts::radius`
//! - γ `tolerance`, 1/n, fixed before any record is read
//! - Departs from print: γ = 0 there; density ∝ exp(−ελ‖b‖/(4LR)), twice the noise needed, and
//!   σ² = 16(LR)²(ln(1/δ) + ε)/(λε)². `Printed` uses those; `Sound` the exact curves.
//! - Tested by `neighbouring_tables_move_the_minimiser_within_the_bound` and
//!   `penalised_minimisers_move_within_the_bound`.

use super::Decision;
use super::minimum::{Minimum, Step};
use super::penalty::{PENALTY_SETTING, Regulariser, resolve_setting};
use super::{calibrated, evenly_split, ridge as rule};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::learners::{LearnerFacts, Method, RIDGE_SETTING, Scores};
use crate::release::allowance::Allowance;
use crate::release::covers::MethodCoverage;
use crate::release::registry::Info;
use crate::release::request::{Calibration, RIDGE};
use crate::release::settings::settings;
use privet_core::Neighbours;
use privet_dp::account;
use privet_dp::gate::Arithmetic;
use privet_dp::mechanism::{Gaussian, L2Laplace};
use privet_optim::solver::Penalty;
use std::sync::Arc;

/// The registry entry.
pub const INFO: Info<LearnerFacts> = Info {
    name: "output",
    summary: "minimises a regularised objective and adds noise to the result",
    source: "Chaudhuri et al. 2011; Jain & Thakurta 2014, §4.1",
    guarantee: "(ε, δ) in finite arithmetic; pure ε in real arithmetic",
    settings: Output::SETTINGS,
    noisy: "the weights of the minimiser",
    private: true,
    covers: MethodCoverage::ALL,
    more: LearnerFacts { scores: Scores::Separate, any_storage: true },
};

settings! {
    /// Settings of `output`.
    #[derive(Copy)]
    pub struct Output {
        /// λ of the sum form.
        ridge: f64 = RIDGE_SETTING;
        /// A penalty or set on top of the ridge ([`super::penalty`]).
        penalty: Regulariser = PENALTY_SETTING;
    }
}

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    calibration: Calibration,
    options: &Output,
) -> Result<Decision, LearnError> {
    match calibration {
        Calibration::Sound => plan_sound(facts, budget, options),
        Calibration::Printed => plan_printed(facts, budget, options),
    }
}

/// The sensitivity of the theorem.
pub fn sensitivity(facts: &Facts, ridge: f64, tolerance: f64) -> f64 {
    let shift = f64::from(facts.unit.records()) * facts.gradient_bound();
    let bound = match facts.neighbours {
        Neighbours::ReplaceOne | Neighbours::ReplaceLabel => 2.0 * (shift + tolerance) / ridge,
        Neighbours::AddRemove => (shift + 2.0 * tolerance) / ridge,
    };
    // The factor covers the rounding of these few operations.
    bound * (1.0 + 16.0 * f64::EPSILON)
}

/// Plans with proved constants.
fn plan_sound(
    facts: &Facts,
    budget: &Allowance<'_>,
    options: &Output,
) -> Result<Decision, LearnError> {
    let (penalty, more) = resolve_setting(options.penalty, facts)?;
    let tolerance = facts.default_tolerance();
    let unit_noise = if budget.is_pure() {
        facts.gradient_shift() * f64::from(facts.problems) / budget.epsilon()
            * (facts.columns as f64).sqrt()
    } else {
        let mu = account::gaussian::mu(budget.epsilon(), budget.delta());
        facts.gradient_shift() * f64::from(facts.problems).sqrt() / mu
    };
    let released = unit_noise * facts.widening;
    let ridge = options.ridge.unwrap_or_else(|| rule::for_output(facts, released));
    let ridge = RIDGE.check(ridge)?;
    let work = Work { facts, ridge: RIDGE.check(ridge + more)?, tolerance, penalty };
    let settled = Output { ridge: Some(ridge), ..*options };
    let sensitivity = sensitivity(facts, work.ridge, tolerance);
    if budget.is_pure() {
        let floor = sensitivity * f64::from(facts.problems) / budget.epsilon();
        let mechanism = |noise_scale| laplace(facts, sensitivity, noise_scale);
        let scale = calibrated(facts, budget, floor, |scale| Ok(mechanism(scale).event()))?;
        return Ok(work.laplace(mechanism(scale), settled));
    }
    let mechanism = |noise_scale| gaussian(facts, sensitivity, noise_scale);
    let scale =
        calibrated(facts, budget, unit_noise / work.ridge, |scale| mechanism(scale).event())?;
    Ok(work.gaussian(mechanism(scale), settled))
}

/// Plans with the papers' constants.
fn plan_printed(
    facts: &Facts,
    budget: &Allowance<'_>,
    options: &Output,
) -> Result<Decision, LearnError> {
    let (penalty, more) = resolve_setting(options.penalty, facts)?;
    let tolerance = facts.default_tolerance();
    let (epsilon, delta) = evenly_split(facts, budget);
    // Thm 1 of Jain & Thakurta with ‖θ*‖ = B.
    let default = facts.gradient_bound() * (facts.rows as f64).sqrt() / rule::EXPECTED_NORM;
    let ridge = RIDGE.check(options.ridge.unwrap_or(default))?;
    let work = Work { facts, ridge: RIDGE.check(ridge + more)?, tolerance, penalty };
    let settled = Output { ridge: Some(ridge), ..*options };
    let sensitivity = sensitivity(facts, work.ridge, tolerance);
    let per_ridge = 4.0 * facts.gradient_bound() / (work.ridge * epsilon);
    if budget.is_pure() {
        return Ok(work.laplace(laplace(facts, sensitivity, per_ridge), settled));
    }
    let scale = per_ridge * ((1.0 / delta).ln() + epsilon).sqrt();
    Ok(work.gaussian(gaussian(facts, sensitivity, scale), settled))
}

fn gaussian(facts: &Facts, sensitivity: f64, noise_scale: f64) -> Gaussian {
    Gaussian {
        neighbours: facts.neighbours,
        unit: facts.unit,
        sensitivity,
        noise_scale,
        coordinates: facts.columns,
    }
}

fn laplace(facts: &Facts, sensitivity: f64, noise_scale: f64) -> L2Laplace {
    L2Laplace {
        neighbours: facts.neighbours,
        unit: facts.unit,
        sensitivity,
        noise_scale,
        coordinates: facts.columns,
    }
}

/// The objective to minimise, and its tolerance.
struct Work<'a> {
    facts: &'a Facts,
    /// The ridge λ, the elastic net's part included.
    ridge: f64,
    tolerance: f64,
    penalty: Penalty,
}

impl Work<'_> {
    fn gaussian(self, mechanism: Gaussian, settled: Output) -> Decision {
        let Self { facts, ridge, tolerance, penalty } = self;
        let step = Step::OutputGaussian { ridge, tolerance, mechanism };
        Decision {
            procedure: Arc::new(Minimum::new(facts, step, penalty)),
            settled: Method::Output(settled),
            arithmetic: Arithmetic::Finite,
            notes: vec![],
        }
    }

    fn laplace(self, mechanism: L2Laplace, settled: Output) -> Decision {
        let Self { facts, ridge, tolerance, penalty } = self;
        let step = Step::OutputLaplace { ridge, tolerance, mechanism };
        Decision {
            procedure: Arc::new(Minimum::new(facts, step, penalty)),
            settled: Method::Output(settled),
            arithmetic: Arithmetic::Real,
            notes: vec![super::CONTINUOUS_NOISE.into()],
        }
    }
}
