//! Data-independent blocks: every unit of privacy is assigned to a block by its own random draw.
//!
//! **Lemma.** Let g(D, a) be computed from a table D whose units are assigned to blocks by a, and let
//! the output law given a be (ε, δ)-close for D and D′ whenever a agrees on the units they share. If
//! every unit draws its block independently from one law, then the output, a being hidden or not,
//! is (ε, δ)-close for D and D′.
//!
//! *Proof.* Let the shared units, and a unit with the one that replaces it, have the same coins: each
//! table's assignment keeps its law. The output's law is a mixture over the coins, with the same
//! weights on both sides, of laws that are (ε, δ)-close; E_ε(P‖Q) = sup P(S) − e^ε Q(S) is jointly convex.
//! (With a released the coins are part of both outputs.) ∎
//!
//! Blocks by position would be valid for replace-one only: a row added at the top would shift every
//! other row.

use crate::gate::Session;
use crate::noise::subset::shuffle;

/// A block below `blocks` for each of `units` units, uniform and independent. Nothing is charged, since
/// it does not depend on the records.
pub fn independent_blocks(units: usize, blocks: u32, session: &mut Session<'_>) -> Vec<u32> {
    let source = session.source();
    (0..units).map(|_| source.below(u64::from(blocks.max(1))) as u32).collect()
}

/// As [`independent_blocks`], for a **public** number of units in which one replaces another
/// (replace-one): a uniformly random cut into blocks whose sizes differ by at most one. The cut depends
/// on positions alone, so that with the same coins a unit and the one that replaces it are in the same
/// block, and all others stay.
pub fn balanced_blocks(units: usize, blocks: u32, session: &mut Session<'_>) -> Vec<u32> {
    let mut cut: Vec<u32> = (0..units).map(|unit| (unit % blocks.max(1) as usize) as u32).collect();
    shuffle(&mut cut, session.source());
    cut
}

/// The random sets, out of `sets`, that each of `units` units is in: each with probability `rate`,
/// independently, but every unit's draws are repeated until it is in at most `most` sets. Nothing is
/// charged, since it does not depend on the records; the lemma holds for any law of a unit's own coins.
///
/// The next set is found by a jump of geometric law, in floating point: privacy relies on the limit
/// alone. If a draw stays above `most` again and again (a rate far above most / sets), the unit is in
/// the first sets of its last draw.
pub fn independent_sets(
    units: usize,
    sets: u32,
    rate: f64,
    most: usize,
    session: &mut Session<'_>,
) -> Vec<Vec<u32>> {
    /// Largest number of draws for one unit.
    const TRIES: u32 = 1_000;
    let source = session.source();
    let ln_left = libm::log1p(-rate.clamp(0.0, 1.0 - f64::EPSILON));
    let mut one = || {
        let (mut at, mut drawn) = (-1.0, Vec::new());
        loop {
            // Above 0, so that its logarithm is finite.
            let uniform = (source.bits(53) as f64 + 0.5) / 9_007_199_254_740_992.0;
            at += 1.0 + (libm::log(uniform) / ln_left).floor();
            if at.is_nan() || at >= f64::from(sets) {
                return drawn;
            }
            drawn.push(at as u32);
        }
    };
    let mut within = || {
        let mut drawn = one();
        for _ in 1..TRIES {
            if drawn.len() <= most {
                break;
            }
            drawn = one();
        }
        drawn.truncate(most);
        drawn
    };
    (0..units).map(|_| within()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Event;
    use crate::noise::FixedSeed;

    /// No unit is in more sets than allowed, at any rate; and the mean number of sets fits the rate.
    #[test]
    fn no_unit_is_in_more_sets_than_it_may_be() {
        let mut source = FixedSeed::new(4);
        let mut session = Session::start(Event::All(vec![]), &mut source);
        for (rate, most) in [(0.01, 20), (0.5, 3), (1.0, 7), (0.0, 1), (f64::NAN, 2)] {
            let sets = independent_sets(200, 1_000, rate, most, &mut session);
            assert_eq!(sets.len(), 200);
            for drawn in &sets {
                assert!(drawn.len() <= most && drawn.iter().all(|set| *set < 1_000));
                assert!(drawn.windows(2).all(|two| two[0] < two[1]));
            }
        }
        let sets = independent_sets(2_000, 1_000, 0.01, 20, &mut session);
        let mean = sets.iter().map(Vec::len).sum::<usize>() as f64 / 2_000.0;
        assert!((mean - 10.0).abs() < 0.5, "{mean}");
    }
}
