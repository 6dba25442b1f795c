//! No noise and no guarantee: the baseline.

use super::minimum::{Ask, solve};
use crate::LearnError;
use crate::facts::Facts;
use crate::learner::Settings;
use crate::method::{Method, MethodInfo, RIDGE_SETTING, Scores};
use crate::request::RIDGE;
use privet_data::Dataset;
use privet_optim::solver::Monitor;
use serde::{Deserialize, Serialize};

/// A line about it.
pub const INFO: MethodInfo = MethodInfo {
    name: "non-private",
    summary: "no noise and no guarantee: a baseline for data that are public anyway",
    source: "–",
    guarantee: "none",
    settings: &[RIDGE_SETTING],
    scores: Scores::Separate,
};

/// Its settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// λ of the sum form; 1 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ridge: Option<f64>,
}

/// Minimisation, and nothing else.
#[derive(Debug, Clone)]
pub(crate) struct Plain {
    ridge: f64,
    tolerance: f64,
    rows: f64,
}

impl Plain {
    pub fn new(facts: &Facts, ridge: Option<f64>) -> Result<Self, LearnError> {
        let ridge = RIDGE.check(ridge.unwrap_or(1.0))?;
        let plain = Self { ridge, tolerance: facts.default_tolerance(), rows: facts.rows as f64 };
        super::reach::check(facts, plain.ask())?;
        Ok(plain)
    }

    fn ask(&self) -> Ask {
        Ask { ridge: self.ridge, tolerance: self.tolerance, linear_norm: 0.0 }
    }

    pub fn settled(&self) -> Method {
        Method::NonPrivate(Options { ridge: Some(self.ridge) })
    }

    pub fn settings(&self) -> Settings {
        Settings::of([("ridge", self.ridge), ("gamma", self.tolerance / self.rows)])
    }

    pub fn run(
        &self,
        facts: &Facts,
        data: &Dataset,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Vec<f64>>, LearnError> {
        (0..facts.problems)
            .map(|problem| Ok(solve(facts, data, problem, self.ask(), None, monitor)?.into_theta()))
            .collect()
    }
}
