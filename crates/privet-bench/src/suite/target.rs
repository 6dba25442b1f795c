//! Targets of a suite: what a cell must reach for `privet-bench check`.
//!
//! ```toml
//! [[targets]]
//! dataset = "adult"
//! method = "auto"                   # a name of [[methods]], which decides δ and neighbours
//! epsilon = 0.1                     # left out for a learner without privacy
//! measure = "accuracy"              # or auc, r-squared, relative-error, rmse, recall, ndcg, loss, answered,
//!                                   # seconds
//! at-least = 79.1                   # or at-most, or within = 2 and of = "another" method of the suite
//! calibration = "sound"             # unless said
//! note = "the best of the papers"   # if need be
//! missed = "needs more rows"        # a miss that is known, and why
//! ```
//!
//! A target is of one cell that the suite measures; of a tuned method, of the point of its grid that
//! counts. One that is `within` so much `of` another method is compared with that method's result on the
//! same data set, at the same ε if it has one: no worse by more than that. A target with `missed` is
//! known not to be reached: the miss is named with its reason, and does not make the check fail. It is a
//! target all the same.

use super::file::{Entry, Suite};
use super::select::{Filter, Selection};
use crate::line::Cell;
use crate::report::aggregate::same_epsilon;
use privet_core::{Neighbours, printable};
use privet_learn::Calibration;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A bound on one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Name of the data set in the suite.
    pub dataset: String,
    /// Name of the entry in the suite's list of methods.
    pub entry: String,
    /// The constants: proved or a paper's.
    pub calibration: Calibration,
    /// The neighbouring relation, that of the entry.
    pub neighbours: Neighbours,
    /// The ε of the budget; `None` for a learner without privacy.
    pub epsilon: Option<f64>,
    /// The measure.
    pub measure: Measure,
    /// The bound on its mean.
    pub bound: Bound,
    /// The reason for the bound.
    pub note: Option<String>,
    /// The reason for a known miss.
    pub missed: Option<String>,
}

impl Target {
    /// True if it is of this cell, at any point of a grid.
    pub fn is_of(&self, cell: &Cell) -> bool {
        cell.dataset == self.dataset
            && cell.entry == self.entry
            && cell.calibration == self.calibration
            && same_epsilon(cell.epsilon, self.epsilon)
    }
}

/// The measure of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Per cent of the held-out records whose class is predicted.
    Accuracy,
    /// Area under the ROC curve on the held-out records of two classes, in per cent.
    Auc,
    /// R² on the held-out records.
    RSquared,
    /// Distance to the true weights of a generated set, relative to their norm.
    RelativeError,
    /// Root mean squared error of held-out ratings.
    Rmse,
    /// Recall of the liked held-out items among 20 recommended.
    Recall,
    /// NDCG of 20 recommended items.
    Ndcg,
    /// Mean loss of a network on held-out records.
    Loss,
    /// Number of queries that voters answered.
    Answered,
    /// Seconds of training, on the machine that measured.
    Seconds,
}

impl Measure {
    /// True if a smaller value is better.
    pub fn less_is_better(self) -> bool {
        match self {
            Self::Accuracy
            | Self::Auc
            | Self::RSquared
            | Self::Recall
            | Self::Ndcg
            | Self::Answered => false,
            Self::RelativeError | Self::Rmse | Self::Loss | Self::Seconds => true,
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// A bound on a number.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
    /// No worse than another method by more than this; a number once that is measured
    /// ([`Bound::bound_beside`]).
    Within {
        /// The allowed difference.
        points: f64,
        /// The other's name in the suite's list of methods.
        of: String,
        /// Its ε; `None` for a learner without privacy.
        epsilon: Option<f64>,
    },
}

impl Bound {
    /// True if a number meets the bound.
    pub fn is_met(&self, value: f64) -> bool {
        match self {
            Self::AtLeast(asked) => value >= *asked,
            Self::AtMost(asked) => value <= *asked,
            Self::Within { .. } => false,
        }
    }

    /// The bound as a number, given the result of the other method it may refer to.
    pub fn bound_beside(&self, measure: Measure, other: f64) -> Self {
        match self {
            Self::Within { points, .. } if measure.less_is_better() => Self::AtMost(other + points),
            Self::Within { points, .. } => Self::AtLeast(other - points),
            own => own.clone(),
        }
    }
}

/// A target in a suite's file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct TargetDraft {
    dataset: String,
    method: String,
    #[serde(default)]
    calibration: Calibration,
    epsilon: Option<f64>,
    measure: Measure,
    at_least: Option<f64>,
    at_most: Option<f64>,
    within: Option<f64>,
    of: Option<String>,
    note: Option<String>,
    missed: Option<String>,
}

impl TargetDraft {
    /// The target, if the suite measures its cell; an error lists the accepted values.
    pub(super) fn check(&self, suite: &Suite) -> Result<Target, String> {
        let accepted = |names: Vec<&str>| names.join(", ");
        let source = suite.datasets.iter().find(|source| source.name == self.dataset);
        let source = source.ok_or_else(|| {
            let names = suite.datasets.iter().map(|source| source.name.as_str()).collect();
            format!("data set '{}': this suite has {}", printable(&self.dataset), accepted(names))
        })?;
        let wanted = Selection::new(Filter::default(), suite).map_err(|error| error.to_string())?;
        let entries = suite.entries.iter().filter(|entry| wanted.entry(entry, source));
        let named = |method: &str| {
            entries.clone().find(|entry| entry.name == method).ok_or_else(|| {
                let names = entries.clone().map(|entry| entry.name.as_str()).collect();
                let (method, dataset) = (printable(method), &self.dataset);
                format!("method '{method}': on {dataset} this suite has {}", accepted(names))
            })
        };
        let entry = named(&self.method)?;
        if !entry.calibrations.contains(&self.calibration) {
            let own: Vec<String> = entry.calibrations.iter().map(ToString::to_string).collect();
            let (given, name) = (self.calibration, &entry.name);
            return Err(format!("calibration '{given}': {name} has {}", own.join(", ")));
        }
        let epsilons = |entry: &Entry| -> Vec<Option<f64>> {
            match entry.learner.is_private() {
                true => wanted.epsilons(entry, source).into_iter().map(Some).collect(),
                false => vec![None],
            }
        };
        let own = epsilons(entry);
        let epsilon =
            own.iter().find(|own| same_epsilon(**own, self.epsilon)).ok_or_else(|| {
                let given =
                    self.epsilon.map_or_else(|| "none".into(), |epsilon| epsilon.to_string());
                let own =
                    own.iter().map(|own| own.map_or_else(|| "none".into(), |e| e.to_string()));
                let own = own.collect::<Vec<String>>().join(", ");
                format!("epsilon {given}: {} on {} has {own}", entry.name, self.dataset)
            })?;
        let bound = match (self.at_least, self.at_most, self.within, &self.of) {
            (Some(number), None, None, None) if number.is_finite() => Bound::AtLeast(number),
            (None, Some(number), None, None) if number.is_finite() => Bound::AtMost(number),
            (None, None, Some(points), Some(of)) if points.is_finite() => {
                let other = named(of)?;
                let known = |own: &Option<f64>| own.is_none() || same_epsilon(*own, *epsilon);
                let epsilon = *epsilons(other).iter().find(|own| known(own)).ok_or_else(|| {
                    format!("of '{}': it has no runs at the same epsilon", printable(of))
                })?;
                Bound::Within { points, of: other.name.clone(), epsilon }
            }
            _ => {
                return Err("accepted is a number as at-least, as at-most, or as within with of, one of them"
                    .into());
            }
        };
        Ok(Target {
            dataset: self.dataset.clone(),
            entry: entry.name.clone(),
            calibration: self.calibration,
            neighbours: entry.neighbours,
            epsilon: *epsilon,
            measure: self.measure,
            bound,
            note: self.note.clone(),
            missed: self.missed.clone(),
        })
    }
}
