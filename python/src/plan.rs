//! Plans of any family: made without data, then carried out on them.

use crate::cluster;
use crate::count::Records;
use crate::error::{Failure, Outcome};
use crate::input;
use crate::ledger::{self, Paid};
use crate::released::Released;
use crate::schema::Schema;
use crate::vote;
use crate::watched::watched;
use numpy::PyArray1;
use privet_dp::gate::Release;
use privet_learn::linear::request::{LOSSES, POISSON, QUANTILE};
use privet_learn::linear::{dpsl_kt, public_norm::norm_bound};
use privet_learn::{AnyPlan, Loaded, Request, Task, Words, of_family};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Everything that decides a guarantee, fixed before any record is read.
#[pyclass(module = "privet._privet", frozen)]
pub struct Plan(pub AnyPlan);

impl Plan {
    /// With conditions that the caller knows of.
    pub fn noting<T: Task>(plan: privet_learn::Plan<T>, notes: Vec<String>) -> Self
    where
        AnyPlan: From<privet_learn::Plan<T>>,
    {
        Self(notes.into_iter().fold(plan, privet_learn::Plan::noting).into())
    }

    /// What is done, as a ledger writes it.
    fn doing(&self) -> String {
        match &self.0 {
            AnyPlan::Model(plan) => format!("fit {}", plan.request().task.method),
            AnyPlan::Network(plan) => format!("fit {}", plan.request().task.method),
            AnyPlan::Support(plan) => format!("select {}", plan.request().task.method),
            plan => plan.task().into(),
        }
    }

    /// Whether what is computed of rows is the same however they are stored.
    fn any_storage(&self) -> bool {
        match &self.0 {
            AnyPlan::Model(plan) => plan.request().task.method.info().more.any_storage,
            // Of counts, descriptions and votes whole numbers are computed, of networks dense rows.
            _ => true,
        }
    }

    fn asked_schema(&self) -> &privet_data::Schema {
        of_family!(AnyPlan, &self.0, plan => plan.schema())
    }
}

/// What carrying out this plan released.
fn released<T: Task>(_: &privet_learn::Plan<T>, release: Release<T::Artefact>) -> Outcome<Released>
where
    Loaded: From<privet_learn::Released<T>>,
{
    Ok(Released::of_run::<T>(privet_learn::Released::from_release(release)?))
}

/// What a plan decides, as JSON: of any family, and of those that say more.
pub fn decided(plan: &AnyPlan, base_rate: Option<f64>) -> Outcome<String> {
    let mut told = of_family!(AnyPlan, plan, plan => json!({
        "rows": plan.request().rows,
        "neighbours": plan.request().neighbours,
        "unit": plan.request().schema.unit(),
        "whose": plan.request().whose(),
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
    /// Makes the plan of a request as certificates carry it, of whatever family: JSON with its `task`, `schema`, `rows`,
    /// `budget`, `neighbours`, and the words of the family.
    #[staticmethod]
    fn of(py: Python<'_>, request: &str) -> Outcome<Self> {
        let request: Value = serde_json::from_str(request)
            .map_err(|error| Failure::json("the request: ", &error))?;
        Ok(Self(watched(py, |_| AnyPlan::of(request))??))
    }

    /// The word for its family.
    #[getter]
    fn task(&self) -> &'static str {
        self.0.task()
    }

    /// What was decided, as JSON, of linear models with what is expected for this share of the commonest class.
    #[pyo3(signature = (base_rate = None))]
    fn to_json(&self, base_rate: Option<f64>) -> Outcome<String> {
        decided(&self.0, base_rate)
    }

    /// The schema by which it has rows encoded.
    fn schema(&self) -> Schema {
        Schema(self.asked_schema().clone())
    }

    /// Carries it out: one release. Votes are on `public` rows, of teachers that `teach` trains where they are not built in.
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
            released(plan, ledger::carried_out(py, plan, &doing, seed, handed, any, paid)?)
        })
    }

    /// The same on records that were read before.
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
            released(plan, ledger::carried_out_on(py, plan, &doing, seed, &records.0, paid)?)
        })
    }

    /// Labels of public rows, numbers of classes or −1, spread among those rows that resemble one another.
    #[pyo3(signature = (public, codes) -> "numpy.typing.NDArray[numpy.int32]")]
    fn spread<'py>(
        &self,
        py: Python<'py>,
        public: &Bound<'_, PyAny>,
        codes: Vec<i32>,
    ) -> Outcome<Bound<'py, PyArray1<i32>>> {
        vote::spread(py, self.asked_schema(), public, codes)
    }

    /// What workers that keep rows are told of it.
    fn told(&self) -> Outcome<String> {
        cluster::told(&self.0)
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
    ) -> Outcome<Released> {
        let doing = self.doing();
        of_family!(AnyPlan, &self.0, plan => {
            released(plan, cluster::carried_out_elsewhere(py, plan, &doing, encode, ask, seed, paid)?)
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
    Ok(Plan::noting(plan, notes))
}
