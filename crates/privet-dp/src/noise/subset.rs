//! Secret orders and subsets, **exact**: every order, or every subset of the size, equally likely;
//! every record in a Poisson subset independently with exactly the given probability.
//!
//! Amplification by sampling is only as good as the sampler is secret and uniform: take a
//! [`SystemRandom`](super::SystemRandom).
//!
//! Tested by `tests/all/noise_choice.rs`.

use super::bernoulli::Coin;
use super::{NoiseError, Source};
use std::collections::BTreeSet;
use zeroize::Zeroizing;

/// Bytes drawn at a time.
const BYTES: usize = 4096;

/// Puts the items in a uniformly random order (Fisher & Yates).
pub fn shuffle<T, S: Source + ?Sized>(items: &mut [T], source: &mut S) {
    for end in (2..=items.len()).rev() {
        items.swap(end - 1, source.below(end as u64) as usize);
    }
}

/// A uniformly random subset of `wanted` of the indices 0 … available − 1, ascending.
///
/// Floyd's method: for `end` from available − wanted + 1 to available, take a uniform index below
/// `end` or, if it is already in, end − 1. By induction every subset of the indices below `end` is
/// equally likely after each step.
pub fn without_replacement<S: Source + ?Sized>(
    wanted: usize,
    available: usize,
    source: &mut S,
) -> Result<Vec<usize>, NoiseError> {
    if wanted > available {
        return Err(NoiseError::SubsetTooLarge { wanted, available });
    }
    let mut chosen = BTreeSet::new();
    for last in available - wanted..available {
        let index = source.below(last as u64 + 1) as usize;
        if !chosen.insert(index) {
            chosen.insert(last);
        }
    }
    Ok(chosen.into_iter().collect())
}

/// Each of the indices 0 … available − 1 independently with this probability, ascending.
/// The probability is taken as the dyadic number that its f64 is; accepted: between 0 and 1, not
/// including either. One byte of randomness decides for nearly every record.
pub fn poisson<S: Source + ?Sized>(
    probability: f64,
    available: usize,
    source: &mut S,
) -> Result<Vec<usize>, NoiseError> {
    let coin = Coin::new(probability)?;
    let first = coin.first_byte();
    let mut chosen = Vec::with_capacity((probability * available as f64 * 1.1) as usize);
    let mut bytes = Zeroizing::new([0_u8; BYTES]);
    for start in (0..available).step_by(BYTES) {
        let bytes = &mut bytes[..BYTES.min(available - start)];
        source.fill_bytes(bytes);
        for (place, byte) in bytes.iter().enumerate() {
            if *byte < first || (*byte == first && coin.toss_after(source)) {
                chosen.push(start + place);
            }
        }
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::FixedSeed;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn subsets_have_their_size_and_shuffles_lose_nothing(
            seed: u64, available in 0_usize..200, part in 0.0..1.0,
        ) {
            let source = &mut FixedSeed::new(seed);
            let wanted = (part * available as f64) as usize;
            for wanted in [0, wanted, available] {
                let subset = without_replacement(wanted, available, source).unwrap();
                prop_assert_eq!(subset.len(), wanted);
                prop_assert!(subset.windows(2).all(|pair| pair[0] < pair[1]));
                prop_assert!(subset.iter().all(|index| *index < available));
            }
            let mut items: Vec<usize> = (0..available).collect();
            shuffle(&mut items, source);
            items.sort_unstable();
            prop_assert!(items.iter().enumerate().all(|(i, item)| i == *item));
        }
    }

    #[test]
    fn too_large_a_subset_is_refused() {
        let refused = without_replacement(3, 2, &mut FixedSeed::new(0)).unwrap_err();
        assert!(refused.to_string().contains("at most 2"), "{refused}");
        assert!(poisson(1.5, 10, &mut FixedSeed::new(0)).is_err());
    }
}
