//! Frank–Wolfe and projected descent with nothing noised, on ratings less the items' offsets and the users' means.

use super::plan::{NUCLEAR, RANK, RATE, ROUNDS, most_whole};
use super::sizes::{Sizes, Way};
use super::walk::Following;
use crate::LearnError;
use crate::completion::factors::Factors;
use crate::completion::method::{Decision, Method, Settling};
use crate::completion::plain::{Decided, NOISE, first_look, no_budget, walked};
use crate::completion::{Complete, Shape};
use crate::settings::{SettingInfo, Shown};
use crate::task::Baseline;
use privet_dp::gate::Walk;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// No row is longer.
const CLIP: f64 = 1e4;

/// Settings of `non-private-frank-wolfe`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlainFrankWolfe {
    /// T.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// k.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nuclear: Option<f64>,
}

/// Settings of `non-private-pgd`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlainPgd {
    /// T.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// The most directions kept of each projection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// η.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// k.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nuclear: Option<f64>,
}

/// k: √(users × items) times this unless given.
const NUCLEAR_SHARE: f64 = 0.5;

const NUCLEAR_INFO: SettingInfo = SettingInfo::number(
    NUCLEAR,
    "bound on the nuclear norm, in quarters of the bounds' distance; √(users × items)/2 unless given",
);

fn nuclear(given: Option<f64>, shape: &Shape) -> Result<f64, LearnError> {
    let by_rule = NUCLEAR_SHARE * (shape.users as f64 * shape.items as f64).sqrt();
    Ok(NUCLEAR.check(given.unwrap_or(by_rule))?)
}

fn sizes(shape: &Shape, way: Way, rounds: u32, nuclear: f64) -> Result<Sizes, LearnError> {
    Ok(Sizes {
        way,
        items: shape.items,
        relation: shape.relation,
        clip: CLIP,
        nuclear,
        rounds: ROUNDS.check(f64::from(rounds))? as u32,
        noise: NOISE,
        offsets: Vec::new(),
    })
}

/// The walk, answered exactly.
#[derive(Debug)]
struct Plain(Sizes);

impl Baseline<Complete> for Plain {
    fn settings(&self) -> Shown {
        Shown::of([("rounds", f64::from(self.0.rounds)), ("nuclear", self.0.nuclear)])
    }

    fn run(
        &self,
        shape: &Shape,
        table: &dyn Table,
        monitor: &dyn Monitor,
    ) -> Result<Factors, LearnError> {
        let offsets = first_look(shape, table)?.state.offsets;
        walked(Following::begin(Sizes { offsets, ..self.0.clone() }), table, monitor)
    }
}

/// Frank–Wolfe.
pub(in crate::completion) mod plain_frank_wolfe {
    use super::*;
    pub(in crate::completion) const SETTINGS: &[SettingInfo] =
        &[SettingInfo::whole(ROUNDS, "directions, one a round; 100 unless given"), NUCLEAR_INFO];

    pub(in crate::completion) fn plan(
        _shape: &Shape,
        _settling: &Settling<'_>,
        _own: &PlainFrankWolfe,
    ) -> Result<Decision, LearnError> {
        Err(no_budget("non-private-frank-wolfe"))
    }

    pub(in crate::completion) fn baseline(
        shape: &Shape,
        own: &PlainFrankWolfe,
    ) -> Result<Decided, LearnError> {
        let nuclear = nuclear(own.nuclear, shape)?;
        let sizes = sizes(shape, Way::FrankWolfe, own.rounds.unwrap_or(100), nuclear)?;
        let settled = PlainFrankWolfe { rounds: Some(sizes.rounds), nuclear: Some(nuclear) };
        Ok((Arc::new(Plain(sizes)), Method::PlainFrankWolfe(settled)))
    }
}

/// Projected descent.
pub(in crate::completion) mod plain_pgd {
    use super::*;
    pub(in crate::completion) const SETTINGS: &[SettingInfo] = &[
        SettingInfo::whole(ROUNDS, "steps; 30 unless given"),
        SettingInfo::whole(RANK, "the most directions kept of each projection; 20 unless given"),
        SettingInfo::number(RATE, "the step towards a user's ratings; 1 unless given"),
        NUCLEAR_INFO,
    ];

    pub(in crate::completion) fn plan(
        _shape: &Shape,
        _settling: &Settling<'_>,
        _own: &PlainPgd,
    ) -> Result<Decision, LearnError> {
        Err(no_budget("non-private-pgd"))
    }

    pub(in crate::completion) fn baseline(
        shape: &Shape,
        own: &PlainPgd,
    ) -> Result<Decided, LearnError> {
        let most = 20.min(shape.items.max(1) as u32);
        let rank = RANK.check(f64::from(own.rank.unwrap_or(most)))? as u32;
        let rate = RATE.check(own.rate.unwrap_or(1.0))?;
        most_whole(rank, shape)?;
        let nuclear = nuclear(own.nuclear, shape)?;
        let way = Way::Pgd { rank: rank as usize, rate };
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
