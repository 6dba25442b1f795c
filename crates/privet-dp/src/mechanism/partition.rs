//! Data-independent blocks: every unit of privacy goes to a block of its own coins.
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
//! Blocks by position would do for replace-one only: a row added at the top would push every other
//! row on.

use crate::gate::Session;

/// A block below `blocks` for each of `units` units, uniform and independent. Nothing is charged, since
/// nothing of the records is in it.
pub fn independent_blocks(units: usize, blocks: u32, session: &mut Session<'_>) -> Vec<u32> {
    let source = session.source();
    (0..units).map(|_| source.below(u64::from(blocks.max(1))) as u32).collect()
}
