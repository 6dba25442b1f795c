//! No noise and no guarantee: the baseline.

use super::chosen_amp::COLUMNS;
use super::minimum::{SolverRequest, solve};
use super::penalty::{PENALTY_SETTING, Regulariser, resolve_setting};
use super::{Decision, Erm, ight};
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::learners::{LearnerFacts, Method, RIDGE_SETTING, Scores};
use crate::linear::model::LinearWeights;
use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::covers::MethodCoverage;
use crate::release::note::Condition;
use crate::release::registry::Info;
use crate::release::request::{Calibration, RIDGE};
use crate::release::settings::{PlanNumbers, settings};
use crate::release::task::Baseline;
use privet_optim::solver::{Monitor, Penalty};
use privet_optim::sum::Table;

/// The registry entry.
pub const INFO: Info<LearnerFacts> = Info {
    name: "non-private",
    summary: "no noise and no guarantee: a baseline for data that are public anyway",
    source: "–",
    guarantee: "none",
    settings: NonPrivate::SETTINGS,
    noisy: "nothing",
    private: false,
    covers: MethodCoverage::ALL,
    more: LearnerFacts { scores: Scores::Separate, any_storage: true },
};

settings! {
    /// Settings of `non-private`.
    #[derive(Copy)]
    pub struct NonPrivate {
        /// λ of the sum form; 1 unless given.
        ridge: f64 = RIDGE_SETTING;
        /// A penalty or set on top of the ridge ([`super::penalty`]).
        penalty: Regulariser = PENALTY_SETTING;
        columns: u32 [COLUMNS]
            "keep at most this many columns, by iterative hard thresholding; all unless given";
    }
}

/// Refuses a budget, since the method spends none.
pub(crate) fn plan(
    _facts: &Facts,
    _budget: &Allowance<'_>,
    _calibration: Calibration,
    _own: &NonPrivate,
) -> Result<Decision, LearnError> {
    Err(LearnError::NotASetting { setting: "epsilon".into(), method: INFO.name })
}

/// The procedure: minimisation without noise.
#[derive(Debug, Clone)]
pub(crate) struct Plain {
    options: NonPrivate,
    penalty: Penalty,
    ridge: f64,
    tolerance: f64,
    rows: f64,
}

impl Plain {
    pub fn new(facts: &Facts, options: &NonPrivate) -> Result<Self, LearnError> {
        let (penalty, more) = resolve_setting(options.penalty, facts)?;
        let ridge = RIDGE.check(options.ridge.unwrap_or(1.0))?;
        if let Some(count) = options.columns {
            COLUMNS.check(f64::from(count))?;
            let open = facts.columns - usize::from(facts.bias);
            if count as usize > open || options.penalty.is_some() {
                return Err(LearnError::NotCovered {
                    what: format!("{count} columns are to be kept of {open}, by hard thresholding"),
                    instead: "give at most as many as there are and no penalty, or leave out columns",
                });
            }
        }
        let options = NonPrivate { ridge: Some(ridge), ..*options };
        let ridge = RIDGE.check(ridge + more)?;
        let tolerance = facts.default_tolerance().max(facts.provable_tolerance());
        let rows = facts.rows as f64;
        let plain = Self { options, penalty, ridge, tolerance, rows };
        super::tolerance::check(facts, plain.ask(), &plain.penalty)?;
        Ok(plain)
    }

    fn ask(&self) -> SolverRequest {
        SolverRequest { ridge: self.ridge, tolerance: self.tolerance, linear_norm: 0.0 }
    }

    pub fn settled(&self) -> Method {
        Method::NonPrivate(self.options)
    }
}

impl Baseline<Erm> for Plain {
    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([("ridge", self.ridge), ("gamma", self.tolerance / self.rows)])
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        monitor: &dyn Monitor,
    ) -> Result<LinearWeights, LearnError> {
        let problems = (0..facts.problems).map(|problem| {
            if let Some(size) = self.options.columns {
                let data = admit::in_memory(table, INFO.name, "single columns")?;
                return ight::fit_problem(facts, data, problem, size as usize, self.ask(), monitor);
            }
            let (ask, penalty) = (self.ask(), &self.penalty);
            Ok(solve(facts, table, problem, ask, penalty, None, monitor)?.into_theta())
        });
        problems.collect::<Result<_, LearnError>>().map(LinearWeights::of)
    }
}

pub(crate) const NO_NOISE: Condition =
    Condition::new("no-noise", "no noise: the model may reveal its training records");
