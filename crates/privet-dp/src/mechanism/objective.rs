//! A random linear term inside an objective: objective perturbation and AMP.
//!
//! J(θ) = Σℓ(⟨xᵢ,θ⟩;yᵢ) + (λ/2)‖θ‖² + ⟨b,θ⟩. The noise is inside the objective, so the released value is
//! not "value + noise"; instead [`PerturbedObjective::draw`] returns b together with a one-use
//! [`ObjectiveToken`], and only the token releases a minimiser, given the solver's proof that θ̃ is
//! within γ/λ of the exact minimiser ([`Distance`]); J being λ-strongly convex, ‖∇J(θ̃)‖₂ ≤ γ is such a
//! proof.
//!
//! The charge (the proofs are in [`crate::account`], approximate minima). Noise is always added to the
//! minimiser: there is no release without it. b on its grid is within η = step_b·√p/2 of an exact
//! Gaussian draw, which moves the minimiser by at most η/λ, so θ̃ lies within (γ + η)/λ of the ideal
//! objective's minimiser; rounding θ̃ to the output grid adds step·√p/2. Twice the sum is the
//! sensitivity of the output noise:
//!
//! **Δ_out = 2(γ + η)/λ + step·√p.**
//!
//! The factor 2 is needed because an optimiser may err in any direction for each data set.
//!
//! *Why there is no release without it.* The minimiser of an objective whose b lies on a grid lies on
//! the image of that grid, which depends on the data: T − θ·S, with the sums T, S of either of two
//! tables, falls on the grid of b for one of them only. Rounding θ does not close it: a cell of the
//! result then holds N or N + 1 points of the grid, N being some hundreds, and which of the two depends
//! on the data, so that up to 1/N is added to the privacy loss (`privet_audit::cells`: at ε ≤ 0.01 the δ
//! of the release is a multiple of the theorem's for real numbers). With noise on top, the theorem above
//! covers the program as executed: the image of the grid is one of the laws "on the ball of radius r
//! around t" of its proof.
//!
//! The distance must be proved for the very numbers passed in: evaluation error of the gradient and
//! rounding of θ̃ included.

use super::grid::{add_blur, add_noise, round_up, rounding};
use crate::account::{Cost, Event, Grid, ObjectiveCost, ObjectiveNoise, OutputNoise};
use crate::gate::{GateError, Noisy, Private, Session};
use crate::noise::{GridGaussian, L2Laplace};
use privet_core::{Neighbours, Unit};
use std::fmt;
use zeroize::{Zeroize, Zeroizing};

/// The parameters of a perturbed objective that its privacy depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct PerturbedObjective {
    /// The neighbour relation that is charged.
    pub neighbours: Neighbours,
    /// The unit that is charged.
    pub unit: Unit,
    /// Loss, radius, ridge and the law of b. [`PerturbedObjective::event`] sets the grid of a Gaussian
    /// law, and ignores the one given here.
    pub objective: ObjectiveCost,
    /// The tolerance γ of the sum form, fixed before any record is read.
    pub tolerance: f64,
    /// The length p of θ.
    pub coordinates: usize,
    /// Noise on the minimiser.
    pub output: OutputLaw,
}

/// The law of the noise added to the approximate minimiser, of the same family as b.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OutputLaw {
    /// Gaussian on a fine grid, of this standard deviation.
    Gaussian(f64),
    /// ℓ2-Laplace of this scale.
    L2Laplace(f64),
}

/// A solver's proof: an upper bound on the distance from θ̃ to the exact minimiser.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distance(pub f64);

impl PerturbedObjective {
    /// The event of one release.
    pub fn event(&self) -> Result<Event, GateError> {
        let (noise, offset) = self.linear_law()?;
        let objective = ObjectiveCost { noise, ..self.objective };
        let error = 2.0 * (self.tolerance + offset) / self.objective.ridge;
        let cost = match self.output {
            OutputLaw::Gaussian(noise_scale) => {
                let step = GridGaussian::new(noise_scale)?.step();
                let grid = Some(Grid { step, coordinates: self.coordinates as u64 });
                Cost::ApproximateMinima {
                    objective,
                    output_sensitivity: round_up(error + rounding(step, self.coordinates)),
                    output: OutputNoise::Gaussian { noise_scale, grid },
                }
            }
            OutputLaw::L2Laplace(noise_scale) => Cost::ApproximateMinima {
                objective,
                output_sensitivity: round_up(error),
                output: OutputNoise::L2Laplace { noise_scale },
            },
        };
        Ok(Event::Use { neighbours: self.neighbours, unit: self.unit, cost })
    }

    /// True if b has this law, at any scale.
    pub fn same_law(&self, other: ObjectiveNoise) -> bool {
        std::mem::discriminant(&self.objective.noise) == std::mem::discriminant(&other)
    }

    /// The bound γ/λ on the distance between the released point before noise and the exact minimiser.
    pub fn largest_distance(&self) -> f64 {
        self.tolerance / self.objective.ridge
    }

    /// The law of b with its grid, and the bound η on the distance of b from an ideal draw.
    fn linear_law(&self) -> Result<(ObjectiveNoise, f64), GateError> {
        Ok(match self.objective.noise {
            ObjectiveNoise::Gaussian { noise_scale, .. } => {
                let step = GridGaussian::new(noise_scale)?.step();
                let grid = Some(Grid { step, coordinates: self.coordinates as u64 });
                let offset = rounding(step, self.coordinates) / 2.0;
                (ObjectiveNoise::Gaussian { noise_scale, grid }, offset)
            }
            law @ ObjectiveNoise::L2Laplace { .. } => (law, 0.0),
        })
    }

    /// Records the event and draws b. The budget is spent from here on, whatever happens.
    pub fn draw(
        self,
        session: &mut Session<'_>,
    ) -> Result<(SecretNoise, ObjectiveToken), GateError> {
        let event = self.event()?;
        let mut noise = vec![0.0; self.coordinates];
        match self.objective.noise {
            ObjectiveNoise::Gaussian { noise_scale, .. } => {
                let law = GridGaussian::new(noise_scale)?;
                // Exact: |steps| < 2^53 and the step is a power of two.
                noise = add_noise(noise, &law, self.coordinates, session.charge(event)?)?;
            }
            ObjectiveNoise::L2Laplace { noise_scale } => {
                L2Laplace::new(noise_scale)?.fill(&mut noise, session.charge(event)?);
            }
        }
        Ok((SecretNoise(noise), ObjectiveToken { perturbed: self, session: session.number() }))
    }
}

/// The linear term b. An observer of both b and the minimiser learns the gradient of the data, so it is
/// wiped after use and never printed.
pub struct SecretNoise(Vec<f64>);

impl SecretNoise {
    pub(super) fn new(noise: Vec<f64>) -> Self {
        Self(noise)
    }

    /// The coordinates, for the solver.
    pub fn as_slice(&self) -> &[f64] {
        &self.0
    }
}

impl Drop for SecretNoise {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for SecretNoise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretNoise(withheld)")
    }
}

/// Permission to release one minimiser of the objective whose b was drawn with it.
#[derive(Debug)]
#[must_use = "the noise is drawn and its budget spent; only this token releases the minimiser"]
pub struct ObjectiveToken {
    perturbed: PerturbedObjective,
    /// The session that recorded the draw: no other may release the result.
    session: u64,
}

impl ObjectiveToken {
    /// Releases the minimiser with output noise, if it is proved close enough. `session` must be the one
    /// that recorded the draw.
    pub fn release(
        self,
        minimiser: Private<Vec<f64>>,
        distance: Distance,
        session: &mut Session<'_>,
    ) -> Result<Noisy<Vec<f64>>, GateError> {
        if session.number() != self.session {
            return Err(GateError::Foreign);
        }
        let Distance(bound) = distance;
        // The test is "met?", never "missed?", so that NaN is refused.
        if !matches!(bound.partial_cmp(&self.perturbed.largest_distance()), Some(o) if o.is_le()) {
            return Err(GateError::NotCertified);
        }
        let minimiser = minimiser.open();
        let expected = self.perturbed.coordinates;
        if minimiser.len() != expected || !minimiser.iter().all(|x| x.is_finite()) {
            return Err(GateError::Malformed);
        }
        let released = match self.perturbed.output {
            OutputLaw::Gaussian(noise_scale) => {
                let law = GridGaussian::new(noise_scale)?;
                add_noise(minimiser, &law, expected, session.source())?
            }
            OutputLaw::L2Laplace(noise_scale) => {
                let mut noise = Zeroizing::new(vec![0.0; expected]);
                L2Laplace::new(noise_scale)?.fill(&mut noise, session.source());
                add_blur(&minimiser, &noise, noise_scale)
            }
        };
        Ok(session.mark_noisy(released))
    }
}
