//! Label propagation as a teacher: it propagates its labels among all public rows.
//!
//! The rows of a chunk are each connected to the public rows nearest to them, and their labels propagate
//! along the edges between public rows ([`super::graph`]); a teacher votes for the class of largest
//! weight at a row. The edges are a function of a private row and of public ones, so that a ballot is a
//! function of its own chunk.

use super::graph::Graph;
use super::teacher::{Ballot, TrainingData, catch_panic, filled_rows, ranked_first};
use rayon::prelude::*;

/// Teachers between two polls of `go_on`.
const TEACHERS_PER_POLL: usize = 64;

/// The ballots of all teachers, as by [`super::Teach::ballots`].
pub(super) fn ballots(
    training_data: &TrainingData<'_>,
    neighbours: u32,
    go_on: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<Ballot>> {
    // The plan refuses a graph that is too large.
    let graph = Graph::of(training_data.public, neighbours).ok();
    let mut all = Vec::with_capacity(training_data.chunks.len());
    for portion in training_data.chunks.chunks(TEACHERS_PER_POLL) {
        if !go_on() {
            return None;
        }
        let one = |chunk: &Vec<usize>| {
            catch_panic(|| ballot(training_data, graph.as_ref()?, chunk)).flatten()
        };
        all.extend(portion.par_iter().map(one).collect::<Vec<_>>());
    }
    Some(all)
}

fn ballot(training_data: &TrainingData<'_>, graph: &Graph, chunk: &[usize]) -> Ballot {
    if chunk.is_empty() {
        return None;
    }
    let classes = training_data.classes;
    let rows = filled_rows(&training_data.data.features, chunk.iter().copied());
    let mut known = vec![0.0; training_data.public.rows() * classes];
    for (links, row) in graph.links(&rows).iter().zip(chunk) {
        let class = training_data.labels()[*row] as usize;
        links.iter().for_each(|(to, weight)| known[*to as usize * classes + class] += weight);
    }
    let found = graph.spread(&known, classes);
    let asked = found.chunks_exact(classes.max(1)).take(training_data.queries.rows());
    Some(asked.map(ranked_first).collect())
}
