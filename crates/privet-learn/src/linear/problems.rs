//! Which rows a linear problem admits, and the labels of its problems.

use crate::LearnError;
use crate::linear::facts::Facts;
use crate::release::admit;
use privet_data::matrix::Matrix;
use privet_data::{Dataset, Target};
use privet_optim::double_double::{DoubleDouble, two_product};
use privet_optim::sum::{Labels, Table};
use rayon::prelude::*;

/// Everything the theorems assume of the data. Refused before the first noise is drawn, in words
/// that say nothing of a value.
pub(crate) fn check(facts: &Facts, table: &dyn Table) -> Result<(), LearnError> {
    admit::shape(facts.relation(), facts.rows, facts.columns, table, |data| fits(facts, data))
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
pub(crate) fn check_rows(facts: &Facts, data: &Dataset) -> Result<(), LearnError> {
    if data.features.columns() != facts.columns {
        return Err(LearnError::DataShape("the number of encoded columns differs"));
    }
    if data.target.len() != data.features.rows() {
        return Err(LearnError::DataShape("there is not one target for each row"));
    }
    fits(facts, data)
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

/// The labels of one problem, for rows in memory.
pub(crate) fn labels(facts: &Facts, data: &Dataset, number: u32) -> Result<Vec<f64>, LearnError> {
    let unfit = LearnError::DataShape("the target is not of the planned kind");
    problem(facts, number).of(&data.target).ok_or(unfit)
}
