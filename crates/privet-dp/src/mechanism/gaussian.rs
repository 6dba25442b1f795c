//! The Gaussian mechanism on a grid.
//!
//! **Theorem.** Let ‖f(D) − f(D′)‖₂ ≤ Δ. Round f(D) to the grid step·ℤᵖ and add to each
//! coordinate step·N, N a discrete Gaussian of parameter σ/step. The result satisfies
//! δ(ε) ≤ δ_G(ε; (Δ + step·√p)/σ) + (1 + e^ε)·p·0.021·(step/σ)².
//!
//! *Proof.* On grid values the noise is within total variation 0.021(step/σ)² a coordinate of
//! rounding N(0, σ²) to the grid ([`crate::noise::GridGaussian`]); the grid value plus the rounded
//! noise is the rounding of (grid value + N(0, σ²)), a post-processing of the exact Gaussian
//! mechanism at sensitivity Δ + step·√p. If each output law is within total variation q of one of
//! an (ε, δ)-DP mechanism, it is (ε, δ + (1 + e^ε)q)-DP. ∎
//!
//! Where e^ε makes the last term large the accountant charges the ratio of the two laws instead
//! ([`crate::noise::grid_ratio`]). With σ/step ≥ 2⁴⁰ it is below 2e-26 a coordinate: the guarantee is
//! that of the exact Gaussian mechanism, and it holds for the program as executed.

use super::grid::{self, ExactCounts, round_up, rounding, to_grid};
use super::shares;
use crate::account::{Cost, Event, Grid};
use crate::gate::{GateError, Noisy, Private, Session};
use crate::noise::GridGaussian;
use privet_core::{Neighbours, Unit};
use zeroize::Zeroizing;

/// Adds Gaussian noise to a vector of bounded ℓ2 sensitivity.
#[derive(Debug, Clone, PartialEq)]
pub struct Gaussian {
    /// The neighbour relation that the sensitivity was derived for.
    pub neighbours: Neighbours,
    /// The unit that the sensitivity was derived for.
    pub unit: Unit,
    /// ℓ2 sensitivity of the value before rounding to the grid.
    pub sensitivity: f64,
    /// Standard deviation σ of each coordinate's noise.
    pub noise_scale: f64,
    /// Length of the vector.
    pub coordinates: usize,
}

impl Gaussian {
    /// The event of one release.
    pub fn event(&self) -> Result<Event, GateError> {
        let step = GridGaussian::new(self.noise_scale)?.step();
        Ok(Event::Use {
            neighbours: self.neighbours,
            unit: self.unit,
            cost: Cost::Gaussian {
                sensitivity: round_up(self.sensitivity + rounding(step, self.coordinates)),
                noise_scale: self.noise_scale,
                grid: Some(Grid { step, coordinates: self.coordinates as u64 }),
            },
        })
    }

    /// Records the event, draws, and adds the noise; among parties each adds its own
    /// ([`super::shares`]).
    pub fn run(
        &self,
        value: Private<Vec<f64>>,
        session: &mut Session<'_>,
    ) -> Result<Noisy<Vec<f64>>, GateError> {
        if session.is_together() {
            let step = GridGaussian::new(self.noise_scale)?.step();
            let steps = Zeroizing::new(to_grid(&value.open(), step, self.coordinates)?);
            let noisy = shares::sum_shares(self.event()?, &steps, step, session)?;
            return Ok(session.mark_noisy(noisy));
        }
        let noise = GridGaussian::new(self.noise_scale)?;
        let source = session.charge(self.event()?)?;
        let noisy = grid::add_noise(value.open(), &noise, self.coordinates, source)?;
        Ok(session.mark_noisy(noisy))
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

    pub(super) fn add_to_units(
        &self,
        value: Private<ExactCounts>,
        session: &mut Session<'_>,
    ) -> Result<Vec<f64>, GateError> {
        if session.is_together() {
            let step = GridGaussian::new(self.noise_scale)?.step();
            let steps = Zeroizing::new(value.open().to_grid(step, self.coordinates)?);
            return shares::sum_shares(self.event()?, &steps, step, session);
        }
        noisy_units(self.event()?, self.noise_scale, self.coordinates, value, session)
    }
}

/// An exact sum plus N(0, noise_scale²I), charged as `event`, which must describe just that.
pub(super) fn noisy_units(
    event: Event,
    noise_scale: f64,
    coordinates: usize,
    value: Private<ExactCounts>,
    session: &mut Session<'_>,
) -> Result<Vec<f64>, GateError> {
    let noise = GridGaussian::new(noise_scale)?;
    value.open().add_noise(&noise, coordinates, session.charge(event)?)
}
