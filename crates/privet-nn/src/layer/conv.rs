//! Convolution: z_p = a_p·W + b at place p of the output, with a_p the patch of the input in its window.
//! The gradient of one example is Σ_p a_p ⊗ (derivative at p).

use super::TensorPosition;
use crate::kernel::{Strided, for_each_level, product};

/// Square windows over an image: their positions and sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// The number of windows.
    pub fn places(&self) -> usize {
        self.out_height * self.out_width
    }

    /// The number of values in a window.
    pub fn patch(&self) -> usize {
        self.size * self.size * self.channels
    }
    /// The number of values of an image with its padding.
    pub fn padded(&self) -> usize {
        (self.height + 2 * self.padding) * (self.width + 2 * self.padding) * self.channels
    }

    /// Offset of line `row` of the image in the padded one.
    #[inline(always)]
    fn padded_line(&self, row: usize) -> usize {
        ((row + self.padding) * (self.width + 2 * self.padding) + self.padding) * self.channels
    }

    /// The number of values in a line of the padded image.
    #[inline(always)]
    fn across(&self) -> usize {
        (self.width + 2 * self.padding) * self.channels
    }

    /// Offset of a place's window in the padded image.
    #[inline(always)]
    fn corner(&self, row: usize, column: usize) -> usize {
        row * self.stride * self.across() + column * self.stride * self.channels
    }
}

/// Buffers for the patches of one image, and for the padded image, whose padding stays zero.
#[derive(Default)]
pub(crate) struct PatchBuffers {
    pub patches: Vec<f32>,
    padded: Vec<f32>,
}

impl PatchBuffers {
    pub fn new(window: &Window) -> Self {
        let padded = if window.padding > 0 { window.padded() } else { 0 };
        Self { patches: vec![0.0; window.places() * window.patch()], padded: vec![0.0; padded] }
    }

    /// The number of values in the buffers.
    pub fn numbers(&self) -> usize {
        self.patches.len() + self.padded.len()
    }
}

for_each_level! {
    /// Copies every patch of one image, one per row.
    pub(crate) fn patches(window: &Window, image: &[f32], seen: &mut PatchBuffers) {
        let PatchBuffers { patches, padded } = seen;
        let from = if window.padding > 0 {
            let length = window.width * window.channels;
            for (row, line) in image.chunks_exact(length).enumerate() {
                let at = window.padded_line(row);
                copy(&mut padded[at..at + length], line);
            }
            &padded[..]
        } else {
            image
        };
        let (line, across) = (window.size * window.channels, window.across());
        let mut rows = patches.chunks_exact_mut(window.patch());
        for out_row in 0..window.out_height {
            for out_column in 0..window.out_width {
                let Some(patch) = rows.next() else { return };
                let mut at = window.corner(out_row, out_column);
                for part in patch.chunks_exact_mut(line) {
                    copy(part, &from[at..at + line]);
                    at += across;
                }
            }
        }
    }
}

for_each_level! {
    /// Adds the patches back to the pixels they were copied from.
    fn unpatch(window: &Window, back: &mut PatchBuffers, image: &mut [f32]) {
        let PatchBuffers { patches, padded } = back;
        let (line, across) = (window.size * window.channels, window.across());
        let target: &mut [f32] = if window.padding > 0 { padded } else { &mut *image };
        target.fill(0.0);
        let mut rows = patches.chunks_exact(window.patch());
        for out_row in 0..window.out_height {
            for out_column in 0..window.out_width {
                let Some(patch) = rows.next() else { return };
                let mut at = window.corner(out_row, out_column);
                for part in patch.chunks_exact(line) {
                    for (pixel, value) in target[at..at + line].iter_mut().zip(part) {
                        *pixel += value;
                    }
                    at += across;
                }
            }
        }
        if window.padding > 0 {
            let length = window.width * window.channels;
            for (row, line) in image.chunks_exact_mut(length).enumerate() {
                let at = window.padded_line(row);
                copy(line, &padded[at..at + length]);
            }
        }
    }
}

/// As `copy_from_slice`, inlined for short slices.
#[inline(always)]
fn copy(to: &mut [f32], from: &[f32]) {
    let (to_whole, to_rest) = to.as_chunks_mut::<8>();
    let (from_whole, from_rest) = from.as_chunks::<8>();
    for (to, from) in to_whole.iter_mut().zip(from_whole) {
        *to = *from;
    }
    for (to, from) in to_rest.iter_mut().zip(from_rest) {
        *to = *from;
    }
}

/// Method for the norm of one example's gradient of a convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NormMethod {
    /// The gradient is multiplied out and stored until the clipping factor is known.
    Formed,
    /// ‖Σ_p a_p ⊗ s_p‖² = Σ_{p,q} ⟨a_p, a_q⟩⟨s_p, s_q⟩: for few places and many weights.
    Factors,
}

impl NormMethod {
    /// Chooses the cheaper method. The gradient's sum is needed in either case; compared is the cost
    /// beside it: storing, measuring and adding patch·outputs values, or places²·(patch + outputs)
    /// multiplications.
    pub fn cheaper(places: usize, patch: usize, outputs: usize) -> Self {
        let inner = (places as f64).powi(2) * (patch + outputs) as f64;
        if inner < 2.0 * patch as f64 * outputs as f64 { Self::Factors } else { Self::Formed }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conv {
    pub window: Window,
    pub outputs: usize,
    /// `[height, width, inputs, outputs]`: one row per value of the patch.
    pub weight: TensorPosition,
    pub bias: TensorPosition,
    pub rule: NormMethod,
}

impl Conv {
    /// Forward pass of one example. `seen` is a buffer, left with the example's patches.
    pub fn forward(
        &self,
        weights: &[f32],
        input: &[f32],
        output: &mut [f32],
        seen: &mut PatchBuffers,
    ) {
        let bias = &weights[self.bias.range()];
        for place in output.chunks_exact_mut(self.outputs) {
            copy(place, bias);
        }
        patches(&self.window, input, seen);
        product(
            (self.window.places(), self.outputs, self.window.patch()),
            Strided { values: &seen.patches, row: self.window.patch(), column: 1 },
            &weights[self.weight.range()],
            output,
            true,
        );
    }

    /// Derivatives at one example's input; `transposed` is Wᵀ and `room` a buffer.
    pub fn back(
        &self,
        transposed: &[f32],
        slopes: &[f32],
        out: &mut [f32],
        room: &mut PatchBuffers,
    ) {
        product(
            (self.window.places(), self.window.patch(), self.outputs),
            Strided { values: slopes, row: self.outputs, column: 1 },
            transposed,
            &mut room.patches,
            false,
        );
        unpatch(&self.window, room, out);
    }

    /// Σ_p a_p ⊗ s_p of one example, written or added to `gradient`.
    pub fn weight_gradient(
        &self,
        seen: &PatchBuffers,
        slopes: &[f32],
        gradient: &mut [f32],
        accumulate: bool,
    ) {
        product(
            (self.window.patch(), self.outputs, self.window.places()),
            Strided { values: &seen.patches, row: 1, column: self.window.patch() },
            slopes,
            gradient,
            accumulate,
        );
    }

    /// Σ_p s_p of one example, written or added to `gradient`.
    pub fn bias_gradient(&self, slopes: &[f32], gradient: &mut [f32], accumulate: bool) {
        if !accumulate {
            gradient.fill(0.0);
        }
        add_rows(slopes, gradient);
    }
}

for_each_level! {
    /// Adds every row to `total`.
    pub(crate) fn add_rows(rows: &[f32], total: &mut [f32]) {
        for row in rows.chunks_exact(total.len()) {
            for (total, value) in total.iter_mut().zip(row) {
                *total += value;
            }
        }
    }
}
