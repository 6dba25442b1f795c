//! Columns chosen privately: planned, released, read.

use crate::error::Outcome;
use crate::held::Held;
use crate::ledger::{self, Paid};
use crate::schema::Schema;
use crate::watched::watched;
use privet_core::Neighbours;
use privet_learn::Released;
use privet_learn::selection::{Select, Selector};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;
use std::path::PathBuf;

/// What decides the guarantee of a choice of columns, fixed before any record is read.
#[pyclass(module = "privet._privet", frozen)]
pub struct SelectPlan(privet_learn::Plan<Select>);

#[pymethods]
impl SelectPlan {
    /// Makes the plan from public facts.
    #[new]
    #[pyo3(signature = (schema, size, rows, *, epsilon, delta, neighbours, method, settings,
                        notes, prior_fits = Vec::new()))]
    fn new(
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
    ) -> Outcome<Self> {
        let mut selector = method.parse::<Selector>()?;
        for (name, value) in settings {
            selector = selector.with(&name, &value)?;
        }
        let task = Select { size, method: selector };
        let neighbours = neighbours.parse::<Neighbours>()?;
        let request = task
            .request(&schema.get().0, rows, neighbours, (epsilon, delta))?
            .after_fits(prior_fits);
        let plan = watched(py, |_| privet_learn::plan(&request))??;
        Ok(Self(notes.into_iter().fold(plan, privet_learn::Plan::noting)))
    }

    /// What was decided, as JSON.
    fn to_json(&self) -> String {
        let request = self.0.request();
        json!({
            "method": request.task.method.name(),
            "loss": "none",
            "rows": request.rows,
            "columns": self.0.facts().columns,
            "radius": self.0.facts().radius,
            "neighbours": request.neighbours,
            "unit": request.schema.unit(),
            "whose": request.whose(),
            "calibration": request.calibration,
            "guarantee": self.0.guarantee(),
            "arithmetic": self.0.arithmetic(),
            "settings": self.0.settings(),
            "predicted_cost": None::<f64>,
            "events": self.0.events(),
            "notes": self.0.notes(),
        })
        .to_string()
    }

    /// Carries it out: one release.
    #[pyo3(signature = (features, labels, units, seed, paid = None))]
    fn run(
        &self,
        py: Python<'_>,
        features: &Bound<'_, PyAny>,
        labels: &Bound<'_, PyAny>,
        units: Option<&Bound<'_, PyAny>>,
        seed: Option<u64>,
        paid: Option<Paid>,
    ) -> Outcome<Support> {
        let doing = format!("select {}", self.0.request().task.method);
        // What is computed of rows are whole numbers: no order of a row's entries can show.
        let handed = (features, labels, units);
        let release = ledger::carried_out(py, &self.0, &doing, seed, handed, true, paid)?;
        Ok(Support(Held::released(Released::from_release(release)?)))
    }
}

/// Chosen columns with their certificate. Holds nothing else of the records.
#[pyclass(module = "privet._privet", frozen)]
pub struct Support(pub Held<Select>);

#[pymethods]
impl Support {
    /// Reads it from the bytes of its file.
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

    /// The schema that was asked for.
    fn schema(&self) -> Schema {
        Schema(self.0.request().schema.clone())
    }

    /// What was asked for, as JSON.
    fn request(&self) -> Outcome<String> {
        Ok(serde_json::to_string(self.0.request())?)
    }

    /// Places of the encoded columns; `None` where no answer was stable enough.
    #[getter]
    fn columns(&self) -> Option<Vec<u32>> {
        self.0.artefact().columns.clone()
    }

    /// Their names.
    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        self.0.artefact().names(&self.0.request().schema)
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
