//! Convolution: every place of the output sees a patch of the input, so that z_p = a_p·W + b at place p, with
//! a_p the patch. The gradient of one example is Σ_p a_p ⊗ (slope at p).

use super::Place;
use crate::kernel::{Strided, product};

/// Square windows over an image: where each begins, and which pixels it has.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    pub height: usize,
    pub width: usize,
    pub channels: usize,
    pub size: usize,
    pub stride: usize,
    pub padding: usize,
    pub out_height: usize,
    pub out_width: usize,
}

impl Window {
    /// Windows.
    pub fn places(&self) -> usize {
        self.out_height * self.out_width
    }

    /// Numbers a window sees.
    pub fn patch(&self) -> usize {
        self.size * self.size * self.channels
    }
    /// Calls with (place in the patches, place in the image, numbers) for every run of numbers that lie together
    /// in both; what is not named is padding.
    #[inline(always)]
    pub fn runs(&self, mut each: impl FnMut(usize, usize, usize)) {
        let line = self.size * self.channels;
        let mut patch = 0;
        for out_row in 0..self.out_height {
            for out_column in 0..self.out_width {
                let left = out_column * self.stride;
                let first = self.padding.saturating_sub(left);
                let last = (self.width + self.padding).saturating_sub(left).min(self.size);
                for line_index in 0..self.size {
                    let row = out_row * self.stride + line_index;
                    if row >= self.padding && row < self.height + self.padding && first < last {
                        let column = left + first - self.padding;
                        let image = ((row - self.padding) * self.width + column) * self.channels;
                        each(patch + first * self.channels, image, (last - first) * self.channels);
                    }
                    patch += line;
                }
            }
        }
    }

    /// Every patch of one image, a row each. Padding keeps what it had: zeros.
    pub fn patches(&self, image: &[f32], patches: &mut [f32]) {
        self.runs(|to, from, count| {
            patches[to..to + count].copy_from_slice(&image[from..from + count])
        });
    }

    /// Adds patches to the image they came from.
    pub fn unpatch(&self, patches: &[f32], image: &mut [f32]) {
        self.runs(|from, to, count| {
            for (pixel, value) in image[to..to + count].iter_mut().zip(&patches[from..from + count])
            {
                *pixel += value;
            }
        });
    }
}

/// How the norm of one example's gradient is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The gradient is formed and kept until the clipping factor is known.
    Formed,
    /// ‖Σ_p a_p ⊗ s_p‖² = Σ_{p,q} ⟨a_p, a_q⟩⟨s_p, s_q⟩: few places, many weights.
    Factors,
}

impl Rule {
    /// The cheaper one. The gradient's sum is wanted in either case; what is compared is what it takes beside:
    /// to keep, measure and add patch·outputs numbers, or places²·(patch + outputs) multiplications.
    pub fn cheaper(places: usize, patch: usize, outputs: usize) -> Self {
        let inner = (places as f64).powi(2) * (patch + outputs) as f64;
        if inner < 2.0 * patch as f64 * outputs as f64 { Self::Factors } else { Self::Formed }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Conv {
    pub window: Window,
    pub outputs: usize,
    /// `[height, width, inputs, outputs]`: a row a number of the patch.
    pub weight: Place,
    pub bias: Place,
    pub rule: Rule,
}

impl Conv {
    /// One example. `patches` is room, left as the example's patches.
    pub fn forward(&self, weights: &[f32], input: &[f32], output: &mut [f32], patches: &mut [f32]) {
        let bias = &weights[self.bias.range()];
        for place in output.chunks_exact_mut(self.outputs) {
            place.copy_from_slice(bias);
        }
        self.window.patches(input, patches);
        product(
            (self.window.places(), self.outputs, self.window.patch()),
            Strided { values: patches, row: self.window.patch(), column: 1 },
            &weights[self.weight.range()],
            output,
            true,
        );
    }

    /// Slopes at one example's input; `transposed` is Wᵀ and `patches` room.
    pub fn back(&self, transposed: &[f32], slopes: &[f32], out: &mut [f32], patches: &mut [f32]) {
        product(
            (self.window.places(), self.window.patch(), self.outputs),
            Strided { values: slopes, row: self.outputs, column: 1 },
            transposed,
            patches,
            false,
        );
        out.fill(0.0);
        self.window.unpatch(patches, out);
    }

    /// Σ_p a_p ⊗ s_p of one example, put into or added to `gradient`.
    pub fn weight_gradient(
        &self,
        patches: &[f32],
        slopes: &[f32],
        gradient: &mut [f32],
        accumulate: bool,
    ) {
        product(
            (self.window.patch(), self.outputs, self.window.places()),
            Strided { values: patches, row: 1, column: self.window.patch() },
            slopes,
            gradient,
            accumulate,
        );
    }

    /// Σ_p s_p of one example, put into or added to `gradient`.
    pub fn bias_gradient(&self, slopes: &[f32], gradient: &mut [f32], accumulate: bool) {
        if !accumulate {
            gradient.fill(0.0);
        }
        for place in slopes.chunks_exact(self.outputs) {
            for (total, slope) in gradient.iter_mut().zip(place) {
                *total += slope;
            }
        }
    }
}
