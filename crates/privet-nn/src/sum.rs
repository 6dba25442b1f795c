//! Sums of gradients over a batch: plain, clipped, and of clipped differences.

use crate::batch::Batch;
use crate::clip::{bounds, factor};
use crate::error::NetError;
use crate::kernel::add_scaled;
use crate::layer::{self, NormMethod, Op};
use crate::net::Net;
use crate::tape::{Gradients, Tape, Weights};
use crate::workspace::{Buffers, Workspace};

/// Σᵢ min(1, C/‖gᵢ‖)·gᵢ. Derived from records, without noise: not to be released.
pub struct ClippedSum {
    /// One coordinate for each of the first [`Net::trainable`] weights.
    pub sum: Vec<f64>,
    /// The number of examples in the sum. Private as well if batches are drawn at random.
    pub examples: usize,
}

/// Shows nothing of the sum.
impl std::fmt::Debug for ClippedSum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClippedSum(private)")
    }
}

impl Net {
    /// Σᵢ min(1, C/‖gᵢ‖)·gᵢ over the examples, gᵢ the gradient of example i's loss. Each term is a
    /// function of its example and the weights alone, with norm at most C; an example whose gradient is
    /// not finite contributes nothing. The theorems are in the crate's header.
    pub fn clipped_sum(
        &self,
        weights: &[f32],
        batch: &Batch,
        clip: f64,
        work: &mut Workspace,
    ) -> Result<ClippedSum, NetError> {
        self.check_weights(weights)?;
        check_clip(clip)?;
        let examples = batch.examples(self)?;
        let weights = Weights::both(self, weights);
        let sum = work.sum(self, examples, |room, first, count| {
            self.clipped_factors(&weights, batch, clip, None, room, first, count);
            self.add_clipped(room, 1, count);
        });
        Ok(ClippedSum { sum, examples })
    }

    /// Σᵢ clip(∇ℓᵢ(new) − ∇ℓᵢ(old), C): the difference of an example's gradients at two weight vectors,
    /// clipped as one vector. Both have the same frozen part.
    pub fn clipped_difference_sum(
        &self,
        new: &[f32],
        old: &[f32],
        batch: &Batch,
        clip: f64,
        work: &mut Workspace,
    ) -> Result<ClippedSum, NetError> {
        self.check_weights(new)?;
        self.check_weights(old)?;
        check_clip(clip)?;
        let examples = batch.examples(self)?;
        let (new, old) = (Weights::both(self, new), Weights::both(self, old));
        let sum = work.sum(self, examples, |room, first, count| {
            self.difference_factors([&new, &old], batch, clip, None, room, first, count);
            self.add_clipped(room, 2, count);
        });
        Ok(ClippedSum { sum, examples })
    }

    /// Σᵢ gᵢ, unclipped: for training without privacy.
    pub fn plain_sum(
        &self,
        weights: &[f32],
        batch: &Batch,
        work: &mut Workspace,
    ) -> Result<Vec<f64>, NetError> {
        self.check_weights(weights)?;
        let examples = batch.examples(self)?;
        let weights = Weights::both(self, weights);
        Ok(work.sum(self, examples, |room, first, count| {
            let Buffers { tapes, patches, sum, .. } = room;
            tapes[0].forward(self, &weights, batch, first, count, &mut patches[0]);
            tapes[0].back(
                self,
                &weights,
                batch,
                first,
                count,
                &mut patches[0],
                Gradients::Summed(sum),
            );
        }))
    }

    /// Runs a piece forward and backward at these weights, and computes the clipping factor of each
    /// example: from the norm of the exact gradient or, for sums on a grid, from the norm of the values
    /// multiplied out, times `steps`.
    pub(crate) fn clipped_factors(
        &self,
        weights: &Weights,
        batch: &Batch,
        clip: f64,
        steps: Option<f64>,
        room: &mut Buffers,
        first: usize,
        count: usize,
    ) {
        room.tapes[0].constant = 1.0;
        self.to_and_fro(weights, batch, room, 0, first, count);
        self.factors(clip, steps, 1, room, count);
    }

    /// Computes the clipping factors of the differences of gradients at two weight vectors.
    pub(crate) fn difference_factors(
        &self,
        points: [&Weights; 2],
        batch: &Batch,
        clip: f64,
        steps: Option<f64>,
        room: &mut Buffers,
        first: usize,
        count: usize,
    ) {
        let [new, old] = points;
        self.to_and_fro(new, batch, room, 0, first, count);
        self.further_difference(old, batch, clip, steps, room, first, count);
    }

    /// As [`Self::difference_factors`], with the piece's pass at the first weights already done and
    /// unchanged since.
    pub(crate) fn further_difference(
        &self,
        old: &Weights,
        batch: &Batch,
        clip: f64,
        steps: Option<f64>,
        room: &mut Buffers,
        first: usize,
        count: usize,
    ) {
        room.double(self);
        self.to_and_fro(old, batch, room, 1, first, count);
        self.subtract(room, count);
        self.factors(clip, steps, 2, room, count);
    }

    fn factors(
        &self,
        clip: f64,
        steps: Option<f64>,
        terms: usize,
        room: &mut Buffers,
        count: usize,
    ) {
        let Buffers { tapes, kept, patches, bounds: lengths, factors, formed, .. } = room;
        let forming = steps.is_some().then_some(formed);
        bounds(self, &tapes[..terms], &kept[0], patches, count, lengths, forming);
        for (factor_of, &bound) in factors.iter_mut().zip(&lengths[..count]) {
            *factor_of = factor(clip, bound, steps.unwrap_or(1.0));
        }
    }

    fn to_and_fro(
        &self,
        weights: &Weights,
        batch: &Batch,
        room: &mut Buffers,
        place: usize,
        first: usize,
        count: usize,
    ) {
        let Buffers { tapes, kept, patches, .. } = room;
        let (tape, patches) = (&mut tapes[place], &mut patches[place]);
        tape.forward(self, weights, batch, first, count, patches);
        tape.back(self, weights, batch, first, count, patches, Gradients::Kept(&mut kept[place]));
    }

    /// a⊗g − a′⊗g′ = (a − a′)⊗g + a′⊗(g − g′): leaves (a − a′, g) in the first tape and (a′, g − g′) in
    /// the second, whose constant input is 1 where the first's is 1 − 1 = 0. The terms are of the size
    /// of the difference: nothing large cancels in its norm. Gradients multiplied out are subtracted
    /// elementwise.
    fn subtract(&self, room: &mut Buffers, count: usize) {
        let (new, old) = room.tapes.split_at_mut(1);
        let (new, old) = (&mut new[0], &mut old[0]);
        for (index, op) in self.ops.iter().enumerate().skip(self.lowest) {
            let factored = match op {
                Op::Linear(_) => true,
                Op::Conv(conv) => conv.rule == NormMethod::Factors,
                _ => false,
            };
            if !factored || !op.trains() {
                continue;
            }
            let (into, out) = (count * self.sizes[index], count * self.sizes[index + 1]);
            let (now, now_slopes) = new.factors_mut(self, index);
            let (before, before_slopes) = old.factors_mut(self, index);
            for (value, before) in now[..into].iter_mut().zip(&before[..into]) {
                *value -= before;
            }
            for (derivative, now) in before_slopes[..out].iter_mut().zip(&now_slopes[..out]) {
                *derivative = now - *derivative;
            }
        }
        (new.constant, old.constant) = (0.0, 1.0);
        let (now, before) = room.kept.split_at_mut(1);
        for (value, before) in now[0][..count * self.kept].iter_mut().zip(&before[0]) {
            *value -= before;
        }
    }

    /// Adds factor·gradient of each example of a piece to the piece's sum.
    fn add_clipped(&self, room: &mut Buffers, terms: usize, count: usize) {
        let Buffers { tapes, kept, patches, factors, sum, .. } = room;
        for place in self.ops.iter().flat_map(Op::multiplied_tensors) {
            for (example, &factor) in
                factors[..count].iter().enumerate().filter(|(_, factor)| **factor > 0.0)
            {
                let own = &kept[0][example * self.kept..][place.kept_range()];
                add_scaled(&mut sum[place.range()], factor, own);
            }
        }
        for (tape, patches) in tapes.iter_mut().zip(patches).take(terms) {
            for (index, op) in
                self.ops.iter().enumerate().skip(self.lowest).filter(|(_, op)| op.trains())
            {
                let (into, out) = (self.sizes[index], self.sizes[index + 1]);
                match op {
                    Op::Linear(linear) => {
                        self.weigh_all(tape, index, &factors[..count]);
                        let (input, slopes) = (tape.values(self, index), tape.slopes(self, index));
                        linear.add(count, input, slopes, sum, tape.constant > 0.0);
                    }
                    Op::Conv(conv) if conv.rule == NormMethod::Factors => {
                        self.weigh_all(tape, index, &factors[..count]);
                        for example in 0..count {
                            let input =
                                &tape.values(self, index)[example * into..(example + 1) * into];
                            let slopes =
                                &tape.slopes(self, index)[example * out..(example + 1) * out];
                            layer::patches(&conv.window, input, &mut patches.seen[index]);
                            let weight = &mut sum[conv.weight.range()];
                            conv.weight_gradient(&patches.seen[index], slopes, weight, true);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Multiplies derivatives by the factor of their example; an example with factor 0 is zeroed in both
    /// inputs and derivatives, so that its values that are not finite do not spread.
    fn weigh_all(&self, tape: &mut Tape, index: usize, factors: &[f32]) {
        let (into, out) = (self.sizes[index], self.sizes[index + 1]);
        let (values, slopes) = tape.factors_mut(self, index);
        for (example, &factor) in factors.iter().enumerate() {
            let slopes = &mut slopes[example * out..(example + 1) * out];
            if factor > 0.0 {
                for derivative in slopes {
                    *derivative = scale_derivative(factor, *derivative);
                }
            } else {
                slopes.fill(0.0);
                values[example * into..(example + 1) * into].fill(0.0);
            }
        }
    }
}

/// A derivative times the factor of its example.
#[inline(always)]
pub(crate) fn scale_derivative(factor: f32, derivative: f32) -> f32 {
    let weighed = factor * derivative;
    // Below this, rounding is no longer relative.
    if weighed.abs() >= f32::MIN_POSITIVE { weighed } else { 0.0 }
}

pub(crate) fn check_clip(clip: f64) -> Result<(), NetError> {
    if clip > 1e-30 && clip < 1e30 { Ok(()) } else { Err(NetError::Clip(clip)) }
}
