//! Noisy gradient descent on a random part of the records, drawn anew and in secret for each step.
//!
//! **Theorem.** Let g(θ, S) = Σ_{i∈S} gᵢ(θ) with ‖gᵢ(θ)‖₂ ≤ C for *every* θ and record. The map from
//! the records to all T answers aₜ = g(θₜ₋₁, Sₜ) + N(0, σ²I), with θₜ a fixed function of a₁ … aₜ and
//! fresh Sₜ, has the curve of T sampled Gaussian releases: those of Theorem 1 (Poisson, add/remove),
//! 2 (Poisson, replace-one) or 3 (without replacement, replace-one) of [`crate::account::sampled`].
//!
//! *Proof.* Given the answers before it, each answer is such a release, dominated by a pair that does
//! not depend on them; adaptive composition keeps products of dominating pairs (Zhu, Dong & Wang
//! 2022, Theorem 10), each direction on its own where there are two. ∎
//!
//! *In finite arithmetic.* Given S without the record in question, the sum on the grid with the record
//! is within C + step·√p of the sum without it, and two sums with different records in one place are
//! within 2C + step·√p of each other: these are the sensitivities charged. A mixture of laws, each
//! within total variation q of an ideal one, is within q of the mixture of those.
//!
//! **Charged is executed.** The sampler is run here, from the session's source, and the event is made
//! from the same [`Draw`]: a learner cannot charge one sampler and use another. Neither S nor |S| is
//! released or divided by. There is no way to hand in batches that were cut elsewhere.
//!
//! **The door.** As for [`super::Descent`]: point and subset are lent to a closure that can hand back
//! nothing but a [`Private`] sum, or a bare refusal.
//!
//! - C `contribution`, σ `noise_scale`, T `steps`, √p of `coordinates`
//! - Tested by `tests/sampled_descent.rs`.

use super::descent::{Schedule, descend};
use super::gaussian::noised_units;
use super::grid::{Units, rounding, up};
use crate::account::{Cost, Event, Grid};
use crate::gate::{GateError, Noised, Private, Session};
use crate::noise::{GridGaussian, NoiseError, Source, subset};
use privet_core::{Neighbours, Unit};
use zeroize::Zeroizing;

/// How the part of the records that a step sees is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Draw {
    /// Each record independently with probability `rate`.
    Poisson {
        /// q, in (0, 1).
        rate: f64,
    },
    /// A uniformly random set of `batch` of the `population` records; replace-one only, where the
    /// number of records is public.
    WithoutReplacement {
        /// n.
        population: u64,
        /// |S|.
        batch: u64,
    },
}

/// Noisy descent from θ = 0 on sampled records.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledDescent {
    /// The relation that is charged for.
    pub neighbours: Neighbours,
    /// The unit that is charged for; of one record only.
    pub unit: Unit,
    /// The sampler.
    pub draw: Draw,
    /// C: bound on one record's part of the sum, at every θ.
    pub contribution: f64,
    /// σ.
    pub noise_scale: f64,
    /// Length of the sum.
    pub coordinates: usize,
    /// T.
    pub steps: u32,
    /// What is done with the answers.
    pub schedule: Schedule,
}

impl SampledDescent {
    /// What it will cost.
    pub fn event(&self) -> Result<Event, GateError> {
        Ok(Event::Repeat { count: self.steps, event: Box::new(self.step_event()?) })
    }

    /// What one step costs.
    fn step_event(&self) -> Result<Event, GateError> {
        let step = GridGaussian::new(self.noise_scale)?.step();
        let (rounding, noise_scale) = (rounding(step, self.coordinates), self.noise_scale);
        let grid = Some(Grid { step, coordinates: self.coordinates as u64 });
        let cost = match self.draw {
            Draw::Poisson { rate } => {
                let sensitivity = up(self.contribution + rounding);
                Cost::PoissonGaussian { rate, sensitivity, noise_scale, grid }
            }
            Draw::WithoutReplacement { population, batch } => Cost::WithoutReplacementGaussian {
                population,
                batch,
                sensitivity: up(2.0 * self.contribution + rounding),
                noise_scale,
                grid,
            },
        };
        Ok(Event::Use { neighbours: self.neighbours, unit: self.unit, cost })
    }

    /// Takes every step. `records` says how many there are; `ask` is lent the current point and the
    /// places of the records drawn, ascending, and answers with the exact sum over those, or with
    /// `None` to stop, which releases nothing.
    ///
    /// What it answers is private:
    /// ```compile_fail,E0308
    /// # use privet_dp::{gate::{Session, Private}, mechanism::{SampledDescent, Units}};
    /// fn open(descent: &SampledDescent, session: &mut Session<'_>) {
    ///     let answer = |_: &[f64], _: &[usize]| Some(Units { counts: vec![0], unit: 1.0 });
    ///     let _ = descent.run(Private::new(1), session, answer);
    /// }
    /// ```
    pub fn run(
        &self,
        records: Private<usize>,
        session: &mut Session<'_>,
        ask: impl Fn(&[f64], &[usize]) -> Option<Private<Units>> + Sync,
    ) -> Result<Noised<Vec<f64>>, GateError> {
        let records = records.open();
        if let Draw::WithoutReplacement { population, .. } = self.draw
            && population != records as u64
        {
            return Err(GateError::Malformed);
        }
        let event = self.step_event()?;
        let mean = descend(self.schedule, self.steps, self.coordinates, |point| {
            let drawn = Zeroizing::new(self.draw.subset(records, session.source())?);
            let sum = ask(point, &drawn).ok_or(GateError::Malformed)?;
            noised_units(event.clone(), self.noise_scale, self.coordinates, sum, session)
        })?;
        Ok(session.noised(mean))
    }
}

impl Draw {
    fn subset<S: Source + ?Sized>(
        self,
        records: usize,
        source: &mut S,
    ) -> Result<Vec<usize>, NoiseError> {
        match self {
            Self::Poisson { rate } => subset::poisson(rate, records, source),
            Self::WithoutReplacement { batch, .. } => {
                subset::without_replacement(batch as usize, records, source)
            }
        }
    }
}
