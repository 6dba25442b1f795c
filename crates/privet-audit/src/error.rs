//! Errors of an audit.

use privet_dp::account::AccountError;
use privet_learn::LearnError;

/// Reasons for ending without a finding.
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
    /// The built-in tables do not match their own schema: a defect.
    #[error("the built-in table cannot be read: {0}")]
    Table(String),
    /// The method claims no privacy.
    #[error(
        "method {method} claims no privacy: there is nothing to refute; a private one is accepted"
    )]
    NothingClaimed {
        /// Name of the method.
        method: &'static str,
    },
    /// No built-in schema and loss suits the method.
    #[error("method {method} was refused on every built-in table; the last reason: {reason}")]
    NoTable {
        /// Name of the method.
        method: &'static str,
        /// The last refusal.
        reason: String,
    },
    /// A table without rows.
    #[error("{what} has no rows: at least one is needed")]
    Empty {
        /// Name of the table.
        what: &'static str,
    },
    /// A mechanism whose loss the accounting audit cannot draw: treating it as no loss would hide it.
    #[error(
        "losses of {cost} cannot be simulated; accepted are Gaussian, Laplace, pure and Poisson-sampled ones"
    )]
    NotSimulated {
        /// Its cost, printed.
        cost: String,
    },
    /// Stopped by the user.
    #[error("stopped")]
    Stopped,
}
