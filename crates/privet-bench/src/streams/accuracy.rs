//! Progressive accuracy on real streams beside river's, and rows a second.

use super::{Streams, line};
use crate::error::BenchError;
use crate::parts::{Emit, Settings};
use crate::race::environment::{Environment, Rival};
use crate::suite::{RunObserver, write_stream};
use privet_catalog as catalog;
use privet_data::matrix::{DenseMatrix, Matrix};
use privet_data::read::{self, ReadOptions, Report};
use privet_data::{Dataset, Schema, Target, keyed, split};
use privet_dp::noise::SystemRandom;
use privet_learn::streams::live::Live;
use privet_learn::streams::{Method, Online};
use privet_learn::{Plan, Request, RequestOptions, plan};
use serde_json::json;
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Largest number of rows for river: about a minute of its time.
const RIVER_ROWS: usize = 200_000;
/// The time limit of river.
const LIMIT: Duration = Duration::from_secs(1_200);

pub(super) fn plan_stream(
    schema: &Schema,
    rows: u64,
    (method, batch): (&str, u32),
    epsilon: Option<f64>,
) -> Result<Plan<Online>, BenchError> {
    let method: Method = method.parse()?;
    let words = RequestOptions { epsilon, ..RequestOptions::of("gd".parse()?) };
    let request = Online::request(schema, rows, method, &words)?;
    let task = request.task.clone().in_batches(batch).keeping_models(10_000);
    Ok(plan(&Request { task, ..request })?)
}

/// The score ⟨x, θ⟩.
pub(super) fn score(data: &Dataset, row: usize, weights: &[f64]) -> f64 {
    match &data.features {
        Matrix::Dense(dense) => {
            dense.row(row).iter().zip(weights).map(|(x, w)| f64::from(*x) * w).sum()
        }
        Matrix::Csr(csr) => {
            let (columns, values) = csr.row(row);
            columns.iter().zip(values).map(|(c, x)| f64::from(*x) * weights[*c as usize]).sum()
        }
    }
}

/// Passes every row, with its score by the newest model before it, to `see`: all models of a private
/// learner, the kept ones of the other.
pub(super) fn progressively(
    plan: &Plan<Online>,
    data: &Dataset,
    mut see: impl FnMut(usize, f64),
) -> Result<(), BenchError> {
    let mut source = SystemRandom::new()?;
    let batch = plan.facts().batch as usize;
    if plan.events().is_some() {
        let (mut live, _) = Live::begin(plan, &mut source)?;
        let (mut model, mut at) = (vec![0.0; plan.facts().width()], 0);
        live.take(data, |_, weights| {
            for row in at..(at + batch).min(data.rows()) {
                see(row, score(data, row, &model));
            }
            at += batch;
            model.copy_from_slice(weights);
            Ok(())
        })?;
        return Ok(());
    }
    let release = plan.run(data, &mut source, &AtomicBool::new(false))?;
    let (stream, mut next) = (release.value(), 0);
    for row in 0..data.rows() {
        while next < stream.after.len() && stream.after[next] as usize * batch <= row {
            next += 1;
        }
        let score = if next == 0 { 0.0 } else { score(data, row, &stream.values[next - 1]) };
        see(row, score);
    }
    Ok(())
}

fn share_right(plan: &Plan<Online>, data: &Dataset) -> Result<f64, BenchError> {
    let signed = data.target.signed().unwrap_or_default();
    let mut right = 0_usize;
    progressively(plan, data, |row, score| {
        right += usize::from(signed.get(row).is_some_and(|label| (score > 0.0) == (*label > 0.0)));
    })?;
    Ok(right as f64 / data.rows().max(1) as f64)
}

/// Runs the part; returns the names of what was unavailable.
pub(super) fn accuracy(
    suite: &Streams,
    settings: &Settings,
    watch: &dyn RunObserver,
    emit: Emit<'_>,
) -> Result<Vec<String>, BenchError> {
    let mut missing = Vec::new();
    let river = match Environment::make(&settings.work, &settings.python, &[Rival::River]) {
        Ok(environment) => Some(environment),
        Err(error) => {
            missing.push(format!("river: {error}"));
            None
        }
    };
    for name in &suite.accuracy.datasets {
        let folder = settings.work.join(name);
        if !folder.join("schema.toml").is_file()
            && let Err(error) = catalog::prepare(name, &settings.originals, &folder, None)
        {
            missing.push(format!("{name}: {error}"));
            continue;
        }
        let schema = Schema::load(folder.join("schema.toml"))?.linear();
        let file = ["train.csv", "train.svm"].map(|file| folder.join(file));
        let file = file.iter().find(|file| file.is_file()).unwrap_or(&file[0]);
        let filed = read::read(file, &schema, &ReadOptions::default())?;
        for order in &suite.accuracy.orders {
            let data = match order.as_str() {
                "shuffled" => filed.select(&split::shuffled_rows(filed.rows(), &keyed::key(1))),
                _ => filed.clone(),
            };
            one_stream(suite, (name, order), (&schema, &data), watch, emit)?;
            let Some(environment) = &river else { continue };
            let stem = format!("{name}-{order}");
            write_stream(&settings.work, &stem, &data)?;
            let script = (Rival::River, "river_stream.py");
            let Some(mut peer) =
                environment.start(script.0, script.1, &[settings.work.clone().into_os_string()])?
            else {
                continue;
            };
            watch.say(&format!("accuracy: river on {name}, {order}"));
            let answer = peer.ask(&json!({ "name": stem, "rows": RIVER_ROWS }), LIMIT)?;
            let mut measured = json!({ "dataset": name, "order": order, "batch": 1 });
            for key in ["accuracy", "rows_per_second", "rows"] {
                measured[key] = answer[key].clone();
            }
            emit(line("accuracy", &format!("river {}", peer.version("river")), measured))?;
        }
    }
    Ok(missing)
}

fn one_stream(
    suite: &Streams,
    (name, order): (&str, &str),
    (schema, data): (&Schema, &Dataset),
    watch: &dyn RunObserver,
    emit: Emit<'_>,
) -> Result<(), BenchError> {
    let rows = data.rows() as u64;
    for batch in &suite.accuracy.batches {
        watch.say(&format!("accuracy: {name}, {order}, {batch} rows a step"));
        let facts = json!({ "dataset": name, "order": order, "batch": batch, "rows": rows });
        let plain = share_right(&plan_stream(schema, rows, ("non-private", *batch), None)?, data)?;
        let mut measured = facts.clone();
        measured["accuracy"] = json!(plain);
        emit(line("accuracy", "privet without noise", measured))?;
        for epsilon in &suite.accuracy.epsilons {
            for _ in 0..suite.runs {
                let plan = plan_stream(schema, rows, ("ftrl", *batch), Some(*epsilon))?;
                let found = share_right(&plan, data)?;
                let mut measured = facts.clone();
                measured["epsilon"] = json!(epsilon);
                measured["accuracy"] = json!(found);
                measured["behind"] = json!(100.0 * (plain - found));
                emit(line("accuracy", "privet ftrl", measured))?;
            }
        }
    }
    Ok(())
}

/// A schema of numbers in [−1, 1] and two classes, with a constant column or without.
pub(super) fn numbers(columns: usize, norm: &str, bias: bool) -> Result<Schema, BenchError> {
    let mut text = format!(
        "invalid = \"drop\"\nbias = {bias}\n[clip]\nnorm = \"{norm}\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
         classes = [\"no\", \"yes\"]\n"
    );
    for place in 0..columns {
        let _ = write!(
            text,
            "[[columns]]\nname = \"x{place}\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n"
        );
    }
    Ok(Schema::from_toml(&text).map_err(privet_data::DataError::from)?)
}

/// Runs the part.
pub(super) fn run_pace(
    suite: &Streams,
    watch: &dyn RunObserver,
    emit: Emit<'_>,
) -> Result<(), BenchError> {
    let super::TimedStreams { rows, columns, batches, epsilon } = &suite.pace;
    let schema = numbers(columns - 1, "l2", true)?;
    let width = *columns;
    let value = |at: usize| ((at.wrapping_mul(2_654_435_761) >> 7) % 201) as f32 / 1_024.0 - 0.0977;
    let values = (0..rows * width).map(value).collect();
    let features = Matrix::Dense(DenseMatrix::new(values, *rows, width));
    let codes = (0..*rows).map(|row| u32::from(row % 3 == 0)).collect();
    let target = Target::Class { codes, count: 2 };
    let data = Dataset { features, target, units: None, report: Report::default() };
    for batch in batches {
        watch.say(&format!("pace: {batch} rows a step"));
        let plan = plan_stream(&schema, *rows as u64, ("ftrl", *batch), Some(*epsilon))?;
        let mut best = f64::INFINITY;
        for _ in 0..suite.runs.max(1) {
            let mut source = SystemRandom::new()?;
            let (mut live, _) = Live::begin(&plan, &mut source)?;
            let start = Instant::now();
            live.take(&data, |_, _| Ok(()))?;
            best = best.min(start.elapsed().as_secs_f64());
        }
        let pace = *rows as f64 / best;
        let facts = json!({ "batch": batch, "columns": width, "rows": rows, "epsilon": epsilon });
        let mut measured = facts;
        measured["rows_per_second"] = json!(pace.round());
        emit(line("pace", "privet ftrl", measured))?;
    }
    Ok(())
}
