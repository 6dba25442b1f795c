//! Linear regression by objective perturbation in a ball (Thakurta 2013, Algorithm 4.1).
//!
//! **Theorem.** J(θ) = ½Σ(⟨xᵢ,θ⟩ − yᵢ)² + (λ/2)‖θ‖² + ⟨b,θ⟩ over ‖θ‖₂ ≤ B, ‖xᵢ‖ ≤ R, |yᵢ| ≤ 1. The minimiser
//! has the curves of [`privet_dp::account`] for objective perturbation with L = 1 + RB, c = 1 and ℓ′ of
//! any sign.
//!
//! *Proof.* In the ball every residual is at most L in size, so that J is there the objective of the
//! square made linear beyond L ([`Loss::Squared`]), which is convex and C^{1,1} with |ℓ′| ≤ L, ℓ″ ≤ 1: a
//! generalised linear model. The ball, a data-independent convex set, is the limit of smooth convex
//! penalties, each of which only adds to the Hessian that both determinants share (Thakurta 2013,
//! Theorem 3.2, the limit theorem). ∎
//!
//! Unlike [`super::objective`] with its loss clipped at 2, the square is a plain one; the noise pays for
//! that with L = 1 + RB.
//!
//! - B `norm`: 2/R unless given: predictions in [−2, 2] for targets in [−1, 1]
//! - λ `ridge`, σ or s the noise scale; `Printed`: λ = 2R²/ε, σ² = ζ²(8 ln(2/δ) + 4ε)/ε² with ζ = LR, doubled
//!   under replace-one
//! - Departs from print: there C is the box ‖θ‖∞ ≤ 1 with ‖x‖ ≤ √p and |y| ≤ p, for ζ = 2p^(3/2), which is
//!   that of the ball of radius √p around the box. Here the ball itself, of a radius of its own.
//! - What is released has a proved distance from the exact minimiser, which no theorem covers: real
//!   arithmetic, as for [`super::objective`].
//! - Tested by `tests/linear.rs`.

use super::minimum::Ask;
use super::objective::{expected_noise, law, perturbed};
use super::reach::{self, SOLVER_SHARE};
use super::{calibrated, evenly_split, predicted, ridge as rule};
use crate::facts::Facts;
use crate::learner::{Planned, Procedure, Settings};
use crate::method::{Method, MethodInfo, RIDGE_SETTING, Scores, SettingInfo};
use crate::request::{Calibration, RIDGE};
use crate::{LearnError, admit};
use privet_core::{Budget, Neighbours, Range};
use privet_data::Dataset;
use privet_dp::account::{Cost, Event, ObjectiveNoise};
use privet_dp::gate::{Arithmetic, GateError, Noised, Odometer, Private};
use privet_dp::mechanism::{Distance, PerturbedObjective};
use privet_optim::loss::Loss;
use privet_optim::solver::{Monitor, Options as Solver, Penalty, Problem, SolveError, minimise};
use privet_optim::sum::InMemory;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A line about it.
pub const INFO: MethodInfo = MethodInfo {
    name: "linear",
    summary: "linear regression: perturbs plain least squares and minimises in a ball",
    source: "Thakurta 2013, Algorithm 4.1",
    guarantee: "(ε, δ) and pure ε in real arithmetic, for the exact minimiser",
    settings: &[NORM_SETTING, RIDGE_SETTING],
    scores: Scores::Separate,
};

/// B, for both algorithms.
pub(super) const NORM_SETTING: SettingInfo = SettingInfo {
    name: "norm",
    meaning: "radius of the ball that weights are kept in; 2 / clipping radius unless given",
    accepted: "a number above 0, at most 99999 / clipping radius",
};

/// Limits on RB.
pub const REACH: Range = Range::open("norm times clipping radius", 0.0, 1e5);

/// B·R of the rule.
const EXPECTED_REACH: f64 = 2.0;

/// Its settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub norm: Option<f64>,
    /// λ of the sum form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ridge: Option<f64>,
}

/// B, checked; refuses what is not least squares.
pub(super) fn norm(facts: &Facts, norm: Option<f64>) -> Result<f64, LearnError> {
    if !matches!(facts.loss, Loss::Squared { .. }) {
        return Err(LearnError::NotCovered {
            what: format!("linear regression is least squares, not loss {}", facts.loss.name()),
            instead: "give loss squared (classes are fitted as -1 and 1), or another method",
        });
    }
    let norm = norm.unwrap_or(EXPECTED_REACH / facts.radius);
    REACH.check(norm * facts.radius)?;
    Ok(norm)
}

/// The facts of the square in the ball.
pub fn in_ball(facts: &Facts, norm: f64) -> Facts {
    // Pays for the rounding of these few operations.
    let slope = (1.0 + facts.radius * norm) * (1.0 + 16.0 * f64::EPSILON);
    let loss = Loss::Squared { clip: slope };
    let mut facts = Facts { loss, ..facts.clone() };
    facts.shape.lipschitz = slope;
    facts
}

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Budget,
    calibration: Calibration,
    options: &Options,
) -> Result<Planned, LearnError> {
    let norm = norm(facts, options.norm)?;
    let facts = &in_ball(facts, norm);
    let tolerance = facts.default_tolerance();
    let (ridge, scale) = match calibration {
        Calibration::Sound => {
            let (scale, spread) = expected_noise(facts, budget)?;
            let default = rule::for_objective(facts, budget.epsilon(), scale, spread);
            let ridge = RIDGE.check(options.ridge.unwrap_or(default))?;
            let build = |scale| perturbed(facts, ridge, law(budget, scale), tolerance, None);
            (ridge, calibrated(facts, budget, scale, |scale| build(scale).event())?)
        }
        Calibration::Printed => {
            let (epsilon, delta) = evenly_split(facts, budget);
            let default = 2.0 * facts.radius.powi(2) / epsilon;
            let zeta = match facts.neighbours {
                Neighbours::AddRemove => facts.gradient_bound(),
                Neighbours::ReplaceOne => 2.0 * facts.gradient_bound(),
            };
            let scale = if budget.is_pure() {
                2.0 * zeta / epsilon
            } else {
                zeta * (8.0 * (2.0 / delta).ln() + 4.0 * epsilon).sqrt() / epsilon
            };
            (RIDGE.check(options.ridge.unwrap_or(default))?, scale)
        }
    };
    let perturbed = perturbed(facts, ridge, law(budget, scale), tolerance, None);
    Ok(Planned {
        procedure: Arc::new(InBall { facts: facts.clone(), norm, perturbed }),
        settled: Method::Linear(Options { norm: Some(norm), ridge: Some(ridge) }),
        arithmetic: Arithmetic::Real,
        notes: vec![EXACT_MINIMISER.into()],
    })
}

/// The note of whoever releases a minimiser as it is.
const EXACT_MINIMISER: &str = "the theorem speaks of the exact minimiser in real arithmetic; what is \
     released is a point whose distance from it is proved to be small";

/// A perturbed objective for each problem, minimised in a ball.
#[derive(Debug, Clone)]
struct InBall {
    facts: Facts,
    norm: f64,
    perturbed: PerturbedObjective,
}

impl InBall {
    fn noise(&self) -> f64 {
        match self.perturbed.objective.noise {
            ObjectiveNoise::Gaussian { noise_scale, .. }
            | ObjectiveNoise::L2Laplace { noise_scale } => noise_scale,
        }
    }

    /// One problem through its mechanism.
    fn solve(
        &self,
        data: &Dataset,
        problem: u32,
        odometer: &mut Odometer<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noised<Vec<f64>>, LearnError> {
        let labels = admit::labels(&self.facts, data, problem)?;
        let records = InMemory::new(&data.features, &labels).map_err(|_| {
            LearnError::DataShape("a feature or target is not a number in its range")
        })?;
        let (noise, token) = self.perturbed.clone().draw(odometer)?;
        let penalty = Penalty::Ball { radius: self.norm };
        let problem = Problem {
            records: &records,
            loss: self.facts.loss,
            ridge: self.perturbed.objective.ridge,
            linear: Some(noise.as_slice()),
            penalty: &penalty,
        };
        let options = Solver { monitor: Some(monitor), ..Solver::default() };
        let solved = minimise(&problem, self.perturbed.tolerance * SOLVER_SHARE, &options);
        // Anything else would say something of records or noise.
        let solved = solved.map_err(|error| match error {
            SolveError::Stopped => LearnError::Solve(error),
            _ => GateError::NotCertified.into(),
        })?;
        let distance = Distance(solved.distance_bound());
        Ok(token.release(Private::new(solved.into_theta()), distance, odometer)?)
    }
}

impl Procedure for InBall {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.facts.repeated(self.perturbed.event()?))
    }

    fn with_noise_of(&self, stated: &Event) -> Option<Arc<dyn Procedure>> {
        let Cost::Objective(objective) = stated.single_cost()? else { return None };
        let mut other = self.clone();
        other.perturbed.objective.noise = objective.noise;
        self.perturbed.same_law(objective.noise).then(|| Arc::new(other) as Arc<dyn Procedure>)
    }

    fn settings(&self) -> Settings {
        Settings::of([
            ("ridge", self.perturbed.objective.ridge),
            ("norm", self.norm),
            ("objective_noise", self.noise()),
        ])
    }

    fn predicted_excess(&self, _facts: &Facts) -> Option<f64> {
        let columns = self.facts.columns as f64;
        let noise = match self.perturbed.objective.noise {
            ObjectiveNoise::Gaussian { noise_scale, .. } => noise_scale,
            ObjectiveNoise::L2Laplace { noise_scale } => noise_scale * columns.sqrt(),
        };
        Some(predicted::perturbed(&self.facts, noise, self.perturbed.objective.ridge))
    }

    fn check(&self, _facts: &Facts) -> Result<(), LearnError> {
        let columns = self.facts.columns as f64;
        let linear_norm = match self.perturbed.objective.noise {
            ObjectiveNoise::Gaussian { noise_scale, .. } => noise_scale * (columns.sqrt() + 40.0),
            ObjectiveNoise::L2Laplace { noise_scale } => noise_scale * (2.0 * columns + 1000.0),
        };
        let (ridge, tolerance) = (self.perturbed.objective.ridge, self.perturbed.tolerance);
        reach::check(&self.facts, Ask { ridge, tolerance, linear_norm })
    }

    fn run(
        &self,
        _facts: &Facts,
        data: &Dataset,
        odometer: &mut Odometer<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noised<Vec<Vec<f64>>>, LearnError> {
        let parts = (0..self.facts.problems)
            .map(|problem| self.solve(data, problem, odometer, monitor))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(odometer.gather(parts)?)
    }
}
