//! Samples of records as a function of (key, step, index): every back end draws the same ones.
//!
//! The key is drawn from the session's randomness and never shown; a record's index is its position in
//! the table, given by the reader, never a column or a hash of content. Given the key, membership of a
//! record in the sample of a step depends on its own index alone (Poisson), or on the number of records
//! (fixed size), so that memory, disk and other machines agree, and a repeated step draws the same
//! sample.
//!
//! - *Poisson*: byte i of stream 2·step decides for record i, unless it equals the first byte of the
//!   probability; then block i of stream 2·step + 1 (512 bits) decides, with more bits than the digits
//!   of any probability above 2⁻⁴⁰⁰. So every record is in with exactly that probability, independently.
//! - *Fixed size*: Floyd's method over indices, from stream 2·step.
//!
//! Streams are those of ChaCha20 under the key with the number as nonce; if it is a pseudo-random
//! function, samples of different steps are independent.

use super::bernoulli::Coin;
use super::source::sealed::Sealed;
use super::{NoiseError, Origin, Source, subset};
use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use std::ops::Range;
use zeroize::Zeroizing;

/// Bytes processed together.
const BYTES: usize = 4096;
/// Below this a probability may have digits beyond the bits of a block.
const LEAST_BLOCK_PROBABILITY: f64 = 1e-100;

/// The secret key that determines the samples.
pub struct SampleKey(Zeroizing<[u8; 32]>);

impl std::fmt::Debug for SampleKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SampleKey(hidden)")
    }
}

/// One stream of the key.
struct Stream(ChaCha20Rng);

impl Sealed for Stream {}

impl Source for Stream {
    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }
    fn fill_words(&mut self, words: &mut [u64]) {
        words.iter_mut().for_each(|word| *word = self.0.next_u64());
    }
    /// Samples only: noise made from it is never claimed to be private.
    fn origin(&self) -> Origin {
        Origin::FixedSeed
    }
}

impl SampleKey {
    /// A fresh key.
    pub fn draw<S: Source + ?Sized>(source: &mut S) -> Self {
        let mut key = Zeroizing::new([0_u8; 32]);
        source.fill_bytes(key.as_mut_slice());
        Self(key)
    }

    fn stream(&self, number: u64) -> Stream {
        let mut stream = ChaCha20Rng::from_seed(*self.0);
        stream.set_stream(number);
        Stream(stream)
    }

    /// The records among these indices that are in the Poisson sample of a step, ascending.
    pub fn poisson(
        &self,
        step: u64,
        probability: f64,
        places: Range<u64>,
    ) -> Result<Vec<usize>, NoiseError> {
        let coin = Coin::new(probability)?;
        if probability < LEAST_BLOCK_PROBABILITY {
            return Err(NoiseError::SmallProbability { least: LEAST_BLOCK_PROBABILITY });
        }
        let first = coin.first_byte();
        let expected = probability * (places.end.saturating_sub(places.start)) as f64;
        let mut chosen = Vec::with_capacity((expected * 1.1) as usize + 8);
        let (mut stream, mut ties) = (self.stream(2 * step), self.stream(2 * step + 1));
        // Four bytes a word.
        stream.0.set_word_pos(u128::from(places.start / 4));
        let mut bytes = Zeroizing::new([0_u8; BYTES]);
        let mut start = places.start / 4 * 4;
        while start < places.end {
            let length = BYTES.min((places.end - start) as usize).next_multiple_of(8);
            stream.fill_bytes(&mut bytes[..length]);
            let from = places.start.saturating_sub(start) as usize;
            let to = length.min((places.end - start) as usize);
            for (offset, byte) in bytes[from..to].iter().enumerate() {
                let place = start + (from + offset) as u64;
                let inside = *byte < first
                    || *byte == first && {
                        ties.0.set_block_pos(place);
                        coin.toss_after(&mut ties)
                    };
                if inside {
                    chosen.push(place as usize);
                }
            }
            start += length as u64;
        }
        Ok(chosen)
    }

    /// A uniformly random set of `wanted` of `available` indices, for a step, ascending.
    pub fn without_replacement(
        &self,
        step: u64,
        wanted: usize,
        available: usize,
    ) -> Result<Vec<usize>, NoiseError> {
        subset::without_replacement(wanted, available, &mut self.stream(2 * step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::FixedSeed;
    use proptest::prelude::*;

    proptest! {
        /// For any cut of the indices, the same records are in.
        #[test]
        fn parts_of_a_table_draw_what_the_whole_draws(
            seed: u64, step in 0_u64..1000, rows in 1_u64..20_000, cut in 0.0..1.0_f64,
            rate in prop::sample::select(vec![0.5, 0.1, 1.0 / 256.0, 0.003, 0.999]),
        ) {
            let key = SampleKey::draw(&mut FixedSeed::new(seed));
            let whole = key.poisson(step, rate, 0..rows).unwrap();
            let middle = (cut * rows as f64) as u64;
            let mut parts = key.poisson(step, rate, 0..middle).unwrap();
            parts.extend(key.poisson(step, rate, middle..rows).unwrap());
            prop_assert_eq!(&whole, &parts);
            prop_assert!(whole.iter().all(|place| (*place as u64) < rows));
            let other = key.poisson(step + 1, rate, 0..rows).unwrap();
            prop_assert!(rows < 5000 || rate < 0.01 || whole != other);
        }
    }

    /// Every record is in with the stated probability, 1/256 and its like included, where ties decide
    /// most. Fixed seed; with a fresh one each of five counts of 400,000 tosses would be off by six of
    /// its standard deviations with a probability of 2e-9.
    #[test]
    fn each_record_is_in_with_its_probability() {
        let key = SampleKey::draw(&mut FixedSeed::new(3));
        for rate in [0.5, 0.25 + 1.0 / 512.0, 1.0 / 256.0, 1e-3, 0.9999] {
            let steps: usize =
                (0..20).map(|step| key.poisson(step, rate, 0..20_000).unwrap().len()).sum();
            let (mean, spread) = (400_000.0 * rate, (400_000.0 * rate * (1.0 - rate)).sqrt());
            assert!((steps as f64 - mean).abs() <= 6.0 * spread, "{rate}: {steps}");
        }
        assert!(key.poisson(0, 1e-120, 0..10).is_err());
        assert!(key.poisson(0, 1.0, 0..10).is_err());
        let fixed = key.without_replacement(4, 10, 100).unwrap();
        assert_eq!(fixed, key.without_replacement(4, 10, 100).unwrap());
        assert_ne!(fixed, key.without_replacement(5, 10, 100).unwrap());
        assert!(key.without_replacement(4, 11, 10).is_err());
    }
}
