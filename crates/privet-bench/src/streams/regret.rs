//! Regret of online learners against T, and of experts against p, on generated rows.

use super::accuracy::{numbers, plan_stream, progressively};
use super::{Streams, line};
use crate::error::BenchError;
use crate::parts::Emit;
use crate::suite::RunObserver;
use privet_data::matrix::{CsrMatrix, DenseMatrix, Matrix};
use privet_data::read::Report;
use privet_data::{Dataset, Schema, Target};
use privet_dp::noise::SystemRandom;
use privet_learn::streams::leader::LONGEST_HORIZON;
use privet_learn::streams::live::Live;
use privet_learn::streams::{Method, Online};
use privet_learn::{Plan, Request, RequestOptions, plan};
use privet_optim::loss::Loss;
use serde_json::json;
use std::sync::atomic::AtomicBool;

/// The cost, with unclipped derivatives, so that regret is that of the cost itself.
const COST: Loss = Loss::HuberSvm { h: 0.1 };

/// A generator of pseudorandom numbers, the same everywhere.
struct XorShift(u64);

impl XorShift {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn dataset(features: Matrix, codes: Vec<u32>) -> Dataset {
    let target = Target::Class { codes, count: 2 };
    Dataset { features, target, units: None, report: Report::default() }
}

/// Rows of a logistic model of norm 4 in four columns and a constant.
fn drawn(rows: usize) -> Result<(Schema, Dataset), BenchError> {
    let truth = [2.0, -2.0, 2.0, -2.0];
    let mut made = XorShift(88_172_645_463_325_252);
    let (mut values, mut codes) = (Vec::with_capacity(rows * 5), Vec::with_capacity(rows));
    for _ in 0..rows {
        let x = [(); 4].map(|()| ((made.next() * 0.8 - 0.4) * 1_048_576.0).round() / 1_048_576.0);
        let score: f64 = x.iter().zip(truth).map(|(x, t)| x * t).sum();
        codes.push(u32::from(made.next() < 1.0 / (1.0 + (-score).exp())));
        values.extend(x.map(|x| x as f32));
        values.push(0.5);
    }
    let features = Matrix::Dense(DenseMatrix::new(values, rows, 5));
    Ok((numbers(4, "l2", true)?, dataset(features, codes)))
}

/// A learner of the hinge, at the theorem's rate for a comparator of norm 4 where the method has a rate.
fn learner(
    schema: &Schema,
    rows: usize,
    method: &str,
    epsilon: Option<f64>,
) -> Result<Plan<Online>, BenchError> {
    let first = plan_stream(schema, rows as u64, (method, 1), epsilon)?;
    let method: Method = method.parse()?;
    let words = RequestOptions { epsilon, ..RequestOptions::of("gd".parse()?) };
    let mut asked = Online::request(schema, rows as u64, method, &words)?;
    asked.task = Online { loss: COST, ..asked.task }.in_batches(1).keeping_models(10_000);
    if asked.task.method.info().settings.iter().any(|setting| setting.name == "rate") {
        let noise = first.settings().get("sum_noise").unwrap_or(0.0) / first.facts().slope;
        let rate = 4.0 / (rows as f64 * (1.0 + 2.0 * noise)).sqrt();
        asked.task.method = asked.task.method.with("rate", &rate.to_string())?;
        if let Some(smooth) = first.settings().get("smooth") {
            asked.task.method = asked.task.method.with("smooth", &smooth.to_string())?;
        }
    }
    Ok(plan(&asked)?)
}

/// Runs the part.
pub(super) fn regret(
    suite: &Streams,
    watch: &dyn RunObserver,
    emit: Emit<'_>,
) -> Result<(), BenchError> {
    for method in &suite.regret.methods {
        let mut before: Option<(f64, f64)> = None;
        for power in &suite.regret.powers {
            let rows = 10_usize.pow(*power);
            if method == "leader" && rows > LONGEST_HORIZON as usize {
                continue;
            }
            watch.say(&format!("regret: {method}, {rows} rows"));
            let (schema, data) = drawn(rows)?;
            let epsilon = (method != "non-private").then_some(suite.regret.epsilon);
            let best = best_cost(&schema, &data)?;
            let labels = data.target.signed().unwrap_or_default();
            let runs = if epsilon.is_some() { suite.runs } else { 1 };
            let mut mean = 0.0;
            for _ in 0..runs {
                let plan = learner(&schema, rows, method, epsilon)?;
                let mut cost = 0.0;
                progressively(&plan, &data, |row, score| cost += COST.value(score, labels[row]))?;
                mean += (cost - best) / f64::from(runs);
            }
            let slope = before.map(|(n, r)| (mean / r).ln() / (rows as f64 / n).ln());
            let mut measured =
                json!({ "method": method, "rows": rows, "regret": mean, "theorem": 0.5 });
            measured["epsilon"] = json!(epsilon);
            measured["slope"] = json!(slope.filter(|slope| slope.is_finite()));
            emit(line("regret", &format!("privet {method}"), measured))?;
            before = Some((rows as f64, mean));
        }
    }
    Ok(())
}

/// The cost of the best model of all rows.
fn best_cost(schema: &Schema, data: &Dataset) -> Result<f64, BenchError> {
    let words = RequestOptions {
        loss: Some("huber-svm".into()),
        ..RequestOptions::of("non-private".parse()?)
    };
    let request = Request::build(schema, data.rows() as u64, &words)?;
    let release = plan(&request)?.run(data, &mut SystemRandom::new()?, &AtomicBool::new(false))?;
    let weights = &release.value().weights[0];
    let labels = data.target.signed().unwrap_or_default();
    let cost = |row: usize| COST.value(super::accuracy::score(data, row, weights), labels[row]);
    Ok((0..data.rows()).map(cost).sum())
}

/// Rows in which up to 200 columns give advice, the first one right three times in five, the others by
/// chance.
fn advice(columns: usize, rows: usize) -> Dataset {
    let mut made = XorShift(0x9e37_79b9_7f4a_7c15);
    let speaking = columns.min(200);
    let (mut starts, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut codes = Vec::with_capacity(rows);
    for _ in 0..rows {
        let yes = made.next() < 0.5;
        codes.push(u32::from(yes));
        let right = made.next() < 0.6;
        let mut own = vec![(0_u32, if right == yes { 1.0_f32 } else { -1.0 })];
        let shift = (made.next() * columns as f64) as usize;
        for k in 1..speaking {
            let place = 1 + (shift + k * (columns / speaking).max(1)) % (columns - 1);
            own.push((place as u32, if made.next() < 0.5 { 1.0 } else { -1.0 }));
        }
        own.sort_by_key(|(place, _)| *place);
        own.dedup_by_key(|(place, _)| *place);
        places.extend(own.iter().map(|(place, _)| *place));
        values.extend(own.iter().map(|(_, value)| *value));
        starts.push(places.len());
    }
    dataset(Matrix::Csr(CsrMatrix::new(starts, places, values, columns)), codes)
}

/// Runs the part.
pub(super) fn experts(
    suite: &Streams,
    watch: &dyn RunObserver,
    emit: Emit<'_>,
) -> Result<(), BenchError> {
    let super::Experts { columns, rows, epsilon } = &suite.experts;
    let mut fewest = None;
    for columns in columns {
        watch.say(&format!("experts: {columns} columns"));
        let (schema, data) = (numbers(*columns, "linf", false)?, advice(*columns, *rows));
        let labels = data.target.signed().unwrap_or_default();
        let mut sums = vec![0.0; *columns];
        let Matrix::Csr(csr) = &data.features else { continue };
        let agreed = |row: usize, column: u32| {
            let (places, values) = csr.row(row);
            let found = places.binary_search(&column).map(|at| f64::from(values[at]));
            found.unwrap_or(0.0) * labels[row]
        };
        for (row, label) in labels.iter().enumerate() {
            let (places, values) = csr.row(row);
            places.iter().zip(values).for_each(|(c, x)| sums[*c as usize] += label * f64::from(*x));
        }
        let best = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let words = RequestOptions { epsilon: Some(*epsilon), ..RequestOptions::of("gd".parse()?) };
        let asked = Online::request(&schema, *rows as u64, "experts".parse()?, &words)?;
        let plan = plan(&asked)?;
        let batch = plan.facts().batch as usize;
        let mut mean = 0.0;
        for _ in 0..suite.runs {
            let mut source = SystemRandom::new()?;
            let (mut live, _) = Live::begin(&plan, &mut source)?;
            let (mut chosen, mut at, mut gained) = (0_u32, 0, 0.0);
            live.take(&data, |_, weights| {
                for row in at..(at + batch).min(data.rows()) {
                    gained += agreed(row, chosen);
                }
                at += batch;
                chosen = weights.iter().position(|w| *w != 0.0).unwrap_or(0) as u32;
                Ok(())
            })?;
            mean += (best - gained) / f64::from(suite.runs);
        }
        let over = mean / (*rows as f64 * (*columns as f64).ln()).sqrt();
        let first = *fewest.get_or_insert(over);
        emit(line(
            "experts",
            "privet experts",
            json!({
                "columns": columns, "rows": rows, "epsilon": epsilon, "batch": batch, "regret": mean,
                "over_root": over, "over_fewest": over / first
            }),
        ))?;
    }
    Ok(())
}
