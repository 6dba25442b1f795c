//! The crude bound for losses whose gradient may follow the noise in d dimensions.
//!
//! **Lemma.** If a loss is at most U = μ²/2 + μχ_d (χ_d the norm of a standard normal vector of d
//! coordinates) then δ(e) ≤ E(1−e^{e−U})₊, and together with an independent Gaussian release of
//! parameter ν, δ(e) ≤ E δ_G(e−U; ν). Used for units of several records, see [`super::objective`].
//!
//! μ `mu`, d `dimensions`, ν `nu`. The density of χ_d is formed in logarithms; its error, about
//! d·ln d units in the last place, is added.

use super::gaussian;
use super::normal::REACH;
use super::quadrature::integral_above;

/// The bound of the Lemma at every real e.
pub fn delta(e: f64, mu: f64, dimensions: f64, nu: f64) -> f64 {
    let half = dimensions / 2.0;
    let constant = -(half - 1.0) * std::f64::consts::LN_2 - libm::lgamma(half);
    let density = |x: f64| {
        if dimensions <= 1.0 {
            libm::exp(constant - x * x / 2.0)
        } else if x <= 0.0 {
            0.0
        } else {
            libm::exp(constant + (dimensions - 1.0) * libm::log(x) - x * x / 2.0)
        }
    };
    let mode = libm::sqrt((dimensions - 1.0).max(0.0));
    let start = (mode - REACH).max(0.0);
    // χ_d is 1-Lipschitz in the normal vector, so beyond mode + 1 + REACH nothing is left.
    let end = mode + 1.0 + REACH;
    let crossing = (e - mu * mu / 2.0) / mu;
    let body = if nu == 0.0 {
        let loss = |x: f64| -libm::expm1((e - mu * (mu / 2.0 + x)).min(0.0));
        integral_above(|x| loss(x) * density(x), start.max(crossing), end, 1.0, 1e-11, 0.0)
    } else {
        let loss = |x: f64| gaussian::delta(e - mu * (mu / 2.0 + x), nu);
        integral_above(|x| loss(x) * density(x), start, end, 1.0, 1e-11, 0.0)
    };
    let margin = 1e-12 + 2e-15 * dimensions * libm::log(dimensions + 2.0);
    (body * (1.0 + margin) + f64::MIN_POSITIVE).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For d = 1 the law is that of δ_abs.
    #[test]
    fn one_dimension_is_the_absolute_value() {
        for (e, mu) in [(1.0, 0.25), (0.1, 2.0), (3.0, 0.5), (-1.0, 1.0)] {
            let (got, want) = (delta(e, mu, 1.0, 0.0), gaussian::delta_abs(e, mu));
            assert!((got / want - 1.0).abs() < 1e-9, "{e} {mu}: {got} {want}");
        }
    }

    /// For d = 2, P(χ₂ > t) = e^{−t²/2}: a closed form exists by completing the square.
    #[test]
    fn two_dimensions_have_their_closed_form() {
        let (e, mu) = (1.0, 0.25);
        let t: f64 = (e - mu * mu / 2.0) / mu;
        // ∫_t^∞ (1−e^{μ(t−x)})·x·e^{−x²/2}dx = μ∫_t^∞ e^{μ(t−x)−x²/2}dx by parts.
        let want = mu * libm::exp(mu * t + mu * mu / 2.0) * super::super::normal::cdf(-t - mu)
            / super::super::normal::INV_SQRT_2PI;
        assert!((delta(e, mu, 2.0, 0.0) / want - 1.0).abs() < 1e-9);
    }
}
