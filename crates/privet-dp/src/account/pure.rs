//! Bounded losses: pure differential privacy, the Laplace mechanism, bounded range.
//!
//! The largest δ(e) of such a mechanism, at every real e:
//! - **ε-DP** (randomised response, Kairouz, Oh & Viswanath 2015, Thm 3.2): loss ε with probability
//!   e^ε/(1+e^ε), else −ε; every ε-DP pair is a post-processing of it.
//! - **Laplace** of scale s, ℓ1 shift Δ, ε = Δ/s: δ = 1−e^{(e−ε)/2} for |e| < ε. In several
//!   coordinates the shift splits into Δ₁+Δ₂+…; *moving all of it in one coordinate is worst*: go
//!   from one data set's law to the other's coordinate by coordinate; the trade-off functions of the
//!   steps chain as f₂(1−f₁), which is what one-dimensional shifts by Δ₁, then Δ₂ give *exactly*,
//!   since their optimal tests are nested thresholds (monotone likelihood ratio).
//! - **Discrete Laplace** on a grid of step h, q = e^{−h/s}, shift by n steps: loss ε = nh/s for
//!   noise ≤ 0 (probability 1/(1+q), *more* than the continuous ½), (n−2k)h/s at noise k = 1…n−1.
//!   The best test is a threshold j: δ = [−(e^{e−ε+jh/s}−1) + q(1−q^j)]/(1+q). For n = 1 it is
//!   randomised response. The chaining argument holds on the grid, too.
//! - **Bounded range** r (exponential mechanism; Dong, Durfee & Rogers 2020): the loss lies in
//!   [t−r, t] for some t; the worst case puts it on the ends, δ = (1−e^{(e−r)/2})²/(1−e^{−r}) for
//!   |e| < r, after maximising over t = (e+r)/2.
//!
//! All satisfy δ(e) = 1−e^e+e^eδ(−e), so both directions share the curve.
//!
//! **K-fold randomised response** (Kairouz, Oh & Viswanath 2015, Thm 3.3), here together with a
//! Gaussian release of parameter ν: δ = Σ_j binom(K,j)p^j(1−p)^{K−j}·δ_G(e−(2j−K)ε; ν), exactly.

use super::gaussian;
use super::normal::round_above;

const MARGIN: f64 = 1e-14;

/// δ(e) of randomised response: the largest of any ε-DP mechanism.
pub fn response(e: f64, epsilon: f64) -> f64 {
    if e >= epsilon {
        0.0
    } else if e <= -epsilon {
        always_exceeding(e)
    } else {
        round_above(-libm::expm1(e - epsilon) / (1.0 + libm::exp(-epsilon)), MARGIN)
    }
}

/// δ(e) of the continuous Laplace mechanism with shift/scale = ε.
pub fn laplace(e: f64, epsilon: f64) -> f64 {
    if e >= epsilon {
        0.0
    } else if e <= -epsilon {
        always_exceeding(e)
    } else {
        round_above(-libm::expm1((e - epsilon) / 2.0), MARGIN)
    }
}

/// δ(e) of the discrete Laplace mechanism: `shift` steps, each of `unit` = step/scale.
pub fn discrete_laplace(e: f64, shift: f64, unit: f64) -> f64 {
    let epsilon = shift * unit * (1.0 + f64::EPSILON);
    if e >= epsilon {
        return 0.0;
    }
    if e <= -epsilon {
        return always_exceeding(e);
    }
    let q = libm::exp(-unit);
    let value = |j: f64| -libm::expm1(e - epsilon + j * unit) - q * libm::expm1(-j * unit);
    let guess = libm::ceil((shift - e / unit) / 2.0) - 1.0;
    let best = [guess - 1.0, guess, guess + 1.0]
        .map(|j| value(j.min(shift - 1.0).max(0.0)))
        .into_iter()
        .fold(0.0, f64::max);
    round_above(best / (1.0 + q), MARGIN).min(1.0)
}

/// δ(e) of the worst mechanism of bounded range r.
pub fn bounded_range(e: f64, range: f64) -> f64 {
    if e >= range {
        0.0
    } else if e <= -range {
        always_exceeding(e)
    } else {
        let root = libm::expm1((e - range) / 2.0);
        // In this order: root² underflows for ranges below 1e-160.
        round_above(root * (root / -libm::expm1(-range)), MARGIN).min(1.0)
    }
}

/// 1 − e^e, e ≤ 0: the curve of every mechanism whose loss is certainly larger than e.
fn always_exceeding(e: f64) -> f64 {
    round_above(-libm::expm1(e), MARGIN).min(1.0)
}

/// δ(e) of `count` uses of randomised response and a Gaussian release of parameter ν.
pub fn repeated_response(e: f64, epsilon: f64, count: u64, nu: f64) -> f64 {
    if count == 1 && nu == 0.0 {
        return response(e, epsilon); // exact at its own ε
    }
    let n = count as f64;
    let ln_up = -libm::log1p(libm::exp(-epsilon));
    let ln_down = ln_up - epsilon;
    let ln_all = libm::lgamma(n + 1.0);
    // A loss that is rounded to e may be above it.
    let doubt = 2.0 * f64::EPSILON * (e.abs() + n * epsilon);
    let mut sum = 0.0;
    for ups in (0..=count).rev() {
        let j = ups as f64;
        let ln_ways = ln_all - libm::lgamma(j + 1.0) - libm::lgamma(n - j + 1.0);
        let gap = e - (2.0 * j - n) * epsilon - doubt;
        if gap >= 0.0 && nu == 0.0 {
            break;
        }
        let weight = libm::exp(ln_ways + j * ln_up + (n - j) * ln_down);
        let term = weight * gaussian::delta(gap, nu);
        sum += term;
        if term < 1e-18 * sum && weight * n < 1e-18 * sum {
            break;
        }
    }
    let margin = 1e-14 * (16.0 + n * libm::log(n + 2.0)) / 4.0;
    round_above(sum, margin).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_response_costs_nothing_at_its_own_epsilon() {
        for epsilon in [1e-9, 0.1, 1.0, 20.0] {
            assert_eq!(repeated_response(epsilon, epsilon, 1, 0.0), 0.0);
            assert!(repeated_response(epsilon.next_down(), epsilon, 1, 0.0) > 0.0);
        }
    }

    #[test]
    fn a_grid_of_one_step_is_randomised_response_and_a_fine_one_is_continuous() {
        for e in [-0.7, 0.0, 0.3, 0.9] {
            let coarse = discrete_laplace(e, 1.0, 1.0);
            assert!((coarse / response(e, 1.0) - 1.0).abs() < 1e-12, "{e}");
            let fine = discrete_laplace(e, 1e6, 1e-6);
            assert!((fine / laplace(e, 1.0) - 1.0).abs() < 1e-5, "{e}");
            for steps in [2.0, 3.0, 10.0] {
                let between = discrete_laplace(e, steps, 1.0 / steps);
                assert!(between <= coarse && between >= fine * (1.0 - 1e-5), "{e} {steps}");
            }
        }
    }

    /// The discrete curve by summing its masses.
    #[test]
    fn the_discrete_curve_is_the_sum_over_its_masses() {
        let (shift, unit, e) = (5.0_f64, 0.3_f64, 0.4_f64);
        let q = libm::exp(-unit);
        let mass = |k: f64| (1.0 - q) / (1.0 + q) * libm::exp(-unit * k.abs());
        let want: f64 = (-400..400)
            .map(f64::from)
            .map(|k| (mass(k) - libm::exp(e) * mass(k - shift)).max(0.0))
            .sum();
        assert!((discrete_laplace(e, shift, unit) / want - 1.0).abs() < 1e-12);
    }

    #[test]
    fn one_response_is_its_own_composition() {
        for e in [0.0, 0.5, 0.99] {
            let (one, composed) = (response(e, 1.0), repeated_response(e, 1.0, 1, 0.0));
            assert!((one / composed - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn both_directions_share_the_curve() {
        for e in [0.1, 0.5, 0.9, 2.0] {
            for curve in [
                &(|e| response(e, 1.0)) as &dyn Fn(f64) -> f64,
                &|e| laplace(e, 1.0),
                &|e| bounded_range(e, 1.0),
                &|e| discrete_laplace(e, 4.0, 0.25),
            ] {
                let mirrored = -libm::expm1(-e) + libm::exp(-e) * curve(e);
                assert!((curve(-e) / mirrored - 1.0).abs() < 1e-12, "{e}");
            }
        }
    }
}
