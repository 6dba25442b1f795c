//! The Laplace mechanism on a grid: exact, pure differential privacy in finite arithmetic.
//!
//! **Theorem.** f(D) ∈ step·ℤᵖ with ‖f(D) − f(D′)‖₁ ≤ Δ; add to each coordinate step·N, N a
//! discrete Laplace variable of scale s/step. The result is (Δ/s)-DP: the mass of N at k is
//! proportional to exp(−|k|·step/s), so the ratio is at most exp(Δ/s). Rounding a real value to
//! the grid moves each coordinate by at most step/2, which adds p·step to Δ. Under composition the
//! discrete law is charged as itself (at Δ = step it is randomised response).

use super::grid::{ExactCounts, from_grid, round_up, to_grid};
use crate::account::{Cost, Event};
use crate::gate::{GateError, Noisy, Private, Session};
use crate::noise::DiscreteLaplace;
use privet_core::{Neighbours, Unit};
use zeroize::Zeroizing;

/// Adds discrete Laplace noise to a vector of bounded ℓ1 sensitivity.
#[derive(Debug, Clone, PartialEq)]
pub struct Laplace {
    /// The neighbour relation that the sensitivity was derived for.
    pub neighbours: Neighbours,
    /// The unit that the sensitivity was derived for.
    pub unit: Unit,
    /// ℓ1 sensitivity of the value before rounding to the grid.
    pub sensitivity: f64,
    /// Scale s of each coordinate's noise.
    pub noise_scale: f64,
    /// Distance between grid points, a power of two; values that already are on the grid are not charged
    /// for rounding, see `on_grid`.
    pub step: f64,
    /// True if every value is a multiple of `step` from the start (counts, votes).
    pub on_grid: bool,
    /// Length of the vector.
    pub coordinates: usize,
}

impl Laplace {
    /// The event of one release.
    pub fn event(&self) -> Event {
        let rounding = if self.on_grid { 0.0 } else { self.step * self.coordinates as f64 };
        let sensitivity =
            if self.on_grid { self.sensitivity } else { round_up(self.sensitivity + rounding) };
        Event::Use {
            neighbours: self.neighbours,
            unit: self.unit,
            cost: Cost::Laplace {
                sensitivity,
                noise_scale: self.noise_scale,
                step: Some(self.step),
            },
        }
    }

    /// Records the event, draws, and adds the noise.
    pub fn run(
        &self,
        value: Private<Vec<f64>>,
        session: &mut Session<'_>,
    ) -> Result<Noisy<Vec<f64>>, GateError> {
        let value = value.open();
        // Rounding would not be charged.
        if self.on_grid && value.iter().any(|x| (x / self.step).fract() != 0.0) {
            return Err(GateError::Malformed);
        }
        let draws = self.draw(session)?;
        let steps = to_grid(&value, self.step, self.coordinates)?;
        Ok(session.mark_noisy(from_grid(&steps, &draws, self.step)))
    }

    /// As [`Self::run`], for an exact sum.
    pub fn run_units(
        &self,
        value: Private<ExactCounts>,
        session: &mut Session<'_>,
    ) -> Result<Noisy<Vec<f64>>, GateError> {
        let noisy = self.add_to_units(value, session)?;
        Ok(session.mark_noisy(noisy))
    }

    /// As [`Self::run_units`], with an answer that stays inside this crate.
    pub(super) fn add_to_units(
        &self,
        value: Private<ExactCounts>,
        session: &mut Session<'_>,
    ) -> Result<Vec<f64>, GateError> {
        let value = value.open();
        if self.on_grid && value.unit < self.step {
            return Err(GateError::Malformed);
        }
        let draws = self.draw(session)?;
        let steps = value.to_grid(self.step, self.coordinates)?;
        Ok(from_grid(&steps, &draws, self.step))
    }

    /// Records the event and draws, in steps of the grid.
    fn draw(&self, session: &mut Session<'_>) -> Result<Zeroizing<Vec<i64>>, GateError> {
        let law = DiscreteLaplace::new(self.noise_scale / self.step)?;
        let mut draws = Zeroizing::new(vec![0; self.coordinates]);
        law.fill(&mut draws, session.charge(self.event())?);
        Ok(draws)
    }
}
