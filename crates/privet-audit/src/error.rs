//! Why there is no finding.

use privet_dp::account::AccountError;
use privet_learn::LearnError;

/// Why an audit ended without a finding.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// A setting is out of its range.
    #[error(transparent)]
    Setting(#[from] privet_core::Error),
    /// The learner refused its plan or failed.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// The accountant refused the events.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// The built-in tables do not fit their own schema: a defect.
    #[error("the built-in table cannot be read: {0}")]
    Table(String),
    /// A method that claims nothing.
    #[error(
        "method {method} claims no privacy: there is nothing to refute; a private one is accepted"
    )]
    NothingClaimed {
        /// Which.
        method: &'static str,
    },
    /// No schema and loss that the auditor knows suits the method.
    #[error("method {method} was refused on every built-in table; the last reason: {reason}")]
    NoTable {
        /// Which.
        method: &'static str,
        /// What it said last.
        reason: String,
    },
    /// Nothing to compare.
    #[error("{what} has no rows: at least one is needed")]
    Empty {
        /// Which table.
        what: &'static str,
    },
    /// A mechanism whose loss the accounting audit cannot draw: taking it for nothing would hide it.
    #[error(
        "losses of {cost} cannot be simulated; accepted are Gaussian, Laplace, pure and Poisson-sampled ones"
    )]
    NotSimulated {
        /// Its cost.
        cost: String,
    },
    /// Stopped by the user.
    #[error("stopped")]
    Stopped,
}
