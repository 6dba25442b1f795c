//! What a model is worth on labelled rows: without noise, or in one noised release.

use crate::error::{Failure, Outcome};
use crate::input;
use crate::ledger::Paid;
use crate::noise::source;
use crate::released::Released;
use crate::watched::{Threads, released, watched};
use privet_core::Neighbours;
use privet_data::{Dataset, Schema};
use privet_learn::Loaded;
use privet_learn::statistics::evaluate::{Evaluate, Form, Judgements, Metrics, OutputKind};
use pyo3::prelude::*;

/// What a model is asked, of those that predict.
struct Judge<'a>(&'a Released);

impl Judge<'_> {
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
                watched(py, |_| Judgements::by_network(network, data, form))??
            }
            _ => {
                let model = self.0.linear()?;
                watched(py, |_| Judgements::by_model(model, data, form))??
            }
        })
    }
}

/// Without noise, as JSON: not private.
#[pyfunction]
#[pyo3(signature = (model, features, labels, threshold))]
pub fn evaluate_exactly(
    py: Python<'_>,
    model: &Released,
    features: &Bound<'_, PyAny>,
    labels: &Bound<'_, PyAny>,
    threshold: Option<f64>,
) -> Outcome<String> {
    let model = Judge(model);
    let form = Form::exact(model.schema(), model.says()?, threshold)?;
    let data =
        input::dataset(features, labels, None, &without_unit(model.schema())?, &input::to_use())?;
    Ok(serde_json::to_string(&Metrics::exact(&form, &model.judged(py, &data, &form)?))?)
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
    let (digest, model) = (model.digest()?, Judge(model));
    let schema = model.schema();
    let task = Evaluate { model: digest, says: model.says()?, threshold, declared_public };
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
    Ok(Released::of_run::<Evaluate>(privet_learn::Released::from_release(release)?))
}

/// What an evaluation says of the model.
pub fn metrics(released: &privet_learn::Released<Evaluate>) -> Outcome<Metrics> {
    let metrics = Metrics::of(released.request(), released.artefact());
    metrics.ok_or_else(|| Failure::value("the evaluation's request is not settled"))
}

/// The threshold above which a share of the records lies, with its interval.
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
