//! Numbers of about 106 bits: an unevaluated sum of two f64.
//!
//! **Facts used** (Dekker 1971; Joldes, Muller & Popescu 2017). `two_sum` and `two_product` return
//! the rounded result and its exact error. Addition errs by at most 3·2⁻¹⁰⁶ and multiplication by
//! at most 5·2⁻¹⁰⁶ relative to the result; we state [`ROUNDOFF`] = 2⁻¹⁰³ for either. These hold
//! short of overflow and of underflow below 2⁻⁹⁶⁰, which margins, multipliers and features never
//! come near except where a term is negligible (its absolute error is then below 2⁻⁹⁰⁰).
//!
//! [`DoubleDouble::exp_nonpositive`]: reduction errs by 2⁻⁹⁵ at most (|k| ≤ 1022 times the error of
//! ln 2 as two f64), 27 Taylor terms leave (ln 2 / 2)²⁹/29! < 2⁻¹⁴⁴, and the 27 Horner steps less
//! than 2⁻⁹⁹: relative error below [`EXP_ERROR`] = 2⁻⁹². Tested against 60 digits of `mpmath`.

use std::ops::{Add, Mul, Neg, Sub};

/// Relative error of one addition or multiplication.
pub const ROUNDOFF: f64 = 9.860_761_315_262_648e-32; // 2⁻¹⁰³

/// Relative error of [`DoubleDouble::exp_nonpositive`] on [−708, 0].
pub const EXP_ERROR: f64 = 2.019_483_917_365_79e-28; // 2⁻⁹²

/// `high + low`, with |low| ≤ half an ulp of high.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DoubleDouble {
    /// The number rounded to f64.
    pub high: f64,
    /// What is missing.
    pub low: f64,
}

/// a + b = sum + error, exactly.
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

/// a · b = product + error, exactly.
#[inline(always)]
pub fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

impl DoubleDouble {
    /// Zero.
    pub const ZERO: Self = Self { high: 0.0, low: 0.0 };

    /// `high + low` for any two numbers, renormalised.
    #[inline(always)]
    pub fn new(high: f64, low: f64) -> Self {
        let (high, low) = two_sum(high, low);
        Self { high, low }
    }

    /// Times an f64.
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

    /// e^x for x ≤ 0; held at e⁻⁷⁰⁸ below −708.
    #[inline(always)]
    pub fn exp_nonpositive(self) -> Self {
        if self.high < -708.0 {
            return Self::from(-708.0).exp_nonpositive();
        }
        let k = (self.high * std::f64::consts::LOG2_E).round_ties_even();
        let r = self - LN2.times(k);
        let mut q = INVERSE_FACTORIALS[26];
        for &coefficient in INVERSE_FACTORIALS[..26].iter().rev() {
            q = q * r + coefficient;
        }
        let p = Self::from(1.0) + (r + q * (r * r));
        // k ≥ −1022: in two halves, so that neither factor is subnormal.
        let half = (k / 2.0).floor();
        let scale = power_of_two(half) * power_of_two(k - half);
        Self { high: p.high * scale, low: p.low * scale }
    }
}

/// 2^k for an integral k in [−1022, 1023].
#[inline(always)]
fn power_of_two(k: f64) -> f64 {
    f64::from_bits(((k as i64 + 1023) as u64) << 52)
}

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

/// 1/k! for k = 2, …, 28, by `mpmath` at 400 bits.
const INVERSE_FACTORIALS: [DoubleDouble; 27] = [
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
    pair(7.647163731819816e-13, 7.03872877733453e-30),
    pair(4.779477332387385e-14, 4.399205485834081e-31),
    pair(2.8114572543455206e-15, 1.6508842730861433e-31),
    pair(1.5619206968586225e-16, 1.1910679660273754e-32),
    pair(8.22063524662433e-18, 2.2141894119604265e-34),
    pair(4.110317623312165e-19, 1.4412973378659527e-36),
    pair(1.9572941063391263e-20, -1.3643503830087908e-36),
    pair(8.896791392450574e-22, -7.911402614872376e-38),
    pair(3.868170170630684e-23, -8.843177655482344e-40),
    pair(1.6117375710961184e-24, -3.6846573564509766e-41),
    pair(6.446950284384474e-26, -1.9330404233703465e-42),
    pair(2.4795962632247976e-27, -1.2953730964765229e-43),
    pair(9.183689863795546e-29, 1.4303150396787322e-45),
    pair(3.279889237069838e-30, 1.5117542744029879e-46),
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Digits of e^x by `mpmath` (`mp.dps = 60; h = float(v); l = float(v - h)`).
    const REFERENCE: [(f64, f64, f64); 14] = [
        (-0.0, 1.0, 0.0),
        (-1e-300, 1.0, 0.0),
        (-1e-10, 0.9999999999, 8.279037096265651e-18),
        (-0.1, 0.9048374180359595, 5.055984668733208e-17),
        (-0.34657359027997264, 0.7071067811865476, -4.013739792746569e-17),
        (-0.3465735902799727, 0.7071067811865475, 3.163259306795559e-17),
        (-0.5, 0.6065306597126334, -6.593178415491414e-19),
        (-1.0, 0.36787944117144233, -1.2428753672788363e-17),
        (-2.718281828, 0.06598803587560403, 6.624168499963344e-18),
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
        fn reciprocals_multiply_to_one(high in 1.0..2.0_f64, low in -1e-17..1e-17_f64) {
            let x = DoubleDouble::new(high, low);
            let gap = (x * x.reciprocal() - DoubleDouble::from(1.0)).high.abs();
            prop_assert!(gap < 1e-30, "{gap}");
        }
    }
}
