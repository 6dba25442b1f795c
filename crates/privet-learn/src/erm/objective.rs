//! Objective perturbation: add a random linear term, release the minimiser.
//!
//! **Theorem** ([`privet_dp::account`], objective perturbation). J(θ) = Σℓ(⟨xᵢ,θ⟩; yᵢ) +
//! (λ/2)‖θ‖² + ⟨b,θ⟩ with ‖xᵢ‖ ≤ R, ℓ convex, |ℓ′| ≤ L, 0 ≤ ℓ″ ≤ c, β = cR². For b ~ N(0, σ²I) the
//! exact minimiser has the privacy curve of the table there; for density ∝ exp(−‖b‖/s) it is pure
//! with ε = ln(1 + β/λ) + 2LR/s under replace-one and ln(1 + β/λ) + LR/s under add/remove.
//!
//! What is released is a θ̃ with ‖∇J(θ̃)‖ ≤ γ, which no theorem about the exact minimiser covers:
//! the certificate says *real arithmetic*. [`super::amp`] closes that gap with a little output
//! noise and is the default.
//!
//! A penalty or set on top of the ridge changes nothing of this: the limit theorem of
//! [`super::penalty`].
//!
//! - λ `ridge` (plus the elastic net's l2), σ or s the noise scale, L, R, c from [`Facts`]; p `columns`
//! - `Printed`: Thakurta 2013, Algorithm 3.1: λ = 2β/ε, s = 2ζ/ε, σ² = ζ²(8 ln(2/δ) + 4ε)/ε², where
//!   ζ = LR for add/remove neighbours, and twice that under replace-one.

use super::minimum::{Minimum, Step};
use super::penalty::{PENALTY_SETTING, Regulariser, resolved};
use super::{calibrated, evenly_split, ridge as rule};
use crate::LearnError;
use crate::facts::Facts;
use crate::learner::Planned;
use crate::method::{Method, MethodInfo, RIDGE_SETTING, Scores};
use crate::request::{Calibration, RIDGE};
use privet_core::{Budget, Neighbours};
use privet_dp::account::{ObjectiveCost, ObjectiveNoise, gaussian};
use privet_dp::gate::Arithmetic;
use privet_dp::mechanism::{OutputLaw, PerturbedObjective};
use privet_optim::solver::Penalty;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A line about it.
pub const INFO: MethodInfo = MethodInfo {
    name: "objective",
    summary: "perturbs the objective and releases its minimiser",
    source: "Chaudhuri et al. 2011; Kifer et al. 2012; Thakurta 2013, Algorithm 3.1",
    guarantee: "(ε, δ) and pure ε in real arithmetic, for the exact minimiser",
    settings: &[RIDGE_SETTING, PENALTY_SETTING],
    scores: Scores::Separate,
};

/// Its settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// λ of the sum form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ridge: Option<f64>,
    /// A penalty or set on top of the ridge ([`super::penalty`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub penalty: Option<Regulariser>,
}

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Budget,
    calibration: Calibration,
    options: &Options,
) -> Result<Planned, LearnError> {
    match calibration {
        Calibration::Sound => plan_sound(facts, budget, options),
        Calibration::Printed => plan_printed(facts, budget, options),
    }
}

/// The perturbed objective for given constants.
pub(super) fn perturbed(
    facts: &Facts,
    ridge: f64,
    noise: ObjectiveNoise,
    tolerance: f64,
    output: Option<OutputLaw>,
) -> PerturbedObjective {
    PerturbedObjective {
        neighbours: facts.neighbours,
        unit: facts.unit,
        objective: ObjectiveCost { loss: facts.shape, radius: facts.radius, ridge, noise },
        tolerance,
        coordinates: facts.columns,
        output,
    }
}

/// About how much noise the budget asks for, before regularisation is known: (scale, norm).
pub(super) fn expected_noise(facts: &Facts, budget: &Budget) -> Result<(f64, f64), LearnError> {
    let (shift, problems) = (facts.gradient_shift(), f64::from(facts.problems));
    let columns = facts.columns as f64;
    Ok(if budget.is_pure() {
        let scale = shift * problems / budget.epsilon();
        (scale, scale * columns)
    } else {
        let mu = gaussian::mu(budget.epsilon(), budget.delta());
        let scale = shift * problems.sqrt() / mu;
        (scale, scale * columns.sqrt())
    })
}

/// The law of b at a given scale: Gaussian, or ℓ2-Laplace for δ = 0.
pub(super) fn law(budget: &Budget, noise_scale: f64) -> ObjectiveNoise {
    if budget.is_pure() {
        ObjectiveNoise::L2Laplace { noise_scale }
    } else {
        ObjectiveNoise::Gaussian { noise_scale, grid: None }
    }
}

/// Constants that are proved.
fn plan_sound(facts: &Facts, budget: &Budget, options: &Options) -> Result<Planned, LearnError> {
    let (penalty, more) = resolved(options.penalty, facts)?;
    let (scale, norm) = expected_noise(facts, budget)?;
    let default = rule::for_objective(facts, budget.epsilon(), scale, norm);
    let ridge = RIDGE.check(options.ridge.unwrap_or(default))?;
    let total = RIDGE.check(ridge + more)?;
    let tolerance = facts.default_tolerance();
    let build = |scale| perturbed(facts, total, law(budget, scale), tolerance, None);
    let scale = calibrated(facts, budget, scale, |scale| build(scale).event())?;
    let settled = Options { ridge: Some(ridge), ..*options };
    Ok(planned(facts, build(scale), penalty, settled))
}

/// The thesis's constants.
fn plan_printed(facts: &Facts, budget: &Budget, options: &Options) -> Result<Planned, LearnError> {
    let (penalty, more) = resolved(options.penalty, facts)?;
    let (epsilon, delta) = evenly_split(facts, budget);
    let smoothness = facts.shape.curvature * facts.radius.powi(2);
    let ridge = RIDGE.check(options.ridge.unwrap_or(2.0 * smoothness / epsilon))?;
    let total = RIDGE.check(ridge + more)?;
    let zeta = match facts.neighbours {
        Neighbours::AddRemove => facts.gradient_bound(),
        Neighbours::ReplaceOne => 2.0 * facts.gradient_bound(),
    };
    let scale = if budget.is_pure() {
        2.0 * zeta / epsilon
    } else {
        zeta * (8.0 * (2.0 / delta).ln() + 4.0 * epsilon).sqrt() / epsilon
    };
    let tolerance = facts.default_tolerance();
    let settled = Options { ridge: Some(ridge), ..*options };
    let perturbed = perturbed(facts, total, law(budget, scale), tolerance, None);
    Ok(planned(facts, perturbed, penalty, settled))
}

fn planned(
    facts: &Facts,
    perturbed: PerturbedObjective,
    penalty: Penalty,
    settled: Options,
) -> Planned {
    Planned {
        procedure: Arc::new(Minimum::new(facts, Step::Perturbed(perturbed), penalty)),
        settled: Method::Objective(settled),
        arithmetic: Arithmetic::Real,
        notes: vec![
            "the theorem speaks of the exact minimiser in real arithmetic; what is released is a \
             point whose gradient norm is proved to be at most the tolerance, rounded so that its \
             last bits do not tell of the records. Method amp has no such gap."
                .into(),
        ],
    }
}
