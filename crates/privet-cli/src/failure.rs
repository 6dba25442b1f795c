//! The reason why a command failed, and its exit code.

use crate::interrupt::INTERRUPTED;
use privet_data::DataError;
use privet_data::schema::SchemaError;
use privet_dp::gate::{GateError, PurseError};
use privet_learn::LearnError;
use privet_ledger::LedgerError;
use privet_optim::solver::SolveError;
use std::io;

/// A failed command. The message is for the operator, who holds the data.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// No proof covers it, the budget does not allow it, or a certificate does not hold.
    #[error("{0}")]
    Refused(String),
    /// Bad input or usage.
    #[error("{0}")]
    Input(String),
    /// The machine: disk, permission.
    #[error("{0}")]
    Environment(String),
    /// Stopped by the user.
    #[error("interrupted: nothing is left half-written")]
    Interrupted,
    /// The result is already on standard output; only the exit code is left.
    #[error("")]
    Told,
    /// The reader closed our standard output.
    #[error("")]
    ReaderGone,
}

impl Failure {
    /// Bad input or usage.
    pub fn input(words: impl Into<String>) -> Self {
        Self::Input(words.into())
    }

    /// A file that could not be read or written: a wrong name is the caller's fault, any other error the
    /// machine's.
    pub fn file(what: &str, error: &io::Error) -> Self {
        Self::file_in_words(format!("{what}: {error}"), error)
    }

    /// As [`Failure::file`], with another message.
    pub fn file_in_words(words: String, error: &io::Error) -> Self {
        use io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
        match error.kind() {
            NotFound | IsADirectory | NotADirectory => Self::Input(words),
            _ => Self::Environment(words),
        }
    }

    /// Standard output could not be written.
    pub fn stdout(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ReaderGone,
            _ => Self::Environment(format!("standard output: {error}")),
        }
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::ReaderGone => 0,
            Self::Refused(_) | Self::Told => 1,
            Self::Input(_) => 2,
            Self::Environment(_) => 3,
            Self::Interrupted => INTERRUPTED,
        }
    }

    /// Prints the reason on standard error.
    pub fn tell(&self) {
        let words = self.to_string();
        if !words.is_empty() {
            // Only the first line begins at the margin: no other can pass for one of the program's.
            crate::say!("error: {}", words.replace('\n', "\n       "));
        }
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        match &error {
            DataError::File { file, source } => Self::file(&file.to_string(), source),
            error if error.is_environment() => Self::Environment(error.to_string()),
            error => Self::Input(error.to_string()),
        }
    }
}

impl From<SchemaError> for Failure {
    fn from(error: SchemaError) -> Self {
        Self::Input(error.to_string())
    }
}

impl From<privet_core::Error> for Failure {
    fn from(error: privet_core::Error) -> Self {
        Self::Input(error.to_string())
    }
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        let words = error.to_string();
        if error.is_environment() {
            Self::Environment(words)
        } else if error.is_refusal() {
            Self::Refused(words)
        } else {
            Self::Input(words)
        }
    }
}

impl From<LearnError> for Failure {
    fn from(error: LearnError) -> Self {
        let words = error.to_string();
        match &error {
            // As a flag is written.
            LearnError::InvalidRequest { name, what } => {
                Self::Input(format!("--{} {what}", name.replace('_', "-")))
            }
            LearnError::File { path, source } => Self::file(path, source),
            LearnError::Write(_)
            | LearnError::Gate(GateError::Purse(PurseError::NotKept(_) | PurseError::InUse(_))) => {
                Self::Environment(words)
            }
            // The other parties or the network failed, not the proof.
            LearnError::Gate(GateError::PartyChannel(_)) => Self::Environment(words),
            LearnError::Solve(SolveError::Stopped) => Self::Interrupted,
            LearnError::Solve(SolveError::Setting(_) | SolveError::TooFine { .. }) => {
                Self::Input(words)
            }
            LearnError::NotCovered { .. }
            | LearnError::Account(_)
            | LearnError::Gate(_)
            | LearnError::Solve(_) => Self::Refused(words),
            _ => Self::Input(words),
        }
    }
}
