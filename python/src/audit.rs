//! The auditor: attacks on learners and on finished models, findings as JSON.

use crate::count::law_named;
use crate::error::{Failure, Outcome};
use crate::input;
use crate::released::Released;
use crate::watched::run_watched;
use privet_audit::learner::{self, Setting};
use privet_audit::{AttackOptions, AttackWatch, counts, membership, one_run};
use privet_core::Budget;
use privet_learn::{Calibration, Method};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

struct Flag<'a>(&'a AtomicBool);

impl AttackWatch for Flag<'_> {
    fn proceed(&self, _done: u64, _total: u64) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

fn setting(
    method: &str,
    settings: &[(String, String)],
    epsilon: f64,
    delta: f64,
    neighbours: &str,
    rows: Option<u64>,
) -> Outcome<Setting> {
    let method: Method = method.parse()?;
    let method =
        settings.iter().try_fold(method, |method, (name, value)| method.with(name, value))?;
    Ok(Setting {
        method,
        budget: Budget::new(epsilon, delta)?,
        neighbours: neighbours.parse()?,
        rows: rows.unwrap_or(learner::ROWS),
        calibration: Calibration::Sound,
    })
}

/// Audits a learner by many runs on built-in neighbouring tables.
#[pyfunction]
pub fn audit_learner(
    py: Python<'_>,
    method: &str,
    settings: Vec<(String, String)>,
    epsilon: f64,
    delta: f64,
    neighbours: &str,
    rows: Option<u64>,
    runs: u64,
    confidence: f64,
    seed: u64,
) -> Outcome<String> {
    let setting = setting(method, &settings, epsilon, delta, neighbours, rows)?;
    let options = AttackOptions { runs, confidence, seed };
    let report = run_watched(py, |stop| learner::audit(&setting, &options, &Flag(stop)))??;
    Ok(serde_json::to_string(&report)?)
}

/// Audits counts by many runs on built-in neighbouring tables.
#[pyfunction]
pub fn audit_counts(
    py: Python<'_>,
    law: &str,
    epsilon: f64,
    delta: f64,
    neighbours: &str,
    max_records: Option<u32>,
    runs: u64,
    confidence: f64,
    seed: u64,
) -> Outcome<String> {
    let (budget, neighbours) = (Budget::new(epsilon, delta)?, neighbours.parse()?);
    let setting = counts::Setting { budget, neighbours, max_records };
    if law_named(law)? != counts::law(&setting) {
        let words =
            "counts by Laplace noise are attacked at delta = 0, by Gaussian noise at delta > 0";
        return Err(Failure::value(words));
    }
    let options = AttackOptions { runs, confidence, seed };
    let found = run_watched(py, |stop| counts::audit(&setting, &options, &Flag(stop)))??;
    Ok(serde_json::to_string(&found)?)
}

/// Audits a learner by one run with many canaries.
#[pyfunction]
pub fn audit_one_run(
    py: Python<'_>,
    method: &str,
    settings: Vec<(String, String)>,
    epsilon: f64,
    delta: f64,
    neighbours: &str,
    canaries: u64,
    confidence: f64,
    seed: u64,
) -> Outcome<String> {
    let setting = setting(method, &settings, epsilon, delta, neighbours, None)?;
    let found = run_watched(py, |_| one_run::audit(&setting, canaries, confidence, seed))??;
    Ok(serde_json::to_string(&found)?)
}

/// Infers membership in a model's training data. `others` are rows that it was not trained on, with
/// their labels.
#[pyfunction]
pub fn audit_membership(
    py: Python<'_>,
    model: &Released,
    features: &Bound<'_, PyAny>,
    labels: &Bound<'_, PyAny>,
    others: Option<(Bound<'_, PyAny>, Bound<'_, PyAny>)>,
    seed: u64,
) -> Outcome<String> {
    let model = model.linear()?;
    let schema = &model.request().schema;
    let options = input::to_use();
    let members = input::dataset(features, labels, None, schema, &options)?;
    let others = others
        .map(|(features, labels)| input::dataset(&features, &labels, None, schema, &options))
        .transpose()?;
    let found = run_watched(py, |_| membership::audit(model, &members, others.as_ref(), seed))??;
    Ok(serde_json::to_string(&found)?)
}
