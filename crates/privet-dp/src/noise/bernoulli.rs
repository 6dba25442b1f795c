//! Coins: Bernoulli(e⁻ˣ) and Bernoulli(p), **exact** for rational or dyadic x and dyadic p.
//!
//! (word + U)/2⁶⁴ is uniform on [0, 1), so comparing it with e⁻ˣ or p gives the coin; the comparison
//! draws bits of U only when the first 64 do not decide.

pub use super::exact::exponent::Exponent;
use super::exact::exponent::{Scale, dyadic_parts};
use super::{NoiseError, Source};
use privet_core::Range;

/// Limits on a probability strictly between 0 and 1.
pub const PROBABILITY: Range = Range::open("probability", 0.0, 1.0);

/// True with probability e⁻ˣ exactly.
///
/// ```
/// use privet_dp::noise::{FixedSeed, bernoulli::{Exponent, bernoulli_exp}};
/// let x = Exponent::ratio(1, 3)?;
/// let heads = bernoulli_exp(&x, &mut FixedSeed::new(7));
/// # let _: bool = heads;
/// # Ok::<(), privet_dp::noise::NoiseError>(())
/// ```
pub fn bernoulli_exp<S: Source + ?Sized>(exponent: &Exponent, source: &mut S) -> bool {
    let word = source.next_u64();
    exponent.decide(word, Scale { mantissa: 1, shift: 64 }, source)
}

/// A coin whose probability is the dyadic number of an f64.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coin {
    /// p = threshold/2⁶⁴ + rest.
    threshold: u64,
    /// (mantissa, exponent) of p, for ties.
    mantissa: u64,
    exponent: i32,
}

impl Coin {
    /// A coin that is true with probability p, 0 < p < 1.
    pub fn new(probability: f64) -> Result<Self, NoiseError> {
        let (mantissa, exponent) = dyadic_parts(PROBABILITY.check(probability)?);
        // p = mantissa·2^exponent < 1, so exponent ≤ −53 and 64 + exponent ≤ 11.
        let threshold = match 64 + exponent {
            up @ 0.. => mantissa << up,
            down => mantissa.checked_shr(down.unsigned_abs()).unwrap_or(0),
        };
        Ok(Self { threshold, mantissa, exponent })
    }

    /// True with probability p exactly.
    #[inline]
    pub fn toss<S: Source + ?Sized>(&self, source: &mut S) -> bool {
        let word = source.next_u64();
        word < self.threshold || (word == self.threshold && self.toss_on_a_tie(source))
    }

    /// The first eight bits of p: a uniform byte below them decides for true, one above for false, and
    /// [`Coin::toss_after`] decides on equality.
    #[inline]
    pub(super) fn first_byte(&self) -> u8 {
        (self.threshold >> 56) as u8
    }

    /// True with the remaining probability, given that the first byte of the uniform equals
    /// [`Coin::first_byte`].
    pub(super) fn toss_after<S: Source + ?Sized>(&self, source: &mut S) -> bool {
        let (word, rest) = (source.bits(56), self.threshold & ((1 << 56) - 1));
        word < rest || (word == rest && self.toss_on_a_tie(source))
    }

    /// Compares the further bits of the uniform with those of p, word by word.
    #[cold]
    fn toss_on_a_tie<S: Source + ?Sized>(&self, source: &mut S) -> bool {
        // Bit 64·i of p, counted from the binary point, is bit `place` of the mantissa.
        for index in 2.. {
            let place = -64 * index - self.exponent;
            if place <= -64 {
                break;
            }
            let digit = match place {
                0.. => self.mantissa.checked_shr(place as u32).unwrap_or(0),
                _ => self.mantissa << place.unsigned_abs(),
            };
            let word = source.next_u64();
            if word != digit {
                return word < digit;
            }
        }
        // All bits of p matched: the uniform is at least p.
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::source::Scripted;

    #[test]
    fn ties_go_down_to_the_last_bit_of_the_probability() {
        // p = 2⁻⁷⁰ + 2⁻¹⁰⁰: the first word must be 0, the second below 2⁵⁸ + 2²⁸.
        let coin = Coin::new(2_f64.powi(-70) + 2_f64.powi(-100)).unwrap();
        let edge = (1 << 58) + (1 << 28);
        assert!(!coin.toss(&mut Scripted::new([1])));
        assert!(coin.toss(&mut Scripted::new([0, edge - 1])));
        assert!(!coin.toss(&mut Scripted::new([0, edge])));
        // The same in two parts: a byte of 0, then 56 bits of 0, then the rest.
        assert_eq!(coin.first_byte(), 0);
        assert!(coin.toss_after(&mut Scripted::new([0, edge - 1])));
        assert!(!coin.toss_after(&mut Scripted::new([0, edge])));
        assert!(!coin.toss_after(&mut Scripted::new([1 << 8])));
        let half = Coin::new(0.5).unwrap();
        assert_eq!(half.first_byte(), 128);
        assert!(!half.toss_after(&mut Scripted::new([0])));
        assert!(half.toss(&mut Scripted::new([(1 << 63) - 1])));
        assert!(!half.toss(&mut Scripted::new([1 << 63])));
        let least = Coin::new(5e-324).unwrap(); // 2⁻¹⁰⁷⁴ = 2⁻¹⁰²⁴ · 2⁻⁵⁰: word 17 is 2¹⁴
        let mut words = vec![0; 16];
        words.push((1 << 14) - 1);
        assert!(least.toss(&mut Scripted::new(words.clone())));
        words[16] += 1;
        assert!(!least.toss(&mut Scripted::new(words)));
        for bad in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(Coin::new(bad).unwrap_err().to_string().contains("probability"));
        }
    }

    /// Straddling words: a mantissa that lies across the first and second 64 bits.
    #[test]
    fn a_mantissa_across_two_words_is_read_whole() {
        let probability = 1.0 / 3.0 * 2_f64.powi(-40);
        let (mantissa, exponent) = dyadic_parts(probability);
        let whole = u128::from(mantissa) << (128 + exponent); // p·2¹²⁸
        let coin = Coin::new(probability).unwrap();
        let words = |value: u128| [(value >> 64) as u64, value as u64];
        assert!(coin.toss(&mut Scripted::new(words(whole - 1))));
        assert!(!coin.toss(&mut Scripted::new(words(whole))));
    }
}
