//! Zero-concentrated differential privacy and its conversions.
//!
//! ρ-zCDP: D_α(M(D)‖M(D′)) ≤ ρα for all α > 1 (Bun & Steinke 2016); composition adds ρ.
//! - *Classic*: ρ-zCDP ⇒ (ρ+2√(ρ·ln(1/δ)), δ)-DP for every δ in (0,1).
//! - *Best known from Rényi bounds alone* (Canonne, Kamath & Steinke 2020, Prop. 12): for every
//!   α > 1, δ(e) ≤ e^{(α−1)(ρα−e)}·(1−1/α)^{α−1}/α. *Proof.* (1−e^{e−ℓ})₊ ≤ c·e^{(α−1)(ℓ−e)} holds
//!   with c = max_u (1−e^{−u})e^{−(α−1)u} = (1−1/α)^{α−1}/α, attained at e^{−u} = 1−1/α. ∎
//!
//! The logarithm of the bound is minimised over α; any α is valid, so an inexact minimum only
//! loses tightness. With t = α−1 its derivative is (2t+1)ρ − e + ln(t/(1+t)), increasing in t, whose
//! root is found by Newton's method.

use super::gaussian::smallest_that;

/// Interval of ln(α−1) that is searched for the best order.
const SEARCHED_LOG_ORDERS: (f64, f64) = (-27.7, 41.5);

/// The classic conversion ρ + 2√(ρ ln(1/δ)).
pub fn classic_epsilon(rho: f64, delta: f64) -> f64 {
    if rho == 0.0 { 0.0 } else { (rho + 2.0 * libm::sqrt(-rho * libm::log(delta))) * (1.0 + 1e-14) }
}

/// ln of the smallest δ(e) that follows from ρ-zCDP by moments, at every real e; at most 0.
pub fn ln_delta(rho: f64, e: f64) -> f64 {
    if rho == 0.0 && e >= 0.0 {
        return f64::NEG_INFINITY;
    }
    // With t = α−1 = e^u: derivative (2t+1)ρ − e − ln(1+1/t), increasing. Newton's steps in u, halved
    // into the bracket when they leave it.
    let (mut low, mut high) = SEARCHED_LOG_ORDERS;
    let ahead = libm::log(((e - rho) / (2.0 * rho)).max(f64::MIN_POSITIVE));
    let mut u = if ahead > 0.0 { ahead } else { rho - e }.clamp(low + 1.0, high - 1.0);
    for _ in 0..100 {
        let t = libm::exp(u);
        let slope = (2.0 * t + 1.0) * rho - e - libm::log1p(1.0 / t);
        if slope < 0.0 {
            low = u
        } else {
            high = u
        }
        let newton = u - slope / (2.0 * rho * t + 1.0 / (1.0 + t));
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - u).abs() <= 1e-13 * (1.0 + u.abs()) {
            break;
        }
        u = next;
    }
    let t = libm::exp(u);
    let terms = [t * (1.0 + t) * rho, t * e, t * libm::log1p(1.0 / t), libm::log1p(t)];
    let value = terms[0] - terms[1] - terms[2] - terms[3];
    let margin = 8.0 * f64::EPSILON * terms.iter().map(|x| x.abs()).sum::<f64>();
    (value + margin).min(0.0)
}

/// The smallest δ(e) that follows from ρ-zCDP by moments, rounded up.
pub fn delta(rho: f64, e: f64) -> f64 {
    let ln = ln_delta(rho, e);
    if ln == f64::NEG_INFINITY {
        return 0.0;
    }
    (libm::exp(ln) * (1.0 + 1e-15 * (2.0 - ln))).max(f64::from_bits(1)).min(1.0)
}

/// The smallest ε with δ(ε) ≤ δ, by the better of the two conversions, rounded up.
pub fn epsilon(rho: f64, delta_wanted: f64) -> f64 {
    if rho == 0.0 {
        return 0.0;
    }
    if delta_wanted <= 0.0 {
        return f64::INFINITY;
    }
    let classic = classic_epsilon(rho, delta_wanted);
    let wanted = libm::log(delta_wanted) - 1e-15;
    if ln_delta(rho, 0.0) <= wanted {
        return 0.0;
    }
    if ln_delta(rho, classic) > wanted {
        return classic;
    }
    smallest_that(0.0, classic, |e| ln_delta(rho, e) <= wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classic_conversion_has_its_golden_value() {
        assert!((classic_epsilon(0.5, 1e-6) - 5.75652).abs() < 5e-6);
        assert!(epsilon(0.5, 1e-6) < 5.4);
    }
}
