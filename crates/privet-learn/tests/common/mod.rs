//! Common parts of the learners' tests: [`Case`], the small table, forgery.
#![allow(dead_code, unused_imports, reason = "the battery uses a part of it")]

mod case;
pub mod covered;
pub mod generated;
mod machines;
mod tables;

pub use case::Case;
pub use machines::remote_rows;
pub use tables::{Change, csv, data, off_grid, on_disk, sparse, table, uniform, with_values};

use privet_core::Neighbours;
use privet_data::{Dataset, Schema, Target};
use privet_learn::file::{Seal, from_json, to_json};
use privet_learn::linear::gd;
use privet_learn::linear::model::{Model, Predictions};
use privet_learn::{Erm, Facts, Request, verify};
use privet_optim::loss::Loss;
use privet_optim::sum::{ExactGradient, InMemory, SoftmaxGradient, Sums};
use serde_json::Value;

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

pub const LOSSES: [Loss; 3] = [Loss::Logistic, Loss::HuberSvm { h: 0.1 }, Loss::SQUARED];
pub const RELATIONS: [Neighbours; 2] = [Neighbours::ReplaceOne, Neighbours::AddRemove];

/// The small schema, of records.
pub fn schema(classes: u32) -> Schema {
    tables::schema(classes, None)
}

/// The clipped gradient sum that gd and sgd query at θ.
pub fn sum_of(facts: &Facts, data: &Dataset, theta: &[f64]) -> Vec<f64> {
    let (radius, slope, loss) = (facts.radius, gd::slope(facts), facts.loss);
    if facts.problems > 1 && loss == Loss::Logistic {
        let Target::Class { codes, count } = &data.target else { panic!("no classes") };
        let classes = *count;
        let label = |code: &u32| SoftmaxGradient::label(*code, classes);
        let labels: Vec<f64> = codes.iter().map(label).collect();
        let statistic =
            SoftmaxGradient { classes, theta: theta.to_vec(), radius, slope, weights: vec![] };
        let sum = InMemory::new(&data.features, &labels).unwrap().sum(&statistic).unwrap();
        return sum.to_f64(statistic.unit()).unwrap();
    }
    let mut all = Vec::new();
    for (problem, theta) in theta.chunks(facts.columns).enumerate() {
        let labels = match facts.problems {
            1 => data.target.signed(),
            _ => data.target.against_rest(problem as u32),
        };
        let statistic = ExactGradient { loss, theta: theta.to_vec(), radius, slope };
        let labels = labels.unwrap();
        let sum = InMemory::new(&data.features, &labels).unwrap().sum(&statistic).unwrap();
        all.extend(sum.to_f64(statistic.unit()).unwrap());
    }
    all
}

/// Euclidean distance, ‖a − b‖₂.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

pub fn accuracy(model: &Model, data: &Dataset) -> f64 {
    let Predictions::Classes(found) = model.predict(&data.features) else { panic!("no classes") };
    let Target::Class { codes, .. } = &data.target else { panic!("no classes") };
    found.iter().zip(codes).filter(|(a, b)| a == b).count() as f64 / codes.len() as f64
}

/// Mean squared error over variance, of the small table's numbers.
pub fn relative_error(model: &Model, data: &Dataset) -> f64 {
    let Predictions::Numbers(found) = model.predict(&data.features) else { panic!("no numbers") };
    let Target::Number(values) = &data.target else { panic!("no numbers") };
    // Bounds of ±2 were scaled to ±1.
    let truth: Vec<f64> = values.iter().map(|value| 2.0 * value).collect();
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let error: f64 = found.iter().zip(&truth).map(|(f, t)| (f - t).powi(2)).sum();
    error / truth.iter().map(|t| (t - mean).powi(2)).sum::<f64>()
}

/// A model whose certificate a forger changed and sealed anew.
pub fn forged(model: &Model, change: impl Fn(&mut Value)) -> Model {
    let mut document: Value = serde_json::from_str(&to_json(model, None).unwrap()).unwrap();
    change(&mut document["certificate"]);
    let document = privet_dp::gate::seal::seal_document(document, None).unwrap();
    from_json::<Erm>(document.to_string().as_bytes(), Seal::Required).unwrap()
}

/// The first three checks of a forgery that is refused: true for each that holds.
pub fn failed(model: &Model, change: impl Fn(&mut Value)) -> [bool; 3] {
    let verdict = verify(&forged(model, change));
    assert!(!verdict.valid && verdict.guarantee.is_none());
    [0, 1, 2].map(|check| verdict.checks[check].holds)
}

pub fn scale(value: &mut Value, pointer: &str, factor: f64) {
    let number = value.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}"));
    *number = serde_json::json!(number.as_f64().unwrap() * factor);
}

/// True if two documents are equal up to the last digits of their numbers.
pub fn nearly(a: &Value, b: &Value, within: f64) -> bool {
    let (left, right) = (leaves(a, ""), leaves(b, ""));
    left.len() == right.len()
        && left.iter().zip(&right).all(|(x, y)| {
            let (p, q) = (a.pointer(x), b.pointer(y));
            match (p.and_then(Value::as_f64), q.and_then(Value::as_f64)) {
                (Some(p), Some(q)) => x == y && (p - q).abs() <= within * p.abs().max(q.abs()),
                _ => x == y && p == q,
            }
        })
}

/// Paths of all leaves, below `at`.
pub fn leaves(value: &Value, at: &str) -> Vec<String> {
    match value {
        Value::Object(map) => {
            map.iter().flat_map(|(key, value)| leaves(value, &format!("{at}/{key}"))).collect()
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.flat_map(|(place, value)| leaves(value, &format!("{at}/{place}"))).collect()
        }
        _ => vec![at.into()],
    }
}

/// Trained as [`Case::model`] does, of any request.
pub fn train(request: &Request, data: &Dataset) -> Model {
    Case::from(request.clone()).model(data)
}

/// The same with a fixed seed, as [`Case::seeded`].
pub fn seeded(request: &Request, data: &Dataset) -> Model {
    Case::from(request.clone()).seeded(data)
}
