//! Functions of one number.

pub(crate) fn relu(input: &[f32], output: &mut [f32]) {
    for (out, &value) in output.iter_mut().zip(input) {
        *out = if value > 0.0 { value } else { 0.0 };
    }
}

/// Slopes at the input, from those at the output.
pub(crate) fn relu_back(output: &[f32], slopes: &[f32], out: &mut [f32]) {
    for ((back, &slope), &value) in out.iter_mut().zip(slopes).zip(output) {
        *back = if value > 0.0 { slope } else { 0.0 };
    }
}

pub(crate) fn tanh(input: &[f32], output: &mut [f32]) {
    for (out, &value) in output.iter_mut().zip(input) {
        *out = value.tanh();
    }
}

/// Slopes at the input, from those at the output: 1 − tanh².
pub(crate) fn tanh_back(output: &[f32], slopes: &[f32], out: &mut [f32]) {
    for ((back, &slope), &value) in out.iter_mut().zip(slopes).zip(output) {
        *back = slope * (1.0 - value * value);
    }
}
