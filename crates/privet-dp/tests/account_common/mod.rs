//! Shared by the accounting tests.

use privet_dp::account::Event;
use serde::Deserialize;

/// A row of `vectors/composition.json`, `sampled.json` or `batches.json`.
#[derive(Debug, Deserialize)]
pub struct Composition {
    /// The composed event.
    pub event: Event,
    /// The ε at which δ is computed.
    pub epsilon: f64,
    /// δ by the reference's optimistic estimate.
    pub low: f64,
    /// δ by the reference's pessimistic estimate.
    pub high: f64,
}
