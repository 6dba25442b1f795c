//! Group norm: the channels of a group, over all places of *one* example, standardised to mean 0 and
//! variance 1, then y = scale·x̂ + shift for each channel.
//!
//! Backward: with s the derivative at y, t = scale·s and N numbers in the group, the derivative at x is
//! (t − mean t − x̂·mean(t·x̂))/√(variance + 1e-5). An example's gradient is Σ_p s·x̂ for the scale and
//! Σ_p s for the shift: as many values as channels, multiplied out and stored.

use super::TensorPosition;

/// Constant added to the variance.
const FLOOR: f64 = 1e-5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupNorm {
    pub places: usize,
    pub channels: usize,
    pub groups: usize,
    pub scale: TensorPosition,
    pub shift: TensorPosition,
}

impl GroupNorm {
    /// Forward pass of one example.
    pub fn forward(&self, weights: &[f32], input: &[f32], output: &mut [f32]) {
        let (scale, shift) = (&weights[self.scale.range()], &weights[self.shift.range()]);
        for group in 0..self.groups {
            let (mean, invert) = self.moments(input, group);
            self.visit(group, |channel, at| {
                output[at] = scale[channel] * ((input[at] - mean) * invert) + shift[channel];
            });
        }
    }

    /// Derivatives at one example's input, written to `out`.
    pub fn back(&self, weights: &[f32], input: &[f32], slopes: &[f32], out: &mut [f32]) {
        let scale = &weights[self.scale.range()];
        let count = (self.places * self.channels / self.groups) as f64;
        for group in 0..self.groups {
            let (mean, invert) = self.moments(input, group);
            let (mut plain, mut along) = (0.0_f64, 0.0_f64);
            self.visit(group, |channel, at| {
                let weighed = f64::from(scale[channel]) * f64::from(slopes[at]);
                plain += weighed;
                along += weighed * f64::from((input[at] - mean) * invert);
            });
            let (plain, along) = ((plain / count) as f32, (along / count) as f32);
            self.visit(group, |channel, at| {
                let normal = (input[at] - mean) * invert;
                out[at] = invert * (scale[channel] * slopes[at] - plain - normal * along);
            });
        }
    }

    /// One example's gradient, written or added to `scale` and `shift`.
    pub fn gradient(
        &self,
        input: &[f32],
        slopes: &[f32],
        scale: &mut [f32],
        shift: &mut [f32],
        accumulate: bool,
    ) {
        if !accumulate {
            scale.fill(0.0);
            shift.fill(0.0);
        }
        for group in 0..self.groups {
            let (mean, invert) = self.moments(input, group);
            self.visit(group, |channel, at| {
                scale[channel] += slopes[at] * ((input[at] - mean) * invert);
                shift[channel] += slopes[at];
            });
        }
    }

    /// Mean, and reciprocal standard deviation.
    fn moments(&self, input: &[f32], group: usize) -> (f32, f32) {
        let count = (self.places * self.channels / self.groups) as f64;
        let (mut sum, mut squares) = (0.0_f64, 0.0_f64);
        self.visit(group, |_, at| sum += f64::from(input[at]));
        let mean = sum / count;
        self.visit(group, |_, at| squares += (f64::from(input[at]) - mean).powi(2));
        (mean as f32, (1.0 / (squares / count + FLOOR).sqrt()) as f32)
    }

    /// Calls `each` with (channel, offset in the example) for every value of a group.
    #[inline(always)]
    fn visit(&self, group: usize, mut each: impl FnMut(usize, usize)) {
        let wide = self.channels / self.groups;
        for place in 0..self.places {
            for channel in group * wide..(group + 1) * wide {
                each(channel, place * self.channels + channel);
            }
        }
    }
}
