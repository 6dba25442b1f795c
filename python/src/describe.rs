//! Descriptions of tables: planned, released, read.

use crate::count::Records;
use crate::error::{Failure, Outcome};
use crate::held::Held;
use crate::ledger::{self, Paid};
use crate::schema::Schema;
use crate::watched::watched;
use privet_core::Neighbours;
use privet_learn::Released;
use privet_learn::statistics::describe::{Describe, Summary};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;
use std::path::PathBuf;

/// What decides the guarantee of a description, fixed before any record is read.
#[pyclass(module = "privet._privet", frozen)]
pub struct DescribePlan(privet_learn::Plan<Describe>);

#[pymethods]
impl DescribePlan {
    /// Makes the plan from public facts.
    #[new]
    #[pyo3(signature = (schema, rows, *, columns, bins, correlations, epsilon, delta, neighbours))]
    fn new(
        py: Python<'_>,
        schema: &Bound<'_, Schema>,
        rows: u64,
        columns: Option<Vec<String>>,
        bins: Option<u32>,
        correlations: Option<bool>,
        epsilon: f64,
        delta: Option<f64>,
        neighbours: &str,
    ) -> Outcome<Self> {
        let task = Describe { columns, bins, correlations };
        let neighbours = neighbours.parse::<Neighbours>()?;
        let request = task.request(&schema.get().0, rows, neighbours, (epsilon, delta))?;
        Ok(Self(watched(py, |_| privet_learn::plan(&request))??))
    }

    /// What was decided, as JSON.
    fn to_json(&self) -> String {
        let request = self.0.request();
        json!({
            "columns": request.task.columns,
            "bins": request.task.bins,
            "correlations": request.task.correlations,
            "noise": self.0.settings().get("sum_noise"),
            "sums": self.0.facts().question.length(),
            "rows": request.rows,
            "neighbours": request.neighbours,
            "unit": request.schema.unit(),
            "whose": request.whose(),
            "guarantee": self.0.guarantee(),
            "arithmetic": self.0.arithmetic(),
            "events": self.0.events(),
            "notes": self.0.notes(),
        })
        .to_string()
    }

    /// The schema under which records are to be read.
    fn schema(&self) -> Schema {
        Schema(self.0.schema().clone())
    }

    /// Carries it out: one release.
    #[pyo3(signature = (records, seed, paid = None))]
    fn run(
        &self,
        py: Python<'_>,
        records: &Records,
        seed: Option<u64>,
        paid: Option<Paid>,
    ) -> Outcome<Description> {
        let release = ledger::carried_out_on(py, &self.0, "describe", seed, &records.0, paid)?;
        Ok(Description(Held::released(Released::from_release(release)?)))
    }
}

/// A released description with its certificate. Holds nothing else of the records.
#[pyclass(module = "privet._privet", frozen)]
pub struct Description(pub Held<Describe>);

#[pymethods]
impl Description {
    /// Reads a description from the bytes of its file.
    #[staticmethod]
    #[pyo3(signature = (bytes, *, sealed = true))]
    fn from_bytes(bytes: &[u8], sealed: bool) -> Outcome<Self> {
        Held::from_bytes(bytes, sealed).map(Self)
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyBytes>> {
        self.0.to_bytes(py)
    }

    /// Writes its file.
    fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> Outcome<()> {
        self.0.save(py, &path, overwrite)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Outcome<(Py<PyAny>, (Bound<'py, PyBytes>,))> {
        let from_bytes = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((from_bytes.unbind(), (self.to_bytes(py)?,)))
    }

    /// What it says of the table, as JSON.
    fn summary(&self) -> Outcome<String> {
        let summary = Summary::of(self.0.request(), self.0.artefact());
        let unsettled = || Failure::value("the description's request is not settled");
        Ok(serde_json::to_string(&summary.ok_or_else(unsettled)?)?)
    }

    /// What the certificate claims, as JSON.
    fn claim(&self) -> String {
        self.0.claim()
    }

    /// The certificate as JSON.
    fn certificate(&self) -> Outcome<String> {
        self.0.document()
    }

    /// Checks it without data: the verdict as JSON.
    fn verify(&self, py: Python<'_>) -> Outcome<String> {
        self.0.verdict(py)
    }
}
