//! Why parties do not come together.

use privet_dp::gate::GateError;
use privet_learn::LearnError;
use std::path::PathBuf;

/// Why parties do not come together. Names members and files, never a value of a record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartiesError {
    /// Something that was written in an agreement or a settings file.
    #[error("{0}")]
    Asked(String),
    /// A file.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that could not be written.
    #[error("{0}")]
    Write(#[from] privet_data::write::WriteError),
    /// The plan.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// A member cannot be reached, or is not who it should be.
    #[error("{0}")]
    Line(String),
    /// The run was ended, or must be.
    #[error("{0}")]
    Ended(String),
    /// A server does not let this one take part; the run goes on.
    #[error("{0}")]
    Refused(String),
    /// The folder's run is of another table.
    #[error("the run was begun with another table, and goes on with that alone")]
    OtherTable,
    /// Keys and certificates could not be made.
    #[error("certificates could not be made: {0}")]
    Authority(String),
}

impl PartiesError {
    /// Whether it is the machine or the network, not what somebody gave.
    pub fn is_environment(&self) -> bool {
        match self {
            Self::Line(_)
            | Self::Ended(_)
            | Self::Refused(_)
            | Self::Write(_)
            | Self::Authority(_) => true,
            Self::File { source, .. } => source.kind() != std::io::ErrorKind::NotFound,
            Self::Asked(_) | Self::Learn(_) | Self::OtherTable => false,
        }
    }
}

/// Inside a session only this much can be said.
impl From<PartiesError> for GateError {
    fn from(error: PartiesError) -> Self {
        Self::Together(error.to_string())
    }
}
