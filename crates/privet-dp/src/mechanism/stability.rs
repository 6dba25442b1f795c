//! Release of a discrete answer if it is stable, that is, if few changes of the data cannot change it:
//! A_dist.
//!
//! **Theorem** (Smith & Thakurta 2013, Proposition 6.2 of Thakurta 2013, in integers). Let an answer f̂
//! and an integer d̂ ≥ 0 be functions of the data such that between neighbours D, D′
//! 1. |d̂(D) − d̂(D′)| ≤ 1, and
//! 2. d̂(D) ≥ 1 implies f̂(D) = f̂(D′).
//!
//! Draw N discrete Laplace of scale s, and release f̂ if d̂ + N > t, else ⊥, where t is the least
//! integer with Pr\[N > t\] ≤ δ. Any neighbours' outputs are then (1/s, 0)-close or (0, δ)-close, so
//! that composing a discrete Laplace mechanism of sensitivity 1 with a (0, δ) one dominates them.
//!
//! *Proof.* If f̂(D) = f̂(D′), the output is a function of d̂ + N and of what both have in common: the
//! Laplace mechanism. Otherwise d̂(D) = d̂(D′) = 0 by 2., and both release ⊥ except with
//! Pr\[N > t\] ≤ δ. Both are post-processing of the charged pair: ignore the (0, δ) part in the one
//! case, the Laplace part in the other. ∎
//!
//! The caller guarantees 1. and 2. of the pair, for every table ([`WithDistance`]). ⊥ costs the same as an
//! answer.
//!
//! - Pr\[N ≥ k\] = αᵏ/(1 + α) for k ≥ 1, α = e^(−1/s).
//! - Finite arithmetic: d̂ and N are integers, N is drawn exactly ([`DiscreteLaplace`]), and t is
//!   rounded up.
//! - Tested by `tests/all/stability.rs`.

use crate::account::{Cost, Event};
use crate::gate::{GateError, Noisy, Private, Session};
use crate::noise::{DiscreteLaplace, LAPLACE_SCALE, NoiseError};
use privet_core::{Neighbours, Range, Unit};

/// Limits on the probability of releasing an unstable answer.
pub const RELEASED: Range = Range::open("delta", 0.0, 0.5);

/// An answer and a lower bound on the number of changes that could alter it.
pub struct WithDistance<A> {
    /// The answer f̂.
    pub answer: A,
    /// The distance d̂; below 0 counts as 0.
    pub distance: i64,
}

/// The test that releases a stable answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stability {
    /// The neighbour relation that the distance counts in.
    pub neighbours: Neighbours,
    /// The unit that the distance counts in.
    pub unit: Unit,
    /// Scale s of the distance's noise.
    pub noise_scale: f64,
    /// Upper bound δ on the probability of releasing an unstable answer.
    pub delta: f64,
}

impl Stability {
    fn laplace(&self) -> Event {
        let cost =
            Cost::Laplace { sensitivity: 1.0, noise_scale: self.noise_scale, step: Some(1.0) };
        Event::Use { neighbours: self.neighbours, unit: self.unit, cost }
    }

    fn leak(&self) -> Event {
        let cost = Cost::Approximate { epsilon: 0.0, delta: self.delta };
        Event::Use { neighbours: self.neighbours, unit: self.unit, cost }
    }

    /// The event of one test, whatever it releases.
    pub fn event(&self) -> Result<Event, GateError> {
        LAPLACE_SCALE.check(self.noise_scale).map_err(NoiseError::Setting)?;
        RELEASED.check(self.delta).map_err(NoiseError::Setting)?;
        Ok(Event::All(vec![self.laplace(), self.leak()]))
    }

    /// The threshold t.
    pub fn threshold(&self) -> i64 {
        let decay = libm::exp(-1.0 / self.noise_scale);
        // Slightly less than δ, to cover the rounding of these functions.
        let ln_delta = libm::log(self.delta) - 1e-12 * (1.0 - libm::log(self.delta));
        let ln_beyond = |t: f64| -(t + 1.0) / self.noise_scale - libm::log1p(decay);
        let mut threshold =
            (-(ln_delta + libm::log1p(decay)) * self.noise_scale - 1.0).ceil().max(0.0);
        while ln_beyond(threshold) > ln_delta {
            threshold += 1.0_f64.max(threshold * f64::EPSILON);
        }
        threshold as i64
    }

    /// Releases the answer, or reports that there is none.
    ///
    /// Answer and distance are private:
    /// ```compile_fail,E0308
    /// # use privet_dp::{gate::Session, mechanism::{Proxied, Stability}};
    /// fn open(test: &Stability, found: Proxied<u8>, session: &mut Session<'_>) {
    ///     let _ = test.run(found, session);
    /// }
    /// ```
    pub fn run<A>(
        &self,
        found: Private<WithDistance<A>>,
        session: &mut Session<'_>,
    ) -> Result<Noisy<Option<A>>, GateError> {
        self.event()?;
        let law = DiscreteLaplace::new(self.noise_scale)?;
        let noise = law.draw(session.charge(self.laplace())?);
        session.charge(self.leak())?;
        let WithDistance { answer, distance } = found.open();
        let far = distance.max(0).saturating_add(noise) > self.threshold();
        Ok(session.mark_noisy(far.then_some(answer)))
    }
}
