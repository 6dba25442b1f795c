//! Offsets and factors of items from a few noisy sums, the default.
//!
//! Scaled ratings are y in [−2, 2]. The release has for item j an offset bⱼ, a popularity (the centred
//! logarithm Lⱼ of a noisy count) and a vector vⱼ of k numbers ([`GlobalState`]); each user fits, by
//! ridge regression on their own ratings alone, y ≈ bⱼ + a₀ + a₁bⱼ + a₂Lⱼ + ⟨g, fⱼ⟩ + ⟨z, vⱼ⟩; fⱼ are
//! public features of the item, if any are declared (offsets are then also shrunk towards a linear
//! function of them). There are three queries (`question`), each a sum over users in which n is the
//! number of a user's ratings and w = min(1, √(ξ/n)):
//!
//! | query | a user's vector | its norm, at most |
//! |---|---|---|
//! | offsets, once | (e, κ·w·1) over rated items; e = w(y − ȳ) clipped to norm c√ξ | √ξ·√(c² + κ²) |
//! | core, once if k > 0 | e·eᵀ below the diagonal over the K items of largest noisy counts | C²/√2 |
//! | rounds, R of them | e ⊗ (β, z): e = w·(residuals) clipped to c′√ξ, z clipped to ζ | c′√ξ·√(β² + ζ²) |
//!
//! In the core e are the user's residuals at those items, clipped to norm C. If k = 0 a round has only
//! e, of norm at most c′√ξ.
//!
//! **Theorem.** Between neighbours that differ by one user, whole, each sum moves in ℓ2 by at most
//!
//! | | add or remove one | replace one |
//! |---|---|---|
//! | offsets | √ξ·√(c² + κ²) | √ξ·√(4c² + 2κ²) |
//! | core | C²/√2 | C² |
//! | a round | B = c′√ξ·√(β² + ζ²) | 2B |
//!
//! and all R + 2 (or R + 1) releases with Gaussian noise σᵢ have the curve of one Gaussian mechanism of
//! multiplier √ΣΔᵢ²/σᵢ².
//!
//! *Proof.* A sum loses or gains the vector of one user, or exchanges one for another. Offsets: the
//! first half has norm at most c√ξ, so two differ by at most 2c√ξ; the second has entries κw ≥ 0 at n
//! items, of norm κw√n ≤ κ√ξ, and two such have a scalar product ≥ 0, so they differ by at most √2·κ√ξ.
//! Core: for a symmetric matrix M half of ‖M‖²_F without the diagonal is below it. ‖eeᵀ‖²_F = ‖e‖⁴ ≤ C⁴;
//! ‖eeᵀ − ffᵀ‖²_F = ‖e‖⁴ + ‖f‖⁴ − 2⟨e, f⟩² ≤ 2C⁴. Rounds: ‖e ⊗ (β, z)‖ = ‖e‖·‖(β, z)‖. The items of the
//! core, and all else that a query holds, are functions of earlier *noisy* answers: given those, each
//! answer is a Gaussian mechanism with the bound above, and adaptive composition keeps products of
//! dominating pairs (as in [`crate::linear::gd`]). Clipping, weights and the user's fit depend on their
//! own ratings and on public facts. ∎
//!
//! *In finite arithmetic.* A user's vector is scaled to 1 − 10⁻⁹ of its bound, then truncated toward
//! zero to integer multiples of a unit (for the core: e is, and products of integers are exact), so its
//! norm stays below the bound; sums are integers; rounding to the noise's grid and its discreteness are
//! charged.
//!
//! **Joint privacy.** The file is computed from noisy answers alone, so it is (ε, δ)-private. A user's
//! predictions are computed from it and their own ratings: see [`super`].
//!
//! **Rules**, all on public facts. ξ = 40, K = 200, R = 3. The rank is decided by the multiplier μ of
//! the budget times the declared number of users, over the sides of the relation: k = 0 below 1,750, 3
//! below 7,500, 6 above. The first query gets 4/10 of μ² if k = 0, and 1/4 otherwise (the core then
//! 1/5); the rounds share the rest. Answers are shrunk by their known noise. These numbers were fixed on
//! two splits of MovieLens 1M and five of 100K, with their test ratings, among some 130 settings;
//! reported results are of other splits of the same ratings.
//!
//! Tested by `no_user_moves_a_sum_further_than_is_charged`, `the_bounds_are_tight` and
//! `tests/all/completion.rs`.

pub(super) mod baseline;
mod learning;
mod query;

pub use baseline::NonPrivate;
pub(super) use baseline::start_state;
pub use learning::GlobalState;
pub(super) use learning::{FirstLook, LARGEST_ENTRY, features_fit};

use super::execution::MethodPlan;
use super::factors::Factors;
use super::learners::{Decision, RATINGS, Settling, USERS};
use super::shape::Shape;
use crate::LearnError;
use crate::release::registry::Info;
use crate::release::settings::{PlanNumbers, settings};
use learning::Learning;
use privet_core::{Neighbours, Range, Relation};
use privet_dp::account::Event;
use privet_dp::gate::GateError;
use privet_dp::mechanism::Gaussian;
use query::Query;
pub(super) use query::{offsets, weight};
use serde::{Deserialize, Serialize};

settings! {
    /// Settings of `moments`; any left out are chosen by rule.
    pub struct Moments {
        rank: u32 [RANK]
            "numbers that are learnt of each item beside its offset; by rule unless given";
        rounds: u32 [ROUNDS] "noised passes after the first; 3 unless given";
        core: u32 [CORE]
            "items whose covariance the first directions are found from; 200 unless given";
        spread: f64 [SPREAD]
            "ratings of a user that count in full; of one with more each counts less; 40 unless given";
    }
}

/// Limits on the rank k.
pub const RANK: Range = Range::from("rank", 0.0, 33.0);
/// Limits on the number of rounds R.
pub const ROUNDS: Range = Range::from("rounds", 1.0, 101.0);
/// Limits on the number of items of the core, K.
pub const CORE: Range = Range::from("core", 2.0, 2001.0);
/// Limits on ξ, the number of ratings of a user that have full weight.
pub const SPREAD: Range = Range::from("spread", 1.0, 1e6);

/// Default ξ.
pub(super) const SPREAD_BY_RULE: f64 = 40.0;

/// Registry entry of `moments`.
pub(super) const INFO: Info = Info {
    name: "moments",
    summary: "offsets and factors of items from a few noised sums, shrunk by their noise",
    source: "this project",
    guarantee: USERS,
    settings: Moments::SETTINGS,
    noisy: "sums over users of residuals, and products of them",
    private: true,
    covers: RATINGS,
    more: (),
};

/// Clip c of ratings around their user's mean.
pub(super) const CLIP_ROW: f64 = 0.9;
/// Weight κ of counts beside them.
pub(super) const COUNT_WEIGHT: f64 = 0.7;
/// Clip C of residuals in the core.
pub(super) const CLIP_CORE: f64 = 2.5;
/// Clip c′ of residuals in a round.
pub(super) const CLIP_RESIDUAL: f64 = 0.65;
/// Clip ζ of a user's vector z.
pub(super) const CLIP_TASTE: f64 = 1.2;
/// Weight β of offsets in a round.
pub(super) const OFFSET_WEIGHT: f64 = 1.5;

/// Settled sizes of a plan: the start of its walk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sizes {
    items: usize,
    users: u64,
    relation: Relation,
    rank: usize,
    rounds: u32,
    core: usize,
    spread: f64,
    /// Noise scale σ of the first answer.
    first: f64,
    most: u32,
    /// Factor by which the released noise is wider than the charged noise.
    widening: f64,
    /// Public features fⱼ of each item; empty if none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    features: Vec<Vec<f64>>,
}

/// Fractions of μ² for offsets, core and rounds.
fn shares(rank: usize) -> [f64; 3] {
    if rank == 0 { [0.4, 0.0, 0.6] } else { [0.25, 0.2, 0.55] }
}

impl Sizes {
    /// Sensitivity of the offsets.
    fn offsets_shift(&self) -> f64 {
        offsets_shift(self.relation, self.spread)
    }

    fn core_shift(&self) -> f64 {
        up(CLIP_CORE * CLIP_CORE * (0.5 * self.relation.sides()).sqrt())
    }

    fn round_shift(&self) -> f64 {
        let each = match self.rank {
            0 => 1.0,
            _ => (OFFSET_WEIGHT * OFFSET_WEIGHT + CLIP_TASTE * CLIP_TASTE).sqrt(),
        };
        up(self.relation.sides() * CLIP_RESIDUAL * self.spread.sqrt() * each)
    }

    /// Numbers of coordinates of the answers: offsets, core and a round.
    fn coordinates(&self) -> [usize; 3] {
        [2 * self.items, self.core * (self.core - 1) / 2, self.items * (1 + self.rank)]
    }

    /// Noise scales of offsets, core and each round: each proportional to its sensitivity over the root
    /// of its fraction.
    fn noise(&self) -> [f64; 3] {
        let shares = shares(self.rank);
        let each = self.first * shares[0].sqrt() / self.offsets_shift();
        [
            self.first,
            each * self.core_shift() / shares[1].max(f64::MIN_POSITIVE).sqrt(),
            each * self.round_shift() * (f64::from(self.rounds) / shares[2]).sqrt(),
        ]
    }

    /// Noise scales of the released answers: wider among parties than charged.
    fn released(&self) -> [f64; 3] {
        self.noise().map(|noise| noise * self.widening)
    }

    fn gaussian(&self, place: usize) -> Gaussian {
        let shifts = [self.offsets_shift(), self.core_shift(), self.round_shift()];
        Gaussian {
            neighbours: self.relation.neighbours,
            unit: self.relation.unit,
            sensitivity: shifts[place],
            noise_scale: self.noise()[place],
            coordinates: self.coordinates()[place],
        }
    }
}

/// Sensitivity of the offsets query.
pub(super) fn offsets_shift(relation: Relation, spread: f64) -> f64 {
    let (row, counts) = (CLIP_ROW * CLIP_ROW, COUNT_WEIGHT * COUNT_WEIGHT);
    let square = match relation.neighbours {
        Neighbours::AddRemove => row + counts,
        Neighbours::ReplaceOne | Neighbours::ReplaceLabel => 4.0 * row + 2.0 * counts,
    };
    up((spread * square).sqrt())
}

/// Rounded up: covers the rounding of the few operations before.
fn up(value: f64) -> f64 {
    value * (1.0 + 8.0 * f64::EPSILON)
}

/// Default rank: [`self`].
fn rank_of(strength: f64) -> u32 {
    if strength < 1750.0 {
        0
    } else if strength < 7500.0 {
        3
    } else {
        6
    }
}

/// Plans from public facts alone.
pub(super) fn plan(
    shape: &Shape,
    settling: &Settling<'_>,
    own: &Moments,
) -> Result<Decision, LearnError> {
    let mu = settling.multiplier();
    let sides = shape.relation.sides();
    let rank = own.rank.unwrap_or_else(|| match shape.items {
        0..8 => 0,
        _ => rank_of(mu * shape.users as f64 / (sides * shape.widening)),
    });
    let rank = RANK.check(f64::from(rank))? as u32;
    let rounds = ROUNDS.check(f64::from(own.rounds.unwrap_or(3)))? as u32;
    let core =
        CORE.check(f64::from(own.core.unwrap_or(200.min(shape.items.max(2) as u32))))? as u32;
    let spread = SPREAD.check(own.spread.unwrap_or(SPREAD_BY_RULE))?;
    if rank > 0 && (core as usize > shape.items || rank > core) {
        return Err(LearnError::NotCovered {
            what: "the core has more items than are listed, or fewer than the rank".into(),
            instead: "give a core between the rank and the number of items, or rank 0",
        });
    }
    let sizes = |first| Sizes {
        items: shape.items,
        users: shape.users,
        relation: shape.relation,
        rank: rank as usize,
        rounds,
        core: core as usize,
        spread,
        first,
        most: shape.most,
        widening: shape.widening,
        features: shape.features.to_vec(),
    };
    let floor = sizes(1.0).offsets_shift() / (mu * shares(rank as usize)[0].sqrt());
    let first = settling.least_noise(floor, |first| sizes(first).events())?;
    let settled =
        Moments { rank: Some(rank), rounds: Some(rounds), core: Some(core), spread: Some(spread) };
    Ok(Decision::new(sizes(first), settling, super::learners::Method::Moments(settled)))
}

impl MethodPlan for Sizes {
    type Query = Query;
    type Walk = Learning;

    fn events(&self) -> Result<Event, GateError> {
        let rounds = Box::new(self.gaussian(2).event()?);
        let rounds = Event::Repeat { count: self.rounds, event: rounds };
        let mut all = vec![self.gaussian(0).event()?];
        if self.rank > 0 {
            all.push(self.gaussian(1).event()?);
        }
        all.push(rounds);
        Ok(Event::All(all))
    }

    fn mechanism(&self, query: &Query) -> Gaussian {
        self.gaussian(query.number())
    }

    fn numbers(&self) -> PlanNumbers {
        let [offsets, core, round] = self.noise();
        PlanNumbers::of([
            ("rank", self.rank as f64),
            ("rounds", f64::from(self.rounds)),
            ("spread", self.spread),
            ("offset_noise", offsets),
            ("round_noise", round),
        ])
        .and("core_noise", (self.rank > 0).then_some(core))
    }

    fn among_parties(&self) -> bool {
        true
    }

    fn refuses(&self, found: &Factors) -> Option<&'static str> {
        let Factors::Moments(state) = found else { return Some("it is of another method") };
        state.refuses(self.rank, self.users, &self.features)
    }
}

/// The offsets query, for methods that begin with it.
pub(super) fn offsets_question(items: usize, spread: f64) -> impl super::local::Query {
    Query::Offsets { items, spread }
}

#[cfg(test)]
mod tests;
