//! Gaussian differential privacy: the exact curve and its inverses.
//!
//! **Theorem** (Balle & Wang 2018, Thm 8; Dong, Roth & Su 2022). f(D) + N(0,σ²I) with
//! ‖f(D) − f(D′)‖₂ ≤ Δ is (ε, δ_G(ε;μ))-DP for μ = Δ/σ, and no smaller δ holds for a value that
//! attains Δ, where for every real e
//!
//! δ_G(e;μ) = E(1 − e^{e−G})₊ = Φ(−e/μ+μ/2) − e^e·Φ(−e/μ−μ/2),  G ~ N(μ²/2, μ²).
//!
//! *Proof.* The log-ratio of N(0,σ²I) to N(v,σ²I) under the former is N(‖v‖²/2σ², ‖v‖²/σ²), and
//! δ_G grows with μ: ∂δ_G/∂μ = φ(e/μ − μ/2) > 0. ∎  Independent (also adaptive) releases add their
//! losses, so they compose to √Σμ². Changing k units one after the other composes the trade-off
//! functions to that of a shift by kμ: k units cost kμ (Dong, Roth & Su, Thm 2.14).
//!
//! Two relatives, for objective perturbation (see [`super::objective`]):
//! - δ₊(e;μ) = E(1 − e^{e−max(G,0)})₊ = δ_G(e;μ) for e ≥ 0, 1 − 2e^eΦ(−μ/2) for e < 0;
//! - δ_abs(e;μ) = E(1 − e^{e−μ²/2−μ|Z|})₊ = 2δ_G(e;μ) for e ≥ μ²/2, 1 − 2e^eΦ(−μ) below.
//!
//! *Numerics.* With c = e/μ, h = μ/2, a = c−h, b = c+h and the Mills ratio M: e^eφ(b) = φ(a), so
//! δ_G = φ(a)·(M(a) − M(b)), which keeps its digits into the far tail; e < 0 is reduced to e > 0 by
//! δ_G(e) = 1 − e^e + e^eδ_G(−e), where nothing cancels. Results are raised by their error bound,
//! so they are never below the truth.
//!
//! Tested against `vectors/curves.json` (mpmath).

use super::normal::{cdf, density, ln_cdf, ln_density, mills, mills_spread, round_above};

/// Relative error of one evaluation at moderate arguments, generous.
const MARGIN: f64 = 1e-14;
/// Half a unit in the last place of 1.
const HALF_ULP: f64 = f64::EPSILON;

/// Relative error of φ(a) that an error of a few units in the last place of c and h causes.
fn margin(a: f64, c: f64, h: f64) -> f64 {
    MARGIN + 4.0 * HALF_ULP * (1.0 + a.abs()) * (c.abs() + h)
}

/// δ_G(e; μ) for every real e and μ ≥ 0, rounded up. δ_G(e; 0) = (1 − e^e)₊.
pub fn delta(e: f64, mu: f64) -> f64 {
    if mu == 0.0 {
        return if e < 0.0 { round_above(-libm::expm1(e), MARGIN).min(1.0) } else { 0.0 };
    }
    if mu == f64::INFINITY || e == f64::NEG_INFINITY {
        return 1.0;
    }
    if e < 0.0 {
        return round_above(-libm::expm1(e) + libm::exp(e) * delta(-e, mu), MARGIN).min(1.0);
    }
    let (c, h) = (e / mu, mu / 2.0);
    let (a, b) = (c - h, c + h);
    if a > 39.0 {
        return f64::from_bits(1); // below every normal f64, and not zero
    }
    let value = if h <= 0.5 {
        density(a) * mills_spread(c, h)
    } else if a >= 0.0 {
        density(a) * (mills(a) - mills(b))
    } else {
        cdf(-a) - density(a) * mills(b)
    };
    round_above(value, margin(a, c, h)).min(1.0)
}

/// ln δ_G(e; μ) for e ≥ 0 and μ > 0, rounded up: accurate where δ_G itself underflows.
pub fn ln_delta(e: f64, mu: f64) -> f64 {
    let (c, h) = (e / mu, mu / 2.0);
    let (a, b) = (c - h, c + h);
    if a < 30.0 {
        return libm::log(delta(e, mu)) + MARGIN;
    }
    let spread = if h <= 0.5 { mills_spread(c, h) } else { mills(a) - mills(b) };
    ln_density(a) + libm::log(spread) + margin(a, c, h)
}

/// δ₊(e; μ) for every real e, rounded up.
pub fn delta_plus(e: f64, mu: f64) -> f64 {
    if e >= 0.0 {
        delta(e, mu)
    } else {
        // 1 − 2e^eΦ(−μ/2) = (1 − e^e) + e^e(1 − 2Φ(−μ/2)) and 1 − 2Φ(−μ/2) = δ_G(0; μ).
        round_above(-libm::expm1(e) + libm::exp(e) * delta(0.0, mu), MARGIN).min(1.0)
    }
}

/// δ_abs(e; μ) for every real e, rounded up.
pub fn delta_abs(e: f64, mu: f64) -> f64 {
    if e >= mu * mu / 2.0 {
        (2.0 * delta(e, mu)).min(1.0)
    } else {
        let rest = if mu <= 1.0 {
            // 1 − 2e^eΦ(−μ) = −(e^e − 1) + e^e(1 − 2Φ(−μ)), and 1 − 2Φ(−μ) = δ_G(0; 2μ).
            libm::exp(e) * delta(0.0, 2.0 * mu) - libm::expm1(e)
        } else {
            1.0 - 2.0 * libm::exp(e + ln_cdf(-mu))
        };
        round_above(rest, MARGIN).min(1.0)
    }
}

/// The smallest ε ≥ 0 with δ_G(ε; μ) ≤ δ, rounded up; infinite when δ = 0 < μ.
pub fn epsilon(delta_wanted: f64, mu: f64) -> f64 {
    if mu == 0.0 || delta(0.0, mu) <= delta_wanted {
        return 0.0;
    }
    if delta_wanted <= 0.0 || mu == f64::INFINITY {
        return f64::INFINITY;
    }
    let ln_wanted = libm::log(delta_wanted);
    // At a = 39 the logarithm is below that of every positive f64.
    let high = mu * (mu / 2.0 + 39.0);
    smallest_that(0.0, high, |e| {
        let d = delta(e, mu);
        if d > 1e-280 { d <= delta_wanted } else { ln_delta(e, mu) <= ln_wanted - 1e-13 }
    })
}

/// The largest μ with δ_G(ε; μ) ≤ δ for ε ≥ 0, rounded down; 0 when δ = 0.
pub fn mu(epsilon: f64, delta_wanted: f64) -> f64 {
    if delta_wanted <= 0.0 {
        return 0.0;
    }
    let fits = |mu: f64| delta(epsilon, mu) <= delta_wanted;
    let mut high = 1.0;
    while fits(high) && high < 1e9 {
        high *= 2.0;
    }
    let (mut low, mut high) = (0.0, high);
    // From the inside: `low` always fits.
    while high - low > 1e-14 * high {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if fits(middle) { low = middle } else { high = middle }
    }
    low
}

/// Smallest x in (low, high] at which a monotone condition holds, from above; it must hold at `high`.
pub(super) fn smallest_that(low: f64, high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (low, high);
    while high - low > 2e-15 * high {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if holds(middle) { high = middle } else { low = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table "Curves" of the objective-perturbation note, ten digits.
    #[test]
    fn the_three_curves_have_their_golden_values() {
        for (e, mu, gauss, abs, plus) in [
            (0.0, 1.0, 3.8292492255e-01, 6.8268949214e-01, 3.8292492255e-01),
            (0.5, 1.0, 2.3842170813e-01, 4.7684341627e-01, 6.2572504618e-01),
            (1.0, 1.0, 1.2693673751e-01, 2.5387347501e-01, 7.7299076535e-01),
            (1.0, 0.25, 2.9242721049e-06, 5.8485442097e-06, 6.6871589954e-01),
            (3.0, 0.5, 3.4009117357e-10, 6.8018234713e-10, 9.6004152880e-01),
            (0.1, 2.0, 6.6663951553e-01, 9.4971443158e-01, 7.1288557935e-01),
        ] {
            for (got, want) in
                [(delta(e, mu), gauss), (delta_abs(e, mu), abs), (delta_plus(-e, mu), plus)]
            {
                assert!((got / want - 1.0).abs() < 2e-10, "{e} {mu}: {got} {want}");
            }
        }
    }

    #[test]
    fn extreme_arguments_stay_probabilities() {
        for e in [-1e300, -50.0, 0.0, 1e-300, 50.0, 1e300] {
            for mu in [0.0, 1e-300, 1e-9, 1.0, 1e9, 1e300, f64::INFINITY] {
                for d in [delta(e, mu), delta_plus(e, mu), delta_abs(e, mu)] {
                    assert!((0.0..=1.0).contains(&d), "{e} {mu} {d}");
                }
            }
        }
    }
}
