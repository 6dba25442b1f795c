//! Answers to public queries from the records near them: planned, read.

use crate::error::Outcome;
use crate::input;
use crate::plan::Plan;
use crate::schema::Schema;
use crate::watched::run_watched;
use numpy::ToPyArray;
use privet_core::Neighbours;
use privet_learn::Released;
use privet_learn::linear::model::Predictions;
use privet_learn::neighbours::Nearby;
use pyo3::prelude::*;

/// Makes the plan of answers from public facts and queries.
#[pyfunction]
#[pyo3(signature = (schema, questions, rows, *, epsilon, delta, neighbours, within, votes,
                    notes, prior_fits = Vec::new()))]
pub fn plan_answers(
    py: Python<'_>,
    schema: &Bound<'_, Schema>,
    questions: &Bound<'_, PyAny>,
    rows: u64,
    epsilon: f64,
    delta: Option<f64>,
    neighbours: &str,
    within: Option<f64>,
    votes: Option<u32>,
    notes: Vec<String>,
    prior_fits: Vec<String>,
) -> Outcome<Plan> {
    let schema = schema.get().0.linear();
    let asked = input::features(questions, &schema, &input::to_ask())?.matrix;
    let task = Nearby { within, votes, ..Nearby::of(&asked) };
    let neighbours = neighbours.parse::<Neighbours>()?;
    let request = task.request(&schema, rows, neighbours, (epsilon, delta))?.after_fits(prior_fits);
    let plan = run_watched(py, |_| privet_learn::plan(&request))??;
    Ok(Plan::noting(plan, notes))
}

/// The class index of each query, or its number.
pub fn predictions<'py>(py: Python<'py>, found: &Released<Nearby>) -> Bound<'py, PyAny> {
    let request = found.request();
    match found.artefact().predictions(&request.schema, Nearby::noise(request)) {
        Predictions::Classes(codes) => codes.to_pyarray(py).into_any(),
        Predictions::Numbers(numbers) => numbers.to_pyarray(py).into_any(),
    }
}
