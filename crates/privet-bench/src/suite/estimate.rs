//! Estimates of time: a rough model of each learner, corrected by measurements.

use super::file::Entry;
use super::grid::Point;
use super::table::Size;
use std::collections::BTreeMap;

/// Modelled seconds of one model on one core: entries read, times a constant.
pub fn model(entry: &Entry, point: &Point, size: Size) -> f64 {
    let number = |key: &str| {
        let written = point.get(key).or_else(|| entry.fixed.get(key));
        written.and_then(|value| value.parse::<f64>().ok())
    };
    let (rows, columns) = (size.rows as f64, (size.columns as f64).min(MOST_ASSUMED_ENTRIES));
    let problems = if size.classes > 2 { size.classes as f64 } else { 1.0 };
    // Passes over the rows, about; and planning, where the accountant is called many times.
    let (passes, planning) = match entry.learner.name() {
        "gd" | "auto" => (number("steps").unwrap_or(200.0), 0.0),
        "sgd" => {
            let batch = number("batch").unwrap_or(rows / 20.0);
            (number("steps").unwrap_or(500.0) * batch / rows, 0.1)
        }
        // Gradients of networks cost far more than those of linear models.
        name if entry.net.is_some() => {
            let batch = number("batch").unwrap_or(rows / 50.0);
            let passes = match name {
                "dp-gd" => number("steps").unwrap_or(100.0),
                "rrpsgd" => number("steps").unwrap_or(8.0 * rows) / rows,
                _ => number("steps").unwrap_or(30.0 * rows / batch) * batch / rows,
            };
            return 1.0 + NETWORK * passes * rows * size.columns as f64;
        }
        "psgd" | "psgd-strong" => (number("passes").unwrap_or(10.0), 0.0),
        "frank-wolfe" => (0.5 * number("steps").unwrap_or(300.0), 0.05),
        "simplex" => (100.0, 0.0),
        // Rounds over every column, and the start of an interpreter.
        "dp-ebm" => (number("max-rounds").unwrap_or(300.0), 3.0),
        "diffprivlib" => (100.0, 1.0),
        "moments" | "oja" => (100.0, 0.0),
        _ => (12.0, 0.0),
    };
    let noise = COORDINATE * size.columns as f64 * problems;
    LEAST_SECONDS + planning + noise + SECONDS * passes * rows * columns * problems
}

/// Largest number of entries assumed for a row: wider ones are sparse.
const MOST_ASSUMED_ENTRIES: f64 = 50.0;
/// Seconds per entry of a network's input.
const NETWORK: f64 = 4e-7;
/// Seconds per entry.
const SECONDS: f64 = 1.5e-9;
/// Seconds per coordinate: noise, and its record.
const COORDINATE: f64 = 1.2e-5;
/// Seconds for planning and evaluating.
const LEAST_SECONDS: f64 = 0.01;

/// Measured over modelled seconds, by data set and entry.
#[derive(Debug, Default)]
pub struct Measured {
    sums: BTreeMap<(String, String), (f64, f64)>,
}

impl Measured {
    /// Adds one model with its modelled and its measured time.
    pub fn add(&mut self, dataset: &str, entry: &str, modelled: f64, seconds: f64) {
        let sum = self.sums.entry((dataset.into(), entry.into())).or_default();
        (sum.0, sum.1) = (sum.0 + modelled, sum.1 + seconds);
    }

    /// The factor that corrects the model: from the same data set and entry where there is any, the
    /// entry on others, or others on the data set.
    pub fn correction(&self, dataset: &str, entry: &str) -> f64 {
        let over = |keep: &dyn Fn(&str, &str) -> bool| {
            let kept = self.sums.iter().filter(|((set, name), _)| keep(set, name));
            let (modelled, seconds) = kept.fold((0.0, 0.0), |a, (_, b)| (a.0 + b.0, a.1 + b.1));
            (modelled > 0.0).then_some(seconds / modelled)
        };
        over(&|set, name| set == dataset && name == entry)
            .or_else(|| over(&|_, name| name == entry))
            .or_else(|| over(&|_, _| true))
            .unwrap_or(1.0)
    }
}

/// A duration for people.
pub fn duration_words(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{:.0} s", s.max(1.0)),
        s if s < 5_400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3_600.0),
    }
}

/// A number of things for people: `1 model`, `2 models`.
pub fn counted(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        assert_eq!(
            [0, 1, 2].map(|n| counted(n, "data set")),
            ["0 data sets", "1 data set", "2 data sets"]
        );
    }

    #[test]
    fn what_was_measured_nearest_counts() {
        let mut measured = Measured::default();
        assert_eq!(measured.correction("a", "x"), 1.0);
        measured.add("b", "y", 1.0, 8.0);
        assert_eq!(measured.correction("a", "x"), 8.0);
        measured.add("b", "x", 1.0, 3.0);
        measured.add("a", "x", 2.0, 1.0);
        measured.add("a", "x", 2.0, 3.0);
        assert_eq!(measured.correction("a", "x"), 1.0);
        assert_eq!(measured.correction("c", "x"), 7.0 / 5.0);
        assert_eq!(
            (duration_words(0.1), duration_words(600.0), duration_words(9_000.0)).2,
            "2.5 h"
        );
    }
}
