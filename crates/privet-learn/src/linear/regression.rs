//! Linear regression by objective perturbation in a ball (Thakurta 2013, Algorithm 4.1).
//!
//! **Theorem.** J(θ) = ½Σ(⟨xᵢ,θ⟩ − yᵢ)² + (λ/2)‖θ‖² + ⟨b,θ⟩ over ‖θ‖₂ ≤ B, ‖xᵢ‖ ≤ R, |yᵢ| ≤ 1. The minimiser
//! has the curves of [`privet_dp::account`] for objective perturbation with L = 1 + RB, c = 1 and ℓ′ of
//! any sign.
//!
//! *Proof.* In the ball every residual is at most L in size, so that J is there the objective of the
//! square made linear beyond L ([`Loss::Squared`]), which is convex and C^{1,1} with |ℓ′| ≤ L, ℓ″ ≤ 1: a
//! generalised linear model. The ball, a data-independent convex set, changes nothing: the limit theorem
//! of [`super::penalty`]. ∎
//!
//! Unlike [`super::objective`] with its loss clipped at 2, the square is not clipped; the noise covers
//! that with L = 1 + RB.
//!
//! - B `norm`: 2/R unless given: predictions in [−2, 2] for targets in [−1, 1]
//! - λ `ridge` and noise, `Sound` and `Printed`, as [`super::objective`] with that L: printed are λ = 2R²/ε
//!   and σ² = ζ²(8 ln(2/δ) + 4ε)/ε² with ζ = LR, doubled under replace-one
//! - Departs from print: there C is the box ‖θ‖∞ ≤ 1 with ‖x‖ ≤ √p and |y| ≤ p, for ζ = 2p^(3/2), which
//!   is that of the ball of radius √p around the box. Here the ball itself, of any radius.
//! - γ `gamma`, `split` and the noise on the result are those of [`super::objective`]. That noise may
//!   move weights out of the ball, by about its own size; the proof does not need them in it.
//! - Tested by `tests/all/linear.rs`.

use super::Decision;
use super::objective::{GAMMA_SETTING, SPLIT_SETTING};
use super::penalty::Regulariser;
use super::{objective, predicted};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::learners::{LearnerFacts, Method, RIDGE_SETTING, Scores};
use crate::linear::model::LinearWeights;
use crate::release::allowance::Allowance;
use crate::release::covers::MethodCoverage;
use crate::release::registry::Info;
use crate::release::request::Calibration;
use crate::release::settings::PlanNumbers;
use crate::release::settings::{SettingInfo, settings};
use crate::release::task::Procedure;
use crate::release::weight_noise::WeightNoise;
use privet_core::Range;
use privet_dp::account::Event;
use privet_dp::gate::{Noisy, Session};
use privet_optim::loss::Loss;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use std::sync::Arc;

/// The registry entry.
pub const INFO: Info<LearnerFacts> = Info {
    name: "linear",
    summary: "linear regression: perturbs plain least squares and minimises in a ball",
    source: "Thakurta 2013, Algorithm 4.1",
    guarantee: "(ε, δ) in finite arithmetic; pure ε in real arithmetic",
    settings: Linear::SETTINGS,
    noisy: "the objective, as a linear term",
    private: true,
    covers: MethodCoverage::ALL,
    more: LearnerFacts { scores: Scores::Separate, any_storage: true },
};

/// The setting B, for both algorithms.
pub(super) const NORM_SETTING: SettingInfo = SettingInfo::number(
    REACH,
    "radius of the ball that weights are kept in; 2 / clipping radius unless given",
)
.with_name("norm")
.with_limit("over the clipping radius");

/// Limits on the product RB.
pub const REACH: Range = Range::open("norm times clipping radius", 0.0, 1e5);

/// The product B·R of the rule.
const EXPECTED_REACH: f64 = 2.0;

settings! {
    /// Settings of `linear`.
    #[derive(Copy)]
    pub struct Linear {
        norm: f64 = NORM_SETTING;
        /// λ of the sum form.
        ridge: f64 = RIDGE_SETTING;
        /// γ, the gradient norm of the mean objective.
        gamma: f64 = GAMMA_SETTING;
        /// Share of the noise budget for the output noise.
        split: f64 = SPLIT_SETTING;
    }
}

/// The radius B, checked; refuses other losses than the squared one.
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
    // The factor covers the rounding of these few operations.
    let slope = (1.0 + facts.radius * norm) * (1.0 + 16.0 * f64::EPSILON);
    let loss = Loss::Squared { clip: slope };
    let mut facts = Facts { loss, ..facts.clone() };
    facts.shape.lipschitz = slope;
    facts
}

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    calibration: Calibration,
    options: &Linear,
) -> Result<Decision, LearnError> {
    let norm = norm(facts, options.norm)?;
    let facts = in_ball(facts, norm);
    let penalty = Some(Regulariser::Ball(norm));
    let Linear { ridge, gamma, split, .. } = *options;
    let asked = objective::Objective { ridge, gamma, split, penalty };
    let Decision { procedure, arithmetic, notes, settled } =
        objective::plan(&facts, budget, calibration, &asked)?;
    let settled = match settled {
        Method::Objective(objective::Objective { ridge, gamma, split, .. }) => {
            Linear { norm: Some(norm), ridge, gamma, split }
        }
        _ => Linear { norm: Some(norm), ..*options },
    };
    Ok(Decision {
        procedure: Arc::new(InBall { facts, norm, procedure }),
        settled: Method::Linear(settled),
        arithmetic,
        notes,
    })
}

/// Objective perturbation with the facts of the square in the ball.
#[derive(Debug, Clone)]
pub(super) struct InBall {
    /// The facts by [`in_ball`].
    pub facts: Facts,
    /// The radius B.
    pub norm: f64,
    /// The objective perturbation with these facts.
    pub procedure: Arc<dyn Procedure<super::Erm>>,
}

impl Procedure<super::Erm> for InBall {
    fn event(&self) -> Result<Event, LearnError> {
        self.procedure.event()
    }

    fn refuses(&self, found: &LinearWeights) -> Option<&'static str> {
        self.procedure.refuses(found)
    }

    fn settings(&self) -> PlanNumbers {
        self.procedure.settings().and("norm", Some(self.norm))
    }

    fn predicted_excess(&self, _facts: &Facts) -> Option<f64> {
        let settings = self.procedure.settings();
        let (noise, ridge) = (settings.get("objective_noise")?, settings.get("ridge")?);
        Some(predicted::perturbed_excess(&self.facts, noise, ridge))
    }

    fn weight_laws(&self, _facts: &Facts, found: &LinearWeights) -> Option<WeightNoise> {
        self.procedure.weight_laws(&self.facts, found)
    }

    fn check(&self, _facts: &Facts) -> Result<(), LearnError> {
        self.procedure.check(&self.facts)
    }

    fn run(
        &self,
        _facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<LinearWeights>, LearnError> {
        self.procedure.run(&self.facts, table, session, monitor)
    }
}
