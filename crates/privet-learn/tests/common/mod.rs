//! What the tests of all learners share: a small schema, training through the file form, forgery.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use privet_data::{Dataset, Target};
use privet_dp::noise::{FixedSeed, Source, SystemRandom};
use privet_learn::model::file::{Seal, from_json, to_json};
use privet_learn::model::{Model, Predictions};
use privet_learn::{Request, plan};
use std::sync::atomic::AtomicBool;

pub const SCHEMA: &str = r#"
bias = true
[clip]
norm = "l2"
radius = 1.0
[target]
column = "y"
classes = ["no", "yes"]
[[columns]]
name = "a"
type = "number"
bounds = [-1, 1]
scale = "symmetric"
[[columns]]
name = "b"
type = "number"
bounds = [-1, 1]
scale = "symmetric"
"#;

pub fn uniform(source: &mut FixedSeed) -> f64 {
    source.next_u64() as f64 / u64::MAX as f64 * 2.0 - 1.0
}

pub fn train(request: &Request, data: &Dataset) -> Model {
    let mut source = SystemRandom::new().unwrap();
    let release = plan(request).unwrap().run(data, &mut source, &AtomicBool::new(false)).unwrap();
    // Through the file form, as a user would meet it.
    let text = to_json(&Model::from_release(release).unwrap(), None).unwrap();
    from_json(text.as_bytes(), Seal::Required).unwrap()
}

/// The same with a fixed seed, for what depends on the noise that happens to be drawn: a test may
/// not fail by bad luck.
pub fn seeded(request: &Request, data: &Dataset) -> Model {
    let mut source = FixedSeed::new(11);
    let release = plan(request).unwrap().run(data, &mut source, &AtomicBool::new(false)).unwrap();
    Model::from_release(release).unwrap()
}

pub fn accuracy(model: &Model, data: &Dataset) -> f64 {
    let Predictions::Classes(found) = model.predict(&data.features) else { panic!("no classes") };
    let Target::Class { codes, .. } = &data.target else { panic!("no classes") };
    found.iter().zip(codes).filter(|(a, b)| a == b).count() as f64 / codes.len() as f64
}

/// A model whose certificate a forger changed and sealed anew.
pub fn forged(model: &Model, change: impl Fn(&mut serde_json::Value)) -> Model {
    let mut document: serde_json::Value =
        serde_json::from_str(&to_json(model, None).unwrap()).unwrap();
    change(&mut document["certificate"]);
    let certificate: privet_dp::gate::Certificate =
        serde_json::from_value(document["certificate"].clone()).unwrap();
    document["certificate"] = serde_json::to_value(certificate.seal(&document["model"])).unwrap();
    from_json(document.to_string().as_bytes(), Seal::Required).unwrap()
}

pub fn scale(value: &mut serde_json::Value, pointer: &str, factor: f64) {
    let number = value.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}"));
    *number = serde_json::json!(number.as_f64().unwrap() * factor);
}
