//! The plan made again from a certificate's public facts, and whether the certificate is of that plan.
//!
//! Request, events and claim must be ones that the planner writes together:
//! - the request is settled: the planner adds nothing to it and changes nothing in it;
//! - with the noise that the request settles, the plan charges the very events that the certificate states;
//! - the claim is the plan's: the budget, or under printed constants what the accountant proves.
//!
//! Nothing is calibrated. Requests of the first format say nothing of noise; [`crate::format_1`] reads it
//! from the events.

use crate::format_1::{self, OTHER_VERSION, SAME_VERSION};
use crate::near::near;
use crate::plan::{Plan, plan};
use crate::released::Released;
use crate::request::{Calibration, Request};
use crate::task::{Task, Work};
use privet_dp::account::Guarantee;
use privet_dp::gate::Version;
use serde::Serialize;
use serde_json::Value;

/// Numbers of two platforms may differ this much in relation to their size.
const TOLERANCE: f64 = 1e-9;

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
pub(crate) fn again<T: Task>(released: &Released<T>) -> Result<Plan<T>, Differs> {
    let certificate = released.certificate();
    let version = certificate.version();
    let request = match &certificate.events {
        Some(stated) if certificate.is_format_1() => {
            format_1::with_stated_noise(released.request(), stated, version)?
        }
        _ => released.request().clone(),
    };
    let plan = plan(&request).map_err(|error| error.to_string())?;
    settled(&request, &plan, version == Some(Version::this()))?;
    if certificate.filter.is_some() {
        return Err(Differs::from(
            "its method plans its events and has no limit for others".to_string(),
        ));
    }
    match (&certificate.events, &plan.work) {
        (None, Work::Plain(_)) => {}
        (Some(stated), Work::Private(_)) => {
            if !close(&json(&plan.events)?, &json(stated)?) {
                let why = "the plan made from the public facts charges other events";
                return Err(Differs::from(why.to_string()));
            }
        }
        _ => return Err(Differs::from("its method has no such events".to_string())),
    }
    let differs = |why: &str| Differs { why: why.into(), same_events: true };
    if plan.arithmetic() != certificate.arithmetic {
        return Err(differs("the plan is proved in another arithmetic"));
    }
    let slack = if version == Some(Version::this()) { SAME_VERSION } else { OTHER_VERSION };
    let same_claim = match (&certificate.guarantee, plan.guarantee()) {
        (Some(claimed), Some(planned)) => same_claim(claimed, planned, request.calibration, slack),
        (None, None) => true,
        _ => false,
    };
    if same_claim {
        Ok(plan)
    } else {
        Err(differs("the plan made from the public facts claims another guarantee"))
    }
}

/// Whether the request is one that the planner writes: with every choice in it made.
fn settled<T: Task>(
    request: &Request<T>,
    plan: &Plan<T>,
    same_version: bool,
) -> Result<(), String> {
    let as_written = if same_version {
        plan.request() == request
    } else {
        // Another version may have had fewer choices to write down.
        included(&json(request)?, &json(plan.request())?)
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

/// Whether all that `part` says `whole` says as well.
fn included(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part.iter().all(|(key, value)| {
            value.is_null() || whole.get(key).is_some_and(|other| included(value, other))
        }),
        (part, whole) => part == whole,
    }
}

/// Equal up to the last digits of numbers.
fn close(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => near(a, b, TOLERANCE),
            _ => false,
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| close(a, b)))
        }
        (a, b) => a == b,
    }
}
