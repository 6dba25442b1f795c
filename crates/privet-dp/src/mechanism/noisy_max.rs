//! Choosing the best of several: report-noisy-max with Gumbel noise, i.e. the exponential mechanism.
//!
//! **Theorem.** Every score changes by at most Δ between neighbours. Adding Gumbel noise of scale
//! 2Δ/ε to each and naming the largest draws index i with probability ∝ exp(ε·scoreᵢ/(2Δ)), which
//! is ε-DP and has a privacy loss of range at most ε (Durfee & Rogers 2019), the bounded-range
//! event charged here.

use crate::account::{Cost, Event};
use crate::gate::{GateError, Noised, Session, Private};
use crate::noise::report_noisy_max;
use privet_core::{Neighbours, Unit};

/// Names the index of a nearly largest score.
#[derive(Debug, Clone, PartialEq)]
pub struct NoisyMax {
    /// The relation the sensitivity was derived for.
    pub neighbours: Neighbours,
    /// The unit the sensitivity was derived for.
    pub unit: Unit,
    /// How much one score can change.
    pub sensitivity: f64,
    /// Scale of the Gumbel noise.
    pub noise_scale: f64,
}

impl NoisyMax {
    /// What it will cost.
    pub fn event(&self) -> Event {
        Event::Use {
            neighbours: self.neighbours,
            unit: self.unit,
            cost: Cost::BoundedRange { range: 2.0 * self.sensitivity / self.noise_scale },
        }
    }

    /// Records the event and chooses.
    pub fn run(
        &self,
        scores: Private<Vec<f64>>,
        session: &mut Session<'_>,
    ) -> Result<Noised<usize>, GateError> {
        let source = session.charge(self.event())?;
        let chosen = report_noisy_max(&scores.open(), self.noise_scale, source)?;
        Ok(session.noised(chosen))
    }
}
