//! Which chunk every unit's records go to.
//!
//! **Claim.** One unit is in one chunk, and between neighbours at most one chunk's rows differ, for every draw of the
//! coins; so at most one teacher's votes move.
//! - *Add/remove, or units of several rows*: every unit draws a chunk of its own coins, fresh in this run and known to
//!   nobody ([`privet_dp::mechanism::independent_blocks`], with the lemma). Whoever is added or removed takes no one else
//!   along. Chunks by position would: all rows behind move on.
//! - *Replace-one, a unit a row*: a secret random cut of the **places** into chunks of equal size
//!   ([`privet_dp::mechanism::balanced_blocks`]). The new row sits where the old one was. A hash of the row's content, or
//!   of its id, would take it out of one chunk and put it into another: two votes would move.
//!
//! Null records (`invalid = "drop"`) are cut like all others, and then left out: nobody learns from what
//! holds nothing. Which records are null, each decides for itself, so that the claim stands.
//!
//! A public key would do for privacy, but not keep a sorted table, or one made by whoever knows it, from bad chunks.

use crate::linear::facts::Facts;
use crate::release::admit;
use privet_data::Dataset;
use privet_dp::gate::Session;
use privet_dp::mechanism::{balanced_blocks, independent_blocks};

/// Places of the rows of each of so many chunks, ascending; drawn anew.
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
