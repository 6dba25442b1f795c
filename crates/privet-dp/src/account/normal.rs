//! The normal law in forms that neither cancel nor underflow.
//!
//! φ, Φ density and distribution function; **Mills ratio** M(x) = Φ(−x)/φ(x) and its scaled
//! derivatives M_n(x) = (−1)ⁿM⁽ⁿ⁾(x)/n! > 0, which satisfy M₁ = 1 − xM₀ and
//! (n+1)M_{n+1} = M_{n−1} − xM_n. For x > 0 the M_n are the minimal solution, so they are found by
//! running the recurrence backwards (Miller), where every term is positive and nothing cancels.
//!
//! **Lemma (spread).** M(c−h) − M(c+h) = 2·Σ_{n odd} M_n(c)hⁿ: the form of a difference of two
//! nearby Mills ratios that keeps all its digits when h is small.
//!
//! All functions are accurate to a few units in the last place; callers that state bounds add
//! their own margin. Only `libm` is used, so that results agree between platforms.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// The constant 1/√(2π).
pub const INV_SQRT_2PI: f64 = 0.398_942_280_401_432_7;
/// The constant √(π/2).
const SQRT_HALF_PI: f64 = 1.253_314_137_315_500_3;
/// Beyond this many standard deviations the normal mass is below every positive f64.
pub const TAIL_DEVIATIONS: f64 = 38.6;

/// The density φ(x), with x² formed without rounding error.
pub fn density(x: f64) -> f64 {
    let square = x * x;
    let lost = libm::fma(x, x, -square);
    INV_SQRT_2PI * libm::exp(-square / 2.0) * (1.0 - lost / 2.0)
}

/// The log-density ln φ(x).
pub fn ln_density(x: f64) -> f64 {
    -x * x / 2.0 - libm::log(2.0 * PI) / 2.0
}

/// The distribution function Φ(x).
pub fn cdf(x: f64) -> f64 {
    libm::erfc(-x * FRAC_1_SQRT_2) / 2.0
}

/// The Mills ratio M(x) = Φ(−x)/φ(x), for x ≥ −37; larger negative arguments overflow to infinity.
pub fn mills(x: f64) -> f64 {
    if x > 14.0 {
        // Laplace's continued fraction, from the back; 40 levels are ample from 14 on.
        return 1.0 / (1..=40).rev().fold(x, |rest, k| x + f64::from(k) / rest);
    }
    let y = x * FRAC_1_SQRT_2;
    let square = y * y;
    let lost = libm::fma(y, y, -square);
    SQRT_HALF_PI * libm::erfc(y) * libm::exp(square) * (1.0 + lost)
}

/// ln Φ(x), for every x.
pub fn ln_cdf(x: f64) -> f64 {
    if x < -1.0 { ln_density(x) + libm::log(mills(-x)) } else { libm::log1p(-cdf(-x)) }
}

/// The difference M(c−h) − M(c+h) for c ≥ −½, 0 < h ≤ ½, by the Lemma of the module.
pub fn mills_spread(c: f64, h: f64) -> f64 {
    const MOST: usize = 24;
    let terms = if h < 0.05 { 11 } else { MOST };
    let mut scaled = [0.0; MOST + 1];
    if c < 1.0 {
        scaled[0] = mills(c);
        scaled[1] = 1.0 - c * scaled[0];
        for n in 1..terms {
            // Cancellation grows with n, but the terms shrink faster: h ≤ ½.
            scaled[n + 1] = ((scaled[n - 1] - c * scaled[n]) / (n + 1) as f64).max(0.0);
        }
    } else {
        // Ratios r_n = M_{n+1}/M_n = 1/(c + (n+2)·r_{n+1}), from far out.
        // The error shrinks as exp(−2c√(2n)).
        let start = 12 + terms + (220.0 / (c * c)) as usize;
        let mut ratio = 1.0 / (c + libm::sqrt(start as f64));
        let mut ratios = [0.0; MOST];
        for n in (0..start).rev() {
            ratio = 1.0 / (c + (n + 2) as f64 * ratio);
            if n < terms {
                ratios[n] = ratio;
            }
        }
        scaled[0] = mills(c);
        for n in 0..terms {
            scaled[n + 1] = scaled[n] * ratios[n];
        }
    }
    let mut power = h;
    let mut sum = 0.0;
    for n in (1..=terms).step_by(2) {
        let term = scaled[n] * power;
        sum += term;
        if term < 1e-18 * sum {
            break;
        }
        power *= h * h;
    }
    2.0 * sum
}

/// ln(e^x + e^y).
pub fn ln_add_exp(x: f64, y: f64) -> f64 {
    let (low, high) = if x < y { (x, y) } else { (y, x) };
    if high == f64::NEG_INFINITY { high } else { high + libm::log1p(libm::exp(low - high)) }
}

/// Returns x(1 + relative) for x ≥ 0, at least the next f64.
pub fn round_above(x: f64, relative: f64) -> f64 {
    (x * (1.0 + relative)).max(x.next_up())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values by mpmath at 40 digits.
    #[test]
    fn mills_ratio_has_its_value_from_the_left_tail_to_the_right() {
        for (x, want) in [
            (-5.0, 672_621.636_722_879_3),
            (0.0, 1.253_314_137_315_500_3),
            (1.0, 0.655_679_542_418_798_5),
            (5.0, 0.192_808_104_715_315_77),
            (13.9, 0.071_575_729_558_876_95),
            (14.1, 0.070_570_505_525_681_2),
            (40.0, 0.024_984_404_205_720_57),
        ] {
            assert!((mills(x) / want - 1.0).abs() < 8e-15, "M({x}) = {}", mills(x));
        }
    }

    #[test]
    fn the_spread_agrees_with_the_difference_where_that_is_safe() {
        for c in [0.5, 0.99, 1.0, 2.0, 7.0, 30.0] {
            let h = 0.4;
            let plain = mills(c - h) - mills(c + h);
            assert!((mills_spread(c, h) / plain - 1.0).abs() < 1e-12, "{c}");
        }
    }

    #[test]
    fn logarithms_survive_the_far_tail() {
        assert!((ln_cdf(-30.0) - -454.321_243_956_343_1).abs() < 1e-9);
        assert!((ln_add_exp(-800.0, -800.0) - (-800.0 + libm::log(2.0))).abs() < 1e-12);
    }
}
