//! Follow the regularised leader of noised gradients (DP-FTRL), under correlated noise: the default.
//!
//! After Kairouz, McMahan, Song, Thakkar, Thakurta & Xu 2021, with the factorisations of Denisov et al. 2022 and
//! Dvijotham et al. 2024 ([`privet_dp::continual`]).
//!
//! **Algorithm.** θₜ₊₁ = −ŝₜ/(1/η + Ψt), ŝₜ the running sum of gradients ∇ℓ(θₛ), each taken at the model that was
//! out when its record came, under correlated noise.
//!
//! **Theorem.** A record's gradient has norm at most SR at every θ (slopes are clipped to S, entries truncated towards
//! 0), so that one slot that changes moves one step's sum by at most 2SR, and by SR where it is emptied. All T
//! steps cost one Gaussian mechanism ([`privet_dp::mechanism::Continual`]) of β = 2SR and one step a unit. Gradients depend on released models alone beside their own records,
//! which its theorem allows. Everything else is post-processing. ∎
//!
//! **Regret.** Let e be the error of the factor, σ the scale of the noise. For convex costs and a comparator of norm
//! D: D²/(2η) + ηT·(BS²R²/2 + SR·σe) in expectation, B records a step and T of them in all, since a model that is
//! off by ηn costs a record S|⟨x, ηn⟩| ≤ SR·η·σe on average, whatever p is: the noise is independent of a record that
//! was not learnt from yet. η = D/√(T(BS²R² + 2SRσe)) balances them: √T times √(poly-log T/ε). With Ψ > 0 public and
//! costs ℓ + (Ψ/2)‖θ‖², it is O((SR)²·log T·(1 + σe/SR)/Ψ): poly-log.
//!
//! **Smoothing.** Noise on neighbouring running sums differs: each octave of steps adds the same to its variance, about
//! ln T/π in all. A mean of the last w sums, which fades, has about ln(T/w)/π, and is w steps behind: models are made of that. It is
//! post-processing. w is ⅔√T records, less where the noise on a sum is below that of 64 records: longer means gain on rows in a
//! random order, and lose where rows come in runs.
//!
//! Unless a rate is given it is that of D = 192/R, or less where the noise would move the score of a record by more
//! than 1, in standard deviations: few records under much noise cannot tell a large model. All are round numbers
//! near which progressive accuracy on Covertype (two classes) and KDD Cup 99, as filed and shuffled, ε from 0.1 to 10, is flat in a
//! simulation, so that figures on those sets are not those of a rule that had never seen them.
//!
//! **Unknown length.** T is the most there can be, and costs little: the noise on the sum after t steps is that of t steps
//! times √(ln T/ln t) or so, since rows of B are nested; 1.3 times at t = 10⁴ under T = 10⁷. (Courses that double, each with noise
//! of its own, would add up to more than twice it.) What must not be that of T is the rate: with `length = unknown` it falls as
//! 1/√t from the largest that the noise allows to η at T, and the mean of sums widens as √t. All of it is
//! post-processing.
//!
//! - η `rate`, of the sum of gradients; Ψ `ridge`, of a record; w `smooth`, in steps; `factor`: buffered, square-root or tree
//! - Tested by `tests/all/online.rs`.

use super::following::{Following, Rule};
use super::learners::{Decision, STREAM};
use super::slopes::{Slopes, Slots};
use super::{ADDED, SINGLE};
use super::{Horizon, Online, Stream};
use crate::LearnError;
use crate::release::allowance::Allowance;
use crate::release::covers::{Cover, Covers, NOT_PRINTED, Needs};
use crate::release::registry::Info;
use crate::release::request::Calibration;
use crate::release::settings::{SettingInfo, Shown, settings};
use crate::release::task::Procedure;
use privet_core::Range;
use privet_dp::account::{self, Event};
use privet_dp::continual::{Factor, Heard, Participation, Running, search};
use privet_dp::gate::{GateError, Noised, Private, Session};
use privet_dp::mechanism::{Continual, Stream as Steps};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// Limits on η.
pub const RATE: Range = Range::open("rate", 0.0, f64::INFINITY);
/// Limits on Ψ, of one record.
pub const RIDGE: Range = Range::from("ridge", 0.0, f64::INFINITY);
/// Limits on w, in steps.
pub const SMOOTH: Range = Range::from("smooth", 1.0, 1e9);
/// D·R of the learner without noise unless a rate is given.
pub(super) const EXPECTED_NORM: f64 = 128.0;
/// The same under noise.
const NOISY_NORM: f64 = 192.0;
/// What the noise may add to a score, in standard deviations, unless a rate is given.
const SCORE_NOISE: f64 = 1.0;
/// w over √T, in records.
const WINDOW: f64 = 2.0 / 3.0;
/// Of how many records' gradients the noise on a sum must be for all of w.
const LOUD: f64 = 64.0;

pub(super) const RATE_SETTING: SettingInfo =
    SettingInfo::number(RATE, "how far a gradient moves the model; from public facts unless given");
pub(super) const RIDGE_SETTING: SettingInfo =
    SettingInfo::number(RIDGE, "Ψ of Ψ/2·‖θ‖² beside each record's loss; none unless given");

/// A line about it.
pub const INFO: Info = Info {
    name: "ftrl",
    summary: "follows the leader of all gradients so far, whose running sum is under correlated noise",
    source: "Kairouz et al. 2021; factorisations of Denisov et al. 2022 and Dvijotham et al. 2024",
    guarantee: STREAM,
    settings: Ftrl::SETTINGS,
    noised: "the running sum of gradients, at each step",
    private: true,
    covers: Covers {
        pure: Cover::gaussian("give a delta above 0, far below one over the horizon"),
        printed: Cover::unprinted(NOT_PRINTED),
        needs: Needs::Memory,
        private_count: ADDED,
        users: SINGLE,
        ..Covers::ALL
    },
    more: (),
};

/// Which factorisation, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Correlation {
    /// A few running sums that fade.
    Buffered,
    /// The square root of the matrix of running sums.
    SquareRoot,
    /// Dyadic blocks.
    Tree,
}

/// What is known of a stream's length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Length {
    /// About its horizon.
    #[default]
    Known,
    /// Its horizon at most.
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
        /// Weight and decay of each buffer, once a plan has found them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub buffers: Vec<[f64; 2]>,
    }
}

/// The factor that is asked for, with its buffers found unless they are settled already.
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

/// The smallest scale at which the stream meets the budget.
pub(crate) fn calibrated(
    continual: impl Fn(f64) -> Continual,
    allowance: &Allowance<'_>,
) -> Result<Continual, LearnError> {
    let Continual { factor, steps, participation, bound, .. } = continual(1.0);
    let moved = bound * factor.sensitivity(steps, participation)?;
    let floor = moved / account::gaussian::mu(allowance.epsilon(), allowance.delta());
    let scale = allowance.least(floor, |scale| continual(scale).event())?;
    Ok(continual(scale))
}

/// Decides everything from public facts.
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

/// The largest standard deviation of what noise of scale 1 adds to a fading mean of running sums. A tree's is bounded by
/// that of a sum.
fn smoothed_error(factor: &Factor, steps: u32, kept: f64) -> Result<f64, LearnError> {
    if kept <= 0.0 || *factor == Factor::Tree {
        return Ok(factor.error(steps)?);
    }
    let mut running = Running::new(factor, steps, 1)?;
    let (mut mean, mut square) = (0.0, 0.0);
    for step in 0..steps {
        let noised = if step == 0 { 1.0 } else { 0.0 };
        mean += (1.0 - kept) * (running.hear(&[noised])[0] - mean);
        square += mean * mean;
    }
    Ok(square.sqrt())
}

/// η of the rule; `error` is the standard deviation of the noise on a running sum.
pub(super) fn rate(horizon: &Horizon, error: f64, norm: f64) -> f64 {
    let gradient = horizon.gradient();
    let rows = horizon.facts.rows as f64;
    norm / (rows * gradient * (f64::from(horizon.batch) * gradient + 2.0 * error)).sqrt()
}

/// What gradients are whole numbers of: SR·2⁻³⁰ or so, more for large batches, so that a step's sum is below 2⁴⁰.
fn unit_of(horizon: &Horizon) -> f64 {
    let batch = f64::from(horizon.batch.next_power_of_two()).max(512.0) / 512.0;
    // The power of two below it: its bits without those of the fraction.
    let below = f64::from_bits(horizon.gradient().to_bits() & (0x7ff << 52));
    below * 2_f64.powi(-30) * batch
}

/// The learner.
#[derive(Debug, Clone)]
pub(crate) struct FollowTheLeader {
    continual: Continual,
    horizon: Horizon,
    rate: f64,
    ridge: f64,
    /// What is kept of the mean of sums at each step.
    kept: f64,
    /// The largest rate, where the length is unknown.
    anytime: Option<f64>,
    error: f64,
}

impl FollowTheLeader {
    pub(super) fn start(&self, live: bool) -> Result<Following, LearnError> {
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
        Ok(Following { live, ..Following::new(rule, steps, width, keep) })
    }

    pub(super) fn begin(&self) -> Result<Gradients, LearnError> {
        Ok(Gradients {
            steps: Some(self.continual.begin()?),
            slopes: Slopes::new(&self.horizon),
            unit: self.continual.step_unit,
            sum: Zeroizing::new(vec![0; self.horizon.width()]),
        })
    }
}

/// The secret half.
pub(crate) struct Gradients {
    steps: Option<Steps>,
    slopes: Slopes,
    unit: f64,
    sum: Zeroizing<Vec<i64>>,
}

impl Procedure<Online> for FollowTheLeader {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.continual.event()?)
    }

    fn settings(&self) -> Shown {
        Shown::of([
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
    ) -> Result<Noised<Stream>, LearnError> {
        let mut hidden = self.begin()?;
        super::learners::over_table(horizon, table, session, monitor, &mut hidden)
    }
}

impl super::learners::Learner for FollowTheLeader {
    fn live(&self) -> Result<(serde_json::Value, Box<dyn super::learners::Hidden>), LearnError> {
        let start = serde_json::to_value(self.start(true)?).map_err(|_| GateError::Malformed)?;
        Ok((start, Box::new(self.begin()?)))
    }
}

impl super::learners::Hidden for Gradients {
    fn step(
        &mut self,
        slots: &Slots<'_>,
        rows: std::ops::Range<usize>,
        theta: &[f64],
        session: &mut Session<'_>,
    ) -> Result<Noised<Heard>, LearnError> {
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
