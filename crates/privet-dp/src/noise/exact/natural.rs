//! The few operations on big naturals that a tie needs: little-endian words, schoolbook arithmetic.
//!
//! A tie occurs about once in 2⁴⁰ draws, so nothing here is optimised for speed; it is written to be
//! read.

use std::cmp::Ordering;

/// A natural number, least significant word first, without high zero words.
#[derive(Debug, Clone)]
pub(super) struct Natural(Vec<u64>);

impl Natural {
    pub fn new(value: u128) -> Self {
        Self::trimmed(vec![value as u64, (value >> 64) as u64])
    }

    /// From words with the most significant first.
    pub fn from_big_endian(words: &[u64]) -> Self {
        Self::trimmed(words.iter().rev().copied().collect())
    }

    /// Drops high zero words, which repeated squaring would otherwise double each time.
    fn trimmed(mut words: Vec<u64>) -> Self {
        words.truncate(words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1));
        Self(words)
    }

    fn word(&self, index: usize) -> u64 {
        self.0.get(index).copied().unwrap_or(0)
    }

    pub fn add(&self, other: &Self) -> Self {
        let mut carry = 0_u128;
        let words = (0..=self.0.len().max(other.0.len())).map(|i| {
            carry += u128::from(self.word(i)) + u128::from(other.word(i));
            let word = carry as u64;
            carry >>= 64;
            word
        });
        Self::trimmed(words.collect())
    }

    /// The difference self − other; the caller ensures other ≤ self.
    pub fn subtract(&self, other: &Self) -> Self {
        debug_assert!(other <= self);
        let mut borrow = false;
        let words = (0..self.0.len()).map(|i| {
            let (word, first) = self.word(i).overflowing_sub(other.word(i));
            let (word, second) = word.overflowing_sub(u64::from(borrow));
            borrow = first || second;
            word
        });
        Self::trimmed(words.collect())
    }

    pub fn multiply(&self, other: &Self) -> Self {
        let mut words = vec![0_u64; self.0.len() + other.0.len() + 1];
        for (i, &left) in self.0.iter().enumerate() {
            let mut carry = 0_u128;
            for (j, &right) in other.0.iter().enumerate() {
                // (2⁶⁴ − 1)² + 2(2⁶⁴ − 1) < 2¹²⁸
                carry += u128::from(left) * u128::from(right) + u128::from(words[i + j]);
                words[i + j] = carry as u64;
                carry >>= 64;
            }
            words[i + other.0.len()] = carry as u64;
        }
        Self::trimmed(words)
    }

    /// The product self · 2^(64·words + bits).
    pub fn shift_left(&self, shift: u32) -> Self {
        let (whole, bits) = ((shift / 64) as usize, shift % 64);
        let mut words = vec![0_u64; whole];
        words.extend_from_slice(&self.0);
        words.push(0);
        if bits > 0 {
            for i in (whole..words.len()).rev() {
                let below = if i > 0 { words[i - 1] >> (64 - bits) } else { 0 };
                words[i] = words[i] << bits | below;
            }
        }
        Self::trimmed(words)
    }

    /// The quotient ⌊self / 2^(64·words)⌋.
    pub fn drop_words(&self, words: usize) -> Self {
        Self::trimmed(self.0.get(words..).unwrap_or(&[]).to_vec())
    }

    /// The quotient ⌈self / 2^(64·words)⌉.
    pub fn drop_words_up(&self, words: usize) -> Self {
        let cut = self.0.iter().take(words).any(|word| *word != 0);
        self.drop_words(words).add(&Self::new(u128::from(cut)))
    }

    /// The quotient ⌊self / divisor⌋ for 0 < divisor < 2¹²⁷, bit by bit.
    pub fn divide(&self, divisor: u128) -> Self {
        debug_assert!(0 < divisor && divisor < 1 << 127);
        let mut words = vec![0_u64; self.0.len()];
        let mut rest = 0_u128;
        for (word, quotient) in self.0.iter().zip(&mut words).rev() {
            for bit in (0..64).rev() {
                rest = rest << 1 | u128::from(word >> bit & 1);
                if rest >= divisor {
                    rest -= divisor;
                    *quotient |= 1 << bit;
                }
            }
        }
        Self::trimmed(words)
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> Ordering {
        let words = self.0.len().max(other.0.len());
        (0..words)
            .rev()
            .map(|i| self.word(i).cmp(&other.word(i)))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Natural {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Natural {}

#[cfg(test)]
impl Natural {
    pub fn to_oracle(&self) -> num_bigint::BigUint {
        let digits = self.0.iter().flat_map(|word| [*word as u32, (word >> 32) as u32]);
        num_bigint::BigUint::new(digits.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::{collection::vec, prelude::*};

    /// Words that often cause carries.
    fn any_natural() -> impl Strategy<Value = Natural> {
        let word = prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>()];
        vec(word, 0..6).prop_map(|words| Natural::from_big_endian(&words))
    }

    proptest! {
        #[test]
        fn arithmetic_agrees_with_the_oracle(
            a in any_natural(), b in any_natural(), shift in 0_u32..300, words in 0_usize..7,
            divisor in prop_oneof![1..1_u128 << 127, Just((1_u128 << 127) - 1), 1..9_u128],
        ) {
            let (big_a, big_b) = (a.to_oracle(), b.to_oracle());
            prop_assert_eq!(a.add(&b).to_oracle(), &big_a + &big_b);
            prop_assert_eq!(a.multiply(&b).to_oracle(), &big_a * &big_b);
            prop_assert_eq!(a.shift_left(shift).to_oracle(), &big_a << shift);
            prop_assert_eq!(a.divide(divisor).to_oracle(), &big_a / BigUint::from(divisor));
            prop_assert_eq!(a.cmp(&b), big_a.cmp(&big_b));
            let unit = BigUint::from(1_u32) << (64 * words);
            prop_assert_eq!(a.drop_words(words).to_oracle(), &big_a / &unit);
            prop_assert_eq!(a.drop_words_up(words).to_oracle(), (&big_a + &unit - 1_u32) / &unit);
            let (large, small) = if a >= b { (a, b) } else { (b, a) };
            prop_assert_eq!(large.subtract(&small).to_oracle(), large.to_oracle() - small.to_oracle());
        }
    }
}
