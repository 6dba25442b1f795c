//! Composition theorems that need only the parts' (ε, δ).
//!
//! - **Basic**: (Σεᵢ, Σδᵢ).
//! - **Advanced, heterogeneous** (Dwork, Rothblum & Vadhan 2010; Kairouz, Oh & Viswanath 2015,
//!   Thm 3.5), adaptive: for every δ′ > 0 the composition is (ε′, 1−(1−δ′)∏(1−δᵢ))-DP with
//!   ε′ = min{Σεᵢ, S + √(min{2Q·ln(e+√Q/δ′), 2Q·ln(1/δ′)})},
//!   S = Σεᵢ(e^{εᵢ}−1)/(e^{εᵢ}+1), Q = Σεᵢ².
//!
//! The accountant composes losses instead, which is tighter; these serve as cross-checks, as a
//! fallback for very many parts, and for reproducing printed numbers.

/// (Σεᵢ, Σδᵢ), rounded up.
pub fn basic(parts: &[(f64, f64)]) -> (f64, f64) {
    let up = 1.0 + f64::EPSILON * (parts.len() as f64 + 2.0);
    let (epsilon, delta) = parts.iter().fold((0.0, 0.0), |(e, d), part| (e + part.0, d + part.1));
    (epsilon * up, (delta * up).min(1.0))
}

/// (ε′, δ) of advanced composition at a slack δ′ in (0, 1), rounded up.
pub fn advanced(parts: &[(f64, f64)], slack: f64) -> (f64, f64) {
    let up = 1.0 + f64::EPSILON * (4.0 * parts.len() as f64 + 16.0);
    let (mean, squares) = moments(parts.iter().map(|part| (part.0, 1)));
    let ln_one = libm::log(std::f64::consts::E + libm::sqrt(squares) / slack);
    let ln_two = -libm::log(slack);
    let spread = libm::sqrt(2.0 * squares * ln_one.min(ln_two));
    let ln_kept: f64 = parts.iter().map(|part| libm::log1p(-part.1)).sum();
    let delta = -libm::expm1(ln_kept + libm::log1p(-slack));
    (basic(parts).0.min((mean + spread) * up), (delta * up).min(1.0))
}

/// A slack δ′ at which advanced composition of pure parts (ε, count) is at most e: an upper bound on the
/// smallest one.
pub(super) fn advanced_delta(parts: impl Iterator<Item = (f64, u64)>, e: f64) -> f64 {
    let (mean, squares) = moments(parts);
    let room = e - mean * (1.0 + 1e-12);
    if room <= 0.0 || squares == 0.0 {
        return 1.0;
    }
    libm::exp(-room * room / (2.0 * squares * (1.0 + 1e-12))).min(1.0)
}

/// (Σ count·ε·tanh(ε/2), Σ count·ε²).
fn moments(parts: impl Iterator<Item = (f64, u64)>) -> (f64, f64) {
    parts.fold((0.0, 0.0), |(mean, squares), (epsilon, count)| {
        let n = count as f64;
        (mean + n * epsilon * libm::tanh(epsilon / 2.0), squares + n * epsilon * epsilon)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advanced_composition_has_its_golden_value() {
        let (epsilon, delta) = advanced(&[(0.1, 0.0); 100], 1e-6);
        assert!((epsilon - 5.75611).abs() < 5e-6, "{epsilon}");
        assert!((delta / 1e-6 - 1.0).abs() < 1e-9);
        assert_eq!(basic(&[(0.5, 0.0), (0.5, 0.0)]).1, 0.0);
    }

    #[test]
    fn the_slack_inverts_advanced_composition() {
        let (epsilon, _) = advanced(&[(0.1, 0.0); 100], 1e-6);
        let slack = advanced_delta([(0.1, 100)].into_iter(), epsilon);
        assert!((0.999e-6..1.1e-6).contains(&slack), "{slack}");
    }
}
