//! The crude bound for losses whose gradient may follow the noise in d dimensions.
//!
//! **Lemma.** If a loss is at most U = μ²/2 + μχ_d (χ_d the norm of a standard normal vector of d
//! coordinates) then δ(e) ≤ E(1−e^{e−U})₊, and together with an independent Gaussian release of
//! parameter ν, δ(e) ≤ E δ_G(e−U; ν). Used for units of several records, see [`super::objective`].
//!
//! μ `mu`, d `dimensions`, ν `nu`. The density of χ_d is formed in logarithms; its error, about
//! d·ln d units in the last place, is added.

use super::gaussian;
use super::normal::TAIL_DEVIATIONS;
use super::quadrature::integral_above;

/// The bound of the Lemma at every real e.
pub fn delta(e: f64, mu: f64, dimensions: f64, nu: f64) -> f64 {
    let density = chi_density(dimensions);
    let mode = libm::sqrt((dimensions - 1.0).max(0.0));
    let start = (mode - TAIL_DEVIATIONS).max(0.0);
    // χ_d is 1-Lipschitz in the normal vector, so beyond mode + 1 + TAIL_DEVIATIONS nothing is left.
    let end = mode + 1.0 + TAIL_DEVIATIONS;
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

/// Upper bounds at −shift, h−shift, …, dots·h−shift for ν = 0, by cells as in
/// [`super::logistic`]: on a cell the loss is linear in χ_d, and (1−e^e·w)₊ is convex in w = e^{−loss},
/// so the two-point law on the cell's ends with a mean of w not above the true one is worse.
pub fn values(shift: f64, mu: f64, dimensions: f64, step: f64, dots: usize) -> Vec<f64> {
    const CELLS: usize = 800;
    let density = chi_density(dimensions);
    let mode = libm::sqrt((dimensions - 1.0).max(0.0));
    let (start, end) = ((mode - 10.0).max(0.0), mode + 15.0);
    let width = (end - start) / CELLS as f64;
    let base = shift + mu * mu / 2.0;
    let margin = 1e-9 + 2e-15 * dimensions * libm::log(dimensions + 2.0);
    // Below the start the mass is less than e^{−50}; it is put at the start.
    let mut atoms = vec![(base + mu * start, 2e-22)];
    for k in 0..CELLS {
        let left = start + width * k as f64;
        let (mass, first) = cell(&density, left, width);
        let mean = if mass > 0.0 { (first / mass + 1e-9).clamp(0.0, 1.0) } else { 1.0 };
        let rise = mu * width;
        let high = (libm::expm1(-mean * rise) / libm::expm1(-rise) + 1e-9).min(1.0);
        if let Some(last) = atoms.last_mut() {
            last.1 += mass * (1.0 - high);
        }
        atoms.push((base + mu * (left + width), mass * high));
    }
    // Beyond the end: P(χ_d > mode + 1 + t) ≤ e^{−t²/2} with t = 14.
    let mut values = vec![0.0; dots + 1];
    super::curve::from_atoms(&atoms, libm::exp(-98.0), step, &mut values);
    values.iter_mut().for_each(|value| *value = (*value * (1.0 + margin)).min(1.0));
    values
}

/// An e from which on δ(e) ≤ `tail` for the loss shift + μ²/2 + μχ_d.
pub fn tail_start(shift: f64, mu: f64, dimensions: f64, tail: f64) -> f64 {
    let far = libm::sqrt(dimensions) + libm::sqrt(2.0 * -libm::log(tail.max(1e-300)));
    shift + mu * (mu / 2.0 + far)
}

/// ∫f and ∫(x−left)/width·f over a cell, by three Gauss–Legendre nodes.
fn cell(density: &impl Fn(f64) -> f64, left: f64, width: f64) -> (f64, f64) {
    const NODES: [(f64, f64); 3] = [
        (0.112_701_665_379_258_3, 0.277_777_777_777_777_8),
        (0.5, 0.444_444_444_444_444_4),
        (0.887_298_334_620_741_7, 0.277_777_777_777_777_8),
    ];
    NODES.iter().fold((0.0, 0.0), |(mass, first), (place, weight)| {
        let part = weight * width * density(left + width * place);
        (mass + part, first + part * place)
    })
}

/// The density of χ_d.
fn chi_density(dimensions: f64) -> impl Fn(f64) -> f64 {
    let half = dimensions / 2.0;
    let constant = -(half - 1.0) * std::f64::consts::LN_2 - libm::lgamma(half);
    move |x: f64| {
        if dimensions <= 1.0 {
            libm::exp(constant - x * x / 2.0)
        } else if x <= 0.0 {
            0.0
        } else {
            libm::exp(constant + (dimensions - 1.0) * libm::log(x) - x * x / 2.0)
        }
    }
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

    #[test]
    fn cells_are_just_above_the_integral() {
        for dimensions in [1.0, 2.0, 6.0, 40.0] {
            let (shift, mu) = (0.1, 0.3);
            for (k, got) in values(shift, mu, dimensions, 0.25, 12).into_iter().enumerate() {
                let want = delta(0.25 * k as f64 - shift, mu, dimensions, 0.0);
                let ratio = got / want;
                assert!((1.0 - 1e-9..1.01).contains(&ratio), "{dimensions} {k}: {ratio}");
            }
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
