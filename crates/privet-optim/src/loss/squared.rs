//! The squared loss on labels in [−1, 1], made Lipschitz: with r = u − y and s = r clipped to
//! [−clip, clip], ℓ = ½s² + clip·(|r| − |s|), ℓ′ = s, ℓ″ = 1 where r = s.
//!
//! **Error of ℓ′.** One subtraction, and |s| ≤ clip: a rounding matters only while |r| is at most about
//! clip, so the error is at most u·clip(1 + 2u); stated 2u(clip + 1).

use super::LossPoint;
use crate::double_double::DoubleDouble;

#[inline(always)]
pub(super) fn evaluate(u: f64, y: f64, clip: f64) -> LossPoint {
    let r = u - y;
    let s = if r > clip {
        clip
    } else if r < -clip {
        -clip
    } else {
        r
    };
    LossPoint {
        value: 0.5 * s * s + clip * (r.abs() - s.abs()),
        derivative: s,
        second: if r == s { 1.0 } else { 0.0 },
    }
}

#[inline(always)]
pub(super) fn precise_derivative(u: DoubleDouble, y: f64, clip: f64) -> DoubleDouble {
    let r = u - DoubleDouble::from(y);
    if r.high > clip || (r.high == clip && r.low > 0.0) {
        DoubleDouble::from(clip)
    } else if r.high < -clip || (r.high == -clip && r.low < 0.0) {
        DoubleDouble::from(-clip)
    } else {
        r
    }
}
