//! Predictions of linear models.

use crate::error::{Failure, Outcome};
use crate::watched::run_watched;
use numpy::{PyArray1, PyArray2, PyArrayMethods, ToPyArray};
use privet_data::matrix::Matrix;
use privet_learn::linear::model::{Model, Predictions};
use pyo3::prelude::*;

/// The rows that the weights multiply: encoded, and centred where the model has a centre.
pub fn rows<'py>(
    py: Python<'py>,
    model: &Model,
    rows: &Matrix,
) -> Outcome<Bound<'py, PyArray2<f64>>> {
    let found = run_watched(py, |_| model.scored_rows(rows))?;
    Ok(found.to_pyarray(py).reshape([rows.rows(), rows.columns()])?)
}

/// The score ⟨x, θ⟩ of each row and problem.
pub fn scores<'py>(
    py: Python<'py>,
    model: &Model,
    rows: &Matrix,
) -> Outcome<Bound<'py, PyArray2<f64>>> {
    let scores = run_watched(py, |_| model.scores(rows))?;
    let problems = model.weights().weights.len();
    Ok(scores.to_pyarray(py).reshape([rows.rows(), problems])?)
}

/// The index of the most likely class of each row.
pub fn predict_codes<'py>(
    py: Python<'py>,
    model: &Model,
    rows: &Matrix,
) -> Outcome<Bound<'py, PyArray1<u32>>> {
    match run_watched(py, |_| model.predict(rows))? {
        Predictions::Classes(codes) => Ok(codes.to_pyarray(py)),
        Predictions::Numbers(_) => Err(Failure::value("this model predicts a number")),
    }
}

/// The predicted number of each row, in the target's own unit.
pub fn predict_numbers<'py>(
    py: Python<'py>,
    model: &Model,
    rows: &Matrix,
) -> Outcome<Bound<'py, PyArray1<f64>>> {
    match run_watched(py, |_| model.predict(rows))? {
        Predictions::Numbers(numbers) => Ok(numbers.to_pyarray(py)),
        Predictions::Classes(_) => Err(Failure::value("this model predicts a class")),
    }
}

/// A probability for each row and class; `None` unless the loss is logistic.
pub fn probabilities<'py>(
    py: Python<'py>,
    model: &Model,
    rows: &Matrix,
) -> Outcome<Option<Bound<'py, PyArray2<f64>>>> {
    let found = run_watched(py, |_| model.probabilities(rows))?;
    let classes = model.request().schema.classes().map_or(0, <[_]>::len);
    let Some(found) = found else { return Ok(None) };
    Ok(Some(found.to_pyarray(py).reshape([rows.rows(), classes])?))
}
