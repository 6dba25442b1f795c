//! Outputs and losses, forward alone.

use crate::batch::{Batch, Targets};
use crate::error::NetError;
use crate::loss::loss_and_slopes;
use crate::net::Net;
use crate::tape::Weights;
use crate::workspace::Workspace;

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
        self.check_weights(weights)?;
        let examples = batch.examples(self)?;
        let weights = Weights::forward(weights);
        let mut total = 0.0;
        work.pieces(
            self,
            examples,
            |room, first, count| {
                room.tapes[0].forward(self, &weights, batch, first, count, &mut room.patches[0]);
            },
            |room, first, count| {
                let outputs = room.tapes[0].outputs(self, count);
                for (example, outputs) in outputs.chunks_exact(self.outputs()).enumerate() {
                    total += loss_and_slopes(self.loss, batch, first + example, outputs, None);
                }
            },
        );
        Ok(total)
    }
}
