//! The same questions with nothing noised, for comparison on public ratings.

use super::walk::Learning;
use super::{RANK, ROUNDS, Sizes};
use crate::LearnError;
use crate::completion::factors::Factors;
use crate::completion::local::counted;
use crate::completion::method::{Decision, Settling};
use crate::completion::{Complete, Shape, going_on};
use crate::settings::{SettingInfo, Shown};
use crate::task::Baseline;
use privet_dp::gate::{GateError, Next, Walk};
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};

/// Settings of `non-private`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NonPrivate {
    /// k.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// R.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
}

/// All of them.
pub(in crate::completion) const SETTINGS: &[SettingInfo] = &[
    SettingInfo::whole(
        RANK,
        "numbers that are learnt of each item beside its offset; 6 unless given",
    ),
    SettingInfo::whole(ROUNDS, "passes after the first; 10 unless given"),
];

/// What answers are shrunk by: next to nothing.
const NOISE: f64 = 1e-6;
/// No user's ratings count less than anybody's.
const SPREAD: f64 = 1e6;

/// It spends nothing: a budget is refused.
pub(in crate::completion) fn plan(
    _shape: &Shape,
    _settling: &Settling<'_>,
    _own: &NonPrivate,
) -> Result<Decision, LearnError> {
    Err(LearnError::NotASetting { setting: "epsilon".into(), method: "non-private" })
}

/// What is done, and its settings with every choice made.
pub(in crate::completion) fn baseline(
    shape: &Shape,
    own: &NonPrivate,
) -> Result<(impl Baseline<Complete> + 'static, NonPrivate), LearnError> {
    let core = shape.items.clamp(2, 200);
    let by_rule = if shape.items < 8 { 0 } else { 6 };
    let rank = RANK.check(f64::from(own.rank.unwrap_or(by_rule)))? as u32;
    let rounds = ROUNDS.check(f64::from(own.rounds.unwrap_or(10)))? as u32;
    if rank > 0 && rank as usize > shape.items {
        return Err(LearnError::NotCovered {
            what: "the rank is above the number of items".into(),
            instead: "give a rank up to the number of items",
        });
    }
    let sizes = Sizes {
        items: shape.items,
        users: shape.users,
        relation: shape.relation,
        rank: rank as usize,
        rounds,
        core,
        spread: SPREAD,
        first: NOISE,
        most: shape.most,
    };
    Ok((Plain(sizes), NonPrivate { rank: Some(rank), rounds: Some(rounds) }))
}

/// The walk of [`super`], answered exactly.
#[derive(Debug, Clone)]
struct Plain(Sizes);

impl Baseline<Complete> for Plain {
    fn settings(&self) -> Shown {
        Shown::of([("rank", self.0.rank as f64), ("rounds", f64::from(self.0.rounds))])
    }

    fn run(
        &self,
        _shape: &Shape,
        table: &dyn Table,
        monitor: &dyn Monitor,
    ) -> Result<Factors, LearnError> {
        let mut walk = Learning::begin(self.0.clone());
        let (mut answer, mut asked) = (None, 0);
        loop {
            match walk.next(answer.take()) {
                Next::Ask(question) => {
                    asked += 1;
                    going_on(monitor, asked)?;
                    let sums = counted(&question, table)?;
                    let number = |count: &i128| *count as f64 * sums.unit;
                    answer = Some(sums.counts.iter().map(number).collect());
                }
                Next::Release(factors) => return Ok(factors),
                Next::End => return Err(GateError::NotAsPlanned.into()),
            }
        }
    }
}
