//! What the accounting tests share.

use privet_dp::account::Event;
use serde::Deserialize;

/// A row of `vectors/composition.json`, `sampled.json` or `batches.json`.
#[derive(Debug, Deserialize)]
pub struct Composition {
    /// What was composed.
    pub event: Event,
    /// Where.
    pub epsilon: f64,
    /// δ of the reference's optimist.
    pub low: f64,
    /// And of its pessimist.
    pub high: f64,
}
