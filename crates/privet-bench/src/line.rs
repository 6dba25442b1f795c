//! One line of a results file: a measurement, with its cell or race.
//!
//! A results file is JSON lines. It begins with a [`Head`], and has another wherever a run was resumed;
//! everything after a head was measured under it. The writers of a file ([`crate`]'s runs and races) and
//! its reader (the report) share these types.

use privet_core::Neighbours;
use privet_learn::Calibration;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "nearly every line is the largest, a run")]
pub enum Line {
    /// The circumstances of the lines that follow.
    Head(Head),
    /// One model, trained and evaluated.
    Run(Run),
    /// A cell that a learner refused, with the reason.
    Refused(Refused),
    /// One entrant of a race.
    Race(Race),
}

/// The circumstances of measurements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// The suite's name.
    pub suite: String,
    /// The start, in UTC, as `2026-11-15T18:30:00Z`.
    pub started: String,
    /// The version of privet.
    pub version: String,
    /// The commit of the sources it was built from; `unknown` outside a clone.
    pub commit: String,
    /// The compiler.
    pub compiler: String,
    /// The machine.
    pub machine: Machine,
}

/// A machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Model of the processor.
    pub processor: String,
    /// Threads that can run at once.
    pub cores: usize,
    /// Bytes of memory, where known.
    pub memory: Option<u64>,
    /// Operating system and architecture.
    pub system: String,
}

/// The cell of a model: its data set, learner and settings; the place of a result in the tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Name of the data set in the suite.
    pub dataset: String,
    /// Name of the entry in the suite's list of methods, such as `amp-tuned`.
    pub entry: String,
    /// The learner, such as `amp`.
    pub method: String,
    /// The constants: proved or a paper's.
    pub calibration: Calibration,
    /// The neighbouring relation.
    pub neighbours: Neighbours,
    /// The ε of the budget; `None` for a learner without privacy.
    pub epsilon: Option<f64>,
    /// The δ of the budget; `None` for a learner without privacy.
    pub delta: Option<f64>,
    /// The point of the grid, by the setting's name; empty for an untuned entry.
    pub settings: BTreeMap<String, String>,
}

/// The stage of tuning that a run belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// A screening run: chooses the points of the grid that are run again; never averaged into a result.
    Screen,
    /// A final run: averaged into the result.
    Final,
}

/// One model, trained and evaluated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its cell.
    #[serde(flatten)]
    pub cell: Cell,
    /// Screening or final.
    pub stage: Stage,
    /// Number of the run, from 0 within its cell and stage.
    pub run: u32,
    /// Number of training records.
    pub rows: u64,
    /// Encoded columns.
    pub columns: u64,
    /// Classes; 0 for a target of numbers.
    pub classes: u64,
    /// The kind of `score`: `accuracy` in per cent of the held-out records, `r-squared`, or `rmse`.
    pub measure: String,
    /// The score.
    pub score: f64,
    /// The area under the ROC curve on held-out records of two classes, in per cent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranking: Option<f64>,
    /// Relative distance of its weights to the true ones of a generated set, ‖θ̂ − θ*‖/‖θ*‖.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<f64>,
    /// Recall: the fraction of a user's liked held-out items found among 20 recommended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recall: Option<f64>,
    /// NDCG of the 20 recommended items: the discounted gain over the largest possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ndcg: Option<f64>,
    /// The mean loss of a network on held-out records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// Norm of the mean gradient of a network's objective, penalties included, on its training records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gradient: Option<f64>,
    /// Number of passes of a network's training over the records, gradients and losses counted alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<f64>,
    /// The queries to voters and their answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub questions: Option<Questions>,
    /// The learner chosen where the entry left it open (`auto`).
    pub chosen: Option<String>,
    /// The ε that the certificate proves at the cell's δ: larger than the cell's own ε where printed
    /// constants do not keep their guarantee.
    pub certified: Option<f64>,
    /// Wall-clock seconds of training, without planning.
    pub seconds: f64,
    /// Peak memory of the process in bytes, where known.
    pub peak_memory: Option<u64>,
}

/// Queries to voters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Questions {
    /// Number m̃ of queries.
    pub asked: u64,
    /// Number of answers.
    pub answered: u64,
    /// εn/V, V the number of weights of a linear classifier: up to logarithms and constants, the
    /// guaranteed number of answers where teachers can be right about everything (Thakkar 2019, Theorem
    /// 12).
    pub bound: f64,
}

/// True if a smaller value of a measure is better: it is an error.
pub fn lower_is_better(measure: &str) -> bool {
    measure == "rmse"
}

/// A cell that a learner refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refused {
    /// The cell.
    #[serde(flatten)]
    pub cell: Cell,
    /// The learner's message.
    pub reason: String,
}

/// One entrant of a race.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Race {
    /// The race: `fit`, `accountant`, `samplers`, `network`, `growth-rows`, `growth-columns`.
    pub race: String,
    /// The entrant, with the version, such as `privet amp` or `scikit-learn 1.9.1 lbfgs`.
    pub who: String,
    /// The measurements; each race has its own.
    #[serde(flatten)]
    pub measured: Map<String, Value>,
}
