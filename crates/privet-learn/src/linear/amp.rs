//! Approximate Minima Perturbation: objective perturbation that any optimiser may solve.
//!
//! **Theorem** ([`privet_dp::account`], approximate minima). J as in [`super::objective`]; θ̃ any
//! point with ‖∇J(θ̃)‖₂ ≤ γ; release θ̃ + N(0, τ²I). With μ the noise multiplier of the objective
//! and ν = Δ_out/τ, Δ_out = 2(γ + η)/λ + rounding ([`privet_dp::mechanism::PerturbedObjective`]),
//! the release composes the objective's curve with a Gaussian mechanism of multiplier ν: in the
//! Gaussian regime it is √(μ² + ν²)-GDP, elsewhere the curves of that module apply. No part of the
//! budget is split off; ν only adds to μ.
//!
//! The hyper-parameter-free choice here, all from public facts:
//! - γ = 1/n² for the mean objective (1/n for the sum), as in the paper; beyond 2²⁰ rows, where `f64`
//!   cannot prove that, the larger one of `large_tolerance`, declared and charged like any other;
//! - ν² is 1 % (`split`) of μ² + ν², which costs 0.5 % of σ (the paper gives ε₂ = ε/100);
//! - λ by the rule in [`super::ridge`]; σ by calibration.
//!
//! With a penalty or set on top of the ridge ∇J does not vanish at the minimum; the theorem needs only
//! ‖θ̃ − θ*‖ ≤ γ/λ, which a subgradient of norm at most γ proves ([`super::penalty`]).
//!
//! δ = 0: b and the output noise are ℓ2-Laplace, ε = ε(objective) + Δ_out/s₂ with s₂ = Δ_out/(split·ε).
//!
//! **Departures from print** (Iyengar et al. 2019, Algorithm 1; errata PRIV-2, PRIV-3, PRIV-5 in
//! `docs/errata.md`). `Printed` keeps r = 2, β = Δ², Λ = rβ/(ε₁ − ε₃), σ₁ and σ₂ as they stand (in
//! the mean form: the sum form multiplies σ₁ and γ by n) and the fitted ε₃ rule; its certificate
//! claims what the accountant proves for that noise.

use super::Decision;
use super::curvature::{CurvatureEstimate, INTERVALS_SETTING, Intervals};
use super::minimum::{Minimum, Step};
use super::objective::{expected_noise, law, perturbed_objective, with_shared_noise};
use super::penalty::{PENALTY_SETTING, Regulariser, resolve_setting};
use super::{calibrated, evenly_split, ridge as rule};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::learners::{LearnerFacts, Method, RIDGE_SETTING, Scores};
use crate::release::allowance::Allowance;
use crate::release::covers::MethodCoverage;
use crate::release::note::{Condition, Note};
use crate::release::registry::Info;
use crate::release::request::{Calibration, GAMMA, RIDGE, SPLIT};
use crate::release::settings::settings;
use privet_core::Range;
use privet_dp::account::{self, Event};
use privet_dp::gate::Arithmetic;
use privet_dp::mechanism::{OutputLaw, PerturbedObjective};
use privet_optim::solver::Penalty;
use std::sync::Arc;

/// The registry entry.
pub const INFO: Info<LearnerFacts> = Info {
    name: "amp",
    summary: "perturbs the objective, minimises it to a proved tolerance, adds a little noise to \
              the result; needs no tuning",
    source: "Iyengar et al. 2019, Algorithm 1; constants re-derived",
    guarantee: "(ε, δ) in finite arithmetic; pure ε in real arithmetic",
    settings: Amp::SETTINGS,
    noisy: "the objective, and the weights of its minimiser",
    private: true,
    covers: MethodCoverage::ALL,
    more: LearnerFacts { scores: Scores::Separate, any_storage: true },
};

settings! {
    /// Settings of `amp`.
    #[derive(Copy)]
    pub struct Amp {
        /// λ of the sum form.
        ridge: f64 = RIDGE_SETTING;
        gamma: f64 [GAMMA]
            "gradient norm of the mean objective at which to stop; unless given 1/N², and more from a \
             million rows on";
        split: f64 [SPLIT] "share of the noise budget for the output noise; 0.01 unless given";
        fraction: f64 [FRACTION]
            "of what is left of ε, the share f₁ for the noise; the rest pays for the ridge, λ = \
             2β/((1 − f₁)(1 − split)ε); sets the ridge unless that is given";
        /// A penalty or set on top of the ridge ([`super::penalty`]).
        penalty: Regulariser = PENALTY_SETTING;
        /// The source of intervals of the weights: bounds unless given.
        intervals: Intervals = INTERVALS_SETTING;
    }
}

/// Limits on the fraction f₁.
const FRACTION: Range = Range::open("fraction", 0.0, 1.0);
/// Bound on the output noise, as a fraction of the sampling error.
const HARMLESS_NOISE: f64 = 0.25;
/// Default share of the noise budget for the output noise.
pub const DEFAULT_SPLIT: f64 = 0.01;

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    calibration: Calibration,
    options: &Amp,
) -> Result<Decision, LearnError> {
    match calibration {
        Calibration::Sound => plan_sound(facts, budget, options),
        Calibration::Printed => plan_printed(facts, budget, options),
    }
}

/// Plans with proved constants.
fn plan_sound(
    facts: &Facts,
    budget: &Allowance<'_>,
    options: &Amp,
) -> Result<Decision, LearnError> {
    let Amp { ridge, gamma, split, .. } = *options;
    let (penalty, more) = resolve_setting(options.penalty, facts)?;
    let (scale, norm) = expected_noise(facts, budget)?;
    let split = SPLIT.check(split.unwrap_or(DEFAULT_SPLIT))?;
    let default = match checked_fraction(options)? {
        Some(fraction) => {
            let epsilon = (1.0 - split) * budget.epsilon() / f64::from(facts.problems);
            2.0 * facts.loss.smoothness(facts.radius) / ((1.0 - fraction) * epsilon)
        }
        None => rule::for_objective(facts, budget.epsilon(), scale, norm),
    };
    let ridge = RIDGE.check(ridge.unwrap_or(default))?;
    let total = RIDGE.check(ridge + more)?;
    let tolerance = match gamma {
        Some(_) => sum_tolerance(facts, gamma)?,
        None => facts.default_tolerance().max(large_tolerance(facts, budget, total, split)),
    };
    let bought = purchase(facts, budget, options)?;
    let build = |scale| with_shared_noise(facts, budget, total, tolerance, split, scale);
    let scale = calibrated(facts, budget, scale, |scale| {
        let own = build(scale).event()?;
        Ok(match &bought {
            Some(bought) => Event::All(vec![own, bought.event()?]),
            None => own,
        })
    })?;
    let settled = settled_options(facts, options, ridge, tolerance, split);
    Ok(plan_minimum(facts, budget, (build(scale), bought), penalty, settled, vec![]))
}

/// The estimate of the curvature, if it is requested.
fn purchase(
    facts: &Facts,
    budget: &Allowance<'_>,
    options: &Amp,
) -> Result<Option<CurvatureEstimate>, LearnError> {
    match (options.intervals, options.penalty) {
        (Some(Intervals::Bought), Some(_)) => Err(LearnError::NotCovered {
            what: "intervals = bought: with a penalty the minimiser does not follow the curvature"
                .into(),
            instead: "leave out the penalty, or the intervals",
        }),
        (Some(Intervals::Bought), None) => {
            let slope = facts.shape.lipschitz;
            let asked = (budget.epsilon(), budget.delta());
            Ok(Some(CurvatureEstimate::plan_estimate(facts, asked, slope, facts.radius)?))
        }
        _ => Ok(None),
    }
}

fn checked_fraction(options: &Amp) -> Result<Option<f64>, LearnError> {
    Ok(options.fraction.map(|fraction| FRACTION.check(fraction)).transpose()?)
}

/// The tolerance γ of the sum form.
fn sum_tolerance(facts: &Facts, gamma: Option<f64>) -> Result<f64, LearnError> {
    match gamma {
        Some(gamma) => Ok(GAMMA.check(gamma)? * facts.rows as f64),
        None => Ok(facts.default_tolerance()),
    }
}

/// The tolerance γ of the sum form beyond 2²⁰ rows, where 1/n is below what `f64` can prove and every
/// last pass would have to be repeated in double-double, many times as slow; 0 up to them.
///
/// min{ LR·(n − 2²⁰)·2⁻³⁸, λντ/2 }: the first is about four times what a pass in `f64` proves, and the
/// second keeps the output noise 2γ/(λν) below τ = [`HARMLESS_NOISE`]·√p/(R√(cn)), a quarter of the sampling
/// error of a weight of evenly spread rows. Where that is below what `f64` proves, from some 10⁸ rows
/// on, passes are in double-double as before. Privacy depends on neither: any γ is part of Δ_out.
fn large_tolerance(facts: &Facts, budget: &Allowance<'_>, ridge: f64, split: f64) -> f64 {
    let proved = facts.provable_tolerance();
    if proved == 0.0 || budget.is_pure() {
        return 0.0;
    }
    let (rows, problems) = (facts.rows as f64, f64::from(facts.problems));
    let multiplier =
        (split / problems).sqrt() * account::gaussian::mu(budget.epsilon(), budget.delta());
    let curvature = facts.shape.curvature * facts.radius * facts.radius;
    let sampling = (facts.columns as f64 / (rows * curvature)).sqrt();
    let harmless = 0.5 * ridge * multiplier * HARMLESS_NOISE * sampling;
    // Asks "smaller?", so that NaN gives the proved one.
    if harmless < proved { harmless } else { proved }
}

/// The paper's constants for one problem, in the paper's mean form.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrintedConstants {
    /// The fraction f₁ = ε₃/ε₁.
    pub fraction: f64,
    /// The ridge Λ.
    pub ridge: f64,
    /// The noise scale σ₁ of the objective.
    pub objective_noise: f64,
    /// The noise scale σ₂ of the output.
    pub output_noise: f64,
}

/// Algorithm 1 with the hyper-parameter-free rule of the thesis's §4.4.1.
///
/// m rows, Δ lipschitz (= clipping norm), γ gamma, f split: ε₂ = fε, δ₂ = fδ.
pub fn printed_constants(
    rows: f64,
    high_dimensional: bool,
    lipschitz: f64,
    epsilon: f64,
    delta: f64,
    gamma: f64,
    split: f64,
) -> PrintedConstants {
    let epsilon_1 = (1.0 - split) * epsilon;
    let fitted =
        if high_dimensional { 0.97 } else { (0.887 + 0.019 / epsilon_1.powf(0.373)).min(0.99) };
    let fraction = fitted.max(1.0 - 0.99 / epsilon_1);
    printed_at(fraction, rows, lipschitz, epsilon, delta, gamma, split)
}

/// The same at a given f₁.
fn printed_at(
    fraction: f64,
    rows: f64,
    lipschitz: f64,
    epsilon: f64,
    delta: f64,
    gamma: f64,
    split: f64,
) -> PrintedConstants {
    let (epsilon_1, delta_1) = ((1.0 - split) * epsilon, (1.0 - split) * delta);
    let (epsilon_2, delta_2) = (split * epsilon, split * delta);
    let epsilon_3 = fraction * epsilon_1;
    // Λ = rβ/(ε₁ − ε₃), r = 2, β = Δ²
    let ridge = 2.0 * lipschitz * lipschitz / (epsilon_1 - epsilon_3);
    let tail = |delta: f64| 1.0 + (2.0 * (1.0 / delta).ln()).sqrt();
    PrintedConstants {
        fraction,
        ridge,
        objective_noise: 2.0 * lipschitz / rows * tail(delta_1) / epsilon_3,
        output_noise: rows * gamma / ridge * tail(delta_2) / epsilon_2,
    }
}

/// Plans with the paper's constants; the certificate claims what the accountant proves.
fn plan_printed(
    facts: &Facts,
    budget: &Allowance<'_>,
    options: &Amp,
) -> Result<Decision, LearnError> {
    let Amp { ridge, gamma, split, .. } = *options;
    let (penalty, more) = resolve_setting(options.penalty, facts)?;
    if budget.is_pure() {
        return Err(LearnError::NotCovered {
            what: "the paper prints no constants for AMP with delta = 0".into(),
            instead: "give a delta above 0, or sound calibration",
        });
    }
    let rows = facts.rows as f64;
    let tolerance = sum_tolerance(facts, gamma)?;
    let split = SPLIT.check(split.unwrap_or(DEFAULT_SPLIT))?;
    let (epsilon, delta) = evenly_split(facts, budget);
    let high_dimensional = 2.0 * facts.columns as f64 >= rows;
    let (lipschitz, gamma) = (facts.gradient_bound(), tolerance / rows);
    let printed = match checked_fraction(options)? {
        Some(fraction) => printed_at(fraction, rows, lipschitz, epsilon, delta, gamma, split),
        None => printed_constants(rows, high_dimensional, lipschitz, epsilon, delta, gamma, split),
    };
    let ridge = RIDGE.check(ridge.unwrap_or(printed.ridge))?;
    // The b of the sum form is n times that of the mean form.
    let noise = law(budget, printed.objective_noise * rows);
    let output = OutputLaw::Gaussian(printed.output_noise);
    let notes = vec![PRINTED.into()];
    let perturbed =
        perturbed_objective(facts, RIDGE.check(ridge + more)?, noise, tolerance, output);
    if options.intervals == Some(Intervals::Bought) {
        return Err(LearnError::NotCovered {
            what: "intervals = bought: the papers print no constants for it".into(),
            instead: "leave out the intervals, or the calibration",
        });
    }
    let settled = settled_options(facts, options, ridge, tolerance, split);
    Ok(plan_minimum(facts, budget, (perturbed, None), penalty, settled, notes))
}

/// The options with every choice written down.
fn settled_options(facts: &Facts, options: &Amp, ridge: f64, tolerance: f64, split: f64) -> Amp {
    let gamma = tolerance / facts.rows as f64;
    Amp { ridge: Some(ridge), gamma: Some(gamma), split: Some(split), ..*options }
}

fn plan_minimum(
    facts: &Facts,
    budget: &Allowance<'_>,
    (perturbed, bought): (PerturbedObjective, Option<CurvatureEstimate>),
    penalty: Penalty,
    settled: Amp,
    mut notes: Vec<Note>,
) -> Decision {
    let arithmetic = if budget.is_pure() { Arithmetic::Real } else { Arithmetic::Finite };
    if budget.is_pure() {
        notes.push(super::CONTINUOUS_NOISE.into());
    }
    let fit = Minimum::new(facts, Step::Perturbed(perturbed), penalty);
    let procedure = Arc::new(fit.measured(bought));
    Decision { procedure, settled: Method::Amp(settled), arithmetic, notes }
}

const PRINTED: Condition = Condition::new(
    "printed-amp",
    "printed constants: see errata PRIV-2 (output noise for the norm, not the sensitivity) \
     and PRIV-5 (smoothness of the Huber loss)",
);

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, golden: f64) {
        assert!((found / golden - 1.0).abs() < 5e-6, "{found} is not {golden}");
    }

    /// Values of the digest of the thesis, §10 (m = 8000, γ = δ = 1/m²; high-dimensional m = 4000).
    #[test]
    fn printed_constants_are_the_thesis_s() {
        let golden = [
            (0.01, 0.99, 20202.0, 0.178487, 4.77678e-4),
            (0.1, 0.932018, 297.165, 0.0189591, 0.00324738),
            (1.0, 0.906071, 21.5078, 0.00195020, 0.00448677),
            (10.0, 0.9, 2.0202, 1.96336e-4, 0.00477678),
        ];
        for (epsilon, fraction, ridge, objective, output) in golden {
            let square = 8000_f64.powi(-2);
            let found = printed_constants(8000.0, false, 1.0, epsilon, square, square, 0.01);
            close(found.fraction, fraction);
            close(found.ridge, ridge);
            close(found.objective_noise, objective);
            close(found.output_noise, output);
        }
        let square = 4000_f64.powi(-2);
        let found = printed_constants(4000.0, true, 1.0, 0.1, square, square, 0.01);
        close(found.ridge, 673.401);
        close(found.objective_noise, 0.0352058);
        close(found.output_noise, 0.00278827);
        assert_eq!(printed_at(0.97, 4000.0, 1.0, 0.1, square, square, 0.01), found);
    }
}
