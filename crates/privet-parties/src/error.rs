//! Errors of a run among parties.

use privet_dp::gate::GateError;
use privet_learn::LearnError;
use std::path::PathBuf;

/// An error of a run among parties. Names members and files, never a value of a record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartiesError {
    /// A mistake in an agreement or a settings file.
    #[error("{0}")]
    InvalidRequest(String),
    /// A file could not be read.
    #[error("{path}: {source}")]
    File {
        /// Its path.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error("{0}")]
    Write(#[from] privet_data::write::WriteError),
    /// An error of the planner.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// A member cannot be reached, or has another certificate than agreed.
    #[error("{0}")]
    Transport(String),
    /// The run was ended, or must be.
    #[error("{0}")]
    Ended(String),
    /// A server refuses this party; the run goes on.
    #[error("{0}")]
    Refused(String),
    /// The folder's run was begun with another table.
    #[error("the run was begun with another table, and goes on with that alone")]
    OtherTable,
    /// Keys and certificates could not be made.
    #[error("certificates could not be made: {0}")]
    Authority(String),
}

impl PartiesError {
    /// True for failures of the machine or the network, false for mistakes in the input.
    pub fn is_environment(&self) -> bool {
        match self {
            Self::Transport(_)
            | Self::Ended(_)
            | Self::Refused(_)
            | Self::Write(_)
            | Self::Authority(_) => true,
            Self::File { source, .. } => source.kind() != std::io::ErrorKind::NotFound,
            Self::InvalidRequest(_) | Self::Learn(_) | Self::OtherTable => false,
        }
    }
}

/// A session's error can carry only the message.
impl From<PartiesError> for GateError {
    fn from(error: PartiesError) -> Self {
        Self::PartyChannel(error.to_string())
    }
}
