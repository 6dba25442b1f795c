//! Private Frank–Wolfe with Laplace noise on every score: PRIV-14 (Thakkar 2019, Algorithm 5).
//!
//! Scale √32·ΔC√(T ln(1/δ))/(mε) on the score of each vertex, T − 1 choices. A record moves a score by
//! at most 2ΔC/m, so a choice is ε₀-DP with ε₀ = ε/√(2T ln(1/δ)); the released code has half the scale
//! and twice that ε₀.
//!
//! **Upper bound.** T − 1 ε₀-DP choices compose by the accountant. **Lower bound.** One column, linear
//! losses: the vertices are ±C, a record moves the difference of their scores by 4ΔC/m = ε₀·σ for any
//! earlier choices, and with steps 1/(t + 1) the output is the mean of the choices, which reveals their
//! number. A choice is a coin of probability F(x) or F(x − ε₀), F the law of the difference of two
//! Laplace variables, x free (it depends on the other records): the best x of a list is taken, and δ(ε)
//! is an exact sum over the binomial counts.

/// ε₀ of one choice at the printed scale.
pub fn choice_epsilon(steps: u32, epsilon: f64, delta: f64) -> f64 {
    epsilon / libm::sqrt(2.0 * f64::from(steps) * libm::log(1.0 / delta))
}

/// Pr\[X₁ − X₂ ≤ x\], both Laplace(1).
fn difference_cdf(x: f64) -> f64 {
    let tail = |x: f64| 0.5 * libm::exp(-x) * (1.0 + 0.5 * x);
    if x < 0.0 { tail(-x) } else { 1.0 - tail(x) }
}

/// δ(e) of `count` tosses of a coin of probability `second` against one of `first`.
fn coins_delta(count: u32, first: f64, second: f64, e: f64) -> f64 {
    let n = f64::from(count);
    let ln_mass = |k: f64, p: f64| {
        libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0)
            + k * libm::log(p)
            + (n - k) * libm::log1p(-p)
    };
    let terms = (0..=count).map(|k| {
        let k = f64::from(k);
        (libm::exp(ln_mass(k, second)) - libm::exp(e + ln_mass(k, first))).max(0.0)
    });
    terms.sum()
}

/// A lower bound on the ε of `count` noisy choices, each ε₀-DP, at δ.
pub fn choices_lower(count: u32, choice: f64, delta: f64) -> f64 {
    let best = |x: f64| {
        let (first, second) = (difference_cdf(x - choice), difference_cdf(x));
        let exceeds = |e: f64| {
            // The rounding error of ln Γ is below 1e-9 here.
            let larger = coins_delta(count, first, second, e);
            larger.max(coins_delta(count, 1.0 - second, 1.0 - first, e)) * (1.0 - 1e-8) > delta
        };
        // count·ε₀ is an upper bound, by basic composition.
        let (mut low, mut high) = (0.0, f64::from(count) * choice);
        if !exceeds(low) {
            return 0.0;
        }
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if exceeds(middle) { low = middle } else { high = middle }
        }
        low
    };
    let centres = [0.0, 0.5, 1.0, 2.0, 4.0, 8.0].map(|far| 0.5 * choice - far);
    centres.into_iter().map(best).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One choice far out costs nearly ε₀, and never more; a law checked by its symmetry and tail.
    #[test]
    fn choices_cost_at_most_what_they_may() {
        assert!((difference_cdf(0.0) - 0.5).abs() < 1e-15);
        assert!((difference_cdf(1.3) + difference_cdf(-1.3) - 1.0).abs() < 1e-15);
        let one = choices_lower(1, 0.5, 0.0);
        assert!(one > 0.4 && one <= 0.5, "{one}");
        let coins = coins_delta(1, 0.2, 0.7, 0.5);
        assert!((coins - (0.7 - 0.2 * 0.5_f64.exp())).abs() < 1e-12, "{coins}");
    }
}
