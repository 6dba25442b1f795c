//! ℓ2-Laplace vectors: density ∝ e^(−‖b‖₂/s) in p dimensions (Chaudhuri & Monteleoni 2008).
//!
//! **Law.** In polar coordinates the density is r^(p−1)·e^(−r/s) times a uniform direction: ‖b‖ ~
//! Gamma(p, s), independent of b/‖b‖, which is uniform on the sphere. The privacy loss between two
//! centres is at most their distance over s, by the triangle inequality: ε = Δ₂/s, δ = 0.
//!
//! **In real arithmetic.** The radius is Marsaglia & Tsang's (2000): d = p − ⅓, c = 1/√(9d), z normal,
//! v = (1 + cz)³; d·v is Gamma(p, 1) when kept, which is if v > 0 and ln U < z²/2 + d − dv + d·ln v.
//! The direction is a vector of independent Gaussians over its norm. Normals are those of
//! [`GridGaussian`] (2⁴⁰ grid points a standard deviation), −ln U is [`exponential`]; products and
//! quotients are rounded to f64. A certificate that rests on this law says so.
//!
//! Tested by `tests/all/noise_continuous_laws.rs`: the radius against the Erlang law, directions
//! against Archimedes' theorem.

use super::gumbel::exponential;
use super::{GridGaussian, NoiseError, Source};
use privet_core::Range;

/// Limits on the scale of continuous noise, 2⁻⁹⁰⁰ to 2⁹⁰⁰.
pub const NOISE_SCALE: Range = super::GRID_NOISE_SCALE;

/// Draws vectors with density ∝ e^(−‖b‖₂/s).
#[derive(Debug)]
pub struct L2Laplace {
    noise_scale: f64,
    normal: GridGaussian,
}

impl L2Laplace {
    /// The law for a scale inside [`NOISE_SCALE`].
    pub fn new(noise_scale: f64) -> Result<Self, NoiseError> {
        Ok(Self { noise_scale: NOISE_SCALE.check(noise_scale)?, normal: GridGaussian::new(1.0)? })
    }

    /// The scale s.
    pub fn noise_scale(&self) -> f64 {
        self.noise_scale
    }

    /// Draws one vector, of as many dimensions as `out` has entries.
    pub fn fill<S: Source + ?Sized>(&self, out: &mut [f64], source: &mut S) {
        if out.is_empty() {
            return;
        }
        let norm = loop {
            self.normal.fill(out, source);
            let norm = out.iter().map(|value| value * value).sum::<f64>().sqrt();
            if norm > 0.0 {
                break norm;
            }
        };
        let factor = self.gamma(out.len() as f64, source) / norm;
        for value in out {
            // The scale last: it may be anything from 2⁻⁹⁰⁰ to 2⁹⁰⁰.
            *value = *value * factor * self.noise_scale;
        }
    }

    /// Draws from Gamma(shape, 1) for shape ≥ 1.
    fn gamma<S: Source + ?Sized>(&self, shape: f64, source: &mut S) -> f64 {
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let mut z = [0.0];
            self.normal.fill(&mut z, source);
            let v = (1.0 + c * z[0]).powi(3);
            if v > 0.0 && -exponential(source) < 0.5 * z[0] * z[0] + d * (1.0 - v + libm::log(v)) {
                return d * v;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::FixedSeed;

    #[test]
    fn odd_sizes_and_scales_are_served_or_refused() {
        let law = L2Laplace::new(2.0).unwrap();
        law.fill(&mut [], &mut FixedSeed::new(1));
        for size in [1, 2, 1000] {
            let mut vector = vec![0.0; size];
            law.fill(&mut vector, &mut FixedSeed::new(1));
            let norm = vector.iter().map(|value| value * value).sum::<f64>().sqrt();
            assert!(norm > 0.0 && norm < 2.0 * (size as f64 + 45.0 + 10.0 * (size as f64).sqrt()));
        }
        for extreme in [2_f64.powi(-900), 2_f64.powi(899)] {
            let mut vector = [0.0; 10];
            L2Laplace::new(extreme).unwrap().fill(&mut vector, &mut FixedSeed::new(1));
            assert!(vector.iter().all(|value| value.is_normal()));
        }
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let message = L2Laplace::new(bad).unwrap_err().to_string();
            assert!(message.contains("noise_scale"), "{message}");
        }
    }
}
