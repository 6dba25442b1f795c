//! Plans of any family: made without data, then run on them.

use crate::cluster;
use crate::count::Records;
use crate::error::{Failure, Outcome};
use crate::input;
use crate::ledger::{self, KnownByName, Order, Paid};
use crate::released::Released;
use crate::schema::Schema;
use crate::vote;
use crate::watched::{Threads, run_watched};
use numpy::PyArray1;
use privet_data::Dataset;
use privet_learn::linear::request::{POISSON, QUANTILE, REQUESTABLE_LOSSES};
use privet_learn::linear::{dpsl_kt, public_norm::norm_bound};
use privet_learn::{AnyPlan, Request, RequestOptions, Task, of_family};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Everything that decides a guarantee, fixed before any record is read.
#[pyclass(module = "privet._privet", frozen)]
pub struct Plan(pub AnyPlan);

impl Plan {
    /// With notes of the caller.
    pub fn noting<T: Task>(plan: privet_learn::Plan<T>, notes: Vec<String>) -> Self
    where
        AnyPlan: From<privet_learn::Plan<T>>,
    {
        Self(notes.into_iter().fold(plan, privet_learn::Plan::noting).into())
    }

    /// The name of the action, for a ledger's entry.
    fn doing(&self) -> String {
        match &self.0 {
            AnyPlan::Model(plan) => format!("fit {}", plan.request().task.method),
            AnyPlan::Network(plan) => format!("fit {}", plan.request().task.method),
            AnyPlan::Support(plan) => format!("select {}", plan.request().task.method),
            plan => plan.task().into(),
        }
    }

    /// True if the result does not depend on the storage of rows.
    fn any_storage(&self) -> bool {
        match &self.0 {
            AnyPlan::Model(plan) => plan.request().task.method.info().more.any_storage,
            // Counts, descriptions and votes compute integers, networks dense rows.
            _ => true,
        }
    }

    fn asked_schema(&self) -> &privet_data::Schema {
        of_family!(AnyPlan, &self.0, plan => plan.schema())
    }
}

/// What a plan decides, as JSON: of any family, and of those that say more.
pub fn plan_json(plan: &AnyPlan, base_rate: Option<f64>) -> Outcome<String> {
    let mut told = of_family!(AnyPlan, plan, plan => json!({
        "rows": plan.request().rows,
        "neighbours": plan.request().neighbours,
        "unit": plan.request().schema.unit(),
        "whose": plan.request().unit_definition(),
        "calibration": plan.request().calibration,
        "guarantee": plan.guarantee(),
        "arithmetic": plan.arithmetic(),
        "settings": plan.settings(),
        "events": plan.events(),
        "notes": plan.notes(),
        "loss": "none",
        "columns": null,
        "radius": null,
        "predicted_cost": null,
    }));
    told["task"] = plan.task().into();
    told["method"] = plan.task().into();
    let own = match plan {
        AnyPlan::Model(plan) => {
            let task = &plan.request().task;
            let (forecast, notes) = plan.forecast_and_notes(base_rate)?;
            let forecast = forecast.as_ref();
            json!({
                "method": task.method.name(),
                "loss": task.loss.name(),
                "columns": plan.facts().columns,
                "radius": plan.facts().radius,
                "predicted_cost": forecast.map(|forecast| forecast.cost),
                "predicted_gain": forecast.map(|forecast| forecast.gain),
                "base_rate": forecast.and_then(|forecast| forecast.base_rate),
                "notes": notes,
            })
        }
        AnyPlan::Network(plan) => {
            let (task, table) = (&plan.request().task, &plan.facts().table);
            json!({
                "method": task.method.to_string(),
                "loss": task.net.loss,
                "columns": table.columns,
                "radius": table.radius,
            })
        }
        AnyPlan::Support(plan) => {
            let (task, facts) = (&plan.request().task, plan.facts());
            json!({"method": task.method.name(), "columns": facts.columns, "radius": facts.radius})
        }
        AnyPlan::Labels(plan) => {
            let (task, facts) = (&plan.request().task, plan.facts());
            json!({"method": task.aggregator.name(), "columns": facts.columns, "radius": facts.radius})
        }
        AnyPlan::Answers(plan) => {
            json!({"columns": plan.facts().columns, "radius": plan.facts().radius})
        }
        AnyPlan::Counts(plan) => {
            let (task, noise) = (&plan.request().task, plan.settings());
            let noise = noise.get("count_noise");
            json!({"by": task.by, "law": task.law, "categories": plan.facts().names, "noise": noise})
        }
        AnyPlan::Description(plan) => {
            let (task, noise) = (&plan.request().task, plan.settings());
            json!({
                "columns": task.columns,
                "bins": task.bins,
                "correlations": task.correlations,
                "noise": noise.get("sum_noise"),
                "sums": plan.facts().query.length(),
            })
        }
        AnyPlan::Tuned(plan) => {
            let (task, settings) = (&plan.request().task, plan.settings());
            json!({
                "candidates": task.candidates,
                "trials": task.trials,
                "law": task.law,
                "trial_epsilon": task.trial_epsilon,
                "score_noise": settings.get("score_noise"),
            })
        }
        _ => json!({}),
    };
    if let (Value::Object(told), Value::Object(own)) = (&mut told, own) {
        told.extend(own);
    }
    Ok(told.to_string())
}

#[pymethods]
impl Plan {
    /// Makes the plan of a request of any family, as certificates carry it: JSON with its `task`,
    /// `schema`, `rows`, `budget`, `neighbours`, and the family's own fields.
    #[staticmethod]
    fn of(py: Python<'_>, request: &str) -> Outcome<Self> {
        let request: Value = serde_json::from_str(request)
            .map_err(|error| Failure::json("the request: ", &error))?;
        Ok(Self(run_watched(py, |_| AnyPlan::of(request))??))
    }

    /// The name of the family.
    #[getter]
    fn task(&self) -> &'static str {
        self.0.task()
    }

    /// The decisions, as JSON; for linear models with the forecast at this share of the commonest class.
    #[pyo3(signature = (base_rate = None))]
    fn to_json(&self, base_rate: Option<f64>) -> Outcome<String> {
        plan_json(&self.0, base_rate)
    }

    /// The schema by which rows are encoded for it.
    fn schema(&self) -> Schema {
        Schema(self.asked_schema().clone())
    }

    /// Runs it: one release. Votes label `public` rows, by teachers that `teach` trains where they are
    /// not built in.
    #[pyo3(signature = (features, labels, units, seed, paid = None, *, public = None, teach = None))]
    fn run(
        &self,
        py: Python<'_>,
        features: &Bound<'_, PyAny>,
        labels: &Bound<'_, PyAny>,
        units: Option<&Bound<'_, PyAny>>,
        seed: Option<u64>,
        paid: Option<Paid>,
        public: Option<&Bound<'_, PyAny>>,
        teach: Option<Py<PyAny>>,
    ) -> Outcome<Released> {
        let handed = (features, labels, units);
        if let AnyPlan::Labels(plan) = &self.0 {
            return vote::run(py, plan, handed, seed, public, teach, paid);
        }
        let (doing, any) = (self.doing(), self.any_storage());
        of_family!(AnyPlan, &self.0, plan => {
            let order = Order { plan, doing: &doing, seed, by: Threads::Shared, paid };
            Ok(Released::of_run(ledger::carried_out(py, order, handed, any)?))
        })
    }

    /// Runs it on records that were read before.
    #[pyo3(signature = (records, seed, paid = None))]
    fn run_on(
        &self,
        py: Python<'_>,
        records: &Records,
        seed: Option<u64>,
        paid: Option<Paid>,
    ) -> Outcome<Released> {
        let doing = self.doing();
        of_family!(AnyPlan, &self.0, plan => {
            let order = Order { plan, doing: &doing, seed, by: Threads::Shared, paid };
            Ok(Released::of_run(order.release::<Dataset, _>(py, KnownByName, || Ok(&records.0))?))
        })
    }

    /// Spreads labels of public rows, class numbers or −1, among rows that resemble one another.
    #[pyo3(signature = (public, codes) -> "numpy.typing.NDArray[numpy.int32]")]
    fn spread<'py>(
        &self,
        py: Python<'py>,
        public: &Bound<'_, PyAny>,
        codes: Vec<i32>,
    ) -> Outcome<Bound<'py, PyArray1<i32>>> {
        vote::spread(py, self.asked_schema(), public, codes)
    }

    /// The description of the plan for workers that keep rows.
    fn told(&self) -> Outcome<String> {
        cluster::describe_plan(&self.0)
    }

    /// Runs it on rows kept by other machines.
    #[pyo3(signature = (encode, ask, seed, paid = None))]
    fn run_elsewhere(
        &self,
        py: Python<'_>,
        encode: &Bound<'_, PyAny>,
        ask: Py<PyAny>,
        seed: Option<u64>,
        paid: Option<Paid>,
    ) -> Outcome<Released> {
        let doing = self.doing();
        of_family!(AnyPlan, &self.0, plan => {
            let order = Order { plan, doing: &doing, seed, by: Threads::Own, paid };
            Ok(Released::of_run(cluster::carried_out_elsewhere(py, order, encode, ask)?))
        })
    }
}

/// Makes the plan of a linear model from public facts.
#[pyfunction]
#[pyo3(signature = (schema, rows, *, epsilon, delta, neighbours, loss, width, quantile,
                    rate_at_zero, method, settings, calibration, notes, public = None,
                    prior_fits = Vec::new()))]
pub fn plan_linear(
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
) -> Outcome<Plan> {
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
    let has_width = REQUESTABLE_LOSSES.iter().any(|info| info.name == loss && info.has_width);
    let words = RequestOptions {
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
    let plan = run_watched(py, |_| privet_learn::plan(&request))??;
    let plan = match &public {
        Some(rows) => run_watched(py, |_| plan.with_public(rows))??,
        None => plan,
    };
    Ok(Plan::noting(plan, notes))
}
