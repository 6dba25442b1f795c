//! Why a benchmark stopped.

use crate::race::RaceError;

/// Why a benchmark stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// In a race.
    #[error(transparent)]
    Race(#[from] RaceError),
}
