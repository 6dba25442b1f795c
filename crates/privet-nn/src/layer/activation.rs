//! Elementwise activations, in place: the backward pass needs their result alone.

use crate::kernel::for_each_level;

for_each_level! {
    pub(crate) fn relu(values: &mut [f32]) {
        for value in values {
            // NaN compares false and becomes 0, as on every machine.
            *value = if *value > 0.0 { *value } else { 0.0 };
        }
    }
}

for_each_level! {
    /// Derivatives at the input from those at the output.
    pub(crate) fn relu_back(output: &[f32], slopes: &mut [f32]) {
        for (derivative, &value) in slopes.iter_mut().zip(output) {
            *derivative = if value > 0.0 { *derivative } else { 0.0 };
        }
    }
}

for_each_level! {
    pub(crate) fn tanh(values: &mut [f32]) {
        for value in values {
            *value = tanh_of(*value);
        }
    }
}

for_each_level! {
    /// Derivatives at the input from those at the output, by the factor 1 − tanh².
    pub(crate) fn tanh_back(output: &[f32], slopes: &mut [f32]) {
        for (derivative, &value) in slopes.iter_mut().zip(output) {
            *derivative *= 1.0 - value * value;
        }
    }
}

/// tanh x within 4e-7, as x·P(x²)/Q(x²) with P and Q of degree 4 fitted on |x| ≤ 9.01, beyond which tanh
/// is 1 to within 4e-8. Only arithmetic, so that it is the same on every machine and vectorises.
#[inline(always)]
fn tanh_of(value: f32) -> f32 {
    const P: [f32; 5] = [1.0, 0.133_803_84, 0.003_494_825_2, 2.059_647_7e-5, 1.333_707_5e-8];
    const Q: [f32; 5] = [1.0, 0.467_137, 0.025_874_082, 0.000_328_438_5, 7.769_387_5e-7];
    let x = value.clamp(-9.01, 9.01);
    let t = x * x;
    let p = (((P[4] * t + P[3]) * t + P[2]) * t + P[1]) * t + P[0];
    let q = (((Q[4] * t + Q[3]) * t + Q[2]) * t + Q[1]) * t + Q[0];
    (x * p / q).clamp(-1.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hyperbolic_tangent_is_near_and_stays_within_one() {
        for step in -2_000_000..=2_000_000_i32 {
            let value = step as f32 * 1e-5;
            let (found, wanted) = (tanh_of(value), f64::from(value).tanh());
            assert!(
                (f64::from(found) - wanted).abs() <= 4e-7 && found.abs() <= 1.0,
                "{value}: {found}"
            );
        }
        assert!(tanh_of(f32::NAN).is_nan());
        assert_eq!((tanh_of(f32::INFINITY), tanh_of(-1e30)), (1.0, -1.0));
    }
}
