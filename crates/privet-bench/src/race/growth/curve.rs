//! One entrant's curve: its points, its end, and its slopes.

use super::rows::Size;
use super::serve::EPSILON;
use crate::line::Line;
use crate::memory;
use crate::race::{line, number};
use crate::report::race::slope;
use privet_cli::say;
use privet_data::schema::Storage;
use serde_json::{Value, json};

/// One entrant on one family.
pub(super) struct Curve {
    /// Name of the entrant.
    pub who: String,
    /// Our method; `None` for the peer.
    pub method: Option<&'static str>,
    /// The points so far.
    points: Vec<Point>,
    /// True while larger sizes are still tried.
    pub open: bool,
}

impl Curve {
    pub fn new(who: String, method: Option<&'static str>) -> Self {
        Self { who, method, points: Vec::new(), open: true }
    }

    /// The reason to stop, if the next size would need more than half of the memory.
    pub fn too_large(&self, size: Size) -> Option<String> {
        let half = memory::machine()? / 2;
        let known = self.points.last().and_then(|(known, _, peak)| {
            Some((*peak)? as f64 * size.bytes() as f64 / known.bytes() as f64)
        });
        // Without earlier points: the matrix and as much again.
        let expected = known.unwrap_or(0.0).max(2.0 * size.bytes() as f64);
        (expected > half as f64).then(|| {
            format!(
                "stopped: {:.1} GB expected, half of the memory is {:.1} GB",
                expected / 1e9,
                half as f64 / 1e9
            )
        })
    }

    /// Adds a result, or the reason that ends the curve.
    pub fn add(&mut self, race: &str, size: Size, result: Result<Value, String>) -> Line {
        let (said, mut measured) = match result {
            Ok(answer) => {
                let (seconds, peak) = (number(&answer, "seconds"), answer["peak_memory"].as_u64());
                let base = answer["base_memory"].as_u64().unwrap_or(0);
                let added = peak.map(|peak| peak.saturating_sub(base));
                self.points.push((size, seconds, added));
                let gigabytes = peak.map_or(f64::NAN, |peak| peak as f64 / 1e9);
                (format!("{seconds:.4} s, {gigabytes:.2} GB"), answer)
            }
            Err(reason) => {
                self.open = false;
                (reason.clone(), json!({ "notice": reason }))
            }
        };
        let Size { rows, columns, storage } = size;
        say!("race: {race}, {rows} × {columns} ({}), {}: {said}", word(storage), self.who);
        measured["rows"] = json!(size.rows);
        measured["columns"] = json!(size.columns);
        measured["storage"] = json!(word(size.storage));
        measured["matrix_bytes"] = json!(size.bytes());
        measured["epsilon"] = json!(self.method.map(|_| EPSILON));
        line(race, &self.who, measured)
    }

    /// The slopes in words.
    pub fn summary(&self, race: &str) -> String {
        let of = |size: &Size| if race == "growth-rows" { size.rows } else { size.columns } as f64;
        let along = |value: &dyn Fn(&Point) -> Option<f64>| {
            let points = self.points.iter();
            let points = points.filter_map(|point| Some((of(&point.0), value(point)?)));
            let slope = slope(&points.collect::<Vec<_>>());
            slope.map_or("?".into(), |slope| format!("{slope:.2}"))
        };
        let seconds = along(&|point| Some(point.1));
        let memory = along(&|point| point.2.map(|bytes| bytes as f64));
        let storage = self.points.first().map_or("none", |point| word(point.0.storage));
        format!(
            "{race} ({storage}), {}: slope {seconds} of the time, {memory} of the memory",
            self.who
        )
    }
}

/// Size, seconds, and the rise of peak memory since before the rows were made.
type Point = (Size, f64, Option<u64>);

fn word(storage: Storage) -> &'static str {
    match storage {
        Storage::Dense => "dense",
        Storage::Csr => "csr",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_ends_before_memory_does() {
        let mut curve = Curve::new("x".into(), Some("amp"));
        let size = |rows| Size { rows, columns: 20, storage: Storage::Dense };
        assert_eq!(curve.too_large(size(10)), None);
        if memory::machine().is_some() {
            let refused = curve.too_large(size(usize::MAX >> 12)).unwrap();
            assert!(refused.contains("half of the memory"), "{refused}");
            curve.add(
                "growth-rows",
                size(10),
                Ok(json!({ "seconds": 1.0, "peak_memory": 1_u64 << 40 })),
            );
            assert!(curve.too_large(size(1_000)).is_some(), "what was measured counts");
        }
        let Line::Race(line) = curve.add("growth-rows", size(10), Err("no".into())) else {
            panic!("not a race");
        };
        assert!(!curve.open && line.measured["notice"] == "no" && line.measured["rows"] == 10);
    }
}
