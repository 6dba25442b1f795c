//! Private choices of columns: planned.

use crate::error::Outcome;
use crate::plan::Plan;
use crate::schema::Schema;
use crate::watched::run_watched;
use privet_core::Neighbours;
use privet_learn::selection::{Select, Selector};
use pyo3::prelude::*;

/// Makes the plan of a choice of columns from public facts.
#[pyfunction]
#[pyo3(signature = (schema, size, rows, *, epsilon, delta, neighbours, method, settings,
                    notes, prior_fits = Vec::new()))]
pub fn plan_selection(
    py: Python<'_>,
    schema: &Bound<'_, Schema>,
    size: u32,
    rows: u64,
    epsilon: f64,
    delta: Option<f64>,
    neighbours: &str,
    method: &str,
    settings: Vec<(String, String)>,
    notes: Vec<String>,
    prior_fits: Vec<String>,
) -> Outcome<Plan> {
    let mut selector = method.parse::<Selector>()?;
    for (name, value) in settings {
        selector = selector.with(&name, &value)?;
    }
    let task = Select { size, method: selector };
    let neighbours = neighbours.parse::<Neighbours>()?;
    let request =
        task.request(&schema.get().0, rows, neighbours, (epsilon, delta))?.after_fits(prior_fits);
    let plan = run_watched(py, |_| privet_learn::plan(&request))??;
    Ok(Plan::noting(plan, notes))
}
