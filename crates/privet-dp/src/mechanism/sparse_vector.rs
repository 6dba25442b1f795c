//! Sparse vector: compares a long series of answers with a threshold, and charges only for those that
//! are not above it.
//!
//! **Theorem** (one run; Dwork, Naor, Reingold, Rothblum & Vadhan 2009; Lyu, Su & Li 2017, Alg. 1). Let
//! q₁, q₂, … be integers computed from records, each query chosen after the comparisons before it, each
//! changing by at most Δ between neighbours. Draw Z of scale s₁ once and N₁, N₂, … of scale s₂, and
//! release for each i whether **qᵢ − Nᵢ > w − Z**, up to the first that is not (⊥). The series of
//! answers is ε₀-DP with **ε₀ = Δ/s₁ + 2Δ/s₂**,
//! whatever their number, if on the integers
//! 1. Pr\[Z = z\] ≤ e^(k/s₁)·Pr\[Z = z + k\] for k ≥ 0, and
//! 2. Pr\[N ≥ x\] ≤ e^(k/s₂)·Pr\[N ≥ x + k\] for k ≥ 0.
//!
//! *Proof.* Fix the analyst (with its coins), so that a series of answers determines the queries. Above
//! is Nᵢ < qᵢ + Z − w. Under D, Pr\[⊤…⊤⊥\] = Σ_z Pr\[Z = z\]·∏_{i<k}
//! Pr\[N < qᵢ + z − w\]·Pr\[N ≥ q_k + z − w\]. Go from z to z + Δ and from q to q′:
//! q′ᵢ + z + Δ ≥ qᵢ + z, so that no factor of the product falls; the first factor loses at most e^(Δ/s₁)
//! by 1.; the last one's argument rises by at most 2Δ, which loses at most e^(2Δ/s₂) by 2. The map z →
//! z + Δ is one to one. Series that ended before a ⊥ lack the last factor. ∎
//!
//! Both hold for
//! - **exponential** noise, Pr\[k\] ∝ e^(−k/s) on k ≥ 0 (then Pr\[N ≥ x\] = e^(−x/s) for x ≥ 0, and 1
//!   below). It has only the tails that the proof needs, one each, and half the variance;
//! - **discrete Laplace** noise, Pr\[k\] ∝ e^(−|k|/s) (its tail function is log-concave with slopes of
//!   at most 1/s), as in Thakkar 2019, Algorithm 6.
//!
//! **T of them** (Alg. 6). After a ⊥ a new Z is drawn. At most T runs are made, so at most **T** answers
//! are ⊥: each run is charged *before* its Z is drawn, and an interrupted run (by the end of a process)
//! is spent. T adaptive uses of an ε₀-DP mechanism are composed by the accountant, exactly (Kairouz, Oh
//! & Viswanath 2015): never worse than basic or advanced composition, so that neither has to be chosen.
//!
//! - *Departs from print*: the printed loop runs while c ≤ T and lets T + 1 answers be ⊥; there
//!   λ = √(32T ln(1/δ))/ε (21.5 at T = 1, ε = 1, δ = 10⁻⁶), here the accountant's calibration (2 with
//!   the printed ratio).
//! - **Never readable**: Z. An observer who knew it would learn from each comparison as from an answer
//!   without threshold noise. It is wiped after its run.
//! - Finite arithmetic: integers and exact draws; ⊤ and ⊥ on equality are as stated.
//! - Tested by `tests/all/sparse_vector.rs`.

use crate::account::{Cost, Event, ThresholdNoise};
use crate::gate::{GateError, Noisy, Private, Session};
use crate::noise::{DiscreteLaplace, LAPLACE_SCALE, NoiseError, Source};
use privet_core::{Neighbours, Range, Unit};
use zeroize::Zeroizing;

/// Limits on the ratio s₂/s₁.
pub const QUERY_RATIO: Range = Range::from("query_ratio", 1.0 / 64.0, 64.000_001);

/// Comparisons with a noisy threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SparseVector {
    /// The neighbour relation that Δ was derived for.
    pub neighbours: Neighbours,
    /// The unit that Δ was derived for.
    pub unit: Unit,
    /// Sensitivity Δ of one answer.
    pub sensitivity: u32,
    /// The law of Z and N.
    pub law: ThresholdNoise,
    /// Scale s₁ of the threshold's noise.
    pub noise_scale: f64,
    /// Ratio s₂/s₁ of the noise scales.
    pub query_ratio: f64,
    /// Largest number T of runs.
    pub cutoff: u32,
    /// The threshold w.
    pub threshold: i64,
}

impl SparseVector {
    /// Scale s₂ of each answer's noise.
    pub fn query_noise_scale(&self) -> f64 {
        self.noise_scale * self.query_ratio
    }

    /// The event of one run.
    pub(super) fn run_event(&self) -> Result<Event, GateError> {
        LAPLACE_SCALE.check(self.noise_scale).map_err(NoiseError::Setting)?;
        QUERY_RATIO.check(self.query_ratio).map_err(NoiseError::Setting)?;
        LAPLACE_SCALE.check(self.query_noise_scale()).map_err(NoiseError::Setting)?;
        let cost = Cost::AboveThreshold {
            law: self.law,
            sensitivity: f64::from(self.sensitivity),
            noise_scale: self.noise_scale,
            query_noise_scale: self.query_noise_scale(),
        };
        Ok(Event::Use { neighbours: self.neighbours, unit: self.unit, cost })
    }

    /// The event of at most T runs.
    pub fn event(&self) -> Result<Event, GateError> {
        Ok(Event::UpTo { count: self.cutoff, event: Box::new(self.run_event()?) })
    }

    /// Begins; nothing is charged yet.
    pub fn begin(&self) -> Result<ComparisonRun, GateError> {
        let event = self.run_event()?;
        let (threshold, each) = (self.noise_scale, self.query_noise_scale());
        let laws = [DiscreteLaplace::new(threshold)?, DiscreteLaplace::new(each)?];
        Ok(ComparisonRun { of: *self, event, laws, lowered: None, runs: 0, covered: false })
    }
}

/// Comparisons in progress.
pub struct ComparisonRun {
    of: SparseVector,
    event: Event,
    /// The laws of Z and of N.
    laws: [DiscreteLaplace; 2],
    /// The threshold's noise Z, during a run.
    lowered: Option<Zeroizing<i64>>,
    runs: u32,
    /// True if the mechanism that uses it has charged all runs beforehand.
    covered: bool,
}

/// Shows neither Z nor the compared values.
impl std::fmt::Debug for ComparisonRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Comparing({:?}, noise withheld)", self.of)
    }
}

impl ComparisonRun {
    /// Compares the value with the threshold, under noise: true if it is above; `None` after the last
    /// run.
    ///
    /// The value is private:
    /// ```compile_fail,E0308
    /// # use privet_dp::{gate::Session, mechanism::Comparing};
    /// fn open(comparing: &mut Comparing, session: &mut Session<'_>) {
    ///     let _ = comparing.above(41, session);
    /// }
    /// ```
    pub fn above(
        &mut self,
        value: Private<i64>,
        session: &mut Session<'_>,
    ) -> Result<Noisy<Option<bool>>, GateError> {
        let above = self.compare(value.open(), session)?;
        Ok(session.mark_noisy(above))
    }

    /// As [`Self::above`], for mechanisms that use the result inside.
    pub(super) fn compare(
        &mut self,
        value: i64,
        session: &mut Session<'_>,
    ) -> Result<Option<bool>, GateError> {
        let lowered = match &self.lowered {
            Some(lowered) => **lowered,
            None if self.runs >= self.of.cutoff => return Ok(None),
            None => {
                let source = match self.covered {
                    true => session.source(),
                    false => session.charge(self.event.clone())?,
                };
                let drawn = draw(&self.laws[0], self.of.law, source);
                (self.lowered, self.runs) = (Some(Zeroizing::new(drawn)), self.runs + 1);
                drawn
            }
        };
        // Covered by the run that is charged.
        let noise = draw(&self.laws[1], self.of.law, session.source());
        let above = value.saturating_sub(noise) > self.of.threshold.saturating_sub(lowered);
        if !above {
            self.lowered = None;
        }
        Ok(Some(above))
    }

    /// Charges nothing: the mechanism that uses it has charged all runs.
    pub(super) fn without_charge(self) -> Self {
        Self { covered: true, ..self }
    }

    /// Counts runs of an earlier process as made.
    pub(super) fn after(mut self, runs: u32) -> Self {
        self.runs = self.runs.saturating_add(runs);
        self
    }
}

/// One draw. The exponential law is the two-sided one, conditioned on values of at least 0.
fn draw(law: &DiscreteLaplace, kind: ThresholdNoise, source: &mut dyn Source) -> i64 {
    loop {
        let drawn = law.draw(source);
        if kind == ThresholdNoise::Laplace || drawn >= 0 {
            return drawn;
        }
    }
}
