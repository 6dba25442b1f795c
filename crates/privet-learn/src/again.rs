//! The plan made again from a certificate's public facts, and whether the certificate is of that plan.
//!
//! Request, events and claim must be ones that the planner writes together:
//! - the request is settled: the planner adds nothing to it and changes nothing in it;
//! - with the noise that the certificate states, the plan charges the very events that it states;
//! - that noise is the plan's own, up to what calibrations differ by;
//! - the claim is the plan's: the budget, or under printed constants what the accountant proves.
//!
//! **How far noise may be from the plan's.** On another machine the search for the least noise ends within
//! its tolerance of where it ended on the first: [`SAME_VERSION`]. Another version may bound the same events
//! more tightly, and then needs less noise for the same claim: [`OTHER_VERSION`]. Whichever it is, the
//! events must prove the claim; this is about more noise than planned, or other noise for another claim.

use crate::learner::Procedure;
use crate::model::Model;
use crate::plan::{Plan, Work, plan};
use crate::request::Calibration;
use privet_dp::account::Guarantee;
use privet_dp::gate::Version;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// Numbers of two platforms may differ this much in relation to their size.
const TOLERANCE: f64 = 1e-9;
/// What noise and claims of one version may differ by, in relation to their size.
const SAME_VERSION: f64 = 1e-5;
/// What noise and claims of two versions may differ by, in relation to their size.
const OTHER_VERSION: f64 = 1e-2;

/// A plan made again.
pub(crate) struct Again {
    /// As the planner makes it today.
    pub plan: Plan,
    /// With the noise that the certificate states; `None` for the baseline.
    pub procedure: Option<Arc<dyn Procedure>>,
}

/// Why a certificate is not of the plan made again.
pub(crate) struct Differs {
    /// In words.
    pub why: String,
    /// Whether its events are the plan's all the same: only then is it worth while to account for them, and
    /// sure to take no longer than planning did.
    pub same_events: bool,
}

impl From<String> for Differs {
    fn from(why: String) -> Self {
        Self { why, same_events: false }
    }
}

/// Makes the plan again, and compares.
pub(crate) fn again(model: &Model) -> Result<Again, Differs> {
    let plan = plan(model.request()).map_err(|error| error.to_string())?;
    let certificate = model.certificate();
    let same_version = certificate.version() == Some(Version::this());
    let slack = if same_version { SAME_VERSION } else { OTHER_VERSION };
    settled(model, &plan, same_version)?;
    if certificate.filter.is_some() {
        return Err(Differs::from(
            "its method plans its events and has no limit for others".to_string(),
        ));
    }
    let procedure = match (&certificate.events, &plan.work) {
        (None, Work::Plain(_)) => None,
        (Some(stated), Work::Private(procedure)) => {
            let other = || "the plan made from the public facts charges other events".to_string();
            let stated_json = json(stated)?;
            // First, so that what is put into the plan below is near what it had.
            if !close(&json(&plan.events)?, &stated_json, slack) {
                return Err(other().into());
            }
            let same = procedure.with_noise_of(stated).ok_or_else(other)?;
            let charged = same.event().map_err(|error| error.to_string())?;
            if !close(&json(&charged)?, &stated_json, TOLERANCE) {
                return Err(other().into());
            }
            Some(same)
        }
        _ => return Err(Differs::from("its method has no such events".to_string())),
    };
    let differs = |why: &str| Differs { why: why.into(), same_events: true };
    if plan.arithmetic() != certificate.arithmetic {
        return Err(differs("the plan is proved in another arithmetic"));
    }
    let calibration = model.request().calibration;
    let same_claim = match (&certificate.guarantee, plan.guarantee()) {
        (Some(claimed), Some(planned)) => same_claim(claimed, planned, calibration, slack),
        (None, None) => true,
        _ => false,
    };
    if same_claim {
        Ok(Again { plan, procedure })
    } else {
        Err(differs("the plan made from the public facts claims another guarantee"))
    }
}

/// Whether the request is one that the planner writes: with every choice in it made.
fn settled(model: &Model, plan: &Plan, same_version: bool) -> Result<(), String> {
    let as_written = if same_version {
        plan.request() == model.request()
    } else {
        // Another version may have had fewer choices to write down.
        included(&json(model.request())?, &json(plan.request())?)
    };
    if as_written { Ok(()) } else { Err("its request is not one that the planner writes".into()) }
}

fn same_claim(
    claimed: &Guarantee,
    planned: &Guarantee,
    calibration: Calibration,
    slack: f64,
) -> bool {
    let same_epsilon = match calibration {
        // From a fixed seed nothing is claimed, whatever was planned; another check says so.
        _ if claimed.epsilon.is_infinite() => true,
        Calibration::Sound => claimed.epsilon == planned.epsilon,
        Calibration::Printed => near(claimed.epsilon, planned.epsilon, slack),
    };
    same_epsilon
        && claimed.delta == planned.delta
        && claimed.neighbours == planned.neighbours
        && claimed.unit == planned.unit
        && claimed.seen_by == planned.seen_by
}

fn json(value: impl Serialize) -> Result<Value, String> {
    serde_json::to_value(value).map_err(|error| error.to_string())
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a - b).abs() <= tolerance * a.abs().max(b.abs())
}

/// Whether all that `part` says `whole` says as well.
fn included(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part.iter().all(|(key, value)| {
            value.is_null() || whole.get(key).is_some_and(|other| included(value, other))
        }),
        (part, whole) => part == whole,
    }
}

/// Equal up to the last digits of numbers. The step of a grid is a power of two that follows from the scale
/// of the noise, and may be the next one where scales differ at all.
fn close(a: &Value, b: &Value, tolerance: f64) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => near(a, b, tolerance),
            _ => false,
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close(a, b, tolerance))
        }
        (Value::Object(a), Value::Object(b)) => {
            let same = |key: &str, a: &Value, b: &Value| match key {
                "step" if tolerance > TOLERANCE => close(a, b, 0.5),
                _ => close(a, b, tolerance),
            };
            a.len() == b.len()
                && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(key, a, b)))
        }
        (a, b) => a == b,
    }
}
