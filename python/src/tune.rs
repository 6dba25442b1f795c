//! Tunings: planned, released, read.

use crate::count::Records;
use crate::error::{Failure, Outcome};
use crate::held::Held;
use crate::ledger::{self, Paid};
use crate::model::Model;
use crate::schema::Schema;
use crate::watched::watched;
use privet_learn::tuning::{Law, Tune, grid};
use privet_learn::{Method, Released, Request, Words};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;
use std::path::PathBuf;

/// What decides the guarantee of a tuning, fixed before any record is read.
#[pyclass(module = "privet._privet", frozen)]
pub struct TunePlan(privet_learn::Plan<Tune>);

/// A method's name with lists of values of its settings.
type Lists = (String, Vec<(String, Vec<String>)>);

#[pymethods]
impl TunePlan {
    /// Makes the plan from public facts.
    #[new]
    #[pyo3(signature = (schema, rows, candidates, *, epsilon, delta, neighbours, loss, trials,
                        law, prior_fits = Vec::new()))]
    fn new(
        py: Python<'_>,
        schema: &Bound<'_, Schema>,
        rows: u64,
        candidates: Vec<Lists>,
        epsilon: f64,
        delta: Option<f64>,
        neighbours: &str,
        loss: Option<String>,
        trials: Option<f64>,
        law: Option<&str>,
        prior_fits: Vec<String>,
    ) -> Outcome<Self> {
        let mut all: Vec<Method> = Vec::new();
        for (method, settings) in candidates {
            all.extend(grid(&method.parse()?, &settings)?);
        }
        let first = all.first().cloned().ok_or_else(|| {
            Failure::value("candidates are missing; accepted is a list of {\"method\": ..., ...}")
        })?;
        let law = law.map(law_named).transpose()?;
        let words = Words {
            epsilon: Some(epsilon),
            delta,
            neighbours: neighbours.parse()?,
            loss,
            ..Words::of(first)
        };
        let request = Tune::request(&schema.get().0, rows, &words, all)?;
        let task = Tune { trials, law, ..request.task.clone() };
        let request = Request { task, prior_fits, ..request };
        Ok(Self(watched(py, |_| privet_learn::plan(&request))??))
    }

    /// What was decided, as JSON.
    fn to_json(&self) -> String {
        let request = self.0.request();
        json!({
            "candidates": request.task.candidates,
            "trials": request.task.trials,
            "law": request.task.law,
            "trial_epsilon": request.task.trial_epsilon,
            "score_noise": self.0.settings().get("score_noise"),
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
    ) -> Outcome<Tuned> {
        let release = ledger::carried_out_on(py, &self.0, "tune", seed, &records.0, paid)?;
        Ok(Tuned(Held::released(Released::from_release(release)?)))
    }
}

fn law_named(name: &str) -> Outcome<Law> {
    let accepted = "accepted: poisson, logarithmic, geometric";
    let refused = || Failure::value(format!("'{name}' is not a law of trials; {accepted}"));
    serde_json::from_value(name.into()).map_err(|_| refused())
}

/// The best of a tuning with its certificate. Holds nothing else of the records.
#[pyclass(module = "privet._privet", frozen)]
pub struct Tuned(pub Held<Tune>);

#[pymethods]
impl Tuned {
    /// Reads a tuning from the bytes of its file.
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

    /// Which candidate was best, counted from 0; `None` where no trial was made.
    #[getter]
    fn candidate(&self) -> Option<u32> {
        self.0.artefact().best.as_ref().map(|best| best.candidate)
    }

    /// The best trial's model, to predict with; it is saved and verified as part of this alone.
    fn model(slf: Bound<'_, Self>) -> Option<Model> {
        let model = slf.get().0.model()?;
        Some(Model::of(Held::part(model), slf.unbind()))
    }

    /// What was asked for, as JSON.
    fn request(&self) -> Outcome<String> {
        Ok(serde_json::to_string(self.0.request())?)
    }

    /// The schema that was asked for.
    fn schema(&self) -> Schema {
        Schema(self.0.request().schema.clone())
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
