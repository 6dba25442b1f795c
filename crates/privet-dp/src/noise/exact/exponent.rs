//! Decides exactly if (offset + U)/scale < e⁻ˣ, for U uniform on [0, 1).
//!
//! The integer `offset` is known, U is not: its bits are drawn only if they matter.
//!
//! 1. *Interval.* An f64 enclosure of scale·e⁻ˣ ([`Exponent::bounds`]) either lies above
//!    offset + 1, below offset, or neither. The third case is a **tie** (probability about 2⁻⁴⁴).
//! 2. *Integers.* On a tie, U's first B = 64·w bits are drawn and e⁻ˣ is enclosed between two
//!    multiples of 2⁻ᴮ ([`Exponent::enclosure`]); the comparison is made in naturals. Undecided
//!    means w doubles, and further bits of the *same* U are drawn.
//!
//! Every step decides as real numbers would, so the probability of `true` is min(1, max(0,
//! scale·e⁻ˣ − offset)) exactly. The enclosures shrink to a point and U equals that point with
//! probability 0, so the loop ends with probability 1 (a pass leaves it running with probability at most
//! scale·(upper − lower)/2ᴮ + 2⁻ᴮ).
//!
//! *Enclosure.* h ≥ 0 is such that t = x/2ʰ ≤ ½. t is enclosed by T/2ᴮ and (T+1)/2ᴮ. For 0 ≤ t < 1
//! the series 1 − t + t²/2 − … alternates with falling terms: a partial sum that ends in a negative
//! term lies below e⁻ᵗ, by at most that last term. Each term is itself enclosed, rounding down
//! and up. h squarings, rounded down and up, lead back to e⁻ˣ.
//!
//! Tested by `decisions_agree_with_big_rationals` and, at the last bits of U, by
//! `ties_are_decided_as_big_rationals_would`.

use super::interval::{LARGEST_ARGUMENT, exp_negative, power_of_two};
use super::natural::Natural;
use crate::noise::{NoiseError, Source};
use privet_core::Range;

/// Limits on the exponent x of e⁻ˣ if given as an f64.
const EXPONENT: Range = Range::from("exponent", 0.0, f64::INFINITY);

/// The exponent x = numerator / denominator · 2^−shift ≥ 0, exactly. 0 < denominator < 2¹²⁷.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exponent {
    numerator: u128,
    denominator: u128,
    shift: i32,
}

/// The factor of e⁻ˣ: mantissa · 2^shift.
#[derive(Debug, Clone, Copy)]
pub(in crate::noise) struct Scale {
    pub mantissa: u64,
    pub shift: u32,
}

/// Splits a finite f > 0 or f = 0 into mantissa · 2^exponent, mantissa < 2⁵³.
pub(in crate::noise) fn dyadic_parts(f: f64) -> (u64, i32) {
    let fraction = f.to_bits() & ((1 << 52) - 1);
    match (f.to_bits() >> 52 & 0x7ff) as i32 {
        0 => (fraction, -1074),
        raw => (fraction | 1 << 52, raw - 1075),
    }
}

impl Exponent {
    /// The exponent numerator / denominator · 2^−shift; the caller ensures 0 < denominator < 2¹²⁷.
    pub(in crate::noise) fn new(numerator: u128, denominator: u128, shift: i32) -> Self {
        debug_assert!(0 < denominator && denominator < 1 << 127);
        Self { numerator, denominator, shift }
    }

    /// The exponent numerator / denominator.
    pub fn ratio(numerator: u64, denominator: u64) -> Result<Self, NoiseError> {
        if denominator == 0 {
            return Err(NoiseError::ZeroDenominator { numerator });
        }
        Ok(Self::new(numerator.into(), denominator.into(), 0))
    }

    /// The exponent x as the exact dyadic number of an f64. Accepted: finite, not negative.
    pub fn dyadic(x: f64) -> Result<Self, NoiseError> {
        let (mantissa, exponent) = dyadic_parts(EXPONENT.check(x)?);
        Ok(Self::new(mantissa.into(), 1, -exponent))
    }

    /// Bounds lower ≤ e⁻ˣ ≤ upper.
    ///
    /// The f64 nearest x is computed with three roundings, a relative error below 2⁻⁵¹ (where it
    /// falls below the normal range, an absolute one below 2⁻¹⁰⁷³), so e⁻ˣ moves by a factor within
    /// 1 ± (x·2⁻⁵⁰ + 2⁻⁶⁰) for x ≤ 600; `exp_negative` adds 2⁻⁴⁸. The slack taken is 2⁻⁴⁵ + x·2⁻⁴⁸,
    /// which leaves 2⁻⁴⁶ for the six roundings of 2⁻⁵³ that follow here and in [`Self::decide`].
    pub(in crate::noise) fn bounds(&self) -> (f64, f64) {
        let quotient = self.numerator as f64 / self.denominator as f64;
        let x = match self.shift {
            -1000..=1000 => quotient * power_of_two(-self.shift),
            // Two steps, of which only the second can leave the normal range.
            1001.. => quotient * power_of_two(-1000) * power_of_two((1000 - self.shift).max(-1000)),
            _ => quotient * power_of_two((-self.shift).min(1000)),
        };
        if x <= LARGEST_ARGUMENT {
            let middle = exp_negative(x);
            let slack = power_of_two(-45) + x * power_of_two(-48);
            (middle * (1.0 - slack), (middle * (1.0 + slack)).min(1.0))
        } else {
            // x ≥ 600(1 − 2⁻⁵⁰), or so large that it was cut at 2^1000 or more.
            (0.0, 1e-260)
        }
    }

    /// True if (offset + U)/scale < e⁻ˣ for a fresh U uniform on [0, 1).
    #[inline]
    pub(in crate::noise) fn decide<S: Source + ?Sized>(
        &self,
        offset: u64,
        scale: Scale,
        source: &mut S,
    ) -> bool {
        self.decide_by_interval(offset, scale)
            .unwrap_or_else(|| self.decide_by_integers(offset, scale, source))
    }

    /// The decision if it is the same for every U and the f64 interval determines it.
    fn decide_by_interval(&self, offset: u64, scale: Scale) -> Option<bool> {
        if scale.shift > 500 {
            return None;
        }
        let (lower, upper) = self.bounds();
        let factor = scale.mantissa as f64 * power_of_two(scale.shift as i32);
        let offset = offset as f64;
        if offset + 1.0 < factor * lower {
            Some(true)
        } else if offset > factor * upper {
            Some(false)
        } else {
            None
        }
    }

    /// The decision on a tie.
    #[cold]
    fn decide_by_integers<S: Source + ?Sized>(
        &self,
        offset: u64,
        scale: Scale,
        source: &mut S,
    ) -> bool {
        // offset, then the bits of U drawn so far, most significant word first.
        let mut drawn = vec![offset];
        let mut words = 2;
        loop {
            words *= 2;
            drawn.resize_with(words + 1, || source.next_u64());
            let left = Natural::from_big_endian(&drawn);
            let (lower, upper) = self.enclosure(words);
            let grow = |bound: &Natural| {
                bound.multiply(&Natural::new(scale.mantissa.into())).shift_left(scale.shift)
            };
            if left.add(&Natural::new(1)) <= grow(&lower) {
                return true;
            }
            if left >= grow(&upper) {
                return false;
            }
        }
    }

    /// Bounds lower ≤ e⁻ˣ·2ᴮ ≤ upper in naturals, B = 64·words.
    fn enclosure(&self, words: usize) -> (Natural, Natural) {
        let bits = 64 * words as i32;
        let unit = Natural::new(1).shift_left(bits as u32);
        if self.numerator == 0 {
            return (unit.clone(), unit);
        }
        // x < 2^(bit length of numerator − bit length of denominator + 1 − shift)
        let length = |n: u128| 128 - n.leading_zeros() as i32;
        let size = length(self.numerator) - length(self.denominator) + 1 - self.shift;
        let halvings = (size + 1).max(0);
        let exponent = bits - halvings - self.shift;
        let numerator = Natural::new(self.numerator);
        let time = if exponent >= 0 {
            numerator.shift_left(exponent as u32).divide(self.denominator)
        } else {
            // ⌊⌊y⌋/2ᵏ⌋ = ⌊y/2ᵏ⌋; dropping k bits is dropping words after a shift left.
            let (whole, rest) = ((-exponent).div_euclid(64), (-exponent).rem_euclid(64));
            let shifted = numerator.divide(self.denominator).shift_left((64 - rest) as u32);
            shifted.drop_words(whole as usize + 1)
        };
        let (mut lower, _) = series(&time.add(&Natural::new(1)), words);
        let (_, mut upper) = series(&time, words);
        for _ in 0..halvings {
            lower = lower.multiply(&lower).drop_words(words);
            upper = upper.multiply(&upper).drop_words_up(words);
        }
        (lower, upper)
    }
}

/// Bounds of e⁻ᵗ·2ᴮ for t = time/2ᴮ ≤ ½ + 2⁻ᴮ.
fn series(time: &Natural, words: usize) -> (Natural, Natural) {
    let one = Natural::new(1);
    let unit = one.shift_left(64 * words as u32);
    // Sums of the positive and of the negative terms, each rounded down and up.
    let mut sums = [[unit.clone(), unit.clone()], [Natural::new(0), Natural::new(0)]];
    let (mut down, mut up) = (unit.clone(), unit);
    for n in 1_u32.. {
        down = down.multiply(time).drop_words(words).divide(n.into());
        up = up.multiply(time).drop_words_up(words).divide(n.into()).add(&one);
        let negative = (n % 2) as usize;
        sums[negative][0] = sums[negative][0].add(&down);
        sums[negative][1] = sums[negative][1].add(&up);
        // `up` falls to 1 or 2 units and stays; the last term must be a negative one.
        if negative == 1 && up <= Natural::new(2) {
            break;
        }
    }
    let lower = sums[0][0].subtract(&sums[1][1]);
    let upper = sums[0][1].subtract(&sums[1][0]).add(&up);
    (lower, upper)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::exact::oracle::{self, Ratio};
    use crate::noise::source::Scripted;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    fn oracle_ratio(x: &Exponent) -> Ratio {
        let power = BigUint::from(1_u32) << x.shift.unsigned_abs();
        let (numerator, denominator) = (BigUint::from(x.numerator), BigUint::from(x.denominator));
        if x.shift > 0 {
            Ratio(numerator, denominator * power)
        } else {
            Ratio(numerator * power, denominator)
        }
    }

    /// Exponents of every build, x below 200.
    fn any_exponent() -> impl Strategy<Value = Exponent> {
        prop_oneof![
            (0_u64..60_000, 300_u64..2_000).prop_map(|(n, d)| Exponent::ratio(n, d).unwrap()),
            (0.0..100.0).prop_map(|x| Exponent::dyadic(x).unwrap()),
            (-300_i32..0).prop_map(|e| Exponent::dyadic(2_f64.powi(e)).unwrap()),
            // as the Gaussian's: v²/(2m²4^e) with v up to 12σ
            (1_u64 << 52..1 << 53, -62_i32..0, 0.0..12.0).prop_map(|(m, e, t)| {
                let v = (m as f64 * 2_f64.powi(e) * t) as u128;
                Exponent::new(v * v, u128::from(m) * u128::from(m), 2 * e + 1)
            }),
        ]
    }

    proptest! {
        #[test]
        fn enclosures_hold_the_truth_and_are_tight(x in any_exponent(), words in 2_usize..6) {
            let bits = 64 * words as u32;
            let truth = oracle::exp_negative(&oracle_ratio(&x), bits + 64);
            let (lower, upper) = x.enclosure(words);
            let (lower, upper) = (lower.to_oracle() << 64_u32, upper.to_oracle() << 64_u32);
            prop_assert!(lower <= &truth + 1_u32 && truth <= &upper + 1_u32);
            prop_assert!(upper - lower < BigUint::from(1_u32) << (64 + 24));
        }

        #[test]
        fn bounds_hold_the_truth(x in any_exponent()) {
            let truth = oracle::exp_negative(&oracle_ratio(&x), 1100);
            let (lower, upper) = x.bounds();
            let big = |f| { let (m, e) = oracle::parts(f); oracle::shifted(m, e + 1100) };
            prop_assert!(big(lower) <= &truth + 1_u32 && truth <= big(upper) + 1_u32);
            prop_assert!(upper - lower <= upper * 2e-12);
        }

        /// Any offset, and any first word of U.
        #[test]
        fn decisions_agree_with_big_rationals(
            x in any_exponent(), mantissa in 1_u64.., shift in 0_u32..70, near in -3_i64..3,
            word: u64,
        ) {
            let scale = Scale { mantissa, shift };
            let exact = oracle::exp_negative(&oracle_ratio(&x), 1000);
            let threshold = (exact * mantissa) << shift;
            let whole = &threshold >> 1000_u32;
            let offset = u64::try_from(whole).unwrap_or(u64::MAX - 9).saturating_add_signed(near);
            let left = (BigUint::from(offset) << 1000_u32) + (BigUint::from(word) << 936_u32);
            let expected = left < threshold;
            let mut source = Scripted::new([word]);
            prop_assert_eq!(x.decide(offset, scale, &mut source), expected);
        }

        /// U agrees with the threshold in its first 64·known bits and the next word is off by one
        /// either way: a tie for the interval, and for every precision below `known` words.
        #[test]
        fn ties_are_decided_as_big_rationals_would(
            x in any_exponent(), mantissa in 1_u64 << 62.., known in 0_usize..9,
        ) {
            prop_assume!(x.numerator > 0);
            let scale = Scale { mantissa, shift: 0 };
            let depth = 64 * 12_u32;
            let exact = oracle::exp_negative(&oracle_ratio(&x), depth + 128);
            let threshold: BigUint = (exact * mantissa) >> 128_u32;
            let digit = |place: u32| (&threshold >> (depth - 64 * place)) & BigUint::from(u64::MAX);
            let mut words: Vec<u64> = (0..=12).map(|i| digit(i).try_into().unwrap()).collect();
            let offset = words.remove(0);
            prop_assume!((1..u64::MAX).contains(&words[known]));
            if offset > 0 && offset < mantissa - 1 {
                prop_assert_eq!(x.decide_by_interval(offset, scale), None);
            }
            for (step, expected) in [(-1, true), (1, false)] {
                let mut close = words.clone();
                close[known] = close[known].wrapping_add_signed(step);
                let mut source = Scripted::new(close);
                prop_assert_eq!(x.decide(offset, scale, &mut source), expected);
                prop_assert!(source.taken > known, "the deciding word was never read");
            }
        }
    }

    #[test]
    fn the_ends_of_the_range_are_decided() {
        let unit = Scale { mantissa: 1, shift: 64 };
        let sure = Exponent::dyadic(0.0).unwrap();
        assert!(sure.decide(u64::MAX, unit, &mut Scripted::new([u64::MAX; 9])));
        let tiny = Exponent::dyadic(5e-324).unwrap();
        assert!(tiny.decide(u64::MAX, unit, &mut Scripted::new([u64::MAX; 3])));
        let huge = Exponent::dyadic(f64::MAX).unwrap();
        assert!(!huge.decide(0, unit, &mut Scripted::new([0, 0, 1])));
        let ratio = Exponent::ratio(u64::MAX, 1).unwrap();
        assert!(!ratio.decide(0, unit, &mut Scripted::new([0, 0, 1])));
        assert!(Exponent::ratio(1, 0).is_err());
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            let message = Exponent::dyadic(bad).unwrap_err().to_string();
            assert!(message.contains("exponent"), "{message}");
        }
    }
}
