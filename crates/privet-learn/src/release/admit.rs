//! Which data a plan admits, and the labels of its problems.

use crate::LearnError;
use crate::linear::facts::Facts;
use privet_core::{Relation, Unit};
use privet_data::matrix::Matrix;
use privet_data::{Dataset, Target};
use privet_optim::double_double::{DoubleDouble, two_product};
use privet_optim::sum::{Labels, Records, RecordsError, Table};
use rayon::prelude::*;
use std::collections::HashMap;

/// Everything the theorems assume of the data. Refused before the first noise is drawn, in words
/// that say nothing of a value.
pub(crate) fn check(facts: &Facts, table: &dyn Table) -> Result<(), LearnError> {
    shape(facts.relation(), facts.rows, facts.columns, table, |data| fits(facts, data))
}

/// What the theorems assume of single rows.
fn fits(facts: &Facts, data: &Dataset) -> Result<(), LearnError> {
    if !target_fits(facts, &data.target) {
        return Err(LearnError::DataShape("the target is not of the planned kind"));
    }
    if !rows_within(&data.features, facts.radius) {
        return Err(LearnError::DataShape("a row is longer than the clipping radius"));
    }
    Ok(())
}

/// Everything the theorems assume of some rows of a stream, where a unit is a record.
pub(crate) fn piece(facts: &Facts, data: &Dataset) -> Result<(), LearnError> {
    if data.features.columns() != facts.columns {
        return Err(LearnError::DataShape("the number of encoded columns differs"));
    }
    if data.target.len() != data.features.rows() {
        return Err(LearnError::DataShape("there is not one target for each row"));
    }
    fits(facts, data)
}

/// What every theorem assumes: the number of rows where it is public, so many columns, a target a row, and
/// no unit above its cap. `also` is what the family assumes of each piece of the table besides.
pub(crate) fn shape(
    relation: Relation,
    rows: u64,
    columns: usize,
    table: &dyn Table,
    also: impl Fn(&Dataset) -> Result<(), LearnError>,
) -> Result<(), LearnError> {
    let found = table.rows() as u64;
    if relation.count_is_public() && found != rows {
        return Err(LearnError::RowCount { declared: rows, found });
    }
    if table.columns() != columns {
        return Err(LearnError::DataShape("the number of encoded columns differs"));
    }
    if table.is_vouched_for() {
        return Ok(());
    }
    let mut counts: HashMap<u64, u32> = HashMap::new();
    let mut refused = Ok(());
    let visited = table.visit(&mut |rows| {
        refused = check_rows(relation.unit, rows, &mut counts).and_then(|()| also(rows));
        // What is wrong is kept beside; this only ends the visit.
        refused.as_ref().map(|_| ()).map_err(|_| RecordsError::BackEnd("refused".into()))
    });
    refused?;
    visited.map_err(LearnError::Records)
}

/// The same of some of the rows; `counts` is how many rows each unit had before.
fn check_rows(
    unit: Unit,
    data: &Dataset,
    counts: &mut HashMap<u64, u32>,
) -> Result<(), LearnError> {
    if data.target.len() != data.features.rows() {
        return Err(LearnError::DataShape("there is not one target for each row"));
    }
    if let Unit::User { max_records } = unit {
        let units = data.units.as_ref().ok_or(LearnError::DataShape("rows name no unit"))?;
        if units.len() != data.features.rows() {
            return Err(LearnError::DataShape("there is not one unit for each row"));
        }
        for unit in units {
            let count = counts.entry(*unit).or_default();
            *count += 1;
            if *count > max_records {
                return Err(LearnError::DataShape("a unit has more rows than its cap"));
            }
        }
    }
    Ok(())
}

/// Which unit each row belongs to, counted from 0 in the order in which they come.
pub(crate) fn owners(unit: Unit, data: &Dataset) -> Vec<usize> {
    let mut places: HashMap<u64, usize> = HashMap::new();
    match (&data.units, unit) {
        (Some(units), Unit::User { .. }) => units
            .iter()
            .map(|unit| {
                let next = places.len();
                *places.entry(*unit).or_insert(next)
            })
            .collect(),
        _ => (0..data.rows()).collect(),
    }
}

/// All rows in memory, for a method that needs more of them than sums.
pub(crate) fn in_memory<'a>(
    table: &'a dyn Table,
    method: &'static str,
    needs: &'static str,
) -> Result<&'a Dataset, LearnError> {
    table.in_memory().ok_or(LearnError::NeedsMemory { method, needs })
}

/// Whether every label is one that the planned problems know: told now, since a solver would refuse
/// it only after the noise was drawn.
fn target_fits(facts: &Facts, target: &Target) -> bool {
    let problems = facts.problems as usize;
    match target {
        Target::Class { codes, count } => {
            let planned = if problems == 1 { 2 } else { problems };
            *count == planned && codes.iter().all(|code| (*code as usize) < planned)
        }
        Target::Number(values) => {
            let numbers = problems == 1 && !facts.loss.needs_classes();
            numbers && values.iter().all(|value| facts.loss.accepts(*value))
        }
    }
}

/// Whether no row is longer than the radius. Rows are built so (`privet_data::bound` proves it in
/// integers); this second look catches a matrix that was made elsewhere.
fn rows_within(features: &Matrix, radius: f64) -> bool {
    let (high, low) = two_product(radius, radius);
    let limit = DoubleDouble::new(high, low);
    // Squares of `f32` are exact in `f64`; where a plain sum leaves a doubt, it is taken again in double
    // the precision, whose rounding is far below what every sensitivity is rounded up by.
    let within = |row: &[f32]| {
        let squares = || row.iter().map(|x| f64::from(*x) * f64::from(*x));
        // Eight sums at a time, so that an addition need not wait for the one before.
        let mut lanes = [0.0; 8];
        for some in row.chunks(8) {
            some.iter().zip(&mut lanes).for_each(|(x, sum)| *sum += f64::from(*x) * f64::from(*x));
        }
        lanes.iter().sum::<f64>() <= high * (1.0 - 1e-9) || {
            let sum = squares().fold(DoubleDouble::ZERO, |sum, square| sum + square.into());
            sum.high.is_finite() && !(sum - limit.times(1.0 + f64::EPSILON)).is_positive()
        }
    };
    (0..features.rows()).into_par_iter().with_min_len(1024).all(|row| match features {
        Matrix::Dense(dense) => within(dense.row(row)),
        Matrix::Csr(csr) => within(csr.row(row).1),
    })
}

/// Labels of one problem: ∓1 for classes, one class against the rest if there are more than two;
/// numbers as they are, in [−1, 1]. The size of a class's label is how much its rows count.
pub(crate) fn problem(facts: &Facts, problem: u32) -> Labels {
    let weights = facts.weights.clone();
    match facts.problems {
        1 => Labels::Signed { weights },
        _ => Labels::AgainstRest { class: problem, weights },
    }
}

/// Rows with the labels of one problem.
pub(crate) fn records<'a>(
    table: &'a dyn Table,
    labels: &Labels,
) -> Result<Box<dyn Records + 'a>, LearnError> {
    table.problem(labels).map_err(|error| match error {
        RecordsError::BackEnd(_) => LearnError::Records(error),
        _ => LearnError::DataShape("a feature or target is not a number in its range"),
    })
}

/// The labels of one problem, for rows in memory.
pub(crate) fn labels(facts: &Facts, data: &Dataset, number: u32) -> Result<Vec<f64>, LearnError> {
    let unfit = LearnError::DataShape("the target is not of the planned kind");
    problem(facts, number).of(&data.target).ok_or(unfit)
}
