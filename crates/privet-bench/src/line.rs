//! One line of a results file: what was measured, where, and of what.
//!
//! A results file is JSON lines. It begins with a [`Head`], and has another wherever a run was
//! taken up again; everything after a head was measured under it. Whoever writes a file
//! ([`crate`]'s runs and races) and whoever reads it (its report) share these types.

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
    /// Under which circumstances the lines that follow were measured.
    Head(Head),
    /// One model, trained and judged.
    Run(Run),
    /// A cell that a learner would not take, and why.
    Refused(Refused),
    /// One entrant of a race.
    Race(Race),
}

/// Circumstances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// The suite's name.
    pub suite: String,
    /// When, UTC, as `2026-11-15T18:30:00Z`.
    pub started: String,
    /// Of privet.
    pub version: String,
    /// Of the sources it was built from; `unknown` outside a clone.
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

/// What a model was trained on and how: the place of a result in the tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Name of the data set in the suite.
    pub dataset: String,
    /// Name of the entry in the suite's list of methods, such as `amp-tuned`.
    pub entry: String,
    /// The learner, such as `amp`.
    pub method: String,
    /// Whose constants.
    pub calibration: Calibration,
    /// Which data sets are neighbours.
    pub neighbours: Neighbours,
    /// ε; none for a learner without privacy.
    pub epsilon: Option<f64>,
    /// δ; none for a learner without privacy.
    pub delta: Option<f64>,
    /// The point of the grid, by the setting's name; empty for an untuned entry.
    pub settings: BTreeMap<String, String>,
}

/// Which part of the tuning a run belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Chooses which points of the grid are looked at again; never averaged into a result.
    Screen,
    /// Counts.
    Final,
}

/// One model, trained and judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Where it belongs.
    #[serde(flatten)]
    pub cell: Cell,
    /// Screening or counting.
    pub stage: Stage,
    /// From 0 within its cell and stage.
    pub run: u32,
    /// Records it was trained on.
    pub rows: u64,
    /// Encoded columns.
    pub columns: u64,
    /// Classes; 0 for a target of numbers.
    pub classes: u64,
    /// What `score` is: `accuracy` in per cent of the held-out records, `r-squared`, or `rmse`.
    pub measure: String,
    /// How well it did.
    pub score: f64,
    /// How well it ranks held-out records of two classes: the area under the ROC curve, in per cent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranking: Option<f64>,
    /// How far its weights are from those that a made-up set was made with, ‖θ̂ − θ*‖/‖θ*‖.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<f64>,
    /// Of 20 items recommended: the share found of those held out that the user likes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recall: Option<f64>,
    /// Of the same, the discounted gain over the largest possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ndcg: Option<f64>,
    /// The mean loss of a network on held-out records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// Length of the mean gradient of what a network minimised, penalties included, on the records it was trained on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gradient: Option<f64>,
    /// How often a network's training went over the records, gradients and losses counted alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<f64>,
    /// What became of questions to voters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub questions: Option<Questions>,
    /// The learner that did it where the entry left that open (`auto`).
    pub chosen: Option<String>,
    /// ε that the certificate proves at the cell's δ: beyond the cell's own ε where printed
    /// constants do not keep their promise.
    pub certified: Option<f64>,
    /// Wall-clock seconds of training, planning apart.
    pub seconds: f64,
    /// Peak memory of the process in bytes, where known.
    pub peak_memory: Option<u64>,
}

/// Questions to voters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Questions {
    /// How many were asked, m̃.
    pub asked: u64,
    /// How many were answered.
    pub answered: u64,
    /// εn/V, V the numbers of a linear classifier: up to about as many answers are promised where teachers can be right
    /// about everything (Thakkar 2019, Theorem 12), but for logarithms and constants.
    pub bound: f64,
}

/// Whether less of a measure is better: it is an error.
pub fn lower_is_better(measure: &str) -> bool {
    measure == "rmse"
}

/// A cell that a learner would not take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refused {
    /// Where it would belong.
    #[serde(flatten)]
    pub cell: Cell,
    /// The learner's own words.
    pub reason: String,
}

/// One entrant of a race.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Race {
    /// Which race: `fit`, `accountant`, `samplers`, `network`, `growth-rows`, `growth-columns`.
    pub race: String,
    /// Who ran, with the version, such as `privet amp` or `scikit-learn 1.9.1 lbfgs`.
    pub who: String,
    /// What else was measured; each race has its own.
    #[serde(flatten)]
    pub measured: Map<String, Value>,
}
