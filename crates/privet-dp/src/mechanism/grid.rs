//! Rounding to a grid and adding integers exactly.
//!
//! A coordinate x becomes k = round(x / step), clamped to ±2^100, and k + noise is computed in
//! integers, so that the last operation (integer to `f64`) is a fixed function of an exactly
//! distributed integer. Rounding moves a coordinate by at most step/2, hence a vector by at most
//! step·√p/2 and the difference of two vectors by at most step·√p; clamping is 1-Lipschitz.

use crate::gate::GateError;
use crate::noise::{GridGaussian, Source};
use std::fmt;
use zeroize::Zeroizing;

/// The largest magnitude that is kept, in steps; exactly representable.
const CLAMP: f64 = (1_u128 << 100) as f64;

/// Coordinates per chunk of noise, so that the noise of a vector of millions is never in memory as a
/// whole.
const AT_A_TIME: usize = 1 << 20;

/// Refuses anything but a finite vector of the expected length.
fn check(values: &[f64], expected: usize) -> Result<(), GateError> {
    match values.len() == expected && values.iter().all(|value| value.is_finite()) {
        true => Ok(()),
        false => Err(GateError::Malformed),
    }
}

/// A finite number, rounded to an integer number of steps.
fn steps_of(value: f64, step: f64) -> i128 {
    // `step` is a power of two, so the quotient is exact unless it leaves the range of `f64`.
    (value / step).round_ties_even().clamp(-CLAMP, CLAMP) as i128
}

/// A finite vector of the expected length, rounded to integer numbers of steps.
pub(super) fn to_grid(values: &[f64], step: f64, expected: usize) -> Result<Vec<i128>, GateError> {
    check(values, expected)?;
    Ok(values.iter().map(|value| steps_of(*value, step)).collect())
}

/// A finite vector of the expected length, rounded to the noise's grid, plus noise: in place, with the
/// noise drawn in chunks of coordinates.
pub(super) fn add_noise(
    mut values: Vec<f64>,
    noise: &GridGaussian,
    expected: usize,
    source: &mut dyn Source,
) -> Result<Vec<f64>, GateError> {
    check(&values, expected)?;
    let step = noise.step();
    let mut draws = Zeroizing::new(vec![0; expected.min(AT_A_TIME)]);
    for some in values.chunks_mut(AT_A_TIME) {
        let draws = &mut draws[..some.len()];
        noise.fill_steps(draws, source);
        for (value, draw) in some.iter_mut().zip(draws.iter()) {
            *value = plus(steps_of(*value, step), *draw, step);
        }
    }
    Ok(values)
}

/// An exact sum: a vector of integer multiples of a unit, without rounding. Its `Debug` shows nothing,
/// since it is computed from records.
#[derive(Clone, PartialEq)]
pub struct ExactCounts {
    /// Each coordinate, in units.
    pub counts: Vec<i128>,
    /// The unit, a power of two.
    pub unit: f64,
}

impl fmt::Debug for ExactCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExactCounts(withheld)")
    }
}

impl ExactCounts {
    /// Converts to integer numbers of steps, rounded at most once and in integers: each coordinate
    /// changes by at most step/2, and not at all if the unit is a multiple of the step.
    pub(super) fn to_grid(&self, step: f64, expected: usize) -> Result<Vec<i128>, GateError> {
        let (Some(unit), Some(step)) = (power_of_two(self.unit), power_of_two(step)) else {
            return Err(GateError::Malformed);
        };
        if self.counts.len() != expected {
            return Err(GateError::Malformed);
        }
        let shift = unit - step;
        Ok(self.counts.iter().map(|count| shift_rounded(*count, shift)).collect())
    }

    /// As [`Self::to_grid`], plus noise, which is drawn in chunks of coordinates.
    pub(super) fn add_noise(
        self,
        noise: &GridGaussian,
        expected: usize,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, GateError> {
        let step = noise.step();
        let (Some(unit), Some(power)) = (power_of_two(self.unit), power_of_two(step)) else {
            return Err(GateError::Malformed);
        };
        if self.counts.len() != expected {
            return Err(GateError::Malformed);
        }
        let mut noisy = Vec::with_capacity(expected);
        let mut draws = Zeroizing::new(vec![0; expected.min(AT_A_TIME)]);
        for some in self.counts.chunks(AT_A_TIME) {
            let draws = &mut draws[..some.len()];
            noise.fill_steps(draws, source);
            let steps = some.iter().map(|count| shift_rounded(*count, unit - power));
            noisy.extend(steps.zip(draws.iter()).map(|(k, n)| plus(k, *n, step)));
        }
        Ok(noisy)
    }
}

/// The exponent of a normal power of two.
fn power_of_two(x: f64) -> Option<i32> {
    let bits = x.to_bits();
    let exponent = (bits >> 52) as i32;
    (bits & ((1 << 52) - 1) == 0 && (1..2047).contains(&exponent)).then_some(exponent - 1023)
}

/// count·2^shift to the nearest integer, clamped as `to_grid` clamps; non-decreasing in `count`.
fn shift_rounded(count: i128, shift: i32) -> i128 {
    let limit = 1_i128 << 100;
    // |count| < 2^127: by more than 128 places it is below half a step.
    if shift < -127 {
        return 0;
    }
    if shift < 0 {
        let places = -shift as u32;
        let half = (count >> (places - 1)) & 1;
        return ((count >> places) + half).clamp(-limit, limit);
    }
    let room = if shift > 100 { 0 } else { limit >> shift };
    match count {
        0 => 0,
        _ if count > room => limit,
        _ if count < -room => -limit,
        _ => count << shift,
    }
}

/// Steps plus noise, as a number.
fn plus(steps: i128, noise: i64, step: f64) -> f64 {
    (steps + i128::from(noise)) as f64 * step
}

/// Steps plus noise, as numbers.
pub(super) fn from_grid(steps: &[i128], noise: &[i64], step: f64) -> Vec<f64> {
    steps.iter().zip(noise).map(|(k, n)| plus(*k, *n, step)).collect()
}

/// Values plus continuous noise of this scale, rounded to multiples of a power of two near scale·2⁻³⁰. A
/// post-processing: it costs nothing, and hides the last bits of the sums, which depend on the values in
/// a way that the law of the noise does not cover (Mironov 2012).
pub(super) fn add_blur(values: &[f64], noise: &[f64], scale: f64) -> Vec<f64> {
    let step = released_step(scale);
    let coarse = |value: f64| {
        let steps = libm::rint(value / step);
        // Beyond 2⁵² steps every number is a multiple already.
        if step.is_normal() && steps.abs() < 4_503_599_627_370_496.0 { steps * step } else { value }
    };
    values.iter().zip(noise).map(|(x, b)| coarse(x + b)).collect()
}

/// The grid that a release under continuous noise of this scale is rounded to: a power of two near
/// scale·2⁻³⁰. No rounding where it is not a normal number.
pub fn released_step(scale: f64) -> f64 {
    libm::exp2(libm::floor(libm::log2(scale)) - 30.0)
}

/// The part of an ℓ2 sensitivity due to rounding to the grid, rounded up.
pub(super) fn rounding(step: f64, coordinates: usize) -> f64 {
    round_up(step * (coordinates as f64).sqrt())
}

/// Slightly more than `value`: covers the rounding of the few operations that computed it.
pub(super) fn round_up(value: f64) -> f64 {
    value * (1.0 + 16.0 * f64::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The charged rounding is never exceeded, for any two vectors.
        #[test]
        fn rounding_moves_two_vectors_apart_by_at_most_its_charge(
            a in proptest::collection::vec(-1e3_f64..1e3, 1..20), scale in -20_i32..4
        ) {
            let step = 2_f64.powi(scale);
            let b: Vec<f64> = a.iter().map(|x| x * 0.75 + 0.1).collect();
            let zero = vec![0; a.len()];
            let grid = |v: &[f64]| from_grid(&to_grid(v, step, v.len()).unwrap(), &zero, step);
            let distance = |v: &[f64], w: &[f64]| {
                v.iter().zip(w).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
            };
            let extra = distance(&grid(&a), &grid(&b)) - distance(&a, &b);
            prop_assert!(extra <= rounding(step, a.len()) + 1e-9);
        }
    }

    /// Noise drawn in chunks equals noise drawn at once and added afterwards; a chunk is as long as any
    /// vector here.
    #[test]
    fn noise_in_parts_is_noise() {
        use crate::noise::FixedSeed;
        let noise = GridGaussian::new(3.0).unwrap();
        let step = noise.step();
        let values: Vec<f64> = (0..5000).map(|k| f64::from(k) / 7.0 - 300.0).collect();
        let mut draws = vec![0; values.len()];
        noise.fill_steps(&mut draws, &mut FixedSeed::new(4));
        let at_once = from_grid(&to_grid(&values, step, 5000).unwrap(), &draws, step);
        assert_eq!(
            add_noise(values.clone(), &noise, 5000, &mut FixedSeed::new(4)).unwrap(),
            at_once
        );
        let sum = ExactCounts { counts: (0..5000).map(|k| k * k - 9).collect(), unit: 0.25 };
        let at_once = from_grid(&sum.to_grid(step, 5000).unwrap(), &draws, step);
        assert_eq!(sum.add_noise(&noise, 5000, &mut FixedSeed::new(4)).unwrap(), at_once);
        // Beyond a chunk: every coordinate has noise of its own.
        let long =
            add_noise(vec![0.0; AT_A_TIME + 900], &noise, AT_A_TIME + 900, &mut FixedSeed::new(4))
                .unwrap();
        assert_ne!(long[..900], long[AT_A_TIME..]);
        assert!(long.iter().filter(|x| **x == 0.0).count() < 10, "steps are 2⁻⁴⁰ of the scale");
        let mut source = FixedSeed::new(4);
        assert!(add_noise(vec![f64::NAN], &noise, 1, &mut source).is_err());
        assert!(add_noise(vec![0.0], &noise, 2, &mut source).is_err());
    }

    /// Against exact arithmetic in a range where it fits.
    #[test]
    fn units_are_rounded_once_and_in_integers() {
        let unit = |exponent: i32| 2_f64.powi(exponent);
        let steps = |count: i128, from: i32, to: i32| {
            ExactCounts { counts: vec![count], unit: unit(from) }.to_grid(unit(to), 1).unwrap()[0]
        };
        for count in -70..=70_i128 {
            assert_eq!(steps(count, 3, -2), count * 32);
            assert!((8 * steps(count, -1, 2) - count).abs() <= 4, "{count}");
            assert!(steps(count + 1, -1, 2) >= steps(count, -1, 2));
        }
        // Beyond the range of `f64`.
        let odd = (1_i128 << 90) + 1;
        assert_eq!(steps(odd, 0, 0), odd);
        assert_eq!(steps(odd, 11, 0), 1 << 100);
        assert_eq!(steps(-odd, 200, 0), -(1 << 100));
        assert_eq!(steps(i128::MAX, 0, 130), 0);
        assert_eq!(steps(i128::MIN, 0, 127), -1);
        assert_eq!(steps(i128::MAX, 0, 0), 1 << 100);
        for bad in [3.0, 0.0, -1.0, f64::NAN, f64::INFINITY, 5e-324] {
            let units = ExactCounts { counts: vec![1], unit: bad };
            assert_eq!(units.to_grid(1.0, 1), Err(GateError::Malformed), "{bad}");
        }
        assert!(ExactCounts { counts: vec![1], unit: 1.0 }.to_grid(1.0, 2).is_err());
    }

    #[test]
    fn a_bad_vector_is_refused_and_a_huge_one_clamped() {
        assert_eq!(to_grid(&[f64::NAN], 1.0, 1), Err(GateError::Malformed));
        assert_eq!(to_grid(&[1.0], 1.0, 2), Err(GateError::Malformed));
        assert_eq!(to_grid(&[f64::MAX], 1.0, 1), Ok(vec![1 << 100]));
    }
}
