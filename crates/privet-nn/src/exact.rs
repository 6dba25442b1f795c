//! Clipped sums in integers: the same bits in any order and on any number of threads, and a sensitivity
//! proved for the arithmetic as executed.

use crate::batch::Batch;
use crate::error::NetError;
use crate::kernel::{add_outer_steps, add_steps, add_two_steps, add_whole};
use crate::layer::{self, Linear, NormMethod, Op};
use crate::net::Net;
use crate::sum::{check_clip, scale_derivative};
use crate::tape::{Tape, Weights};
use crate::workspace::{Buffers, Workspace};

/// The clipping norm is between 2²⁰ and 2²¹ grid steps.
const BITS: i32 = 20;

/// Σᵢ trunc(min(1, C/‖gᵢ‖)·gᵢ / grid), in integers. Derived from records, without noise.
pub struct ExactSum {
    /// Integer multiples of `grid`, one for each of the first [`Net::trainable`] weights.
    pub steps: Vec<i64>,
    /// Grid step: a power of two, a function of the clipping norm alone.
    pub grid: f64,
    /// The number of examples in the sum.
    pub examples: usize,
}

/// Shows nothing of the sum.
impl std::fmt::Debug for ExactSum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ExactSum(private)")
    }
}

/// Grid step of [`ExactSum`] for this clipping norm: the power of two with 2²⁰ ≤ clip/grid < 2²¹.
pub fn grid(clip: f64) -> f64 {
    // The exponent of a normal number; `check_clip` bounds it.
    let exponent = ((clip.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    2.0_f64.powi(exponent - BITS)
}

/// Term of each example in a sum: s·clip(v, C), truncated toward zero to multiples of the grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScaledClip {
    /// C, the clipping norm.
    pub clip: f64,
    /// s, the factor, above 0 and at most 1.
    pub share: f64,
    /// Grid step: a power of two, with sC at most 2²¹ steps.
    pub grid: f64,
}

impl ScaledClip {
    /// Factor 1, on the grid of its clipping norm.
    fn unscaled(clip: f64) -> Result<Self, NetError> {
        check_clip(clip)?;
        Ok(Self { clip, share: 1.0, grid: grid(clip) })
    }

    /// Grid steps per 1 times the factor; refused unless the settings are valid.
    fn steps(&self) -> Result<f64, NetError> {
        check_clip(self.clip)?;
        let power = self.grid.is_normal() && self.grid > 0.0 && self.grid.to_bits() << 12 == 0;
        let most = f64::from(1 << (BITS + 1));
        let part = self.share > 0.0 && self.share <= 1.0;
        match power && part && self.share * self.clip / self.grid <= most {
            true => Ok(self.share / self.grid),
            false => Err(NetError::Clip(self.clip)),
        }
    }
}

impl Net {
    /// As [`Net::clipped_sum`], with each example's clipped gradient truncated toward zero to a grid
    /// before it is added: the sum is exact. It costs forming every gradient.
    pub fn clipped_sum_exact(
        &self,
        weights: &[f32],
        batch: &Batch,
        clip: f64,
        work: &mut Workspace,
    ) -> Result<ExactSum, NetError> {
        self.clipped_share_exact(weights, batch, ScaledClip::unscaled(clip)?, work)
    }

    /// As [`Net::clipped_sum_exact`], with a factor on each clipped gradient and the caller's grid.
    pub fn clipped_share_exact(
        &self,
        weights: &[f32],
        batch: &Batch,
        share: ScaledClip,
        work: &mut Workspace,
    ) -> Result<ExactSum, NetError> {
        self.check_weights(weights)?;
        let steps = Some(share.steps()?);
        let weights = Weights::both(self, weights);
        self.whole_sum(batch, share.grid, work, |room, first, count| {
            self.clipped_factors(&weights, batch, share.clip, steps, room, first, count);
            self.add_truncated(room, 1, count);
        })
    }

    /// The sum of scaled, clipped differences of each example's gradients at two weight vectors, which
    /// have the same frozen part: see [`Net::clipped_difference_sum`].
    pub fn clipped_difference_share_exact(
        &self,
        new: &[f32],
        old: &[f32],
        batch: &Batch,
        share: ScaledClip,
        work: &mut Workspace,
    ) -> Result<ExactSum, NetError> {
        self.check_weights(new)?;
        self.check_weights(old)?;
        let steps = Some(share.steps()?);
        let (new, old) = (Weights::both(self, new), Weights::both(self, old));
        self.whole_sum(batch, share.grid, work, |room, first, count| {
            let points = [&new, &old];
            self.difference_factors(points, batch, share.clip, steps, room, first, count);
            self.add_truncated(room, 2, count);
        })
    }

    /// Both sums at once, on one grid: for each example its scaled, clipped gradient at the first
    /// weights, and its scaled, clipped difference to that at the second. The same bits as the sum of
    /// the two, with two gradients computed in place of three.
    pub fn clipped_terms_exact(
        &self,
        [new, old]: [&[f32]; 2],
        batch: &Batch,
        [own, moved]: [ScaledClip; 2],
        work: &mut Workspace,
    ) -> Result<ExactSum, NetError> {
        self.check_weights(new)?;
        self.check_weights(old)?;
        let steps = [own.steps()?, moved.steps()?].map(Some);
        if own.grid != moved.grid {
            return Err(NetError::Clip(moved.clip));
        }
        let (new, old) = (Weights::both(self, new), Weights::both(self, old));
        self.whole_sum(batch, own.grid, work, |room, first, count| {
            self.clipped_factors(&new, batch, own.clip, steps[0], room, first, count);
            self.add_truncated(room, 1, count);
            self.further_difference(&old, batch, moved.clip, steps[1], room, first, count);
            self.add_truncated(room, 2, count);
        })
    }

    fn whole_sum(
        &self,
        batch: &Batch,
        grid: f64,
        work: &mut Workspace,
        piece: impl Fn(&mut Buffers, usize, usize) + Sync,
    ) -> Result<ExactSum, NetError> {
        let examples = batch.examples(self)?;
        let mut steps = vec![0_i64; self.trainable];
        let cleared = |room: &mut Buffers, first, count| {
            room.whole.clear();
            room.whole.resize(self.trainable, 0);
            piece(room, first, count);
        };
        work.pieces(self, examples, cleared, |room, _, _| {
            add_whole(&mut steps, &room.whole);
        });
        Ok(ExactSum { steps, grid, examples })
    }

    fn add_truncated(&self, room: &mut Buffers, terms: usize, count: usize) {
        let Buffers { tapes, kept, patches, factors, whole, formed, .. } = room;
        let (tapes, patches) = (&tapes[..terms], &mut patches[..terms]);
        for place in self.ops.iter().flat_map(Op::multiplied_tensors) {
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
                    for (example, &factor) in
                        factors[..count].iter().enumerate().filter(|(_, f)| **f > 0.0)
                    {
                        let of = (example, factor);
                        match tapes {
                            [tape] => self.add_one((index, linear), tape, of, whole, formed),
                            [new, old] => self.add_two((index, linear), [new, old], of, whole),
                            _ => unreachable!("a gradient or a difference of two"),
                        }
                    }
                }
                Op::Conv(conv) if conv.rule == NormMethod::Factors => {
                    formed.resize(conv.weight.length, 0.0);
                    for (example, &factor) in
                        factors[..count].iter().enumerate().filter(|(_, f)| **f > 0.0)
                    {
                        for (term, (tape, patches)) in
                            tapes.iter().zip(patches.iter_mut()).enumerate()
                        {
                            let input = &tape.values(self, index)[example * into..][..into];
                            let slopes = &tape.slopes(self, index)[example * out..][..out];
                            layer::patches(&conv.window, input, &mut patches.seen[index]);
                            let seen = &patches.seen[index];
                            conv.weight_gradient(seen, slopes, formed, term > 0);
                        }
                        add_steps(&mut whole[conv.weight.range()], factor, formed);
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds one example's contribution to a linear layer: its weighted derivatives times its inputs.
    fn add_one(
        &self,
        (index, linear): (usize, &Linear),
        tape: &Tape,
        (example, factor): (usize, f32),
        whole: &mut [i32],
        weighed: &mut Vec<f32>,
    ) {
        let (input, slopes) = self.factors_of(tape, index, example);
        weighed.clear();
        weighed.extend(slopes.iter().map(|&derivative| scale_derivative(factor, derivative)));
        add_outer_steps(&mut whole[linear.weight.range()], input, weighed);
        add_steps(&mut whole[linear.bias.range()], 1.0, weighed);
    }

    /// Adds the contribution of one example's difference to a linear layer. Its derivatives are not
    /// weighted beforehand: one may exceed any bound if the input it is multiplied by is small, and
    /// exceed `f32` with the factor.
    fn add_two(
        &self,
        (index, linear): (usize, &Linear),
        terms: [&Tape; 2],
        (example, factor): (usize, f32),
        whole: &mut [i32],
    ) {
        let [first, second] = terms.map(|tape| self.factors_of(tape, index, example));
        // A product of two `f32` is exact.
        let weighed = |value: f32| f64::from(factor) * f64::from(value);
        let rows = whole[linear.weight.range()].chunks_exact_mut(linear.outputs);
        for (row, (&one, &other)) in rows.zip(first.0.iter().zip(second.0)) {
            add_two_steps(row, [weighed(one), weighed(other)], [first.1, second.1]);
        }
        // The constant input of the first is 0, of the second 1.
        add_steps(&mut whole[linear.bias.range()], factor, second.1);
    }

    /// A layer's inputs for an example, and the derivatives at its outputs.
    fn factors_of<'a>(
        &self,
        tape: &'a Tape,
        index: usize,
        example: usize,
    ) -> (&'a [f32], &'a [f32]) {
        let (into, out) = (self.sizes[index], self.sizes[index + 1]);
        let input = &tape.values(self, index)[example * into..][..into];
        (input, &tape.slopes(self, index)[example * out..][..out])
    }
}
