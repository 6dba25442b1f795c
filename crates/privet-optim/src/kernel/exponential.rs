//! e^x for x ≤ 0 and ln(1 + x) for 0 ≤ x ≤ 1, without branches so that loops over them vectorise.
//!
//! **e^x.** x = k·ln 2 + r with |r| ≤ ln 2 / 2, Taylor polynomial of degree 13, times 2^k.
//! With u = 2⁻⁵³: k·ln2_high is exact (|k| ≤ 1022 and ln2_high ends in 11 zero bits or more), so r
//! errs by at most 0.4u; truncation is below r¹⁴/14! < 0.04u; Horner's last two steps contribute at
//! most 1.8u fused and 2.4u unfused, relative to a result of at least 0.7. Together below 5u;
//! we state [`EXP_ERROR`] = 8u. Below −708 the result is that at −708 (3e−308), which differs from
//! the truth by less than 4e−308.
//!
//! **ln(1 + x)** = 2·atanh(s), s = x/(2 + x) ≤ 1/3, by the series to s³⁵. Used for loss values only,
//! which guide line searches and are never part of a certificate.
//!
//! Tested against `libm`-grade references in double-double: `exp_keeps_its_bound`.

use super::{UNIT_ROUNDOFF, fma};

/// Relative error bound of [`exp_nonpositive`] on [−708, 0].
pub const EXP_ERROR: f64 = 8.0 * UNIT_ROUNDOFF;

/// The argument below which e^x is held constant: 2^k would be subnormal there.
pub const LOWEST: f64 = -708.0;

/// Rounding constant 1.5·2⁵²: adding it rounds to an integer, which then sits in the lowest bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fefa_3800);
const LN2_LOW: f64 = f64::from_bits(0x3d2e_f357_93c7_6730);

/// The exponential e^x for x ≤ 0.
#[inline(always)]
pub fn exp_nonpositive<const F: bool>(x: f64) -> f64 {
    let x = if x < LOWEST { LOWEST } else { x };
    let shifted = fma::<F>(x, std::f64::consts::LOG2_E, ROUNDER);
    let k = shifted - ROUNDER;
    let r = fma::<F>(k, -LN2_LOW, fma::<F>(k, -LN2_HIGH, x));
    const C: [f64; 12] = [
        1.0 / 2.0,
        1.0 / 6.0,
        1.0 / 24.0,
        1.0 / 120.0,
        1.0 / 720.0,
        1.0 / 5_040.0,
        1.0 / 40_320.0,
        1.0 / 362_880.0,
        1.0 / 3_628_800.0,
        1.0 / 39_916_800.0,
        1.0 / 479_001_600.0,
        1.0 / 6_227_020_800.0,
    ];
    let mut q = C[11];
    q = fma::<F>(q, r, C[10]);
    q = fma::<F>(q, r, C[9]);
    q = fma::<F>(q, r, C[8]);
    q = fma::<F>(q, r, C[7]);
    q = fma::<F>(q, r, C[6]);
    q = fma::<F>(q, r, C[5]);
    q = fma::<F>(q, r, C[4]);
    q = fma::<F>(q, r, C[3]);
    q = fma::<F>(q, r, C[2]);
    q = fma::<F>(q, r, C[1]);
    q = fma::<F>(q, r, C[0]);
    let r_squared = r * r;
    let p = 1.0 + fma::<F>(q, r_squared, r);
    let scale = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    p * scale
}

/// The logarithm ln(1 + x) for 0 ≤ x ≤ 1.
#[inline(always)]
pub fn ln_one_plus<const F: bool>(x: f64) -> f64 {
    let s = x / (2.0 + x);
    let t = s * s;
    let mut q = 1.0 / 35.0;
    q = fma::<F>(q, t, 1.0 / 33.0);
    q = fma::<F>(q, t, 1.0 / 31.0);
    q = fma::<F>(q, t, 1.0 / 29.0);
    q = fma::<F>(q, t, 1.0 / 27.0);
    q = fma::<F>(q, t, 1.0 / 25.0);
    q = fma::<F>(q, t, 1.0 / 23.0);
    q = fma::<F>(q, t, 1.0 / 21.0);
    q = fma::<F>(q, t, 1.0 / 19.0);
    q = fma::<F>(q, t, 1.0 / 17.0);
    q = fma::<F>(q, t, 1.0 / 15.0);
    q = fma::<F>(q, t, 1.0 / 13.0);
    q = fma::<F>(q, t, 1.0 / 11.0);
    q = fma::<F>(q, t, 1.0 / 9.0);
    q = fma::<F>(q, t, 1.0 / 7.0);
    q = fma::<F>(q, t, 1.0 / 5.0);
    q = fma::<F>(q, t, 1.0 / 3.0);
    2.0 * fma::<F>(q * t, s, s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::double_double::DoubleDouble;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn exp_keeps_its_bound(x in -708.0..0.0_f64) {
            let exact = DoubleDouble::from(x).exp_nonpositive();
            for found in [exp_nonpositive::<true>(x), exp_nonpositive::<false>(x)] {
                let gap = (DoubleDouble::from(found) - exact).high.abs() / exact.high;
                prop_assert!(gap <= EXP_ERROR / 1.5, "x {x}, gap {gap}");
            }
        }

        #[test]
        fn logarithm_agrees_with_the_library(x in 0.0..1.0_f64) {
            for found in [ln_one_plus::<true>(x), ln_one_plus::<false>(x)] {
                prop_assert!((found - x.ln_1p()).abs() <= 4.0 * f64::EPSILON * x.ln_1p());
            }
        }
    }

    #[test]
    fn the_ends_are_right() {
        assert_eq!(exp_nonpositive::<true>(0.0), 1.0);
        assert_eq!(exp_nonpositive::<false>(-0.0), 1.0);
        assert!(exp_nonpositive::<true>(-1e300) <= 4e-308);
        assert!(exp_nonpositive::<true>(f64::NEG_INFINITY) <= 4e-308);
        assert!((ln_one_plus::<true>(1.0) - 2.0_f64.ln()).abs() < 1e-15);
        assert_eq!(ln_one_plus::<true>(1e-300), 1e-300);
    }
}
