//! Noise of density ∝ exp(−‖b‖₂/s): pure differential privacy for vectors.
//!
//! **Theorem.** ‖f(D) − f(D′)‖₂ ≤ Δ. f(D) + b is (Δ/s)-DP, because the ratio of densities at any point
//! is exp((‖v − f(D′)‖ − ‖v − f(D)‖)/s) ≤ exp(Δ/s). ‖b‖ is Gamma(p, s) and the direction uniform. The
//! noise is continuous: the guarantee is in real arithmetic. The sum is rounded to a grid of about
//! s·2⁻³⁰, so that the last bits of floating-point sums, which such a proof does not cover, are not
//! released.

use super::grid::add_blur;
use crate::account::{Cost, Event};
use crate::gate::{GateError, Noisy, Private, Session};
use crate::noise::L2Laplace as Law;
use privet_core::{Neighbours, Unit};
use zeroize::Zeroizing;

/// Adds ℓ2-Laplace noise to a vector of bounded ℓ2 sensitivity.
#[derive(Debug, Clone, PartialEq)]
pub struct L2Laplace {
    /// The neighbour relation that the sensitivity was derived for.
    pub neighbours: Neighbours,
    /// The unit that the sensitivity was derived for.
    pub unit: Unit,
    /// ℓ2 sensitivity.
    pub sensitivity: f64,
    /// Scale s of the noise vector's norm.
    pub noise_scale: f64,
    /// Length of the vector.
    pub coordinates: usize,
}

impl L2Laplace {
    /// The event of one release.
    pub fn event(&self) -> Event {
        Event::Use {
            neighbours: self.neighbours,
            unit: self.unit,
            cost: Cost::L2Laplace { sensitivity: self.sensitivity, noise_scale: self.noise_scale },
        }
    }

    /// Records the event, draws, and adds the noise.
    pub fn run(
        &self,
        value: Private<Vec<f64>>,
        session: &mut Session<'_>,
    ) -> Result<Noisy<Vec<f64>>, GateError> {
        let mut noise = Zeroizing::new(vec![0.0; self.coordinates]);
        Law::new(self.noise_scale)?.fill(&mut noise, session.charge(self.event())?);
        let value = value.open();
        if value.len() != self.coordinates || !value.iter().all(|x| x.is_finite()) {
            return Err(GateError::Malformed);
        }
        Ok(session.mark_noisy(add_blur(&value, &noise, self.noise_scale)))
    }
}
