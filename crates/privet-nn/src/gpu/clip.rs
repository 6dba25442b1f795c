//! Clipping on the device: upper bounds on the norms of single examples' gradients, clipping factors,
//! and the weighted sum.
//!
//! Within one gradient nothing cancels: the parts multiplied out and the factors of each linear layer
//! are separate blocks, and every square is a sum of squares, so that its root is within a relative
//! N·2⁻⁵² for N numbers. Later rounding is within 2⁻²² of its own block, and blocks are orthogonal:
//! within 2⁻²² of the whole. A *difference* of gradients, whose two terms may cancel
//! ([`crate::Net::clipped_difference_sum`]), is not offered here; an implementation must charge the
//! norms of its terms, as the processor's `clip` does.

use super::GpuError;
use super::device::Argument::*;
use super::pass::Trainer;
use crate::layer::Op;

/// Slack for rounding after the norm is known, as on the processor.
const CLIP_ROUNDING: f64 = 1.0 / (1_u64 << 22) as f64;

impl Trainer<'_> {
    /// Computes norms, factors, and the weighted sum.
    pub(super) fn clip(&self, count: usize, clip: f64) -> Result<(), GpuError> {
        let device = self.device;
        let (squares, factors) = (device.at(&self.squares), device.at(&self.factors));
        let blocks = count as i64;
        let first =
            [Pointer(self.formed(0)), Pointer(squares), Long(self.each as i64), Long(blocks)];
        device.launch("square_kept", &first, blocks)?;
        let linear = |op: &Op| match op {
            Op::Linear(linear) if op.trains() => Some(linear.clone()),
            _ => None,
        };
        let layers: Vec<_> = self
            .ops
            .iter()
            .enumerate()
            .filter_map(|(index, op)| Some((index, linear(op)?)))
            .collect();
        let mut numbers = self.each;
        for (index, linear) in &layers {
            let arguments = [
                Pointer(self.room(*index)),
                Pointer(self.derivative(index + 1)),
                Pointer(squares),
                Short(linear.inputs as i32),
                Short(linear.outputs as i32),
                Long(blocks),
            ];
            device.launch("square_linear", &arguments, blocks)?;
            numbers += linear.inputs + linear.outputs + 8;
        }
        let slack = CLIP_ROUNDING + numbers as f64 * f64::EPSILON;
        device.run(
            "factors_of",
            &[Pointer(squares), Pointer(factors), Real(clip), Real(slack), Long(blocks)],
            count,
        )?;
        let rows = |kernel, at: u64, width: usize| {
            let all = count * width;
            let arguments = [Pointer(at), Pointer(factors), Long(width as i64), Long(all as i64)];
            device.run(kernel, &arguments, all)
        };
        if self.each > 0 {
            rows("wipe", self.formed(0), self.each)?;
        }
        for place in self.ops.iter().flat_map(Op::multiplied_tensors) {
            self.weighted(place.kept, place.start, place.length, count, &self.factors)?;
        }
        for (index, linear) in &layers {
            rows("weigh", self.derivative(index + 1), linear.outputs)?;
            rows("wipe", self.room(*index), linear.inputs)?;
            let sizes = (linear.inputs, linear.outputs, count);
            let (values, slopes) = (self.room(*index), self.derivative(index + 1));
            self.add_outer(sizes, values, slopes, linear.weight.start, linear.bias.start)?;
        }
        Ok(())
    }
}
