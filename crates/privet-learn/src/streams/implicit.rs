//! Implicit gradient descent under noise (PIGD): `wrapper` around the implicit steps of [`super::base`].
//!
//! **Theorem.** The point after t steps moves by at most 2SR/(Ψ(t + 1)): (t + 1) times it, under N(0,
//! β²I) with β = 2SR√T/(Ψμ), is released at every step. Thakurta 2013, Algorithm 5.2, with 2SR for its
//! 2(SR + ΨD).

use super::learners::{Decision, STREAM};
use super::wrapper::{Base, OVER_A_BALL, Wrapped, ball};
use super::{Horizon, Method};
use crate::LearnError;
use crate::release::allowance::Allowance;
use crate::release::registry::Info;
use crate::release::request::Calibration;
use crate::release::settings::settings;
use privet_core::Range;

/// Limits on the ridge Ψ.
pub const RIDGE: Range = Range::open("ridge", 0.0, f64::INFINITY);
/// Limits on the radius D of the ball of models.
pub const BALL: Range = Range::open("ball", 0.0, f64::INFINITY);

/// Registry entry of `implicit`.
pub const INFO: Info = Info {
    name: "implicit",
    summary: "implicit gradient descent over a ball, every point under noise that falls as 1/t",
    source: "Thakurta 2013, Algorithm 5.2 (Jain, Kothari and Thakurta 2012)",
    guarantee: STREAM,
    settings: Implicit::SETTINGS,
    noisy: "every point of the descent",
    private: true,
    covers: OVER_A_BALL,
    more: (),
};

settings! {
    /// Settings of `implicit`.
    #[derive(Copy)]
    pub struct Implicit {
        ridge: f64 [RIDGE]
            "Ψ of Ψ/2·‖θ‖² beside each record's loss; from public facts unless given";
        ball: f64 [BALL] "radius of the ball of models; 4 over that of the rows unless given";
    }
}

/// Plans from public facts alone.
pub(super) fn plan(
    horizon: &Horizon,
    allowance: &Allowance<'_>,
    calibration: Calibration,
    options: &Implicit,
) -> Result<Decision, LearnError> {
    let ball = ball(horizon, allowance, options.ridge, options.ball)?;
    let settled = Implicit { ridge: Some(ball.ridge), ball: Some(ball.radius) };
    let (learner, notes) =
        Wrapped::plan_noise(Base::Implicit, ball, horizon, allowance, calibration)?;
    Ok(Decision { notes, ..Decision::new(learner, Method::Implicit(settled)) })
}
