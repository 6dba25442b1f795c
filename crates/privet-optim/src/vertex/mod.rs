//! Scores of single columns along a path of vertices, updated at the cost of the entries that change.
//!
//! - [`FeatureGrid`], [`GridMatrix`]: features as small integers, by row and by column.
//! - [`ColumnScores`]: Σ ℓ′·x in integers, updated after every move.
//! - [`Entropic`]: the same sums at the minimiser of an entropy-regularised problem.

mod entropic;
mod grid;
mod scores;

pub use entropic::Entropic;
pub use grid::{FeatureGrid, GridMatrix};
pub use scores::{ColumnScores, Move, SlopeGrid};
