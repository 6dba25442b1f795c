//! What a model is worth on labelled rows: without noise, or in one noised release.

use crate::error::{Failure, Outcome};
use crate::held::Held;
use crate::input;
use crate::ledger::Paid;
use crate::model::Model;
use crate::network::TrainedNetwork;
use crate::noise::source;
use crate::watched::{Threads, released, watched};
use privet_core::Neighbours;
use privet_data::{Dataset, Schema};
use privet_learn::Released;
use privet_learn::statistics::evaluate::{Evaluate, Form, Judged, Says, Worth};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// A model that predicts.
#[derive(FromPyObject)]
pub enum Judge<'py> {
    Linear(PyRef<'py, Model>),
    Network(PyRef<'py, TrainedNetwork>),
}

impl Judge<'_> {
    fn schema(&self) -> &Schema {
        match self {
            Self::Linear(model) => &model.0.request().schema,
            Self::Network(network) => &network.0.request().schema,
        }
    }

    fn says(&self) -> Says {
        match self {
            Self::Linear(model) => Says::of_model(&model.0),
            Self::Network(network) => Says::of_network(&network.0),
        }
    }

    fn digest(&self) -> Outcome<String> {
        match self {
            Self::Linear(model) => model.0.digest(),
            Self::Network(network) => network.0.digest(),
        }
    }

    fn judged(&self, py: Python<'_>, data: &Dataset, form: &Form) -> Outcome<Judged> {
        Ok(match self {
            Self::Linear(model) => {
                let model = &model.0;
                watched(py, |_| Judged::by_model(model, data, form))??
            }
            Self::Network(network) => {
                let network = &network.0;
                watched(py, |_| Judged::by_network(network, data, form))??
            }
        })
    }
}

/// Without noise, as JSON: not private.
#[pyfunction]
#[pyo3(signature = (model, features, labels, threshold))]
pub fn evaluate_exactly(
    py: Python<'_>,
    model: Judge<'_>,
    features: &Bound<'_, PyAny>,
    labels: &Bound<'_, PyAny>,
    threshold: Option<f64>,
) -> Outcome<String> {
    let form = Form::exact(model.schema(), model.says(), threshold)?;
    let data =
        input::dataset(features, labels, None, &without_unit(model.schema())?, &input::to_use())?;
    Ok(serde_json::to_string(&Worth::exact(&form, &model.judged(py, &data, &form)?))?)
}

/// The threshold that follows from what errors cost.
#[pyfunction]
pub fn threshold_by_cost(missed: f64, false_alarm: f64) -> Outcome<f64> {
    Ok(privet_learn::statistics::evaluate::threshold_by_cost(missed, false_alarm)?)
}

/// Whose rows they are does not matter where nothing is hidden.
fn without_unit(schema: &Schema) -> Outcome<Schema> {
    let mut draft = privet_data::schema::Draft::from(schema.clone());
    draft.unit = None;
    draft.check().map_err(|error| Failure::value(error.to_string()))
}

/// In one noised release, paid for by a ledger where one is given.
#[pyfunction]
#[pyo3(signature = (model, features, labels, units, rows, *, epsilon, delta, neighbours, threshold, declared_public, seed, paid))]
pub fn evaluate_privately(
    py: Python<'_>,
    model: Judge<'_>,
    features: &Bound<'_, PyAny>,
    labels: &Bound<'_, PyAny>,
    units: Option<&Bound<'_, PyAny>>,
    rows: u64,
    epsilon: f64,
    delta: Option<f64>,
    neighbours: &str,
    threshold: Option<f64>,
    declared_public: bool,
    seed: Option<u64>,
    paid: Option<Paid>,
) -> Outcome<Evaluation> {
    let schema = model.schema();
    let task = Evaluate { model: model.digest()?, says: model.says(), threshold, declared_public };
    let neighbours = neighbours.parse::<Neighbours>()?;
    let request = task.request(schema, rows, neighbours, (epsilon, delta))?;
    let plan = watched(py, |_| privet_learn::plan(&request))??;
    let options = input::to_learn(!plan.request().relation().count_is_public(), true);
    let mut source = source(seed)?;
    let read = || -> Outcome<Dataset> {
        let data = input::dataset(features, labels, units, schema, &options)?;
        Ok(model.judged(py, &data, plan.facts())?.table(plan.facts()))
    };
    let release = match paid {
        None => {
            let judged = read()?;
            released(py, |stop| plan.run(&judged, source.as_mut(), stop))?
        }
        Some(paid) => {
            let rows = |each: &mut dyn FnMut(&[u8])| {
                input::raw_rows(features, labels, units, schema, each)
            };
            paid.run(py, Threads::Shared, &plan, "evaluate", source.as_mut(), read, rows)?
        }
    };
    Ok(Evaluation(Held::released(Released::from_release(release)?)))
}

/// A released evaluation with its certificate. Holds nothing else of the records.
#[pyclass(module = "privet._privet", frozen)]
pub struct Evaluation(pub Held<Evaluate>);

#[pymethods]
impl Evaluation {
    /// Reads an evaluation from the bytes of its file.
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

    /// What it says of the model, as JSON.
    fn worth(&self) -> Outcome<String> {
        Ok(serde_json::to_string(&self.read()?)?)
    }

    /// The threshold above which a share of the records lies, with its interval.
    fn threshold_for_share(&self, share: f64) -> Outcome<(f64, f64, f64)> {
        let found = (0.0 < share && share < 1.0).then(|| self.read()).transpose()?;
        let found = found.and_then(|worth| worth.threshold_by_share(share));
        let refused = "a share between 0 and 1 is accepted, for models that give two classes their probabilities";
        let found = found.ok_or_else(|| Failure::value(refused))?;
        Ok((found.value, found.low, found.high))
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

impl Evaluation {
    fn read(&self) -> Outcome<Worth> {
        let worth = Worth::of(self.0.request(), self.0.artefact());
        worth.ok_or_else(|| Failure::value("the evaluation's request is not settled"))
    }
}
