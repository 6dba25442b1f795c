//! Checks the accountant against itself and against simulation.
//!
//! For random event trees and ε:
//! - the Rényi bound is not below the bound from loss distributions, which is the tighter method;
//! - the accountant's stated δ is not above either of them;
//! - the δ(ε) of the pair of laws that the tree describes, estimated by Monte Carlo as E(1 − e^{ε−L})₊
//!   over the privacy loss L, lies within its error bars inside the accountant's bracket: not above the
//!   stated δ, and not below the proved lower bound.
//!
//! Error bars: for n independent values in \[0, 1\] with sample variance V, the mean is within
//! √(2V·ln(2/a)/n) + 7·ln(2/a)/(3(n − 1)) of its expectation, each side with probability 1 − a (Maurer &
//! Pontil 2009); a = 1e-11.
//!
//! Tested by `tests/audit/accounting.rs`.

use crate::AuditError;
use crate::bits::noise_failed;
use privet_core::{Neighbours, Unit};
use privet_dp::account::distribution::{self, Effort};
use privet_dp::account::parts::Parts;
use privet_dp::account::{self, Cost, Event, renyi};
use privet_dp::noise::{FixedSeed, GridGaussian, Source};
use rayon::prelude::*;
use serde::Serialize;

/// Failure probability of one error bar.
const BAR: f64 = 1e-11;
/// Relative tolerance for rounding between two upper bounds.
const ROUNDING_TOLERANCE: f64 = 1e-6;

/// Below this δ both bounds count as zero, and their order is not checked.
const NEGLIGIBLE_DELTA: f64 = 1e-12;

/// Comparison of the bounds for one tree at one ε.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The event tree.
    pub event: Event,
    /// The ε at which δ is compared.
    pub epsilon: f64,
    /// The accountant's stated δ.
    pub stated: f64,
    /// The accountant's proved lower bound on δ.
    pub lost: f64,
    /// The Rényi bound on δ.
    pub renyi: f64,
    /// The bound on δ from loss distributions.
    pub distribution: f64,
    /// The simulated δ, and its error bar.
    pub simulated: (f64, f64),
}

impl Comparison {
    /// Contradictions between the bounds; empty if there are none.
    pub fn faults(&self) -> Vec<&'static str> {
        let (mean, bar) = self.simulated;
        let room = 1.0 + ROUNDING_TOLERANCE;
        let mut faults = Vec::new();
        if self.distribution > NEGLIGIBLE_DELTA && self.renyi * room < self.distribution.min(1.0) {
            faults.push("the Rényi bound is below that of loss distributions");
        }
        if self.stated > self.renyi.min(self.distribution).max(NEGLIGIBLE_DELTA) * room {
            faults.push("the stated delta is above a bound that holds");
        }
        if self.lost > self.stated {
            faults.push("the bracket is the wrong way around");
        }
        if mean - bar > self.stated {
            faults.push("the simulated delta is above the stated one");
        }
        if mean + bar < self.lost {
            faults.push("the simulated delta is below what is proved to be lost");
        }
        faults
    }
}

/// Compares `trees` random trees, each at four ε, with `draws` simulated losses.
pub fn audit(trees: u64, draws: u64, seed: u64) -> Result<Vec<Comparison>, AuditError> {
    let all: Result<Vec<Vec<Comparison>>, AuditError> = (0..trees)
        .into_par_iter()
        .map(|index| {
            let mut source = FixedSeed::new(crate::runs::scramble(seed ^ (index << 8)));
            let event = random_tree(&mut source);
            let parts = Parts::new(&event)?;
            let losses = simulate(&event, draws, &mut source)?;
            [0.0, 0.3, 1.0, 2.5]
                .into_iter()
                .map(|epsilon| compare(&event, &parts, &losses, epsilon))
                .collect()
        })
        .collect();
    Ok(all?.into_iter().flatten().collect())
}

fn compare(
    event: &Event,
    parts: &Parts,
    losses: &[Vec<f64>; 2],
    epsilon: f64,
) -> Result<Comparison, AuditError> {
    let mean = |losses: &Vec<f64>| mean_excess(losses, epsilon);
    let (forward, backward) = (mean(&losses[0]), mean(&losses[1]));
    let simulated = if forward.0 >= backward.0 { forward } else { backward };
    let (lost, stated) = account::bracket(event, epsilon)?;
    Ok(Comparison {
        event: event.clone(),
        epsilon,
        stated,
        lost,
        renyi: renyi::delta(&parts.rest, parts.mu(), epsilon),
        distribution: distribution::delta(&parts.rest, parts.mu(), epsilon, Effort::Full),
        simulated,
    })
}

/// Mean of (1 − e^{ε−L})₊ and its error bar.
fn mean_excess(losses: &[f64], epsilon: f64) -> (f64, f64) {
    let count = losses.len() as f64;
    let values = || losses.iter().map(|loss| (-libm::expm1(epsilon - loss)).max(0.0));
    let mean = values().sum::<f64>() / count;
    let variance = values().map(|v| (v - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    let ln = libm::log(2.0 / BAR);
    let bar = libm::sqrt(2.0 * variance * ln / count) + 7.0 * ln / (3.0 * (count - 1.0).max(1.0));
    (mean, bar)
}

/// A uniform number from low to high.
fn uniform_between(low: f64, high: f64, source: &mut dyn Source) -> f64 {
    low + (high - low) * (source.bits(53) as f64 * 2f64.powi(-53))
}

/// A tree with one to three leaves, each possibly repeated.
fn random_tree(source: &mut dyn Source) -> Event {
    let leaves = 1 + source.below(3);
    Event::All(
        (0..leaves)
            .map(|_| {
                let count = [1, 1, 2, 7][source.below(4) as usize];
                let smaller = 1.0 / libm::sqrt(f64::from(count) * leaves as f64);
                let event = Box::new(random_leaf(smaller, source));
                Event::Repeat { count, event }
            })
            .collect(),
    )
}

fn random_leaf(smaller: f64, source: &mut dyn Source) -> Event {
    let size = uniform_between(0.2, 1.5, source) * smaller;
    let cost = match source.below(4) {
        0 => Cost::Gaussian { sensitivity: size, noise_scale: 1.0, grid: None },
        1 => Cost::Laplace { sensitivity: size, noise_scale: 1.0, step: None },
        2 => Cost::Pure { epsilon: size },
        _ => Cost::PoissonGaussian {
            rate: uniform_between(0.02, 0.6, source),
            sensitivity: 2.0 * size,
            noise_scale: 1.0,
            grid: None,
        },
    };
    Event::Use { neighbours: Neighbours::AddRemove, unit: Unit::Record, cost }
}

/// Simulated losses in both directions.
fn simulate(
    event: &Event,
    draws: u64,
    source: &mut dyn Source,
) -> Result<[Vec<f64>; 2], AuditError> {
    let mut leaves = Vec::new();
    flatten(event, 1, &mut leaves);
    let normal = GridGaussian::new(1.0).map_err(noise_failed)?;
    let mut one = |forward: bool| -> Result<Vec<f64>, AuditError> {
        (0..draws)
            .map(|_| leaves.iter().map(|cost| loss(cost, forward, &normal, source)).sum())
            .collect()
    };
    Ok([one(true)?, one(false)?])
}

fn flatten<'a>(event: &'a Event, count: u32, into: &mut Vec<&'a Cost>) {
    match event {
        Event::Use { cost, .. } => into.extend((0..count).map(|_| cost)),
        Event::All(events) => events.iter().for_each(|event| flatten(event, count, into)),
        Event::Repeat { count: more, event } | Event::UpTo { count: more, event } => {
            flatten(event, count * more, into);
        }
        // Losses of the best of many runs are not simulated: no random tree has them.
        Event::Selected { .. } | Event::BestOf { .. } => {}
    }
}

/// One draw of the privacy loss of a leaf, of the kinds in random trees.
fn loss(
    cost: &Cost,
    forward: bool,
    normal: &GridGaussian,
    source: &mut dyn Source,
) -> Result<f64, AuditError> {
    Ok(match cost {
        Cost::Gaussian { sensitivity, noise_scale, .. } => {
            let mu = sensitivity / noise_scale;
            0.5 * mu * mu + mu * standard(normal, source)
        }
        Cost::Laplace { sensitivity, noise_scale, .. } => {
            let shift = sensitivity / noise_scale;
            let size = -libm::log(uniform_between(f64::MIN_POSITIVE, 1.0, source));
            let value = if source.bits(1) == 1 { size } else { -size };
            (value - shift).abs() - value.abs()
        }
        Cost::Pure { epsilon } => {
            let truth = 1.0 / (1.0 + libm::exp(-epsilon));
            if uniform_between(0.0, 1.0, source) < truth { *epsilon } else { -epsilon }
        }
        Cost::PoissonGaussian { rate, sensitivity, noise_scale, .. } => {
            let mu = sensitivity / noise_scale;
            let present = forward && uniform_between(0.0, 1.0, source) < *rate;
            let x = standard(normal, source) + if present { mu } else { 0.0 };
            let ratio = libm::log(1.0 - rate + rate * libm::exp(mu * x - 0.5 * mu * mu));
            if forward { ratio } else { -ratio }
        }
        other => return Err(AuditError::NotSimulated { cost: format!("{other:?}") }),
    })
}

fn standard(normal: &GridGaussian, source: &mut dyn Source) -> f64 {
    let mut value = [0.0];
    normal.fill(&mut value, source);
    value[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_without_a_simulation_is_refused() {
        let cost = Cost::Approximate { epsilon: 1.0, delta: 1e-6 };
        let event = Event::Use { neighbours: Neighbours::AddRemove, unit: Unit::Record, cost };
        let refused = simulate(&event, 3, &mut FixedSeed::new(1));
        assert!(matches!(refused, Err(AuditError::NotSimulated { .. })), "{refused:?}");
    }
}
