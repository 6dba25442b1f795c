//! Objective perturbation: add a random linear term, release the minimiser.
//!
//! **Theorem** ([`privet_dp::account`], objective perturbation). J(θ) = Σℓ(⟨xᵢ,θ⟩; yᵢ) +
//! (λ/2)‖θ‖² + ⟨b,θ⟩ with ‖xᵢ‖ ≤ R, ℓ convex, |ℓ′| ≤ L, 0 ≤ ℓ″ ≤ c, β = cR². For b ~ N(0, σ²I) the
//! exact minimiser has the privacy curve of the table there; for density ∝ exp(−‖b‖/s) it is pure
//! with ε = ln(1 + β/λ) + 2LR/s under replace-one and ln(1 + β/λ) + LR/s under add/remove.
//!
//! A solver returns a θ̃ with ‖∇J(θ̃)‖ ≤ γ, for a b that lies on a grid. No theorem about the exact
//! minimiser covers it, and released unchanged it gives the records away
//! ([`privet_dp::mechanism::PerturbedObjective`]). So a little noise is added to it, as by
//! [`super::amp`], whose theorem holds for the program as executed; that noise is kept far below the
//! effect of b:
//!
//! - γ `gamma` is σ·2⁻²⁸ in the sum form, or the least power of two times that which a solver is sure to
//!   reach (`super::tolerance`), at most the larger of σ·2⁻²⁰ and 1/n. σ here is the scale for the budget
//!   alone;
//! - ν² is a share of 10⁻³ (`split`) of μ² + ν², which costs 0.05 % of σ. The output noise is then about
//!   2⁻²² / μ of σ/λ, the scale at which b moves θ where the records say little; and for δ = 0 its ε is that
//!   share of all.
//!
//! Apart from those two numbers and its printed constants it is [`super::amp`]. For δ = 0 the noise is
//! continuous: certificates say *real arithmetic*.
//!
//! A penalty or set on top of the ridge changes nothing of this: the limit theorem of
//! [`super::penalty`].
//!
//! Weights are therefore within about τ of the minimiser of a penalised objective: an entry that is zero
//! there is small here.
//!
//! - λ `ridge` (plus the elastic net's l2), σ or s the noise scale, L, R, c from [`Facts`]; p `columns`
//! - `Printed`: Thakurta 2013, Algorithm 3.1: λ = 2β/ε, s = 2ζ/ε, σ² = ζ²(8 ln(2/δ) + 4ε)/ε², where
//!   ζ = LR for add/remove neighbours, and twice that under replace-one.

use super::Decision;
use super::minimum::{Minimum, Step};
use super::penalty::{PENALTY_SETTING, Regulariser, resolve_setting};
use super::tolerance::finest_tolerance;
use super::{calibrated, evenly_split, ridge as rule};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::learners::{LearnerFacts, Method, RIDGE_SETTING, Scores};
use crate::release::allowance::Allowance;
use crate::release::covers::MethodCoverage;
use crate::release::registry::Info;
use crate::release::request::{Calibration, GAMMA, RIDGE, SPLIT};
use crate::release::settings::{SettingInfo, settings};
use privet_dp::account::{ObjectiveCost, ObjectiveNoise, gaussian};
use privet_dp::gate::Arithmetic;
use privet_dp::mechanism::{OutputLaw, PerturbedObjective};
use privet_optim::solver::Penalty;
use std::sync::Arc;

/// The registry entry.
pub const INFO: Info<LearnerFacts> = Info {
    name: "objective",
    summary: "perturbs the objective and releases its minimiser, with next to no noise on top",
    source: "Chaudhuri et al. 2011; Kifer et al. 2012; Thakurta 2013, Algorithm 3.1",
    guarantee: "(ε, δ) in finite arithmetic; pure ε in real arithmetic",
    settings: Objective::SETTINGS,
    noisy: "the objective, as a linear term",
    private: true,
    covers: MethodCoverage::ALL,
    more: LearnerFacts { scores: Scores::Separate, any_storage: true },
};

/// The setting γ, for this method and [`super::regression`].
pub(super) const GAMMA_SETTING: SettingInfo = SettingInfo::number(
    GAMMA,
    "gradient norm of the mean objective at which to stop; what a solver can reach unless given",
);

/// The share of the output noise, for this method and [`super::regression`].
pub(super) const SPLIT_SETTING: SettingInfo = SettingInfo::number(
    SPLIT,
    "share of the noise budget for the output noise; 0.001 unless given",
);

/// Default share of the noise budget for the output noise.
pub const DEFAULT_SPLIT: f64 = 1e-3;

settings! {
    /// Settings of `objective`.
    #[derive(Copy)]
    pub struct Objective {
        /// λ of the sum form.
        ridge: f64 = RIDGE_SETTING;
        /// γ, the gradient norm of the mean objective.
        gamma: f64 = GAMMA_SETTING;
        /// Share of the noise budget for the output noise.
        split: f64 = SPLIT_SETTING;
        /// A penalty or set on top of the ridge ([`super::penalty`]).
        penalty: Regulariser = PENALTY_SETTING;
    }
}

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    calibration: Calibration,
    options: &Objective,
) -> Result<Decision, LearnError> {
    match calibration {
        Calibration::Sound => plan_sound(facts, budget, options),
        Calibration::Printed => plan_printed(facts, budget, options),
    }
}

/// The perturbed objective for given constants.
pub(super) fn perturbed_objective(
    facts: &Facts,
    ridge: f64,
    noise: ObjectiveNoise,
    tolerance: f64,
    output: OutputLaw,
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

/// The same for b of this scale, and output noise of this share.
pub(super) fn with_shared_noise(
    facts: &Facts,
    budget: &Allowance<'_>,
    ridge: f64,
    tolerance: f64,
    split: f64,
    scale: f64,
) -> PerturbedObjective {
    let error = 2.0 * tolerance / ridge;
    let output = if budget.is_pure() {
        let share = split * budget.epsilon() / f64::from(facts.problems);
        OutputLaw::L2Laplace(error / share)
    } else {
        // ν = μ·√(split/(1 − split)), μ = shift/σ
        let nu = facts.gradient_shift() / scale * (split / (1.0 - split)).sqrt();
        OutputLaw::Gaussian(error / nu)
    };
    perturbed_objective(facts, ridge, law(budget, scale), tolerance, output)
}

/// The approximate scale and norm of the noise for the budget, before regularisation is known.
pub(super) fn expected_noise(
    facts: &Facts,
    budget: &Allowance<'_>,
) -> Result<(f64, f64), LearnError> {
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

/// The distribution of b at a given scale: Gaussian, or ℓ2-Laplace for δ = 0.
pub(super) fn law(budget: &Allowance<'_>, noise_scale: f64) -> ObjectiveNoise {
    if budget.is_pure() {
        ObjectiveNoise::L2Laplace { noise_scale }
    } else {
        ObjectiveNoise::Gaussian { noise_scale, grid: None }
    }
}

/// The tolerance γ of the sum form: the one given, or the finest that is useful and sure to be reached.
fn sum_tolerance(
    facts: &Facts,
    gamma: Option<f64>,
    ridge: f64,
    noise: ObjectiveNoise,
    penalty: &Penalty,
) -> Result<f64, LearnError> {
    match gamma {
        Some(gamma) => Ok(GAMMA.check(gamma)? * facts.rows as f64),
        None => Ok(finest_tolerance(facts, ridge, noise, penalty)),
    }
}

/// Plans with proved constants.
fn plan_sound(
    facts: &Facts,
    budget: &Allowance<'_>,
    options: &Objective,
) -> Result<Decision, LearnError> {
    let (penalty, more) = resolve_setting(options.penalty, facts)?;
    let (scale, norm) = expected_noise(facts, budget)?;
    let default = rule::for_objective(facts, budget.epsilon(), scale, norm);
    let ridge = RIDGE.check(options.ridge.unwrap_or(default))?;
    let total = RIDGE.check(ridge + more)?;
    let split = SPLIT.check(options.split.unwrap_or(DEFAULT_SPLIT))?;
    let tolerance = sum_tolerance(facts, options.gamma, total, law(budget, scale), &penalty)?;
    let build = |scale| with_shared_noise(facts, budget, total, tolerance, split, scale);
    let scale = calibrated(facts, budget, scale, |scale| build(scale).event())?;
    let gamma = Some(tolerance / facts.rows as f64);
    let settled = Objective { ridge: Some(ridge), gamma, split: Some(split), ..*options };
    Ok(plan_objective(facts, budget, build(scale), penalty, settled))
}

/// Plans with the thesis's constants.
fn plan_printed(
    facts: &Facts,
    budget: &Allowance<'_>,
    options: &Objective,
) -> Result<Decision, LearnError> {
    let (penalty, more) = resolve_setting(options.penalty, facts)?;
    let (epsilon, delta) = evenly_split(facts, budget);
    let smoothness = facts.shape.curvature * facts.radius.powi(2);
    let ridge = RIDGE.check(options.ridge.unwrap_or(2.0 * smoothness / epsilon))?;
    let total = RIDGE.check(ridge + more)?;
    let zeta = facts.relation().sides() * facts.gradient_bound();
    let scale = if budget.is_pure() {
        2.0 * zeta / epsilon
    } else {
        zeta * (8.0 * (2.0 / delta).ln() + 4.0 * epsilon).sqrt() / epsilon
    };
    let split = SPLIT.check(options.split.unwrap_or(DEFAULT_SPLIT))?;
    let tolerance = sum_tolerance(facts, options.gamma, total, law(budget, scale), &penalty)?;
    let perturbed = with_shared_noise(facts, budget, total, tolerance, split, scale);
    Ok(plan_objective(facts, budget, perturbed, penalty, *options))
}

fn plan_objective(
    facts: &Facts,
    budget: &Allowance<'_>,
    perturbed: PerturbedObjective,
    penalty: Penalty,
    settled: Objective,
) -> Decision {
    let procedure = Arc::new(Minimum::new(facts, Step::Perturbed(perturbed), penalty));
    let (arithmetic, notes) = if budget.is_pure() {
        (Arithmetic::Real, vec![super::CONTINUOUS_NOISE.into()])
    } else {
        (Arithmetic::Finite, vec![])
    };
    Decision { procedure, settled: Method::Objective(settled), arithmetic, notes }
}
