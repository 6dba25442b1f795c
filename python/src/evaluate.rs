//! Evaluation of a model on labelled rows: without noise, or in one noisy release.

use crate::error::{Failure, Outcome};
use crate::input;
use crate::ledger::{Order, Paid, Table};
use crate::released::Released;
use crate::watched::{Threads, run_watched};
use privet_core::Neighbours;
use privet_data::{Dataset, Schema};
use privet_learn::Loaded;
use privet_learn::statistics::evaluate::{Evaluate, Form, Judgements, Metrics, OutputKind};
use pyo3::prelude::*;

/// A model that predicts, and its evaluation.
struct PythonModel<'a>(&'a Released);

impl PythonModel<'_> {
    fn schema(&self) -> &Schema {
        self.0.asked_schema()
    }

    fn says(&self) -> Outcome<OutputKind> {
        Ok(match self.0.loaded() {
            Loaded::Network(network) => OutputKind::of_network(network),
            _ => OutputKind::of_model(self.0.linear()?),
        })
    }

    fn judged(&self, py: Python<'_>, data: &Dataset, form: &Form) -> Outcome<Judgements> {
        Ok(match self.0.loaded() {
            Loaded::Network(network) => {
                run_watched(py, |_| Judgements::by_network(network, data, form))??
            }
            _ => {
                let model = self.0.linear()?;
                run_watched(py, |_| Judgements::by_model(model, data, form))??
            }
        })
    }
}

/// Evaluates a model without noise, as JSON: not private.
#[pyfunction]
#[pyo3(signature = (model, features, labels, threshold))]
pub fn evaluate_exactly(
    py: Python<'_>,
    model: &Released,
    features: &Bound<'_, PyAny>,
    labels: &Bound<'_, PyAny>,
    threshold: Option<f64>,
) -> Outcome<String> {
    let model = PythonModel(model);
    let form = Form::exact(model.schema(), model.says()?, threshold)?;
    let data =
        input::dataset(features, labels, None, &without_unit(model.schema())?, &input::to_use())?;
    Ok(serde_json::to_string(&Metrics::exact(&form, &model.judged(py, &data, &form)?))?)
}

/// The threshold that follows from the costs of the two errors.
#[pyfunction]
pub fn threshold_by_cost(missed: f64, false_alarm: f64) -> Outcome<f64> {
    Ok(privet_learn::statistics::evaluate::threshold_by_cost(missed, false_alarm)?)
}

/// The unit of a row is irrelevant where nothing is protected.
fn without_unit(schema: &Schema) -> Outcome<Schema> {
    let mut draft = privet_data::schema::Draft::from(schema.clone());
    draft.unit = None;
    draft.check().map_err(|error| Failure::value(error.to_string()))
}

/// Evaluates a model in one noisy release, paid for by a ledger where one is given.
#[pyfunction]
#[pyo3(signature = (model, features, labels, units, rows, *, epsilon, delta, neighbours, threshold, declared_public, seed, paid))]
pub fn evaluate_privately(
    py: Python<'_>,
    model: &Released,
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
) -> Outcome<Released> {
    let (digest, model) = (model.digest()?, PythonModel(model));
    let schema = model.schema();
    let task = Evaluate { model: digest, says: model.says()?, threshold, declared_public };
    let neighbours = neighbours.parse::<Neighbours>()?;
    let request = task.request(schema, rows, neighbours, (epsilon, delta))?;
    let plan = run_watched(py, |_| privet_learn::plan(&request))??;
    let options = input::to_learn(!plan.request().relation().count_is_public(), true);
    let read = || -> Outcome<Dataset> {
        let data = input::dataset(features, labels, units, schema, &options)?;
        Ok(model.judged(py, &data, plan.facts())?.table(plan.facts()))
    };
    let table = Table { handed: (features, labels, units), schema };
    let order = Order { plan: &plan, doing: "evaluate", seed, by: Threads::Shared, paid };
    Ok(Released::of_run(order.release::<Dataset, _>(py, table, read)?))
}

/// The metrics of an evaluation.
pub fn metrics(found: &privet_learn::Released<Evaluate>) -> Outcome<Metrics> {
    let metrics = Metrics::of(found.request(), found.artefact());
    metrics.ok_or_else(|| Failure::value("the evaluation's request is not settled"))
}

/// The threshold exceeded by a fraction of the records, with its interval.
pub fn threshold_for_share(
    found: &privet_learn::Released<Evaluate>,
    share: f64,
) -> Outcome<(f64, f64, f64)> {
    let found = (0.0 < share && share < 1.0).then(|| metrics(found)).transpose()?;
    let found = found.and_then(|metrics| metrics.threshold_by_share(share));
    let refused =
        "a share between 0 and 1 is accepted, for models that give two classes their probabilities";
    let found = found.ok_or_else(|| Failure::value(refused))?;
    Ok((found.value, found.low, found.high))
}
