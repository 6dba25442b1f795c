//! Sums among parties that show theirs to nobody: additive shares, and noise that no server knows the whole of.
//!
//! Party j splits its vector vⱼ ∈ ℤᵖ into uniform shares that add up to it in ℤ mod 2¹²⁸, one for each of k servers.
//! Server s adds up the shares it got and a discrete Gaussian draw Nₛ of its own, and opens that. All k openings
//! together are Σvⱼ + ΣNₛ; fewer say nothing.
//!
//! **Theorem.** Let a coalition have at most k − t of the servers and any of the parties, whatever they send. Let Nₛ
//! have the parameter σ/√t on the grid of σ ([`crate::noise::GridGaussian`]). Towards the coalition one round is, for a record of a
//! party outside it, a post-processing of the Gaussian mechanism at σ on the sum of the honest parties, its grid charged
//! as alone ([`super::Gaussian`]).
//!
//! *Proof.* H, the servers outside, are at least t ≥ 1. An honest party's shares for the coalition's servers are uniform
//! and independent of vⱼ, since a share for H is left to make up the sum. Given them, its shares for H are uniform with
//! a fixed sum; so the openings of H are uniform with the sum W = Σ_{honest} vⱼ + Σ_H N + (what the coalition sent or
//! holds itself): they can be made from W and uniform numbers. W is a function of Σ_{honest} vⱼ + Σ_H N and of what the
//! coalition knows. Of the draws in Σ_H N take t; the others are post-processing. An honest server opens a round
//! once, of one sharing a party, so there is no second W (an honest party that shared twice would do no harm: the masks
//! of the two are independent). What the coalition sends may depend on
//! all it saw: the next question then does too, which every honest party works out by the plan, and whose
//! sensitivity holds at any point. ∎
//!
//! *Commitments.* Before it opens, a server shows a digest of its opening and of random numbers of its own, and later those
//! numbers (`privet-parties`). Both are functions of the opening and of randomness that depends on nothing, so the
//! theorem holds for them too, whether the round is opened afterwards or not. They are for the result, not for privacy: a server
//! of the coalition has fixed what it opens before it sees W. It may still add any number, or end the run.
//!
//! **t > 1** (after Kairouz, Liu & Steinke 2021). Let f_v(k) = exp(−k²/2v). The sum of independent draws ∝ f_a and ∝ f_b has the law
//! ∝ Σⱼ f_a(j)·f_b(k − j) = f_{a+b}(k)·Σⱼ exp(−(j − c)²/2w), w = ab/(a + b), c = ka/(a + b), and by Poisson summation
//! the last sum is √(2πw)·(1 ± r), r ≤ 4e^(−2π²w), whatever c. So t draws of parameter s′ have the law of one
//! of parameter s′√t up to a factor ((1 + r)/(1 − r))^(t−1) with w ≥ s′²/2; here s′ ≥ 2³⁷, and r < e^(−10²²) is far
//! below what the constant of [`crate::noise::grid_distance`] is rounded up by.
//!
//! *In finite arithmetic.* Every party rounds its own exact sum to the grid: between neighbours one of them differs, so
//! step·√p is charged once. Clamped at 2¹⁰⁰, the vectors of 2²⁰ parties stay below 2¹²⁰; a draw is below 2⁵³ but for a probability
//! of e^(−2²²). So the sum mod 2¹²⁸ is the sum; and were it not, wrapping is post-processing.
//!
//! - k `servers`, t `honest`: the servers that neither collude with the reader nor tell their draw, t ≤ k − 1 since a
//!   curious server knows its own. The released noise has the variance kσ²/t, whoever is honest.
//! - A cheating party or server can spoil the sum, by any amount; what is proved of others' records stays.
//! - Tested by `tests/all/shares.rs`.

use super::joint;
use crate::account::{Cost, Event, Grid};
use crate::gate::{GateError, Session};
use crate::noise::{DiscreteGaussian, Origin, Source};
use privet_core::Range;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};
use zeroize::Zeroizing;

/// Limits on how many parties hold records.
pub const PARTIES: Range = Range::from("parties", 1.0, 1_048_577.0);
/// Limits on how many servers add up.
pub const SERVERS: Range = Range::from("servers", 2.0, 65.0);

/// Who draws the noise of a round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseMode {
    /// Every server its own, and all of it is released.
    #[default]
    Shares,
    /// All servers together one, which none of them knows ([`super::joint`]).
    Joint,
}

impl NoiseMode {
    /// The words accepted by [`FromStr`].
    pub const ACCEPTED: &'static str = "shares, joint";

    /// Whether it is the mode that files say nothing of.
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

/// Among whom a sum is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Among {
    /// m, who hold records.
    pub parties: u32,
    /// k, who add up and add noise.
    pub servers: u32,
    /// t, how many of those are trusted to keep what they know to themselves.
    pub honest: u32,
    /// Who draws the noise.
    #[serde(default, skip_serializing_if = "NoiseMode::is_shares")]
    pub noise: NoiseMode,
}

impl Among {
    /// Refuses numbers for which nothing is proved.
    pub fn check(self) -> Result<Self, privet_core::Error> {
        PARTIES.check(f64::from(self.parties))?;
        SERVERS.check(f64::from(self.servers))?;
        // At most all but one: a curious server knows its own noise. Where all draw it together, one is enough.
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

    /// How much wider the released noise is than what is charged: √(k/t), or 1 where one draw is made.
    pub fn widening(self) -> f64 {
        if self.noise == NoiseMode::Joint {
            return 1.0;
        }
        (f64::from(self.servers) / f64::from(self.honest.max(1))).sqrt()
    }
}

/// The way to the others: brings a party's shares to the servers and their openings back.
///
/// Whoever implements it must bring each server its own share and nothing else, each round once, and hand back the
/// openings of that very round.
pub trait Together {
    /// One round: what is charged, a share for each server, and what each of them opens.
    fn exchange(
        &self,
        round: u64,
        leaf: &Event,
        shares: Vec<Zeroizing<Vec<u128>>>,
    ) -> Result<Vec<Vec<u128>>, GateError>;

    /// How many records this party declared, which is public; `None` where all parties are one process.
    fn declared_rows(&self) -> Option<u64> {
        None
    }

    /// Whether one process is everyone, so that nobody is kept from anything.
    fn is_simulated(&self) -> bool {
        false
    }

    /// What the servers' noise rests on, as far as is known here.
    fn origin(&self) -> Origin {
        Origin::OperatingSystem
    }
}

/// A share of each value for every server: all but one are uniform, the last makes up the sum.
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

/// What the openings of all servers add up to.
pub fn joined(openings: &[Vec<u128>]) -> Option<Vec<i128>> {
    let mut sum = openings.first()?.clone();
    for opening in &openings[1..] {
        if opening.len() != sum.len() {
            return None;
        }
        sum.iter_mut().zip(opening).for_each(|(sum, part)| *sum = sum.wrapping_add(*part));
    }
    Some(sum.into_iter().map(|value| value as i128).collect())
}

/// What a server does in one round: adds up shares, then its noise, once.
pub struct Adding {
    sum: Zeroizing<Vec<u128>>,
    /// Of its own noise; `None` where the servers draw together.
    law: Option<DiscreteGaussian>,
}

impl std::fmt::Debug for Adding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Adding({} coordinates, withheld)", self.sum.len())
    }
}

impl Adding {
    /// For a round that is charged as this; refused where it is not Gaussian noise on a grid.
    pub fn new(leaf: &Event, among: Among) -> Result<Self, GateError> {
        let (noise_scale, grid) = planned(leaf, among.noise)?;
        if among.noise == NoiseMode::Joint {
            joint::Drawing::of(leaf)?;
            return Ok(Self { sum: Zeroizing::new(vec![0; grid.coordinates as usize]), law: None });
        }
        let honest = f64::from(among.honest.max(1));
        // For t = 1 exactly σ; otherwise rounded up, so that t draws have at least the variance charged.
        let share = if among.honest <= 1 { 1.0 } else { (1.0 + 1e-15) / honest.sqrt() };
        let law = Some(DiscreteGaussian::new(noise_scale / grid.step * share)?);
        Ok(Self { sum: Zeroizing::new(vec![0; grid.coordinates as usize]), law })
    }

    /// How many numbers a share has.
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

    /// Adds this server's own noise: what it opens. Refused where the servers draw together.
    pub fn opening(self, source: &mut dyn Source) -> Result<Vec<u128>, GateError> {
        let mut noise = Zeroizing::new(vec![0_i64; self.sum.len()]);
        self.law.ok_or(GateError::Alone)?.fill(&mut noise, source);
        let added = |(sum, noise): (&u128, &i64)| sum.wrapping_add(i128::from(*noise) as u128);
        Ok(self.sum.iter().zip(noise.iter()).map(added).collect())
    }

    /// Adds this server's share of the noise that was drawn together for this round: what it opens. Refused where every server
    /// draws its own, and where lengths differ.
    pub fn opening_with(self, noise: joint::NoiseShare) -> Result<Vec<u128>, GateError> {
        if self.law.is_some() || noise.coordinates() != self.sum.len() {
            return Err(GateError::Malformed);
        }
        let noise = noise.into_inner();
        Ok(self.sum.iter().zip(noise.iter()).map(|(sum, part)| sum.wrapping_add(*part)).collect())
    }
}

/// The noise that a round is charged for.
fn planned(leaf: &Event, noise: NoiseMode) -> Result<(f64, Grid), GateError> {
    let Event::Use { cost, .. } = leaf else { return Err(GateError::Alone) };
    match (cost, noise) {
        (Cost::Gaussian { noise_scale, grid: Some(grid), .. }, NoiseMode::Shares)
        | (Cost::JointGaussian { noise_scale, grid, .. }, NoiseMode::Joint) => {
            Ok((*noise_scale, *grid))
        }
        _ => Err(GateError::Alone),
    }
}

/// How many numbers the longest round of a plan has; `None` where some round is no Gaussian noise on a grid in this mode.
pub fn longest(events: &Event, noise: NoiseMode) -> Option<u64> {
    match events {
        Event::Use { .. } => planned(events, noise).ok().map(|(_, grid)| grid.coordinates),
        Event::All(all) => {
            all.iter().map(|one| longest(one, noise)).try_fold(0, |most, one| Some(most.max(one?)))
        }
        Event::Repeat { event, .. } | Event::UpTo { event, .. } => longest(event, noise),
        Event::Selected { .. } | Event::BestOf { .. } => None,
    }
}

/// Splits a vector in whole steps, has it added to those of the others, and reads the noised sum.
pub(super) fn summed(
    event: Event,
    steps: &[i128],
    step: f64,
    session: &mut Session<'_>,
) -> Result<Vec<f64>, GateError> {
    let round = session.draws();
    let mode = session.noise_mode();
    let event = joint::charged(event, mode);
    planned(&event, mode)?;
    let (among, together, source) = session.charge_together(event.clone())?;
    let shares = split(steps, among.servers, source);
    let openings = together.exchange(round, &event, shares)?;
    if openings.len() != among.servers as usize {
        return Err(GateError::Unanswered);
    }
    let sum = joined(&openings).filter(|sum| sum.len() == steps.len());
    let sum = sum.ok_or(GateError::Unanswered)?;
    Ok(sum.into_iter().map(|value| value as f64 * step).collect())
}

/// All servers in this process: they and the parties are one, and every word of the protocol is carried out.
pub struct InProcess<'a> {
    among: Among,
    source: std::cell::RefCell<&'a mut dyn Source>,
}

impl<'a> InProcess<'a> {
    /// Servers that draw from this source.
    pub fn new(among: Among, source: &'a mut dyn Source) -> Self {
        Self { among, source: std::cell::RefCell::new(source) }
    }
}

impl Together for InProcess<'_> {
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
            let mut adding = Adding::new(leaf, self.among)?;
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
