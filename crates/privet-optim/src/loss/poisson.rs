//! Poisson regression with a bounded rate.
//!
//! A target k between public bounds 0 ≤ low ≤ k ≤ high, with rate high·e^v where v = u − shift, has
//! the negative log-likelihood high·e^v − k·v (up to a constant). Divided by high, and with the
//! exponential continued by its tangent above v = 0 so that the rate never exceeds high:
//!
//! **ℓ = E(v) − Kv**, E(v) = e^v for v ≤ 0 and 1 + v above; **ℓ′ = q − K**, q = e^{min(v, 0)};
//! **ℓ″ = q** below 0, 0 above
//!
//! - K = k/high ∈ [least, 1], `least` = low/high: with y ∈ [−1, 1] the label that
//!   `privet_data::Encoding` derives from k, K = least + (1 − least)(y + 1)/2
//! - q ∈ (0, 1]: the rate as a fraction of high; at u = 0 it is e^{−shift}
//!
//! E is convex with a continuous derivative, so ℓ is C^{1,1} and convex. q ∈ (0, 1] and K ∈ [0, 1] give
//! |ℓ′| ≤ 1: **L = 1** (nearly attained at K = 1 and q → 0, and at K = 0 where low = 0), and ℓ″ = q ≤
//! 1: **c = 1**. ℓ ≥ 0: below 0 both e^v and −Kv are, above it ℓ = 1 + (1 − K)v. Where the rate stays
//! below high, as the true one does if the bound also holds for the mean, this is the plain Poisson
//! loss, and its minimiser the maximum-likelihood one.
//!
//! **Error of ℓ′.** v errs by u|v|, which changes e^v by at most u·|v|e^v ≤ 0.4u; e^v itself by 8u
//! ([`crate::kernel::exponential`]; 4e−308 below −708); K by 4u; the subtraction by u. Below 14u,
//! stated 16u. In double-double: [`double_double::EXP_ERROR`] and a few 2⁻¹⁰³, stated twice that.

use super::LossPoint;
use crate::double_double::{self, DoubleDouble};
use crate::kernel::UNIT_ROUNDOFF;
use crate::kernel::exponential::exp_nonpositive;

/// Upper bound on the absolute error of ℓ′.
pub(super) const DERIVATIVE_ERROR: f64 = 16.0 * UNIT_ROUNDOFF;

/// The same in double-double.
pub(super) const PRECISE_DERIVATIVE_ERROR: f64 = 2.0 * double_double::EXP_ERROR;

/// The fraction q at u.
#[inline(always)]
pub(super) fn share<const F: bool>(u: f64, shift: f64) -> f64 {
    let v = u - shift;
    exp_nonpositive::<F>(if v < 0.0 { v } else { 0.0 })
}

#[inline(always)]
pub(super) fn evaluate<const F: bool>(u: f64, y: f64, least: f64, shift: f64) -> LossPoint {
    let v = u - shift;
    let q = share::<F>(u, shift);
    let q = if q > 1.0 { 1.0 } else { q };
    let k = least + (1.0 - least) * (0.5 * (y + 1.0));
    let k = if k > 1.0 { 1.0 } else { k };
    LossPoint {
        value: if v > 0.0 { 1.0 + (1.0 - k) * v } else { q - k * v },
        derivative: q - k,
        second: if v > 0.0 { 0.0 } else { q },
    }
}

#[inline(always)]
pub(super) fn precise_derivative(u: DoubleDouble, y: f64, least: f64, shift: f64) -> DoubleDouble {
    let v = u - DoubleDouble::from(shift);
    let above = v.high > 0.0 || (v.high == 0.0 && v.low > 0.0);
    let q = if above { DoubleDouble::from(1.0) } else { v.exp_nonpositive() };
    let one = DoubleDouble::from(1.0);
    let half = (DoubleDouble::from(y) + one).times(0.5);
    let least = DoubleDouble::from(least);
    q - (least + (one - least) * half)
}
