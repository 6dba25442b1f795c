//! Tunings: planned.

use crate::error::{Failure, Outcome};
use crate::plan::Plan;
use crate::schema::Schema;
use crate::watched::run_watched;
use privet_learn::tuning::{Law, Tune, grid};
use privet_learn::{Method, Request, RequestOptions};
use pyo3::prelude::*;

/// A method's name with lists of values of its settings.
type Lists = (String, Vec<(String, Vec<String>)>);

/// Makes the plan of a tuning from public facts.
#[pyfunction]
#[pyo3(signature = (schema, rows, candidates, *, epsilon, delta, neighbours, loss, trials,
                    law, prior_fits = Vec::new()))]
pub fn plan_tuning(
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
) -> Outcome<Plan> {
    let mut all: Vec<Method> = Vec::new();
    for (method, settings) in candidates {
        all.extend(grid(&method.parse()?, &settings)?);
    }
    let first = all.first().cloned().ok_or_else(|| {
        Failure::value("candidates are missing; accepted is a list of {\"method\": ..., ...}")
    })?;
    let law = law.map(law_named).transpose()?;
    let words = RequestOptions {
        epsilon: Some(epsilon),
        delta,
        neighbours: neighbours.parse()?,
        loss,
        ..RequestOptions::of(first)
    };
    let request = Tune::request(&schema.get().0, rows, &words, all)?;
    let task = Tune { trials, law, ..request.task.clone() };
    let request = Request { task, prior_fits, ..request };
    Ok(Plan(run_watched(py, |_| privet_learn::plan(&request))??.into()))
}

fn law_named(name: &str) -> Outcome<Law> {
    let accepted = "accepted: poisson, logarithmic, geometric";
    let refused = || Failure::value(format!("'{name}' is not a law of trials; {accepted}"));
    serde_json::from_value(name.into()).map_err(|_| refused())
}
