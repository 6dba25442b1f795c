//! The online learner without any noise, for comparison: [`super::ftrl`] with exact running sums.

use super::ftrl::{EXPECTED_NORM, RATE, RATE_SETTING, RIDGE, RIDGE_SETTING, rate};
use super::gradients::{ClippedDerivatives, StreamRecords};
use super::learners::Decision;
use super::{Horizon, Online, Stream};
use crate::LearnError;
use crate::release::admit;
use crate::release::allowance::Allowance;
use crate::release::covers::{MethodCoverage, TableAccess};
use crate::release::note::Condition;
use crate::release::registry::{Info, NO_GUARANTEE};
use crate::release::request::Calibration;
use crate::release::settings::{PlanNumbers, settings};
use crate::release::task::Baseline;
use privet_optim::solver::{Monitor, Progress, SolveError};
use privet_optim::sum::Table;

/// Registry entry of `non-private`.
pub const INFO: Info = Info {
    name: "non-private",
    summary: "ftrl with nothing noised, for comparison",
    source: "–",
    guarantee: NO_GUARANTEE,
    settings: NonPrivate::SETTINGS,
    noisy: "nothing",
    private: false,
    covers: MethodCoverage { needs: TableAccess::Memory, ..MethodCoverage::ALL },
    more: (),
};

settings! {
    /// Settings of `non-private`.
    #[derive(Copy)]
    pub struct NonPrivate {
        rate: f64 = RATE_SETTING;
        ridge: f64 = RIDGE_SETTING;
    }
}

/// Refuses a budget: the learner spends none.
pub(super) fn plan(
    _horizon: &Horizon,
    _allowance: &Allowance<'_>,
    _calibration: Calibration,
    _options: &NonPrivate,
) -> Result<Decision, LearnError> {
    Err(LearnError::NotASetting { setting: "epsilon".into(), method: "non-private" })
}

/// The learner without noise.
#[derive(Debug, Clone)]
pub(super) struct UnprotectedLearner {
    horizon: Horizon,
    rate: f64,
    ridge: f64,
}

impl UnprotectedLearner {
    pub fn new(horizon: &Horizon, options: &NonPrivate) -> Result<Self, LearnError> {
        let rate = match options.rate {
            Some(rate) => RATE.check(rate)?,
            None => rate(horizon, 0.0, EXPECTED_NORM / horizon.facts.radius),
        };
        let ridge = RIDGE.check(options.ridge.unwrap_or(0.0))?;
        Ok(Self { horizon: horizon.clone(), rate, ridge })
    }

    pub fn settled(&self) -> NonPrivate {
        NonPrivate { rate: Some(self.rate), ridge: Some(self.ridge) }
    }
}

impl Baseline<Online> for UnprotectedLearner {
    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([("steps", f64::from(self.horizon.steps)), ("rate", self.rate)])
    }

    fn run(
        &self,
        horizon: &Horizon,
        table: &dyn Table,
        monitor: &dyn Monitor,
    ) -> Result<Stream, LearnError> {
        let data = admit::in_memory(table, "online", "rows in their order")?;
        let slots = StreamRecords::of(horizon, data)?;
        let mut sum = vec![0.0; horizon.width()];
        let mut theta = sum.clone();
        let keep = super::kept_steps(horizon.kept, horizon.steps);
        let mut stream = Stream::NOTHING;
        let mut slopes = ClippedDerivatives::new(horizon);
        for step in 1..=horizon.steps {
            let progress = Progress {
                iteration: step,
                gradient_norm: f64::INFINITY,
                tolerance: 0.0,
                precise: false,
            };
            if !monitor.proceed(progress) {
                return Err(LearnError::Solve(SolveError::Stopped));
            }
            let from = (step as usize - 1) * horizon.batch as usize;
            for row in from..(from + horizon.batch as usize).min(slots.len()) {
                slots.each_of_gradient(row, &theta, &mut slopes, |place, g| sum[place] += g);
            }
            let seen = f64::from(step) * f64::from(horizon.batch);
            let by = -1.0 / (1.0 / self.rate + self.ridge * seen);
            theta.iter_mut().zip(&sum).for_each(|(theta, sum)| *theta = by * sum);
            if keep.get(stream.after.len()) == Some(&step) {
                stream.after.push(step);
                stream.values.push(theta.clone());
            }
        }
        Ok(stream)
    }
}

pub(crate) const NO_NOISE: Condition =
    Condition::new("no-noise", "no noise: the models may reveal their records");
