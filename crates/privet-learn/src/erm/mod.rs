//! Private empirical risk minimisation with linear models.
//!
//! | file | learner |
//! |---|---|
//! | [`gd`] | noisy gradient descent, `--method gd` |
//! | [`amp`] | Approximate Minima Perturbation, `--method amp` |
//! | [`objective`] | objective perturbation, `--method objective` |
//! | [`output`] | output perturbation, `--method output` |
//! | [`ridge`] | how much to regularise, from public facts |
//!
//! All of them minimise, for each linear problem,
//! F(θ) = Σℓ(⟨xᵢ,θ⟩; yᵢ) + (λ/2)‖θ‖² (+ ⟨b,θ⟩), in the sum form, the intercept being an ordinary
//! coordinate. Two classes are one problem with labels ∓1; K > 2 classes are K problems, one class
//! against the rest, and a record touches all of them, so the accountant composes K events. [`gd`] fits
//! all classes in one descent.

pub mod amp;
pub mod gd;
pub mod objective;
pub mod output;
mod reach;
pub mod ridge;
mod run;

pub(crate) use reach::check as check_reach;
pub(crate) use run::run;

use crate::LearnError;
use crate::plan::{Facts, Settings, Step};
use crate::request::{Calibration, Method, RIDGE, Request};
use privet_core::Budget;
use privet_dp::account::{self, Event, ObjectiveNoise};
use privet_dp::gate::{Arithmetic, GateError};
use privet_dp::mechanism::OutputLaw;

/// What a learner decides for each problem.
pub(crate) struct Planned {
    pub step: Step,
    pub arithmetic: Arithmetic,
    pub notes: Vec<String>,
}

/// Hands the request to its learner.
pub(crate) fn plan(
    facts: &Facts,
    budget: Option<&Budget>,
    request: &Request,
) -> Result<Planned, LearnError> {
    let printed = request.calibration == Calibration::Printed;
    let Some(budget) = budget else {
        let Method::NonPrivate { ridge } = request.method else {
            return Err(LearnError::NoBudget { method: request.method.name() });
        };
        let ridge = RIDGE.check(ridge.unwrap_or(1.0))?;
        return Ok(Planned {
            step: Step::NonPrivate { ridge, tolerance: facts.default_tolerance() },
            arithmetic: Arithmetic::Real,
            notes: vec!["no noise: the model may reveal its training records".into()],
        });
    };
    match request.method {
        Method::Amp { ridge, gamma, split } if printed => {
            amp::plan_printed(facts, budget, ridge, gamma, split)
        }
        Method::Amp { ridge, gamma, split } => amp::plan_sound(facts, budget, ridge, gamma, split),
        Method::Objective { ridge } if printed => objective::plan_printed(facts, budget, ridge),
        Method::Objective { ridge } => objective::plan_sound(facts, budget, ridge),
        Method::Output { ridge } if printed => output::plan_printed(facts, budget, ridge),
        Method::Output { ridge } => output::plan_sound(facts, budget, ridge),
        Method::Gd { .. } if printed => Err(LearnError::NotCovered {
            what: "no paper prints constants for method gd".into(),
            instead: "leave out the calibration, or give sound",
        }),
        Method::Gd { steps, ridge } => gd::plan_sound(facts, budget, steps, ridge),
        Method::NonPrivate { .. } => {
            Err(LearnError::NotASetting { setting: "epsilon", method: request.method.name() })
        }
    }
}

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
    Ok(account::calibrate(budget, search, |scale| facts.repeated(event(scale)))?)
}

/// How far above the floor noise scales are looked for, as a factor.
const SEARCH: f64 = 1e4;

/// The papers split a budget evenly between the problems.
pub(crate) fn evenly_split(facts: &Facts, budget: &Budget) -> (f64, f64) {
    let share = f64::from(facts.problems);
    (budget.epsilon() / share, budget.delta() / share)
}

/// The numbers a person wants to see.
pub(crate) fn settings(step: &Step, rows: u64) -> Settings {
    let gamma = |tolerance: f64| Some(tolerance / rows as f64);
    match step {
        Step::OutputGaussian { ridge, tolerance, mechanism } => Settings {
            ridge: *ridge,
            gamma: gamma(*tolerance),
            objective_noise: None,
            output_noise: Some(mechanism.noise_scale),
            gradient_noise: None,
            steps: None,
        },
        Step::OutputLaplace { ridge, tolerance, mechanism } => Settings {
            ridge: *ridge,
            gamma: gamma(*tolerance),
            objective_noise: None,
            output_noise: Some(mechanism.noise_scale),
            gradient_noise: None,
            steps: None,
        },
        Step::Perturbed(perturbed) => Settings {
            ridge: perturbed.objective.ridge,
            gamma: gamma(perturbed.tolerance),
            objective_noise: Some(match perturbed.objective.noise {
                ObjectiveNoise::Gaussian { noise_scale, .. }
                | ObjectiveNoise::L2Laplace { noise_scale } => noise_scale,
            }),
            output_noise: perturbed.output.map(|law| match law {
                OutputLaw::Gaussian(scale) | OutputLaw::L2Laplace(scale) => scale,
            }),
            gradient_noise: None,
            steps: None,
        },
        Step::NonPrivate { ridge, tolerance } => Settings {
            ridge: *ridge,
            gamma: gamma(*tolerance),
            objective_noise: None,
            output_noise: None,
            gradient_noise: None,
            steps: None,
        },
        Step::Descent(descent) => Settings {
            ridge: descent.schedule.ridge,
            gamma: None,
            objective_noise: None,
            output_noise: None,
            gradient_noise: Some(descent.gaussian.noise_scale),
            steps: Some(descent.steps),
        },
    }
}

/// The note of every learner that draws continuous noise.
pub(crate) const CONTINUOUS_NOISE: &str = "the noise is continuous and drawn in floating point: \
     the guarantee is proved in real arithmetic";
