//! What the tests of all learners share: a small schema, training through the file form, forgery.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use privet_core::Neighbours;
use privet_data::matrix::{CsrMatrix, Matrix};
use privet_data::{Dataset, Schema, Target, read};
use privet_dp::noise::{FixedSeed, Source, SystemRandom};
use privet_learn::erm::gd;
use privet_learn::model::file::{Seal, from_json, to_json};
use privet_learn::model::{Model, Predictions};
use privet_learn::{Facts, Request, plan};
use privet_optim::loss::Loss;
use privet_optim::sum::{ExactGradient, InMemory, SoftmaxGradient, Sums};
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

pub const LOSSES: [Loss; 3] = [Loss::Logistic, Loss::HuberSvm { h: 0.1 }, Loss::SQUARED];
pub const RELATIONS: [Neighbours; 2] = [Neighbours::ReplaceOne, Neighbours::AddRemove];

pub fn schema(classes: u32) -> Schema {
    let text = match classes {
        2 => SCHEMA.into(),
        _ => SCHEMA.replace(r#"["no", "yes"]"#, r#"["no", "yes", "perhaps"]"#),
    };
    Schema::from_toml(&text).unwrap()
}

/// Rows whose label is mostly the sign of 2a − b; with three classes, "perhaps" where b is large.
pub fn data(rows: usize, classes: u32, seed: u64) -> Dataset {
    let mut source = FixedSeed::new(seed);
    let mut text = String::from("a,b,y\n");
    for _ in 0..rows {
        let (a, b, e) = (uniform(&mut source), uniform(&mut source), uniform(&mut source));
        let label = match 2.0 * a - b + 0.3 * e > 0.0 {
            _ if classes > 2 && b > 0.4 => "perhaps",
            true => "yes",
            false => "no",
        };
        text.push_str(&format!("{a},{b},{label}\n"));
    }
    read::csv_bytes(text.as_bytes(), &schema(classes)).unwrap()
}

/// The same rows, compressed.
pub fn sparse(matrix: &Matrix) -> Matrix {
    let (mut starts, mut indices, mut values) = (vec![0], vec![], vec![]);
    for row in 0..matrix.rows() {
        for (j, x) in matrix.dense_row(row).into_iter().enumerate().filter(|(_, x)| *x != 0.0) {
            indices.push(j as u32);
            values.push(x);
        }
        starts.push(indices.len());
    }
    Matrix::Csr(CsrMatrix::new(starts, indices, values, matrix.columns()))
}

/// The clipped gradient sum that gd and sgd ask for at θ.
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
    let document = privet_dp::gate::seal::sealed(document, None).unwrap();
    from_json(document.to_string().as_bytes(), Seal::Required).unwrap()
}

pub fn scale(value: &mut serde_json::Value, pointer: &str, factor: f64) {
    let number = value.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}"));
    *number = serde_json::json!(number.as_f64().unwrap() * factor);
}
