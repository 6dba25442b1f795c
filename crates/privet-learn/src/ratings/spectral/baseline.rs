//! Frank–Wolfe and projected descent without noise, on ratings minus the items' offsets and the users'
//! means.

use super::directions::DirectionSearch;
use super::methods::{NUCLEAR, RANK, RATE, ROUNDS, most_whole};
use super::procedure::{Sizes, SpectralMethod};
use crate::LearnError;
use crate::ratings::baseline::{
    NEGLIGIBLE_NOISE, SettledBaseline, first_look, no_budget, run_exactly,
};
use crate::ratings::factors::Factors;
use crate::ratings::learners::{Decision, Method, Settling};
use crate::ratings::{Complete, Shape};
use crate::release::covers::MethodCoverage;
use crate::release::registry::{Info, NO_GUARANTEE};
use crate::release::settings::{PlanNumbers, SettingInfo, settings};
use crate::release::task::Baseline;
use privet_dp::gate::Walk;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use std::sync::Arc;

/// A clip above the norm of any row.
const CLIP: f64 = 1e4;

settings! {
    /// Settings of `non-private-frank-wolfe`.
    pub struct PlainFrankWolfe {
        rounds: u32 [ROUNDS] "directions, one a round; 100 unless given";
        nuclear: f64 = NUCLEAR_INFO;
    }
}

settings! {
    /// Settings of `non-private-pgd`.
    pub struct PlainPgd {
        rounds: u32 [ROUNDS] "steps; 30 unless given";
        rank: u32 [RANK] "the most directions kept of each projection; 20 unless given";
        rate: f64 [RATE] "the step towards a user's ratings; 1 unless given";
        nuclear: f64 = NUCLEAR_INFO;
    }
}

/// Default nuclear norm k over √(users × items).
const NUCLEAR_SHARE: f64 = 0.5;

const NUCLEAR_INFO: SettingInfo = SettingInfo::number(
    NUCLEAR,
    "bound on the nuclear norm, in quarters of the bounds' distance; √(users × items)/2 unless given",
);

fn nuclear(given: Option<f64>, shape: &Shape) -> Result<f64, LearnError> {
    let by_rule = NUCLEAR_SHARE * (shape.users as f64 * shape.items as f64).sqrt();
    Ok(NUCLEAR.check(given.unwrap_or(by_rule))?)
}

fn sizes(
    shape: &Shape,
    way: SpectralMethod,
    rounds: u32,
    nuclear: f64,
) -> Result<Sizes, LearnError> {
    Ok(Sizes {
        way,
        items: shape.items,
        relation: shape.relation,
        clip: CLIP,
        nuclear,
        rounds: ROUNDS.check(f64::from(rounds))? as u32,
        noise: NEGLIGIBLE_NOISE,
        offsets: Vec::new(),
    })
}

/// The walk with exact answers.
#[derive(Debug)]
struct Plain(Sizes);

impl Baseline<Complete> for Plain {
    fn settings(&self) -> PlanNumbers {
        PlanNumbers::of([("rounds", f64::from(self.0.rounds)), ("nuclear", self.0.nuclear)])
    }

    fn run(
        &self,
        shape: &Shape,
        table: &dyn Table,
        monitor: &dyn Monitor,
    ) -> Result<Factors, LearnError> {
        let offsets = first_look(shape, table)?.state.offsets;
        run_exactly(DirectionSearch::begin(Sizes { offsets, ..self.0.clone() }), table, monitor)
    }
}

/// Frank–Wolfe.
pub(in crate::ratings) mod plain_frank_wolfe {
    use super::*;
    /// Registry entry of `non-private-frank-wolfe`.
    pub(in crate::ratings) const INFO: Info = Info {
        name: "non-private-frank-wolfe",
        summary: "Frank–Wolfe over the nuclear-norm ball without noise, offsets of items taken off first, for comparison",
        source: "Jaggi and Sulovský 2010 (Thakkar's thesis, Algorithm 12), steps 2/(t + 1)",
        guarantee: NO_GUARANTEE,
        settings: PlainFrankWolfe::SETTINGS,
        noisy: "nothing",
        private: false,
        covers: MethodCoverage::ALL,
        more: (),
    };

    pub(in crate::ratings) fn plan(
        _shape: &Shape,
        _settling: &Settling<'_>,
        _own: &PlainFrankWolfe,
    ) -> Result<Decision, LearnError> {
        Err(no_budget("non-private-frank-wolfe"))
    }

    pub(in crate::ratings) fn baseline(
        shape: &Shape,
        own: &PlainFrankWolfe,
    ) -> Result<SettledBaseline, LearnError> {
        let nuclear = nuclear(own.nuclear, shape)?;
        let sizes = sizes(shape, SpectralMethod::FrankWolfe, own.rounds.unwrap_or(100), nuclear)?;
        let settled = PlainFrankWolfe { rounds: Some(sizes.rounds), nuclear: Some(nuclear) };
        Ok((Arc::new(Plain(sizes)), Method::PlainFrankWolfe(settled)))
    }
}

/// Projected descent.
pub(in crate::ratings) mod plain_pgd {
    use super::*;
    /// Registry entry of `non-private-pgd`.
    pub(in crate::ratings) const INFO: Info = Info {
        name: "non-private-pgd",
        summary: "projected gradient descent without noise, offsets of items taken off first, for comparison",
        source: "Cai, Candès and Shen 2010 (Thakkar's thesis, Algorithm 16)",
        guarantee: NO_GUARANTEE,
        settings: PlainPgd::SETTINGS,
        noisy: "nothing",
        private: false,
        covers: MethodCoverage::ALL,
        more: (),
    };

    pub(in crate::ratings) fn plan(
        _shape: &Shape,
        _settling: &Settling<'_>,
        _own: &PlainPgd,
    ) -> Result<Decision, LearnError> {
        Err(no_budget("non-private-pgd"))
    }

    pub(in crate::ratings) fn baseline(
        shape: &Shape,
        own: &PlainPgd,
    ) -> Result<SettledBaseline, LearnError> {
        let most = 20.min(shape.items.max(1) as u32);
        let rank = RANK.check(f64::from(own.rank.unwrap_or(most)))? as u32;
        let rate = RATE.check(own.rate.unwrap_or(1.0))?;
        most_whole(rank, shape)?;
        let nuclear = nuclear(own.nuclear, shape)?;
        let way = SpectralMethod::Pgd { rank: rank as usize, rate };
        let sizes = sizes(shape, way, own.rounds.unwrap_or(30), nuclear)?;
        let settled = PlainPgd {
            rounds: Some(sizes.rounds),
            rank: Some(rank),
            rate: Some(rate),
            nuclear: Some(nuclear),
        };
        Ok((Arc::new(Plain(sizes)), Method::PlainPgd(settled)))
    }
}
