//! Discrete Laplace noise: P(k) ∝ e^(−∣k∣/s) on the integers, the two-sided geometric law.
//!
//! **Exact**, for s taken as the dyadic number of its f64, on ∣k∣ < 2⁶²: the law is the one above
//! conditioned on that range, whose complement weighs less than e^(−1023) for s < 2⁵². The method and
//! its proof are those of the cell table (`exact/cell_table.rs`), with x(v) = v/s = v/(m·2^e) for
//! s = m·2^e. The table's assumption on the tail: x(V + d) − x(V) = d/s ≥ d·ln 2/s.
//!
//! With noise of scale s on an integer of sensitivity Δ, P(k)/P(k + Δ) ≤ e^(Δ/s): ε = Δ/s, δ = 0.
//! (Conditioning on ∣k∣ < 2⁶² moves the ends by Δ: an outcome that only one neighbour can
//! produce has probability below e^(−1000), a δ no accountant can represent.)
//!
//! Tested by `tests/all/noise_integer_laws.rs`.

use super::exact::cell_table::{CellTable, Shape};
use super::exact::exponent::{Exponent, dyadic_parts};
use super::{NoiseError, Source};
use privet_core::Range;

/// Limits on the scale of a discrete Laplace: 2⁻¹⁰ to 2⁵².
pub const LAPLACE_SCALE: Range =
    Range::from("noise_scale", 0.000_976_562_5, 4_503_599_627_370_496.0);

/// Draws from P(k) ∝ e^(−∣k∣/s). Building one takes some 30 µs, a draw some nanoseconds.
pub struct DiscreteLaplace(CellTable<LaplaceShape>);

impl DiscreteLaplace {
    /// The law for a scale inside [`LAPLACE_SCALE`].
    pub fn new(noise_scale: f64) -> Result<Self, NoiseError> {
        Ok(Self(CellTable::new(LaplaceShape::new(LAPLACE_SCALE.check(noise_scale)?))))
    }

    /// The scale s.
    pub fn noise_scale(&self) -> f64 {
        self.0.shape().noise_scale
    }

    /// Fills `out` with independent draws.
    pub fn fill<S: Source + ?Sized>(&self, out: &mut [i64], source: &mut S) {
        self.0.fill(out, source);
    }

    /// One draw.
    pub fn draw<S: Source + ?Sized>(&self, source: &mut S) -> i64 {
        self.0.draw(source)
    }
}

impl std::fmt::Debug for DiscreteLaplace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DiscreteLaplace(noise_scale = {})", self.noise_scale())
    }
}

/// The exponent x(v) = v/s.
pub(super) struct LaplaceShape {
    noise_scale: f64,
    mantissa: u128,
    exponent: i32,
}

impl LaplaceShape {
    pub fn new(noise_scale: f64) -> Self {
        let (mantissa, exponent) = dyadic_parts(noise_scale);
        Self { noise_scale, mantissa: mantissa.into(), exponent }
    }
}

impl Shape for LaplaceShape {
    const RESOLUTION: i32 = 5;

    fn exponent(&self, value: u64) -> Exponent {
        Exponent::new(value.into(), self.mantissa, self.exponent)
    }

    fn scale(&self) -> f64 {
        self.noise_scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_outside_the_range_is_refused_by_name() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-4, 1e16] {
            let message = DiscreteLaplace::new(bad).unwrap_err().to_string();
            assert!(
                message.contains("noise_scale") && message.contains("0.0009765625"),
                "{message}"
            );
        }
        assert!(DiscreteLaplace::new(3.5).is_ok());
    }
}
