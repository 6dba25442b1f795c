//! Elections: the answer with most ballots, and the number of units that must change for another to win.
//!
//! **Claim** (the two conditions of [`privet_dp::mechanism::Stability`]). Every candidate has an integer
//! number of votes, and the lead of any candidate over any other moves by at most D between neighbours.
//! With the winner f̂ (of equal candidates the first in a fixed order), its lead g over the second and
//! d̂ = ⌈g/D⌉ − 1, but at least 0: |d̂(D) − d̂(D′)| ≤ 1, and d̂(D) ≥ 1 implies f̂(D) = f̂(D′).
//!
//! *Proof.* g moves by at most D: if the winner stays, its least lead over the others moves by at most
//! D; if b takes the place of a, a's lead over b went from at least g to at most −g′, so that
//! g + g′ ≤ D. Hence the first part. d̂ ≥ 1 means g > D: the winner's lead over every other stays above
//! 0. ∎
//!
//! | election | D, add-remove | D, replace-one |
//! |---|---|---|
//! | records vote for one cell each, a unit for at most k | k | 2k |
//! | candidates' numbers of correct answers on the records | k | 2k |
//! | ballots made of records, a unit in at most c of them | 2c | 2c |
//!
//! *Proof.* Adding or removing a vote moves a lead by 1, and so does one correct answer more or less. A
//! ballot of changed records may move from one candidate to another, which moves a lead by 2; the other
//! ballots are functions of unchanged records. ∎

use privet_dp::mechanism::WithDistance;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// d̂ of a lead that moves by at most `moves` (D) between neighbours.
pub fn stable_distance(lead: u64, moves: u64) -> i64 {
    let steps = lead.div_ceil(moves.max(1)).saturating_sub(1);
    i64::try_from(steps).unwrap_or(i64::MAX)
}

/// Returns the winner of these votes with its distance; `otherwise` if there are no votes.
pub(crate) fn winner_of<A: Ord>(
    votes: BTreeMap<A, u64>,
    moves: u64,
    otherwise: A,
) -> WithDistance<A> {
    let (mut winner, mut most, mut second) = (otherwise, 0, 0);
    // In order, so that of equal candidates the first wins.
    for (candidate, count) in votes {
        if count > most {
            (second, most, winner) = (most, count, candidate);
        } else {
            second = second.max(count);
        }
    }
    WithDistance { answer: winner, distance: stable_distance(most - second, moves) }
}

/// Counts the ballots' answers; `None` is no vote. Polls `go_on` between portions, whose number is
/// public; returns `None` once it is false.
pub(super) fn count_ballots<A: Ord + Send>(
    ballots: &[Vec<usize>],
    vote: impl Fn(&[usize]) -> Option<A> + Sync,
    go_on: impl Fn() -> bool,
) -> Option<BTreeMap<A, u64>> {
    /// Ballots between two polls of `go_on`.
    const BALLOTS_PER_POLL: usize = 1_024;
    let mut votes = BTreeMap::new();
    for portion in ballots.chunks(BALLOTS_PER_POLL) {
        if !go_on() {
            return None;
        }
        let answers: Vec<Option<A>> = portion.par_iter().map(|rows| vote(rows)).collect();
        for answer in answers.into_iter().flatten() {
            *votes.entry(answer).or_default() += 1;
        }
    }
    Some(votes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(counts: &[u64], moves: u64) -> (usize, i64) {
        let votes = counts.iter().copied().enumerate().filter(|(_, count)| *count > 0).collect();
        let WithDistance { answer, distance } = winner_of(votes, moves, 99);
        (answer, distance)
    }

    proptest! {
        /// Both conditions of the theorem, for every way in which the leads move by at most D.
        #[test]
        fn distances_are_proxies(
            counts in proptest::collection::vec(0_u64..40, 1..5),
            changes in proptest::collection::vec(-3_i64..=3, 5),
        ) {
            let changed: Vec<u64> =
                counts.iter().zip(&changes).map(|(c, d)| c.saturating_add_signed(*d)).collect();
            let moved: Vec<i64> =
                counts.iter().zip(&changed).map(|(c, d)| *d as i64 - *c as i64).collect();
            // A candidate without votes counts as well.
            let (low, high) = (moved.iter().min().unwrap().min(&0), moved.iter().max().unwrap().max(&0));
            let moves = (high - low).max(1) as u64;
            let ((winner, distance), (other, second)) = (of(&counts, moves), of(&changed, moves));
            prop_assert!(distance.abs_diff(second) <= 1, "{counts:?} {changed:?}");
            prop_assert!(distance == 0 || winner == other, "{counts:?} {changed:?}");
        }
    }

    #[test]
    fn distances_by_hand() {
        assert_eq!(of(&[3, 9, 2], 1), (1, 5));
        assert_eq!(of(&[3, 9, 2], 2), (1, 2));
        assert_eq!(of(&[4, 4], 1), (0, 0), "of equal ones the first");
        assert_eq!(of(&[7], 2), (0, 3));
        assert_eq!(of(&[], 2), (99, 0), "nobody votes");
        assert_eq!((stable_distance(0, 0), stable_distance(u64::MAX, 1)), (0, i64::MAX));
    }
}
