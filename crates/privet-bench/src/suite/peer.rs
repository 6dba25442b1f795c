//! Peers: learners of other packages, each in its own environment.
//!
//! | peer | package | relation | δ | classes |
//! |---|---|---|---|---|
//! | `dp-ebm` | interpret-core, `DPExplainableBoostingClassifier` | add-remove | the cell's | two |
//! | `diffprivlib` | diffprivlib, `LogisticRegression` | replace-one | 0 | any |
//!
//! The relation is that of the peer's own noise, read from its sources at the pinned version. DP-EBM: a
//! record adds 1 to a histogram and at most the learning rate to a sum of gradients, and those are the
//! sensitivities that the noise is scaled to; replacing a record moves up to twice as much. diffprivlib:
//! the noise vector of Chaudhuri, Monteleoni and Sarwate (2011) is scaled to twice the largest norm of a
//! row, for a record that is replaced among n known ones. A peer's guarantee is not checked here.

use super::grid::{Point, Value};
use crate::race::environment::Rival;
use privet_core::{Neighbours, Range};
use std::str::FromStr;

/// Another package's learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Peer {
    /// The differentially private explainable boosting machine of InterpretML.
    DpEbm,
    /// diffprivlib's logistic regression.
    Diffprivlib,
}

/// Limits on a peer's numbers.
const NUMBER: Range = Range::open("a setting of a peer", 0.0, 1e9);

impl Peer {
    /// All peers.
    pub const ALL: [Self; 2] = [Self::DpEbm, Self::Diffprivlib];

    /// Its name in suites and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::DpEbm => "dp-ebm",
            Self::Diffprivlib => "diffprivlib",
        }
    }

    /// The peer of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|peer| peer.name() == name)
    }

    /// Its package and its script.
    pub fn script(self) -> (Rival, &'static str) {
        match self {
            Self::DpEbm => (Rival::Interpret, "dp_ebm.py"),
            Self::Diffprivlib => (Rival::Diffprivlib, "diffprivlib_rows.py"),
        }
    }

    /// The neighbouring relation of its guarantee.
    pub fn neighbours(self) -> Neighbours {
        match self {
            Self::DpEbm => Neighbours::AddRemove,
            Self::Diffprivlib => Neighbours::ReplaceOne,
        }
    }

    /// The δ of its guarantee, where a suite requests `asked`.
    pub fn delta(self, asked: f64) -> f64 {
        match self {
            Self::DpEbm => asked,
            Self::Diffprivlib => 0.0,
        }
    }

    /// Its settings that a suite may name.
    pub(super) fn settings(self) -> &'static [&'static str] {
        match self {
            Self::DpEbm => {
                &["max-rounds", "learning-rate", "max-bins", "max-leaves", "bin-budget-frac"]
            }
            Self::Diffprivlib => &["C", "fit-intercept"],
        }
    }

    /// Refuses a key that the peer does not have, and a value that the key does not accept.
    pub(super) fn setting(self, key: &str, value: &Value) -> Result<(), String> {
        if !self.settings().contains(&key) {
            return Err(format!("'{key}': accepted are {}", self.settings().join(", ")));
        }
        match (key, value) {
            ("fit-intercept", Value::Word(word)) if word == "true" || word == "false" => Ok(()),
            ("fit-intercept", _) => Err("fit-intercept: accepted is \"true\" or \"false\"".into()),
            (_, Value::Whole(value)) => checked(key, *value as f64),
            (_, Value::Number(value)) => checked(key, *value),
            (_, Value::Word(_)) => Err(format!("{key}: accepted is a number above 0")),
        }
    }

    /// The question to the peer: a JSON object of its settings.
    pub(super) fn question_json(self, points: [&Point; 2]) -> serde_json::Value {
        let pairs = points.into_iter().flatten().map(|(key, value)| {
            let parsed = serde_json::from_str(value).unwrap_or_else(|_| value.as_str().into());
            (key.replace('-', "_"), parsed)
        });
        pairs.collect::<serde_json::Map<_, _>>().into()
    }

    /// A remark on its numbers, to follow its name.
    pub fn remark(self) -> &'static str {
        match self {
            Self::DpEbm => {
                "is InterpretML's DPExplainableBoostingClassifier with its defaults, the bounds and \
                 types of columns declared from the schema; its noise is for a record that is added or \
                 removed, so it stands beside the add-remove entries. A category that no record has is \
                 never among those it keeps, whatever the noise."
            }
            Self::Diffprivlib => {
                "is that package's LogisticRegression on the rows that gd sees, data_norm being the schema's \
                 radius; its noise is for a record that is replaced, with δ = 0, more than the others in the \
                 table promise."
            }
        }
    }
}

fn checked(key: &str, value: f64) -> Result<(), String> {
    NUMBER.check(value).map(|_| ()).map_err(|_| format!("{key}: accepted is a number above 0"))
}

impl FromStr for Peer {
    type Err = String;
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::by_name(word).ok_or_else(|| {
            let accepted = Self::ALL.map(Self::name).join(", ");
            format!("peer '{word}': accepted are {accepted}")
        })
    }
}
