//! Running sums of a stream under correlated Gaussian noise.
//!
//! **Theorem.** Let C be a [`Factor`] for n steps, let a unit take part in at most b steps that are at
//! least s apart, and let its contribution to such a step change by at most β (ℓ2) between neighbours,
//! whatever was released before. Releasing the n rows of C·g, each rounded to the grid step·ℤᵖ and under
//! discrete Gaussian noise of scale σ, satisfies the curve of a Gaussian mechanism of sensitivity
//!
//! **Δ = β·sens(C; b, s) + √(np)·(r + step)**,
//!
//! r the rounding of the buffers ([`crate::continual::StreamState`]), and the charge for the grid of np
//! coordinates. Contributions may depend on everything released before (gradients at the last model):
//! they must be the same function of that, of the step's own records and of nothing else.
//!
//! *Proof.* Fix a transcript. Contributions of steps in which the unit takes no part are then the same
//! under both streams, so that the means of the n releases differ by C(g − g′), whose squares sum to at
//! most (β·sens)² ([`Factor`]), for every transcript; rounding adds at most r + step in each of np
//! coordinates. Given all before it, release t is a Gaussian one with a shift dₜ, a function of the
//! transcript, and Σ‖dₜ‖² ≤ Δ² for sure: the Gaussian filter ([`crate::account::filter`]) bounds the
//! whole by Δ/σ. (For continuous noise it is Theorem 2.1 of Denisov, McMahan, Rush, Smith & Thakurta
//! 2022.) Each release on the grid is within a total variation of one with continuous noise that is
//! rounded, step by step. ∎
//!
//! Each step is a draw of the session, which commits it before the noise is drawn. A lost or skipped
//! step removes rows from the sum of squares: it costs nothing more.

use super::grid::{from_grid, round_up};
use crate::account::{Cost, Event, Grid};
use crate::continual::{Factor, Participation, Rounding, StateKey, StreamAnswer, StreamState};
use crate::gate::{GateError, Noisy, Private, Session};
use crate::noise::GridGaussian;
use privet_core::{Neighbours, Unit};
use zeroize::{Zeroize, Zeroizing};

/// Adds correlated noise to the contributions of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Continual {
    /// The neighbour relation that the bound was derived for.
    pub neighbours: Neighbours,
    /// The unit that the bound was derived for.
    pub unit: Unit,
    /// The matrix C.
    pub factor: Factor,
    /// The number of steps n.
    pub steps: u32,
    /// The steps in which a unit may take part: b and s.
    pub participation: Participation,
    /// The bound β on a contribution's change.
    pub bound: f64,
    /// Standard deviation σ of each coordinate's noise.
    pub noise_scale: f64,
    /// Length of a contribution.
    pub coordinates: usize,
    /// The unit of integer contributions, a power of two.
    pub step_unit: f64,
}

/// Units whose fractions are normal numbers, too.
const UNITS: std::ops::RangeInclusive<f64> = 1e-270..=1e270;

/// A [`Continual`] in progress: its event, its noise and its secret state.
#[derive(Debug)]
pub struct Stream {
    event: Event,
    noise: GridGaussian,
    secret: StreamState,
    draws: Zeroizing<Vec<i64>>,
}

impl Continual {
    /// The event of all steps together.
    pub fn event(&self) -> Result<Event, GateError> {
        let step = GridGaussian::new(self.noise_scale)?.step();
        if !UNITS.contains(&self.step_unit) || self.step_unit.to_bits() << 12 != 0 {
            return Err(GateError::Malformed);
        }
        let coordinates = u64::from(self.steps) * self.coordinates as u64;
        let moved = self.bound * self.factor.sensitivity(self.steps, self.participation)?;
        let each = Rounding::rounding_of_step(&self.factor, self.steps, self.step_unit) + step;
        Ok(Event::Use {
            neighbours: self.neighbours,
            unit: self.unit,
            cost: Cost::ContinualGaussian {
                factor: self.factor.clone(),
                steps: self.steps,
                participation: self.participation,
                sensitivity: round_up(moved + round_up(each * (coordinates as f64).sqrt())),
                noise_scale: self.noise_scale,
                grid: Grid { step, coordinates },
            },
        })
    }

    /// Begins; nothing is charged yet.
    pub fn begin(&self) -> Result<Stream, GateError> {
        let (factor, steps) = (&self.factor, self.steps);
        Ok(Stream {
            event: self.event()?,
            noise: GridGaussian::new(self.noise_scale)?,
            secret: StreamState::new(factor, steps, self.coordinates, self.step_unit)?,
            draws: Zeroizing::new(vec![0; self.coordinates]),
        })
    }
}

impl Stream {
    /// Takes a step: charges it, and releases the next row of C·g under noise. `contribution` is in
    /// integer multiples of the unit. Refused, with nothing drawn, if the session has made more draws of
    /// the event than this stream took steps: two streams cannot share the draws of one event.
    pub fn step(
        &mut self,
        contribution: Private<&[i64]>,
        session: &mut Session<'_>,
    ) -> Result<Noisy<StreamAnswer>, GateError> {
        // A second stream of the same event would be behind the session. (A stream ahead of it has
        // skipped steps.)
        let place = session.place_in(&self.event);
        if place.is_some_and(|place| place > u64::from(self.secret.steps_taken())) {
            return Err(GateError::NotAsPlanned);
        }
        let source = session.charge(self.event.clone())?;
        self.noise.fill_steps(&mut self.draws, source);
        let mut row = self.secret.take(contribution.open())?;
        let mut steps = row.to_grid(self.noise.step(), self.draws.len())?;
        let noisy = from_grid(&steps, &self.draws, self.noise.step());
        row.counts.zeroize();
        steps.zeroize();
        Ok(session.mark_noisy(StreamAnswer::Row(noisy)))
    }

    /// The number of steps so far.
    pub fn steps_taken(&self) -> u32 {
        self.secret.steps_taken()
    }

    /// Skips a step whose answer was lost with a process: it was charged there, and nothing is released.
    pub fn pass_over(
        &mut self,
        session: &mut Session<'_>,
    ) -> Result<Noisy<StreamAnswer>, GateError> {
        self.secret.pass_over()?;
        Ok(session.mark_noisy(StreamAnswer::Lost))
    }

    /// True if its state can be suspended and resumed.
    pub fn can_be_put_aside(&self) -> bool {
        self.secret.can_be_put_aside()
    }

    /// The answer that reports to a walk that the secret state was abandoned.
    pub fn tell_anew(&self, session: &mut Session<'_>) -> Noisy<StreamAnswer> {
        session.mark_noisy(StreamAnswer::Anew)
    }

    /// Its secret state, sealed under a key and bound to a context.
    pub fn seal(&self, key: &StateKey, context: &str) -> Result<String, GateError> {
        self.secret.seal(key, context)
    }

    /// Replaces the secret state by a sealed one.
    pub fn unseal(self, key: &StateKey, context: &str, sealed: &str) -> Result<Self, GateError> {
        Ok(Self { secret: self.secret.unseal(key, context, sealed)?, ..self })
    }

    /// Replaces the secret state by an empty one after so many steps: their records are abandoned. Rows
    /// before and after share no record then, so that each record's column of C is cut off or begins
    /// later, and the charge holds.
    pub fn after(self, taken: u32) -> Result<Self, GateError> {
        Ok(Self { secret: self.secret.after(taken)?, ..self })
    }
}
