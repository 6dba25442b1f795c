//! Inner loops over compressed rows, arithmetic in f64.
//!
//! What costs is gathering from θ and scattering into the gradient, one entry at a time; four
//! independent sums hide the latency of the gathers.

use super::fma;

/// ⟨row, vector⟩. At most `entries + 4` roundings lie on the way from any product to the result.
#[inline(always)]
pub fn dot<const F: bool>(indices: &[u32], values: &[f32], vector: &[f64]) -> f64 {
    let (index_fours, index_rest) = indices.as_chunks::<4>();
    let (value_fours, value_rest) = values.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (j, x) in index_fours.iter().zip(value_fours) {
        for lane in 0..4 {
            sums[lane] = fma::<F>(f64::from(x[lane]), vector[j[lane] as usize], sums[lane]);
        }
    }
    let mut tail = 0.0;
    for (&j, &x) in index_rest.iter().zip(value_rest) {
        tail = fma::<F>(f64::from(x), vector[j as usize], tail);
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + tail
}

/// sum += multiplier · row.
#[inline(always)]
pub fn scatter<const F: bool>(indices: &[u32], values: &[f32], multiplier: f64, sum: &mut [f64]) {
    for (&j, &x) in indices.iter().zip(values) {
        let s = &mut sum[j as usize];
        *s = fma::<F>(multiplier, f64::from(x), *s);
    }
}

/// gram += weight · row rowᵀ, upper triangle of a row-major square matrix.
#[inline(always)]
pub fn rank_one<const F: bool>(
    indices: &[u32],
    values: &[f32],
    weight: f64,
    columns: usize,
    gram: &mut [f64],
) {
    for (a, (&j, &x)) in indices.iter().zip(values).enumerate() {
        let wx = weight * f64::from(x);
        let start = j as usize * columns;
        scatter::<F>(&indices[a..], &values[a..], wx, &mut gram[start..start + columns]);
    }
}
