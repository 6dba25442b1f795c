//! Counts by keys of an unknown domain: the keys that enough units hold, each with its noisy count.
//!
//! **Theorem** (after Korolova, Kenthapadi, Mishra & Ntoulas 2009 and Bun, Nissim & Stemmer 2016, for
//! Gaussian noise). A unit holds at most m keys, whichever; c(D) is the number of units that hold each
//! key. Add independent noise N of standard deviation σ to the count of every key with c ≥ 1, and
//! release the pairs of key and noisy count that are at least T, where m·Pr\[1 + N ≥ T\] ≤ δ′. Let r = m
//! if neighbours differ in whether a unit is there, r = 2m if one is exchanged for another. For all
//! neighbours D, D′ the release is dominated by the composition of a Gaussian mechanism of sensitivity
//! √r and noise σ with a (0, δ′) one: δ(ε) ≤ δ′ + (1 − δ′)·δ_G(ε; √r/σ) for every ε.
//!
//! *Proof.* Let D₀ be D without the unit in question, which is also D′ without its own (or D′ itself),
//! and C the keys with c(D₀) ≥ 1. Those are keys of D and D′ alike. A key of D outside C is held by that
//! unit alone, so has count 1, and there are at most m of them; likewise of D′. Let A be the release on
//! C, and B the event that a key outside C is released: Pr\[B\] ≤ δ′ under D and under D′, and A and B
//! are independent, since noises are. Without B the release is A. On C the counts of D and D′ differ by
//! at most 1 at no more than r keys, so in ℓ2 by √r; keys with equal counts have equal laws, so that
//! only the others matter. For a set E of releases let p = Pr\[A(D) ∈ E\], p′ = Pr\[A(D′) ∈ E\],
//! b = Pr\[B\] under D, b′ under D′, and δ_G = δ_G(ε), so that p ≤ e^ε·p′ + δ_G. Then
//! Pr\[M(D) ∈ E\] ≤ p(1 − b) + b and Pr\[M(D′) ∈ E\] ≥ p′(1 − b′), so that
//! Pr\[M(D) ∈ E\] − e^ε·Pr\[M(D′) ∈ E\] ≤ p(1 − b) + b − max(p − δ_G, 0)(1 − b′), which grows with b and
//! b′, is at b = b′ = δ′ equal to δ′ + (1 − δ′)·min(p, δ_G), and that is the curve of the composition.
//! The charged pair is symmetric, so that the same holds for ε < 0 with D and D′ exchanged: its curve
//! dominates, and dominating pairs compose (Zhu, Dong & Wang 2022, Theorem 10). ∎
//!
//! - Finite arithmetic: counts are integers, N is on a grid of σ·2⁻⁴⁰ ([`super::Gaussian`]), and the
//!   event charges that grid and the r coordinates in question. Pr\[1 + N ≥ T\] is bounded by the normal
//!   tail half a step earlier and the distance of the two laws.
//! - The number of keys is secret, and determines nothing but the number of drawn noises.
//! - The caller guarantees that a unit adds at most 1 to at most m counts, whatever its records are.
//! - Tested by `tests/all/stable_histogram.rs`.

use super::grid::{ExactCounts, from_grid, round_up, rounding};
use crate::account::{Cost, Event, Grid, normal};
use crate::gate::{GateError, Noisy, Private, Session};
use crate::noise::{GridGaussian, NoiseError};
use privet_core::{Neighbours, Unit};
use std::collections::BTreeMap;
use zeroize::Zeroizing;

use super::stability::RELEASED;

/// Noisy counts of the keys that enough units hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StableHistogram {
    /// The neighbour relation.
    pub neighbours: Neighbours,
    /// The unit that holds keys.
    pub unit: Unit,
    /// Largest number m of keys of one unit.
    pub keys: u32,
    /// Standard deviation σ of each count's noise.
    pub noise_scale: f64,
    /// Upper bound δ′ on the probability that a key of one unit alone is released.
    pub delta: f64,
}

impl StableHistogram {
    /// Number r of keys at which neighbours differ.
    fn differing_keys(&self) -> u64 {
        match self.neighbours {
            Neighbours::AddRemove => u64::from(self.keys),
            Neighbours::ReplaceOne | Neighbours::ReplaceLabel => 2 * u64::from(self.keys),
        }
    }

    fn gaussian(&self) -> Result<Event, GateError> {
        let (step, coordinates) =
            (GridGaussian::new(self.noise_scale)?.step(), self.differing_keys());
        // Counts are multiples of the step if it is at most 1; otherwise they are rounded to it.
        let rounded = rounding(step, coordinates as usize);
        let cost = Cost::Gaussian {
            sensitivity: round_up((coordinates as f64).sqrt() + rounded),
            noise_scale: self.noise_scale,
            grid: Some(Grid { step, coordinates }),
        };
        Ok(Event::Use { neighbours: self.neighbours, unit: self.unit, cost })
    }

    fn leak(&self) -> Event {
        let cost = Cost::Approximate { epsilon: 0.0, delta: self.delta };
        Event::Use { neighbours: self.neighbours, unit: self.unit, cost }
    }

    /// The event of one release.
    pub fn event(&self) -> Result<Event, GateError> {
        self.threshold()?;
        Ok(Event::All(vec![self.gaussian()?, self.leak()]))
    }

    /// The threshold T, rounded up.
    pub fn threshold(&self) -> Result<f64, GateError> {
        RELEASED.check(self.delta).map_err(NoiseError::Setting)?;
        let law = GridGaussian::new(self.noise_scale)?;
        let each = self.delta / f64::from(self.keys.max(1)) - law.distance(1);
        // Slightly more than the tail, to cover the rounding of the function.
        let beyond = |z: f64| normal::round_above(normal::cdf(-z), 1e-9);
        // Below 10⁻³⁰⁰ or so the tail cannot be resolved.
        let (mut low, mut high) = (0.0_f64, 37.0_f64);
        if self.keys == 0 || each <= beyond(high) {
            return Err(GateError::Malformed);
        }
        while high - low > 1e-9 {
            let middle = 0.5 * (low + high);
            if beyond(middle) <= each { high = middle } else { low = middle }
        }
        Ok((1.0 + law.step() + self.noise_scale * high) * (1.0 + 1e-12))
    }

    /// The keys that enough units hold, in order, each with its noisy count.
    ///
    /// The counts are private:
    /// ```compile_fail,E0308
    /// # use privet_dp::{gate::Session, mechanism::StableHistogram};
    /// fn open(counts: std::collections::BTreeMap<u8, u64>, by: &StableHistogram, session: &mut Session<'_>) {
    ///     let _ = by.run(counts, session);
    /// }
    /// ```
    pub fn run<K: Ord>(
        &self,
        counts: Private<BTreeMap<K, u64>>,
        session: &mut Session<'_>,
    ) -> Result<Noisy<Vec<(K, f64)>>, GateError> {
        let (threshold, law) = (self.threshold()?, GridGaussian::new(self.noise_scale)?);
        let randomness = session.charge(self.gaussian()?)?;
        let counts: Vec<(K, u64)> =
            counts.open().into_iter().filter(|(_, count)| *count > 0).collect();
        let mut draws = Zeroizing::new(vec![0; counts.len()]);
        law.fill_steps(&mut draws, randomness);
        session.charge(self.leak())?;
        let whole = counts.iter().map(|(_, count)| i128::from(*count)).collect();
        let steps = ExactCounts { counts: whole, unit: 1.0 }.to_grid(law.step(), counts.len())?;
        let noisy = from_grid(&steps, &draws, law.step());
        let kept = counts.into_iter().zip(noisy).filter(|(_, noisy)| *noisy >= threshold);
        let kept = kept.map(|((key, _), noisy)| (key, noisy)).collect();
        Ok(session.mark_noisy(kept))
    }
}
