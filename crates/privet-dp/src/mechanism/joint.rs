//! Sums among parties under **one** draw of noise, which the servers make jointly and none of them
//! knows.
//!
//! The servers evaluate the circuit of `privet_joint::JointGaussian` and get shares of one draw; each
//! adds its share to its sum of the parties' shares and opens the result ([`super::shares`]).
//!
//! **Theorem.** Let a coalition have at most k − 1 of the servers, which follow the protocol while they
//! draw (`privet-joint` says why no more is claimed), and any of the parties. Towards it, one round of p
//! coordinates is, for a record of a party outside it and to a feasible observer, within [`distance`] of
//! a post-processing of the Gaussian mechanism at σ on its grid ([`super::Gaussian`]), whose noise is
//! the discrete Gaussian of parameter σ/step: the very law that one server with all tables would draw.
//!
//! *Proof.* `privet-joint`, with the assumptions on the engine. σ/step is exact, the step being a power
//! of two, and in [2⁴⁰, 2⁴¹), where the circuit's law is within [`NOISE_LAW_DISTANCE`] of it a
//! coordinate. A round is drawn in ⌈p/[`COORDINATES_PER_EVALUATION`]⌉ evaluations. An incomplete
//! evaluation is repeated, [`ATTEMPTS`] evaluations at most; its outcome is used for nothing, and the
//! server that ended it knew nothing of the next one, so the law stays. The engine's failure probability
//! against a cheating server, [`UNDETECTED_CHEATING`], is charged for each of them, though nothing is
//! claimed of such servers. Rounds add up, hybrid by hybrid, however later queries depend on earlier
//! answers. ∎
//!
//! The charged event is [`Cost::JointGaussian`]: the curve of the Gaussian mechanism, its grid, and
//! (1 + e^ε) times the distances of all rounds in addition to δ, at every requested ε.
//!
//! - t `honest` is 1: one honest server suffices, and more are of no use. The released noise has the
//!   variance σ².
//! - k ≤ [`MOST_SERVERS`], the largest number tested. The charge counts nine batches of gates and one
//!   check of oblivious transfers with every other server, each way, at 2⁻⁴⁰ each: 9 + 2(k − 1) ≤ 16.
//!   The engine makes more checks than that (some 60 to 140), so that a claim about servers that cheat
//!   would need a larger charge.
//! - Tested by `tests/all/shares.rs`.

use super::shares::{NoiseMode, Participants};
use crate::account::{Cost, Event, Grid};
use crate::gate::GateError;
use privet_core::joint::{COORDINATES_PER_EVALUATION, NOISE_LAW_DISTANCE, UNDETECTED_CHEATING};
use zeroize::Zeroizing;

/// Largest number of attempts at a round's noise.
pub const ATTEMPTS: u32 = 2;
/// Largest number of servers.
pub const MOST_SERVERS: u32 = 4;

/// Bound on the distance, to a feasible observer, between the servers' noise of one round and one exact
/// draw a coordinate.
pub fn distance(coordinates: u64) -> f64 {
    let evaluations = coordinates.div_ceil(COORDINATES_PER_EVALUATION) as f64 * f64::from(ATTEMPTS);
    ((coordinates as f64 * NOISE_LAW_DISTANCE + evaluations * UNDETECTED_CHEATING) * (1.0 + 1e-12))
        .min(1.0)
}

/// The charged event of a round planned as `leaf`, in the mode of these servers; an event that is not
/// Gaussian noise on a grid is unchanged, and is refused later.
pub fn charged_event(leaf: Event, noise: NoiseMode) -> Event {
    match (leaf, noise) {
        (
            Event::Use {
                neighbours,
                unit,
                cost: Cost::Gaussian { sensitivity, noise_scale, grid: Some(grid) },
            },
            NoiseMode::Joint,
        ) => {
            let distance = distance(grid.coordinates);
            let cost = Cost::JointGaussian { sensitivity, noise_scale, grid, distance };
            Event::Use { neighbours, unit, cost }
        }
        (leaf, _) => leaf,
    }
}

/// The charged events of all rounds of a plan.
pub fn all_charged(planned: Event, noise: NoiseMode) -> Event {
    match planned {
        Event::All(all) => Event::All(all.into_iter().map(|one| all_charged(one, noise)).collect()),
        Event::Repeat { count, event } => {
            Event::Repeat { count, event: Box::new(all_charged(*event, noise)) }
        }
        Event::UpTo { count, event } => {
            Event::UpTo { count, event: Box::new(all_charged(*event, noise)) }
        }
        other => charged_event(other, noise),
    }
}

/// The distances that the rounds of a plan are charged in addition to their target laws: Σ[`distance`].
pub fn total_distance(planned: &Event) -> f64 {
    match planned {
        Event::Use { cost: Cost::JointGaussian { distance, .. }, .. } => *distance,
        Event::All(all) => all.iter().map(total_distance).sum::<f64>() * (1.0 + 1e-12),
        Event::Repeat { count, event } | Event::UpTo { count, event } => {
            f64::from(*count) * total_distance(event) * (1.0 + 1e-12)
        }
        Event::Use { .. } | Event::Selected { .. } | Event::BestOf { .. } => 0.0,
    }
}

/// The part of δ that the distances of a plan's rounds take at this ε, slightly more than the accountant
/// adds for it.
pub fn taken_of_delta(planned: &Event, epsilon: f64) -> f64 {
    (1.0 + libm::exp(epsilon)) * total_distance(planned) * (1.0 + 1e-9)
}

/// The joint draw of the servers for one round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drawing {
    /// Parameter σ/step of the discrete Gaussian law.
    pub steps: f64,
    /// The number of drawn integers.
    pub coordinates: usize,
}

impl Drawing {
    /// For a round charged as `leaf`.
    pub fn of(leaf: &Event) -> Result<Self, GateError> {
        match leaf {
            Event::Use {
                cost: Cost::JointGaussian { noise_scale, grid, distance: stated, .. },
                ..
            } if *stated >= distance(grid.coordinates) => {
                let Grid { step, coordinates } = *grid;
                Ok(Self { steps: noise_scale / step, coordinates: coordinates as usize })
            }
            _ => Err(GateError::Alone),
        }
    }
}

/// A server's share of the noise of one round: for one opening, which consumes it.
pub struct NoiseShare(Zeroizing<Vec<u128>>);

impl NoiseShare {
    /// The result of the servers' computation.
    pub fn new(share: Zeroizing<Vec<u128>>) -> Self {
        Self(share)
    }

    /// The number of coordinates.
    pub fn coordinates(&self) -> usize {
        self.0.len()
    }

    /// The numbers, for a caller that keeps them until they are used.
    pub fn into_inner(self) -> Zeroizing<Vec<u128>> {
        self.0
    }
}

impl std::fmt::Debug for NoiseShare {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NoiseShare({} coordinates, withheld)", self.0.len())
    }
}

/// Shares of one draw in the clear, for a process that runs all servers.
pub fn in_the_clear(
    drawing: Drawing,
    among: Participants,
    source: &mut dyn crate::noise::Source,
) -> Result<Vec<NoiseShare>, GateError> {
    let law = crate::noise::DiscreteGaussian::new(drawing.steps)?;
    let mut noise = Zeroizing::new(vec![0_i64; drawing.coordinates]);
    law.fill(&mut noise, source);
    let noise: Zeroizing<Vec<i128>> =
        Zeroizing::new(noise.iter().map(|x| i128::from(*x)).collect());
    let shares = super::shares::split(&noise, among.servers, source);
    Ok(shares.into_iter().map(NoiseShare).collect())
}
