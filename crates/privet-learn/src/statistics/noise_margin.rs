//! How far a noised count is from the truth.

use super::count::Law;

/// Φ⁻¹(0.975).
const TWO_SIDED: f64 = 1.959_963_984_540_054;

impl Law {
    /// The word for it in requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Laplace => "laplace",
            Self::Gaussian => "gaussian",
        }
    }

    /// The least m for which noise of this standard deviation is within ±m in at least 95 of 100 draws;
    /// a whole number for Laplace noise, to rounding for Gaussian.
    pub fn margin(self, deviation: f64) -> f64 {
        match self {
            // Pr[k] ∝ qᵏ, q = e^(−1/s): its deviation is √½ / sinh(1/2s), and Pr[|k| > m] = 2qᵐ⁺¹/(1 + q).
            Self::Laplace => {
                let rate = 2.0 * (0.5_f64.sqrt() / deviation).asinh();
                let beyond = (0.025 * (1.0 + (-rate).exp())).ln();
                (-beyond / rate - 1.0).ceil().max(0.0)
            }
            Self::Gaussian => TWO_SIDED * deviation,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By adding up the law itself.
    #[test]
    fn laplace_noise_is_within_its_margin_and_within_no_less() {
        for scale in [0.05_f64, 0.3, 1.0, 2.0, 17.5, 400.0] {
            let q = (-1.0 / scale).exp();
            let weight = |k: i32| if k == 0 { 1.0 } else { 2.0 * q.powi(k) };
            let all: f64 = (0..20_000).map(weight).sum();
            let deviation = 0.5_f64.sqrt() / (0.5 / scale).sinh();
            let margin = Law::Laplace.margin(deviation);
            let share = |most: i32| (0..=most).map(weight).sum::<f64>() / all;
            assert!(share(margin as i32) >= 0.95, "{scale}: {margin}");
            assert!(margin == 0.0 || share(margin as i32 - 1) < 0.95, "{scale}: {margin}");
        }
        assert!((Law::Gaussian.margin(10.0) - 19.6).abs() < 1e-3);
    }
}
