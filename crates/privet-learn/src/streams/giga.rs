//! Projected gradient descent under noise (PGIGA): `wrapper` around the gradient steps of [`super::base`].
//!
//! **Theorem.** The point after t steps moves by at most **4SR/(Ψt)** (printed: 2G/(Ψt), erratum C2): t
//! times it, under N(0, β²I) with β = 4SR√T/(Ψμ), is released at every step. Until t = ⌈2L²/Ψ²⌉ the
//! point stays at 0.

use super::implicit::{self, Implicit};
use super::learners::{Decision, STREAM};
use super::wrapper::{Base, OVER_A_BALL, Wrapped, ball};
use super::{Horizon, Method};
use crate::LearnError;
use crate::release::allowance::Allowance;
use crate::release::note::Note;
use crate::release::registry::Info;
use crate::release::request::Calibration;

/// Registry entry of `giga`.
pub const INFO: Info = Info {
    name: "giga",
    summary: "projected gradient descent over a ball, every point under noise that falls as 1/t",
    source: "Thakurta 2013, Algorithm 5.3, with twice its sensitivity (erratum C2)",
    guarantee: STREAM,
    settings: implicit::INFO.settings,
    noisy: "every point of the descent",
    private: true,
    covers: OVER_A_BALL,
    more: (),
};

/// Settings of `giga`: those of implicit descent.
pub type Giga = Implicit;

/// Plans from public facts alone.
pub(super) fn plan(
    horizon: &Horizon,
    allowance: &Allowance<'_>,
    calibration: Calibration,
    options: &Giga,
) -> Result<Decision, LearnError> {
    let ball = ball(horizon, allowance, options.ridge, options.ball)?;
    let settled = Giga { ridge: Some(ball.ridge), ball: Some(ball.radius) };
    let (learner, mut notes) =
        Wrapped::plan_noise(Base::Gradient, ball, horizon, allowance, calibration)?;
    if learner.first > f64::from(horizon.steps) {
        notes.push(Note::expectation(format!(
            "with this ridge no gradient is taken before step {}, beyond the horizon: every model is noise",
            learner.first
        )));
    }
    Ok(Decision { notes, ..Decision::new(learner, Method::Giga(settled)) })
}
