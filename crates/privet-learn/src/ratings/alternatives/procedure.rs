//! Settings of both methods, settled sizes of a plan, and costs of its queries.

use super::query::{CLAMP, CLIP_ROW, CLIP_TASTE, GRAM_WEIGHT, Query, triangle};
use super::rival::AlternativeWalk;
use crate::LearnError;
use crate::ratings::Shape;
use crate::ratings::execution::MethodPlan;
use crate::ratings::factors::Factors;
use crate::ratings::learners::{Decision, Method, RATINGS, Settling, USERS};
use crate::ratings::moments::{self, ROUNDS, SPREAD, offsets_shift};
use crate::release::registry::Info;
use crate::release::settings::{PlanNumbers, settings};
use privet_core::{Range, Relation};
use privet_dp::account::Event;
use privet_dp::gate::GateError;
use privet_dp::mechanism::Gaussian;
use serde::{Deserialize, Serialize};

/// Limits on the rank, the number of entries of an item's vector.
const RANK: Range = Range::from("rank", 1.0, 33.0);
/// Limits on β.
const BETA: Range = Range::open("beta", 0.0, 1e6);
/// Upper limit on the number of items of `cleansed-svd`, which queries two triangles of their square.
const MOST_ITEMS: usize = 2048;
/// Fraction of μ² for the first query.
const FIRST_QUERY_SHARE: f64 = 0.25;

settings! {
    /// Settings of `als`.
    pub struct Als {
        rank: u32 [RANK] "numbers of each item beside its offset; 3 unless given";
        rounds: u32 [ROUNDS] "turns of users and items; 4 unless given";
        spread: f64 [SPREAD] "ratings of a user that count in full; 40 unless given";
    }
}

settings! {
    /// Settings of `cleansed-svd`.
    pub struct CleansedSvd {
        rank: u32 [RANK] "directions over the items; 3 unless given";
        beta: f64 [BETA]
            "how far entries are shrunk towards their mean, in mean weights; 10 unless given";
    }
}

/// Settled sizes of a plan: the start of its walk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sizes {
    pub(super) way: AlternativeMethod,
    pub(super) items: usize,
    pub(super) users: u64,
    pub(super) relation: Relation,
    pub(super) rank: usize,
    pub(super) spread: f64,
    /// Noise scale σ of the first answer.
    pub(super) first: f64,
}

/// Method with its own settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AlternativeMethod {
    Als { rounds: u32 },
    CleansedSvd { beta: f64 },
}

impl Sizes {
    /// Sensitivities of the first sum and of the others.
    pub(super) fn shifts(&self) -> [f64; 2] {
        let each = match self.way {
            AlternativeMethod::Als { .. } => {
                let gram = 1.125 * (GRAM_WEIGHT * CLIP_TASTE).powi(2);
                self.spread.sqrt() * CLIP_TASTE * (CLIP_ROW * CLIP_ROW + gram).sqrt()
            }
            AlternativeMethod::CleansedSvd { .. } => (1.125 * (CLAMP.powi(4) + 1.0)).sqrt(),
        };
        let second = self.relation.sides() * each * (1.0 + 8.0 * f64::EPSILON);
        [offsets_shift(self.relation, self.spread), second]
    }

    fn rounds(&self) -> u32 {
        match self.way {
            AlternativeMethod::Als { rounds } => rounds,
            AlternativeMethod::CleansedSvd { .. } => 1,
        }
    }

    /// Noise scales of the first answer and of each other.
    pub(super) fn noise(&self) -> [f64; 2] {
        let [first, second] = self.shifts();
        let each = self.first * FIRST_QUERY_SHARE.sqrt() / first;
        [self.first, each * second * (f64::from(self.rounds()) / (1.0 - FIRST_QUERY_SHARE)).sqrt()]
    }

    fn gaussian(&self, place: usize) -> Gaussian {
        let second = match self.way {
            AlternativeMethod::Als { .. } => self.items * (self.rank + triangle(self.rank)),
            AlternativeMethod::CleansedSvd { .. } => 2 * triangle(self.items),
        };
        Gaussian {
            neighbours: self.relation.neighbours,
            unit: self.relation.unit,
            sensitivity: self.shifts()[place],
            noise_scale: self.noise()[place],
            coordinates: [2 * self.items, second][place],
        }
    }
}

/// Calibrates the noise of open sizes.
fn calibrate_sizes(
    open: Sizes,
    settling: &Settling<'_>,
    settled: Method,
) -> Result<Decision, LearnError> {
    if open.rank > open.items {
        return Err(LearnError::NotCovered {
            what: "the rank is above the number of items".into(),
            instead: "give a rank up to the number of items",
        });
    }
    let mu = settling.multiplier();
    let at = |first| Sizes { first, ..open.clone() };
    let floor = open.shifts()[0] / (mu * FIRST_QUERY_SHARE.sqrt());
    let first = settling.least_noise(floor, |first| at(first).events())?;
    Ok(Decision::new(at(first), settling, settled))
}

/// Alternating least squares.
pub(in crate::ratings) mod als {
    use super::*;
    /// Registry entry of `als`.
    pub(in crate::ratings) const INFO: Info = Info {
        name: "als",
        summary: "alternating least squares from noised Gram matrices and right sides of all items",
        source: "the form of Chien, Jain, Krichene, Rendle, Song, Thakurta and Zhang 2021, all of a user charged",
        guarantee: USERS,
        settings: Als::SETTINGS,
        noisy: "Gram matrices and right sides of the items",
        private: true,
        covers: RATINGS,
        more: (),
    };

    pub(in crate::ratings) fn plan(
        shape: &Shape,
        settling: &Settling<'_>,
        own: &Als,
    ) -> Result<Decision, LearnError> {
        let most = shape.items.clamp(1, 3) as u32;
        let rank = RANK.check(f64::from(own.rank.unwrap_or(most)))? as u32;
        let rounds = ROUNDS.check(f64::from(own.rounds.unwrap_or(4)))? as u32;
        let spread = SPREAD.check(own.spread.unwrap_or(40.0))?;
        let settled = Als { rank: Some(rank), rounds: Some(rounds), spread: Some(spread) };
        let open = Sizes {
            way: AlternativeMethod::Als { rounds },
            items: shape.items,
            users: shape.users,
            relation: shape.relation,
            rank: rank as usize,
            spread,
            first: 1.0,
        };
        calibrate_sizes(open, settling, Method::Als(settled))
    }
}

/// A subspace after cleansing.
pub(in crate::ratings) mod cleansed_svd {
    use super::*;
    /// Registry entry of `cleansed-svd`.
    pub(in crate::ratings) const INFO: Info = Info {
        name: "cleansed-svd",
        summary: "the leading directions of a noised and smoothed covariance of cleansed ratings",
        source: "after McSherry and Mironov 2009; all of a user charged, some choices ours",
        guarantee: USERS,
        settings: CleansedSvd::SETTINGS,
        noisy: "the covariance and the weights of cleansed ratings",
        private: true,
        covers: RATINGS,
        more: (),
    };

    pub(in crate::ratings) fn plan(
        shape: &Shape,
        settling: &Settling<'_>,
        own: &CleansedSvd,
    ) -> Result<Decision, LearnError> {
        if shape.items > MOST_ITEMS {
            return Err(LearnError::NotCovered {
                what: format!("two covariances of {} items", shape.items),
                instead: "list at most 2048 items, or take moments",
            });
        }
        let most = shape.items.clamp(1, 3) as u32;
        let rank = RANK.check(f64::from(own.rank.unwrap_or(most)))? as u32;
        let beta = BETA.check(own.beta.unwrap_or(10.0))?;
        let open = Sizes {
            way: AlternativeMethod::CleansedSvd { beta },
            items: shape.items,
            users: shape.users,
            relation: shape.relation,
            rank: rank as usize,
            spread: moments::SPREAD_BY_RULE,
            first: 1.0,
        };
        let settled = CleansedSvd { rank: Some(rank), beta: Some(beta) };
        calibrate_sizes(open, settling, Method::CleansedSvd(settled))
    }
}

impl MethodPlan for Sizes {
    type Query = Query;
    type Walk = AlternativeWalk;

    fn events(&self) -> Result<Event, GateError> {
        let others = Box::new(self.gaussian(1).event()?);
        let others = Event::Repeat { count: self.rounds(), event: others };
        Ok(Event::All(vec![self.gaussian(0).event()?, others]))
    }

    fn mechanism(&self, query: &Query) -> Gaussian {
        self.gaussian(usize::from(!matches!(query, Query::Offsets { .. })))
    }

    fn numbers(&self) -> PlanNumbers {
        let [offsets, others] = self.noise();
        let shown = PlanNumbers::of([("rank", self.rank as f64), ("offset_noise", offsets)]);
        match self.way {
            AlternativeMethod::Als { rounds } => shown
                .and("rounds", Some(f64::from(rounds)))
                .and("spread", Some(self.spread))
                .and("turn_noise", Some(others)),
            AlternativeMethod::CleansedSvd { beta } => {
                shown.and("beta", Some(beta)).and("covariance_noise", Some(others))
            }
        }
    }

    fn refuses(&self, found: &Factors) -> Option<&'static str> {
        let Factors::Moments(state) = found else { return Some("it is of another method") };
        state.refuses(self.rank, self.users, &[])
    }
}
