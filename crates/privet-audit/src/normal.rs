//! The normal law, in f64.
//!
//! Tested by `quantiles_invert_the_distribution_function`.

/// Φ(x), the standard normal distribution function.
pub fn cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}

/// ln Φ(x); an upper bound where Φ would underflow: Φ(x) ≤ φ(x)/|x| (Mills).
pub fn ln_cdf(x: f64) -> f64 {
    if x < -30.0 {
        -0.5 * x * x - libm::log(-x) - 0.5 * libm::log(std::f64::consts::TAU)
    } else {
        libm::log(cdf(x))
    }
}

/// Φ⁻¹(p), the standard normal quantile, by bisection; ∓∞ at 0 and 1, NaN outside.
pub fn quantile(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p == 0.0 || p == 1.0 {
        return if p == 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    // In the lower half, where Φ keeps its digits.
    if p > 0.5 {
        return -quantile(1.0 - p);
    }
    let (mut low, mut high) = (-40.0, 0.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if cdf(middle) < p { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_invert_the_distribution_function() {
        for p in [1e-12, 1e-4, 0.025, 0.3, 0.5, 0.7, 0.975] {
            assert!((cdf(quantile(p)) / p - 1.0).abs() < 1e-9, "{p}");
        }
        assert!((quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-9);
        assert!(quantile(f64::NAN).is_nan() && quantile(1.5).is_nan());
        assert_eq!(quantile(0.0), f64::NEG_INFINITY);
        assert!((ln_cdf(-30.0 - 1e-9) - ln_cdf(-30.0 + 1e-9)).abs() < 2e-3);
        assert!((ln_cdf(-2.0) - libm::log(cdf(-2.0))).abs() < 1e-15);
    }
}
