//! Follow the regularised leader of noisy gradients (DP-FTRL), under correlated noise: the default.
//!
//! After Kairouz, McMahan, Song, Thakkar, Thakurta & Xu 2021, with the factorisations of Denisov et al.
//! 2022 and Dvijotham et al. 2024 ([`privet_dp::continual`]).
//!
//! **Algorithm.** θₜ₊₁ = −ŝₜ/(1/η + Ψt), ŝₜ the running sum of gradients ∇ℓ(θₛ) under correlated noise,
//! each taken at the model that was released when its record came.
//!
//! **Theorem.** A record's gradient has norm at most SR at every θ (derivatives are clipped to S,
//! entries truncated towards 0), so that one changed slot moves one step's sum by at most 2SR, and by SR
//! if it is emptied. All T steps cost one Gaussian mechanism ([`privet_dp::mechanism::Continual`]) of
//! β = 2SR and one step for each unit. Besides their own records, gradients depend on released models
//! alone, which its theorem allows. Everything else is post-processing. ∎
//!
//! **Regret.** Let e be the error of the factor, σ the scale of the noise. For convex costs and a
//! comparator of norm D: D²/(2η) + ηT·(BS²R²/2 + SR·σe) in expectation, B records a step and T of them
//! in all, since a model that is off by ηn costs a record S|⟨x, ηn⟩| ≤ SR·η·σe on average, whatever p
//! is: the noise is independent of a record that has not been learnt from. η = D/√(T(BS²R² + 2SRσe))
//! balances them: √T times √(poly-log T/ε). With Ψ > 0 public and costs ℓ + (Ψ/2)‖θ‖², it is O((SR)²·log
//! T·(1 + σe/SR)/Ψ): poly-log.
//!
//! **Smoothing.** Noise on neighbouring running sums differs: each octave of steps adds the same to its
//! variance, about ln T/π in all. A moving average of the last w sums has about ln(T/w)/π, and lags by w
//! steps: models are computed from it. It is post-processing. w is ⅔√T records, less where the noise on
//! a sum is below that of 64 records: longer averages gain on rows in a random order, and lose where
//! rows come in runs.
//!
//! Unless a rate is given it is that of D = 192/R, or less where the noise would move the score of a
//! record by more than 1, in standard deviations: few records under much noise cannot support a large
//! model. All are round numbers near which progressive accuracy on Covertype (two classes) and KDD Cup
//! 99, as filed and shuffled, ε from 0.1 to 10, is flat in a simulation; figures on those sets are
//! therefore not those of an untuned rule.
//!
//! **Unknown length.** T is an upper bound on the length, and costs little: the noise on the sum after t
//! steps is that of t steps times √(ln T/ln t) or so, since rows of B are nested; 1.3 times at t = 10⁴
//! under T = 10⁷. (Restarts with doubling lengths, each with noise of its own, would add up to more than
//! twice it.) The rate must not be that of T: with `length = unknown` it falls as 1/√t from the largest
//! that the noise allows to η at T, and the average of sums widens as √t. All of it is post-processing.
//!
//! - η `rate`, of the sum of gradients; Ψ `ridge`, of a record; w `smooth`, in steps; `factor`:
//!   buffered, square-root or tree
//! - Tested by `tests/all/online.rs`.

use super::gradients::{ClippedDerivatives, StreamRecords};
use super::learners::{Decision, STREAM};
use super::stream_walk::{Rule, StreamWalk};
use super::{Horizon, Online, Stream};
use super::{NO_ADD_REMOVE, NO_USERS};
use crate::LearnError;
use crate::release::allowance::Allowance;
use crate::release::covers::{Coverage, MethodCoverage, NOT_PRINTED, TableAccess};
use crate::release::registry::Info;
use crate::release::request::Calibration;
use crate::release::settings::{PlanNumbers, SettingInfo, settings};
use crate::release::task::Procedure;
use privet_core::Range;
use privet_dp::account::{self, Event};
use privet_dp::continual::{Factor, Participation, Running, StreamAnswer, search};
use privet_dp::gate::{GateError, Noisy, Private, Session};
use privet_dp::mechanism::{Continual, Stream as Steps};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// Limits on the step size η.
pub const RATE: Range = Range::open("rate", 0.0, f64::INFINITY);
/// Limits on the ridge of one record, Ψ.
pub const RIDGE: Range = Range::from("ridge", 0.0, f64::INFINITY);
/// Limits on the width w of the moving average, in steps.
pub const SMOOTH: Range = Range::from("smooth", 1.0, 1e9);
/// Default D·R of the learner without noise.
pub(super) const EXPECTED_NORM: f64 = 128.0;
/// Default D·R under noise.
const NOISY_NORM: f64 = 192.0;
/// Default bound on the standard deviation of the noise that is added to a score.
const SCORE_NOISE: f64 = 1.0;
/// Width w of the average over √T, in records.
const WINDOW: f64 = 2.0 / 3.0;
/// Noise on a sum, in gradients of one record, from which the full width w is used.
const LOUD: f64 = 64.0;

pub(super) const RATE_SETTING: SettingInfo =
    SettingInfo::number(RATE, "how far a gradient moves the model; from public facts unless given");
pub(super) const RIDGE_SETTING: SettingInfo =
    SettingInfo::number(RIDGE, "Ψ of Ψ/2·‖θ‖² beside each record's loss; none unless given");

/// Registry entry of `ftrl`.
pub const INFO: Info = Info {
    name: "ftrl",
    summary: "follows the leader of all gradients so far, whose running sum is under correlated noise",
    source: "Kairouz et al. 2021; factorisations of Denisov et al. 2022 and Dvijotham et al. 2024",
    guarantee: STREAM,
    settings: Ftrl::SETTINGS,
    noisy: "the running sum of gradients, at each step",
    private: true,
    covers: MethodCoverage {
        pure: Coverage::gaussian("give a delta above 0, far below one over the horizon"),
        printed: Coverage::unprinted(NOT_PRINTED),
        needs: TableAccess::Memory,
        private_count: NO_ADD_REMOVE,
        users: NO_USERS,
        ..MethodCoverage::ALL
    },
    more: (),
};

/// Name of a factorisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Correlation {
    /// A few decaying running sums.
    Buffered,
    /// The square root of the matrix of running sums.
    SquareRoot,
    /// Dyadic blocks.
    Tree,
}

/// Public knowledge of a stream's length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Length {
    /// Approximately its horizon.
    #[default]
    Known,
    /// At most its horizon.
    Unknown,
}

settings! {
    /// Settings of `ftrl`.
    pub struct Ftrl {
        rate: f64 = RATE_SETTING;
        ridge: f64 = RIDGE_SETTING;
        smooth: f64 [SMOOTH]
            "over how many steps models are averaged, the last ones most; from public facts unless this \
             or a rate is given, 1 takes each as it is";
        length: Length ["known or unknown"]
            "whether the stream is about as long as its horizon, or may end anywhere before; known unless \
             given";
        factor: Correlation ["buffered, square-root or tree"]
            "how the noise of steps is correlated; buffered unless given";
    }
    also {
        /// Weight and decay of each buffer, filled in by the plan.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub buffers: Vec<[f64; 2]>,
    }
}

/// Returns the requested factor, and searches its buffers unless they are settled.
pub(super) fn settled_factor(
    correlation: Correlation,
    buffers: &[[f64; 2]],
    steps: u32,
    participation: Participation,
) -> Result<(Factor, Vec<[f64; 2]>), LearnError> {
    let none = |factor: Factor| match buffers {
        [] => Ok((factor, vec![])),
        _ => Err(LearnError::NotCovered {
            what: "buffers are given, and the factor has none".into(),
            instead: "leave them out, or give factor buffered",
        }),
    };
    let (factor, buffers) = match correlation {
        Correlation::Tree => none(Factor::Tree)?,
        Correlation::SquareRoot => none(Factor::SquareRoot)?,
        Correlation::Buffered if buffers.is_empty() => {
            let factor = search(steps, participation);
            let found = match &factor {
                Factor::Buffered { weights, decays } => {
                    weights.iter().zip(decays).map(|(weight, decay)| [*weight, *decay]).collect()
                }
                _ => vec![],
            };
            (factor, found)
        }
        Correlation::Buffered => {
            let weights = buffers.iter().map(|buffer| buffer[0]).collect();
            let decays = buffers.iter().map(|buffer| buffer[1]).collect();
            (Factor::Buffered { weights, decays }, buffers.to_vec())
        }
    };
    factor.check(steps).map_err(|_| LearnError::NotCovered {
        what: format!("the factor is none for {steps} steps"),
        instead: "give factor buffered (square-root takes up to 16384 steps)",
    })?;
    Ok((factor, buffers))
}

/// Calibrates the noise: the smallest scale at which the stream meets the budget.
pub(crate) fn calibrated(
    continual: impl Fn(f64) -> Continual,
    allowance: &Allowance<'_>,
) -> Result<Continual, LearnError> {
    let Continual { factor, steps, participation, bound, .. } = continual(1.0);
    let moved = bound * factor.sensitivity(steps, participation)?;
    let floor = moved / account::gaussian::mu(allowance.epsilon(), allowance.delta());
    let scale = allowance.least_scale(floor, |scale| continual(scale).event())?;
    Ok(continual(scale))
}

/// Plans from public facts alone.
pub(super) fn plan(
    horizon: &Horizon,
    allowance: &Allowance<'_>,
    _calibration: Calibration,
    options: &Ftrl,
) -> Result<Decision, LearnError> {
    let facts = &horizon.facts;
    let participation = Participation::ONCE;
    let correlation = options.factor.unwrap_or(Correlation::Buffered);
    let (factor, buffers) =
        settled_factor(correlation, &options.buffers, horizon.steps, participation)?;
    let unit = unit_of(horizon);
    let continual = calibrated(
        |noise_scale| Continual {
            neighbours: facts.neighbours,
            unit: facts.unit,
            factor: factor.clone(),
            steps: horizon.steps,
            participation,
            bound: facts.relation().sides() * horizon.gradient(),
            noise_scale,
            coordinates: horizon.width(),
            step_unit: unit,
        },
        allowance,
    )?;
    let smooth = match (options.smooth, options.rate) {
        (Some(steps), _) => SMOOTH.check(steps)?,
        (None, Some(_)) => 1.0,
        (None, None) => {
            let loud = continual.noise_scale * factor.error(horizon.steps)? / horizon.gradient();
            let records = WINDOW * (facts.rows as f64).sqrt() * (loud / LOUD).min(1.0);
            (records / f64::from(horizon.batch)).max(1.0)
        }
    };
    let kept = 1.0 - 1.0 / smooth;
    let error = continual.noise_scale * smoothed_error(&factor, horizon.steps, kept)?;
    let most = SCORE_NOISE / (error * facts.radius);
    let rate = match options.rate {
        Some(rate) => RATE.check(rate)?,
        None => rate(horizon, error, NOISY_NORM / facts.radius).min(most),
    };
    let length = options.length.unwrap_or_default();
    let anytime = (length == Length::Unknown).then(|| most.max(rate));
    let ridge = RIDGE.check(options.ridge.unwrap_or(0.0))?;
    let settled = Ftrl {
        rate: Some(rate),
        ridge: Some(ridge),
        smooth: Some(smooth),
        length: Some(length),
        factor: Some(correlation),
        buffers,
    };
    let horizon = horizon.clone();
    let learner = FollowTheLeader { continual, horizon, rate, ridge, kept, anytime, error };
    Ok(Decision::new(learner, super::Method::Ftrl(settled)))
}

/// Largest standard deviation of the moving average of running sums under noise of scale 1. A tree's is
/// bounded by that of a sum.
fn smoothed_error(factor: &Factor, steps: u32, kept: f64) -> Result<f64, LearnError> {
    if kept <= 0.0 || *factor == Factor::Tree {
        return Ok(factor.error(steps)?);
    }
    let mut running = Running::new(factor, steps, 1)?;
    let (mut mean, mut square) = (0.0, 0.0);
    for step in 0..steps {
        let noisy = if step == 0 { 1.0 } else { 0.0 };
        mean += (1.0 - kept) * (running.hear(&[noisy])[0] - mean);
        square += mean * mean;
    }
    Ok(square.sqrt())
}

/// Default step size η; `error` is the standard deviation of the noise on a running sum.
pub(super) fn rate(horizon: &Horizon, error: f64, norm: f64) -> f64 {
    let gradient = horizon.gradient();
    let rows = horizon.facts.rows as f64;
    norm / (rows * gradient * (f64::from(horizon.batch) * gradient + 2.0 * error)).sqrt()
}

/// Unit of the integer gradients: about SR·2⁻³⁰, larger for large batches, so that a step's sum is below
/// 2⁴⁰.
fn unit_of(horizon: &Horizon) -> f64 {
    let batch = f64::from(horizon.batch.next_power_of_two()).max(512.0) / 512.0;
    // The largest power of two that is at most the gradient: its bits without the fraction.
    let below = f64::from_bits(horizon.gradient().to_bits() & (0x7ff << 52));
    below * 2_f64.powi(-30) * batch
}

/// The DP-FTRL learner.
#[derive(Debug, Clone)]
pub(crate) struct FollowTheLeader {
    continual: Continual,
    horizon: Horizon,
    rate: f64,
    ridge: f64,
    /// Decay of the moving average of sums at each step.
    kept: f64,
    /// Largest step size, if the length is unknown.
    anytime: Option<f64>,
    error: f64,
}

impl FollowTheLeader {
    pub(super) fn start(&self, live: bool) -> Result<StreamWalk, LearnError> {
        let Horizon { steps, batch, .. } = self.horizon;
        let width = self.horizon.width();
        let rule = Rule::Leader {
            running: Running::new(&self.continual.factor, steps, width)?,
            stiffness: 1.0 / self.rate,
            ridge: self.ridge * f64::from(batch),
            kept: self.kept,
            mean: if self.kept > 0.0 { vec![0.0; width] } else { vec![] },
            anytime: self.anytime,
        };
        let keep = super::kept_steps(self.horizon.kept, steps);
        Ok(StreamWalk { live, ..StreamWalk::new(rule, steps, width, keep) })
    }

    pub(super) fn begin(&self) -> Result<Gradients, LearnError> {
        Ok(Gradients {
            steps: Some(self.continual.begin()?),
            slopes: ClippedDerivatives::new(&self.horizon),
            unit: self.continual.step_unit,
            sum: Zeroizing::new(vec![0; self.horizon.width()]),
        })
    }
}

/// Secret state: the sum of a step's gradients.
pub(crate) struct Gradients {
    steps: Option<Steps>,
    slopes: ClippedDerivatives,
    unit: f64,
    sum: Zeroizing<Vec<i64>>,
}

impl Procedure<Online> for FollowTheLeader {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.continual.event()?)
    }

    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([
            ("steps", f64::from(self.horizon.steps)),
            ("rate", self.rate),
            ("step_noise", self.continual.noise_scale),
            ("sum_noise", self.error),
        ])
        .and("ridge", (self.ridge > 0.0).then_some(self.ridge))
        .and("smooth", (self.kept > 0.0).then(|| 1.0 / (1.0 - self.kept)))
    }

    fn walk(&self) -> Option<serde_json::Value> {
        serde_json::to_value(self.start(false).ok()?).ok()
    }

    fn weight_noise(&self, _horizon: &Horizon) -> Option<f64> {
        Some(self.error * self.anytime.unwrap_or(self.rate))
    }

    fn run(
        &self,
        horizon: &Horizon,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noisy<Stream>, LearnError> {
        let mut hidden = self.begin()?;
        super::learners::over_table(horizon, table, session, monitor, &mut hidden)
    }
}

impl super::learners::Learner for FollowTheLeader {
    fn live(
        &self,
    ) -> Result<(serde_json::Value, Box<dyn super::learners::SecretState>), LearnError> {
        let start = serde_json::to_value(self.start(true)?).map_err(|_| GateError::Malformed)?;
        Ok((start, Box::new(self.begin()?)))
    }
}

impl super::learners::SecretState for Gradients {
    fn step(
        &mut self,
        slots: &StreamRecords<'_>,
        rows: std::ops::Range<usize>,
        theta: &[f64],
        session: &mut Session<'_>,
    ) -> Result<Noisy<StreamAnswer>, LearnError> {
        self.sum.fill(0);
        for row in rows {
            slots.add_gradient(row, theta, &mut self.slopes, self.unit, &mut self.sum);
        }
        let steps = self.steps.as_mut().ok_or(GateError::NotAsPlanned)?;
        Ok(steps.step(Private::new(&self.sum), session)?)
    }

    fn steps(&mut self) -> Option<&mut Option<Steps>> {
        Some(&mut self.steps)
    }
}
