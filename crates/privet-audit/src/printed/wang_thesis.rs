//! DP-IGHT, MPC perturbation and DP-LSSGD of Wang (PhD thesis), chapters 2, 5 and 6.
//!
//! **DP-IGHT.** Theorem 2.5.2 claims ρ-zCDP for T full-gradient steps with σ² = TG²/(n²ρ). The
//! replace-one sensitivity of the mean gradient is 2G/n, attained by linear losses ±G; then the T steps
//! are one Gaussian release of μ = 2√ρ, whose Rényi divergence of order α is 2ρα, twice the claim. Its
//! (ε, δ) form, ρ = (√(ln(1/δ) + ε) − √ln(1/δ))², is false if the slack of that conversion is less than
//! a factor √2 in μ. With one coordinate nothing is thresholded, and with linear losses θ_T is the sum
//! of the steps: μ is attained by the output itself.
//!
//! **MPC Out P.** Theorem 6.3.1 needs noise of density ∝ exp(−‖η‖₂/b); independent Laplace(b)
//! coordinates (Lemma 6.5.1, §6.7 and the public code) against an ℓ2 sensitivity cost √d·ε, attained by
//! a movement along (1, …, 1).
//!
//! **MPC Grad P.** Table 6.1 has σ = √(2T)·G/(mnε), where (6.3.1) states σ² = 8G²T·ln(1/δ)/(mnε)²: T
//! mean gradients of sensitivity 2G/(mn) are one Gaussian release of μ = √2·ε by the table.
//!
//! **DP-LSSGD** (chapter 5). Theorem 5.3.2: ν² = 20TαG²/(μn²ε), α = ln(1/δ)/((1 − μ)ε) + 1, for the mean
//! gradient of batches of b; its condition on α is not met at the settings of the experiments.

use super::{Erratum, Verdict};
use privet_dp::account::gaussian;

/// ρ of Remark 2.5.3.
pub fn printed_rho(epsilon: f64, delta: f64) -> f64 {
    let ln = libm::log(1.0 / delta);
    (libm::sqrt(ln + epsilon) - libm::sqrt(ln)).powi(2)
}

/// μ of the printed DP-IGHT that claims (ε, δ).
pub fn hard_thresholding_mu(epsilon: f64, delta: f64) -> f64 {
    2.0 * libm::sqrt(printed_rho(epsilon, delta))
}

/// μ of MPC Grad P with the σ of Table 6.1 for ε.
pub fn tabled_gradient_mu(epsilon: f64) -> f64 {
    std::f64::consts::SQRT_2 * epsilon
}

/// μ of MPC Grad P with the σ of (6.3.1) for (ε, δ).
pub fn gradient_mu(epsilon: f64, delta: f64) -> f64 {
    epsilon / libm::sqrt(2.0 * libm::log(1.0 / delta))
}

/// The movement of ℓ2 norm 1 with the largest cost under independent Laplace coordinates.
pub fn diagonal(dimensions: usize) -> Vec<f64> {
    vec![1.0 / libm::sqrt(dimensions as f64); dimensions]
}

/// n, the number of rows in the experiment of DP-LSSGD.
pub const SMOOTHED_ROWS: u64 = 60_000;
/// b, the size of a batch there.
pub const SMOOTHED_BATCH: u64 = 128;
/// T, the number of steps there: 50 passes.
pub const SMOOTHED_STEPS: u32 = 50 * 469;
/// δ of that experiment.
pub const SMOOTHED_DELTA: f64 = 1e-5;

/// ν of DP-LSSGD with μ = ½, G = 1: `times` is 20 in the theorem, 4 in the public script.
pub fn smoothed_noise(times: f64, epsilon: f64) -> f64 {
    let alpha = 2.0 * libm::log(1.0 / SMOOTHED_DELTA) / epsilon + 1.0;
    let rows = SMOOTHED_ROWS as f64;
    libm::sqrt(times * f64::from(SMOOTHED_STEPS) * alpha / (0.5 * rows * rows * epsilon))
}

pub(super) fn errata() -> Vec<Erratum> {
    let mut all = Vec::new();
    for (epsilon, delta) in [(2.0, 1e-6), (10.0, 1e-6)] {
        all.push(Erratum {
            id: "DP-IGHT",
            what: "σ² = TG²/(n²ρ) for sensitivity 2G/n: linear losses ±G".into(),
            epsilon,
            delta,
            recomputed: gaussian::epsilon(delta, hard_thresholding_mu(epsilon, delta)),
            verdict: Verdict::ClaimFalse,
        });
    }
    for dimensions in [104.0, 122.0] {
        all.push(Erratum {
            id: "MPC-OUT",
            what: format!("Laplace noise per coordinate, ℓ2 sensitivity, d = {dimensions}"),
            epsilon: 1.0,
            delta: 0.0,
            recomputed: libm::sqrt(dimensions),
            verdict: Verdict::ClaimFalse,
        });
    }
    let (epsilon, delta) = (0.5, 1e-3);
    all.push(Erratum {
        id: "MPC-GRAD",
        what: "Table 6.1, σ = √(2T)·G/(mnε) for T steps of sensitivity 2G/(mn)".into(),
        epsilon,
        delta,
        recomputed: gaussian::epsilon(delta, tabled_gradient_mu(epsilon)),
        verdict: Verdict::ClaimFalse,
    });
    all
}
