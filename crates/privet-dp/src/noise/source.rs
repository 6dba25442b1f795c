//! The source of random words.
//!
//! [`SystemRandom`] is ChaCha with all 20 rounds (the stream of RFC 8439 with a 64-bit counter), keyed
//! with 256 bits from the operating system. If ChaCha20 is a pseudo-random function, no feasible
//! observer tells its words from uniform ones; that is the only computational assumption behind the
//! noise. [`FixedSeed`] is the same generator under a guessable key, for tests: it says so through
//! [`Source::origin`], and a certificate made with it reads *not private*.
//!
//! The trait is sealed: no other type can claim the operating system as its origin. Key, counter and
//! buffer are wiped when the source is dropped, `Debug` shows nothing of them, and neither source can be
//! cloned (two copies would draw the same noise, and equal noise cancels). For the same reason a process
//! that forks must make a new source in the child.
//!
//! Tested by `below_is_uniform_to_the_last_value`, `the_stream_is_chacha20`.

use super::NoiseError;
use chacha20::{
    ChaCha20Rng,
    rand_core::{Rng, SeedableRng},
};
use serde::{Deserialize, Serialize};
use std::fmt;
use zeroize::{Zeroize, Zeroizing};

/// The security of the words of a [`Source`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A key drawn from the operating system: fit for privacy.
    OperatingSystem,
    /// A seed written by the caller: repeatable, and **not private**.
    FixedSeed,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OperatingSystem => "operating-system",
            Self::FixedSeed => "fixed-seed",
        })
    }
}

pub(super) mod sealed {
    /// Restricts sources to this crate.
    pub trait Sealed {}
}

/// A stream of independent uniform words. Usable as `&mut dyn Source`.
pub trait Source: sealed::Sealed + Send {
    /// Returns the next 64 bits.
    fn next_u64(&mut self) -> u64;

    /// Fills `bytes` from the stream.
    fn fill_bytes(&mut self, bytes: &mut [u8]);

    /// Fills `words` from the stream; vector samplers call it once a block.
    fn fill_words(&mut self, words: &mut [u64]);

    /// Returns the origin of the words, which decides if noise made from them is private.
    fn origin(&self) -> Origin;

    /// Returns an integer uniform on 0 … bound − 1, without bias (Lemire 2019).
    ///
    /// word·bound = high·2⁶⁴ + low: for each `high` there are ⌊2⁶⁴/bound⌋ or one more words; the
    /// surplus ones are those with low < 2⁶⁴ mod bound, and they are drawn again.
    ///
    /// A bound of 0 is a bug of the caller: debug builds stop, others return 0.
    fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0, "below(0) has no value to return");
        let mut product = u128::from(self.next_u64()) * u128::from(bound);
        if (product as u64) < bound {
            let surplus = bound.wrapping_neg().checked_rem(bound).unwrap_or(0);
            while (product as u64) < surplus {
                product = u128::from(self.next_u64()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// Returns `count` uniform bits in the low end of a word; above 64 means 64.
    fn bits(&mut self, count: u32) -> u64 {
        match count {
            0 => 0,
            1..=63 => self.next_u64() >> (64 - count),
            _ => self.next_u64(),
        }
    }
}

/// ChaCha20 under a key; wiped by its own destructor.
struct Stream(ChaCha20Rng);

impl Stream {
    fn fill_words(&mut self, words: &mut [u64]) {
        for word in words {
            *word = self.0.next_u64();
        }
    }
}

/// ChaCha20 keyed by the operating system.
pub struct SystemRandom(Stream);

impl SystemRandom {
    /// A source with a fresh key. Fails if the operating system gives none; there is no weaker
    /// fall-back.
    pub fn new() -> Result<Self, NoiseError> {
        let mut key = Zeroizing::new([0_u8; 32]);
        getrandom::fill(key.as_mut_slice())
            .map_err(|error| NoiseError::NoEntropy { reason: error.to_string() })?;
        Ok(Self(Stream(ChaCha20Rng::from_seed(*key))))
    }
}

/// ChaCha20 under a key made from one number: the same draws every time. For tests only.
pub struct FixedSeed(Stream);

impl FixedSeed {
    /// The stream numbered `seed`: key = `seed` in little-endian bytes, then zeros.
    pub fn new(seed: u64) -> Self {
        let mut key = [0_u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let stream = Stream(ChaCha20Rng::from_seed(key));
        key.zeroize();
        Self(stream)
    }
}

macro_rules! source {
    ($name:ident, $origin:expr) => {
        impl sealed::Sealed for $name {}

        impl Source for $name {
            #[inline]
            fn next_u64(&mut self) -> u64 {
                self.0.0.next_u64()
            }
            fn fill_bytes(&mut self, bytes: &mut [u8]) {
                self.0.0.fill_bytes(bytes);
            }
            fn fill_words(&mut self, words: &mut [u64]) {
                self.0.fill_words(words);
            }
            fn origin(&self) -> Origin {
                $origin
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "(hidden)"))
            }
        }
    };
}

source!(SystemRandom, Origin::OperatingSystem);
source!(FixedSeed, Origin::FixedSeed);

/// Words written by a test, then a fixed stream.
#[cfg(test)]
pub(super) struct Scripted {
    words: std::collections::VecDeque<u64>,
    rest: FixedSeed,
    /// The number of words taken.
    pub taken: usize,
}

#[cfg(test)]
impl Scripted {
    pub fn new(words: impl IntoIterator<Item = u64>) -> Self {
        Self { words: words.into_iter().collect(), rest: FixedSeed::new(0), taken: 0 }
    }
}

#[cfg(test)]
impl sealed::Sealed for Scripted {}

#[cfg(test)]
impl Source for Scripted {
    fn next_u64(&mut self) -> u64 {
        self.taken += 1;
        self.words.pop_front().unwrap_or_else(|| self.rest.next_u64())
    }
    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..chunk.len()]);
        }
    }
    fn fill_words(&mut self, words: &mut [u64]) {
        for word in words {
            *word = self.next_u64();
        }
    }
    fn origin(&self) -> Origin {
        Origin::FixedSeed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8439, appendix A.1, test vector 1: key, nonce and counter zero.
    #[test]
    fn the_stream_is_chacha20() {
        let mut bytes = [0_u8; 16];
        FixedSeed::new(0).fill_bytes(&mut bytes);
        let expected = [
            0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90, 0x40, 0x5d, 0x6a, 0xe5, 0x53, 0x86,
            0xbd, 0x28,
        ];
        assert_eq!(bytes, expected);
        assert_eq!(FixedSeed::new(0).next_u64().to_le_bytes(), expected[..8]);
    }

    #[test]
    fn two_system_sources_differ_and_hide_their_state() {
        let (mut one, mut other) = (SystemRandom::new().unwrap(), SystemRandom::new().unwrap());
        assert_ne!(one.next_u64(), other.next_u64());
        assert_eq!(one.origin(), Origin::OperatingSystem);
        assert_eq!(FixedSeed::new(7).origin(), Origin::FixedSeed);
        assert_eq!(
            format!("{one:?} {:?}", FixedSeed::new(7)),
            "SystemRandom(hidden) FixedSeed(hidden)"
        );
        assert_eq!(
            serde_json::to_string(&Origin::OperatingSystem).unwrap(),
            r#""operating-system""#
        );
    }

    /// On 2⁶⁴ words a bound of 3·2⁶² keeps exactly three in four: the words that must be drawn
    /// again are those whose product has a low half below 2⁶⁴ mod bound = 2⁶².
    #[test]
    fn below_is_uniform_to_the_last_value() {
        let bound = 3_u64 << 62 >> 1; // 3·2⁶¹: 2⁶⁴ = 2·bound + 2⁶²
        let mut source = Scripted::new([0, 1, 2, 3, u64::MAX]);
        // word 0 has low half 0 < 2⁶² and is refused; word 1 has low half 3·2⁶¹ and is kept.
        assert_eq!(source.below(bound), 0);
        assert_eq!(source.taken, 2);
        for bound in [1, 2, 3, 10, u64::MAX] {
            let mut source = FixedSeed::new(bound);
            assert!((0..1000).all(|_| source.below(bound) < bound));
        }
    }

    #[test]
    fn a_source_can_be_passed_as_an_object() {
        let source: &mut dyn Source = &mut FixedSeed::new(3);
        assert!(source.bits(5) < 32);
        assert_eq!(source.bits(0), 0);
        let mut words = [0; 3];
        source.fill_words(&mut words);
        assert!(words.iter().all(|word| *word != 0));
    }
}
