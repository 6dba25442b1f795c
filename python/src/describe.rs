//! Descriptions of tables: planned, read.

use crate::error::{Failure, Outcome};
use crate::plan::Plan;
use crate::schema::Schema;
use crate::watched::run_watched;
use privet_core::Neighbours;
use privet_learn::Released;
use privet_learn::statistics::describe::{Describe, Summary};
use pyo3::prelude::*;

/// Makes the plan of a description from public facts.
#[pyfunction]
#[pyo3(signature = (schema, rows, *, columns, bins, correlations, epsilon, delta, neighbours))]
pub fn plan_description(
    py: Python<'_>,
    schema: &Bound<'_, Schema>,
    rows: u64,
    columns: Option<Vec<String>>,
    bins: Option<u32>,
    correlations: Option<bool>,
    epsilon: f64,
    delta: Option<f64>,
    neighbours: &str,
) -> Outcome<Plan> {
    let task = Describe { columns, bins, correlations };
    let neighbours = neighbours.parse::<Neighbours>()?;
    let request = task.request(&schema.get().0, rows, neighbours, (epsilon, delta))?;
    Ok(Plan(run_watched(py, |_| privet_learn::plan(&request))??.into()))
}

/// The summary in a description, as JSON.
pub fn summary(found: &Released<Describe>) -> Outcome<String> {
    let summary = Summary::of(found.request(), found.artefact());
    let unsettled = || Failure::value("the description's request is not settled");
    Ok(serde_json::to_string(&summary.ok_or_else(unsettled)?)?)
}
