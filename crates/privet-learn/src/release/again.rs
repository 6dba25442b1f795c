//! Remakes the plan from a certificate's public facts and compares the two.
//!
//! Request, events and claim must be ones that the planner writes together:
//! - the request is settled: planning it adds and changes nothing;
//! - with the noise that the request settles, the plan charges exactly the events that the certificate
//!   states; or, where events are chosen adaptively, it has exactly the limit that the certificate
//!   states, the limit admits the events one after the other, and the plan's method could have produced
//!   each of them ([`crate::release::task::Procedure::never_charges`]);
//! - the claim is the plan's: the budget, or under printed constants the bound that the accountant
//!   proves.
//!
//! Nothing is calibrated. Requests of the first format do not state noise; [`crate::release::format_1`]
//! reads it from the events.

use crate::release::format_1::{self, OTHER_VERSION, SAME_VERSION};
use crate::release::plan::{Plan, plan};
use crate::release::released::Released;
use crate::release::request::{Calibration, Request};
use crate::release::rounding::nearly_equal;
use crate::release::task::{Procedure, Task, Work};
use privet_dp::account::{self, Event, Filter, Guarantee};
use privet_dp::gate::Version;
use serde::Serialize;
use serde_json::Value;

/// Relative tolerance between numbers of two platforms.
const TOLERANCE: f64 = 1e-9;

/// Upper bound on the number of events of an adaptive session: twice the steps of any training, measured
/// again.
const MOST_LEAVES: usize = 1 << 26;

/// The reason why a certificate does not match the plan made again.
pub(crate) struct Mismatch {
    /// The reason, in words.
    pub why: String,
    /// True if the events are the plan's all the same: only then are they accounted for, which then
    /// takes no longer than planning did.
    pub same_events: bool,
}

impl From<String> for Mismatch {
    fn from(why: String) -> Self {
        Self { why, same_events: false }
    }
}

/// Makes the plan again and compares it with the certificate.
pub(crate) fn again<T: Task>(released: &Released<T>) -> Result<Plan<T>, Mismatch> {
    let certificate = released.certificate();
    let version = certificate.version();
    let request = match &certificate.events {
        Some(stated) if certificate.is_format_1() => {
            format_1::with_stated_noise(released.request(), stated, version)?
        }
        _ => released.request().clone(),
    };
    let plan = plan(&request).map_err(|error| error.to_string())?;
    is_settled(&request, &plan, version == Some(Version::this()))?;
    match (&certificate.events, &plan.work, &certificate.filter) {
        (None, Work::Plain(_), None) => {}
        (Some(stated), Work::Private(procedure), filter) => {
            check_charges(&plan, procedure.as_ref(), stated, filter.as_ref())?;
        }
        _ => return Err(Mismatch::from("its method has no such events".to_string())),
    }
    let differs = |why: &str| Mismatch { why: why.into(), same_events: true };
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
        // Its own claim may differ in the last digits: what states it is compared with the stated one.
        Ok(match certificate.guarantee {
            Some(claimed) if claimed.epsilon.is_finite() => plan.claiming(claimed),
            _ => plan,
        })
    } else {
        Err(differs("the plan made from the public facts claims another guarantee"))
    }
}

/// Checks that a session of the plan may have charged these events, under the limit stated with them.
fn check_charges<T: Task>(
    plan: &Plan<T>,
    procedure: &dyn Procedure<T>,
    stated: &Event,
    filter: Option<&Filter>,
) -> Result<(), String> {
    match (plan.limit(), filter) {
        (None, None) => match close(&json(&plan.events)?, &json(stated)?) {
            true => Ok(()),
            false => Err("the plan made from the public facts charges other events".into()),
        },
        (None, Some(_)) => Err("its method plans its events and has no limit for others".into()),
        (Some(_), None) => {
            Err("its method chooses its events within a limit, and none is stated".into())
        }
        (Some(limit), Some(filter)) if !close(&json(limit)?, &json(filter)?) => {
            Err("the plan made from the public facts has another limit".into())
        }
        (Some(limit), Some(_)) => {
            let leaves = leaves(stated).ok_or("it does not list its events one by one")?;
            // The stated limit may be off in its last digits; the claim is checked against the plan's
            // own limit.
            let most = limit.limit.limit() * (1.0 + TOLERANCE);
            let limit = Filter { limit: limit.limit.up_to(most), ..*limit };
            // Checked first, because it ends at the first impossible event: one line of a forged file
            // may state millions.
            if let Some(why) = procedure.never_charges(&mut leaves.clone()) {
                return Err(why.into());
            }
            let mut tally = account::Tally::default();
            for leaf in leaves {
                tally = limit.admit(&tally, leaf).map_err(|error| error.to_string())?;
            }
            Ok(())
        }
    }
}

/// The events of an adaptive session, one by one; `None` if they are written in another form, or are
/// more than any such session has.
fn leaves(stated: &Event) -> Option<impl Iterator<Item = &Event> + Clone> {
    let Event::All(list) = stated else { return None };
    fn run(event: &Event) -> Option<(usize, &Event)> {
        match event {
            Event::Use { .. } => Some((1, event)),
            Event::Repeat { count, event } if matches!(**event, Event::Use { .. }) => {
                Some((*count as usize, event))
            }
            _ => None,
        }
    }
    let mut most = MOST_LEAVES;
    for event in list {
        most = most.checked_sub(run(event)?.0)?;
    }
    Some(list.iter().filter_map(run).flat_map(|(count, event)| std::iter::repeat_n(event, count)))
}

/// True if two events are equal up to the last digits of their numbers.
pub(crate) fn same_event(one: &Event, other: &Event) -> bool {
    json(one).is_ok_and(|one| json(other).is_ok_and(|other| close(&one, &other)))
}

/// True if the request is one that the planner writes: with every choice made.
fn is_settled<T: Task>(
    request: &Request<T>,
    plan: &Plan<T>,
    same_version: bool,
) -> Result<(), String> {
    let as_written = if same_version {
        plan.request() == request
    } else {
        // Another version may have had fewer choices to record; it settled its noise.
        request.noise == plan.request().noise && included(&json(request)?, &json(plan.request())?)
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
        // A release from a fixed seed claims nothing, whatever was planned; another check reports it.
        _ if claimed.epsilon.is_infinite() => true,
        Calibration::Sound => claimed.epsilon == planned.epsilon,
        Calibration::Printed => nearly_equal(claimed.epsilon, planned.epsilon, slack),
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

/// True if `whole` contains every field of `part`, with the same value.
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
            (Some(a), Some(b)) => nearly_equal(a, b, TOLERANCE),
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
