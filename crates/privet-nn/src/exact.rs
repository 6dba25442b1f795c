//! Clipped sums in whole numbers: the same bits in any order and on any number of threads, and a sensitivity
//! that is a theorem about what the machine computes.

use crate::batch::Batch;
use crate::error::NetError;
use crate::kernel::add_steps;
use crate::layer::{self, Op, Rule};
use crate::net::Net;
use crate::sum::check_clip;
use crate::tape::Weights;
use crate::workspace::{Room, Workspace};

/// The clip is between 2²⁰ and 2²¹ steps of the grid.
const BITS: i32 = 20;

/// Σᵢ trunc(min(1, C/‖gᵢ‖)·gᵢ / grid), in whole numbers. Derived from records, without noise.
pub struct ExactSum {
    /// A whole number of steps for each of the first [`Net::trainable`] weights.
    pub steps: Vec<i64>,
    /// What a step is worth: a power of two, a function of the clip alone.
    pub grid: f64,
    /// Examples that went into it.
    pub examples: usize,
}

/// Says nothing of what it holds.
impl std::fmt::Debug for ExactSum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ExactSum(private)")
    }
}

/// What a step of [`ExactSum`] is worth for this clip: the power of two with 2²⁰ ≤ clip/grid < 2²¹.
pub fn grid(clip: f64) -> f64 {
    // The exponent of a normal number; `check_clip` bounds it.
    let exponent = ((clip.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    2.0_f64.powi(exponent - BITS)
}

impl Net {
    /// As [`Net::clipped_sum`], each example's clipped gradient truncated toward zero to a grid before it is
    /// added: the sum is exact. Every gradient is formed, which is what it costs.
    pub fn clipped_sum_exact(
        &self,
        weights: &[f32],
        batch: &Batch,
        clip: f64,
        work: &mut Workspace,
    ) -> Result<ExactSum, NetError> {
        self.check_weights(weights)?;
        check_clip(clip)?;
        let examples = batch.examples(self)?;
        let weights = Weights::both(self, weights);
        let grid = grid(clip);
        let mut steps = vec![0_i64; self.trainable];
        let piece = |room: &mut Room, first, count| {
            room.whole.clear();
            room.whole.resize(self.trainable, 0);
            self.clipped_factors(&weights, batch, clip, Some(grid), room, first, count);
            self.add_truncated(room, count);
        };
        work.pieces(self, examples, piece, |room, _, _| {
            for (total, &part) in steps.iter_mut().zip(&room.whole) {
                *total += i64::from(part);
            }
        });
        Ok(ExactSum { steps, grid, examples })
    }

    fn add_truncated(&self, room: &mut Room, count: usize) {
        let Room { tapes, kept, patches, factors, whole, formed, .. } = room;
        let (tape, patches) = (&mut tapes[0], &mut patches[0]);
        for place in self.ops.iter().flat_map(Op::formed) {
            for (example, &factor) in
                factors[..count].iter().enumerate().filter(|(_, factor)| **factor > 0.0)
            {
                let own = &kept[0][example * self.kept..][place.kept_range()];
                add_steps(&mut whole[place.range()], factor, own);
            }
        }
        for (index, op) in
            self.ops.iter().enumerate().skip(self.lowest).filter(|(_, op)| op.trains())
        {
            let (into, out) = (self.sizes[index], self.sizes[index + 1]);
            match op {
                Op::Linear(linear) => {
                    self.weigh(tape, index, &factors[..count]);
                    for example in 0..count {
                        let slopes = &tape.slopes(self, index)[example * out..(example + 1) * out];
                        let input = &tape.values(self, index)[example * into..(example + 1) * into];
                        let rows = whole[linear.weight.range()].chunks_exact_mut(out);
                        for (row, &value) in rows.zip(input).filter(|(_, value)| **value != 0.0) {
                            add_steps(row, value, slopes);
                        }
                        add_steps(&mut whole[linear.bias.range()], 1.0, slopes);
                    }
                }
                Op::Conv(conv) if conv.rule == Rule::Factors => {
                    formed.resize(conv.weight.length, 0.0);
                    for (example, &factor) in
                        factors[..count].iter().enumerate().filter(|(_, f)| **f > 0.0)
                    {
                        let input = &tape.values(self, index)[example * into..(example + 1) * into];
                        let slopes = &tape.slopes(self, index)[example * out..(example + 1) * out];
                        layer::patches(&conv.window, input, &mut patches.seen[index]);
                        conv.weight_gradient(&patches.seen[index], slopes, formed, false);
                        add_steps(&mut whole[conv.weight.range()], factor, formed);
                    }
                }
                _ => {}
            }
        }
    }
}
