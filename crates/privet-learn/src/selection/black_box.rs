//! Any function of records, released if most random parts of them agree: A_samp as a building block.
//!
//! **Claim.** [`stable_answer`] is a proxy in the sense of [`privet_dp::mechanism::Stability`], for
//! every function of records: the winner of an election among m random parts of which a unit is in at
//! most c (`election.rs`, D = 2c). A family that passes it to that mechanism is (ε, δ)-private, whatever
//! the function does with the records of a part.
//!
//! **Requirements on the function.** It depends on the records of its part alone: no state kept from
//! another part, no randomness of its own, no clock. It is called on all cores in no particular order. A
//! part on which it panics votes for the fixed answer `otherwise`, as does every part without records;
//! a panic thus counts as that part's answer. The program's panic hook still writes to standard error,
//! and an abort of the program is not caught: a function that may do either should be run where its
//! standard error and exit status are not observed.
//!
//! - m and q are public numbers ([`super::subsample`] has a rule for them).

use super::election::{count_ballots, winner_of};
use crate::release::admit;
use privet_core::Unit;
use privet_data::Dataset;
use privet_dp::gate::{Private, Session};
use privet_dp::mechanism::{WithDistance, independent_sets};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Random parts of records: public numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomParts {
    /// Number of parts, m.
    pub count: u32,
    /// Probability with which a unit is in a part, q.
    pub rate: f64,
}

impl RandomParts {
    /// Upper bound on the number of parts that contain a unit, c = ⌊2mq⌋, at least 1.
    pub fn most_parts_of_unit(self) -> u64 {
        ((2.0 * f64::from(self.count) * self.rate).floor() as u64).max(1)
    }
}

/// Returns the answer of most parts with its distance to another answer; for
/// [`privet_dp::mechanism::Stability`].
pub fn stable_answer<A: Ord + Clone + Send + Sync>(
    (data, unit): (&Dataset, Unit),
    parts: RandomParts,
    function: impl Fn(&Dataset) -> A + Sync,
    otherwise: A,
    session: &mut Session<'_>,
) -> Private<WithDistance<A>> {
    let owners = admit::owners(unit, data);
    let units = owners.iter().max().map_or(0, |last| last + 1);
    let most = parts.most_parts_of_unit();
    let drawn = independent_sets(units, parts.count, parts.rate, most as usize, session);
    let mut ballots = vec![Vec::new(); parts.count as usize];
    for (row, owner) in owners.iter().enumerate() {
        drawn[*owner].iter().for_each(|part| ballots[*part as usize].push(row));
    }
    let vote = |rows: &[usize]| {
        if rows.is_empty() {
            return Some(otherwise.clone());
        }
        let part = data.select(rows);
        let answer = catch_unwind(AssertUnwindSafe(|| function(&part)));
        Some(answer.unwrap_or_else(|_| otherwise.clone()))
    };
    let votes = count_ballots(&ballots, vote, || true).unwrap_or_default();
    Private::new(winner_of(votes, 2 * most, otherwise.clone()))
}
