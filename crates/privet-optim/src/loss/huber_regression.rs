//! The Huber loss of a residual: with r = u − y and s = r clipped to [−w, w],
//! ℓ = s²/(2w) + |r| − |s|, ℓ′ = s/w, ℓ″ = 1/w where r = s.
//!
//! It is the clipped square of [`super::squared`] divided by w, so that **L = 1** and **c = 1/w** for
//! any width: |s| ≤ w, and ℓ′ has slope 1/w or 0. A large w is least squares, a small one the absolute
//! value (the median).
//!
//! **Error of ℓ′.** s errs by at most u·w(1 + 2u) ([`super::squared`]), so s/w by u, and the division
//! rounds a number of at most 1: below 2.1u, stated 4u.

use super::{LossPoint, squared};
use crate::double_double::DoubleDouble;

#[inline(always)]
pub(super) fn evaluate(u: f64, y: f64, width: f64) -> LossPoint {
    let point = squared::evaluate(u, y, width);
    LossPoint {
        value: point.value / width,
        derivative: point.derivative / width,
        second: point.second / width,
    }
}

#[inline(always)]
pub(super) fn precise_derivative(u: DoubleDouble, y: f64, width: f64) -> DoubleDouble {
    let s = squared::precise_derivative(u, y, width);
    // At the ends the quotient is 1 and must not be rounded beyond it.
    if s.high.abs() == width && s.low == 0.0 {
        return DoubleDouble::from(1_f64.copysign(s.high));
    }
    s * DoubleDouble::from(width).reciprocal()
}
