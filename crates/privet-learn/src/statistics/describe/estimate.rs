//! Ratios of noisy sums, with intervals for the noise alone.
//!
//! An interval contains the same number without noise in at least 95 of 100 releases (of means and
//! counts), or in about 95 (of spreads and correlations, by linearising; if the noise is too large for
//! that, the interval is the whole range). It does not cover sampling error, which is the same with and
//! without privacy.

use super::super::count::Law;
use super::summary::Estimate;

/// Noise on one sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::statistics) struct Noise {
    pub law: Law,
    /// The scale of the distribution.
    pub scale: f64,
}

/// A noisy or exact sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::statistics) struct Sum {
    pub value: f64,
    /// The variance of its noise, in units of one sum's noise variance.
    pub noises: f64,
}

/// The sums of a numeric column.
#[derive(Debug, Clone, Copy)]
pub(in crate::statistics) struct Moments {
    /// The number of records.
    pub count: Sum,
    /// The sum Σz.
    pub sum: f64,
    /// The sum of squares Σz².
    pub squares: f64,
}

impl Sum {
    pub fn noisy(value: f64) -> Self {
        Self { value, noises: 1.0 }
    }

    pub fn known(value: f64) -> Self {
        Self { value, noises: 0.0 }
    }

    pub fn minus(self, other: Self) -> Self {
        Self { value: self.value - other.value, noises: self.noises + other.noises }
    }
}

impl Noise {
    /// The standard deviation of the noise.
    pub fn deviation(self) -> f64 {
        match self.law {
            // The grid of 2⁻²⁰ is far below the scale: the discrete law's deviation differs by less than
            // 1e-12 of it.
            Law::Laplace => std::f64::consts::SQRT_2 * self.scale,
            Law::Gaussian => self.scale,
        }
    }

    /// Margin of error of a sum of independent noises with `noises` unit variances, in at least 95 of
    /// 100 draws.
    pub fn margin(self, noises: f64) -> f64 {
        self.tail_probability(noises, 1.959_963_984_540_054, 20_f64.ln())
    }

    /// The same for two sums at once, both within the margin in 95 of 100 draws.
    fn wide_margin(self, noises: f64) -> f64 {
        self.tail_probability(noises, 2.241_402_727_604_947, 40_f64.ln())
    }

    /// One Laplace variable exceeds t scales with probability e⁻ᵗ; of several with the same variance the
    /// tails are lighter there.
    fn tail_probability(self, noises: f64, normal: f64, laplace: f64) -> f64 {
        let factor = match self.law {
            Law::Laplace => laplace / std::f64::consts::SQRT_2,
            Law::Gaussian => normal,
        };
        factor * self.deviation() * noises.sqrt()
    }

    /// The estimate of a count.
    pub fn count(self, sum: Sum) -> Estimate {
        let margin = self.margin(sum.noises);
        Estimate { value: sum.value, low: sum.value - margin, high: sum.value + margin }
    }

    /// The margin for each of `among` sums at once, all of them in 95 of 100 draws: of a normal variable
    /// Pr[|x| > t·σ] ≤ 2·exp(−t²/2), of a Laplace one e⁻ᵗ.
    pub fn margin_among(self, noises: f64, among: usize) -> f64 {
        let each = 20.0 * among.max(1) as f64;
        self.tail_probability(noises, (2.0 * (2.0 * each).ln()).sqrt(), each.ln())
    }

    /// A part as a share of a whole, from 0 to 1; the interval spans all pairs within their margins.
    pub fn share(self, part: Sum, whole: Sum) -> Estimate {
        let (own, of) = match whole.noises > 0.0 {
            true => (self.wide_margin(part.noises), self.wide_margin(whole.noises)),
            false => (self.margin(part.noises), 0.0),
        };
        let clamped = |ratio: f64| if ratio.is_nan() { 0.0 } else { ratio.clamp(0.0, 1.0) };
        let value = if whole.value > 0.0 { clamped(part.value / whole.value) } else { 0.0 };
        let (least, most) = (whole.value - of, whole.value + of);
        if least <= 0.0 {
            return Estimate { value, low: 0.0, high: 1.0 };
        }
        let low = clamped((part.value - own) / most);
        Estimate { value, low, high: clamped((part.value + own) / least) }
    }

    /// Σz/n for z in [−1, 1]; the interval spans all pairs of sum and count within their margins.
    pub fn mean(self, moments: &Moments) -> Estimate {
        let Moments { count, sum, .. } = moments;
        let (most, least) = match count.noises > 0.0 {
            true => {
                let margin = self.wide_margin(count.noises);
                (count.value + margin, count.value - margin)
            }
            false => (count.value, count.value),
        };
        let margin = if count.noises > 0.0 { self.wide_margin(1.0) } else { self.margin(1.0) };
        let value = if count.value > 0.0 { (sum / count.value).clamp(-1.0, 1.0) } else { 0.0 };
        if least <= 0.0 {
            return Estimate { value, low: -1.0, high: 1.0 };
        }
        let ends = [(sum - margin) / least, (sum - margin) / most];
        let low = ends[0].min(ends[1]).clamp(-1.0, 1.0);
        let ends = [(sum + margin) / least, (sum + margin) / most];
        Estimate { value, low, high: ends[0].max(ends[1]).clamp(-1.0, 1.0) }
    }

    /// The variance of z (before clamping to [0, 1]) and the standard deviation of its noise; `None` if
    /// the number of records may be 0.
    fn variance(self, moments: &Moments) -> Option<(f64, f64)> {
        let n = moments.count.value;
        if n - 3.0 * self.deviation() * moments.count.noises.sqrt() < 1.0 {
            return None;
        }
        let (m, q) = (moments.sum / n, moments.squares / n);
        let variance = q - m * m;
        // ∂/∂Σz², ∂/∂Σz and ∂/∂n, times n.
        let slopes = 1.0 + 4.0 * m * m + moments.count.noises * (2.0 * m * m - q).powi(2);
        Some((variance, self.deviation() / n * slopes.sqrt()))
    }

    /// The standard deviation of z.
    pub fn spread(self, moments: &Moments) -> Estimate {
        let Some((variance, noise)) = self.variance(moments) else {
            return Estimate { value: 0.0, low: 0.0, high: 1.0 };
        };
        let root = |variance: f64| variance.clamp(0.0, 1.0).sqrt();
        // Without noise the margin is 0.
        let margin = match self.deviation() > 0.0 {
            true => self.margin(1.0) / self.deviation() * noise,
            false => 0.0,
        };
        Estimate {
            value: root(variance),
            low: root(variance - margin),
            high: root(variance + margin),
        }
    }

    /// The correlation of two numbers over the same records.
    pub fn correlation(self, first: &Moments, second: &Moments, products: f64) -> Estimate {
        let unknown = |value| Estimate { value, low: -1.0, high: 1.0 };
        let (Some((a, a_noise)), Some((b, b_noise))) =
            (self.variance(first), self.variance(second))
        else {
            return unknown(0.0);
        };
        if a <= 0.0 || b <= 0.0 {
            return unknown(0.0);
        }
        let n = first.count.value;
        let (m, k) = (first.sum / n, second.sum / n);
        let c = products / n - m * k;
        let root = (a * b).sqrt();
        let r = c / root;
        let value = r.clamp(-1.0, 1.0);
        // With more noise, linearising a ratio is no longer accurate.
        if a < 4.0 * a_noise || b < 4.0 * b_noise {
            return unknown(value);
        }
        let slopes = [
            1.0 / root,
            r / (2.0 * a),
            r / (2.0 * b),
            r * m / a - k / root,
            r * k / b - m / root,
            first.count.noises.sqrt()
                * ((m * k - c) / root - r * (m * m - a) / (2.0 * a) - r * (k * k - b) / (2.0 * b)),
        ];
        let length = slopes.iter().map(|slope| slope * slope).sum::<f64>().sqrt();
        let margin = self.margin(1.0) * length / n;
        let within = |r: f64| r.clamp(-1.0, 1.0);
        Estimate { value, low: within(r - margin), high: within(r + margin) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds noise of a simple generator to known sums: intervals hold the truth in at least 93 of 100
    /// draws. 4,000 draws, and a share of 95 of 100: a false failure has a probability below
    /// exp(−2·4000·0.02²) = 4 % by Hoeffding, but the seed is fixed, so that it fails always or never.
    #[test]
    fn intervals_hold_what_they_are_about() {
        let mut state = 9_u64;
        let mut uniform = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
        };
        for law in [Law::Gaussian, Law::Laplace] {
            let noise = Noise { law, scale: 10.0 };
            let mut draw = || match law {
                Law::Gaussian => {
                    10.0 * (-2.0 * uniform().ln()).sqrt()
                        * (std::f64::consts::TAU * uniform()).cos()
                }
                Law::Laplace => -10.0 * (uniform().ln() - uniform().ln()),
            };
            // n = 2000, means 0.3 and −0.2, variances 0.05 and 0.1, correlation 0.4.
            let n = 2000.0;
            let (m, k, a, b, r) = (0.3, -0.2, 0.05, 0.1, 0.4_f64);
            let exact = [n, n * m, n * (a + m * m), n * k, n * (b + k * k)];
            let products = n * (r * f64::sqrt(a * b) + m * k);
            let mut held = [0; 3];
            for _ in 0..4000 {
                let count = Sum::noisy(exact[0] + draw());
                let first = Moments { count, sum: exact[1] + draw(), squares: exact[2] + draw() };
                let second = Moments { count, sum: exact[3] + draw(), squares: exact[4] + draw() };
                let found = [
                    (noise.mean(&first), m),
                    (noise.spread(&first), a.sqrt()),
                    (noise.correlation(&first, &second, products + draw()), r),
                ];
                for (held, (estimate, truth)) in held.iter_mut().zip(found) {
                    *held += u32::from((estimate.low..=estimate.high).contains(&truth));
                    assert!((estimate.low..=estimate.high).contains(&estimate.value));
                }
            }
            for (what, held) in ["mean", "spread", "correlation"].iter().zip(held) {
                assert!((3720..4000).contains(&held), "{law:?} {what}: {held} of 4000");
            }
        }
    }

    #[test]
    fn next_to_nobody_is_no_knowledge() {
        let noise = Noise { law: Law::Gaussian, scale: 30.0 };
        let few = Moments { count: Sum::noisy(-4.0), sum: 12.0, squares: 3.0 };
        let mean = noise.mean(&few);
        assert_eq!((mean.value, mean.low, mean.high), (0.0, -1.0, 1.0));
        let all = noise.correlation(&few, &few, 5.0);
        assert_eq!((all.value, all.low, all.high), (0.0, -1.0, 1.0));
    }
}
