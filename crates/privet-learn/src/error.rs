//! Why nothing was released.

use privet_core::Neighbours;
use privet_data::write::WriteError;
use privet_dp::account::AccountError;
use privet_dp::gate::GateError;

/// Why a plan was refused or nothing was released. Carries settings and counts that are public,
/// never a value read from the records.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// A setting is out of its range or unknown.
    #[error(transparent)]
    Setting(#[from] privet_core::Error),
    /// A setting that the method does not have.
    #[error("'{setting}' is not a setting of method {method}")]
    NotASetting {
        /// The setting.
        setting: String,
        /// The method.
        method: &'static str,
    },
    /// A setting's value is not one.
    #[error("{setting} = '{given}': accepted is {accepted}")]
    SettingValue {
        /// The setting.
        setting: &'static str,
        /// What was given.
        given: String,
        /// What would be accepted.
        accepted: String,
    },
    /// The table is not in memory, and the method needs more of it than sums.
    #[error(
        "method {method} needs {needs}, which only a table in memory offers: give fewer rows, or a \
             method that asks for sums (gd, amp, ssp, output, objective)"
    )]
    NeedsMemory {
        /// The method.
        method: &'static str,
        /// What it needs.
        needs: &'static str,
    },
    /// The records could not be read.
    #[error(transparent)]
    Records(#[from] privet_optim::sum::RecordsError),
    /// Something is missing, too much, or not a word that is known.
    #[error("{name} {what}")]
    InvalidRequest {
        /// What it is called.
        name: &'static str,
        /// What is wrong with it, and what would be accepted.
        what: String,
    },
    /// The schema has no such column, or it cannot be counted by.
    #[error("{0}")]
    Schema(String),
    /// No such method.
    #[error("'{given}' is not a method; accepted: {accepted}")]
    UnknownMethod {
        /// What was given.
        given: String,
        /// What would be accepted.
        accepted: String,
    },
    /// A private release without a budget.
    #[error("{what} needs a budget: give epsilon, a number above 0")]
    NoBudget {
        /// What was asked for.
        what: String,
    },
    /// The loss does not fit the target.
    #[error("loss {loss} does not fit the target: {accepted}")]
    LossAndTarget {
        /// The loss.
        loss: &'static str,
        /// What would fit.
        accepted: &'static str,
    },
    /// No theorem covers the combination.
    #[error("{what}; {instead}")]
    NotCovered {
        /// What was asked for.
        what: String,
        /// What would be covered.
        instead: &'static str,
    },
    /// The declared number of rows is not the table's, where it is public.
    #[error(
        "the table has {found} rows, but {declared} were declared; under replace-one neighbours \
         the number of rows is public and must be right"
    )]
    RowCount {
        /// Declared.
        declared: u64,
        /// Found.
        found: u64,
    },
    /// The data do not have the form that the plan was made for. Says nothing of their values.
    #[error("the data do not fit the plan: {0}")]
    DataShape(&'static str),
    /// Neighbour relation of a request and of an operation differ.
    #[error("planned for {planned} neighbours")]
    OtherNeighbours {
        /// What the plan says.
        planned: Neighbours,
    },
    /// The accountant refused.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// The gate stayed shut.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// The solver failed; from the first noise draw on this is a bug.
    #[error(transparent)]
    Solve(#[from] privet_optim::solver::SolveError),
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A file of a stream is not one, or there is one already.
    #[error("{path}: {why}")]
    NotAStream {
        /// Which.
        path: String,
        /// Why.
        why: String,
    },
    /// A model cannot be taken away in this form.
    #[error(
        "this model cannot be exported: {0}; `privet predict` and Python's `predict` use it as it is"
    )]
    Export(String),
    /// A model file is not one.
    #[error("{path}: not a privet model: {why}")]
    NotAModel {
        /// Which.
        path: String,
        /// Why.
        why: String,
    },
}
