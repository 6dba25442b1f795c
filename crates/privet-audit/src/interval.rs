//! Confidence bounds on a probability after k successes in n trials.
//!
//! **Theorem** (Clopper & Pearson 1934). Let X ~ Binomial(n, p) and let u(k) solve
//! Pr\[Binomial(n, u) ≤ k\] = α, u(n) = 1. Then Pr\[p > u(X)\] ≤ α for every p.
//! *Proof.* u grows with k, and p > u(X) means Pr\[Binomial(n, p) ≤ X\] < α. The distribution
//! function at X itself is below α with probability at most α. ∎
//!
//! Pr\[Binomial(n, p) ≤ k\] = I₁₋ₚ(n − k, k + 1), the regularised incomplete beta function, evaluated
//! by its continued fraction (modified Lentz). Bounds are found by bisection and returned from its
//! safe side, with a margin for rounding.
//!
//! Tested by `bounds_agree_with_the_binomial_sum`, `the_bound_covers`.

/// Generous bound on the relative rounding error of the incomplete beta function.
const MARGIN: f64 = 1e-7;

/// I_x(a, b), the regularised incomplete beta function, a and b positive, x in \[0, 1\].
pub fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let ln_front = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b)
        + a * libm::log(x)
        + b * libm::log1p(-x);
    // The fraction converges fast on this side; the other is its mirror image.
    if x < (a + 1.0) / (a + b + 2.0) {
        (libm::exp(ln_front) * fraction(a, b, x) / a).min(1.0)
    } else {
        (1.0 - libm::exp(ln_front) * fraction(b, a, 1.0 - x) / b).max(0.0)
    }
}

/// The continued fraction of I_x(a, b) · a · B(a, b) / (xᵃ(1−x)ᵇ).
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for m in 1..100_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        value *= d * c;
        if (d * c - 1.0).abs() < 1e-14 {
            break;
        }
    }
    value
}

/// Pr\[Binomial(trials, p) ≤ successes\].
pub fn binomial_cdf(successes: u64, trials: u64, p: f64) -> f64 {
    if successes >= trials {
        return 1.0;
    }
    incomplete_beta((trials - successes) as f64, successes as f64 + 1.0, 1.0 - p)
}

/// The upper Clopper–Pearson bound: above the true probability except with probability `alpha`. 1 if
/// there is no information.
pub fn upper(successes: u64, trials: u64, alpha: f64) -> f64 {
    if successes >= trials || alpha.is_nan() || alpha <= 0.0 {
        return 1.0;
    }
    let (mut low, mut high) = (successes as f64 / trials as f64, 1.0);
    while high - low > 1e-12 * high {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        let below = binomial_cdf(successes, trials, middle) <= alpha * (1.0 - MARGIN);
        if below { high = middle } else { low = middle }
    }
    high
}

/// The lower Clopper–Pearson bound: below the true probability except with probability `alpha`.
pub fn lower(successes: u64, trials: u64, alpha: f64) -> f64 {
    1.0 - upper(trials.saturating_sub(successes), trials, alpha)
}

/// Fast approximation of [`upper`] (Wilson's score bound), for choosing thresholds only.
pub(crate) fn roughly_upper(successes: f64, trials: f64, z: f64) -> f64 {
    let share = successes / trials;
    let square = z * z / trials;
    let spread = libm::sqrt(square * (share * (1.0 - share) + square / 4.0));
    ((share + square / 2.0 + spread) / (1.0 + square)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet_dp::noise::{FixedSeed, Source};

    #[test]
    fn bounds_agree_with_the_binomial_sum() {
        for (trials, p) in [(7_u64, 0.3_f64), (40, 0.02), (200, 0.77)] {
            let mut mass = (1.0 - p).powi(trials as i32);
            let mut sum = 0.0;
            for k in 0..trials {
                sum += mass;
                assert!((binomial_cdf(k, trials, p) - sum).abs() < 1e-12, "{k} of {trials}");
                mass *= (trials - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
            }
        }
        // 1 − α^(1/n) for no success, 1 for all.
        assert!((upper(0, 1000, 0.05) - (1.0 - 0.05_f64.powf(1e-3))).abs() < 1e-9);
        assert_eq!(upper(5, 5, 0.01), 1.0);
        assert_eq!(lower(0, 5, 0.01), 0.0);
        assert_eq!(upper(0, 0, 0.01), 1.0);
        assert_eq!(upper(1, 10, f64::NAN), 1.0);
        // Known table value: 10 of 100, two-sided 95 %: (0.0490, 0.1762).
        assert!((upper(10, 100, 0.025) - 0.176_222_6).abs() < 1e-6);
        assert!((lower(10, 100, 0.025) - 0.049_004_7).abs() < 1e-6);
    }

    /// Fixed seed. The true miss rate is at most 5 %, 100 of 2,000; 140 is four standard deviations
    /// above.
    #[test]
    fn the_bound_covers() {
        let mut source = FixedSeed::new(3);
        for p in [0.003, 0.2, 0.5] {
            let missed = (0..2000)
                .filter(|_| {
                    let hits = (0..300).filter(|_| (source.next_u64() as f64) < p * 2f64.powi(64));
                    upper(hits.count() as u64, 300, 0.05) < p
                })
                .count();
            assert!(missed <= 140, "p = {p}: missed {missed} of 2000");
        }
    }

    #[test]
    fn large_counts_keep_their_digits() {
        let bound = upper(18_394, 50_000, 0.0005);
        let normal = 0.367_88 + 3.2905 * (0.367_88_f64 * 0.632_12 / 50_000.0).sqrt();
        assert!((bound - normal).abs() < 5e-5, "{bound} against {normal}");
    }
}
