//! Rounding to a grid and adding integers exactly.
//!
//! A coordinate x becomes k = round(x / step), clamped to ±2^100, and k + noise is computed in
//! integers, so that the last operation (integer to `f64`) is a fixed function of an exactly
//! distributed integer. Rounding moves a coordinate by at most step/2, hence a vector by at most
//! step·√p/2 and the difference of two vectors by at most step·√p; clamping is 1-Lipschitz.

use crate::gate::GateError;

/// The largest magnitude kept, in steps; exactly representable.
const CLAMP: f64 = (1_u128 << 100) as f64;

/// A finite vector of the expected length, in whole steps.
pub(super) fn to_grid(values: &[f64], step: f64, expected: usize) -> Result<Vec<i128>, GateError> {
    if values.len() != expected || !values.iter().all(|value| value.is_finite()) {
        return Err(GateError::Malformed);
    }
    // `step` is a power of two, so the quotient is exact unless it leaves the range of `f64`.
    Ok(values
        .iter()
        .map(|value| (value / step).round_ties_even().clamp(-CLAMP, CLAMP) as i128)
        .collect())
}

/// Steps plus noise, as numbers again.
pub(super) fn from_grid(steps: &[i128], noise: &[i64], step: f64) -> Vec<f64> {
    steps.iter().zip(noise).map(|(k, n)| (k + i128::from(*n)) as f64 * step).collect()
}

/// What rounding to the grid adds to an ℓ2 sensitivity, rounded up.
pub(super) fn rounding(step: f64, coordinates: usize) -> f64 {
    up(step * (coordinates as f64).sqrt())
}

/// A little more than `value`: pays for the rounding of the few operations that made it.
pub(super) fn up(value: f64) -> f64 {
    value * (1.0 + 16.0 * f64::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The rounding charged is never exceeded, however the two vectors lie.
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

    #[test]
    fn a_bad_vector_is_refused_and_a_huge_one_clamped() {
        assert_eq!(to_grid(&[f64::NAN], 1.0, 1), Err(GateError::Malformed));
        assert_eq!(to_grid(&[1.0], 1.0, 2), Err(GateError::Malformed));
        assert_eq!(to_grid(&[f64::MAX], 1.0, 1), Ok(vec![1 << 100]));
    }
}
