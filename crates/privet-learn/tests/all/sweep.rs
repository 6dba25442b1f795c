//! Forged certificates, sealed anew: every fact of every event is tied to the plan.
//!
//! For every method of linear models (networks: `sweep_networks.rs`) a real certificate is edited, one
//! leaf at a time and in pairs of a leaf of the request and one of the events. It must be refused unless
//! request, events and claim are what the planner itself writes for that request.

use crate::common::{Case, leaves, nearly};
use privet_core::Neighbours;
use privet_dp::account::{self, Event};
use privet_dp::gate::seal;
use privet_learn::file::{Seal, from_json, to_json};
use privet_learn::linear::model::Model;
use privet_learn::{Erm, METHODS, Request, plan, verify};
use serde_json::{Map, Value, json};

const ROWS: u64 = 200;

/// Every private learner, with δ > 0 and, if it supports that, δ = 0; each with the fraction of its
/// pairs that is tried, 1 in `one_in`, since some plans take long to make.
const CASES: &[(&str, Neighbours, f64, usize)] = &[
    ("amp", Neighbours::ReplaceOne, 1e-6, 97),
    ("amp", Neighbours::AddRemove, 0.0, 3),
    ("chosen-amp", Neighbours::ReplaceOne, 1e-6, 97),
    ("two-stage", Neighbours::ReplaceOne, 1e-6, 97),
    ("dp-ight", Neighbours::AddRemove, 1e-6, 7),
    ("dpsl-kt", Neighbours::ReplaceOne, 1e-6, 3),
    ("objective", Neighbours::ReplaceOne, 1e-6, 97),
    ("objective", Neighbours::AddRemove, 0.0, 3),
    ("output", Neighbours::ReplaceOne, 1e-6, 3),
    ("output", Neighbours::AddRemove, 0.0, 1),
    ("gd", Neighbours::ReplaceOne, 1e-6, 3),
    ("gd", Neighbours::AddRemove, 1e-6, 3),
    ("centred-gd", Neighbours::AddRemove, 1e-6, 3),
    ("placed-gd", Neighbours::AddRemove, 1e-6, 97),
    ("sgd", Neighbours::AddRemove, 1e-6, 97),
    ("psgd", Neighbours::ReplaceOne, 1e-6, 3),
    ("psgd-strong", Neighbours::AddRemove, 1e-6, 3),
    ("averaged", Neighbours::ReplaceOne, 1e-6, 3),
    ("ssp", Neighbours::ReplaceOne, 1e-6, 3),
    ("ssp", Neighbours::AddRemove, 0.0, 1),
    ("linear", Neighbours::ReplaceOne, 1e-6, 47),
    ("linear-rotated", Neighbours::ReplaceOne, 1e-6, 1),
    ("sample-aggregate", Neighbours::ReplaceOne, 1e-6, 3),
    ("sample-aggregate", Neighbours::AddRemove, 0.0, 1),
    ("frank-wolfe", Neighbours::ReplaceOne, 1e-6, 7),
    ("frank-wolfe", Neighbours::AddRemove, 0.0, 1),
    ("simplex", Neighbours::ReplaceOne, 1e-6, 5),
];

/// The file of a model, as JSON.
fn document(model: &Model) -> Value {
    serde_json::from_str(&to_json(model, None).unwrap()).unwrap()
}

fn real(method: &str, neighbours: Neighbours, delta: f64) -> Value {
    let case = Case::of(method).rows(ROWS).neighbours(neighbours).delta(delta);
    document(&case.model(&case.data(5)))
}

/// True if a file verifies after it was sealed anew; false if it cannot be read.
fn accepted(document: &Value) -> bool {
    let Ok(document) = seal::seal_document(document.clone(), None) else { return false };
    let model = from_json::<Erm>(document.to_string().as_bytes(), Seal::Required);
    model.is_ok_and(|model| verify(&model).valid)
}

/// True if the planner writes these three together: noise to within 10⁻⁵, all else exactly.
fn planned(certificate: &Value) -> bool {
    let Ok(request) = serde_json::from_value::<Request>(certificate["request"].clone()) else {
        return false;
    };
    let Ok(plan) = plan(&request) else { return false };
    let events = serde_json::to_value(plan.events()).unwrap();
    let claim = serde_json::to_value(plan.guarantee()).unwrap();
    plan.request() == &request
        && nearly(&events, &certificate["events"], 1e-5)
        && claim == certificate["guarantee"]
        && serde_json::to_value(plan.arithmetic()).unwrap() == certificate["arithmetic"]
        && plan
            .notes()
            .iter()
            .filter(|note| note.is_condition())
            .all(|note| certificate["notes"].as_array().unwrap().contains(&Value::from(&**note)))
}

/// Values that a forger may write instead of a leaf.
pub(crate) fn edits(leaf: &Value) -> Vec<Value> {
    match leaf {
        Value::Number(number) => {
            let x = number.as_f64().unwrap();
            let mut all = vec![x * 2.0, x / 2.0, x * 1.0001, x * 0.9999, x + 1.0, x - 1.0, 0.0, -x];
            all.extend([x * 1e-9, x * 1e9]);
            all.retain(|y| *y != x);
            if number.is_u64() {
                let whole = all.into_iter().filter(|y| y.fract() == 0.0 && *y >= 0.0);
                return whole.map(|y| json!(y as u64)).collect();
            }
            all.into_iter().map(|y| json!(y)).collect()
        }
        Value::Bool(flag) => vec![json!(!flag)],
        Value::String(word) => {
            let others = [
                "replace-one",
                "add-remove",
                "finite",
                "real",
                "sound",
                "printed",
                "record",
                "l2",
                "linf",
                "fixed",
                "any",
                "gaussian",
                "l2-laplace",
                "laplace",
                "pure",
                "bounded-range",
                "output",
                "amp",
                "gd",
                "psgd",
                "fixed-seed",
                "x",
            ];
            others.into_iter().filter(|other| other != word).map(Value::from).collect()
        }
        _ => vec![json!(1.0)],
    }
}

/// With the leaf at `place` of the certificate changed.
pub(crate) fn edited(document: &Value, place: &str, value: &Value) -> Value {
    let mut document = document.clone();
    *document.pointer_mut(&format!("/certificate{place}")).unwrap() = value.clone();
    document
}

pub(crate) fn certificate_leaves(document: &Value, field: &str) -> Vec<String> {
    leaves(&document["certificate"][field], &format!("/{field}"))
}

/// With the claim that the events prove, or none if they prove nothing.
pub(crate) fn with_proved_claim(document: &Value) -> Option<Value> {
    let certificate = &document["certificate"];
    let events: Event = serde_json::from_value(certificate["events"].clone()).ok()?;
    let delta = certificate["guarantee"]["delta"].as_f64()?;
    let proved = account::guarantee(&events, delta).ok()?;
    Some(edited(document, "/guarantee", &serde_json::to_value(proved).unwrap()))
}

/// With the claim of the request.
pub(crate) fn with_asked_claim(document: &Value) -> Value {
    let request = &document["certificate"]["request"];
    let mut claim = document["certificate"]["guarantee"].clone();
    for (name, asked) in request["budget"].as_object().cloned().unwrap_or_else(Map::new) {
        claim[name] = asked;
    }
    claim["neighbours"] = request["neighbours"].clone();
    edited(document, "/guarantee", &claim)
}

#[test]
fn every_learner_is_swept() {
    for info in METHODS.iter().filter(|info| !["auto", "non-private"].contains(&info.name)) {
        assert!(CASES.iter().any(|(method, ..)| *method == info.name), "{}", info.name);
    }
}

/// Under an unchanged request nothing else may change, whatever claim goes with it.
#[test]
fn events_and_claim_cannot_be_edited_alone() {
    for &(method, neighbours, delta, one_in) in CASES {
        let real = real(method, neighbours, delta);
        assert!(accepted(&real), "{method}");
        // Of the slowest every fourth, others for every leaf.
        let stride = if one_in > 50 { 4 } else { 1 };
        for field in ["events", "guarantee", "arithmetic", "randomness"] {
            for (number, place) in certificate_leaves(&real, field).iter().enumerate() {
                let all = edits(real["certificate"].pointer(place).unwrap());
                for value in all.iter().skip(number % stride).step_by(stride) {
                    let forged = edited(&real, place, value);
                    assert!(!accepted(&forged), "{method} {neighbours}: {place} = {value}");
                    if field == "events"
                        && let Some(forged) = with_proved_claim(&forged)
                    {
                        assert!(!accepted(&forged), "{method}: {place} = {value}, as proved");
                    }
                }
            }
        }
    }
}

/// An edited request must have the events and the claim that the planner gives it.
#[test]
fn a_request_goes_with_its_own_events_and_claim() {
    let (mut tried, mut kept) = (0, 0);
    for &(method, neighbours, delta, one_in) in CASES {
        let real = real(method, neighbours, delta);
        let events = certificate_leaves(&real, "events");
        let mut turn = 0_usize;
        let mut judge = |forged: &Value, what: &str| {
            tried += 1;
            if accepted(forged) {
                assert!(planned(&forged["certificate"]), "{method} {neighbours}: {what}");
                kept += 1;
            }
        };
        for place in certificate_leaves(&real, "request") {
            let values = edits(real["certificate"].pointer(&place).unwrap());
            for (index, value) in values.iter().enumerate() {
                let forged = edited(&real, &place, value);
                if serde_json::from_value::<Request>(forged["certificate"]["request"].clone())
                    .is_err()
                {
                    continue;
                }
                turn += 1;
                if turn.is_multiple_of(one_in.min(11)) {
                    judge(&forged, &format!("{place} = {value}"));
                    judge(&with_asked_claim(&forged), &format!("{place} = {value}, as asked"));
                }
                // Each pair of leaves meets with another pair of edits at every turn.
                for (other, event) in events.iter().enumerate() {
                    if !(turn * events.len() + other).is_multiple_of(one_in) {
                        continue;
                    }
                    let choices = edits(real["certificate"].pointer(event).unwrap());
                    let choice = &choices[(index + other) % choices.len()];
                    let forged = with_asked_claim(&edited(&forged, event, choice));
                    judge(&forged, &format!("{place} = {value}, {event} = {choice}"));
                }
            }
        }
    }
    assert!(tried > 5_000 && kept > 20, "{tried} forgeries, {kept} of them as planned");
}

/// The flaw of 0.1.0: the range was not checked against the plan.
#[test]
fn a_range_next_to_nothing_proves_nothing() {
    let real = real("frank-wolfe", Neighbours::ReplaceOne, 1e-6);
    let range = "/events/repeat/event/use/cost/range";
    let forged = edited(&real, range, &json!(1e-14));
    let forged = edited(&forged, "/guarantee/epsilon", &json!(1e-12));
    assert!(!accepted(&forged));
    assert!(!accepted(&edited(&forged, "/request/budget/epsilon", &json!(1e-12))));
}

/// A limit for events chosen as one goes, beside events that were planned.
#[test]
fn a_limit_that_no_plan_has_is_refused() {
    let mut forged = real("gd", Neighbours::AddRemove, 1e-6);
    forged["certificate"]["filter"] = json!({
        "neighbours": "add-remove",
        "unit": {"kind": "record"},
        "limit": {"law": "gaussian", "mu": 0.5},
        "distance": 1e-9,
    });
    assert!(!accepted(&forged));
}

/// A request from which a choice was taken is not one that the planner writes.
#[test]
fn choices_cannot_be_left_out() {
    for &(method, neighbours, delta, _) in CASES {
        let real = real(method, neighbours, delta);
        let settings = real["certificate"]["request"]["method"].as_object().unwrap().clone();
        for name in settings.keys().filter(|name| *name != "name") {
            let mut forged = real.clone();
            forged["certificate"]["request"]["method"].as_object_mut().unwrap().remove(name);
            assert!(!accepted(&forged), "{method}: {name}");
        }
    }
}

/// On the grid of the noise, sums of columns, in the ball.
#[test]
fn weights_that_no_run_could_release_are_refused() {
    for (method, change) in [
        ("output", 1.0 / 3.0),
        ("amp", 1.0 / 3.0),
        ("psgd", 1.0 / 3.0),
        ("psgd-strong", 1.0 / 3.0),
        ("averaged", 1.0 / 3.0),
        ("sample-aggregate", 1.0 / 3.0),
        ("frank-wolfe", 1e6),
        ("simplex", 1e6),
        ("gd", 1e7),
        ("sgd", 1e7),
    ] {
        for &(_, neighbours, delta, _) in CASES.iter().filter(|case| case.0 == method) {
            let mut real = real(method, neighbours, delta);
            assert!(accepted(&real), "{method}");
            if ["frank-wolfe", "simplex"].contains(&method) {
                assert!(!accepted(&between_choices(&real)), "{method} {neighbours} {delta}");
            }
            real["body"]["weights"][0][0] = json!(change);
            assert!(!accepted(&real), "{method} {neighbours} {delta}");
        }
    }
}

/// With a weight moved off the multiples of a choice. The smallest weight is k of them; k times the golden
/// section is no nearer to a whole number than 1/(√5·k), and k is at most some hundreds.
fn between_choices(real: &Value) -> Value {
    let weights = real["body"]["weights"][0].as_array().unwrap();
    let sizes = weights.iter().map(|weight| weight.as_f64().unwrap().abs());
    let smallest = sizes.filter(|size| *size > 0.0).fold(f64::INFINITY, f64::min);
    assert!(smallest.is_finite(), "some column was chosen");
    let mut moved = real.clone();
    moved["body"]["weights"][0][0] =
        json!(weights[0].as_f64().unwrap() + 0.618_033_988_749_895 * smallest);
    moved
}
