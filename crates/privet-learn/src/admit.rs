//! Which data a plan admits, and the labels of its problems.

use crate::LearnError;
use crate::facts::Facts;
use privet_core::{Neighbours, Unit};
use privet_data::matrix::Matrix;
use privet_data::{Dataset, Target};
use privet_optim::double_double::{DoubleDouble, two_product};
use std::collections::HashMap;

/// Everything the theorems assume of the data. Refused before the first noise is drawn, in words
/// that say nothing of a value.
pub(crate) fn check(facts: &Facts, data: &Dataset) -> Result<(), LearnError> {
    let found = data.features.rows() as u64;
    // A user may be exchanged for one with more or fewer rows: then the count is private.
    let public_count = facts.neighbours == Neighbours::ReplaceOne && facts.unit == Unit::Record;
    if public_count && found != facts.rows {
        return Err(LearnError::RowCount { declared: facts.rows, found });
    }
    if data.features.columns() != facts.columns {
        return Err(LearnError::DataShape("the number of encoded columns differs"));
    }
    if data.target.len() != data.features.rows() {
        return Err(LearnError::DataShape("there is not one target for each row"));
    }
    if !target_fits(facts, &data.target) {
        return Err(LearnError::DataShape("the target is not of the planned kind"));
    }
    if !rows_within(&data.features, facts.radius) {
        return Err(LearnError::DataShape("a row is longer than the clipping radius"));
    }
    if let Unit::User { max_records } = facts.unit {
        let units = data.units.as_ref().ok_or(LearnError::DataShape("rows name no unit"))?;
        if units.len() != data.features.rows() {
            return Err(LearnError::DataShape("there is not one unit for each row"));
        }
        let mut counts: HashMap<u64, u32> = HashMap::new();
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
        squares().sum::<f64>() <= high * (1.0 - 1e-9) || {
            let sum = squares().fold(DoubleDouble::ZERO, |sum, square| sum + square.into());
            sum.high.is_finite() && !(sum - limit.times(1.0 + f64::EPSILON)).is_positive()
        }
    };
    (0..features.rows()).all(|row| match features {
        Matrix::Dense(dense) => within(dense.row(row)),
        Matrix::Csr(csr) => within(csr.row(row).1),
    })
}

/// Labels of one problem: ∓1 for classes, one class against the rest if there are more than two;
/// numbers as they are, in [−1, 1]. The size of a class's label is how much its rows count.
pub(crate) fn labels(facts: &Facts, data: &Dataset, problem: u32) -> Result<Vec<f64>, LearnError> {
    let target = &data.target;
    let labels = if facts.problems == 1 { target.signed() } else { target.against_rest(problem) };
    let mut labels =
        labels.ok_or(LearnError::DataShape("the target is not of the planned kind"))?;
    if let Target::Class { codes, .. } = target {
        for (label, code) in labels.iter_mut().zip(codes) {
            *label *= facts.weights.get(*code as usize).unwrap_or(&1.0);
        }
    }
    Ok(labels)
}
