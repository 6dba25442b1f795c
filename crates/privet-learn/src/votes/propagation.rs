//! Teachers that spread their labels among the public rows, asked about or not: label propagation.
//!
//! The rows of a chunk are each tied to the public rows nearest to them, and their labels spread along the ties of public
//! rows ([`super::graph`]); a teacher votes for what reaches a row most. Ties are a function of a private row and of public
//! ones, so that a ballot is a function of its own chunk.

use super::graph::Graph;
use super::teacher::{Ballot, School, fenced, filled_rows, ranked_first};
use rayon::prelude::*;

/// Teachers between two questions whether to go on.
const PORTION: usize = 64;

/// The ballots of all teachers, as [`super::Teach::ballots`] has them.
pub(super) fn ballots(
    school: &School<'_>,
    neighbours: u32,
    go_on: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<Ballot>> {
    // Refused by the plan where it is too large.
    let graph = Graph::of(school.public, neighbours).ok();
    let mut all = Vec::with_capacity(school.chunks.len());
    for portion in school.chunks.chunks(PORTION) {
        if !go_on() {
            return None;
        }
        let one = |chunk: &Vec<usize>| fenced(|| ballot(school, graph.as_ref()?, chunk)).flatten();
        all.extend(portion.par_iter().map(one).collect::<Vec<_>>());
    }
    Some(all)
}

fn ballot(school: &School<'_>, graph: &Graph, chunk: &[usize]) -> Ballot {
    if chunk.is_empty() {
        return None;
    }
    let classes = school.classes;
    let rows = filled_rows(&school.data.features, chunk.iter().copied());
    let mut known = vec![0.0; school.public.rows() * classes];
    for (links, row) in graph.links(&rows).iter().zip(chunk) {
        let class = school.labels()[*row] as usize;
        links.iter().for_each(|(to, weight)| known[*to as usize * classes + class] += weight);
    }
    let found = graph.spread(&known, classes);
    let asked = found.chunks_exact(classes.max(1)).take(school.queries.rows());
    Some(asked.map(ranked_first).collect())
}
