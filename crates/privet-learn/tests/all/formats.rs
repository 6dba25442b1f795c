//! Statements in a certificate of one format that no such certificate has: settled noise, a missing
//! version.

use privet_dp::gate::seal;
use privet_learn::Verdict;
use privet_learn::file::{Seal, any_from_json};
use serde_json::{Value, json};
use std::path::Path;

fn golden(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The verdict on a document, sealed anew.
fn verdict(document: Value) -> Result<Verdict, String> {
    let text = seal::seal_document(document, None).map_err(|error| error.to_string())?.to_string();
    any_from_json(text.as_bytes(), Seal::Required).map(|read| read.verify())
}

fn valid(document: Value) -> bool {
    verdict(document).is_ok_and(|found| found.valid)
}

const NEW: &str = "0.2.0/gd-logistic-replace-one-2-approximate.json";
const OLD: &str = "0.1.1/gd-logistic-replace-one-2-approximate.json";
const OLDEST: &str = "0.1.0/gd-logistic-replace-one-2-approximate.json";

#[test]
fn requests_of_format_2_settle_their_noise() {
    let file = golden(NEW);
    assert_eq!(file["format"], "privet-2");
    assert!(valid(file.clone()));
    let mut without = file;
    without["certificate"]["request"].as_object_mut().unwrap().remove("noise");
    assert!(!valid(without));
}

#[test]
fn requests_of_format_1_say_nothing_of_noise() {
    let file = golden(OLD);
    assert!(valid(file.clone()));
    let mut with = file.clone();
    with["certificate"]["request"]["noise"] =
        json!([file.pointer("/certificate/events/repeat/event/use/cost/noise_scale").unwrap()]);
    assert!(!valid(with));
}

/// Noise of format 1 is the plan's noise, up to the difference of accountants.
#[test]
fn noise_of_format_1_is_near_that_of_its_plan() {
    let same_plan = |factor: f64| {
        let mut file = golden(OLDEST);
        let scale = "/certificate/events/repeat/event/use/cost/noise_scale";
        let scale = file.pointer_mut(scale).unwrap();
        *scale = json!(scale.as_f64().unwrap() * factor);
        let actual = verdict(file).unwrap();
        actual.checks.iter().find(|check| check.what.contains("same plan")).unwrap().holds
    };
    assert!(same_plan(1.0) && same_plan(1.0001));
    assert!(!same_plan(1.1) && !same_plan(0.9));
}

/// Only the first version wrote neither version nor date, and it wrote format 1.
#[test]
fn format_2_says_who_made_it() {
    let mut file = golden(NEW);
    file["certificate"].as_object_mut().unwrap().remove("made");
    assert!(!valid(file));
    let old = golden(OLDEST);
    let mut certificate = old["certificate"].clone();
    certificate["format"] = json!("privet-certificate-2");
    let relabelled = json!({
        "format": "privet-2", "kind": "linear", "body": old["model"], "certificate": certificate,
    });
    assert!(!valid(relabelled));
}
