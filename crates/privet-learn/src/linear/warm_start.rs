//! Where a solver of a large table begins: at the minimum of a small part of the rows.
//!
//! From 0 a solver takes a dozen passes over all rows, half of them on the way to where a part of the rows would have led
//! it. So where there are [`MANY`] rows or more, the same objective of a 64th of them (fewer, where rows are long) is
//! minimised in memory first, with λ and b scaled down alike. The rows are stretches at even distances, so that a sorted
//! table shows its classes, and few blocks of a file are read.
//!
//! **Privacy.** Nothing rests on it. What is released is within a proved distance of *the* minimum of all rows
//! ([`Certified`](privet_optim::solver::Certified)), wherever the solver began; that a start follows from records is as
//! harmless as that every later point does. Nor can it fail: where no part can be had, or is not solved, the start is 0, and
//! whatever is wrong with the rows is met by the first pass over all of them.
//!
//! The part is the same from memory, files and other machines, and so are the bits of what follows.

use privet_optim::solver::{Penalty, Problem, SolverOptions, minimise};
use privet_optim::sum::{Labels, Records, Table};

/// Rows from which on a part of them is looked at first.
const MANY: usize = 1 << 20;
/// One row in so many, at most.
const ONE_IN: usize = 64;
/// In so many stretches.
const STRETCHES: usize = 64;
/// Bytes of the part, about, at most.
const MOST: usize = 1 << 26;

/// A point near the minimum of a problem, where the table is large; `labels` are the problem's.
pub(super) fn start<R: Records + ?Sized>(
    problem: &Problem<'_, R>,
    table: &dyn Table,
    labels: &Labels,
) -> Option<Vec<f64>> {
    // A penalty's weight would have to be scaled too.
    if problem.records.rows() < MANY || !matches!(problem.penalty, Penalty::None) {
        return None;
    }
    let part = table.rows_at(&places(problem.records)).ok()?;
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
    // Well within what another part of the rows would have differed by.
    let tolerance = problem.records.radius() * (records.rows() as f64).sqrt() / 100.0;
    let found = minimise(&small, tolerance, &SolverOptions::default()).ok()?;
    Some(found.into_theta())
}

/// Which rows.
fn places<R: Records + ?Sized>(records: &R) -> Vec<usize> {
    let rows = records.rows();
    let a_row = 8 * (records.entries() / rows + 1);
    let stretch = (rows / ONE_IN).min(MOST / a_row).max(STRETCHES) / STRETCHES;
    let begin = |at: usize| (rows as u128 * at as u128 / STRETCHES as u128) as usize;
    (0..STRETCHES).flat_map(|at| begin(at)..begin(at) + stretch).collect()
}
