//! Common parts of the baselines without privacy.

use super::factors::Factors;
use super::local::{self, exact_sum};
use super::moments::{FirstLook, GlobalState, offsets_question};
use super::shape::Shape;
use super::{Complete, going_on};
use crate::LearnError;
use crate::release::covers::MethodCoverage;
use crate::release::registry::{Info, NO_GUARANTEE};
use crate::release::settings::PlanNumbers;
use crate::release::task::Baseline;
use privet_dp::gate::{GateError, Next, Walk};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Noise scale by which answers are shrunk: negligible.
pub(super) const NEGLIGIBLE_NOISE: f64 = 1e-6;
/// ξ so large that all users' ratings have full weight.
pub(super) const FULL_WEIGHT_SPREAD: f64 = 1e6;

/// A baseline with its settings, every choice made.
pub(super) type SettledBaseline = (Arc<dyn Baseline<Complete>>, super::Method);

/// Refusal of a budget: a baseline spends none.
pub(super) fn no_budget(method: &'static str) -> LearnError {
    LearnError::NotASetting { setting: "epsilon".into(), method }
}

/// Exact answer to a query.
pub(super) fn exactly(
    query: &impl local::Query,
    table: &dyn Table,
) -> Result<Vec<f64>, LearnError> {
    let sums = exact_sum(query, table)?;
    Ok(sums.counts.iter().map(|count| *count as f64 * sums.unit).collect())
}

/// Runs a walk with exact answers.
pub(super) fn run_exactly<W>(
    mut walk: W,
    table: &dyn Table,
    monitor: &dyn Monitor,
) -> Result<Factors, LearnError>
where
    W: Walk<Answer = Vec<f64>, Artefact = Factors>,
    W::Query: local::Query,
{
    let (mut answer, mut asked) = (None, 0);
    loop {
        match walk.next(answer.take()) {
            Next::Ask(query) => {
                asked += 1;
                going_on(monitor, asked)?;
                answer = Some(exactly(&query, table)?);
            }
            Next::Release(factors) => return Ok(factors),
            Next::End => return Err(GateError::NotAsPlanned.into()),
        }
    }
}

/// Offsets and counts of the items.
pub(super) fn first_look(shape: &Shape, table: &dyn Table) -> Result<FirstLook, LearnError> {
    let answer = exactly(&offsets_question(shape.items, FULL_WEIGHT_SPREAD), table)?;
    Ok(FirstLook::of(&answer, shape.users, NEGLIGIBLE_NOISE, &shape.features))
}

/// Settings of `mean`: none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mean {}

/// Each user's own mean.
pub(super) mod mean {
    use super::*;
    use crate::ratings::learners::{Decision, Settling};

    /// Registry entry of `mean`.
    pub(in crate::ratings) const INFO: Info = Info {
        name: "mean",
        summary: "each user's own mean: nothing is learnt of anybody, for comparison",
        source: "this project",
        guarantee: NO_GUARANTEE,
        settings: &[],
        noisy: "nothing",
        private: false,
        covers: MethodCoverage::ALL,
        more: (),
    };

    pub(in crate::ratings) fn plan(
        _shape: &Shape,
        _settling: &Settling<'_>,
        _own: &Mean,
    ) -> Result<Decision, LearnError> {
        Err(no_budget("mean"))
    }

    pub(in crate::ratings) fn baseline(
        _shape: &Shape,
        _own: &Mean,
    ) -> Result<SettledBaseline, LearnError> {
        Ok((Arc::new(NoFactors), super::super::Method::Mean(Mean {})))
    }

    /// Baseline that learns nothing.
    #[derive(Debug)]
    struct NoFactors;

    impl Baseline<Complete> for NoFactors {
        fn settings(&self) -> PlanNumbers {
            PlanNumbers::of([])
        }

        fn run(
            &self,
            shape: &Shape,
            _table: &dyn Table,
            _monitor: &dyn Monitor,
        ) -> Result<Factors, LearnError> {
            let none = vec![0.0; shape.items];
            let vectors = vec![Vec::new(); shape.items];
            let features = Vec::new();
            let state = GlobalState { offsets: none.clone(), popularity: none, vectors, features };
            Ok(Factors::Moments(state))
        }
    }
}
