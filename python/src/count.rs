//! Records that were read, and plans of counts of declared categories.

use crate::error::{Failure, Outcome};
use crate::input;
use crate::plan::Plan;
use crate::schema::Schema;
use crate::watched::run_watched;
use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, read};
use privet_learn::statistics::count::{Count, Law};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::path::PathBuf;

/// Records with target and unit, read under a schema; only their number can be read from Python.
#[pyclass(module = "privet._privet", frozen)]
pub struct Records(pub Dataset);

#[pymethods]
impl Records {
    /// From named columns, or from the file at a path.
    #[new]
    #[pyo3(signature = (given, schema, allow_empty, any_storage = true))]
    fn new(
        py: Python<'_>,
        given: &Bound<'_, PyAny>,
        schema: &Schema,
        allow_empty: bool,
        any_storage: bool,
    ) -> Outcome<Self> {
        let options = input::to_learn(allow_empty, any_storage);
        if let Ok(list) = given.cast::<PyList>() {
            return Ok(Self(input::table_of(list, &schema.0, &options)?));
        }
        let path: PathBuf = given.extract()?;
        Ok(Self(run_watched(py, |_| read::read(&path, &schema.0, &options.options()))??))
    }

    /// The number of records; private where neighbours add or remove records.
    #[getter]
    fn rows(&self) -> usize {
        self.0.rows()
    }
}

/// Makes the plan of counts from public facts.
#[pyfunction]
#[pyo3(signature = (schema, by, rows, *, epsilon, delta, neighbours, law))]
pub fn plan_counts(
    py: Python<'_>,
    schema: &Bound<'_, Schema>,
    by: String,
    rows: u64,
    epsilon: f64,
    delta: f64,
    neighbours: &str,
    law: Option<&str>,
) -> Outcome<Plan> {
    let law = law.map(law_named).transpose()?;
    let task = Count { by, times: None, law };
    let asked = task.request(&schema.get().0, rows, neighbours.parse::<Neighbours>()?)?;
    let request = asked.with_budget(Budget::new(epsilon, delta)?);
    Ok(Plan(run_watched(py, |_| privet_learn::plan(&request))??.into()))
}

/// The noise distribution of that name.
pub fn law_named(name: &str) -> Outcome<Law> {
    let refused = || Failure::value(format!("'{name}' is not a law; accepted: laplace, gaussian"));
    serde_json::from_value(name.into()).map_err(|_| refused())
}
