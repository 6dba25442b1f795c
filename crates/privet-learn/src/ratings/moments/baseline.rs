//! The same queries without noise, for comparison on public ratings.

use super::learning::{GlobalState, Learning};
use super::{RANK, ROUNDS, Sizes};
use crate::LearnError;
use crate::ratings::baseline::{
    FULL_WEIGHT_SPREAD, NEGLIGIBLE_NOISE, SettledBaseline, no_budget, run_exactly,
};
use crate::ratings::factors::Factors;
use crate::ratings::learners::{Decision, Method, Settling};
use crate::ratings::{Complete, Shape};
use crate::release::covers::MethodCoverage;
use crate::release::registry::{Info, NO_GUARANTEE};
use crate::release::settings::{PlanNumbers, settings};
use crate::release::task::Baseline;
use privet_dp::gate::{GateError, Walk};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use std::sync::Arc;

settings! {
    /// Settings of `non-private`.
    pub struct NonPrivate {
        rank: u32 [RANK] "numbers that are learnt of each item beside its offset; 6 unless given";
        rounds: u32 [ROUNDS] "passes after the first; 10 unless given";
    }
}

/// Registry entry of `non-private`.
pub(in crate::ratings) const INFO: Info = Info {
    name: "non-private",
    summary: "the questions of moments with nothing noised, for comparison",
    source: "this project",
    guarantee: NO_GUARANTEE,
    settings: NonPrivate::SETTINGS,
    noisy: "nothing",
    private: false,
    covers: MethodCoverage::ALL,
    more: (),
};

/// Refuses a budget: the method spends none.
pub(in crate::ratings) fn plan(
    _shape: &Shape,
    _settling: &Settling<'_>,
    _own: &NonPrivate,
) -> Result<Decision, LearnError> {
    Err(no_budget("non-private"))
}

/// Returns the baseline and its settings with every choice made.
pub(in crate::ratings) fn baseline(
    shape: &Shape,
    own: &NonPrivate,
) -> Result<SettledBaseline, LearnError> {
    let by_rule = if shape.items < 8 { 0 } else { 6 };
    let rank = RANK.check(f64::from(own.rank.unwrap_or(by_rule)))? as u32;
    let rounds = ROUNDS.check(f64::from(own.rounds.unwrap_or(10)))? as u32;
    let settled = NonPrivate { rank: Some(rank), rounds: Some(rounds) };
    Ok((Arc::new(Plain(sizes(shape, rank, rounds)?)), Method::NonPrivate(settled)))
}

fn sizes(shape: &Shape, rank: u32, rounds: u32) -> Result<Sizes, LearnError> {
    let core = shape.items.clamp(2, 200);
    if rank > 0 && rank as usize > shape.items {
        return Err(LearnError::NotCovered {
            what: "the rank is above the number of items".into(),
            instead: "give a rank up to the number of items",
        });
    }
    Ok(Sizes {
        items: shape.items,
        users: shape.users,
        relation: shape.relation,
        rank: rank as usize,
        rounds,
        core,
        spread: FULL_WEIGHT_SPREAD,
        first: NEGLIGIBLE_NOISE,
        most: shape.most,
        widening: 1.0,
        features: shape.features.to_vec(),
    })
}

/// Offsets, and vectors from the covariance of the core.
pub(in crate::ratings) fn start_state(
    shape: &Shape,
    rank: usize,
    table: &dyn Table,
    monitor: &dyn Monitor,
) -> Result<GlobalState, LearnError> {
    match Plain(sizes(shape, rank as u32, 1)?).run(shape, table, monitor)? {
        Factors::Moments(state) => Ok(state),
        _ => Err(GateError::NotAsPlanned.into()),
    }
}

/// The walk of [`super`], with exact answers.
#[derive(Debug, Clone)]
struct Plain(Sizes);

impl Baseline<Complete> for Plain {
    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([("rank", self.0.rank as f64), ("rounds", f64::from(self.0.rounds))])
    }

    fn run(
        &self,
        _shape: &Shape,
        table: &dyn Table,
        monitor: &dyn Monitor,
    ) -> Result<Factors, LearnError> {
        run_exactly(Learning::begin(self.0.clone()), table, monitor)
    }
}
