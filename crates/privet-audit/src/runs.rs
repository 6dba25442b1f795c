//! Many runs of a target on two neighbouring inputs, on all cores, from one seed.
//!
//! Run `index` of an input draws from a stream of its own, whose seed is a bijective scramble
//! (SplitMix64) of the audit's seed, the input and the index: the releases do not depend on the
//! distribution of runs over cores.

use crate::AuditError;
use privet_dp::noise::{FixedSeed, Source};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// One of two neighbouring inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Neighbour {
    /// Without the canary, or with the record that replaces it.
    First,
    /// With the canary.
    Second,
}

/// A target of attacks: releases numbers on either of two neighbouring inputs.
pub trait Target: Sync {
    /// Makes one release. An implementer takes all randomness from `source`.
    fn release(
        &self,
        neighbour: Neighbour,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, AuditError>;

    /// ln of (density on the second input / on the first), up to an increasing function, if it is known.
    fn likelihood_ratio(&self, _release: &[f64]) -> Option<f64> {
        None
    }

    /// The direction in which the two inputs' releases differ, if it is known.
    fn direction(&self) -> Option<Vec<f64>> {
        None
    }
}

/// Observer of progress, which may stop the work.
pub trait AttackWatch: Sync {
    /// Reports `done` of `total` runs; returns `false` to stop.
    fn proceed(&self, done: u64, total: u64) -> bool;
}

/// Observes nothing and never stops.
impl AttackWatch for () {
    fn proceed(&self, _done: u64, _total: u64) -> bool {
        true
    }
}

/// SplitMix64's finaliser, a bijection on 64-bit words.
pub(crate) fn scramble(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The random stream of one run.
pub fn stream(seed: u64, neighbour: Neighbour, index: u64) -> FixedSeed {
    let run = 2 * index + u64::from(neighbour == Neighbour::Second);
    FixedSeed::new(scramble(scramble(seed).wrapping_add(run)))
}

/// Collects `runs` releases of each input.
pub fn collect(
    target: &dyn Target,
    runs: u64,
    seed: u64,
    watch: &dyn AttackWatch,
) -> Result<[Vec<Vec<f64>>; 2], AuditError> {
    let done = AtomicU64::new(0);
    let one = |neighbour: Neighbour| {
        (0..runs)
            .into_par_iter()
            .map(|index| {
                let release = target.release(neighbour, &mut stream(seed, neighbour, index))?;
                let finished = done.fetch_add(1, Ordering::Relaxed) + 1;
                if watch.proceed(finished, 2 * runs) {
                    Ok(release)
                } else {
                    Err(AuditError::Stopped)
                }
            })
            .collect::<Result<Vec<_>, AuditError>>()
    };
    Ok([one(Neighbour::First)?, one(Neighbour::Second)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seed and index are not interchangeable: no two audits share a run's stream.
    #[test]
    fn streams_differ() {
        let first = |seed, neighbour, index| stream(seed, neighbour, index).next_u64();
        let mut seen: Vec<u64> = (0..40)
            .flat_map(|seed| (0..40).map(move |index| (seed, index)))
            .flat_map(|(seed, index)| {
                [Neighbour::First, Neighbour::Second].map(|neighbour| first(seed, neighbour, index))
            })
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 2 * 40 * 40);
    }
}
