//! The accountant: events as JSON in, bounds out.

use crate::error::Outcome;
use crate::watched::run_watched;
use privet_core::Budget;
use privet_core::{Neighbours, Unit};
use privet_dp::account::{self, Cost, Event, TradeOff};
use pyo3::prelude::*;
use std::cell::RefCell;

fn event(json: &str) -> Outcome<Event> {
    Ok(serde_json::from_str(json)?)
}

/// Refuses an event for which no bound is known.
#[pyfunction]
pub fn account_check(json: &str) -> Outcome<()> {
    account::delta(&event(json)?, 0.0)?;
    Ok(())
}

/// An upper bound on ε at δ.
#[pyfunction]
pub fn account_epsilon(py: Python<'_>, json: &str, delta: f64) -> Outcome<f64> {
    let event = event(json)?;
    Ok(run_watched(py, |_| account::epsilon(&event, delta))??)
}

/// An upper bound on δ at ε.
#[pyfunction]
pub fn account_delta(py: Python<'_>, json: &str, epsilon: f64) -> Outcome<f64> {
    let event = event(json)?;
    Ok(run_watched(py, |_| account::delta(&event, epsilon))??)
}

/// Certified lower and upper bounds on δ at ε.
#[pyfunction]
pub fn account_bracket(py: Python<'_>, json: &str, epsilon: f64) -> Outcome<(f64, f64)> {
    let event = event(json)?;
    Ok(run_watched(py, |_| account::bracket(&event, epsilon))??)
}

/// The least type II error of an attacker at each type I error.
#[pyfunction]
pub fn account_trade_off(py: Python<'_>, json: &str, alphas: Vec<f64>) -> Outcome<Vec<f64>> {
    let event = event(json)?;
    let curve = run_watched(py, |_| TradeOff::new(&event))??;
    Ok(alphas.into_iter().map(|alpha| curve.at(alpha)).collect::<Result<_, _>>()?)
}

/// The smallest noise scale between `low` and `high` whose event meets the budget; `event_for` maps a
/// scale to an event's JSON.
#[pyfunction]
pub fn account_calibrate(
    event_for: &Bound<'_, PyAny>,
    epsilon: f64,
    delta: f64,
    low: f64,
    high: f64,
) -> Outcome<f64> {
    let budget = Budget::new(epsilon, delta)?;
    let raised = RefCell::new(None);
    // An event that meets no budget: the search then ends, and the exception is raised.
    let hopeless = || Event::Use {
        neighbours: Neighbours::ReplaceOne,
        unit: Unit::Record,
        cost: Cost::Approximate { epsilon: 0.0, delta: 1.0 },
    };
    let found = account::calibrate(&budget, low..=high, |scale| {
        if raised.borrow().is_some() {
            return hopeless();
        }
        let made = event_for.call1((scale,)).and_then(|json| json.extract::<String>());
        match made.map_err(Into::into).and_then(|json| event(&json)) {
            Ok(event) => event,
            Err(failure) => {
                *raised.borrow_mut() = Some(failure);
                hopeless()
            }
        }
    });
    match raised.into_inner() {
        Some(failure) => Err(failure),
        None => Ok(found?),
    }
}
