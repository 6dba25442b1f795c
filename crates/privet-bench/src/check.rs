//! Compares results with the targets of their suite.
//!
//! The numbers are those of the report ([`crate::report::aggregate`]): means over the final runs. The
//! mean alone decides whether a target is met; its standard error helps to judge a near miss.

use crate::error::BenchError;
use crate::report::Results;
use crate::report::aggregate::{Summary, summaries};
use crate::report::read::FILE;
use crate::suite::target::{Bound, Measure, Target};
use crate::suite::{SUITE_FILE, Suite, measure_the_same};
use serde::Serialize;
use std::path::Path;

/// The comparison of a suite's targets with its results.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The findings, in the order of the suite.
    pub findings: Vec<Finding>,
    /// Warnings about the results file.
    pub notices: Vec<String>,
}

/// A target and its measurement.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The target.
    pub target: Target,
    /// The measurement, or the reason why there is none.
    pub measured: Result<Measured, String>,
}

/// The runs of a target's cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Mean of the runs.
    pub mean: f64,
    /// Its standard error; unknown for a single run.
    pub standard_error: Option<f64>,
    /// Number of runs.
    pub runs: usize,
    /// The δ of the cell; `None` for a learner without privacy.
    pub delta: Option<f64>,
}

/// The outcome of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The mean meets the bound.
    Met,
    /// The mean does not meet the bound.
    Missed,
    /// The mean does not meet the bound, and the target declares the miss as known, with the reason.
    MissedAsKnown,
    /// There is no mean.
    NotMeasured,
}

impl Verdict {
    /// The verdict on a mean, given whether it meets the bound, of a target whose miss may be known.
    pub(crate) fn of(met: Option<bool>, known: bool) -> Self {
        match met {
            Some(true) => Self::Met,
            Some(false) if known => Self::MissedAsKnown,
            Some(false) => Self::Missed,
            None => Self::NotMeasured,
        }
    }

    /// True if a check fails: neither met, nor a known miss.
    pub fn fails(self) -> bool {
        matches!(self, Self::Missed | Self::NotMeasured)
    }

    /// In a word or two.
    pub fn verdict_words(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "MISSED",
            Self::MissedAsKnown => "MISSED, as known",
            Self::NotMeasured => "NOT MEASURED",
        }
    }
}

impl Finding {
    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        let met =
            self.measured.as_ref().ok().map(|measured| self.target.bound.is_met(measured.mean));
        Verdict::of(met, self.target.missed.is_some())
    }
}

/// Compares the results in a folder, which must be of this suite, with its targets.
pub fn check(suite: &Suite, folder: &Path) -> Result<Checked, BenchError> {
    if suite.targets.is_empty() {
        return Err(BenchError::NoTargets { suite: suite.name.clone() });
    }
    let results = Results::read(folder)?;
    let kept = folder.join(SUITE_FILE);
    let before = std::fs::read_to_string(&kept).map_err(BenchError::on_path(&kept))?;
    if !measure_the_same(&before, &suite.text) {
        return Err(BenchError::SuiteChanged { path: folder.join(FILE), kept });
    }
    let summaries = summaries(&results.runs);
    let of = |target: &Target| measured(target, &summaries).ok_or_else(|| reason(target, &results));
    let finding = |target: &Target| {
        let (mut target, own) = (target.clone(), of(target));
        let Bound::Within { of: entry, epsilon, .. } = target.bound.clone() else {
            return Finding { measured: own, target };
        };
        // The reference is a cell of the same data set.
        let other = Target { entry: entry.clone(), epsilon, ..target.clone() };
        let measured = match of(&other) {
            Ok(other) => {
                target.bound = target.bound.bound_beside(target.measure, other.mean);
                own
            }
            Err(why) => own.and(Err(format!("{entry}, which it is held against: {why}"))),
        };
        Finding { target, measured }
    };
    Ok(Checked {
        findings: suite.targets.iter().map(finding).collect(),
        notices: results.notices.clone(),
    })
}

fn measured(target: &Target, summaries: &[Summary]) -> Option<Measured> {
    let name = target.measure.to_string();
    let found = summaries.iter().find(|summary| {
        let Summary { cell, measure, counts, .. } = summary;
        let beside = [
            Measure::Seconds,
            Measure::Auc,
            Measure::RelativeError,
            Measure::Recall,
            Measure::Ndcg,
            Measure::Loss,
            Measure::Answered,
        ];
        let right = beside.contains(&target.measure) || *measure == name;
        *counts && right && target.is_of(cell)
    })?;
    let (mean, standard_error) = match target.measure {
        Measure::Seconds => (found.seconds, found.seconds_error),
        Measure::Auc => found.ranking?,
        Measure::RelativeError => found.distance?,
        Measure::Recall => found.recall?,
        Measure::Ndcg => found.ndcg?,
        Measure::Loss => found.loss?,
        Measure::Answered => found.answered?,
        Measure::Accuracy | Measure::RSquared | Measure::Rmse => (found.mean, found.standard_error),
    };
    Some(Measured { mean, standard_error, runs: found.runs, delta: found.cell.delta })
}

/// The reason why there is no mean.
fn reason(target: &Target, results: &Results) -> String {
    let refused = results.refused.iter().find(|refused| target.is_of(&refused.cell));
    let other = results.runs.iter().find(|run| target.is_of(&run.cell));
    match (refused, other) {
        (Some(refused), _) => format!("refused by its learner: {}", refused.reason),
        (None, Some(run)) => format!("its runs that count are of {}", run.measure),
        (None, None) => "no run of it".into(),
    }
}
