//! Answers to public questions by the records near them: planned, released, read.

use crate::error::{Failure, Outcome};
use crate::held::Held;
use crate::input;
use crate::ledger::{self, Paid};
use crate::schema::Schema;
use crate::watched::watched;
use numpy::{PyArray2, ToPyArray};
use privet_core::Neighbours;
use privet_learn::Released;
use privet_learn::linear::model::Predictions;
use privet_learn::neighbours::Nearby;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;
use std::path::PathBuf;

/// What decides the guarantee of answers, fixed before any record is read.
#[pyclass(module = "privet._privet", frozen)]
pub struct NearbyPlan(privet_learn::Plan<Nearby>);

#[pymethods]
impl NearbyPlan {
    /// Makes the plan from public facts and questions.
    #[new]
    #[pyo3(signature = (schema, questions, rows, *, epsilon, delta, neighbours, within, votes,
                        notes, prior_fits = Vec::new()))]
    fn new(
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
    ) -> Outcome<Self> {
        let schema = schema.get().0.linear();
        let asked = input::features(questions, &schema, &input::to_ask())?.matrix;
        let task = Nearby { within, votes, ..Nearby::of(&asked) };
        let neighbours = neighbours.parse::<Neighbours>()?;
        let request =
            task.request(&schema, rows, neighbours, (epsilon, delta))?.after_fits(prior_fits);
        let plan = watched(py, |_| privet_learn::plan(&request))??;
        Ok(Self(notes.into_iter().fold(plan, privet_learn::Plan::noting)))
    }

    /// What was decided, as JSON.
    fn to_json(&self) -> String {
        decided(&self.0)
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
    ) -> Outcome<Answers> {
        let doing = "neighbours".to_string();
        // Rows are looked at entry by entry, whatever their storage: no bit depends on it.
        let handed = (features, labels, units);
        let release = ledger::carried_out(py, &self.0, &doing, seed, handed, true, paid)?;
        Ok(Answers(Held::released(Released::from_release(release)?)))
    }
}

/// What a plan decided, as JSON.
fn decided(plan: &privet_learn::Plan<Nearby>) -> String {
    let request = plan.request();
    json!({
        "method": "neighbours",
        "loss": "none",
        "rows": request.rows,
        "columns": plan.facts().columns,
        "radius": plan.facts().radius,
        "neighbours": request.neighbours,
        "unit": request.schema.unit(),
        "whose": request.whose(),
        "calibration": request.calibration,
        "guarantee": plan.guarantee(),
        "arithmetic": plan.arithmetic(),
        "settings": plan.settings(),
        "predicted_cost": None::<f64>,
        "events": plan.events(),
        "notes": plan.notes(),
    })
    .to_string()
}

/// Answers with their certificate. Holds nothing else of the records.
#[pyclass(module = "privet._privet", frozen)]
pub struct Answers(pub Held<Nearby>);

#[pymethods]
impl Answers {
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

    /// The plan that its public facts give, as JSON.
    fn plan(&self, py: Python<'_>) -> Outcome<String> {
        let request = self.0.request();
        Ok(decided(&watched(py, |_| privet_learn::plan(request))??))
    }

    /// Noised votes: a row for each question, a column for each class or end.
    #[getter]
    fn votes<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyArray2<f64>>> {
        PyArray2::from_vec2(py, &self.0.artefact().votes).map_err(Failure::value)
    }

    /// The class of each question by its place in the schema, or its number.
    fn predictions<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        match self
            .0
            .artefact()
            .predictions(&self.0.request().schema, Nearby::noise(self.0.request()))
        {
            Predictions::Classes(codes) => codes.to_pyarray(py).into_any(),
            Predictions::Numbers(numbers) => numbers.to_pyarray(py).into_any(),
        }
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
