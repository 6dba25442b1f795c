//! Approximate Minima Perturbation: a noisy, inexact minimiser.
//!
//! **Theorem.** θ̃ is certified to lie within r = Δ_out/2 of the exact minimiser θ* of the perturbed
//! objective (r = (γ+η)/λ + rounding: residual γ, distance η of the b used from an ideal draw, strong
//! convexity λ); θ̃ + noise is released. If the noise is N(0,τ²I) the release costs at most the
//! *adaptive composition* of the exact minimiser's release with a Gaussian release of parameter
//! ν = Δ_out/τ; if it is ℓ2-Laplace of scale s, with an (Δ_out/s)-DP release.
//!
//! *Proof.* Release θ* first. Given θ* = t, θ̃ has under either data set *some* law on the ball of
//! radius r around t: it may depend on the data, on b and on the optimiser's coins, not on the
//! output noise. Couple the two laws in any way: the two centres are at most 2r = Δ_out apart, so by
//! joint convexity of the hockey-stick divergence the kernels satisfy H_e ≤ δ_G(e;ν) at every real
//! e. Hence the pair (θ*, output) has H_ε = E_P H_{ε−ℒ(t)} ≤ E δ̄(ε−L₂), L₂ ~ N(ν²/2,ν²), where δ̄
//! bounds the first curve at every real argument. The output alone is a post-processing. ∎
//!
//! So no budget is split: the accountant sees two parts. For fixed sign this reads
//! δ ≤ δ_G(ε−C;√(μ²+ν²)) + Φ(−μ/2)·δ_G(ε−C;ν), for any sign 2δ_G(ε−C;√(μ²+ν²)), in the Gaussian
//! regime √(μ²+ν²)-GDP; see [`super::objective`].
//!
//! Departs from print: the factor 2 in Δ_out is needed (an optimiser may err in any direction for
//! each data set), and no ε₁+ε₂, δ₁+δ₂ split.

use super::error::{AccountError, non_negative, positive};
use super::event::{Grid, OutputNoise};

/// The cost of the noise on the minimiser, beside the exact minimiser's release.
pub enum OutputCost {
    /// A Gaussian release of parameter ν.
    Gaussian(f64, Option<Grid>, f64),
    /// An ε-DP release.
    Pure(f64),
}

/// The second part of the Theorem.
pub fn output_cost(sensitivity: f64, output: &OutputNoise) -> Result<OutputCost, AccountError> {
    let sensitivity = non_negative("output_sensitivity", sensitivity)?;
    Ok(match *output {
        OutputNoise::Gaussian { noise_scale, grid } => {
            let scale = positive("output noise_scale", noise_scale)?;
            OutputCost::Gaussian(sensitivity / scale, grid, scale)
        }
        OutputNoise::L2Laplace { noise_scale } => {
            OutputCost::Pure(sensitivity / positive("output noise_scale", noise_scale)?)
        }
    })
}
