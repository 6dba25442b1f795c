//! The Huber SVM loss: with z = yu and t = 1 − z,
//! ℓ = t when t > h; 0 when t < −h; t²/(4h) + t/2 + h/4 between (Chaudhuri et al. 2011, §3.4.3).
//!
//! Written without cases: with s = t clipped to [−h, h], ℓ = (s + h)²/(4h) + max(t − h, 0) and
//! ℓ′ = −y·(s/(2h) + 1/2). ℓ″ = 1/(2h) inside, 0 outside.
//!
//! **Error of ℓ′.** z is exact (y = ±1); t errs by u|t|, hence s by u·h at most, s/(2h) by
//! u/2 + u/2, and the sum by u: at most 2u, stated 4u.

use super::LossPoint;
use crate::double_double::DoubleDouble;

#[inline(always)]
pub(super) fn evaluate(u: f64, y: f64, h: f64) -> LossPoint {
    let t = 1.0 - y * u;
    let s = if t > h {
        h
    } else if t < -h {
        -h
    } else {
        t
    };
    let over = if t > h { t - h } else { 0.0 };
    LossPoint {
        value: (s + h) * (s + h) / (4.0 * h) + over,
        derivative: -y * (s / (2.0 * h) + 0.5),
        second: if t == s { 0.5 / h } else { 0.0 },
    }
}

#[inline(always)]
pub(super) fn precise_derivative(u: DoubleDouble, y: f64, h: f64) -> DoubleDouble {
    let t = DoubleDouble::from(1.0) - u.times(y);
    let part = if t.high > h || (t.high == h && t.low > 0.0) {
        DoubleDouble::from(1.0)
    } else if t.high < -h || (t.high == -h && t.low < 0.0) {
        DoubleDouble::ZERO
    } else {
        t * DoubleDouble::from(2.0 * h).reciprocal() + DoubleDouble::from(0.5)
    };
    part.times(-y)
}
