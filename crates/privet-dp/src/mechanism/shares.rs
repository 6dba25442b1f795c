//! Secure sums among parties: additive shares, and noise that no server knows entirely.
//!
//! Party j splits its vector vⱼ ∈ ℤᵖ into uniform shares that add up to it in ℤ mod 2¹²⁸, one for each
//! of k servers. Server s adds up the shares it received and a discrete Gaussian draw Nₛ of its own, and
//! opens the result. All k openings together are Σvⱼ + ΣNₛ; fewer reveal nothing.
//!
//! **Theorem.** Let a coalition have at most k − t of the servers and any of the parties, whatever they
//! send. Let Nₛ have the parameter σ/√t on the grid of σ ([`crate::noise::GridGaussian`]). Towards the
//! coalition one round is, for a record of a party outside it, a post-processing of the Gaussian
//! mechanism at σ on the sum of the honest parties, its grid charged as for a single party
//! ([`super::Gaussian`]).
//!
//! *Proof.* H, the servers outside, are at least t ≥ 1. An honest party's shares for the coalition's
//! servers are uniform and independent of vⱼ, since a share for H is left to make up the sum. Given
//! them, its shares for H are uniform with a fixed sum; so the openings of H are uniform with the sum
//! W = Σ_{honest} vⱼ + Σ_H N + (what the coalition sent or holds itself): they can be made from W and
//! uniform numbers. W is a function of Σ_{honest} vⱼ + Σ_H N and of what the coalition knows. Of the
//! draws in Σ_H N take t; the others are post-processing. An honest server opens a round once, of one
//! sharing a party, so there is no second W (an honest party that shared twice would do no harm: the
//! masks of the two are independent). What the coalition sends may depend on all it saw: the next query
//! then does too, which every honest party derives from the plan, and whose sensitivity holds at any
//! point. ∎
//!
//! *Commitments.* Before it opens, a server publishes a digest of its opening and of random numbers of
//! its own, and later those numbers (`privet-parties`). Both are functions of the opening and of
//! randomness that depends on nothing, so the theorem holds for them too, whether the round is opened
//! afterwards or not. They protect the result, not privacy: a server of the coalition has fixed its
//! opening before it sees W. It may still add any number, or end the run.
//!
//! **t > 1** (after Kairouz, Liu & Steinke 2021). Let f_v(k) = exp(−k²/2v). The sum of independent
//! draws ∝ f_a and ∝ f_b has the law ∝ Σⱼ f_a(j)·f_b(k − j) = f_{a+b}(k)·Σⱼ exp(−(j − c)²/2w),
//! w = ab/(a + b), c = ka/(a + b), and by Poisson summation the last sum is √(2πw)·(1 ± r),
//! r ≤ 4e^(−2π²w), whatever c. So t draws of parameter s′ have the law of one of parameter s′√t up to a
//! factor ((1 + r)/(1 − r))^(t−1) with w ≥ s′²/2; here s′ ≥ 2³⁷, and r < e^(−10²²) is far below what the
//! constant of [`crate::noise::grid_distance`] is rounded up by.
//!
//! *In finite arithmetic.* Every party rounds its own exact sum to the grid: between neighbours one of
//! them differs, so step·√p is charged once. Clamped at 2¹⁰⁰, the vectors of 2²⁰ parties stay below
//! 2¹²⁰; a draw is below 2⁵³ except with probability e^(−2²²). So the sum mod 2¹²⁸ is the sum; and were
//! it not, wrapping is post-processing.
//!
//! - k `servers`, t `honest`: the servers that neither collude with the reader nor reveal their draw,
//!   t ≤ k − 1 since a curious server knows its own. The released noise has the variance kσ²/t, whoever
//!   is honest.
//! - A cheating party or server can spoil the sum, by any amount; the guarantee for others' records
//!   stays.
//! - Tested by `tests/all/shares.rs`.

use super::joint;
use crate::account::{Cost, Event, Grid};
use crate::gate::{GateError, Session};
use crate::noise::{DiscreteGaussian, Origin, Source};
use privet_core::Range;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};
use zeroize::Zeroizing;

/// Limits on the number of parties that hold records.
pub const PARTIES: Range = Range::from("parties", 1.0, 1_048_577.0);
/// Limits on the number of servers.
pub const SERVERS: Range = Range::from("servers", 2.0, 65.0);

/// The protocol by which the servers draw a round's noise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseMode {
    /// Every server draws its own, and all of it is released.
    #[default]
    Shares,
    /// All servers jointly make one draw, which none of them knows ([`super::joint`]).
    Joint,
}

impl NoiseMode {
    /// The words that [`FromStr`] accepts.
    pub const ACCEPTED: &'static str = "shares, joint";

    /// True for the default, which files leave out.
    pub fn is_shares(&self) -> bool {
        *self == Self::Shares
    }
}

impl fmt::Display for NoiseMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shares => "shares",
            Self::Joint => "joint",
        })
    }
}

impl FromStr for NoiseMode {
    type Err = privet_core::Error;
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "shares" => Ok(Self::Shares),
            "joint" => Ok(Self::Joint),
            _ => Err(privet_core::Error::Unknown {
                what: "noise",
                given: word.into(),
                accepted: Self::ACCEPTED,
            }),
        }
    }
}

/// The participants of a distributed sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Participants {
    /// Number m of parties, which hold records.
    pub parties: u32,
    /// Number k of servers, which add up shares and add noise.
    pub servers: u32,
    /// Number t of servers that are trusted not to reveal their data.
    pub honest: u32,
    /// The protocol by which the servers draw the noise.
    #[serde(default, skip_serializing_if = "NoiseMode::is_shares")]
    pub noise: NoiseMode,
}

impl Participants {
    /// Refuses numbers outside the theorem.
    pub fn check(self) -> Result<Self, privet_core::Error> {
        PARTIES.check(f64::from(self.parties))?;
        SERVERS.check(f64::from(self.servers))?;
        // At most all but one: a curious server knows its own noise. Where all draw it jointly, one
        // suffices.
        let honest = match self.noise {
            NoiseMode::Shares => Range::from("honest", 1.0, f64::from(self.servers)),
            NoiseMode::Joint => {
                let most = f64::from(joint::MOST_SERVERS + 1);
                Range::from("servers that draw noise jointly", 2.0, most)
                    .check(f64::from(self.servers))?;
                Range::from("honest, where noise is drawn jointly,", 1.0, 2.0)
            }
        };
        honest.check(f64::from(self.honest))?;
        Ok(self)
    }

    /// Ratio of the released noise scale to the charged one: √(k/t), or 1 for one joint draw.
    pub fn widening(self) -> f64 {
        if self.noise == NoiseMode::Joint {
            return 1.0;
        }
        (f64::from(self.servers) / f64::from(self.honest.max(1))).sqrt()
    }
}

/// The channel between a party and the servers: delivers the party's shares and returns the servers'
/// openings.
///
/// An implementation must deliver to each server its own share and nothing else, each round once, and
/// return the openings of that very round.
pub trait PartyChannel {
    /// One round: the charged event, a share for each server, and each server's opening as the result.
    fn exchange(
        &self,
        round: u64,
        leaf: &Event,
        shares: Vec<Zeroizing<Vec<u128>>>,
    ) -> Result<Vec<Vec<u128>>, GateError>;

    /// The number of records that this party declared, which is public; `None` if one process holds all
    /// parties.
    fn declared_rows(&self) -> Option<u64> {
        None
    }

    /// True if one process runs all parties and servers, so that nothing is hidden between them.
    fn is_simulated(&self) -> bool {
        false
    }

    /// The origin of the servers' noise, as far as it is known here.
    fn origin(&self) -> Origin {
        Origin::OperatingSystem
    }
}

/// Splits each value into a share for every server: all but one are uniform, the last completes the sum.
pub fn split(values: &[i128], servers: u32, source: &mut dyn Source) -> Vec<Zeroizing<Vec<u128>>> {
    let mut last: Zeroizing<Vec<u128>> =
        Zeroizing::new(values.iter().map(|value| *value as u128).collect());
    let mut all = Vec::with_capacity(servers as usize);
    let mut words = Zeroizing::new(vec![0_u64; 2 * values.len()]);
    for _ in 1..servers {
        source.fill_words(&mut words);
        let word = |pair: &[u64]| u128::from(pair[0]) << 64 | u128::from(pair[1]);
        let share: Zeroizing<Vec<u128>> = Zeroizing::new(words.chunks_exact(2).map(word).collect());
        last.iter_mut().zip(share.iter()).for_each(|(rest, mask)| *rest = rest.wrapping_sub(*mask));
        all.push(share);
    }
    all.push(last);
    all
}

/// The sum of all servers' openings; `None` if there are none or their lengths differ.
pub fn sum_openings(openings: &[Vec<u128>]) -> Option<Vec<i128>> {
    let mut sum = openings.first()?.clone();
    for opening in &openings[1..] {
        if opening.len() != sum.len() {
            return None;
        }
        sum.iter_mut().zip(opening).for_each(|(sum, part)| *sum = sum.wrapping_add(*part));
    }
    Some(sum.into_iter().map(|value| value as i128).collect())
}

/// A server's work in one round: it adds up shares, then its noise, once.
pub struct ServerSum {
    sum: Zeroizing<Vec<u128>>,
    /// The law of its own noise; `None` where the servers draw jointly.
    law: Option<DiscreteGaussian>,
}

impl std::fmt::Debug for ServerSum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ServerSum({} coordinates, withheld)", self.sum.len())
    }
}

impl ServerSum {
    /// For a round charged as `leaf`; refused unless it is Gaussian noise on a grid.
    pub fn new(leaf: &Event, among: Participants) -> Result<Self, GateError> {
        let (noise_scale, grid) = charged_noise(leaf, among.noise)?;
        if among.noise == NoiseMode::Joint {
            joint::Drawing::of(leaf)?;
            return Ok(Self { sum: Zeroizing::new(vec![0; grid.coordinates as usize]), law: None });
        }
        let honest = f64::from(among.honest.max(1));
        // For t = 1 exactly σ; otherwise rounded up, so that t draws have at least the charged variance.
        let share = if among.honest <= 1 { 1.0 } else { (1.0 + 1e-15) / honest.sqrt() };
        let law = Some(DiscreteGaussian::new(noise_scale / grid.step * share)?);
        Ok(Self { sum: Zeroizing::new(vec![0; grid.coordinates as usize]), law })
    }

    /// The length of a share.
    pub fn coordinates(&self) -> usize {
        self.sum.len()
    }

    /// Adds the share of one party.
    pub fn add(&mut self, share: &[u128]) -> Result<(), GateError> {
        if share.len() != self.sum.len() {
            return Err(GateError::Malformed);
        }
        self.sum.iter_mut().zip(share).for_each(|(sum, part)| *sum = sum.wrapping_add(*part));
        Ok(())
    }

    /// Adds this server's own noise and returns the opening. Refused where the servers draw jointly.
    pub fn opening(self, source: &mut dyn Source) -> Result<Vec<u128>, GateError> {
        let mut noise = Zeroizing::new(vec![0_i64; self.sum.len()]);
        self.law.ok_or(GateError::Alone)?.fill(&mut noise, source);
        let added = |(sum, noise): (&u128, &i64)| sum.wrapping_add(i128::from(*noise) as u128);
        Ok(self.sum.iter().zip(noise.iter()).map(added).collect())
    }

    /// Adds this server's share of the joint noise of this round and returns the opening. Refused where
    /// every server draws its own, and where lengths differ.
    pub fn opening_with(self, noise: joint::NoiseShare) -> Result<Vec<u128>, GateError> {
        if self.law.is_some() || noise.coordinates() != self.sum.len() {
            return Err(GateError::Malformed);
        }
        let noise = noise.into_inner();
        Ok(self.sum.iter().zip(noise.iter()).map(|(sum, part)| sum.wrapping_add(*part)).collect())
    }
}

/// The charged noise of a round.
fn charged_noise(leaf: &Event, noise: NoiseMode) -> Result<(f64, Grid), GateError> {
    let Event::Use { cost, .. } = leaf else { return Err(GateError::Alone) };
    match (cost, noise) {
        (Cost::Gaussian { noise_scale, grid: Some(grid), .. }, NoiseMode::Shares)
        | (Cost::JointGaussian { noise_scale, grid, .. }, NoiseMode::Joint) => {
            Ok((*noise_scale, *grid))
        }
        _ => Err(GateError::Alone),
    }
}

/// The length of a plan's longest round; `None` if some round is not Gaussian noise on a grid in this
/// mode.
pub fn longest(events: &Event, noise: NoiseMode) -> Option<u64> {
    match events {
        Event::Use { .. } => charged_noise(events, noise).ok().map(|(_, grid)| grid.coordinates),
        Event::All(all) => {
            all.iter().map(|one| longest(one, noise)).try_fold(0, |most, one| Some(most.max(one?)))
        }
        Event::Repeat { event, .. } | Event::UpTo { event, .. } => longest(event, noise),
        Event::Selected { .. } | Event::BestOf { .. } => None,
    }
}

/// Splits a vector of grid steps, exchanges the shares, and returns the noisy sum.
pub(super) fn sum_shares(
    event: Event,
    steps: &[i128],
    step: f64,
    session: &mut Session<'_>,
) -> Result<Vec<f64>, GateError> {
    let round = session.draws();
    let mode = session.noise_mode();
    let event = joint::charged_event(event, mode);
    charged_noise(&event, mode)?;
    let (among, together, source) = session.charge_together(event.clone())?;
    let shares = split(steps, among.servers, source);
    let openings = together.exchange(round, &event, shares)?;
    if openings.len() != among.servers as usize {
        return Err(GateError::Unanswered);
    }
    let sum = sum_openings(&openings).filter(|sum| sum.len() == steps.len());
    let sum = sum.ok_or(GateError::Unanswered)?;
    Ok(sum.into_iter().map(|value| value as f64 * step).collect())
}

/// All servers and parties in this process, which carries out the whole protocol.
pub struct InProcess<'a> {
    among: Participants,
    source: std::cell::RefCell<&'a mut dyn Source>,
}

impl<'a> InProcess<'a> {
    /// Servers that draw from this source.
    pub fn new(among: Participants, source: &'a mut dyn Source) -> Self {
        Self { among, source: std::cell::RefCell::new(source) }
    }
}

impl PartyChannel for InProcess<'_> {
    fn exchange(
        &self,
        _round: u64,
        leaf: &Event,
        shares: Vec<Zeroizing<Vec<u128>>>,
    ) -> Result<Vec<Vec<u128>>, GateError> {
        let source = &mut **self.source.borrow_mut();
        let mut drawn = match self.among.noise {
            NoiseMode::Shares => None,
            NoiseMode::Joint => {
                let drawing = joint::Drawing::of(leaf)?;
                Some(joint::in_the_clear(drawing, self.among, source)?.into_iter())
            }
        };
        let opened = |share: &Zeroizing<Vec<u128>>| {
            let mut adding = ServerSum::new(leaf, self.among)?;
            adding.add(share)?;
            match &mut drawn {
                None => adding.opening(source),
                Some(drawn) => adding.opening_with(drawn.next().ok_or(GateError::Unanswered)?),
            }
        };
        shares.iter().map(opened).collect()
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn origin(&self) -> Origin {
        self.source.borrow().origin()
    }
}
