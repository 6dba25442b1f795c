//! Outputs and losses by the forward pass.

use crate::batch::{Batch, Targets};
use crate::error::NetError;
use crate::loss::loss_and_slopes;
use crate::net::Net;
use crate::sum::check_clip;
use crate::tape::Weights;
use crate::workspace::Workspace;

/// Maximum contribution of one example to [`Net::clipped_loss_steps`].
pub const LOSS_STEPS: u64 = 1 << 20;

impl Net {
    /// The outputs of every example (before any softmax), row by row.
    pub fn predict(
        &self,
        weights: &[f32],
        inputs: &[f32],
        work: &mut Workspace,
    ) -> Result<Vec<f32>, NetError> {
        self.check_weights(weights)?;
        let width = self.inputs();
        if !inputs.len().is_multiple_of(width) {
            return Err(NetError::Batch(format!(
                "{} numbers are no whole number of examples of {width} each",
                inputs.len()
            )));
        }
        let examples = inputs.len() / width;
        let batch = Batch::all(inputs, Targets::Classes(&[]));
        let weights = Weights::forward(weights);
        let mut outputs = Vec::with_capacity(examples * self.outputs());
        work.pieces(
            self,
            examples,
            |room, first, count| {
                room.tapes[0].forward(self, &weights, &batch, first, count, &mut room.patches[0]);
            },
            |room, _, count| outputs.extend_from_slice(room.tapes[0].outputs(self, count)),
        );
        Ok(outputs)
    }

    /// Σᵢ ℓᵢ over the batch. Derived from records, without noise.
    pub fn loss(
        &self,
        weights: &[f32],
        batch: &Batch,
        work: &mut Workspace,
    ) -> Result<f64, NetError> {
        let mut total = 0.0;
        self.losses(weights, batch, work, |loss| total += loss)?;
        Ok(total)
    }

    /// Σᵢ ⌊min(ℓᵢ, C)/C·2²⁰⌋ over the batch, as an integer. Each example contributes between 0 and
    /// [`LOSS_STEPS`], a function of itself and of the weights alone, bit for bit; a loss that is NaN
    /// contributes the maximum. Derived from records, without noise.
    pub fn clipped_loss_steps(
        &self,
        weights: &[f32],
        batch: &Batch,
        clip: f64,
        work: &mut Workspace,
    ) -> Result<i64, NetError> {
        check_clip(clip)?;
        let mut total = 0;
        self.losses(weights, batch, work, |loss| total += loss_steps(loss, clip))?;
        Ok(total)
    }

    /// Passes the loss of each example to `tell`, in the order of the batch.
    fn losses(
        &self,
        weights: &[f32],
        batch: &Batch,
        work: &mut Workspace,
        mut tell: impl FnMut(f64),
    ) -> Result<(), NetError> {
        self.check_weights(weights)?;
        let examples = batch.examples(self)?;
        let weights = Weights::forward(weights);
        work.pieces(
            self,
            examples,
            |room, first, count| {
                room.tapes[0].forward(self, &weights, batch, first, count, &mut room.patches[0]);
            },
            |room, first, count| {
                let outputs = room.tapes[0].outputs(self, count);
                for (example, outputs) in outputs.chunks_exact(self.outputs()).enumerate() {
                    tell(loss_and_slopes(self.loss, batch, first + example, outputs, None));
                }
            },
        );
        Ok(())
    }
}

/// A clipped loss in steps, from 0 to [`LOSS_STEPS`].
fn loss_steps(loss: f64, clip: f64) -> i64 {
    let share = loss / clip;
    let share = if share.is_nan() { 1.0 } else { share.clamp(0.0, 1.0) };
    (share * LOSS_STEPS as f64) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clipped_loss_is_between_nothing_and_its_clip() {
        let steps = [f64::NAN, f64::INFINITY, 7.0, 3.0, 1.5, 1e-9, 0.0, -1e-9, f64::NEG_INFINITY];
        let found = steps.map(|loss| loss_steps(loss, 3.0));
        let most = LOSS_STEPS as i64;
        assert_eq!(found, [most, most, most, most, most / 2, 0, 0, 0, 0]);
    }
}
