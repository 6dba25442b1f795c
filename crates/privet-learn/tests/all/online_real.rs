//! Streams at length: progressive accuracy on Covertype and KDD Cup 99 where they are at hand
//! (`privet_data::testing::real_data` says where they are looked for), regret against the horizon, rows
//! a second.
//!
//! `cargo test -p privet-learn --test all online_real:: -- --ignored --nocapture` prints the tables of
//! `docs/learners.md`.

use privet_data::matrix::{DenseMatrix, Matrix};
use privet_data::read::{Report, csv_bytes, decompressed};
use privet_data::{Dataset, Schema, Target, split, testing};
use privet_dp::noise::SystemRandom;
use privet_learn::streams::{Method, Online};
use privet_learn::{Request, RequestOptions, plan};
use privet_optim::loss::Loss;
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

fn head(classes: &str) -> String {
    format!(
        "invalid = \"drop\"\nbias = true\n[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
         classes = [{classes}]\n"
    )
}

/// A schema of so many numbers, each within its bounds.
fn numbers(classes: &str, bounds: &[(f64, f64)]) -> Schema {
    let mut text = head(classes);
    for (place, (low, high)) in bounds.iter().enumerate() {
        let _ = write!(
            text,
            "[[columns]]\nname = \"x{place}\"\ntype = \"number\"\nbounds = [{low}, {high}]\nscale = \"symmetric\"\n"
        );
    }
    Schema::from_toml(&text).unwrap()
}

fn header(columns: usize) -> String {
    (0..columns).map(|place| format!("x{place},")).collect::<String>() + "y\n"
}

/// Covertype with the commonest kind against the rest: 54 columns as they are.
fn covertype() -> Option<(Schema, Dataset)> {
    let path = testing::real_data("streams")?.join("covtype/covtype.data.zst");
    let text = String::from_utf8(decompressed(&path).ok()?).ok()?;
    let mut bounds = vec![
        (1_500.0, 4_500.0),
        (0.0, 360.0),
        (0.0, 90.0),
        (0.0, 1_500.0),
        (-200.0, 700.0),
        (0.0, 7_500.0),
        (0.0, 255.0),
        (0.0, 255.0),
        (0.0, 255.0),
        (0.0, 7_500.0),
    ];
    // An indicator is 0 or 1, not −1 or 1.
    bounds.extend([(-1.0, 1.0); 44]);
    let schema = numbers("\"other\", \"two\"", &bounds);
    let mut rows = header(54);
    for line in text.lines() {
        let (cells, kind) = line.rsplit_once(',')?;
        let _ = writeln!(rows, "{cells},{}", if kind == "2" { "two" } else { "other" });
    }
    let data = csv_bytes(rows.as_bytes(), &schema).unwrap();
    Some((schema, data))
}

/// KDD Cup 99, a tenth: 38 numbers, those without a public bound as logarithms; normal against the rest.
fn connections() -> Option<(Schema, Dataset)> {
    let path = testing::real_data("streams")?.join("kddcup99/kddcup.data_10_percent.gz");
    let text = String::from_utf8(decompressed(&path).ok()?).ok()?;
    let schema = numbers("\"attack\", \"normal\"", &[(-1.0, 1.0); 38]);
    let mut rows = header(38);
    for line in text.lines() {
        let cells: Vec<&str> = line.split(',').collect();
        let places = (0..41).filter(|place| !(1..=3).contains(place));
        for place in places {
            let number: f64 = cells.get(place)?.parse().ok()?;
            // Rates are within [0, 1]; counts up to some millions.
            let scaled = if number <= 1.0 { number } else { number.ln_1p() / 21.0 };
            let _ = write!(rows, "{scaled},");
        }
        let _ =
            writeln!(rows, "{}", if *cells.get(41)? == "normal." { "normal" } else { "attack" });
    }
    let data = csv_bytes(rows.as_bytes(), &schema).unwrap();
    Some((schema, data))
}

fn asked(
    schema: &Schema,
    rows: u64,
    method: &str,
    epsilon: Option<f64>,
    batch: u32,
) -> Request<Online> {
    let method: Method = method.parse().unwrap();
    let words = RequestOptions { epsilon, ..RequestOptions::of("gd".parse().unwrap()) };
    let request = Online::request(schema, rows, method, &words).unwrap();
    let task = request.task.clone().in_batches(batch).keeping_models(10_000);
    Request { task, ..request }
}

fn row(data: &Dataset, row: usize) -> Vec<f64> {
    match &data.features {
        Matrix::Dense(dense) => dense.row(row).iter().map(|x| f64::from(*x)).collect(),
        Matrix::Csr(csr) => {
            let mut all = vec![0.0; csr.columns()];
            let (columns, values) = csr.row(row);
            columns.iter().zip(values).for_each(|(c, x)| all[*c as usize] = f64::from(*x));
            all
        }
    }
}

/// The share of rows that were predicted right by the newest kept model before each, and rows a second.
fn progressive(data: &Dataset, request: &Request<Online>) -> (f64, f64) {
    let planned = plan(request).unwrap();
    let mut source = SystemRandom::new().unwrap();
    let start = Instant::now();
    let release = planned.run(data, &mut source, &AtomicBool::new(false)).unwrap();
    let pace = data.rows() as f64 / start.elapsed().as_secs_f64();
    let signed = data.target.signed().unwrap();
    let batch = planned.facts().batch as usize;
    let (mut right, mut next) = (0, 0);
    let stream = release.value();
    for (at, label) in signed.iter().enumerate() {
        while next < stream.after.len() && stream.after[next] as usize * batch <= at {
            next += 1;
        }
        let score: f64 = match next {
            0 => 0.0,
            next => row(data, at).iter().zip(&stream.values[next - 1]).map(|(x, w)| x * w).sum(),
        };
        right += usize::from((score > 0.0) == (*label > 0.0));
    }
    (right as f64 / data.rows() as f64, pace)
}

#[test]
#[ignore = "takes minutes; prints the tables of docs/learners.md"]
fn accuracy_on_streams() {
    for (name, found) in [("covertype", covertype()), ("kddcup99", connections())] {
        let Some((schema, data)) = found else { return };
        let order = split::shuffled_rows(data.rows(), &privet_data::keyed::key(1));
        let shuffled = data.select(&order);
        for (what, data) in [("as filed", &data), ("shuffled", &shuffled)] {
            for batch in [1, 100] {
                let rows = data.rows() as u64;
                let plain = progressive(data, &asked(&schema, rows, "non-private", None, batch));
                print!(
                    "{name}, {what}, batch {batch}: without noise {:.4} ({:.0}/s)",
                    plain.0, plain.1
                );
                for epsilon in [0.1, 1.0, 10.0] {
                    let request = asked(&schema, rows, "ftrl", Some(epsilon), batch);
                    let (right, pace) = progressive(data, &request);
                    print!("; ε = {epsilon}: {right:.4} ({pace:.0}/s)");
                }
                println!();
            }
        }
    }
}

/// Rows of a logistic model of norm 4 in five columns.
fn drawn(rows: usize) -> (Schema, Dataset) {
    let truth = [2.0, -2.0, 2.0, -2.0, 0.0];
    let schema = numbers("\"no\", \"yes\"", &[(-1.0, 1.0); 4]);
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let (mut values, mut codes) = (Vec::with_capacity(rows * 5), Vec::with_capacity(rows));
    for _ in 0..rows {
        let x: Vec<f32> = (0..4)
            .map(|_| ((next() * 0.8 - 0.4) * 1_048_576.0).round() as f32 / 1_048_576.0)
            .collect();
        let score: f64 = x.iter().zip(truth).map(|(x, t)| f64::from(*x) * t).sum();
        codes.push(u32::from(next() < 1.0 / (1.0 + (-score).exp())));
        values.extend(&x);
        values.push(0.5);
    }
    let features = Matrix::Dense(DenseMatrix::new(values, rows, 5));
    let target = Target::Class { codes, count: 2 };
    (schema, Dataset { features, target, units: None, report: Report::default() })
}

/// Regret against the best model of all rows, by a loss whose slopes are not clipped, at the rate of the
/// theorem for a comparator of norm 4: its slope in the logarithm of the horizon is about a half, for
/// `implicit` below 1.
#[test]
#[ignore = "takes minutes; prints the slopes of docs/learners.md"]
fn regret_against_the_horizon() {
    let loss = Loss::HuberSvm { h: 0.1 };
    for method in ["non-private", "ftrl", "implicit"] {
        let mut before: Option<(f64, f64)> = None;
        for power in 2..=6 {
            let rows = 10_usize.pow(power);
            let (schema, data) = drawn(rows);
            let epsilon = (method != "non-private").then_some(1.0);
            let mut request = asked(&schema, rows as u64, method, epsilon, 1);
            request.task.loss = loss;
            let mut planned = plan(&request).unwrap();
            if method != "implicit" {
                let noise = planned.settings().get("sum_noise").unwrap_or(0.0);
                let rate = 4.0 / (rows as f64 * (1.0 + 2.0 * noise)).sqrt();
                request.task.method = request.task.method.with("rate", &rate.to_string()).unwrap();
                planned = plan(&request).unwrap();
            }
            let stop = AtomicBool::new(false);
            let mut source = SystemRandom::new().unwrap();
            let release = planned.run(&data, &mut source, &stop).unwrap();
            let words = RequestOptions {
                loss: Some("huber-svm".into()),
                ..RequestOptions::of("non-private".parse().unwrap())
            };
            let best = plan(&Request::build(&schema, rows as u64, &words).unwrap()).unwrap();
            let best = best.run(&data, &mut source, &stop).unwrap().into_parts().0;
            let labels = data.target.signed().unwrap();
            let (mut regret, mut next) = (0.0, 0);
            let stream = release.value();
            for (at, label) in labels.iter().enumerate() {
                while next < stream.after.len() && stream.after[next] as usize <= at {
                    next += 1;
                }
                let x = row(&data, at);
                let dot = |w: &[f64]| x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>();
                let score = if next == 0 { 0.0 } else { dot(&stream.values[next - 1]) };
                regret += loss.value(score, *label) - loss.value(dot(&best.weights[0]), *label);
            }
            let slope = before.map(|(n, r): (f64, f64)| (regret / r).ln() / (rows as f64 / n).ln());
            println!("{method}, T = {rows}: regret {regret:.1}, slope {slope:.2?}");
            before = Some((rows as f64, regret));
        }
    }
}
