//! How often intervals of weights hold the weights without noise, over many releases of one table.

use super::made::Made;
use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, read};
use privet_dp::noise::FixedSeed;
use privet_learn::certainty::{NORMAL, Surety};
use privet_learn::model::Model;
use privet_learn::{Erm, Method, Plan, Request, plan};
use privet_optim::loss::Loss;
use std::sync::atomic::AtomicBool;

/// What was found over all releases.
#[derive(Debug, Clone, Copy)]
pub struct Covered {
    /// Of all intervals, the share that holds the weight without noise.
    pub share: f64,
    /// Of the column where it is the least.
    pub least: f64,
    /// The mean width.
    pub width: f64,
    /// The mean width that would do, by how far weights spread over the releases.
    pub needed: f64,
    /// What the intervals say of themselves.
    pub surety: Surety,
}

/// A release of this seed.
pub fn released(plan: &Plan, data: &Dataset, seed: u64) -> Model {
    let release = plan.run(data, &mut FixedSeed::new(seed), &AtomicBool::new(false)).unwrap();
    Model::from_release(release).unwrap()
}

/// The weight without noise is as given, or the mean over all releases, which it is to first order and up to what so many releases tell.
pub fn covered(
    plan: &Plan,
    data: &Dataset,
    seed: u64,
    runs: u64,
    without: Option<Vec<f64>>,
) -> Covered {
    let models: Vec<Model> = (0..runs).map(|run| released(plan, data, 1000 * seed + run)).collect();
    let columns = models[0].weights().weights[0].len();
    let mean = |column: usize| {
        models.iter().map(|model| model.weights().weights[0][column]).sum::<f64>() / runs as f64
    };
    let means: Vec<f64> = without.unwrap_or_else(|| (0..columns).map(mean).collect());
    let (mut held, mut width) = (vec![0_u32; columns], 0.0);
    let mut surety = Surety::Bound;
    for model in &models {
        let certainty = model.certainty();
        surety = certainty.surety.unwrap();
        for one in &certainty.weights[0] {
            let (low, high) = (one.low.unwrap(), one.high.unwrap());
            assert!(low <= one.weight && one.weight <= high);
            held[one.column] += u32::from((low..=high).contains(&means[one.column]));
            width += (high - low) / (runs as f64 * columns as f64);
        }
    }
    let shares = held.iter().map(|held| f64::from(*held) / runs as f64);
    let share = shares.clone().sum::<f64>() / columns as f64;
    let spread = |column: usize| {
        let (own, mean) = (|model: &Model| model.weights().weights[0][column], mean(column));
        let squares: f64 = models.iter().map(|model| (own(model) - mean).powi(2)).sum();
        (squares / (runs as f64 - 1.0)).sqrt()
    };
    let needed = (0..columns).map(spread).sum::<f64>() * 2.0 * NORMAL / columns as f64;
    Covered { share, least: shares.fold(1.0, f64::min), width, needed, surety }
}

/// A made-up table, its numbers from the fifth on within a fiftieth of their bounds where some are to hardly vary.
pub fn table(made: &Made, hardly: bool) -> Dataset {
    let (text, _) = made.csv(0);
    let narrow = |line: &str| {
        let cells = line.split(',').enumerate();
        let cell = |(column, cell): (usize, &str)| match cell.parse::<f64>() {
            Ok(number) if column >= 4 && column < made.columns => format!("{:.5}", number / 50.0),
            _ => cell.into(),
        };
        cells.map(cell).collect::<Vec<String>>().join(",") + "\n"
    };
    let text = if hardly { text.lines().map(narrow).collect() } else { text };
    read::csv_bytes(text.as_bytes(), &made.schema().linear()).unwrap()
}

/// A plan for such a table, with or without intervals that are bought.
pub fn planned(made: &Made, method: &str, epsilon: f64, bought: bool) -> Plan {
    let method: Method = method.parse().expect("a method");
    let method = if bought { method.with("intervals", "bought").unwrap() } else { method };
    let task = Erm { loss: Loss::Logistic, method };
    let (schema, rows) = (made.schema().linear(), made.rows as u64);
    let request = Request::new(schema, rows, Neighbours::ReplaceOne, task);
    plan(&request.within(Budget::new(epsilon, 1e-6).unwrap())).unwrap()
}

/// Of a minimiser, the weights without noise: those of the same ridge.
pub fn minimiser(made: &Made, plan: &Plan, data: &Dataset) -> Option<Vec<f64>> {
    if plan.request().task.method.name() != "amp" {
        return None;
    }
    let ridge = plan.settings().get("ridge").unwrap().to_string();
    let method: Method = "non-private".parse().unwrap();
    let task = Erm { loss: Loss::Logistic, method: method.with("ridge", &ridge).unwrap() };
    let (schema, rows) = (made.schema().linear(), made.rows as u64);
    let plain = privet_learn::plan(&Request::new(schema, rows, Neighbours::ReplaceOne, task));
    Some(released(&plain.unwrap(), data, 1).weights().weights[0].clone())
}

/// Three generators of tables: independent numbers; columns that go together, every third a category; and a rarer class.
pub fn generators(rows: usize, columns: usize) -> [Made; 3] {
    let made =
        |seed, base, signal, mixed| Made { rows, columns, classes: 2, base, signal, mixed, seed };
    [made(1, 0.5, 0.6, false), made(2, 0.5, 0.8, true), made(3, 0.7, 0.7, false)]
}
