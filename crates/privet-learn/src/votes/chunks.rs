//! Assignment of every unit's records to a chunk.
//!
//! **Claim.** One unit is in one chunk, and between neighbours at most one chunk's rows differ, for
//! every draw of the coins; so at most one teacher's votes move.
//! - *Add/remove, or units of several rows*: every unit draws a chunk by coins of its own, fresh in this
//!   run and secret ([`privet_dp::mechanism::independent_blocks`], with the lemma). Adding or removing a
//!   unit moves no other unit. Chunks by position would: all rows behind move up.
//! - *Replace-one, a unit a row*: a secret random cut of the **indices** into chunks of equal size
//!   ([`privet_dp::mechanism::balanced_blocks`]). The new row has the index of the old one. A hash of
//!   the row's content, or of its id, would take it out of one chunk and put it into another: two votes
//!   would move.
//!
//! Null records (`invalid = "drop"`) are assigned like all others, and then left out: no teacher learns
//! from them. Each record alone determines whether it is null, so that the claim holds.
//!
//! A public key would suffice for privacy, but a sorted table, or one made by an adversary who knows it,
//! would get bad chunks.

use crate::linear::facts::Facts;
use crate::release::admit;
use privet_data::Dataset;
use privet_dp::gate::Session;
use privet_dp::mechanism::{balanced_blocks, independent_blocks};

/// Row indices of each of `count` chunks, ascending; drawn anew.
pub fn chunks(
    facts: &Facts,
    data: &Dataset,
    count: u32,
    session: &mut Session<'_>,
) -> Vec<Vec<usize>> {
    let owners = admit::owners(facts.unit, data);
    let units = owners.iter().max().map_or(0, |last| last + 1);
    let drawn = match facts.relation().count_is_public() {
        true => balanced_blocks(units, count, session),
        false => independent_blocks(units, count, session),
    };
    let mut chunks = vec![Vec::new(); count as usize];
    for (row, owner) in owners.iter().enumerate() {
        if data.report.null_rows.binary_search(&row).is_err() {
            chunks[drawn[*owner] as usize].push(row);
        }
    }
    chunks
}
