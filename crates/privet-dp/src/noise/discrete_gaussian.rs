//! Discrete Gaussian noise: P(k) ∝ e^(−k²/2σ²) on the integers (Canonne, Kamath & Steinke 2020).
//!
//! **Exact**, for σ taken as the dyadic number of its f64, on ∣k∣ < 2⁶²: the law is the one above
//! conditioned on that range, whose complement weighs less than e^(−2¹⁹) for σ < 2⁵². The method and its
//! proof are those of the cell table (`exact/cell_table.rs`), with x(v) = v²/2σ² = v²/(2m²·4^e) for
//! σ = m·2^e: numerator v² < 2¹²⁴, denominator m² < 2¹⁰⁶.
//!
//! The table's assumption on the tail: x(V) ≥ 45 means V ≥ 9.48σ, and
//! x(V + d) − x(V) ≥ d·V/σ² ≥ 9.48·d/σ ≥ d·ln 2/σ.
//!
//! Departs from the paper, which draws a discrete Laplace and thins it with Bernoulli(e⁻ˣ) coins in
//! rational arithmetic, at some 30 random words a draw; here it is about one, the law being the same.
//!
//! Tested by `tests/all/noise_integer_laws.rs`.

use super::exact::cell_table::{CellTable, Shape};
use super::exact::exponent::{Exponent, dyadic_parts};
use super::{NoiseError, Source};
use privet_core::Range;
use std::cell::RefCell;
use std::sync::Arc;

/// Limits on σ of a discrete Gaussian: 2⁻¹⁰ to 2⁵².
pub const SIGMA: Range = Range::from("sigma", 0.000_976_562_5, 4_503_599_627_370_496.0);

/// Draws from P(k) ∝ e^(−k²/2σ²). Building one takes some 20 µs, unless the thread's last one had the
/// same σ, and a draw some nanoseconds.
pub struct DiscreteGaussian(Arc<CellTable<GaussianShape>>);

thread_local! {
    /// The last table: a descent requests the same one at every step. It holds σ, which is public, and
    /// no draws.
    static LAST: RefCell<Option<Arc<CellTable<GaussianShape>>>> = const { RefCell::new(None) };
}

impl DiscreteGaussian {
    /// The law for a σ inside [`SIGMA`].
    pub fn new(sigma: f64) -> Result<Self, NoiseError> {
        let sigma = SIGMA.check(sigma)?;
        let same = |table: &&Arc<CellTable<GaussianShape>>| {
            table.shape().sigma.to_bits() == sigma.to_bits()
        };
        if let Some(table) = LAST.with_borrow(|last| last.as_ref().filter(same).cloned()) {
            return Ok(Self(table));
        }
        let table = Arc::new(CellTable::new(GaussianShape::new(sigma)));
        LAST.set(Some(Arc::clone(&table)));
        Ok(Self(table))
    }

    /// The parameter σ. (For σ ≥ 1 the standard deviation is σ to within 10⁻⁶; below, it is smaller.)
    pub fn sigma(&self) -> f64 {
        self.0.shape().sigma
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

impl std::fmt::Debug for DiscreteGaussian {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DiscreteGaussian(sigma = {})", self.sigma())
    }
}

/// The exponent x(v) = v²/2σ².
pub(super) struct GaussianShape {
    sigma: f64,
    /// The denominator m².
    denominator: u128,
    /// The power of two 2e + 1.
    shift: i32,
}

impl GaussianShape {
    pub fn new(sigma: f64) -> Self {
        let (mantissa, exponent) = dyadic_parts(sigma);
        let denominator = u128::from(mantissa) * u128::from(mantissa);
        Self { sigma, denominator, shift: 2 * exponent + 1 }
    }
}

impl Shape for GaussianShape {
    const RESOLUTION: i32 = 5;

    fn exponent(&self, value: u64) -> Exponent {
        Exponent::new(u128::from(value) * u128::from(value), self.denominator, self.shift)
    }

    fn scale(&self) -> f64 {
        self.sigma
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::FixedSeed;

    /// A cached table is that of its own σ.
    #[test]
    fn laws_in_turn_are_those_of_laws_alone() {
        let draws = |sigma: f64| {
            let mut drawn = [0; 8];
            DiscreteGaussian::new(sigma).unwrap().fill(&mut drawn, &mut FixedSeed::new(1));
            drawn
        };
        let alone = |sigma| std::thread::spawn(move || draws(sigma)).join().unwrap();
        for sigma in [3.0, 3.0, 700.5, 3.0] {
            assert_eq!(draws(sigma), alone(sigma));
        }
        assert_ne!(draws(3.0), draws(700.5));
    }

    #[test]
    fn a_sigma_outside_the_range_is_refused_by_name() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-4, 1e16, -0.0, f64::MIN_POSITIVE] {
            let message = DiscreteGaussian::new(bad).unwrap_err().to_string();
            assert!(message.contains("sigma") && message.contains("0.0009765625"), "{message}");
        }
        assert_eq!(DiscreteGaussian::new(2_f64.powi(-10)).unwrap().sigma(), 2_f64.powi(-10));
        assert!(DiscreteGaussian::new(2_f64.powi(52).next_down()).is_ok());
    }

    /// Same seed, same draws, on every platform. A change here is a *Stream* entry in the changelog.
    #[test]
    fn the_stream_of_a_seed_stays() {
        let draw = |sigma: f64| {
            let mut draws = [0; 6];
            DiscreteGaussian::new(sigma).unwrap().fill(&mut draws, &mut FixedSeed::new(2024));
            draws
        };
        assert_eq!(draw(3.0), [-6, -6, 2, 5, 0, -2]);
        let large = [
            -2_044_083_183_564,
            -2_367_304_849_265,
            566_677_306_549,
            1_860_264_917_723,
            -44_434_680_234,
            -917_777_596_830,
        ];
        assert_eq!(draw(2_f64.powi(40)), large);
    }
}
