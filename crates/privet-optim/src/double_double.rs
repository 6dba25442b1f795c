//! Numbers of about 106 bits: an unevaluated sum of two f64.
//!
//! **Facts used** (Dekker 1971; Joldes, Muller & Popescu 2017). `two_sum` and `two_product` return the
//! rounded result and its exact error. Addition errs by at most 3·2⁻¹⁰⁶ and multiplication by at most
//! 5·2⁻¹⁰⁶ relative to the result; we state [`ROUNDOFF`] = 2⁻¹⁰³ for either. These hold short of
//! overflow and of underflow below 2⁻⁹⁶⁰, which margins, multipliers and features never approach except
//! where a term is negligible (its absolute error is then below 2⁻⁹⁰⁰).
//!
//! [`DoubleDouble::exp_nonpositive`]: x = k·ln 2 + 32r. The reduction errs by 2⁻⁹⁵ at most (|k| ≤ 1022
//! times the error of ln 2 as two f64). With |r| ≤ 0.011 the polynomial of degree 14 leaves
//! r¹⁵/15! < 2⁻¹³⁷; e^r − 1 then has relative error below 2⁻⁹⁹, and each of the five doublings
//! e^{2r} − 1 = 2g + g² adds less than 2⁻¹⁰⁰ and keeps the rest relative to a number that grows
//! alike. Relative error below [`EXP_ERROR`] = 2⁻⁹². Tested against 60 digits of `mpmath`.

use std::ops::{Add, Mul, Neg, Sub};

/// Relative error of one addition or multiplication.
pub const ROUNDOFF: f64 = 9.860_761_315_262_648e-32; // 2⁻¹⁰³

/// Relative error of [`DoubleDouble::exp_nonpositive`] on [−708, 0].
pub const EXP_ERROR: f64 = 2.019_483_917_365_79e-28; // 2⁻⁹²

/// The number `high + low`, with |low| ≤ half an ulp of high.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DoubleDouble {
    /// The number rounded to f64.
    pub high: f64,
    /// The remainder.
    pub low: f64,
}

/// The rounded sum and its exact error: a + b = sum + error.
#[inline(always)]
pub fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// The same when |a| ≥ |b| or a = 0.
#[inline(always)]
fn quick_two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// The rounded product and its exact error: a · b = product + error.
#[inline(always)]
pub fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

impl DoubleDouble {
    /// Zero.
    pub const ZERO: Self = Self { high: 0.0, low: 0.0 };

    /// The number `high + low` for any two numbers, renormalised.
    #[inline(always)]
    pub fn new(high: f64, low: f64) -> Self {
        let (high, low) = two_sum(high, low);
        Self { high, low }
    }

    /// The product with an f64.
    #[inline(always)]
    pub fn times(self, factor: f64) -> Self {
        let (product, error) = two_product(self.high, factor);
        let (high, low) = quick_two_sum(product, self.low.mul_add(factor, error));
        Self { high, low }
    }

    /// The reciprocal, by one Newton step on the f64 quotient: relative error below 2⁻¹⁰⁰.
    #[inline(always)]
    pub fn reciprocal(self) -> Self {
        let guess = 1.0 / self.high;
        let residual = Self::from(1.0) - self.times(guess);
        let correction = Self::from(guess) * residual;
        let second = Self::from(guess) + correction;
        // The residual of `second` is about 2⁻¹⁰⁶·2; one f64 correction removes the square term.
        let residual = Self::from(1.0) - self * second;
        second + Self::from(guess * residual.high)
    }

    /// The square root of a number of at least 0, by one Newton step on the f64 root r: with
    /// a = r² + e, |e| ≤ 2⁻⁵²a, √a = r + e/(2r) up to e²/(8r³) ≤ 2⁻¹⁰⁷√a, and the correction is
    /// rounded to f64, 2⁻¹⁰⁵√a. Relative error below 2⁻¹⁰³. Zero for numbers that are not above 0.
    #[inline(always)]
    pub fn sqrt(self) -> Self {
        if !(self.high > 0.0 && self.high.is_finite()) {
            return Self::from(self.high.max(0.0));
        }
        let root = self.high.sqrt();
        let (square, error) = two_product(root, root);
        let rest = self - Self { high: square, low: error };
        Self::new(root, rest.high * (0.5 / root))
    }

    /// True if the number is above 0.
    #[inline(always)]
    pub fn is_positive(self) -> bool {
        self.high > 0.0 || (self.high == 0.0 && self.low > 0.0)
    }

    /// The exponential e^x for x ≤ 0; constant e⁻⁷⁰⁸ below −708.
    #[inline(always)]
    pub fn exp_nonpositive(self) -> Self {
        let held = self.high < -708.0;
        let x = Self {
            high: if held { -708.0 } else { self.high },
            low: if held { 0.0 } else { self.low },
        };
        // Adding 1.5·2⁵² rounds to an integer, which then sits in the lowest bits.
        let shifted = x.high.mul_add(std::f64::consts::LOG2_E, ROUNDER);
        let k = shifted - ROUNDER;
        let r = (x - LN2.times(k)).halved(HALVINGS);
        let mut q = INVERSE_FACTORIALS[TERMS - 1];
        for &coefficient in INVERSE_FACTORIALS[..TERMS - 1].iter().rev() {
            q = q * r + coefficient;
        }
        let mut grown = r + q * (r * r); // e^r − 1
        for _ in 0..HALVINGS {
            grown = grown.times(2.0) + grown * grown;
        }
        let p = Self::from(1.0) + grown;
        let scale = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
        Self { high: p.high * scale, low: p.low * scale }
    }

    /// The number divided by 2^times, exactly.
    #[inline(always)]
    fn halved(self, times: u32) -> Self {
        let factor = 1.0 / f64::from(1_u32 << times);
        Self { high: self.high * factor, low: self.low * factor }
    }
}

const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// The number of halvings of the Taylor polynomial's argument, and the number of its terms after 1 + r.
const HALVINGS: u32 = 5;
const TERMS: usize = 13;

impl From<f64> for DoubleDouble {
    #[inline(always)]
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl Add for DoubleDouble {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let (sum, error) = two_sum(self.high, other.high);
        let (tail, tail_error) = two_sum(self.low, other.low);
        let (sum, error) = quick_two_sum(sum, error + tail);
        let (high, low) = quick_two_sum(sum, error + tail_error);
        Self { high, low }
    }
}

impl Neg for DoubleDouble {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Sub for DoubleDouble {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self + (-other)
    }
}

impl Mul for DoubleDouble {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let (product, error) = two_product(self.high, other.high);
        let cross = self.high.mul_add(other.low, self.low * other.high);
        let (high, low) = quick_two_sum(product, error + cross);
        Self { high, low }
    }
}

const LN2: DoubleDouble =
    DoubleDouble { high: std::f64::consts::LN_2, low: 2.319_046_813_846_299_6e-17 };

const fn pair(high: f64, low: f64) -> DoubleDouble {
    DoubleDouble { high, low }
}

/// The coefficients 1/k! for k = 2, …, 14, by `mpmath` at 400 bits.
const INVERSE_FACTORIALS: [DoubleDouble; TERMS] = [
    pair(0.5, 0.0),
    pair(0.16666666666666666, 9.25185853854297e-18),
    pair(0.041666666666666664, 2.3129646346357427e-18),
    pair(0.008333333333333333, 1.1564823173178714e-19),
    pair(0.001388888888888889, -5.300543954373577e-20),
    pair(0.0001984126984126984, 1.7209558293420705e-22),
    pair(2.48015873015873e-05, 2.1511947866775882e-23),
    pair(2.7557319223985893e-06, -1.858393274046472e-22),
    pair(2.755731922398589e-07, 2.3767714622250297e-23),
    pair(2.505210838544172e-08, -1.448814070935912e-24),
    pair(2.08767569878681e-09, -1.20734505911326e-25),
    pair(1.6059043836821613e-10, 1.2585294588752098e-26),
    pair(1.1470745597729725e-11, 2.0655512752830745e-28),
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[allow(clippy::approx_constant)]
    /// Digits of e^x by `mpmath` (`mp.dps = 60; h = float(v); l = float(v - h)`).
    const REFERENCE: [(f64, f64, f64); 13] = [
        (-0.0, 1.0, 0.0),
        (-1e-300, 1.0, 0.0),
        (-1e-10, 0.9999999999, 8.279037096265651e-18),
        (-0.1, 0.9048374180359595, 5.055984668733208e-17),
        (-0.34657359027997264, 0.7071067811865476, -4.013739792746569e-17),
        (-0.3465735902799727, 0.7071067811865475, 3.163259306795559e-17),
        (-0.5, 0.6065306597126334, -6.593178415491414e-19),
        (-1.0, 0.36787944117144233, -1.2428753672788363e-17),
        (-10.0, 4.5399929762484854e-05, -2.637554055327531e-21),
        (-36.04365338911715, 2.2204460492503185e-16, 2.1245520581674723e-32),
        (-100.3, 2.7559000653565687e-44, -2.3861443862681946e-60),
        (-345.678, 7.480869601401225e-151, 3.7101431896052405e-167),
        (-600.0, 2.6503965530043108e-261, 6.377342817491395e-278),
    ];

    #[test]
    fn exp_agrees_with_sixty_digits() {
        for (x, high, low) in REFERENCE {
            let found = DoubleDouble::from(x).exp_nonpositive();
            let gap = (found - DoubleDouble { high, low }).high.abs();
            assert!(gap <= EXP_ERROR / 4.0 * high, "x {x}, relative gap {}", gap / high);
        }
    }

    proptest! {
        #[test]
        fn products_with_short_factors_are_exact(a in any::<i32>(), b in any::<i32>(), c in 1..1000_i32) {
            let (a, b, c) = (f64::from(a), f64::from(b), f64::from(c));
            let found = (DoubleDouble::from(a) * DoubleDouble::from(b)).times(c);
            let exact = a as i128 * b as i128 * c as i128;
            prop_assert_eq!(found.high as i128 + found.low as i128, exact);
        }

        #[test]
        fn roots_square_to_their_argument(high in 1e-3..1e3_f64, low in -1e-20..1e-20_f64) {
            let x = DoubleDouble::new(high, low);
            let root = x.sqrt();
            let gap = (root * root - x).high.abs();
            prop_assert!(gap <= 8.0 * ROUNDOFF * high, "{gap}");
        }

        #[test]
        fn reciprocals_multiply_to_one(high in 1.0..2.0_f64, low in -1e-17..1e-17_f64) {
            let x = DoubleDouble::new(high, low);
            let gap = (x * x.reciprocal() - DoubleDouble::from(1.0)).high.abs();
            prop_assert!(gap < 1e-30, "{gap}");
        }
    }
}
