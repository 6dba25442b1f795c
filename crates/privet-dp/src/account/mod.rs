//! What a mechanism costs: events, and the bounds that turn them into (ε, δ).

mod event;

pub use event::{Cost, Event, Grid, LossShape, ObjectiveCost, ObjectiveNoise, OutputNoise, Sign};
