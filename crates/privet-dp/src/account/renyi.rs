//! Rényi differential privacy: curves ε(α) and the δ that they imply.
//!
//! ε(α) bounds D_α = (1/s)·ln E e^{sℒ}, s = α−1 > 0, in one direction; composition adds. From a
//! curve to δ: [`super::concentrated`]'s inequality at the best α.
//!
//! From a bound on δ at every real e: integrating twice by parts,
//! E e^{sU} = s(s+1)∫e^{se}E(1−e^{e−U})₊de, so a larger curve has a larger Rényi divergence, and each
//! curve of [`super::objective`] gives one:
//! - any sign (law C+μ²/2+μ|Z|): ε(α) = C + αμ²/2 + ln(2Φ((α−1)μ))/(α−1);
//! - fixed sign (law C+max(G,0)): ε(α) = C + (1/s)ln[Φ(−μ/2)+e^{αsμ²/2}Φ((α−½)μ)];
//! - fixed sign, *both directions*: with δ ≤ δ_G(e−C_f;μ) forward for e ≥ C_f and δ ≤ δ_G(e−C_r;μ) in
//!   reverse for e ≥ C_r, the forward curve is δ_G(e−C_f;μ) from C_f on, 1−e^{−C_r}+e^{−C_r}δ_G(e+C_r;μ)
//!   below −C_r (the mirrored reverse), and between them at most the chord, linear in e^e, as true
//!   curves are convex in e^e. In closed form, with Jm = e^{αsμ²/2}Φ(−(s+½)μ)+αΦ(μ/2)−sΦ(−μ/2),
//!   Jp = e^{αsμ²/2}−Jm, d₀ = 1−2Φ(−μ/2), h₀ = 1−e^{−C_r}(1−d₀), B = (h₀−d₀)/(e^{C_f}−e^{−C_r}),
//!   A = d₀+Be^{C_f}: e^{sε(α)} = e^{sC_f}Jp + e^{−αC_r}Jm + α(1−e^{−C_r})e^{−sC_r} +
//!   [αAe^{su}−sBe^{αu}] from u = −C_r to C_f. It is *not* always below C+αμ²/2.
//! - units of several records (law C+μ²/2+μχ_d): E e^{tχ_d} ≤ e^{t√d+t²/2}, as χ_d is 1-Lipschitz in a
//!   normal vector and E χ_d ≤ √d, so ε(α) = C+μ²/2+μ√d+sμ²/2.
//!
//! **Sampled Gaussian releases** ([`super::sampled`]).
//! - Poisson, add/remove (Mironov, Talwar & Zhang 2019): both directions are at most
//!   ε(α) = (1/s)·ln ∫φ(x)(1−q+qe^{μx−μ²/2})^αdx (their Thm 5), for integer α the binomial sum
//!   Σ_k C(α,k)(1−q)^{α−k}q^ke^{k(k−1)μ²/2}. For any real α here by the trapezoidal rule: the integrand
//!   is analytic for |Im x| < d ≤ π/μ and there at most e^{d²/2} times its value on the line, so the
//!   relative error is at most 2e^{d²/2}/(e^{2πd/h}−1) (Trefethen & Weideman 2014, Thm 5.1). Its
//!   logarithm f has −x ≤ f′ ≤ αμ−x, which bounds what is left out beyond αμ+9 and below −9.
//! - Without replacement, replace-one (Wang, Balle & Kasiviswanathan 2019, Thm 9): integer α,
//!   (1/s)·ln(1+q²C(α,2)·min{4(e^{ρ₂}−1), 2e^{ρ₂}}+Σ_{j=3}^{α} q^jC(α,j)·2e^{(j−1)ρ_j}), ρ_j = jν²/2;
//!   other α take the next integer, as ε(α) grows.
//! - Never more than unsampled, by quasi-convexity; for Poisson under replace-one that is all that
//!   is used here (the composition of distributions is exact).
//!
//! α `order`, C, C_f `ahead`, C_r `back`, μ `mu`.

use super::normal::{INV_SQRT_2PI, cdf, ln_add_exp, ln_cdf};
use super::objective::Direction;
use super::parts::Part;
use super::sampled::Sampler;

/// Rounding margin on a logarithm of a moment.
const MARGIN: f64 = 1e-13;
/// Exponents whose exponential is far from overflow.
const LARGE_EXPONENT: f64 = 600.0;

/// The Gaussian mechanism: αμ²/2.
pub fn gaussian(order: f64, mu: f64) -> f64 {
    // A square that underflows must not count as no release.
    let least = if mu > 0.0 { f64::MIN_POSITIVE } else { 0.0 };
    (order * mu * mu / 2.0 * (1.0 + MARGIN)).max(least)
}

/// The Laplace mechanism with shift/scale = ε (Mironov 2017, Prop. 6).
pub fn laplace(order: f64, epsilon: f64) -> f64 {
    let s = order - 1.0;
    let ln_up = libm::log(order / (2.0 * order - 1.0)) + s * epsilon;
    let ln_down = libm::log(s / (2.0 * order - 1.0)) - order * epsilon;
    moment(ln_add_exp(ln_up, ln_down), s).min(epsilon)
}

/// Randomised response, the worst ε-DP mechanism.
pub fn response(order: f64, epsilon: f64) -> f64 {
    let s = order - 1.0;
    let ln_sum = ln_add_exp(s * epsilon, -order * epsilon) - libm::log1p(libm::exp(-epsilon));
    moment(ln_sum, s).min(epsilon)
}

/// Bounded range r: ε-DP with ε = r, and r²/8-zCDP (Cesar & Rogers 2021).
pub fn bounded_range(order: f64, range: f64) -> f64 {
    response(order, range).min(order * range * range / 8.0 * (1.0 + MARGIN))
}

/// Objective perturbation, any sign.
pub fn any_sign(order: f64, determinant: f64, mu: f64) -> f64 {
    let s = order - 1.0;
    let ln_twice = libm::log(2.0) + ln_cdf(s * mu);
    determinant + moment(s * order * mu * mu / 2.0 + ln_twice, s)
}

/// Objective perturbation, fixed sign, one direction only.
pub fn fixed_sign_crude(order: f64, determinant: f64, mu: f64) -> f64 {
    let s = order - 1.0;
    let ln_up = order * s * mu * mu / 2.0 + ln_cdf((order - 0.5) * mu);
    determinant + moment(ln_add_exp(ln_cdf(-mu / 2.0), ln_up), s)
}

/// Objective perturbation, fixed sign, from both directions' curves.
pub fn fixed_sign(order: f64, ahead: f64, back: f64, mu: f64) -> f64 {
    let s = order - 1.0;
    let crude = fixed_sign_crude(order, ahead, mu);
    let exponent = order * s * mu * mu / 2.0;
    if exponent + order * (ahead + back) > 300.0 {
        return crude; // the closed form would overflow
    }
    let (low, high) = (cdf(-mu / 2.0), cdf(mu / 2.0));
    let minus = libm::exp(exponent + ln_cdf(-(s + 0.5) * mu)) + order * high - s * low;
    let plus = libm::exp(exponent) - minus;
    let mut sum = libm::exp(s * ahead) * plus + libm::exp(-order * back) * minus
        - order * libm::expm1(-back) * libm::exp(-s * back);
    if ahead + back > 0.0 {
        let d0 = 1.0 - 2.0 * low;
        let h0 = 1.0 - libm::exp(-back) * (1.0 - d0);
        let b = (h0 - d0) / (libm::exp(ahead) - libm::exp(-back));
        let a = d0 + b * libm::exp(ahead);
        let at = |u: f64| order * a * libm::exp(s * u) - s * b * libm::exp(order * u);
        sum += at(ahead) - at(-back);
    }
    // Margin for the terms' rounding.
    let rounding = 1e-14 * (1.0 + order) * (1.0 + order) * libm::exp(exponent + s * ahead);
    moment(libm::log(sum + rounding), s).min(crude)
}

/// The Poisson-sampled Gaussian under add/remove: rate q, μ = `shift`, any order α > 1.
pub fn poisson_gaussian(order: f64, rate: f64, shift: f64) -> f64 {
    let plain = gaussian(order, shift);
    let farthest = order * shift + 9.0;
    // For large orders or shifts sampling gains little, and the sum gets many points.
    if farthest > 150.0 || shift > 30.0 {
        return plain;
    }
    // d = π/max(μ,1): 2πd/h ≥ 32, and e^{d²/2} ≤ e⁵.
    let step = 0.6 / shift.max(1.0);
    let (ln_rate, ln_rest) = (libm::log(rate), libm::log1p(-rate));
    let ln_value = |x: f64| {
        let y = x * shift - shift * shift / 2.0;
        // Where e^y is about to overflow, in logarithms.
        let ln_mixed = if y < LARGE_EXPONENT {
            libm::log1p(rate * libm::expm1(y))
        } else {
            ln_add_exp(ln_rest, ln_rate + y)
        };
        -x * x / 2.0 + order * ln_mixed
    };
    let points = libm::ceil((farthest + 9.0) / step) as usize;
    let logarithms: Vec<f64> = (0..=points).map(|k| ln_value(-9.0 + k as f64 * step)).collect();
    let top = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logarithms.iter().map(|ln| libm::exp(ln - top)).sum();
    let ln_moment = top + libm::log(sum * step * INV_SQRT_2PI) + 1e-11;
    moment(ln_moment, order - 1.0).min(plain)
}

/// The Gaussian on batches without replacement under replace-one: rate q = b/n, ν = `shift`.
pub fn without_replacement(order: f64, rate: f64, shift: f64) -> f64 {
    let plain = gaussian(order, shift);
    let order = libm::ceil(order).max(2.0);
    if order > 256.0 {
        return plain;
    }
    let half = shift * shift / 2.0;
    let ln_rate = libm::log(rate);
    // ln C(α,j) term by term.
    let mut ln_ways = libm::log(order * (order - 1.0) / 2.0);
    let second = (4.0 * libm::expm1(2.0 * half)).min(2.0 * libm::exp(2.0 * half));
    let mut ln_sum = ln_add_exp(0.0, 2.0 * ln_rate + ln_ways + libm::log(second));
    for j in 3..=order as u32 {
        let j = f64::from(j);
        ln_ways += libm::log((order - j + 1.0) / j);
        let term = j * ln_rate + ln_ways + std::f64::consts::LN_2 + (j - 1.0) * j * half;
        ln_sum = ln_add_exp(ln_sum, term);
    }
    moment(ln_sum + 1e-12, order - 1.0).min(plain)
}

/// A moment that is NaN proves nothing: `max` alone would make it 0, perfect privacy.
fn moment(ln_moment: f64, s: f64) -> f64 {
    if ln_moment.is_nan() {
        return f64::INFINITY;
    }
    (ln_moment + MARGIN * (1.0 + ln_moment.abs())).max(0.0) / s
}

/// The smallest δ(e) that these curves prove, e ≥ 0: parts with multiplicities and a Gaussian of
/// parameter ν.
pub fn delta(rest: &[(Part, u64)], nu: f64, e: f64) -> f64 {
    let forward = one_way(rest, nu, e, Direction::Forward);
    let differ =
        |part: &Part| matches!(part, Part::Objective(objective) if objective.has_directions());
    if rest.iter().any(|(part, _)| differ(part)) {
        forward.max(one_way(rest, nu, e, Direction::Backward))
    } else {
        forward
    }
}

fn one_way(rest: &[(Part, u64)], nu: f64, e: f64, direction: Direction) -> f64 {
    delta_by(e, |order| {
        rest.iter().fold(gaussian(order, nu), |sum, (part, count)| {
            sum + part.divergence(order, direction) * *count as f64
        })
    })
}

/// The smallest δ(e) that a curve ε(α) proves.
pub(super) fn delta_by(e: f64, curve: impl Fn(f64) -> f64) -> f64 {
    let ln_bound = |ln_s: f64| {
        let s = libm::exp(ln_s);
        let total = curve(1.0 + s);
        s * (total * (1.0 + MARGIN) - e) - s * libm::log1p(1.0 / s) - libm::log1p(s)
    };
    // A scan, then golden section around its best: every α is valid, so the search need not be exact.
    let scan = (0..48).map(|k| -7.0 + 0.4 * f64::from(k));
    let best = scan.fold((0.0, f64::INFINITY), |best, x| {
        let value = ln_bound(x);
        if value < best.1 { (x, value) } else { best }
    });
    let (mut low, mut high) = (best.0 - 0.4, best.0 + 0.4);
    let mut least = best.1;
    for _ in 0..24 {
        let (left, right) = (low + 0.382 * (high - low), low + 0.618 * (high - low));
        let (at_left, at_right) = (ln_bound(left), ln_bound(right));
        least = least.min(at_left).min(at_right);
        if at_left < at_right { high = right } else { low = left }
    }
    libm::exp((least + 1e-12 * (1.0 + least.abs())).min(0.0)).max(f64::from_bits(1))
}

impl Part {
    /// The Rényi curve ε(α) in one direction.
    pub fn divergence(&self, order: f64, direction: Direction) -> f64 {
        match *self {
            Self::Laplace(epsilon) => laplace(order, epsilon),
            Self::Response(epsilon) => response(order, epsilon),
            Self::DiscreteLaplace(shift, unit) => response(order, shift * unit * (1.0 + MARGIN)),
            Self::BoundedRange(range) => bounded_range(order, range),
            Self::Concentrated(rho) => rho * order * (1.0 + MARGIN),
            Self::Objective(objective) => objective.divergence(order, direction),
            Self::Sampled(sampled) => match sampled.sampler {
                Sampler::PoissonAdded => poisson_gaussian(order, sampled.rate, sampled.shift),
                Sampler::PoissonReplaced => gaussian(order, 2.0 * sampled.shift),
                Sampler::WithoutReplacement => {
                    without_replacement(order, sampled.rate, sampled.shift)
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table "Rényi", C = 0.1, μ = 0.5.
    #[test]
    fn objective_perturbation_has_its_golden_divergences() {
        for (order, any, crude, both, one) in [
            (2.0, 0.6742007653, 0.4324095741, 0.3179337082, 0.2973295483),
            (4.0, 0.8080012416, 0.6160987649, 0.5954789179, 0.5886109904),
            (8.0, 1.198987789, 1.10003964, 1.099993382, 1.099967321),
            (16.0, 2.146209812, 2.1, 2.1, 2.1),
        ] {
            for (got, want) in [
                (any_sign(order, 0.1, 0.5), any),
                (fixed_sign_crude(order, 0.1, 0.5), crude),
                (fixed_sign(order, 0.1, 0.1, 0.5), both),
                (fixed_sign(order, 0.1, 0.0, 0.5), one),
            ] {
                assert!((got / want - 1.0).abs() < 1e-8, "{order}: {got} {want}");
            }
            let free = fixed_sign(order, 0.0, 0.0, 0.5);
            assert!((free / gaussian(order, 0.5) - 1.0).abs() < 1e-9);
        }
    }

    /// E e^{sU} of bounded losses, directly.
    #[test]
    fn bounded_losses_have_their_divergences() {
        let (order, epsilon) = (3.0, 0.7);
        let p = libm::exp(epsilon) / (1.0 + libm::exp(epsilon));
        let s = order - 1.0;
        let want = libm::log(p * libm::exp(s * epsilon) + (1.0 - p) * libm::exp(-s * epsilon)) / s;
        assert!((response(order, epsilon) / want - 1.0).abs() < 1e-10);
        assert!(laplace(order, epsilon) < response(order, epsilon));
        assert!(bounded_range(order, epsilon) < response(order, epsilon));
    }
}
