//! The trade-off between an attacker's two errors.
//!
//! An attacker who decides from the release which of two neighbouring data sets it came from errs with
//! probability α on the one and β on the other. **Theorem** (Wasserman & Zhou 2010; Dong, Roth & Su
//! 2022, Prop. 2.12). If a mechanism is (ε, δ(ε))-DP for every ε in a set E, in both directions, then
//! for every test β ≥ f(α), f(α) = max over ε ∈ E of {0, 1−δ(ε)−e^εα, e^{−ε}(1−δ(ε)−α)}.
//! *Proof.* Let T be the event "decide for the second". (ε, δ)-DP both ways reads
//! 1−β ≤ δ+e^εα (P′(T) against P(T)) and 1−α ≤ δ+e^εβ (P(Tᶜ) against P′(Tᶜ)). ∎
//!
//! The smaller E, the lower f: any set of ε is valid, more of them are tighter. f is convex and falls,
//! as a maximum of such lines. For a Gaussian release and all ε it is Φ(Φ⁻¹(1−α)−μ).
//!
//! Tested by `tests/all/account_bracket.rs`.

use super::error::{AccountError, probability};
use super::event::Event;
use super::parts::Parts;

/// Number of ε that are used.
const POINTS: u32 = 96;
/// δ below which larger ε add next to nothing.
const NEGLIGIBLE_DELTA: f64 = 1e-9;

/// A lower bound on an attacker's second error, given the first.
#[derive(Debug, Clone, PartialEq)]
pub struct TradeOff {
    /// Pairs (ε, δ) that hold.
    profile: Vec<(f64, f64)>,
}

impl TradeOff {
    /// The trade-off from the privacy profile of an event, at about a hundred ε.
    pub fn new(event: &Event) -> Result<Self, AccountError> {
        Self::with_points(event, POINTS)
    }

    /// As [`TradeOff::new`], at this many ε, at least one: fewer are quicker and give a less tight lower
    /// bound.
    pub fn with_points(event: &Event, points: u32) -> Result<Self, AccountError> {
        let points = points.max(1);
        let parts = Parts::new(event)?;
        let most = match parts.epsilon(NEGLIGIBLE_DELTA.max(2.0 * parts.leak).min(1.0)) {
            most if most.is_finite() => most,
            // Grids whose distance dominates, or no protection at all.
            _ => 50.0,
        };
        let profile = (0..=points)
            .map(|k| most * f64::from(k) / f64::from(points))
            .map(|epsilon| (epsilon, parts.delta(epsilon)))
            .collect();
        Ok(Self { profile })
    }

    /// The lower bound f(α): every test that errs with probability α on one data set errs with at least
    /// this probability on a neighbour; rounded down.
    pub fn at(&self, alpha: f64) -> Result<f64, AccountError> {
        let alpha = probability("alpha", alpha)?;
        let lines = self.profile.iter().map(|(epsilon, delta)| {
            let kept = 1.0 - delta;
            let steep = kept - libm::exp(*epsilon) * alpha * (1.0 + 4.0 * f64::EPSILON);
            let flat = libm::exp(-epsilon) * (kept - alpha) * (1.0 - 4.0 * f64::EPSILON);
            steep.max(flat) - 4.0 * f64::EPSILON
        });
        Ok(lines.fold(0.0, f64::max))
    }
}
