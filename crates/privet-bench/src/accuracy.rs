//! Accuracy of the untuned default beside the papers' tuned best, and predicted excess risk beside
//! what is observed.
//!
//! Every line of [`ROWS`] is prepared by the catalog (the papers' 80 : 20 split, fixed), trained on
//! [`Settings::runs`] times with fresh noise, and judged on the held-out rows.

use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, Schema, Target, catalog, read};
use privet_dp::noise::SystemRandom;
use privet_learn::model::{Model, Predictions};
use privet_learn::{Calibration, Method, Request, plan};
use privet_optim::loss::Loss;
use serde_json::{Value, json};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// One line of the table.
pub struct Row {
    /// Name in the catalog.
    pub set: &'static str,
    /// ε; δ is 1/n².
    pub epsilon: f64,
    /// Which data sets are neighbours.
    pub neighbours: Neighbours,
    /// Best tuned accuracy of the papers with the logistic and the Huber loss, in percent (Iyengar et
    /// al. 2019, Figures 1 and 3), partly unsound; 0 where there is none.
    pub papers: (f64, f64),
    /// What was aimed at, in percent.
    pub target: f64,
}

const fn row(
    set: &'static str,
    epsilon: f64,
    neighbours: Neighbours,
    papers: (f64, f64),
    target: f64,
) -> Row {
    Row { set, epsilon, neighbours, papers, target }
}

/// The table.
pub const ROWS: &[Row] = &[
    row("synthetic-l", 0.1, Neighbours::ReplaceOne, (83.1, 89.3), 86.0),
    row("adult", 0.1, Neighbours::ReplaceOne, (79.1, 79.6), 81.0),
    row("adult", 1.0, Neighbours::ReplaceOne, (0.0, 0.0), 83.3),
    row("adult", 0.1, Neighbours::AddRemove, (0.0, 0.0), 82.0),
    row("kddcup99", 0.1, Neighbours::ReplaceOne, (98.1, 98.7), 98.7),
    row("covtype", 1.0, Neighbours::ReplaceOne, (65.0, 66.4), 71.5),
    row("mnist", 1.0, Neighbours::ReplaceOne, (71.9, 74.7), 88.0),
    row("synthetic-h", 0.1, Neighbours::ReplaceOne, (57.6, 56.6), 85.0),
];

/// What is asked for.
pub struct Settings {
    /// The originals.
    pub from: PathBuf,
    /// Where prepared sets are kept.
    pub work: PathBuf,
    /// The learner.
    pub method: Method,
    /// How many models a line.
    pub runs: u32,
    /// Only this set.
    pub only: Option<String>,
}

/// Prints a line a row of the table.
pub fn run(settings: &Settings) -> Result<(), Box<dyn Error>> {
    let wanted = |row: &&Row| settings.only.as_deref().is_none_or(|only| only == row.set);
    for row in ROWS.iter().filter(wanted) {
        let folder = settings.work.join(row.set);
        if !folder.join("schema.toml").exists()
            && let Err(error) = catalog::prepare(row.set, &settings.from, &folder, None)
        {
            eprintln!("SKIPPED {}: {error}", row.set);
            continue;
        }
        println!("{}", measure(row, &folder, settings)?);
    }
    Ok(())
}

fn measure(row: &Row, folder: &Path, settings: &Settings) -> Result<Value, Box<dyn Error>> {
    let schema = Schema::load(folder.join("schema.toml"))?;
    let read = |part: &str| -> Result<Dataset, Box<dyn Error>> {
        let csv = folder.join(format!("{part}.csv"));
        let path = if csv.exists() { csv } else { folder.join(format!("{part}.svm")) };
        Ok(read::read(path, &schema, &read::Options::default())?)
    };
    let (training, test) = (read("train")?, read("test")?);
    let rows = training.rows() as u64;
    let request = |method: Method, budget| Request {
        schema: schema.clone(),
        rows,
        budget,
        neighbours: row.neighbours,
        loss: Loss::Logistic,
        method,
        calibration: Calibration::Sound,
    };
    let budget = Budget::new(row.epsilon, (rows as f64).powi(-2))?;
    let planned = plan(&request(settings.method.clone(), Some(budget)))?;
    let mut source = SystemRandom::new()?;
    let stop = AtomicBool::new(false);
    let (mut accuracies, mut losses, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..settings.runs {
        let started = Instant::now();
        let model = Model::from_release(planned.run(&training, &mut source, &stop)?)?;
        seconds.push(started.elapsed().as_secs_f64());
        accuracies.push(100.0 * accuracy(&model, &test));
        losses.extend(mean_loss(&model, &training));
    }
    let plain = plan(&request("non-private".parse()?, None))?;
    let plain = Model::from_release(plain.run(&training, &mut source, &stop)?)?;
    let best = mean_loss(&plain, &training);
    let observed = best.map(|best| mean(&losses) - best);
    Ok(json!({
        "table": "accuracy",
        "set": row.set,
        "rows": rows,
        "columns": training.features.columns(),
        "epsilon": row.epsilon,
        "neighbours": row.neighbours,
        "method": planned.request().method,
        "runs": settings.runs,
        "accuracy": mean(&accuracies),
        "standard_error": spread(&accuracies) / f64::from(settings.runs).sqrt(),
        "without_privacy": 100.0 * accuracy(&plain, &test),
        "papers_logistic": row.papers.0,
        "papers_huber": row.papers.1,
        "target": row.target,
        "predicted_excess": planned.predicted_excess(),
        "observed_excess": observed,
        "seconds": seconds.iter().copied().fold(f64::INFINITY, f64::min),
    }))
}

/// Share of rows whose class is found.
pub fn accuracy(model: &Model, test: &Dataset) -> f64 {
    let (Predictions::Classes(found), Target::Class { codes, .. }) =
        (model.predict(&test.features), &test.target)
    else {
        return f64::NAN;
    };
    found.iter().zip(codes).filter(|(a, b)| a == b).count() as f64 / codes.len() as f64
}

/// The mean logistic loss of two classes.
fn mean_loss(model: &Model, data: &Dataset) -> Option<f64> {
    let scores = model.scores(&data.features);
    let labels = data.target.signed()?;
    let total: f64 = scores.iter().zip(&labels).map(|(u, y)| Loss::Logistic.value(*u, *y)).sum();
    Some(total / labels.len() as f64)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Standard deviation.
fn spread(values: &[f64]) -> f64 {
    let centre = mean(values);
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}
