//! Gaussian noise on a sum over a random part of the records, drawn anew and in secret for each use.
//!
//! **Theorem.** Let g(S) = Σ_{i∈S} gᵢ with ‖gᵢ‖₂ ≤ C for every record, whatever was released before. The
//! answer g(S) + N(0, σ²I) with a fresh S is dominated by the pair of Theorem 1 (Poisson, add/remove), 2
//! (Poisson, replace-one) or 3 (without replacement, replace-one) of [`crate::account::sampled`]. T of
//! them, each chosen after the answers before it, have the product of T such pairs, each direction on
//! its own where there are two (Zhu, Dong & Wang 2022, Theorem 10). ∎
//!
//! *In finite arithmetic.* Given S without the record in question, the sum on the grid with the record
//! is within C + step·√p of the sum without it, and two sums with different records in one place are
//! within 2C + step·√p of each other: these are the sensitivities charged. A mixture of laws, each
//! within total variation q of an ideal one, is within q of the mixture of those.
//!
//! **Charged is executed.** The sample is drawn here, under the session's key
//! ([`crate::noise::SampleKey`]), and the event is made from the same [`Draw`]: a learner cannot charge
//! one sampler and use another. Neither S nor |S| is released or divided by. Batches that were cut
//! elsewhere cannot be passed in.
//!
//! - C `contribution`, σ `noise_scale`, √p of `coordinates`
//! - Tested by `tests/all/sampled_gaussian.rs`.

use super::gaussian::noisy_units;
use super::grid::{ExactCounts, round_up, rounding};
use crate::account::{Cost, Event, Grid};
use crate::gate::{GateError, Noisy, Private, Session};
use crate::noise::{GridGaussian, NoiseError, SampleKey};
use privet_core::{Neighbours, Unit};
use zeroize::Zeroizing;

/// The sampler of the records that enter an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Draw {
    /// Each record independently with probability `rate`.
    Poisson {
        /// The sampling rate q, in (0, 1).
        rate: f64,
    },
    /// A uniformly random set of `batch` of the `population` records; replace-one only, where the
    /// number of records is public.
    WithoutReplacement {
        /// The public number of records n.
        population: u64,
        /// The batch size |S|.
        batch: u64,
    },
}

/// Gaussian noise on a sum over sampled records.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledGaussian {
    /// The neighbour relation that is charged.
    pub neighbours: Neighbours,
    /// The unit that is charged; one record only.
    pub unit: Unit,
    /// The sampler.
    pub draw: Draw,
    /// Bound C on the norm of one record's contribution.
    pub contribution: f64,
    /// Standard deviation σ of each coordinate's noise.
    pub noise_scale: f64,
    /// Length of the sum.
    pub coordinates: usize,
}

impl SampledGaussian {
    /// The event of one use.
    pub fn event(&self) -> Result<Event, GateError> {
        let step = GridGaussian::new(self.noise_scale)?.step();
        let (rounding, noise_scale) = (rounding(step, self.coordinates), self.noise_scale);
        let grid = Some(Grid { step, coordinates: self.coordinates as u64 });
        let cost = match self.draw {
            Draw::Poisson { rate } => {
                let sensitivity = round_up(self.contribution + rounding);
                Cost::PoissonGaussian { rate, sensitivity, noise_scale, grid }
            }
            Draw::WithoutReplacement { population, batch } => Cost::WithoutReplacementGaussian {
                population,
                batch,
                sensitivity: round_up(2.0 * self.contribution + rounding),
                noise_scale,
                grid,
            },
        };
        Ok(Event::Use { neighbours: self.neighbours, unit: self.unit, cost })
    }

    /// Draws a sample, lends it to `ask`, charges, and adds noise to the returned sum. `records` is the
    /// number of records; `ask` borrows the indices of the drawn records, ascending, and returns the
    /// exact sum over those, or `None` to stop, which releases nothing.
    ///
    /// The returned sum is private:
    /// ```compile_fail,E0308
    /// # use privet_dp::{gate::{Session, Private}, mechanism::{SampledGaussian, ExactCounts}};
    /// fn open(sampled: &SampledGaussian, session: &mut Session<'_>) {
    ///     let answer = |_: &[usize]| Some(ExactCounts { counts: vec![0], unit: 1.0 });
    ///     let _ = sampled.run(Private::new(1), session, answer);
    /// }
    /// ```
    pub fn run(
        &self,
        records: Private<usize>,
        session: &mut Session<'_>,
        ask: impl FnOnce(&[usize]) -> Option<Private<ExactCounts>>,
    ) -> Result<Noisy<Vec<f64>>, GateError> {
        let records = records.open();
        if let Draw::WithoutReplacement { population, .. } = self.draw
            && population != records as u64
        {
            return Err(GateError::Malformed);
        }
        let event = self.event()?;
        let step = session.draws();
        let drawn = Zeroizing::new(self.draw.sample(records, session.sample_key(), step)?);
        let sum = ask(&drawn).ok_or(GateError::Unanswered)?;
        let noisy = noisy_units(event, self.noise_scale, self.coordinates, sum, session)?;
        Ok(session.mark_noisy(noisy))
    }
}

impl Draw {
    fn sample(self, records: usize, key: &SampleKey, step: u64) -> Result<Vec<usize>, NoiseError> {
        match self {
            Self::Poisson { rate } => key.poisson(step, rate, 0..records as u64),
            Self::WithoutReplacement { batch, .. } => {
                key.without_replacement(step, batch as usize, records)
            }
        }
    }
}
