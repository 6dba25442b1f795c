//! One user's ratings, the fit from them, and the only type through which anything computed from them
//! leaves.
//!
//! ```text
//!   everyone: GlobalState ──query──► LocalState ──clipped, truncated──► Tally ──noise──► everyone
//!                                          └──► her own predictions, which stay with her
//! ```
//!
//! A [`LocalState`] can be neither serialised nor printed. A user's contribution goes into a [`Tally`],
//! integers that are summed over all users and read by a mechanism alone; a holder of one user's row
//! could add a share of noise or a mask to it before passing it on. Queries are answered by
//! [`super::execution`].

use super::shape::each_rating;
use privet_data::matrix::Matrix;
use privet_dp::gate::Private;
use privet_dp::mechanism::ExactCounts;
use privet_optim::sum::{RecordsError, Table};
use rayon::prelude::*;
use std::fmt;

/// A query of all users: each adds a vector, and the sum gets noise.
pub(super) trait Query: Sync {
    /// Number of coordinates of the answer.
    fn coordinates(&self) -> usize;
    /// Unit of the answer, a power of two.
    fn unit(&self) -> f64;
    /// Adds one user's vector. Its norm must be within the bound that the implementing query documents.
    fn add(&self, user: &LocalState, into: &mut Tally);
}

/// One user's ratings, scaled to [−2, 2] between the bounds.
#[derive(Clone, Default)]
pub struct LocalState {
    items: Vec<u32>,
    places: Vec<f64>,
}

impl fmt::Debug for LocalState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LocalState(withheld)")
    }
}

impl LocalState {
    /// Reads a row of a table.
    pub fn of(matrix: &Matrix, row: usize) -> Self {
        let mut user = Self::default();
        user.read(matrix, row);
        user
    }

    fn read(&mut self, matrix: &Matrix, row: usize) {
        self.items.clear();
        self.places.clear();
        each_rating(matrix, row, |item, cell| {
            self.items.push(item);
            self.places.push(4.0 * (f64::from(cell) - 1.5));
        });
    }

    /// From item indices, ascending, and scaled ratings.
    #[cfg(test)]
    pub(super) fn from_parts(items: Vec<u32>, places: Vec<f64>) -> Self {
        Self { items, places }
    }

    /// Ratings of these items, ascending, each renumbered by its index among them.
    pub(super) fn restricted_to(&self, chosen: &[u32]) -> Self {
        let mut own = Self::default();
        for (item, place) in self.items.iter().zip(&self.places) {
            if let Ok(found) = chosen.binary_search(item) {
                own.items.push(found as u32);
                own.places.push(*place);
            }
        }
        own
    }

    /// Indices of the rated items, ascending.
    pub(super) fn items(&self) -> &[u32] {
        &self.items
    }

    /// Scaled ratings.
    pub(super) fn scaled_ratings(&self) -> &[f64] {
        &self.places
    }

    /// Item indices with their scaled ratings.
    pub(super) fn ratings(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.items.iter().map(|item| *item as usize).zip(self.places.iter().copied())
    }
}

/// A sum over users in integer multiples of a unit; only a mechanism reads it.
pub(super) struct Tally {
    counts: Vec<i64>,
    unit: f64,
}

impl Tally {
    /// Adds a number, truncated toward zero to an integer multiple of the unit, so that no norm grows.
    pub(super) fn add(&mut self, place: usize, value: f64) {
        self.counts[place] += (value / self.unit) as i64;
    }

    /// Adds an integer multiple of the unit.
    pub(super) fn add_units(&mut self, place: usize, units: i64) {
        self.counts[place] += units;
    }
}

/// Lower limit on the rows that a thread takes at a time.
const LEAST_PIECE_ROWS: usize = 512;

/// Upper limit on them: queries' sums over as many rows stay far below 2⁶³.
const MOST_PIECE_ROWS: usize = 1 << 20;

/// The sum over all users, for a mechanism alone.
pub(super) fn total(
    query: &impl Query,
    table: &dyn Table,
) -> Result<Private<ExactCounts>, RecordsError> {
    exact_sum(query, table).map(Private::new)
}

/// The exact sum, to be noised, or for baselines without privacy. Integers: the same from any back end, by any number of
/// threads.
pub(super) fn exact_sum(
    query: &impl Query,
    table: &dyn Table,
) -> Result<ExactCounts, RecordsError> {
    let (coordinates, unit) = (query.coordinates(), query.unit());
    let mut counts = vec![0_i128; coordinates];
    table.visit(&mut |rows| {
        let all = rows.features.rows();
        let threads = rayon::current_num_threads().max(1);
        let piece = all.div_ceil(threads).clamp(LEAST_PIECE_ROWS, MOST_PIECE_ROWS);
        let pieces: Vec<Tally> = (0..all.div_ceil(piece))
            .into_par_iter()
            .map(|number| {
                let mut tally = Tally { counts: vec![0; coordinates], unit };
                let mut user = LocalState::default();
                for row in number * piece..((number + 1) * piece).min(all) {
                    user.read(&rows.features, row);
                    query.add(&user, &mut tally);
                }
                tally
            })
            .collect();
        for tally in pieces {
            counts.iter_mut().zip(tally.counts).for_each(|(sum, part)| *sum += i128::from(part));
        }
        Ok(())
    })?;
    Ok(ExactCounts { counts, unit })
}

/// One user's vector, for tests of its norm.
#[cfg(test)]
pub(super) fn user_vector(query: &impl Query, user: &LocalState) -> Vec<f64> {
    let mut tally = Tally { counts: vec![0; query.coordinates()], unit: query.unit() };
    query.add(user, &mut tally);
    tally.counts.iter().map(|count| *count as f64 * tally.unit).collect()
}

/// Slightly less than 1: covers the rounding of a vector that is scaled to a bound.
const JUST_BELOW_ONE: f64 = 1.0 - 1e-9;

/// Factor that clips a vector to a norm, rounded down.
pub(super) fn into_ball(vector: &[f64], radius: f64) -> f64 {
    let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    // The relative error of a sum of n squares, one after the other, is at most n·ε.
    let within = JUST_BELOW_ONE - 4.0 * vector.len() as f64 * f64::EPSILON;
    if norm <= radius * within { 1.0 } else { radius * within / norm }
}

/// Solves (A + diag(ridge))·x = b by Cholesky's factorisation, A symmetric and positive semi-definite in
/// row-major order; returns zeros if rounding leaves a pivot that is not above 0.
pub(super) fn solve(mut matrix: Vec<f64>, ridge: &[f64], mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for (place, ridge) in ridge.iter().enumerate() {
        matrix[place * size + place] += ridge;
    }
    for j in 0..size {
        for k in 0..j {
            let factor = matrix[j * size + k];
            for i in j..size {
                matrix[i * size + j] -= matrix[i * size + k] * factor;
            }
        }
        let pivot = matrix[j * size + j];
        if !(pivot > 0.0 && pivot.is_finite()) {
            return vec![0.0; size];
        }
        let root = pivot.sqrt();
        for i in j..size {
            matrix[i * size + j] /= root;
        }
    }
    for i in 0..size {
        for k in 0..i {
            right[i] -= matrix[i * size + k] * right[k];
        }
        right[i] /= matrix[i * size + i];
    }
    for i in (0..size).rev() {
        for k in i + 1..size {
            right[i] -= matrix[k * size + i] * right[k];
        }
        right[i] /= matrix[i * size + i];
    }
    right
}
