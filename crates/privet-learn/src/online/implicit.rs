//! Implicit gradient descent under noise (PIGD): `wrapper` around the implicit steps of [`super::base`].
//!
//! **Theorem.** The point after t steps moves by at most 2SR/(Ψ(t + 1)): (t + 1) times it, under N(0, β²I) with
//! β = 2SR√T/(Ψμ), is released at every step. Thakurta 2013, Algorithm 5.2, with 2SR for its 2(SR + ΨD).

use super::method::Decision;
use super::wrapper::{Base, Wrapped, ball};
use super::{Horizon, Method};
use crate::LearnError;
use crate::allowance::Allowance;
use crate::request::Calibration;
use crate::settings::SettingInfo;
use privet_core::Range;
use serde::{Deserialize, Serialize};

/// Limits on Ψ.
pub const RIDGE: Range = Range::open("ridge", 0.0, f64::INFINITY);
/// Limits on D.
pub const BALL: Range = Range::open("ball", 0.0, f64::INFINITY);

/// What can be set.
pub const SETTINGS: &[SettingInfo] = &[
    SettingInfo::number(
        RIDGE,
        "Ψ of Ψ/2·‖θ‖² beside each record's loss; from public facts unless given",
    ),
    SettingInfo::number(BALL, "radius of the ball of models; 4 over that of the rows unless given"),
];

/// Its settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Implicit {
    /// Ψ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ridge: Option<f64>,
    /// D.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ball: Option<f64>,
}

/// Decides everything from public facts.
pub(super) fn plan(
    horizon: &Horizon,
    allowance: &Allowance<'_>,
    calibration: Calibration,
    options: &Implicit,
) -> Result<Decision, LearnError> {
    let ball = ball(horizon, allowance, options.ridge, options.ball)?;
    let settled = Implicit { ridge: Some(ball.ridge), ball: Some(ball.radius) };
    let (learner, notes) = Wrapped::planned(Base::Implicit, ball, horizon, allowance, calibration)?;
    Ok(Decision { notes, ..Decision::new(learner, Method::Implicit(settled)) })
}
