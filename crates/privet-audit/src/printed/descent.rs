//! Private SGD, permutation SGD: PRIV-13 and PRIV-9 (Thakkar 2019, Algorithms 4 and 2).
//!
//! **PRIV-13.** Algorithm 4 sets σ² = 16Δ²T·ln(1/δ)/(m²ε²) for T batches of k drawn with replacement.
//! Its step sizes are free; let the last step dominate all before it, so that the output is that step's
//! noisy gradient alone. Neighbours: all gradients 0, except one record's ±Δ. If the record is drawn,
//! the mean moves by at least Δ/k in its direction; it is drawn at least once with probability q =
//! 1 − (1 − 1/m)^k. For every threshold t
//! δ(ε) ≥ (1 − q)Q(t/σ) + q·Q((t − Δ/k)/σ) − e^ε·Q(t/σ), Q = 1 − Φ,
//! since on the other neighbour every draw moves away from t.
//!
//! **PRIV-9.** Algorithm 2 with a step size above 2/β. Huber hinge, records x = 1 of both labels, so
//! that the mean loss has its minimum in the curved part; one label flips. There an update multiplies
//! differences by 1 − ηβ′ < −1, β′ the curvature of the mean. All records are in one batch, so that
//! their order, which is secret, does not matter, and noise is Gaussian: the ε of the computed movement
//! is exact.

use super::{Erratum, Verdict};
use crate::AuditError;
use crate::bits::noise_failed;
use crate::normal;
use crate::runs::{Neighbour, Target};
use privet_dp::account::gaussian;
use privet_dp::noise::bernoulli::Coin;
use privet_dp::noise::{GridGaussian, Source};
use privet_optim::loss::Loss;

/// Settings of Algorithm 4, with Δ = 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrivateSgd {
    /// m, the number of rows.
    pub rows: f64,
    /// k, the size of a batch.
    pub batch: f64,
    /// T, the number of steps.
    pub steps: f64,
    /// The claimed ε.
    pub epsilon: f64,
    /// The claimed δ.
    pub delta: f64,
}

impl PrivateSgd {
    /// The printed σ of the mean gradient.
    pub fn noise(&self) -> f64 {
        4.0 * libm::sqrt(self.steps * libm::log(1.0 / self.delta)) / (self.rows * self.epsilon)
    }

    /// The probability that a given record is drawn at least once in a step.
    pub fn drawn(&self) -> f64 {
        -libm::expm1(self.batch * libm::log1p(-1.0 / self.rows))
    }

    /// A lower bound on δ(e) of the last step alone.
    pub fn lower_delta(&self, e: f64) -> f64 {
        let (sigma, q, move_) = (self.noise(), self.drawn(), 1.0 / self.batch);
        let tail = |x: f64| normal::cdf(-x);
        let at = |t: f64| {
            (1.0 - q) * tail(t / sigma) + q * tail((t - move_) / sigma)
                - libm::exp(e) * tail(t / sigma)
        };
        let reach = move_ + 10.0 * sigma;
        (0..=2000).map(|k| at(reach * f64::from(k) / 2000.0)).fold(0.0, f64::max)
    }

    /// Lower bound on the ε of the last step alone, at δ.
    pub fn lower_epsilon(&self) -> f64 {
        let (mut low, mut high) = (0.0, 600.0);
        if self.lower_delta(low) <= self.delta {
            return 0.0;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.lower_delta(middle) > self.delta { low = middle } else { high = middle }
        }
        low
    }
}

/// The last step of [`PrivateSgd`] as a target, with the record ±1.
pub struct LastStep {
    move_: f64,
    drawn: Coin,
    noise: GridGaussian,
}

impl LastStep {
    /// Uses `times` the printed noise.
    pub fn new(settings: &PrivateSgd, times: f64) -> Result<Self, AuditError> {
        Ok(Self {
            move_: 1.0 / settings.batch,
            drawn: Coin::new(settings.drawn()).map_err(noise_failed)?,
            noise: GridGaussian::new(times * settings.noise()).map_err(noise_failed)?,
        })
    }
}

impl Target for LastStep {
    fn release(
        &self,
        neighbour: Neighbour,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, AuditError> {
        let mut value = [0.0];
        self.noise.fill(&mut value, source);
        let sign = if neighbour == Neighbour::Second { 1.0 } else { -1.0 };
        let moved = if self.drawn.toss(source) { sign * self.move_ } else { 0.0 };
        Ok(vec![value[0] + moved])
    }

    fn likelihood_ratio(&self, release: &[f64]) -> Option<f64> {
        release.first().copied()
    }
}

/// Movement of Algorithm 2's point when one of `negative` labels among `batch` records x = 1 (a single
/// batch, so order does not matter) becomes positive; Huber hinge of width h.
pub fn permutation_movement(batch: u64, negative: u64, passes: u64, rate: f64, h: f64) -> f64 {
    let loss = Loss::HuberSvm { h };
    let run = |negative: u64| {
        let mut theta = 0.0;
        for _ in 0..passes {
            let positive = batch.saturating_sub(negative) as f64 * loss.derivative(theta, 1.0);
            let gradient = positive + negative as f64 * loss.derivative(theta, -1.0);
            theta -= rate * gradient / batch as f64;
        }
        theta
    };
    (run(negative) - run(negative.saturating_sub(1))).abs()
}

/// The largest of these movements over all numbers of negative labels.
pub fn permutation_worst(batch: u64, passes: u64, rate: f64, h: f64) -> f64 {
    let moved = |negative| permutation_movement(batch, negative, passes, rate, h);
    (1..=batch).map(moved).fold(0.0, f64::max)
}

/// √(2·ln(2/δ))/ε, the printed σ/Δ of Algorithms 2 and 3.
pub fn printed_noise_scale(epsilon: f64, delta: f64) -> f64 {
    libm::sqrt(2.0 * libm::log(2.0 / delta)) / epsilon
}

pub(super) fn errata() -> Vec<Erratum> {
    let mut all = Vec::new();
    for (rows, steps, epsilon) in [(36_176.0, 100.0, 1.0), (464_809.0, 100.0, 0.1)] {
        let delta = 1.0 / (rows * rows);
        let settings = PrivateSgd { rows, batch: 50.0, steps, epsilon, delta };
        all.push(Erratum {
            id: "PRIV-13",
            what: format!("private SGD, closed-form σ: m = {rows}, k = 50, T = {steps}, last step"),
            epsilon,
            delta,
            recomputed: settings.lower_epsilon(),
            verdict: Verdict::ClaimFalse,
        });
    }
    let (epsilon, delta, passes) = (1.0, 300_f64.powi(-2), 10);
    let printed = 2.0 * passes as f64 / 300.0 * printed_noise_scale(epsilon, delta);
    let moved = permutation_worst(300, passes, 1.0, 0.1);
    all.push(Erratum {
        id: "PRIV-9",
        what: format!("PSGD with η = 1 > 2/β = 0.4 (Huber, h = 0.1): k = m = 300, T = {passes}"),
        epsilon,
        delta,
        recomputed: gaussian::epsilon(delta, moved / printed),
        verdict: Verdict::ClaimFalse,
    });
    all
}
