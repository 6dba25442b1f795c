//! Private online convex programming: a base algorithm whose points move by λ/t, each released under
//! noise β/t.
//!
//! After Thakurta 2013, Algorithm 5.1 (Jain, Kothari & Thakurta 2012).
//!
//! **Theorem.** Let the point after t steps move by at most λ/(t + a) between neighbours, a ≥ 0,
//! whatever was released. Releasing (t + a) times each of T points plus N(0, β²I) has the curve of a
//! Gaussian mechanism of multiplier **√T·λ/β**. *Proof.* The points are functions of the records alone:
//! noise is not fed back. Each release is a Gaussian mechanism of sensitivity λ; composition of Gaussian
//! mechanisms is one of √T·λ. ∎ So β = λ√T/μ, with μ the exact Gaussian multiplier of the budget;
//! dividing by t + a and the projection are post-processing.
//!
//! **Printed.** β = λ·T^{½+c}·√((2/ε)(ln(T/δ) + √ε/T^{½+c})), T^c = √(ln(2/δ)/(2ε)), which the thesis
//! claims to be (3ε, 2δ)-DP by Azuma's inequality. Its proof loses a factor 4 in the exponent (erratum
//! C9) and its λ of the gradient step is half of the true value (C2); the noise is more than ten times
//! what exact accounting needs, and the certificate states the guarantee that it proves for the true
//! sensitivity.

use super::base::{self, Ball};
use super::gradients::StreamRecords;
use super::leader::{self, PastRecords};
use super::learners::{Learner, SecretState};
use super::stream_walk::{Rule, StreamWalk};
use super::{Horizon, NO_ADD_REMOVE, NO_USERS, ONE_TARGET, Online, Stream};
use crate::LearnError;
use crate::release::allowance::Allowance;
use crate::release::covers::{Coverage, MethodCoverage, TableAccess};
use crate::release::note::{Condition, Note};
use crate::release::request::Calibration;
use crate::release::settings::PlanNumbers;
use crate::release::task::Procedure;
use privet_dp::account::{self, Event};
use privet_dp::continual::StreamAnswer;
use privet_dp::gate::{GateError, Noisy, Private, Session};
use privet_dp::mechanism::Gaussian;
use privet_optim::loss::Loss;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use zeroize::{Zeroize, Zeroizing};

/// Base algorithm: the update rule of the points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    Implicit,
    Gradient,
    /// Minima of all costs so far.
    Leader {
        /// Number of records whose ridge is added before the first.
        ahead: u32,
        /// Number of rounds of descent for each step.
        rounds: u32,
    },
}

/// Cases that every learner over a ball covers.
pub(super) const OVER_A_BALL: MethodCoverage = MethodCoverage {
    pure: Coverage::gaussian("give a delta above 0, far below one over the horizon"),
    several: ONE_TARGET,
    needs: TableAccess::Memory,
    private_count: NO_ADD_REMOVE,
    users: NO_USERS,
    ..MethodCoverage::ALL
};

/// Note on printed constants.
const PRINTED: Condition = Condition::new(
    "printed-composition",
    "the thesis claims (3ε, 2δ) for this noise; what is claimed here is what the exact Gaussian \
                       curve proves for it",
);

/// Printed noise scale β over λ; `None` where its lemma does not apply (c ≤ 0).
pub fn printed_factor(epsilon: f64, delta: f64, steps: f64) -> Option<f64> {
    let power = (steps * (2.0 / delta).ln() / (2.0 * epsilon)).sqrt();
    let each = epsilon.sqrt() / power;
    let factor = power * (2.0 / epsilon * ((steps / delta).ln() + each)).sqrt();
    (epsilon < 0.5 * (2.0 / delta).ln()).then_some(factor)
}

/// A base algorithm whose points are released under noise.
#[derive(Debug, Clone)]
pub(super) struct Wrapped {
    pub base: Base,
    pub ball: Ball,
    pub horizon: Horizon,
    pub gaussian: Gaussian,
    /// First step that moves the point.
    pub first: f64,
}

impl Wrapped {
    /// Returns the learner with the noise that its budget needs, and the notes for its certificate.
    pub fn plan_noise(
        base: Base,
        ball: Ball,
        horizon: &Horizon,
        allowance: &Allowance<'_>,
        calibration: Calibration,
    ) -> Result<(Self, Vec<Note>), LearnError> {
        let facts = &horizon.facts;
        if horizon.batch != 1 {
            return Err(LearnError::NotCovered {
                what: "points are moved by one record a step".into(),
                instead: "leave out the batch, or give method ftrl",
            });
        }
        let curvature = facts.loss.curvature();
        let slack =
            |curvature| base::slack(&ball, curvature, facts.radius, facts.columns, horizon.steps);
        let moved = facts.relation().records() * horizon.gradient() / ball.ridge;
        let (moved, rounding) = match base {
            // The error of an implicit step does not depend on the curvature of the loss.
            Base::Implicit => (moved, slack(0.0)),
            Base::Gradient => (2.0 * moved, slack(curvature)),
            Base::Leader { .. } => {
                (moved, 2.0 * leader::RELATIVE_ERROR * horizon.gradient() / ball.ridge)
            }
        };
        if !(moved.is_finite() && rounding <= 0.5 * moved) {
            return Err(LearnError::NotCovered {
                what: format!("the rounding of {} steps cannot be bounded", horizon.steps),
                instead: "give a shorter horizon, a larger ridge, or method ftrl",
            });
        }
        let gaussian = |noise_scale| Gaussian {
            neighbours: facts.neighbours,
            unit: facts.unit,
            sensitivity: (moved + rounding) * (1.0 + 16.0 * f64::EPSILON),
            noise_scale,
            coordinates: facts.columns,
        };
        let repeated = |scale: f64| {
            let event = Box::new(gaussian(scale).event()?);
            Ok::<_, GateError>(Event::Repeat { count: horizon.steps, event })
        };
        let (epsilon, delta) = (allowance.epsilon(), allowance.delta());
        let (scale, notes) = match calibration {
            Calibration::Sound => {
                let floor =
                    moved * f64::from(horizon.steps).sqrt() / account::gaussian::mu(epsilon, delta);
                (allowance.least_scale(floor, repeated)?, vec![])
            }
            Calibration::Printed => {
                let factor = printed_factor(epsilon, delta, f64::from(horizon.steps));
                let factor = factor.ok_or_else(|| LearnError::NotCovered {
                    what: "the printed noise is for an epsilon below ½·ln(2/delta)".into(),
                    instead: "give a smaller epsilon, or leave out the calibration",
                })?;
                // 2L/Ψ and 2G/Ψ: both include the gradient of the ridge.
                let largest = horizon.gradient() + ball.ridge * ball.radius;
                (factor * 2.0 * largest / ball.ridge, vec![PRINTED.into()])
            }
        };
        let first = match base {
            Base::Implicit | Base::Leader { .. } => 1.0,
            Base::Gradient => base::first_gradient(&ball, curvature, facts.radius),
        };
        let horizon = horizon.clone();
        Ok((Self { base, ball, horizon, gaussian: gaussian(scale), first }, notes))
    }

    fn ahead(&self) -> u32 {
        match self.base {
            Base::Implicit => 1,
            Base::Gradient => 0,
            Base::Leader { ahead, .. } => ahead,
        }
    }

    fn start(&self, live: bool) -> StreamWalk {
        let rule = Rule::Points { radius: self.ball.radius, ahead: self.ahead() };
        let steps = self.horizon.steps;
        let keep = super::kept_steps(self.horizon.kept, steps);
        StreamWalk { live, ..StreamWalk::new(rule, steps, self.horizon.facts.columns, keep) }
    }

    fn begin(&self) -> Points {
        let theta = Zeroizing::new(vec![0.0; self.horizon.facts.columns]);
        let (own, loss) = (self.clone(), self.horizon.facts.loss);
        Points { own, loss, theta, past: PastRecords::default(), taken: 0 }
    }
}

/// Secret state: the point without noise.
struct Points {
    own: Wrapped,
    loss: Loss,
    theta: Zeroizing<Vec<f64>>,
    /// All records so far, for the leader alone.
    past: PastRecords,
    taken: u32,
}

impl SecretState for Points {
    fn step(
        &mut self,
        slots: &StreamRecords<'_>,
        rows: std::ops::Range<usize>,
        _theta: &[f64],
        session: &mut Session<'_>,
    ) -> Result<Noisy<StreamAnswer>, LearnError> {
        self.taken += 1;
        let t = f64::from(self.taken);
        let (ball, ridge) = (self.own.ball, self.own.ball.ridge);
        let mut entries = Vec::new();
        let label = match rows.clone().next() {
            Some(row) => {
                slots.each(row, |column, x| entries.push((column, x)));
                slots.label(row)
            }
            None => 0.0,
        };
        // The null record has no entries, so that its derivative has no effect.
        let slope = |u: f64| self.loss.derivative(u, label);
        match self.own.base {
            Base::Implicit => {
                base::implicit(&ball, &mut self.theta, &entries, 1.0 / (ridge * t), slope);
            }
            Base::Gradient if t >= self.own.first => {
                base::gradient(&ball, &mut self.theta, &entries, 2.0 / (ridge * t), slope);
            }
            Base::Gradient => {}
            Base::Leader { ahead, rounds } => {
                self.past.push(&entries, label);
                let facts = &self.own.horizon.facts;
                let shape = (facts.loss.curvature(), facts.radius);
                let loss = self.loss;
                let slope = |u: f64, label: f64| loss.derivative(u, label);
                self.past.follow((&ball, ahead), shape, rounds, &mut self.theta, slope);
            }
        }
        entries.iter_mut().for_each(|entry| entry.zeroize());
        let by = t + f64::from(self.own.ahead());
        let scaled = Private::new(self.theta.iter().map(|theta| theta * by).collect::<Vec<f64>>());
        Ok(self.own.gaussian.run(scaled, session)?.map(StreamAnswer::Row))
    }
}

impl Procedure<Online> for Wrapped {
    fn event(&self) -> Result<Event, LearnError> {
        let event = Box::new(self.gaussian.event()?);
        Ok(Event::Repeat { count: self.horizon.steps, event })
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("steps", f64::from(self.horizon.steps)),
            ("ridge", self.ball.ridge),
            ("ball", self.ball.radius),
            ("first_noise", self.gaussian.noise_scale / f64::from(1 + self.ahead())),
            (
                "last_noise",
                self.gaussian.noise_scale / f64::from(self.horizon.steps + self.ahead()),
            ),
        ])
    }

    fn walk(&self) -> Option<serde_json::Value> {
        serde_json::to_value(self.start(false)).ok()
    }

    fn refuses(&self, found: &Stream) -> Option<&'static str> {
        let outside = |weights: &Vec<f64>| {
            let norm = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
            norm > self.ball.radius * (1.0 + 1e-9)
        };
        found.values.iter().any(outside).then_some("a model lies outside the ball")
    }

    fn run(
        &self,
        horizon: &Horizon,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<Stream>, LearnError> {
        let mut hidden = self.begin();
        super::learners::over_table(horizon, table, session, monitor, &mut hidden)
    }
}

impl Learner for Wrapped {
    fn live(&self) -> Result<(serde_json::Value, Box<dyn SecretState>), LearnError> {
        let start = serde_json::to_value(self.start(true)).map_err(|_| GateError::Malformed)?;
        Ok((start, Box::new(self.begin())))
    }
}

/// Radius D and ridge Ψ, given or by default: over a ball of radius D the ridge costs ΨD²/2 a record,
/// the noise SR·2SR/(Ψ√T·μ); both are least together at Ψ = 2SR/(D·(√T·μ)^½).
pub(super) fn ball(
    horizon: &Horizon,
    allowance: &Allowance<'_>,
    ridge: Option<f64>,
    radius: Option<f64>,
) -> Result<Ball, LearnError> {
    let radius = super::implicit::BALL.check(radius.unwrap_or(4.0 / horizon.facts.radius))?;
    let mu = account::gaussian::mu(allowance.epsilon(), allowance.delta());
    let steps = f64::from(horizon.steps);
    let rule = 2.0 * horizon.gradient() / (radius * (steps.sqrt() * mu).sqrt());
    let ridge = super::implicit::RIDGE.check(ridge.unwrap_or(rule))?;
    Ok(Ball { radius, ridge, slope: horizon.slope })
}
