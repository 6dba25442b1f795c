//! Forged files: changed and sealed anew.

use crate::common::nearly;
use crate::subject::Subject;
use privet_core::Neighbours;
use privet_dp::gate::seal;
use privet_learn::file::{Seal, from_json};
use privet_learn::{Task, Verdict, plan, verify};
use serde_json::{Value, json};

/// The file with a change, sealed anew.
fn forged<T: Task>(subject: &Subject<T>, change: impl FnOnce(&mut Value)) -> Value {
    let mut document: Value = serde_json::from_str(&subject.text).unwrap();
    change(&mut document);
    seal::seal_document(document, None).unwrap()
}

/// The verdict on a file that can be read.
fn judged<T: Task>(document: &Value) -> Option<Verdict> {
    let read = from_json::<T>(document.to_string().as_bytes(), Seal::Required);
    read.ok().map(|released| verify(&released))
}

fn accepted<T: Task>(document: &Value) -> bool {
    judged::<T>(document).is_some_and(|verdict| verdict.valid)
}

fn refused<T: Task>(subject: &Subject<T>, what: &str, change: impl FnOnce(&mut Value)) {
    let original: Value = serde_json::from_str(&subject.text).unwrap();
    let document = forged(subject, change);
    assert_ne!(document, original, "{}: {what} changes nothing", subject.name);
    let Some(verdict) = judged::<T>(&document) else { return };
    assert!(!verdict.valid && verdict.guarantee.is_none(), "{}: {what}", subject.name);
}

/// Multiplies every number under one of these names.
fn scale(value: &mut Value, names: &[&str], factor: f64) {
    match value {
        Value::Object(map) => map.iter_mut().for_each(|(name, value)| match value.as_f64() {
            Some(number) if names.contains(&name.as_str()) => *value = json!(number * factor),
            _ => scale(value, names, factor),
        }),
        Value::Array(items) => items.iter_mut().for_each(|item| scale(item, names, factor)),
        _ => {}
    }
}

/// Less noise in the events: smaller scales, and for choices by their scores larger ranges.
fn less_in_events(document: &mut Value) {
    let events = &mut document["certificate"]["events"];
    scale(events, &["noise_scale"], 0.5);
    scale(events, &["range"], 2.0);
}

fn less_in_request(document: &mut Value) {
    let noise = document["certificate"]["request"]["noise"].as_array_mut().unwrap();
    noise.iter_mut().for_each(|scale| *scale = json!(scale.as_f64().unwrap() * 0.5));
}

/// Changes that would excuse less noise: a smaller sensitivity, rarer samples, fewer steps.
fn excuse(events: &mut Value, name: &str) {
    match name {
        "rate" => scale(events, &[name], 0.01),
        "count" => fewer(events),
        _ => scale(events, &[name], 0.5),
    }
}

fn fewer(events: &mut Value) {
    match events {
        Value::Object(map) => map.iter_mut().for_each(|(name, value)| match value.as_u64() {
            Some(count) if name == "count" => *value = json!(count / 2 + 1),
            _ => fewer(value),
        }),
        Value::Array(items) => items.iter_mut().for_each(fewer),
        _ => {}
    }
}

/// In the request, in the events, in both; with matching grids, and with changes that would excuse it.
pub fn less_noise<T: Task>(subject: &Subject<T>) {
    refused(subject, "less noise in the request", less_in_request);
    refused(subject, "no noise in the request", |document| {
        document["certificate"]["request"].as_object_mut().unwrap().remove("noise");
    });
    refused(subject, "less noise in the events", less_in_events);
    refused(subject, "less noise in both", |document| {
        less_in_request(document);
        less_in_events(document);
    });
    refused(subject, "less noise in both, on its grid", |document| {
        less_in_request(document);
        less_in_events(document);
        scale(&mut document["certificate"]["events"], &["step"], 0.5);
    });
    for name in ["none", "sensitivity", "output_sensitivity", "radius", "rate", "count"] {
        let document = forged(subject, |document| {
            less_in_events(document);
            let events = &mut document["certificate"]["events"];
            scale(events, &["step"], 0.5);
            excuse(events, name);
        });
        let checks = judged::<T>(&document).expect("a file").checks;
        let holds = [0, 1, 2].map(|check: usize| checks[check].holds);
        assert_eq!(holds, [false, false, true], "{}: {name}", subject.name);
    }
}

/// A smaller ε or δ, in the claim and in the request.
pub fn stronger_claim<T: Task>(subject: &Subject<T>) {
    assert!(accepted::<T>(&forged(subject, |_| {})), "{}: sealed anew", subject.name);
    let pure = subject.asked.budget.unwrap().is_pure();
    for name in ["epsilon", "delta"].into_iter().take(if pure { 1 } else { 2 }) {
        let claim = |document: &mut Value| {
            scale(&mut document["certificate"]["guarantee"], &[name], 0.5);
        };
        refused(subject, name, claim);
        refused(subject, name, |document| {
            claim(document);
            scale(&mut document["certificate"]["request"]["budget"], &[name], 0.5);
        });
    }
}

/// Replaces words everywhere.
fn reword(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::Object(map) => map.values_mut().for_each(|value| reword(value, from, to)),
        Value::Array(items) => items.iter_mut().for_each(|item| reword(item, from, to)),
        Value::String(word) if word == from => *word = to.into(),
        _ => {}
    }
}

/// Other neighbours or another unit: in the claim, in the events, in the request; everywhere only if a
/// plan has it.
pub fn other_relation<T: Task>(subject: &Subject<T>) {
    let own = subject.asked.neighbours;
    let other = match own {
        Neighbours::ReplaceOne | Neighbours::ReplaceLabel => Neighbours::AddRemove,
        Neighbours::AddRemove => Neighbours::ReplaceOne,
    };
    let (from, to) = (own.to_string(), other.to_string());
    for part in ["guarantee", "events", "request"] {
        refused(subject, part, |document| reword(&mut document["certificate"][part], &from, &to));
    }
    let everywhere = forged(subject, |document| reword(&mut document["certificate"], &from, &to));
    let request = privet_learn::Request { neighbours: other, ..subject.plan.request().clone() };
    let planned = plan(&request).is_ok_and(|plan| {
        let events = serde_json::to_value(plan.events()).unwrap();
        plan.request() == &request && nearly(&events, &everywhere["certificate"]["events"], 1e-9)
    });
    assert!(planned || !accepted::<T>(&everywhere), "{}: everywhere", subject.name);
    for part in ["guarantee", "events"] {
        refused(subject, "another unit", |document| units(&mut document["certificate"][part]));
    }
    refused(subject, "another unit in both", |document| {
        units(&mut document["certificate"]["guarantee"]);
        units(&mut document["certificate"]["events"]);
    });
}

/// Claims users for records.
fn units(value: &mut Value) {
    match value {
        Value::Object(map) => map.iter_mut().for_each(|(name, value)| match name.as_str() {
            "unit" => *value = json!({"kind": "user", "max_records": 3}),
            _ => units(value),
        }),
        Value::Array(items) => items.iter_mut().for_each(units),
        _ => {}
    }
}

/// The first number of the body.
fn number(value: &mut Value) -> Option<&mut Value> {
    match value {
        Value::Number(_) => Some(value),
        Value::Array(items) => items.iter_mut().find_map(number),
        Value::Object(map) => map.values_mut().find_map(number),
        _ => None,
    }
}

/// The first list of the body that holds no lists.
fn list(value: &mut Value) -> Option<&mut Vec<Value>> {
    match value {
        Value::Array(items) => match items.iter().any(Value::is_array) {
            true => items.iter_mut().find_map(list),
            false => Some(items),
        },
        Value::Object(map) => map.values_mut().find_map(list),
        _ => None,
    }
}

/// Methods that can release any numbers: the noisy statistics are moments, and any weights solve some.
const ANY: [&str; 1] = ["ssp"];

/// A number that no such plan releases, too few numbers, or a word among them.
pub fn off_support<T: Task>(subject: &Subject<T>) {
    let set = |to: Value| {
        move |document: &mut Value| {
            *number(&mut document["body"]).unwrap() = to;
        }
    };
    let settled = subject.settled();
    let actual = [1e-300, 1e12].map(|off| !accepted::<T>(&forged(subject, set(json!(off)))));
    assert!(actual[0] || actual[1] || ANY.contains(&settled.as_str()), "{}", subject.name);
    refused(subject, "a word", set(json!("0")));
    refused(subject, "one number less", |document| {
        list(&mut document["body"]).unwrap().pop();
    });
}

/// A false note of a forger.
const LIE: &str = "this release is safe to publish in full";

/// Notes left out, reworded, or forged.
pub fn conditions<T: Task>(subject: &Subject<T>) {
    let judged = |notes: &[String]| {
        let document = forged(subject, |document| document["certificate"]["notes"] = json!(notes));
        judged::<T>(&document).expect("a file")
    };
    let name = &subject.name;
    let own = subject.plan.notes().iter().filter(|note| note.is_condition());
    let own: Vec<String> = own.map(ToString::to_string).collect();
    let all = &subject.released.certificate().notes;
    assert!(own.iter().all(|note| all.contains(note)), "{name}: {own:?} in {all:?}");
    for notes in [vec![], vec![LIE.to_string()]] {
        let verdict = judged(&notes);
        assert_eq!(verdict.valid, own.is_empty(), "{name}: {notes:?}");
        assert_eq!(verdict.stated, notes, "{name}");
        assert!(!verdict.notes.contains(&LIE.into()), "{name}: a lie as a word of ours");
    }
    for note in &own {
        let mut without = all.clone();
        without.retain(|other| other != note);
        assert!(!judged(&without).valid, "{name}: without {note}");
        without.push(format!("{note}, or not"));
        assert!(!judged(&without).valid, "{name}: {note}, or not");
    }
    let mut more = all.clone();
    more.push(LIE.into());
    let verdict = judged(&more);
    assert!(verdict.valid && verdict.stated == [LIE], "{name}: {:?}", verdict.stated);
    assert!(!verdict.notes.contains(&LIE.into()), "{name}: a lie as a word of ours");
    assert!(!verdict.unchecked.is_empty(), "{name}: something is always taken for granted");
}

/// A change that is not sealed anew is refused by readers that require the seal, and reported by
/// verification.
pub fn broken_seal<T: Task>(subject: &Subject<T>) {
    let mut document: Value = serde_json::from_str(&subject.text).unwrap();
    document["certificate"]["notes"].as_array_mut().unwrap().push(json!("trust me"));
    let text = document.to_string();
    assert!(from_json::<T>(text.as_bytes(), Seal::Required).is_err(), "{}", subject.name);
    let read = from_json::<T>(text.as_bytes(), Seal::Unchecked).unwrap();
    let verdict = verify(&read);
    assert!(!verdict.valid && verdict.guarantee.is_none(), "{}", subject.name);
    let failed: Vec<_> = verdict.checks.iter().filter(|check| !check.holds).collect();
    assert_eq!(failed.len(), 1, "{}: {failed:?}", subject.name);
    assert!(failed[0].what.contains("belong together"), "{}", subject.name);
}
