//! The quantile (pinball, check) loss with its corner rounded: for the quantile τ and t = u − y,
//! the pinball loss is (1 − τ)t above 0 and −τt below, and its mean over a uniform shift of t in
//! [−h, h] is, with s = t clipped to [−h, h],
//!
//! ℓ = (s + h)²/(4h) + max(t − h, 0) − τt,  ℓ′ = s/(2h) + 1/2 − τ,  ℓ″ = 1/(2h) where t = s
//!
//! (convolution smoothing: Fernandes, Guerre & Horta 2021). Outside [−h, h] it is the pinball loss
//! itself. An average of convex functions is convex; ℓ′ runs from −τ to 1 − τ, hence
//! **L = max(τ, 1 − τ)**, and **c = 1/(2h)**. The smallest value is hτ(1 − τ) ≥ 0.
//!
//! The first two terms are those of the Huber SVM at 1 − z = t ([`super::huber`]).
//!
//! **Error of ℓ′.** As for the Huber SVM, s/(2h) + 1/2 errs by 2u; subtracting τ rounds a number of
//! at most 1: 3u, stated 4u.

use super::LossPoint;
use crate::double_double::{DoubleDouble, two_sum};

/// The Lipschitz constant max(τ, 1 − τ), rounded up.
pub(super) fn lipschitz(tau: f64) -> f64 {
    let (rest, error) = two_sum(1.0, -tau);
    tau.max(if error > 0.0 { rest.next_up() } else { rest })
}

#[inline(always)]
pub(super) fn evaluate(u: f64, y: f64, tau: f64, h: f64) -> LossPoint {
    let t = u - y;
    let s = if t > h {
        h
    } else if t < -h {
        -h
    } else {
        t
    };
    // Written so that nothing cancels: outside [−h, h] the square is h or 0.
    let value = if t > h {
        (1.0 - tau) * t
    } else if t < -h {
        -tau * t
    } else {
        ((t + h) * (t + h) / (4.0 * h) - tau * t).max(0.0)
    };
    LossPoint {
        value,
        derivative: (s / (2.0 * h) + 0.5) - tau,
        second: if t == s { 0.5 / h } else { 0.0 },
    }
}

#[inline(always)]
pub(super) fn precise_derivative(u: DoubleDouble, y: f64, tau: f64, h: f64) -> DoubleDouble {
    let t = u - DoubleDouble::from(y);
    let share = if t.high > h || (t.high == h && t.low > 0.0) {
        DoubleDouble::from(1.0)
    } else if t.high < -h || (t.high == -h && t.low < 0.0) {
        DoubleDouble::ZERO
    } else {
        t * DoubleDouble::from(2.0 * h).reciprocal() + DoubleDouble::from(0.5)
    };
    share - DoubleDouble::from(tau)
}
