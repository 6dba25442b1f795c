//! Gaussian noise on a fine grid, and its distance from the continuous law.
//!
//! The grid is step·ℤ, step a power of two with s = σ/step in [2⁴⁰, 2⁴¹). The noise is step·K, K a
//! discrete Gaussian of parameter s: **exact** (`DiscreteGaussian`), with no rounding anywhere, since
//! ∣K∣ < 2⁵³ except with a probability below e^(−2²²). So there are no floating-point artefacts to
//! observe.
//!
//! **Theorem.** In units of the step let P be N(0, s²) rounded to the nearest integer, Q the discrete
//! Gaussian with parameter s. Then
//!
//! TV(P, Q) ≤ 0.0202/s² + 0.0511/s³ + 2e^(−2π²s²), and ≤ 0.021/s² for s ≥ 2¹⁰.
//!
//! *Proof.* f is the density of N(0, s²), so P(k) = ∫ f over [k−½, k+½] and Q(k) = f(k)/Z, Z = Σf(k).
//! 2·TV ≤ Σ∣P(k) − f(k)∣ + Σ∣f(k) − f(k)/Z∣ = Σ∣P(k) − f(k)∣ + ∣Z − 1∣.
//!
//! - *Midpoint rule:* ∣P(k) − f(k)∣ ≤ M(k)/24, M(k) the largest ∣f″∣ in the cell. In a cell of length 1 the
//!   maximum of ∣f″∣ is at most its mean plus its variation, so ΣM(k) ≤ ∫∣f″∣ + ∫∣f‴∣. With φ the
//!   standard normal density, ∫∣f″∣ = ∫∣x² − 1∣φ/s² = 4φ(1)/s² < 0.968/s² (the antiderivative of (x² − 1)φ
//!   is −xφ), and ∫∣f‴∣ = E∣x³ − 3x∣/s³ ≤ √E(x³ − 3x)²/s³ = √6/s³ < 2.4495/s³.
//! - *Poisson summation:* Z = Σₙ e^(−2π²s²n²), so 0 < Z − 1 = 2Σ_{n≥1} ≤ 4e^(−2π²s²) for s ≥ 1.
//!
//! Half the sum: 0.968/48 < 0.0202, 2.4495/48 < 0.0511, 4/2 = 2. For s ≥ 2¹⁰ the last two terms are
//! below 0.00005/s². ∎ The coordinates being independent, p of them are within p times that.
//!
//! **Use.** Charged with δ′ = [`grid_distance`] (at p = 10⁶ and s = 2⁴⁰, 2·10⁻²⁰):
//!
//! - If g is on the grid, g + step·P is N(g, σ²I) rounded to the grid: a post-processing of the exact
//!   Gaussian mechanism. Releasing g + step·Q is within δ′ of that, under each of two neighbours.
//! - Noise b inside an objective: b can be coupled with an exact draw b* ~ N(0, σ²I) so that, except
//!   on an event of probability at most δ′, every coordinate is within step/2 of b*'s, and
//!   ‖b − b*‖₂ ≤ (step/2)·√p, which the caller charges as a tolerance.
//!
//! **Ratio.** For ∣k∣ ≤ 37.5·s also ∣ln Q(k)/P(k)∣ ≤ 60/s² (s ≥ 2¹⁰), and both laws put less than 10⁻³⁰⁷
//! on other k. *Proof.* P(k)/f(k) = ∫exp(−(2ku + u²)/2s²)du over ∣u∣ ≤ ½; the factor e^(−u²/2s²) is
//! within [1 − 1/8s², 1] and, with a = k/s², ∫e^(−au)du = sinh(a/2)/(a/2) is within [1, e^(a²/24)], where
//! a² ≤ 37.5²/s² < 1407/s². So ln P(k)/f(k) is within [−1/7s², 59/s²], and ∣ln Z∣ is below 1/s². Outside,
//! P has 2Φ(−37.4995) < 9.7·10⁻³⁰⁸, and Q no more, f being decreasing. ∎ Under a budget with large ε this is
//! the better charge: [`grid_ratio`].
//!
//! Tested by `the_bound_holds_for_small_grids` (exact sums at s = 1 … 64) and in law by
//! `tests/all/noise_continuous_laws.rs`.

use super::exact::exponent::dyadic_parts;
use super::{DiscreteGaussian, NoiseError, Source};
use privet_core::Range;
use zeroize::Zeroizing;

/// Limits on the σ of Gaussian noise on a grid, 2⁻⁹⁰⁰ to 2⁹⁰⁰.
pub const GRID_NOISE_SCALE: Range = Range::from(
    "noise_scale",
    f64::from_bits((1023 - 900) << 52),
    f64::from_bits((1023 + 900) << 52),
);

/// σ/step is at least 2 to this power and below twice that.
const GRID_BITS: i32 = 40;
/// The proved constant: TV ≤ 0.021/s², of which 0.0203/s² is used; the rest covers all rounding.
const CONSTANT: f64 = 0.021;
/// The proved 60/s² and 10⁻³⁰⁷ of the ratio, with room for rounding.
const RATIO: f64 = 60.1;
const OUTSIDE: f64 = 1.1e-307;
/// The smallest s for which [`CONSTANT`] is proved.
const FEWEST_STEPS: f64 = 1024.0;

/// Noise step·K that replaces N(0, σ²).
#[derive(Debug)]
pub struct GridGaussian {
    noise_scale: f64,
    step: f64,
    law: DiscreteGaussian,
}

impl GridGaussian {
    /// Chooses the step for a σ inside [`GRID_NOISE_SCALE`].
    pub fn new(noise_scale: f64) -> Result<Self, NoiseError> {
        let (_, exponent) = dyadic_parts(GRID_NOISE_SCALE.check(noise_scale)?);
        // The mantissa has 53 bits: σ is in [2^(exponent+52), 2^(exponent+53)).
        let power = exponent + 52 - GRID_BITS;
        let step = f64::from_bits(((power + 1023) as u64) << 52);
        Ok(Self { noise_scale, step, law: DiscreteGaussian::new(noise_scale / step)? })
    }

    /// The standard deviation σ.
    pub fn noise_scale(&self) -> f64 {
        self.noise_scale
    }

    /// Distance between neighbouring points of the grid, a power of two.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// [`grid_distance`] for this many coordinates.
    pub fn distance(&self, coordinates: u64) -> f64 {
        grid_distance(self.noise_scale, self.step, coordinates)
    }

    /// Fills `out` with independent draws, in units of the step.
    pub fn fill_steps<S: Source + ?Sized>(&self, out: &mut [i64], source: &mut S) {
        self.law.fill(out, source);
    }

    /// Fills `out` with independent draws, multiples of the step.
    pub fn fill<S: Source + ?Sized>(&self, out: &mut [f64], source: &mut S) {
        let mut steps = Zeroizing::new([0_i64; 256]);
        for chunk in out.chunks_mut(steps.len()) {
            let steps = &mut steps[..chunk.len()];
            self.law.fill(steps, source);
            for (value, &steps) in chunk.iter_mut().zip(steps.iter()) {
                *value = steps as f64 * self.step;
            }
        }
    }
}

/// Upper bound on the total variation distance between step·K in `coordinates` coordinates and N(0, σ²I)
/// rounded to the grid: coordinates · 0.021 · (step/σ)², rounded up.
///
/// Returns 1, which always holds, where the theorem does not apply: σ/step below 2¹⁰, or a number that
/// is no scale.
pub fn grid_distance(noise_scale: f64, step: f64, coordinates: u64) -> f64 {
    let steps = noise_scale / step;
    if !(step > 0.0 && (FEWEST_STEPS..f64::INFINITY).contains(&steps)) {
        return 1.0;
    }
    if coordinates == 0 {
        return 0.0;
    }
    (CONSTANT / steps / steps * coordinates as f64).clamp(f64::MIN_POSITIVE, 1.0)
}

/// (r, t): except for events of probability t under either law, step·K in `coordinates` coordinates has
/// a probability within e^±r of that of N(0, σ²I) rounded to the grid; both rounded up. (∞, 1) where the
/// theorem does not apply.
pub fn grid_ratio(noise_scale: f64, step: f64, coordinates: u64) -> (f64, f64) {
    let (steps, count) = (noise_scale / step, coordinates as f64);
    if !(step > 0.0 && (FEWEST_STEPS..f64::INFINITY).contains(&steps)) {
        return (f64::INFINITY, 1.0);
    }
    (count * (RATIO / steps / steps).max(f64::MIN_POSITIVE), (count * OUTSIDE).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::FixedSeed;

    #[test]
    fn the_step_is_a_power_of_two_of_the_right_size() {
        for scale in [2_f64.powi(-900), 1e-30, 0.7, 1.0, 1.999, 2.0, 1e9, 2_f64.powi(899)] {
            let grid = GridGaussian::new(scale).unwrap();
            assert_eq!(dyadic_parts(grid.step()).0, 1 << 52, "not a power of two");
            let steps = grid.noise_scale() / grid.step();
            assert!((2_f64.powi(40)..2_f64.powi(41)).contains(&steps), "{scale}: {steps}");
            let mut noise = [0.0; 1000];
            grid.fill(&mut noise, &mut FixedSeed::new(1));
            assert!(noise.iter().all(|value| (value / grid.step()).fract() == 0.0));
            assert!(noise.iter().any(|value| value.abs() > scale));
        }
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 1e300] {
            let message = GridGaussian::new(bad).unwrap_err().to_string();
            assert!(message.contains("noise_scale"), "{message}");
        }
    }

    /// P by differences of erfc, Q by its sum; both to about 1e-15 where they matter.
    fn exact_distance(s: f64) -> f64 {
        let reach = (s * 12.0) as i64;
        let weight = |k: i64| (-0.5 * (k as f64 / s).powi(2)).exp();
        let normaliser: f64 = (-reach..=reach).map(weight).sum();
        let tail = |x: f64| 0.5 * libm::erfc(x / s / std::f64::consts::SQRT_2);
        let gap = |k: i64| {
            let magnitude = k.abs() as f64;
            (tail(magnitude - 0.5) - tail(magnitude + 0.5) - weight(k) / normaliser).abs()
        };
        0.5 * (-reach..=reach).map(gap).sum::<f64>()
    }

    /// P(k) by Simpson's rule in the exponent's own scale, Q(k) by its formula; s = 2¹⁰.
    #[test]
    fn the_ratio_holds_in_every_cell() {
        let s = 1024.0_f64;
        let (ratio, outside) = grid_ratio(s, 1.0, 1);
        assert!(outside < 2e-307 && ratio < 61.0 / (s * s));
        let mut largest: f64 = 0.0;
        for k in (0..=38_400).step_by(7) {
            let k = f64::from(k);
            let g = |u: f64| (-(2.0 * k * u + u * u) / (2.0 * s * s)).exp();
            let cell = (0..64).map(|j| {
                let u = -0.5 + f64::from(j) / 64.0;
                (g(u) + 4.0 * g(u + 1.0 / 128.0) + g(u + 1.0 / 64.0)) / 384.0
            });
            largest = largest.max(cell.sum::<f64>().ln().abs());
        }
        assert!(largest <= ratio && largest > 0.9 * ratio, "{largest} of {ratio}");
    }

    #[test]
    fn the_bound_holds_for_small_grids() {
        for s in 1..=64 {
            let s = f64::from(s);
            let bound = 0.0202 / (s * s)
                + 0.0511 / s.powi(3)
                + 2.0 * (-2.0 * (std::f64::consts::PI * s).powi(2)).exp();
            let truth = exact_distance(s);
            assert!(truth <= bound, "{s}: {truth} > {bound}");
            // The leading constant is sharp, so the computation above measures what it should.
            assert!(s < 8.0 || truth > 0.9 * 0.0201 / (s * s), "{s}: {truth}");
        }
    }

    #[test]
    fn the_charge_is_never_below_the_bound() {
        let s = 1024.0;
        assert!(grid_distance(s, 1.0, 1) >= 0.0202 / (s * s) + 0.0511 / s.powi(3));
        assert_eq!(grid_distance(2.0, 2_f64.powi(-39), 10), 10.0 * 0.021 * 2_f64.powi(-80));
        for (scale, step) in
            [(1.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (-1.0, -1e-9), (f64::INFINITY, 1.0)]
        {
            assert_eq!(grid_distance(scale, step, 1), 1.0);
        }
        assert!(grid_distance(1e300, 1e-8, 1) > 0.0);
        assert_eq!(grid_distance(1024.0, 1.0, u64::MAX), 1.0);
        assert_eq!(grid_distance(1024.0, 1.0, 0), 0.0);
    }
}
