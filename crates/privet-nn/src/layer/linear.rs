//! Linear layer z = xW + b. The gradient of one example is the outer product of x and the derivative s
//! at z, so its norm is ‖x‖·‖s‖ (Goodfellow 2015) and it need not be multiplied out.

use super::TensorPosition;
use super::conv::add_rows;
use crate::kernel::{Strided, product};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Linear {
    pub inputs: usize,
    pub outputs: usize,
    /// Shape `[inputs, outputs]`.
    pub weight: TensorPosition,
    pub bias: TensorPosition,
}

impl Linear {
    pub fn forward(&self, weights: &[f32], examples: usize, input: &[f32], output: &mut [f32]) {
        let bias = &weights[self.bias.range()];
        for row in output[..examples * self.outputs].chunks_exact_mut(self.outputs) {
            row.copy_from_slice(bias);
        }
        product(
            (examples, self.outputs, self.inputs),
            Strided { values: input, row: self.inputs, column: 1 },
            &weights[self.weight.range()],
            output,
            true,
        );
    }

    /// Derivatives at the input; `transposed` is Wᵀ.
    pub fn back(&self, transposed: &[f32], examples: usize, slopes: &[f32], out: &mut [f32]) {
        product(
            (examples, self.inputs, self.outputs),
            Strided { values: slopes, row: self.outputs, column: 1 },
            transposed,
            out,
            false,
        );
    }

    /// Adds Σ x ⊗ s over the examples to `sum`, the vector over all trained weights; also the bias's Σ s
    /// if `constant`.
    pub fn add(
        &self,
        examples: usize,
        input: &[f32],
        slopes: &[f32],
        sum: &mut [f32],
        constant: bool,
    ) {
        product(
            (self.inputs, self.outputs, examples),
            Strided { values: input, row: 1, column: self.inputs },
            slopes,
            &mut sum[self.weight.range()],
            true,
        );
        if !constant {
            return;
        }
        add_rows(&slopes[..examples * self.outputs], &mut sum[self.bias.range()]);
    }
}
