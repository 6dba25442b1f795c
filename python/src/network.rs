//! Networks: planned, trained under noise, read.

use crate::error::{Failure, Outcome};
use crate::held::Held;
use crate::input;
use crate::ledger::{self, Paid};
use crate::schema::Schema;
use crate::watched::watched;
use numpy::{PyArray1, PyArray2, PyArrayMethods, ToPyArray};
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_learn::linear::model::Predictions;
use privet_learn::networks::{Begin, Network as Task};
use privet_learn::{Plan, Released, Words};
use privet_nn::Net;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;
use std::path::PathBuf;

/// What decides the guarantee of a training, fixed before any record is read.
#[pyclass(module = "privet._privet", frozen)]
pub struct NetworkPlan(Plan<Task>);

/// What a plan decides, as JSON.
fn decided(plan: &Plan<Task>) -> String {
    let request = plan.request();
    json!({
        "method": request.task.method.to_string(),
        "loss": request.task.net.loss,
        "rows": request.rows,
        "columns": plan.facts().table.columns,
        "radius": plan.facts().table.radius,
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

#[pymethods]
impl NetworkPlan {
    /// Makes the plan from public facts; `net` is the description as JSON, `weights` a public network to begin from.
    #[new]
    #[pyo3(signature = (schema, net, rows, *, epsilon, delta, neighbours, method, settings, seed, weights, scale,
                        shift, notes, prior_fits = Vec::new()))]
    fn new(
        py: Python<'_>,
        schema: &Bound<'_, Schema>,
        net: &str,
        rows: u64,
        epsilon: Option<f64>,
        delta: Option<f64>,
        neighbours: &str,
        method: &str,
        settings: Vec<(String, String)>,
        seed: u64,
        weights: Option<&Bound<'_, TrainedNetwork>>,
        scale: Option<f64>,
        shift: Option<f64>,
        notes: Vec<String>,
        prior_fits: Vec<String>,
    ) -> Outcome<Self> {
        let net = serde_json::from_str(net)
            .map_err(|error| Failure::value(format!("layers: {error}")))?;
        let public = match weights {
            None => None,
            Some(public) => {
                Net::new(&net).map_err(|error| Failure::value(format!("layers: {error}")))?;
                let begin = Begin::file(&net, &public.get().0);
                Some(begin.map_err(|why| Failure::value(format!("initial_weights: {why}")))?)
            }
        };
        let (begin, public) = public.unzip();
        let begin = begin.unwrap_or(Begin::Seed(seed));
        let task = Task { begin: Some(begin), scale, shift, ..Task::new(net, method.parse()?) };
        let words = Words {
            epsilon,
            delta,
            neighbours: neighbours.parse()?,
            settings,
            ..Words::of("auto".parse()?)
        };
        let request = task.request(&schema.get().0, rows, &words)?.after_fits(prior_fits);
        let mut plan = watched(py, |_| privet_learn::plan(&request))??;
        if let Some(weights) = public {
            let columns = weights.len();
            let weights = Matrix::Dense(DenseMatrix::new(weights, 1, columns));
            plan = watched(py, |_| plan.with_public(&weights))??;
        }
        Ok(Self(notes.into_iter().fold(plan, Plan::noting)))
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
    ) -> Outcome<TrainedNetwork> {
        let doing = format!("fit {}", self.0.request().task.method);
        // Rows are made dense before a network sees them: how they were stored cannot show.
        let handed = (features, labels, units);
        let release = ledger::carried_out(py, &self.0, &doing, seed, handed, true, paid)?;
        Ok(TrainedNetwork(Held::released(Released::from_release(release)?)))
    }
}

/// A trained network with its certificate. Holds nothing else of the records.
#[pyclass(module = "privet._privet", frozen)]
pub struct TrainedNetwork(pub Held<Task>);

impl TrainedNetwork {
    fn features(&self, given: &Bound<'_, PyAny>) -> Outcome<Matrix> {
        Ok(input::features(given, &self.0.request().schema, &input::to_use())?.matrix)
    }
}

#[pymethods]
impl TrainedNetwork {
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

    /// The noised weights: name, shape and numbers of each tensor.
    fn tensors<'py>(
        &self,
        py: Python<'py>,
    ) -> Vec<(String, Vec<usize>, Bound<'py, PyArray1<f32>>)> {
        let tensors = &self.0.artefact().tensors;
        let shown = tensors.iter().map(|tensor| {
            (tensor.name.clone(), tensor.shape.clone(), tensor.values.to_pyarray(py))
        });
        shown.collect()
    }

    /// As an ONNX file.
    fn to_onnx<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyBytes>> {
        let bytes = watched(py, |_| privet_learn::export::network(&self.0))??;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The most likely class of each row, by its place among the classes.
    fn predict_codes<'py>(
        &self,
        py: Python<'py>,
        features: &Bound<'py, PyAny>,
    ) -> Outcome<Bound<'py, PyArray1<u32>>> {
        let rows = self.features(features)?;
        match watched(py, |_| self.0.predict(&rows))?? {
            Predictions::Classes(codes) => Ok(codes.to_pyarray(py)),
            Predictions::Numbers(_) => Err(Failure::value("this network predicts a number")),
        }
    }

    /// A probability for each row and class.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        features: &Bound<'py, PyAny>,
    ) -> Outcome<Bound<'py, PyArray2<f64>>> {
        let rows = self.features(features)?;
        let shares = watched(py, |_| self.0.probabilities(&rows))??;
        let shares = shares.ok_or_else(|| Failure::value("this network predicts a number"))?;
        let classes = shares.len().checked_div(rows.rows()).unwrap_or(0);
        Ok(shares.to_pyarray(py).reshape([rows.rows(), classes])?)
    }
}
