//! Follow the leader, and the regularised leader, under noise: `wrapper` around the minima of all costs
//! so far.
//!
//! **Algorithm.** θₜ = argmin over the ball of radius D of Fₜ(θ) = Σ_{s≤t}
//! ℓ(⟨xₛ, θ⟩) + (Ψ(t + a)/2)‖θ‖²: a = 0 follows the leader of the costs ℓ + (Ψ/2)‖θ‖², a > 0 the
//! regularised one. (t + a)θₜ is released under noise.
//!
//! **Theorem.** Between neighbours θₜ moves by at most **2SR/(Ψ(t + a))**: λ = 2SR/Ψ. *Proof.* Fₜ and
//! Fₜ′ are Ψ(t + a)-strongly convex and differ by ℓ − ℓ′ of one slot, whose gradients differ by at most
//! 2SR (SR where it is emptied); the ridge is in both. Let d = ‖θₜ − θₜ′‖. Adding the two conditions of
//! optimality over the ball, ⟨∇Fₜ(θₜ), θₜ′ − θₜ⟩ ≥ 0 and ⟨∇Fₜ′(θₜ′), θₜ − θₜ′⟩ ≥ 0, gives
//! Ψ(t + a)d² ≤ ⟨∇Fₜ(θₜ′) − ∇Fₜ′(θₜ′), θₜ′ − θₜ⟩ ≤ 2SR·d. ∎ (Thakurta 2013, §5, states this in a
//! sentence, with L = SR + ΨD for SR.)
//!
//! **Accuracy of the minima.** The error of an approximate minimum adds to λ, and its bound must not
//! depend on records. From the point of the previous step, K rounds of projected descent with step size
//! 2/(L + m), m = Ψ(t + a), L = cR²t + m, each contract the distance to θₜ by the factor
//! (L − m)/(L + m) ≤ q = cR²/(cR² + 2Ψ). One record moves the minimum by at most (SR + ΨD)/(Ψ(t + a)),
//! so that a point within e/(Ψ(t − 1 + a)) of the last one is within (2e + SR + ΨD)/(Ψ(t + a)) of the
//! new one, and with q^K·(2e + SR + ΨD) ≤ e/2 within half of e/(Ψ(t + a)) after K rounds. Rounding,
//! u = 2⁻⁵², moves a round's result by at most u(T + p + 64)((SR + cR²D)/Ψ + 2D), all rounds together by
//! that over 1 − q, which must be within the other half. So λ = (2SR + 2e)/Ψ with **e = SR/50**,
//! whatever the records; K is a public number, the same at every step. ∎
//!
//! Every step visits all records so far, K times: horizons up to [`LONGEST_HORIZON`].

use super::base::{Ball, Entries, into_ball};
use super::implicit::{self, BALL, RIDGE};
use super::learners::{Decision, STREAM};
use super::wrapper::{Base, OVER_A_BALL, Wrapped, ball};
use super::{Horizon, Method};
use crate::LearnError;
use crate::release::allowance::Allowance;
use crate::release::registry::Info;
use crate::release::request::Calibration;
use crate::release::settings::settings;
use privet_core::Range;
use zeroize::Zeroize;

/// Limits on a, the number of records whose ridge is added before the first.
pub const AHEAD: Range = Range::from("ahead", 0.0, 1_000_001.0);
/// The longest horizon.
pub const LONGEST_HORIZON: u32 = 10_000;
/// Error of a minimum relative to SR, e/(SR).
pub const RELATIVE_ERROR: f64 = 0.02;

/// Registry entry of `leader`.
pub const INFO: Info = Info {
    name: "leader",
    summary: "follows the leader of all costs so far over a ball, every minimum under noise that falls as 1/t",
    source: "Thakurta 2013, §5 (a remark there), with a proof of its own",
    guarantee: STREAM,
    settings: Leader::SETTINGS,
    noisy: "every minimum",
    private: true,
    covers: OVER_A_BALL,
    more: (),
};

settings! {
    /// Settings of `leader`.
    #[derive(Copy)]
    pub struct Leader {
        ridge: f64 = implicit::INFO.settings[0];
        ball: f64 = implicit::INFO.settings[1];
        ahead: u32 [AHEAD]
            "how many records' ridge there is before the first: 0, the leader, unless given";
    }
}

/// Number of rounds K from public facts; `None` if rounding cannot be kept within its half of e.
pub fn rounds(ball: &Ball, curvature: f64, radius: f64, columns: usize, steps: u32) -> Option<u32> {
    let Ball { radius: d, ridge, slope } = *ball;
    let (smooth, gradient) = (curvature * radius * radius, slope * radius);
    let q = smooth / (smooth + 2.0 * ridge);
    let most = RELATIVE_ERROR * gradient;
    let far = 2.0 * most + gradient + ridge * d;
    let unit = f64::EPSILON * (f64::from(steps) + columns as f64 + 64.0);
    let off = unit * ((gradient + smooth * d) / ridge + 2.0 * d);
    let rounded = f64::from(steps) * ridge * off / (1.0 - q);
    let wanted = (0.5 * most / far).ln() / q.ln();
    let fits = rounded.is_finite() && rounded <= 0.5 * most && wanted.is_finite() && wanted < 1e4;
    fits.then(|| (wanted * (1.0 + 1e-9)).ceil().max(1.0) as u32)
}

/// All records so far; secret, and zeroised on drop.
#[derive(Default)]
pub struct PastRecords {
    entries: Vec<(usize, f64)>,
    /// End index of each record's entries, and its label.
    ends: Vec<(usize, f64)>,
}

impl std::fmt::Debug for PastRecords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Past({}, withheld)", self.ends.len())
    }
}

impl Drop for PastRecords {
    fn drop(&mut self) {
        self.entries.iter_mut().for_each(|entry| entry.zeroize());
        self.ends.iter_mut().for_each(|end| end.zeroize());
    }
}

impl PastRecords {
    /// Appends a record.
    pub fn push(&mut self, x: Entries<'_>, label: f64) {
        self.entries.extend_from_slice(x);
        self.ends.push((self.entries.len(), label));
    }

    /// Approximates the minimum of all costs so far by `rounds` rounds from `theta`, the point of the
    /// previous step.
    pub fn follow(
        &self,
        (ball, ahead): (&Ball, u32),
        (curvature, radius): (f64, f64),
        rounds: u32,
        theta: &mut [f64],
        slope: impl Fn(f64, f64) -> f64,
    ) {
        let count = self.ends.len() as f64;
        let strong = ball.ridge * (count + f64::from(ahead));
        let rate = 2.0 / (curvature * radius * radius * count + 2.0 * strong);
        let mut gradient = vec![0.0; theta.len()];
        for _ in 0..rounds {
            gradient.iter_mut().zip(&*theta).for_each(|(g, t)| *g = strong * t);
            let mut from = 0;
            for (end, label) in &self.ends {
                let x = &self.entries[from..*end];
                from = *end;
                let margin = x.iter().fold(0.0, |sum, (column, x)| sum + x * theta[*column]);
                let slope = slope(margin, *label).clamp(-ball.slope, ball.slope);
                x.iter().for_each(|(column, x)| gradient[*column] += slope * x);
            }
            theta.iter_mut().zip(&gradient).for_each(|(t, g)| *t -= rate * g);
            into_ball(theta, ball.radius);
        }
        gradient.zeroize();
    }
}

/// Plans from public facts alone.
pub(super) fn plan(
    horizon: &Horizon,
    allowance: &Allowance<'_>,
    calibration: Calibration,
    options: &Leader,
) -> Result<Decision, LearnError> {
    if horizon.steps > LONGEST_HORIZON {
        return Err(LearnError::NotCovered {
            what: format!("the leader of {} steps: each goes over all before it", horizon.steps),
            instead: "give a horizon up to 10000, or method ftrl or implicit",
        });
    }
    let ball = ball(horizon, allowance, options.ridge, options.ball)?;
    let (radius, ridge) = (BALL.check(ball.radius)?, RIDGE.check(ball.ridge)?);
    let ahead = AHEAD.check(f64::from(options.ahead.unwrap_or(0)))? as u32;
    let facts = &horizon.facts;
    let (curvature, columns) = (facts.loss.curvature(), facts.columns);
    let rounds =
        rounds(&ball, curvature, facts.radius, columns, horizon.steps.saturating_add(ahead));
    let rounds = rounds.ok_or_else(|| LearnError::NotCovered {
        what: "with this ridge the minimum of a step cannot be found to its tolerance".into(),
        instead: "give a larger ridge, a loss that bends less, or method implicit",
    })?;
    let base = Base::Leader { ahead, rounds };
    let settled = Leader { ridge: Some(ridge), ball: Some(radius), ahead: Some(ahead) };
    let (learner, notes) = Wrapped::plan_noise(base, ball, horizon, allowance, calibration)?;
    Ok(Decision { notes, ..Decision::new(learner, Method::Leader(settled)) })
}
