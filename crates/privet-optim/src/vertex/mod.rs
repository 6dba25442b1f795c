//! Scores of single columns along a path of vertices, kept up to date at the cost of what changes.
//!
//! - [`FeatureGrid`], [`GridMatrix`]: features as small integers, by row and by column.
//! - [`ColumnScores`]: Σ ℓ′·x in integers, updated after every move.

mod grid;
mod scores;

pub use grid::{FeatureGrid, GridMatrix};
pub use scores::{ColumnScores, Move, SlopeGrid};
