//! Our side of the fit race: `amp` from a matrix in memory, on Adult.
//!
//! The matrix is exported as LIBSVM text, value for value, so that peers fit the very same rows;
//! they are regularised with C = 1/λ of our plan.

use crate::accuracy::accuracy;
use crate::memory;
use privet_core::{Budget, Neighbours};
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_data::{Dataset, Schema, read};
use privet_dp::noise::SystemRandom;
use privet_learn::model::Model;
use privet_learn::{Calibration, Request, plan};
use privet_optim::loss::Loss;
use serde_json::json;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// The budgets raced.
const EPSILONS: [f64; 2] = [0.1, 1.0];
/// Fits timed; the fastest and the median are printed.
const FITS: usize = 15;

/// Reads a prepared folder, exports its rows to `export`, fits, and prints a line a measurement.
pub fn run(folder: &Path, export: &Path) -> Result<(), Box<dyn Error>> {
    let schema = Schema::load(folder.join("schema.toml"))?;
    let read = |name: &str| read::read(folder.join(name), &schema, &read::Options::default());
    let (training, test) = (read("train.csv")?, read("test.csv")?);
    std::fs::write(export, libsvm(&training)?)?;
    std::fs::write(export.with_extension("test"), libsvm(&test)?)?;
    for dense in [false, true] {
        let training = if dense { to_dense(&training) } else { training.clone() };
        for epsilon in EPSILONS {
            println!("{}", measure(&schema, &training, &test, dense, epsilon)?);
        }
    }
    Ok(())
}

fn measure(
    schema: &Schema,
    training: &Dataset,
    test: &Dataset,
    dense: bool,
    epsilon: f64,
) -> Result<serde_json::Value, Box<dyn Error>> {
    let rows = training.rows() as u64;
    let request = Request {
        schema: schema.clone(),
        rows,
        budget: Some(Budget::new(epsilon, (rows as f64).powi(-2))?),
        neighbours: Neighbours::ReplaceOne,
        loss: Loss::Logistic,
        method: "amp".parse()?,
        calibration: Calibration::Sound,
    };
    let started = Instant::now();
    let planned = plan(&request)?;
    let plan_seconds = started.elapsed().as_secs_f64();
    let mut source = SystemRandom::new()?;
    let (mut seconds, mut accuracies) = (Vec::new(), Vec::new());
    let before = memory::start();
    let mut peak = None;
    for _ in 0..FITS {
        let started = Instant::now();
        let release = planned.run(training, &mut source, &AtomicBool::new(false))?;
        seconds.push(started.elapsed().as_secs_f64());
        peak = memory::peak();
        accuracies.push(accuracy(&Model::from_release(release)?, test));
    }
    seconds.sort_by(f64::total_cmp);
    let matrix = training.features.bytes();
    let extra = before.zip(peak).map(|(before, peak)| peak.saturating_sub(before));
    Ok(json!({
        "who": "privet amp",
        "race": "fit",
        "storage": if dense { "dense" } else { "csr" },
        "epsilon": epsilon,
        "ridge": planned.settings().get("ridge"),
        "rows": rows,
        "columns": training.features.columns(),
        "seconds": seconds[0],
        "median_seconds": seconds[FITS / 2],
        "plan_seconds": plan_seconds,
        "accuracy": accuracies.iter().sum::<f64>() / FITS as f64,
        "matrix_bytes": matrix,
        "peak_over_matrix": extra.map(|extra| 1.0 + extra as f64 / matrix as f64),
    }))
}

/// The same rows, stored densely.
fn to_dense(data: &Dataset) -> Dataset {
    let values = (0..data.rows()).flat_map(|row| data.features.dense_row(row)).collect();
    let dense = DenseMatrix::new(values, data.rows(), data.features.columns());
    Dataset { features: Matrix::Dense(dense), ..data.clone() }
}

/// The rows as LIBSVM text; the shortest decimal form of an `f32` is read back exactly.
fn libsvm(data: &Dataset) -> Result<String, Box<dyn Error>> {
    let labels = data.target.signed().ok_or("the race is for two classes")?;
    let mut text = String::new();
    for (row, label) in labels.iter().enumerate() {
        write!(text, "{label}")?;
        for (column, value) in data.features.dense_row(row).iter().enumerate() {
            if *value != 0.0 {
                write!(text, " {}:{value}", column + 1)?;
            }
        }
        text.push('\n');
    }
    Ok(text)
}
