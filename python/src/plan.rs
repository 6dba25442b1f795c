//! Plans: made without data, then carried out on them.

use crate::cluster;
use crate::error::{Failure, Outcome};
use crate::held::Held;
use crate::input;
use crate::ledger::{self, Paid};
use crate::model::Model;
use crate::schema::Schema;
use crate::watched::watched;
use privet_learn::linear::request::{LOSSES, POISSON, QUANTILE};
use privet_learn::linear::{dpsl_kt, public_norm::norm_bound};
use privet_learn::{Request, Words};
use pyo3::prelude::*;
use serde_json::json;

/// Everything that decides a guarantee, fixed before any record is read.
#[pyclass(module = "privet._privet", frozen)]
pub struct Plan(privet_learn::Plan);

/// What a plan decides, as JSON.
pub fn decided(plan: &privet_learn::Plan, base_rate: Option<f64>) -> Outcome<String> {
    let request = plan.request();
    let (forecast, notes) = plan.forecast_and_notes(base_rate)?;
    let forecast = forecast.as_ref();
    let told = json!({
        "method": request.task.method.name(),
        "loss": request.task.loss.name(),
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
        "predicted_cost": forecast.map(|forecast| forecast.cost),
        "predicted_gain": forecast.map(|forecast| forecast.gain),
        "base_rate": forecast.and_then(|forecast| forecast.base_rate),
        "events": plan.events(),
        "notes": notes,
    });
    Ok(told.to_string())
}

#[pymethods]
impl Plan {
    /// Makes the plan from public facts.
    #[new]
    #[pyo3(signature = (schema, rows, *, epsilon, delta, neighbours, loss, width, quantile,
                        rate_at_zero, method, settings, calibration, notes, public = None,
                        prior_fits = Vec::new()))]
    fn new(
        py: Python<'_>,
        schema: &Bound<'_, Schema>,
        rows: u64,
        epsilon: Option<f64>,
        delta: Option<f64>,
        neighbours: &str,
        loss: &str,
        width: f64,
        quantile: f64,
        rate_at_zero: Option<f64>,
        method: &str,
        mut settings: Vec<(String, String)>,
        calibration: &str,
        notes: Vec<String>,
        public: Option<&Bound<'_, PyAny>>,
        prior_fits: Vec<String>,
    ) -> Outcome<Self> {
        let public = match public {
            Some(given) if method == dpsl_kt::INFO.name => {
                let encoded = schema.get().0.linear();
                let rows = input::features(given, &encoded, &input::to_use())?.matrix;
                settings.push(("public_rows".into(), rows.rows().to_string()));
                settings.push(("public_norm".into(), norm_bound(&rows).to_string()));
                Some(rows)
            }
            Some(_) => {
                return Err(Failure::value(
                    "public rows are given, but only method=\"dpsl-kt\" has a use for them; leave them out",
                ));
            }
            None => None,
        };
        let has_width = LOSSES.iter().any(|info| info.name == loss && info.has_width);
        let words = Words {
            epsilon,
            delta,
            neighbours: neighbours.parse()?,
            loss: Some(loss.into()),
            huber_width: has_width.then_some(width),
            quantile: (loss == QUANTILE).then_some(quantile),
            rate_at_zero: rate_at_zero.filter(|_| loss == POISSON),
            method: method.parse()?,
            settings,
            calibration: calibration.parse()?,
        };
        let request = Request::build(&schema.get().0, rows, &words)?.after_fits(prior_fits);
        let plan = watched(py, |_| privet_learn::plan(&request))??;
        let plan = match &public {
            Some(rows) => watched(py, |_| plan.with_public(rows))??,
            None => plan,
        };
        Ok(Self(notes.into_iter().fold(plan, privet_learn::Plan::noting)))
    }

    /// What was decided, as JSON, with what is expected of it for this share of the commonest class.
    #[pyo3(signature = (base_rate = None))]
    fn to_json(&self, base_rate: Option<f64>) -> Outcome<String> {
        decided(&self.0, base_rate)
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
    ) -> Outcome<Model> {
        let method = &self.0.request().task.method;
        let (doing, any) = (format!("fit {method}"), method.info().more.any_storage);
        let handed = (features, labels, units);
        let release = ledger::carried_out(py, &self.0, &doing, seed, handed, any, paid)?;
        Ok(Model::new(Held::released(privet_learn::linear::model::Model::from_release(release)?)))
    }

    /// What workers that keep rows are told of it.
    fn told(&self) -> Outcome<String> {
        cluster::told_erm(&self.0)
    }

    /// The schema by which it has rows encoded.
    fn schema(&self) -> Schema {
        Schema(self.0.request().schema.clone())
    }

    /// Carries it out on rows that other machines keep.
    #[pyo3(signature = (encode, ask, seed, paid = None))]
    fn run_elsewhere(
        &self,
        py: Python<'_>,
        encode: &Bound<'_, PyAny>,
        ask: Py<PyAny>,
        seed: Option<u64>,
        paid: Option<Paid>,
    ) -> Outcome<Model> {
        let doing = format!("fit {}", self.0.request().task.method);
        let release = cluster::carried_out_elsewhere(py, &self.0, &doing, encode, ask, seed, paid)?;
        Ok(Model::new(Held::released(privet_learn::linear::model::Model::from_release(release)?)))
    }
}
