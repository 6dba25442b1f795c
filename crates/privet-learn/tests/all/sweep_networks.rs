//! As `sweep.rs`, of trained networks: every fact of every event, and the limit of a training that
//! chooses its events.

use crate::common::{leaves, nearly};
use crate::sweep::{certificate_leaves, edited, edits, with_asked_claim, with_proved_claim};
use privet_core::{Budget, Neighbours};
use privet_data::{Schema, read};
use privet_dp::gate::seal;
use privet_dp::noise::SystemRandom;
use privet_learn::file::{Seal, from_json, to_json};
use privet_learn::networks::{METHODS, Method, Network};
use privet_learn::{Released, Request, plan, verify};
use serde_json::Value;
use std::sync::atomic::AtomicBool;

const SCHEMA: &str = "bias = true\n[clip]\nnorm = \"l2\"\nradius = 2.0\n\
     [target]\ncolumn = \"y\"\nclasses = [\"no\", \"yes\"]\n\
     [[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n";
const NET: &str =
    "{\"input\": {\"features\": 1}, \"layers\": [{\"kind\": \"linear\", \"out\": 2}]}";
const ROWS: usize = 60;

/// Every private training, with settings of its own and the fraction of edits that is tried, 1 in
/// `one_in`: sampled noise takes long to account for.
type Case = (&'static str, Neighbours, &'static [(&'static str, &'static str)], usize);
const CASES: &[Case] = &[
    ("dp-sgd", Neighbours::AddRemove, &[("batch", "6")], 5),
    ("dp-sgd", Neighbours::ReplaceOne, &[("batch", "6"), ("sums", "float")], 11),
    ("dp-adam", Neighbours::ReplaceOne, &[("batch", "6"), ("sampling", "without-replacement")], 11),
    ("dp-lssgd", Neighbours::ReplaceOne, &[("batch", "6")], 11),
    ("dp-lsadam", Neighbours::AddRemove, &[("batch", "6")], 11),
    ("dp-srm", Neighbours::AddRemove, &[("batch", "6")], 7),
    ("dp-gd", Neighbours::ReplaceOne, &[], 1),
    ("dp-agd", Neighbours::AddRemove, &[], 3),
    ("dp-ftrl", Neighbours::ReplaceOne, &[("batch", "20")], 1),
    ("rrpsgd", Neighbours::AddRemove, &[], 11),
];

fn real(name: &str, neighbours: Neighbours, settings: &[(&str, &str)]) -> Value {
    let method: Method = name.parse().unwrap();
    let method = method.with("steps", "3").unwrap();
    let method = settings.iter().try_fold(method, |own, (name, value)| own.with(name, value));
    let schema = Schema::from_toml(SCHEMA).unwrap();
    let task = Network::new(serde_json::from_str(NET).unwrap(), method.unwrap());
    let request = Request::new(schema.clone(), ROWS as u64, neighbours, task);
    let planned = plan(&request.with_budget(Budget::new(1.0, 1e-6).unwrap())).unwrap();
    let line =
        |row: usize| format!("{},{}\n", (row % 21) as f64 / 10.0 - 1.0, ["no", "yes"][row % 2]);
    let text = format!("a,y\n{}", (0..ROWS).map(line).collect::<String>());
    let data = read::csv_bytes(text.as_bytes(), &schema).unwrap();
    let release =
        planned.run(&data, &mut SystemRandom::new().unwrap(), &AtomicBool::new(false)).unwrap();
    let released = Released::<Network>::from_release(release).unwrap();
    serde_json::from_str(&to_json(&released, None).unwrap()).unwrap()
}

/// True if a file verifies after it was sealed anew; false if it cannot be read.
fn accepted(document: &Value) -> bool {
    let Ok(document) = seal::seal_document(document.clone(), None) else { return false };
    let read = from_json::<Network>(document.to_string().as_bytes(), Seal::Required);
    read.is_ok_and(|network| verify(&network).valid)
}

/// True if the planner writes these together. For adaptively chosen events it writes their limit.
fn planned(certificate: &Value) -> bool {
    let request = serde_json::from_value::<Request<Network>>(certificate["request"].clone());
    let Some((request, plan)) = request.ok().and_then(|r| plan(&r).ok().map(|plan| (r, plan)))
    else {
        return false;
    };
    let events = match plan.limit() {
        Some(limit) => nearly(&serde_json::to_value(limit).unwrap(), &certificate["filter"], 1e-5),
        None => nearly(&serde_json::to_value(plan.events()).unwrap(), &certificate["events"], 1e-5),
    };
    events
        && plan.request() == &request
        && serde_json::to_value(plan.guarantee()).unwrap() == certificate["guarantee"]
        && serde_json::to_value(plan.arithmetic()).unwrap() == certificate["arithmetic"]
        && plan
            .notes()
            .iter()
            .filter(|note| note.is_condition())
            .all(|note| certificate["notes"].as_array().unwrap().contains(&Value::from(&**note)))
}

#[test]
fn every_training_is_swept() {
    for info in METHODS.iter().filter(|info| info.private) {
        assert!(CASES.iter().any(|(method, ..)| *method == info.name), "{}", info.name);
    }
}

/// Under an unchanged request nothing else may change, whatever claim goes with it: every leaf, 1 edit
/// in so many, and another for each leaf.
#[test]
fn events_limit_and_claim_of_a_network_cannot_be_edited_alone() {
    let mut tried = 0;
    for &(method, neighbours, settings, one_in) in CASES {
        let real = real(method, neighbours, settings);
        assert!(accepted(&real), "{method}");
        for field in ["events", "guarantee", "arithmetic", "randomness", "filter"] {
            let places = match real["certificate"].get(field) {
                Some(Value::Null) | None => continue,
                Some(own) => leaves(own, &format!("/{field}")),
            };
            for (number, place) in places.iter().enumerate() {
                let all = edits(real["certificate"].pointer(place).unwrap());
                for value in all.iter().skip(number % one_in.min(all.len())).step_by(one_in) {
                    tried += 1;
                    let forged = edited(&real, place, value);
                    assert!(!accepted(&forged), "{method} {neighbours}: {place} = {value}");
                    // Adaptively chosen events prove nothing by themselves: their limit does.
                    let proves = field == "events" && method != "dp-agd";
                    if let Some(forged) = proves.then(|| with_proved_claim(&forged)).flatten() {
                        assert!(!accepted(&forged), "{method}: {place} = {value}, as proved");
                    }
                }
            }
        }
    }
    assert!(tried > 500, "{tried}");
}

/// An edited request must have the events and the claim that the planner gives it; and no settled choice
/// can be left out.
#[test]
fn a_request_for_a_network_goes_with_its_own_events_and_claim() {
    let (mut tried, mut kept) = (0, 0);
    for &(method, neighbours, settings, one_in) in CASES {
        let real = real(method, neighbours, settings);
        let mut judge = |forged: &Value, what: &str| {
            tried += 1;
            if accepted(forged) {
                assert!(planned(&forged["certificate"]), "{method} {neighbours}: {what}");
                kept += 1;
            }
        };
        for (number, place) in certificate_leaves(&real, "request").iter().enumerate() {
            let all = edits(real["certificate"].pointer(place).unwrap());
            for value in all.iter().skip(number % one_in.min(all.len())).step_by(one_in) {
                let forged = edited(&real, place, value);
                judge(&forged, &format!("{place} = {value}"));
                judge(&with_asked_claim(&forged), &format!("{place} = {value}, as asked"));
            }
        }
        let own = &real["certificate"]["request"]["method"];
        let names: Vec<&String> = own.as_object().unwrap().keys().collect();
        assert!(names.len() > 3, "{method}: {names:?}");
        for name in names.into_iter().filter(|name| *name != "name") {
            let mut forged = real.clone();
            let own = &mut forged["certificate"]["request"]["method"];
            own.as_object_mut().unwrap().remove(name).unwrap();
            assert!(!accepted(&forged), "{method}: {name} left out");
        }
    }
    assert!(tried > 800 && kept > 10, "{tried} forgeries, {kept} of them as planned");
}

/// Weights out of the ball, or none.
#[test]
fn weights_that_no_training_could_release_are_refused() {
    for &(method, neighbours, settings, _) in CASES {
        let real = real(method, neighbours, settings);
        for change in [1e30, 1e300] {
            let mut forged = real.clone();
            forged["body"]["tensors"][0]["values"][0] = change.into();
            assert!(!accepted(&forged), "{method}: {change}");
        }
    }
}
