//! The logistic loss ln(1 + e^{−z}), z = yu, y = ±1.
//!
//! With e = e^{−|z|}: ℓ = max(−z, 0) + ln(1 + e), ℓ′ = −y·σ(−z) where σ(−z) = e/(1+e) or 1/(1+e)
//! as z ≥ 0 or not, ℓ″ = e/(1+e)². Nothing overflows: e lies in (0, 1].
//!
//! **Error of ℓ′.** e/(1+e) has derivative at most 1 in e and e·∂/∂e ≤ 1/4, so a relative error of
//! 8u in e moves it by 2u; the addition and division add 2u relative to a value of at most 1; below
//! e⁻⁷⁰⁸ the error is 4e−308. Together below 5u; stated 8u.

use super::LossPoint;
use crate::double_double::{self, DoubleDouble};
use crate::kernel::exponential::{EXP_ERROR, exp_nonpositive, ln_one_plus};

/// Upper bound on the absolute error of ℓ′.
pub(super) const DERIVATIVE_ERROR: f64 = EXP_ERROR;

/// Upper bound on the absolute error of ℓ′ in double-double: a quarter of that of e, plus one addition,
/// one reciprocal (2⁻¹⁰⁰) and one product; and 4e−308 below e⁻⁷⁰⁸.
pub(super) const PRECISE_DERIVATIVE_ERROR: f64 = double_double::EXP_ERROR;

#[inline(always)]
pub(super) fn evaluate<const F: bool>(u: f64, y: f64) -> LossPoint {
    let z = y * u;
    let e = exp_nonpositive::<F>(-z.abs());
    let inverse = 1.0 / (1.0 + e);
    let small = e * inverse;
    let probability = if z >= 0.0 { small } else { inverse };
    // Rounding can lift e/(1+e)² past its largest value, which is guaranteed.
    let second = small * inverse;
    let negative_part = if z < 0.0 { -z } else { 0.0 };
    LossPoint {
        value: negative_part + ln_one_plus::<F>(e),
        derivative: -y * probability,
        second: if second > 0.25 { 0.25 } else { second },
    }
}

#[inline(always)]
pub(super) fn precise_derivative(u: DoubleDouble, y: f64) -> DoubleDouble {
    let z = u.times(y);
    let e = (if z.high >= 0.0 { -z } else { z }).exp_nonpositive();
    let inverse = (DoubleDouble::from(1.0) + e).reciprocal();
    let probability = if z.high >= 0.0 { e * inverse } else { inverse };
    probability.times(-y)
}
