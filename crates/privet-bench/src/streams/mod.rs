//! The suite `thakurta-online`: the cost of learning from a private stream, in accuracy, regret and
//! time.
//!
//! | part | content | file |
//! |---|---|---|
//! | accuracy | rows predicted before they are learnt from, beside no noise and river | [`accuracy`] |
//! | regret | against T, beside the powers of the theorems | [`regret`] |
//! | experts | regret over √(T ln p) | [`regret`] |
//! | pace | rows a second on one core | [`accuracy`] |
//!
//! Lines are those of races, named `stream-PART`; the suite's own file declares the measurements and the
//! targets ([`check()`]). An existing part is not measured again.

pub mod accuracy;
pub mod regret;

use crate::error::BenchError;
use crate::line::Line;
use crate::parts::target::{Finding, Target, held_against};
use crate::parts::{self, Harness, Settings};
use crate::suite::{Outcome, RunObserver};
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// Its name.
pub const NAME: &str = "thakurta-online";
/// The suite as written.
pub const TEXT: &str = include_str!("../../suites/thakurta-online.streams.toml");
/// Its parts.
pub const PARTS: [&str; 4] = ["accuracy", "regret", "experts", "pace"];
/// Prefix of the names of its lines.
const PREFIX: &str = "stream";

/// The suite.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Streams {
    /// Its name.
    pub name: String,
    /// A one-line description.
    pub title: String,
    /// Number of runs of each private learner.
    pub runs: u32,
    /// Real streams.
    pub accuracy: Accuracy,
    /// Regret, on generated rows.
    pub regret: Regret,
    /// Regret of experts, with many columns.
    pub experts: Experts,
    /// Speed.
    pub pace: TimedStreams,
    /// The targets.
    pub targets: Vec<Target>,
}

/// The real streams.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accuracy {
    /// Names of the catalog.
    pub datasets: Vec<String>,
    /// Orders of the rows: `filed`, `shuffled`.
    pub orders: Vec<String>,
    /// Budgets ε.
    pub epsilons: Vec<f64>,
    /// Numbers of rows per step.
    pub batches: Vec<u32>,
}

/// The horizons.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Regret {
    /// Learners.
    pub methods: Vec<String>,
    /// Exponents: the horizons T are powers of ten.
    pub powers: Vec<u32>,
    /// The budget ε.
    pub epsilon: f64,
}

/// The numbers of experts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experts {
    /// Numbers of columns p.
    pub columns: Vec<usize>,
    /// The horizon T.
    pub rows: usize,
    /// The budget ε.
    pub epsilon: f64,
}

/// The streams that are timed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimedStreams {
    /// The horizon T.
    pub rows: usize,
    /// Number of columns p.
    pub columns: usize,
    /// Numbers of rows per step.
    pub batches: Vec<u32>,
    /// The budget ε.
    pub epsilon: f64,
}

/// The suite that comes with privet.
pub fn suite() -> Result<Streams, BenchError> {
    parts::parsed(NAME, TEXT)
}

/// A line of a part.
pub(crate) fn line(part: &str, who: &str, measured: Value) -> Line {
    parts::line(format!("{PREFIX}-{part}"), who, measured)
}

fn requested_suite(settings: &Settings) -> Result<Streams, BenchError> {
    let mut wanted = suite()?;
    parts::all_known("part", &settings.parts, &PARTS)?;
    parts::all_known("data set", &settings.datasets, &wanted.accuracy.datasets)?;
    wanted.runs = settings.runs.unwrap_or(wanted.runs);
    if !settings.datasets.is_empty() {
        wanted.accuracy.datasets = settings.datasets.clone();
    }
    if !settings.epsilons.is_empty() {
        wanted.accuracy.epsilons = settings.epsilons.clone();
    }
    Ok(wanted)
}

/// Runs the requested parts into a folder.
pub fn run(
    settings: &Settings,
    out: &Path,
    resume: bool,
    watch: &dyn RunObserver,
) -> Result<Outcome, BenchError> {
    let suite = requested_suite(settings)?;
    let mut harness = Harness::open((NAME, TEXT), out, resume, watch)?;
    for (place, part) in PARTS.into_iter().enumerate() {
        harness.at(place, PARTS.len());
        let of = format!("{PREFIX}-{part}");
        if !settings.is_requested(part) || harness.is_there(part, |line| line.race == of) {
            continue;
        }
        let mut missing = Vec::new();
        harness.measure(|_, emit| match part {
            "accuracy" => {
                missing = accuracy::accuracy(&suite, settings, watch, emit)?;
                Ok(())
            }
            "regret" => regret::regret(&suite, watch, emit),
            "experts" => regret::experts(&suite, watch, emit),
            _ => accuracy::run_pace(&suite, watch, emit),
        })?;
        harness.outcome.missing.append(&mut missing);
    }
    Ok(harness.outcome)
}

/// Compares the results in a folder with the targets.
pub fn check(folder: &Path) -> Result<Vec<Finding>, BenchError> {
    held_against(folder, (NAME, TEXT, PREFIX), suite()?.targets)
}
