//! Coverage of intervals of weights: the fraction that hold the weight without noise, over many releases
//! of one table.

use super::generated::GeneratedTable;
use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, read};
use privet_dp::noise::FixedSeed;
use privet_learn::linear::model::Model;
use privet_learn::weight_noise::{Confidence, NORMAL};
use privet_learn::{Erm, Method, Plan, Request, plan};
use privet_optim::loss::Loss;
use std::sync::atomic::AtomicBool;

/// Results over all releases.
#[derive(Debug, Clone, Copy)]
pub struct Covered {
    /// Fraction of all intervals that hold the weight without noise.
    pub share: f64,
    /// The least such fraction of a column.
    pub least: f64,
    /// Mean width.
    pub width: f64,
    /// Mean width that would suffice, by the spread of weights over the releases.
    pub needed: f64,
    /// Stated kind of confidence of the intervals.
    pub confidence: Confidence,
}

/// A release of this seed.
pub fn released(plan: &Plan, data: &Dataset, seed: u64) -> Model {
    let release = plan.run(data, &mut FixedSeed::new(seed), &AtomicBool::new(false)).unwrap();
    Model::from_release(release).unwrap()
}

/// The weight without noise is as given, or the mean over all releases, which equals it to first order
/// and up to the error of that mean. Weights of several classes are concatenated.
pub fn covered(
    plan: &Plan,
    data: &Dataset,
    seed: u64,
    runs: u64,
    without: Option<Vec<f64>>,
) -> Covered {
    let models: Vec<Model> = (0..runs).map(|run| released(plan, data, 1000 * seed + run)).collect();
    let each = models[0].weights().weights[0].len();
    let columns = each * models[0].weights().weights.len();
    let weight = |model: &Model, place: usize| model.weights().weights[place / each][place % each];
    let mean =
        |place: usize| models.iter().map(|model| weight(model, place)).sum::<f64>() / runs as f64;
    let means: Vec<f64> = without.unwrap_or_else(|| (0..columns).map(mean).collect());
    assert_eq!(means.len(), columns);
    let (mut held, mut width) = (vec![0_u32; columns], 0.0);
    let mut confidence = Confidence::Bound;
    for model in &models {
        let certainty = model.certainty();
        confidence = certainty.confidence.unwrap();
        for one in certainty.weights.iter().flatten() {
            let (low, high) = (one.low.unwrap(), one.high.unwrap());
            assert!(low <= one.weight && one.weight <= high);
            let place = one.problem * each + one.column;
            held[place] += u32::from((low..=high).contains(&means[place]));
            width += (high - low) / (runs as f64 * columns as f64);
        }
    }
    let shares = held.iter().map(|held| f64::from(*held) / runs as f64);
    let share = shares.clone().sum::<f64>() / columns as f64;
    let spread = |column: usize| {
        let mean = mean(column);
        let squares: f64 = models.iter().map(|model| (weight(model, column) - mean).powi(2)).sum();
        (squares / (runs as f64 - 1.0)).sqrt()
    };
    let needed = (0..columns).map(spread).sum::<f64>() * 2.0 * NORMAL / columns as f64;
    Covered { share, least: shares.fold(1.0, f64::min), width, needed, confidence }
}

/// A generated table; if `hardly`, its numbers from the fifth on vary within a fiftieth of their bounds.
pub fn table(generated: &GeneratedTable, hardly: bool) -> Dataset {
    let (text, _) = generated.csv(0);
    let narrow = |line: &str| {
        let cells = line.split(',').enumerate();
        let cell = |(column, cell): (usize, &str)| match cell.parse::<f64>() {
            Ok(number) if column >= 4 && column < generated.columns => {
                format!("{:.5}", number / 50.0)
            }
            _ => cell.into(),
        };
        cells.map(cell).collect::<Vec<String>>().join(",") + "\n"
    };
    let text = if hardly { text.lines().map(narrow).collect() } else { text };
    read::csv_bytes(text.as_bytes(), &generated.schema().linear()).unwrap()
}

/// A plan for such a table, with or without privately estimated intervals.
pub fn planned(generated: &GeneratedTable, method: &str, epsilon: f64, bought: bool) -> Plan {
    let method: Method = method.parse().expect("a method");
    let method = if bought { method.with("intervals", "bought").unwrap() } else { method };
    asked(generated, method, Neighbours::ReplaceOne, (epsilon, 1e-6))
}

/// The same of any relation and budget.
pub fn asked(
    generated: &GeneratedTable,
    method: Method,
    neighbours: Neighbours,
    budget: (f64, f64),
) -> Plan {
    let request = request(generated, method, neighbours);
    plan(&request.with_budget(Budget::new(budget.0, budget.1).unwrap())).unwrap()
}

fn request(generated: &GeneratedTable, method: Method, neighbours: Neighbours) -> Request {
    let loss = if generated.classes == 1 { Loss::SQUARED } else { Loss::Logistic };
    Request::new(
        generated.schema().linear(),
        generated.rows as u64,
        neighbours,
        Erm { loss, method },
    )
}

/// Methods whose weights without noise are a minimiser: that of the same ridge.
const MINIMISERS: [&str; 4] = ["amp", "objective", "output", "ssp"];

/// Of a minimiser, the weights without noise.
pub fn minimiser(generated: &GeneratedTable, plan: &Plan, data: &Dataset) -> Option<Vec<f64>> {
    if !MINIMISERS.contains(&plan.request().task.method.name()) {
        return None;
    }
    let ridge = plan.settings().get("ridge").unwrap().to_string();
    let method: Method = "non-private".parse().unwrap();
    let method = method.with("ridge", &ridge).unwrap();
    let plain = privet_learn::plan(&request(generated, method, Neighbours::ReplaceOne)).unwrap();
    Some(released(&plain, data, 1).weights().weights.concat())
}

/// Three generators of tables: independent numbers; correlated columns, every third a category; and a
/// rarer class.
pub fn generators(rows: usize, columns: usize) -> [GeneratedTable; 3] {
    let made = |seed, base, signal, mixed| GeneratedTable {
        rows,
        columns,
        classes: 2,
        base,
        signal,
        mixed,
        seed,
    };
    [made(1, 0.5, 0.6, false), made(2, 0.5, 0.8, true), made(3, 0.7, 0.7, false)]
}
