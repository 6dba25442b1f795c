//! The starting point of a solver of a large table: the minimum for a small part of the rows.
//!
//! From 0 a solver takes a dozen passes over all rows, half of them on the way to the minimum of a part
//! of the rows. So for [`LEAST_ROWS`] rows or more, the same objective of a 64th of them (fewer, if rows have
//! many entries) is minimised in memory first, with λ and b scaled down alike. The rows are stretches at
//! even distances, so that a sorted table shows its classes, and few blocks of a file are read.
//!
//! **Privacy** does not depend on it. The release is within a proved distance of *the* minimum of all
//! rows ([`Certified`](privet_optim::solver::Certified)), for any start; a start that depends on records
//! is as harmless as every later point, which does too. Nor can it fail: if no part can be read or
//! solved, the start is 0, and the first pass over all rows finds any fault in them.
//!
//! The part is the same from memory, files and other machines, and so are all later bits.

use privet_optim::solver::{Penalty, Problem, SolverOptions, minimise};
use privet_optim::sum::{Labels, Records, Table};

/// The least number of rows for which a part of them is solved first.
const LEAST_ROWS: usize = 1 << 20;
/// The part is at most one row in this many.
const ONE_IN: usize = 64;
/// The number of stretches of the part.
const STRETCHES: usize = 64;
/// Approximate upper bound on the bytes of the part.
const MOST_PART_BYTES: usize = 1 << 26;

/// A point near the minimum of a problem, if the table is large; `labels` are the problem's.
pub(super) fn start<R: Records + ?Sized>(
    problem: &Problem<'_, R>,
    table: &dyn Table,
    labels: &Labels,
) -> Option<Vec<f64>> {
    // A penalty's weight would have to be scaled too.
    if problem.records.rows() < LEAST_ROWS || !matches!(problem.penalty, Penalty::None) {
        return None;
    }
    let part = table.rows_at(&part_rows(problem.records)).ok()?;
    let records = part.problem(labels).ok()?;
    let share = records.rows() as f64 / problem.records.rows() as f64;
    let linear = problem.linear.map(|linear| linear.iter().map(|b| b * share).collect::<Vec<_>>());
    let small = Problem {
        records: records.as_ref(),
        loss: problem.loss,
        ridge: problem.ridge * share,
        linear: linear.as_deref(),
        penalty: problem.penalty,
    };
    // Well within the variation between parts of the rows.
    let tolerance = problem.records.radius() * (records.rows() as f64).sqrt() / 100.0;
    let minimiser = minimise(&small, tolerance, &SolverOptions::default()).ok()?;
    Some(minimiser.into_theta())
}

/// The indices of the rows of the part.
fn part_rows<R: Records + ?Sized>(records: &R) -> Vec<usize> {
    let rows = records.rows();
    let a_row = 8 * (records.entries() / rows + 1);
    let stretch = (rows / ONE_IN).min(MOST_PART_BYTES / a_row).max(STRETCHES) / STRETCHES;
    let begin = |at: usize| (rows as u128 * at as u128 / STRETCHES as u128) as usize;
    (0..STRETCHES).flat_map(|at| begin(at)..begin(at) + stretch).collect()
}
