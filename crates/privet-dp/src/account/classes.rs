//! One-versus-all: K perturbed objectives on the same records, each with its own coins.
//!
//! **Lemma.** Let one release be dominated by the loss C + max(G,0), G ~ N(μ²/2,μ²) (fixed sign,
//! see [`super::objective`]), and let a Gaussian release of parameter ν stand beside the K (all
//! output noises of AMP together: √K times one). Then for every real ε
//!
//! δ ≤ Σ_{j=0}^K binom(K,j)·Φ(−μ/2)^{K−j}·δ_G(ε−KC; √(jμ²+ν²)).
//!
//! *Proof.* Losses add; split on which of the K variables G are ≥ 0: those that are contribute a
//! Gaussian of variance jμ², the others 0 and a factor P(G<0) = Φ(−μ/2). Dropping the condition
//! G ≥ 0 only adds. ∎  (ν = 0 and ε ≥ KC: the term j = 0 vanishes, which is the printed form.)
//!
//! Any sign, replace-one: split on the signs of the K normals, δ ≤ 2^K·δ_G(ε−KC; √(Kμ²+ν²)); not used,
//! as composing the loss distributions is better. In the Gaussian regime nothing is lost: √K·μ.

use super::gaussian;
use super::normal::ln_cdf;

/// The bound of the Lemma.
pub fn one_versus_all(e: f64, determinant: f64, mu: f64, count: u64, nu: f64) -> f64 {
    let n = count as f64;
    let shifted = e - n * determinant * (1.0 + 1e-14);
    let ln_none = ln_cdf(-mu / 2.0);
    let ln_all = libm::lgamma(n + 1.0);
    let mut sum = 0.0;
    for above in (0..=count).rev() {
        let j = above as f64;
        let ln_ways = ln_all - libm::lgamma(j + 1.0) - libm::lgamma(n - j + 1.0);
        let width = libm::sqrt(j * mu * mu + nu * nu) * (1.0 + 1e-15);
        sum += libm::exp(ln_ways + (n - j) * ln_none) * gaussian::delta(shifted, width);
        if sum >= 1.0 {
            return 1.0;
        }
    }
    (sum * (1.0 + 1e-13 * (2.0 + n))).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table "K classes": σ of one-versus-all, logistic with R = 1, at the budget's δ.
    #[test]
    fn the_golden_noise_scales_meet_their_budget_exactly() {
        for (epsilon, delta, count, ridge, add_remove, replace) in [
            (1.0, 1e-5, 2, 10.0, 5.5251587, 11.0503174),
            (1.0, 1e-5, 3, 10.0, 6.941895503, 13.88379101),
            (1.0, 1e-5, 10, 20.0, 14.43426172, 28.86852345),
            (8.0, 1e-6, 10, 2.0, 2.423537691, 4.847075382),
        ] {
            let determinant = libm::log1p(0.25 / ridge);
            for (mu, sigma) in [(1.0, add_remove), (2.0, replace)] {
                let at = |sigma: f64| one_versus_all(epsilon, determinant, mu / sigma, count, 0.0);
                assert!(at(sigma * (1.0 + 2e-8)) <= delta, "{sigma}");
                assert!(at(sigma * (1.0 - 2e-8)) >= delta, "{sigma}");
            }
        }
    }
}
