//! Sums among parties under **one** draw of noise, which the servers make together and none of them knows.
//!
//! The servers evaluate the circuit of `privet_joint::JointGaussian` and get shares of one draw; each adds its share to its
//! sum of the parties' shares and opens that ([`super::shares`]).
//!
//! **Theorem.** Let a coalition have at most k − 1 of the servers, which follow the protocol while they draw (`privet-joint` says
//! why no more is claimed), and any of the parties. Towards it, one round of p
//! coordinates is, for a record of a party outside it and to a feasible observer, within [`distance`] of a
//! post-processing of the Gaussian mechanism at σ on its grid ([`super::Gaussian`]), whose noise is the discrete Gaussian of
//! parameter σ/step: the very law that one server with all tables would draw.
//!
//! *Proof.* `privet-joint`, with what is assumed of the engine. σ/step is exact, the step being a power of two, and in [2⁴⁰, 2⁴¹), where
//! the circuit's law is within [`DISTANCE`] of it a coordinate. A round is drawn in ⌈p/[`EACH`]⌉ evaluations. One
//! that did not come to its end is made again, [`ATTEMPTS`] times at most; its outcome is used for nothing, and
//! who ended it knew nothing of the next one, so the law stays. What the engine's design leaves a server that cheats,
//! [`CHEATING`], is set aside for each of them, though nothing is claimed of such servers. Rounds add up, hybrid by hybrid, however later questions depend on
//! earlier answers. ∎
//!
//! What is charged is [`Cost::JointGaussian`]: the curve of the Gaussian mechanism, its grid, and (1 + e^ε) times the distances of
//! all rounds on top of δ, at whichever ε is asked for.
//!
//! - t `honest` is 1: one server that keeps to itself is enough, and more are of no use. What is released has the variance σ².
//! - k ≤ [`MOST_SERVERS`], as far as it was tried. What is set aside counts nine batches of gates and one check of oblivious
//!   transfers with every other server, each way, at 2⁻⁴⁰ each: 9 + 2(k − 1) ≤ 16. The engine makes more checks than that
//!   (some 60 to 140), so that a claim about servers that cheat would need a larger one.
//! - Tested by `tests/all/shares.rs`.

use super::shares::{Among, NoiseMode};
use crate::account::{Cost, Event, Grid};
use crate::gate::GateError;
use privet_core::joint::{CHEATING, DISTANCE, EACH};
use zeroize::Zeroizing;

/// How often a round's noise is begun at most.
pub const ATTEMPTS: u32 = 2;
/// Servers at most.
pub const MOST_SERVERS: u32 = 4;

/// How far what the servers draw for one round may be from one exact draw a coordinate, as far as anyone can tell.
pub fn distance(coordinates: u64) -> f64 {
    let evaluations = coordinates.div_ceil(EACH) as f64 * f64::from(ATTEMPTS);
    ((coordinates as f64 * DISTANCE + evaluations * CHEATING) * (1.0 + 1e-12)).min(1.0)
}

/// What is charged for a round that is planned as this, in the mode of these servers; what is no Gaussian noise on a grid
/// stays as it is, and is refused later.
pub fn charged(leaf: Event, noise: NoiseMode) -> Event {
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

/// The same for all rounds of a plan.
pub fn all_charged(planned: Event, noise: NoiseMode) -> Event {
    match planned {
        Event::All(all) => Event::All(all.into_iter().map(|one| all_charged(one, noise)).collect()),
        Event::Repeat { count, event } => {
            Event::Repeat { count, event: Box::new(all_charged(*event, noise)) }
        }
        Event::UpTo { count, event } => {
            Event::UpTo { count, event: Box::new(all_charged(*event, noise)) }
        }
        other => charged(other, noise),
    }
}

/// What the rounds of a plan are charged on top of the laws asked for: Σ[`distance`].
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

/// What the noise of a plan's rounds takes of δ at this ε, a little more than the accountant adds for it.
pub fn taken_of_delta(planned: &Event, epsilon: f64) -> f64 {
    (1.0 + libm::exp(epsilon)) * total_distance(planned) * (1.0 + 1e-9)
}

/// What servers draw together for one round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drawing {
    /// σ/step, the parameter of the discrete Gaussian law.
    pub steps: f64,
    /// How many numbers.
    pub coordinates: usize,
}

impl Drawing {
    /// For a round that is charged as this.
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

/// A server's share of the noise of one round: for one opening, which takes it.
pub struct NoiseShare(Zeroizing<Vec<u128>>);

impl NoiseShare {
    /// As it came out of the servers' computation.
    pub fn new(share: Zeroizing<Vec<u128>>) -> Self {
        Self(share)
    }

    /// How many numbers.
    pub fn coordinates(&self) -> usize {
        self.0.len()
    }

    /// The numbers, for whoever keeps them until they are used.
    pub fn into_inner(self) -> Zeroizing<Vec<u128>> {
        self.0
    }
}

impl std::fmt::Debug for NoiseShare {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NoiseShare({} coordinates, withheld)", self.0.len())
    }
}

/// Shares of one draw in the clear, of whoever is all servers at once.
pub fn in_the_clear(
    drawing: Drawing,
    among: Among,
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
